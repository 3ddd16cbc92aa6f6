package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"interlock/internal/verdict"
)

// storedVersion is the version of every stored struct below. A struct changes
// by getting a new version and a branch in decode; old ones stay readable.
const storedVersion = 1

// An envelope is one leaf of the log as its bytes are hashed: everything that
// identifies the event is inside, so that no column can be changed unseen.
type envelope struct {
	Version  int             `json:"v"`
	Seq      int64           `json:"seq"`
	At       time.Time       `json:"at"` // our clock, when it was appended
	Kind     Kind            `json:"kind"`
	Decision string          `json:"decision,omitempty"`
	Tag      string          `json:"tag,omitempty"`
	Body     json.RawMessage `json:"body"`
}

// The stored structs. They are apart from the API structs, field for field, so
// that the conversion stops compiling when only one of them changes.
type (
	storedReceived struct {
		Decision   string    `json:"decision"`
		PlanID     string    `json:"plan_id,omitempty"`
		Plan       string    `json:"plan"` // canonical bytes, which are valid UTF-8
		PlanDigest string    `json:"plan_digest"`
		Site       string    `json:"site"`
		Requester  string    `json:"requester,omitempty"`
		Agent      string    `json:"agent,omitempty"`
		OnBehalfOf string    `json:"on_behalf_of,omitempty"`
		At         time.Time `json:"received_at"`
	}
	storedChecked struct {
		Decision   string        `json:"decision"`
		Level      verdict.Level `json:"level"`
		Sigma      float64       `json:"sigma"`
		Rules      []string      `json:"rules,omitempty"`
		DurationUS int64         `json:"us"`
	}
	storedJudged struct {
		Decision   string       `json:"decision"`
		Votes      []storedVote `json:"votes"`
		DurationUS int64        `json:"us"`
	}
	storedVote struct {
		Judge     string          `json:"judge"`
		Outcome   verdict.Outcome `json:"outcome"`
		Class     verdict.Class   `json:"category"`
		Abstained string          `json:"abstained,omitempty"`
	}
	storedRuled struct {
		Decision   string          `json:"decision"`
		Chief      string          `json:"chief,omitempty"`
		Outcome    verdict.Outcome `json:"outcome"`
		Class      verdict.Class   `json:"category"`
		Abstained  string          `json:"abstained,omitempty"`
		DurationUS int64           `json:"us"`
	}
	storedDecided struct {
		ID        string             `json:"id"`
		Case      verdict.Case       `json:"case"`
		Decision  verdict.Decision   `json:"decision"`
		Evidence  []verdict.Evidence `json:"evidence,omitempty"`
		TimingsUS map[string]int64   `json:"timings_us,omitempty"`
		Requester string             `json:"requester,omitempty"`
		Agent     string             `json:"agent,omitempty"`
	}
	storedReviewed struct {
		Decision    string              `json:"decision"`
		Approved    bool                `json:"approved"`
		Reviewer    string              `json:"reviewer"`
		Token       string              `json:"token"`
		Self        bool                `json:"self,omitempty"`
		Note        string              `json:"note,omitempty"`
		PlanDigest  string              `json:"plan_digest"`
		SiteVersion string              `json:"site_version"`
		Requester   string              `json:"requester,omitempty"`
		Agent       string              `json:"agent,omitempty"`
		Expires     time.Time           `json:"expires"`
		Nonce       string              `json:"nonce"`
		DecidedWith verdict.DecidedWith `json:"decided_with"`
	}
	storedGranted struct {
		Decision    string              `json:"decision"`
		Grant       string              `json:"grant"`
		PlanDigest  string              `json:"plan_digest"`
		SiteVersion string              `json:"site_version"`
		Requester   string              `json:"requester"`
		Expires     time.Time           `json:"expires"`
		Nonce       string              `json:"nonce"`
		DecidedWith verdict.DecidedWith `json:"decided_with"`
	}
	storedSent struct {
		Decision  string `json:"decision,omitempty"`
		Grant     string `json:"grant,omitempty"`
		Call      string `json:"call"`
		Server    string `json:"server"`
		Tool      string `json:"tool"`
		SchemaPin string `json:"schema_pin,omitempty"`
		Arguments []byte `json:"arguments"` // base64: any bytes, exactly
	}
	storedDocument struct {
		Name   string `json:"name"`
		Digest string `json:"digest,omitempty"`
		Status string `json:"status"`
		By     string `json:"by"`
		Token  string `json:"token"`
		Reason string `json:"reason,omitempty"`
		Serial int    `json:"serial"`
	}
	storedForgotten struct {
		Decision string `json:"decision"`
		By       string `json:"by"`
		Token    string `json:"token"`
		Reason   string `json:"reason"`
	}
	storedExecution struct {
		Decision string `json:"decision,omitempty"`
		What     string `json:"what"`
		Body     string `json:"body"` // JSON as it was given
	}
	storedAttention struct {
		Matter   string `json:"matter"`
		What     string `json:"what"`
		Decision string `json:"decision,omitempty"`
		Grant    string `json:"grant,omitempty"`
		Call     string `json:"call,omitempty"`
		Site     string `json:"site,omitempty"`
		Server   string `json:"server,omitempty"`
		Tool     string `json:"tool,omitempty"`
		Reason   string `json:"reason,omitempty"`
	}
	storedResolved struct {
		Decision string `json:"decision,omitempty"`
		Matter   string `json:"matter"`
		Outcome  string `json:"outcome"`
		Reviewer string `json:"reviewer"`
		Token    string `json:"token"`
		Note     string `json:"note,omitempty"`
	}
	storedVoided struct {
		Site   string    `json:"site"`
		Reason string    `json:"reason"`
		At     time.Time `json:"voided_at"`
	}
	storedDone struct {
		Decision     string `json:"decision,omitempty"`
		Call         string `json:"call"`
		Status       string `json:"status"`
		Detail       string `json:"detail,omitempty"`
		ResultDigest string `json:"result_digest,omitempty"`
	}
	storedStateChanged struct {
		Site   string    `json:"site"`
		Name   string    `json:"name"`
		Value  string    `json:"value"`
		Source string    `json:"source"`
		At     time.Time `json:"reported_at"`
	}
	storedToolPinned struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
		Digest string `json:"digest"`
		Status string `json:"status"`
		By     string `json:"by,omitempty"`
	}
	storedTokenIssued struct {
		Token string `json:"token"`
		Role  string `json:"role"`
		Name  string `json:"name"`
		Hash  string `json:"sha256"`
	}
	storedTokenRevoked struct {
		Token string `json:"token"`
	}
)

// A pending event is encoded and waits for its place in the log.
type pending struct {
	kind          Kind
	decision, tag string
	body          json.RawMessage
}

func encode(e Event) (pending, error) {
	stored, err := toStored(e)
	if err != nil {
		return pending{}, err
	}
	body, err := compact(stored)
	if err != nil {
		return pending{}, fmt.Errorf("writing it as JSON: %w", err)
	}
	p := pending{kind: e.Kind(), body: body}
	p.decision, p.tag = e.subject()
	return p, nil
}

func toStored(e Event) (any, error) {
	switch e := e.(type) {
	case Received:
		if !utf8.Valid(e.Plan) || digest(e.Plan) != e.PlanDigest {
			return nil, errors.New("the plan's bytes do not have the digest they came with")
		}
		return storedReceived{e.Decision, e.PlanID, string(e.Plan), e.PlanDigest, e.Site, e.Requester, e.Agent, e.OnBehalfOf, e.At}, nil
	case Checked:
		return storedChecked(e), nil
	case Judged:
		s := storedJudged{Decision: e.Decision, Votes: []storedVote{}, DurationUS: e.DurationUS}
		for _, v := range e.Votes {
			s.Votes = append(s.Votes, storedVote(v))
		}
		return s, nil
	case Ruled:
		return storedRuled(e), nil
	case Decided:
		r := e.Report
		return storedDecided{r.ID, r.Case, r.Decision, r.Evidence, r.TimingsUS, e.Requester, e.Agent}, nil
	case Reviewed:
		return storedReviewed(e), nil
	case Granted:
		return storedGranted(e), nil
	case Sent:
		return storedSent(e), nil
	case Done:
		return storedDone(e), nil
	case StateChanged:
		return storedStateChanged(e), nil
	case ToolPinned:
		return storedToolPinned(e), nil
	case TokenIssued:
		return storedTokenIssued(e), nil
	case TokenRevoked:
		return storedTokenRevoked(e), nil
	case DocumentDecided:
		return storedDocument(e), nil
	case Forgotten:
		return storedForgotten(e), nil
	case Attention:
		return storedAttention(e), nil
	case Resolved:
		return storedResolved(e), nil
	case Voided:
		return storedVoided(e), nil
	case Execution:
		if !json.Valid(e.Body) {
			return nil, errors.New("the gate's event is not JSON")
		}
		return storedExecution{e.Decision, e.What, string(e.Body)}, nil
	default:
		return nil, fmt.Errorf("an event of type %T cannot be stored", e)
	}
}

// decode reads an event back. A kind or version that this program does not
// know is an error: an event must not be half understood.
func decode(env envelope) (Event, error) {
	if env.Version != storedVersion {
		return nil, fmt.Errorf("event %d (%s) has version %d, this program reads %d: %w", env.Seq, env.Kind, env.Version, storedVersion, ErrNewer)
	}
	switch env.Kind {
	case KindReceived:
		return decodeReceived(env)
	case KindJudged:
		return decodeJudged(env)
	case KindDecided:
		return decodeDecided(env)
	case KindChecked:
		return body(env, func(s storedChecked) Event { return Checked(s) })
	case KindRuled:
		return body(env, func(s storedRuled) Event { return Ruled(s) })
	case KindReviewed:
		return body(env, func(s storedReviewed) Event { return Reviewed(s) })
	case KindGranted:
		return body(env, func(s storedGranted) Event { return Granted(s) })
	case KindSent:
		return body(env, func(s storedSent) Event { return Sent(s) })
	case KindDone:
		return body(env, func(s storedDone) Event { return Done(s) })
	case KindStateChanged:
		return body(env, func(s storedStateChanged) Event { return StateChanged(s) })
	case KindToolPinned:
		return body(env, func(s storedToolPinned) Event { return ToolPinned(s) })
	case KindTokenIssued:
		return body(env, func(s storedTokenIssued) Event { return TokenIssued(s) })
	case KindTokenRevoked:
		return body(env, func(s storedTokenRevoked) Event { return TokenRevoked(s) })
	case KindForgotten:
		return body(env, func(s storedForgotten) Event { return Forgotten(s) })
	case KindDocument:
		return body(env, func(s storedDocument) Event { return DocumentDecided(s) })
	case KindAttention:
		return body(env, func(s storedAttention) Event { return Attention(s) })
	case KindResolved:
		return body(env, func(s storedResolved) Event { return Resolved(s) })
	case KindVoided:
		return body(env, func(s storedVoided) Event { return Voided(s) })
	case KindExecution:
		return body(env, func(s storedExecution) Event { return Execution{s.Decision, s.What, []byte(s.Body)} })
	default:
		return nil, fmt.Errorf("event %d is of unknown kind %q: %w", env.Seq, env.Kind, ErrNewer)
	}
}

func decodeReceived(env envelope) (Event, error) {
	return body(env, func(s storedReceived) Event {
		return Received{s.Decision, s.PlanID, []byte(s.Plan), s.PlanDigest, s.Site, s.Requester, s.Agent, s.OnBehalfOf, s.At}
	})
}

func decodeJudged(env envelope) (Event, error) {
	return body(env, func(s storedJudged) Event {
		e := Judged{Decision: s.Decision, DurationUS: s.DurationUS}
		for _, v := range s.Votes {
			e.Votes = append(e.Votes, Vote(v))
		}
		return e
	})
}

func decodeDecided(env envelope) (Event, error) {
	return body(env, func(s storedDecided) Event {
		r := verdict.Report{ID: s.ID, Case: s.Case, Decision: s.Decision, Evidence: s.Evidence, TimingsUS: s.TimingsUS, Recorded: true}
		return Decided{Report: r, Requester: s.Requester, Agent: s.Agent}
	})
}

func body[S any](env envelope, event func(S) Event) (Event, error) {
	var s S
	if err := unmarshal(env.Body, &s); err != nil {
		return nil, fmt.Errorf("reading event %d (%s): %w", env.Seq, env.Kind, err)
	}
	return event(s), nil
}

// unmarshal refuses unknown fields and trailing data.
func unmarshal(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the value")
	}
	return nil
}

// compact writes v as JSON on one line, without HTML escapes.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

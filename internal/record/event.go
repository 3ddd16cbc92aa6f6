package record

import (
	"time"

	"interlock/internal/verdict"
)

// A Kind names what happened.
type Kind string

// The kinds of event.
const (
	KindReceived     Kind = "received"
	KindChecked      Kind = "checked"
	KindJudged       Kind = "judged"
	KindRuled        Kind = "ruled"
	KindDecided      Kind = "decided"
	KindReviewed     Kind = "reviewed"
	KindGranted      Kind = "granted"
	KindSent         Kind = "sent"
	KindDone         Kind = "done"
	KindStateChanged Kind = "state_changed"
	KindToolPinned   Kind = "tool_pinned"
	KindTokenIssued  Kind = "token_issued"
	KindTokenRevoked Kind = "token_revoked"
	KindExecution    Kind = "execution"
	KindDocument     Kind = "document"
	KindForgotten    Kind = "forgotten"
	KindAttention    Kind = "attention"
	KindResolved     Kind = "resolved"
	KindVoided       Kind = "voided"
)

// An Event is one thing that happened. The set is closed: what is stored must
// be readable for as long as the log lives.
//
//sumtype:decl
type Event interface {
	Kind() Kind
	subject() (decision, tag string) // what the event is found by
}

// Received is a plan as it came in, before anything was checked.
type Received struct {
	Decision   string // id of the decision to come: ours (C33)
	PlanID     string // the planner's own id, "" if none
	Plan       []byte // canonical bytes: what a reviewer sees and what would run (C17)
	PlanDigest string // SHA-256 of Plan, hex
	Site       string
	Requester  string // identity behind the credential, "" on the local command line
	Agent      string
	OnBehalfOf string // as the plan claims
	At         time.Time
}

// Checked is the result of the deterministic stages.
type Checked struct {
	Decision   string
	Level      verdict.Level
	Sigma      float64
	Rules      []string // ids of the findings, in order
	DurationUS int64
}

// Judged is the panel's result. The opinions themselves are in Decided.
type Judged struct {
	Decision   string
	Votes      []Vote
	DurationUS int64
}

// A Vote is one judge's answer in short.
type Vote struct {
	Judge     string
	Outcome   verdict.Outcome
	Class     verdict.Class
	Abstained string // cause, "" if the judge answered
}

// Ruled is the chief's leaning.
type Ruled struct {
	Decision   string
	Chief      string
	Outcome    verdict.Outcome
	Class      verdict.Class
	Abstained  string
	DurationUS int64
}

// Decided is a decision with everything it rests on, so that it can be decided
// again from the record alone (C2).
type Decided struct {
	Report    verdict.Report
	Requester string
	Agent     string
}

// Reviewed is a person's disposition of an escalated plan, bound to what was
// seen (C14).
type Reviewed struct {
	Decision    string
	Approved    bool
	Reviewer    string // from the credential, never from a body (C16)
	Token       string // id of the credential
	Self        bool   // the reviewer is also the person behind the plan, as the site allows
	Note        string
	PlanDigest  string
	SiteVersion string
	Requester   string
	Agent       string
	Expires     time.Time // of the approval
	Nonce       string
	DecidedWith verdict.DecidedWith
}

// Granted is the right to run one accepted plan.
type Granted struct {
	Decision    string
	Grant       string
	PlanDigest  string
	SiteVersion string
	Requester   string
	Expires     time.Time
	Nonce       string
	DecidedWith verdict.DecidedWith
}

// Sent is written before a call leaves for its server (C19).
type Sent struct {
	Decision  string // "" for observing and safe calls, which need no plan
	Grant     string
	Call      string // id of the call, unique in the log
	Server    string
	Tool      string
	SchemaPin string
	Arguments []byte // canonical JSON
}

// Done is what became of a sent call. A Sent without a Done is unknown and goes
// to a person (C19).
type Done struct {
	Decision     string
	Call         string
	Status       string // "done", "failed" or "unknown"
	Detail       string
	ResultDigest string
}

// StateChanged is a change of the site's live state.
type StateChanged struct {
	Site   string
	Name   string // reading, or "estop"
	Value  string
	Source string // credential that reported it
	At     time.Time
}

// ToolPinned is the approval or quarantine of a tool's description (C23).
type ToolPinned struct {
	Server string
	Tool   string
	Digest string
	Status string // "pinned", "quarantined" or "removed"
	By     string // person, "" when the gate did it
}

// TokenIssued is the making of a credential; the credential itself is never
// stored, only the SHA-256 of its 256 random bits (C28).
type TokenIssued struct {
	Token string // public id
	Role  string
	Name  string
	Hash  string // hex
}

// TokenRevoked ends a credential.
type TokenRevoked struct {
	Token string
}

// DocumentDecided is a person's word on what a site's documents may say: an
// approval, a removal, an override of a hazard or its end (C40).
type DocumentDecided struct {
	Name   string // of the document, or what is overridden
	Digest string // SHA-256 of the document, hex; "" for an override
	Status string // "approved", "removed", "overridden" or "override ended"
	By     string // person, from the credential
	Token  string // id of the credential
	Reason string
	Serial int // of the manifest that this leads to
}

// Kind names the event.
func (DocumentDecided) Kind() Kind { return KindDocument }

func (e DocumentDecided) subject() (decision, tag string) { return "", e.Name }

// Forgotten is a person's word that a failed plan no longer counts against
// those that resemble it. The decision itself stays in the record.
type Forgotten struct {
	Decision string
	By       string // person, from the credential
	Token    string // id of the credential
	Reason   string
}

// Kind names the event.
func (Forgotten) Kind() Kind { return KindForgotten }

func (e Forgotten) subject() (decision, tag string) { return e.Decision, "" }

// Attention is a matter that a person must look at. It stays open until
// somebody has resolved it (C19).
type Attention struct {
	Matter   string // id of the matter: of a call, if its outcome is unknown
	What     string // "unknown", "deviation", "failed", "quarantined" or another of the gate's names
	Decision string // "" if it concerns no plan
	Grant    string
	Call     string
	Site     string
	Server   string
	Tool     string
	Reason   string
}

// Resolved is a person's word on a matter, once (C19).
type Resolved struct {
	Decision string
	Matter   string
	Outcome  string // "done" or "failed" for a call whose outcome was unknown, "approved" for a tool that was approved, else "seen"
	Reviewer string // from the credential, never from a body (C16); for an approved tool the user of the machine
	Token    string // id of the credential, "" for an approved tool
	Note     string
}

// Voided takes away what was granted, approved or still waits for an approval
// at a site: a stop, or a state that got worse (C20).
type Voided struct {
	Site   string
	Reason string
	At     time.Time
}

// Kind names the event.
func (Attention) Kind() Kind { return KindAttention }

// Kind names the event.
func (Resolved) Kind() Kind { return KindResolved }

// Kind names the event.
func (Voided) Kind() Kind { return KindVoided }

func (e Attention) subject() (decision, tag string) { return e.Decision, e.Matter }
func (e Resolved) subject() (decision, tag string)  { return e.Decision, e.Matter }
func (e Voided) subject() (decision, tag string)    { return "", e.Site }

// Execution is one event of the gate's own journal, whole: what it rebuilds
// its grants from after a restart.
type Execution struct {
	Decision string
	What     string // the gate's name for it, e.g. "granted" or "deviation"
	Body     []byte // the gate's event as JSON
}

// Kind names the event.
func (Execution) Kind() Kind { return KindExecution }

func (e Execution) subject() (decision, tag string) { return e.Decision, e.What }

func (Received) Kind() Kind     { return KindReceived }
func (Checked) Kind() Kind      { return KindChecked }
func (Judged) Kind() Kind       { return KindJudged }
func (Ruled) Kind() Kind        { return KindRuled }
func (Decided) Kind() Kind      { return KindDecided }
func (Reviewed) Kind() Kind     { return KindReviewed }
func (Granted) Kind() Kind      { return KindGranted }
func (Sent) Kind() Kind         { return KindSent }
func (Done) Kind() Kind         { return KindDone }
func (StateChanged) Kind() Kind { return KindStateChanged }
func (ToolPinned) Kind() Kind   { return KindToolPinned }
func (TokenIssued) Kind() Kind  { return KindTokenIssued }
func (TokenRevoked) Kind() Kind { return KindTokenRevoked }

func (e Received) subject() (decision, tag string) { return e.Decision, e.Requester }
func (e Checked) subject() (decision, tag string)  { return e.Decision, e.Level.String() }
func (e Judged) subject() (decision, tag string)   { return e.Decision, "" }
func (e Ruled) subject() (decision, tag string)    { return e.Decision, e.Outcome.String() }
func (e Decided) subject() (decision, tag string) {
	return e.Report.ID, e.Report.Decision.Outcome.String()
}

func (e Reviewed) subject() (decision, tag string) {
	if e.Approved {
		return e.Decision, "approved"
	}
	return e.Decision, "rejected"
}
func (e Granted) subject() (decision, tag string)      { return e.Decision, e.Grant }
func (e Sent) subject() (decision, tag string)         { return e.Decision, e.Call }
func (e Done) subject() (decision, tag string)         { return e.Decision, e.Call }
func (e StateChanged) subject() (decision, tag string) { return "", e.Site + "/" + e.Name }
func (e ToolPinned) subject() (decision, tag string)   { return "", e.Server + "/" + e.Tool }
func (e TokenIssued) subject() (decision, tag string)  { return "", e.Token }
func (e TokenRevoked) subject() (decision, tag string) { return "", e.Token }

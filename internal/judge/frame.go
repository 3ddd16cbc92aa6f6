package judge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"interlock/internal/llm"
	"interlock/internal/plan"
	"interlock/internal/prompt"
)

// ErrBoundary says that a text to be judged contains the block mark of its own
// prompt, which it cannot have guessed: it is refused (C9).
var ErrBoundary = errors.New("a text to be judged contains the secret block mark of its prompt")

// A Frame builds the one prompt that all judges of a panel get (C9).
type Frame struct {
	Prompts *prompt.Set
	Secret  []byte                         // of this run; never leaves the process
	Extra   func(siteID string) []string   // rules that the site adds to the frame; nil: none
	Privacy func(siteID string) DataPolicy // what may leave for this site; nil: DefaultData
	Hosted  bool                           // some judge of the panel is hosted: then names are pseudonyms for all
}

// Boundary is the mark of the blocks in a plan's prompts: an HMAC of the run's
// secret and the plan's digest, the same for the whole panel, unknown to
// whoever wrote the plan (C9).
func Boundary(secret []byte, planDigest string) string {
	mac := hmac.New(sha256.New, secret)
	// A hash never fails to write.
	_, _ = mac.Write([]byte(planDigest))
	return "BLOCK-" + hex.EncodeToString(mac.Sum(nil))[:24]
}

// A Question is a prompt with the way back from it.
type Question struct {
	llm.Request
	LeftOut int        // evidence lines left out to keep it short
	names   *pseudonym // nil: names stand as they are
}

// Ask builds the prompt for a plan with at most maxEvidence evidence lines,
// best first.
func (f *Frame) Ask(in Input, maxEvidence int) (Question, error) {
	boundary := Boundary(f.Secret, plan.Digest(in.Plan))
	policy := f.policy(in.Site.ID)
	fields := f.render(in, policy, maxEvidence)
	var names *pseudonym
	if f.Hosted && policy.Pseudonyms {
		names = pseudonyms(in, policy)
		fields = names.fields(fields)
	}
	for _, text := range []string{fields.Profile, fields.Submitter, fields.Plan, fields.Findings, fields.Facts, fields.Evidence, fields.Claims, fields.Extra} {
		if strings.Contains(text, boundary) {
			return Question{}, ErrBoundary
		}
	}
	fields.Boundary = boundary
	text, err := f.Prompts.Judge(fields)
	if err != nil {
		return Question{}, err
	}
	return Question{
		Request: llm.Request{System: text.System, Prompt: text.Prompt, Schema: f.Prompts.JudgeSchema(), Boundary: boundary},
		LeftOut: max(0, len(in.Evidence)-maxEvidence),
		names:   names,
	}, nil
}

func (f *Frame) policy(siteID string) DataPolicy {
	if f.Privacy == nil {
		return DefaultData()
	}
	return f.Privacy(siteID)
}

// Back gives a text that came back from a model with the names that people
// know.
func (q Question) Back(s string) string {
	if q.names == nil {
		return s
	}
	return q.names.back(s)
}

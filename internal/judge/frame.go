package judge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"

	"interlock/internal/llm"
	"interlock/internal/plan"
	"interlock/internal/prompt"
	"interlock/internal/site"
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

	mu     sync.Mutex
	recent [keptQuestions]*asking // the last questions, so that a panel renders its one prompt once
	next   int                    // of recent, to be overwritten

	profiles sync.Map // *site.Site → its rendering: profiles are few and do not change
	hidden   sync.Map // *site.Site → *hiddenSite, for plans that name nobody else
}

// A hiddenSite is the pseudonyms of a site's people and its profile with them.
type hiddenSite struct {
	names   *pseudonym
	profile string
}

// pseudonymous puts pseudonyms for the names in a prompt. Those of the site are
// worked out once; a plan that brings names of its own has its own.
func (f *Frame) pseudonymous(in Input, policy DataPolicy, fields prompt.Judge) (*pseudonym, prompt.Judge) {
	if nobody(in) != "" || len(strangers(in)) > 0 {
		names := pseudonyms(in, policy)
		return names, names.fields(fields)
	}
	known, ok := f.hidden.Load(in.Site)
	if !ok {
		names := pseudonyms(in, policy)
		known, _ = f.hidden.LoadOrStore(in.Site, &hiddenSite{names, names.hide(fields.Profile)})
	}
	of := known.(*hiddenSite)
	fields.Profile = ""
	fields = of.names.fields(fields)
	fields.Profile = of.profile
	return of.names, fields
}

// profile renders a site's profile once.
func (f *Frame) profile(s *site.Site) string {
	if text, ok := f.profiles.Load(s); ok {
		return text.(string)
	}
	text := strings.TrimSpace(site.Render(s))
	f.profiles.Store(s, text)
	return text
}

// keptQuestions is for how many plans the prompt is kept: about as many as are
// judged at once.
const keptQuestions = 32

// An asking is a question on its way. It holds on to its input, so that the
// addresses compared in is stay its own.
type asking struct {
	in       Input
	evidence int
	once     sync.Once
	question Question
	err      error
}

// is reports whether the question is about this very input: the same values
// in memory, which stages hand on and nobody writes to.
func (a *asking) is(in Input, evidence int) bool {
	return a.in.Plan == in.Plan && a.in.Site == in.Site && a.in.Facts == in.Facts && a.evidence == evidence &&
		sameSlice(a.in.Findings, in.Findings) && sameSlice(a.in.Evidence, in.Evidence)
}

func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
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
	LeftOut int               // evidence lines left out to keep it short
	names   *pseudonym        // nil: names stand as they are
	ids     map[string]string // what may be cited, see known
}

// Ask builds the prompt for a plan with at most maxEvidence evidence lines,
// best first. It is safe for concurrent use; the judges of a panel share one
// rendering.
func (f *Frame) Ask(in Input, maxEvidence int) (Question, error) {
	a := f.asking(in, maxEvidence)
	a.once.Do(func() { a.question, a.err = f.build(in, maxEvidence) })
	return a.question, a.err
}

func (f *Frame) asking(in Input, evidence int) *asking {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.recent {
		if a != nil && a.is(in, evidence) {
			return a
		}
	}
	a := &asking{in: in, evidence: evidence}
	f.recent[f.next] = a
	f.next = (f.next + 1) % keptQuestions
	return a
}

func (f *Frame) build(in Input, maxEvidence int) (Question, error) {
	boundary := Boundary(f.Secret, plan.Digest(in.Plan))
	policy := f.policy(in.Site.ID)
	fields := f.render(in, policy, maxEvidence)
	var names *pseudonym
	if f.Hosted && policy.Pseudonyms {
		names, fields = f.pseudonymous(in, policy, fields)
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
		ids:     known(in),
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

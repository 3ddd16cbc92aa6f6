// Package gate is the policy enforcement point: an MCP proxy in front of the
// servers that move a robot or run a laboratory. Everything it does not own
// passes unchanged; a call that changes something passes only as the next
// call of an accepted plan (C21). It decides no plan itself: a Verifier does.
//
//	planner -> wire checks -> method allow-list -> plan tools | permit -> upstream
//	planner <- screening   <- pins              <-------------- upstream
//
// Whatever is in doubt is refused, with a reason.
package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/pin"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// A Verifier decides a plan. The report is usable beside an error.
type Verifier interface {
	Verify(ctx context.Context, s plan.Submission) (verdict.Report, error)
}

// A Rechecker runs the checks again at dispatch, with the rules, state and
// graph of now (C14). A block finding stops the call.
type Rechecker interface {
	Recheck(ctx context.Context, c Call) []verdict.Finding
}

// A State gives the live state of the site at any moment.
type State interface {
	Live() site.State
}

// A Screener looks at text a server sent, for people and planners to be
// warned of it. It returns the rule that matched, "" if none.
type Screener interface {
	Screen(text string) string
}

// An Alerter tells a person: of a deviation, an unknown outcome, a quarantine.
type Alerter interface {
	Alert(ctx context.Context, a Alert)
}

// An Alert is something a person must look at. It holds no secrets.
type Alert struct {
	Kind   grant.Kind
	Plan   string
	Grant  string
	Server string
	Tool   string
	Reason string
}

// A Call is one concrete call about to go out.
type Call struct {
	Client    Client
	Server    string
	Tool      *site.Tool
	Arguments map[string]any
	Step      int             // of the plan; 0 for a call without a plan
	Plan      plan.Submission // the accepted plan; Plan.Plan is nil for a call without one
}

// A Client is who speaks, by the credential it presented (C33).
type Client struct {
	Requester string // identity of the credential; never ""
	Agent     string // agent it stands for
}

// A Mode is how strictly plans are enforced.
type Mode string

// The modes. The zero value is not a mode; New refuses it.
const (
	Strict Mode = "strict" // a plan names its calls
	Guided Mode = "guided" // a plan in prose is bound to calls before the first one (C34)
	Shadow Mode = "shadow" // calls pass and are recorded, for tools named, until a time (C43)
)

// A Policy is how a site enforces.
type Policy struct {
	Mode          Mode
	ShadowTools   []string      // tools that pass in shadow mode; "*" is every tool
	ShadowUntil   time.Time     // end of shadow mode
	NeverShadow   []string      // hazard classes that shadow mode refuses
	Methods       []string      // client methods that pass beside the standard ones
	Meta          []string      // keys of _meta that reach calls with an effect
	Sampling      bool          // servers may ask the client's model
	Elicitation   bool          // servers may ask the client; else such a question goes to a person
	GrantTTL      time.Duration // life of a grant
	QuestionTTL   time.Duration // longest a plan may wait for a person and still be granted
	MaxWait       time.Duration // longest submit_plan may wait
	PinMaxAge     time.Duration // longest a server's tool list is believed without asking again
	SafePerMinute int           // rate limit of safe actions, each client (C31)
	CodeTools     []string      // tools of hazard class "code" that may run outside the sandbox
	Withhold      bool          // withhold results that the screen hits, instead of marking them
	Pairs         []Pair        // calls that must not follow one another
	ResultTimeout time.Duration // how long an interrupted result may still arrive before it is unknown
	// Reformulations is how many rejections a lineage may have before a person
	// must look; Pending how many plans of one requester are judged at once.
	Reformulations int
	Pending        int
	FirstContact   bool // approve everything at first contact: demonstrations only
}

// A Pair is a sequence of legal calls that is not legal: First, and then Then
// without Unless in between.
type Pair struct {
	First, Then, Unless string
	Why                 string
}

// DefaultPolicy returns the strict defaults.
func DefaultPolicy() Policy {
	return Policy{
		Mode: Strict, GrantTTL: 30 * time.Minute, QuestionTTL: 24 * time.Hour, MaxWait: 55 * time.Second, PinMaxAge: time.Minute,
		SafePerMinute: 120, ResultTimeout: 2 * time.Minute, Reformulations: 3, Pending: 16,
		Meta: []string{
			"progressToken", "io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientInfo",
			"io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/logLevel",
		},
	}
}

// Options is what a gate is made of. Screener, Alerter and Claimer may be nil.
type Options struct {
	Site      func() *site.Site // the profile in force; never nil
	Policy    Policy
	Servers   []string // names of the upstreams
	Verifier  Verifier
	Rechecker Rechecker
	State     State
	Journal   grant.Journal
	Pins      *pin.Store
	Screener  Screener
	Alerter   Alerter
	Claimer   Claimer
	Limits    plan.Limits
	Now       func() time.Time
	Log       *slog.Logger
}

// A Gate enforces for one site. It is safe for concurrent use.
type Gate struct {
	o     Options
	book  *grant.Book
	plans *plans
	lists *catalog
	rate  *rates
	seen  *history
	reads *readings

	asking *questions

	life    context.Context //nolint:containedctx // of what the gate does on its own account
	end     context.CancelFunc
	watches sync.WaitGroup

	mu   sync.Mutex            // owns what follows
	ups  map[string]Upstream   // those a handler serves, by name
	open map[*Session]struct{} // those whose client can be told things
}

// New builds a gate and recovers what the journal says. What the gate does on
// its own account ends with ctx, or with Close. A part that is missing
// is an error: a gate is never silently weaker (C30).
func New(ctx context.Context, o Options) (*Gate, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("building the gate: %w", err)
	}
	g := &Gate{o: o, rate: newRates(o.Now), seen: newHistory(), reads: newReadings(), asking: &questions{open: map[string]grant.Permit{}}}
	g.life, g.end = context.WithCancel(ctx)
	g.book = grant.NewBook(o.Journal, o.Now, func() string { return o.Site().Digest }, g.matches)
	g.plans = newPlans(o.Now)
	g.lists = newCatalog(o.Pins, o.Now, o.Policy.PinMaxAge)
	lost, err := g.book.Recover(ctx)
	if err != nil {
		return nil, fmt.Errorf("building the gate: %w", err)
	}
	if err := g.recall(ctx); err != nil {
		return nil, fmt.Errorf("building the gate: %w", err)
	}
	for _, l := range lost {
		kind := grant.KindUnknown
		if !l.Unknown() {
			kind = grant.KindUnmet
		}
		g.alert(ctx, Alert{Kind: kind, Plan: l.Plan, Grant: l.ID, Reason: l.Why})
	}
	return g, nil
}

func (o *Options) check() error {
	switch {
	case o.Site == nil || o.Site() == nil:
		return errors.New("no site profile")
	case o.Verifier == nil:
		return errors.New("no verifier")
	case o.Rechecker == nil:
		return errors.New("no checks at dispatch")
	case o.State == nil:
		return errors.New("no source of live state")
	case o.Journal == nil:
		return errors.New("no journal")
	case o.Pins == nil:
		return errors.New("no store of approved tools")
	case o.Now == nil || o.Log == nil:
		return errors.New("no clock or no log")
	case len(o.Servers) == 0:
		return errors.New("no upstream")
	}
	return o.Policy.check(o.Now())
}

func (p Policy) check(now time.Time) error {
	switch p.Mode {
	case Strict, Guided:
	case Shadow:
		if len(p.ShadowTools) == 0 {
			return errors.New("shadow mode names no tools")
		}
		if !p.ShadowUntil.After(now) {
			return errors.New("shadow mode has ended: set a new end or mode strict")
		}
	default:
		return fmt.Errorf("mode %q is not known: expected strict, guided or shadow", p.Mode)
	}
	if p.GrantTTL <= 0 || p.QuestionTTL <= 0 || p.MaxWait <= 0 || p.PinMaxAge <= 0 || p.SafePerMinute <= 0 || p.ResultTimeout <= 0 || p.Reformulations <= 0 || p.Pending <= 0 {
		return errors.New("a time, rate or quota of the policy is not above zero")
	}
	return nil
}

func (g *Gate) alert(ctx context.Context, a Alert) {
	g.o.Log.WarnContext(ctx, "a person must look", "kind", string(a.Kind), "plan", a.Plan, "server", a.Server, "tool", a.Tool, "reason", a.Reason)
	if g.o.Alerter != nil {
		g.o.Alerter.Alert(ctx, a)
	}
}

// note appends an event that no call waits for; a failure is logged, and the
// next event a call does wait for will fail as well.
func (g *Gate) note(ctx context.Context, e grant.Event) {
	e.At = g.o.Now()
	if err := g.o.Journal.Append(ctx, e); err != nil {
		g.o.Log.ErrorContext(ctx, "the journal cannot be written", "kind", string(e.Kind), "error", err)
	}
}

// tool finds a tool of a server in the site profile by the name that plans use,
// nil if it is not allowed.
func (g *Gate) tool(server, name string) *site.Tool {
	s := g.o.Site()
	for i := range s.Tools {
		if t := &s.Tools[i]; t.Name == name && g.at(t, server) {
			return t
		}
	}
	return nil
}

// listed finds the tool of the site profile that a server calls own, nil if it
// is not allowed. Plans and policy know it by the profile's name.
func (g *Gate) listed(server, own string) *site.Tool {
	s := g.o.Site()
	for i := range s.Tools {
		if t := &s.Tools[i]; ownName(t) == own && g.at(t, server) {
			return t
		}
	}
	return nil
}

// at reports whether a tool lives on a server.
func (g *Gate) at(t *site.Tool, server string) bool {
	return t.Server == server || (t.Server == "" && len(g.o.Servers) == 1)
}

// policyName is what policy and record call a tool of a server: the profile's
// name, or its own if the profile does not list it.
func (g *Gate) policyName(server, own string) string {
	if t := g.listed(server, own); t != nil {
		return t.Name
	}
	return own
}

// ownName is what its server calls a tool.
func ownName(t *site.Tool) string { return cmp.Or(t.Own, t.Name) }

// server finds where a tool named in a plan lives, "" if that is not clear.
func (g *Gate) server(name string) string {
	s := g.o.Site()
	found := ""
	for i := range s.Tools {
		t := &s.Tools[i]
		if t.Name != name {
			continue
		}
		where := t.Server
		if where == "" && len(g.o.Servers) == 1 {
			where = g.o.Servers[0]
		}
		if where == "" || (found != "" && found != where) {
			return ""
		}
		found = where
	}
	return found
}

// Void takes every grant and pending approval at the site away (C20).
func (g *Gate) Void(ctx context.Context, reason string) error {
	g.plans.void(reason)
	return g.book.VoidIf(ctx, reason, func(grant.Grant) bool { return true })
}

// Grants gives the grants that are open now.
func (g *Gate) Grants() []grant.Grant { return g.book.Live() }

// Unknowns gives the grants with a call nobody knows the outcome of.
func (g *Gate) Unknowns() []grant.Grant { return g.book.Unknowns() }

// ensure asks a server for its tools on the gate's own account, where a plan
// needs them and no session has asked yet.
func (g *Gate) ensure(ctx context.Context, server string) error {
	g.mu.Lock()
	u, ok := g.ups[server]
	g.mu.Unlock()
	if !ok || !g.lists.stale(server) {
		return nil
	}
	shown, err := Probe(ctx, u)
	if err != nil {
		return err
	}
	g.lists.instructed(server, shown.Instructions)
	g.lists.listed(server, shown.Tools)
	return g.firstContact(ctx, server)
}

// Live gives what a server shows now, for a person to compare with what is
// approved.
func (g *Gate) Live(server string) *pin.Server { return g.lists.snapshot(server) }

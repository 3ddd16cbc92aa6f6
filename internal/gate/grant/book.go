package grant

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"interlock/internal/strict"
)

// keepEnded is how long a grant that has ended can still be asked about.
const keepEnded = 24 * time.Hour

// A Book holds the grants. It is safe for concurrent use.
type Book struct {
	journal Journal
	now     func() time.Time
	version func() string // digest of the site profile in force
	match   Matcher

	mu     sync.Mutex // owns what follows, and never held over an append
	grants map[string]*Grant
	order  []string                   // grant ids by age
	going  []*Grant                   // those that may not have finished, by age: a call looks at no others
	rests  map[string]json.RawMessage // of plans not granted yet: what they rest on, by plan
}

// A Matcher decides whether the arguments of a call are those a slot allows:
// equal, or a declared reading (C42). The reason is for people.
type Matcher func(ask Ask, slot Slot) (ok bool, reason string)

// NewBook returns an empty book. A nil match wants equal arguments.
func NewBook(j Journal, now func() time.Time, siteVersion func() string, match Matcher) *Book {
	if match == nil {
		match = Equal
	}
	return &Book{journal: j, now: now, version: siteVersion, match: match, grants: map[string]*Grant{}, rests: map[string]json.RawMessage{}}
}

// Equal matches arguments that are the same JSON value.
func Equal(ask Ask, slot Slot) (bool, string) {
	if string(strict.Canonical(ask.Args)) == string(slot.Args) {
		return true, ""
	}
	return false, "the arguments are not those of the accepted plan"
}

// NewID returns an unguessable identifier.
func NewID(prefix string) string { return prefix + rand.Text() }

// Open records a grant and then makes it one (C25). Status and slots start
// anew whatever they were.
func (b *Book) Open(ctx context.Context, g Grant) (Grant, error) {
	g.ID, g.Status, g.Why = NewID("g-"), Open, ""
	for i := range g.Slots {
		g.Slots[i].State, g.Slots[i].CallID = Planned, ""
	}
	body, err := json.Marshal(g)
	if err != nil {
		return Grant{}, fmt.Errorf("granting plan %s: %w", g.Plan, err)
	}
	if err := b.append(ctx, Event{Kind: KindGranted, Requester: g.Requester, Grant: g.ID, Plan: g.Plan, Body: body}); err != nil {
		return Grant{}, fmt.Errorf("granting plan %s: %w", g.Plan, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	stored := g.clone()
	b.add(&stored)
	return g, nil
}

func (b *Book) add(g *Grant) {
	b.grants[g.ID] = g
	b.order = append(b.order, g.ID)
	b.going = append(b.going, g)
	delete(b.rests, g.Plan)
}

func (b *Book) append(ctx context.Context, e Event) error {
	e.At = b.now()
	if err := b.journal.Append(ctx, e); err != nil {
		return fmt.Errorf("recording %s: %w", e.Kind, err)
	}
	return nil
}

// Get returns a copy of a grant by its id or its plan's.
func (b *Book) Get(id string) (Grant, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g, ok := b.grants[id]; ok {
		return g.clone(), true
	}
	for _, key := range slices.Backward(b.order) {
		if b.grants[key].Plan == id {
			return b.grants[key].clone(), true
		}
	}
	return Grant{}, false
}

// Live returns copies of the grants that are open.
func (b *Book) Live() []Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	var live []Grant
	for _, id := range b.order {
		if g := b.grants[id]; g.Status == Open && b.usable(g) == nil {
			live = append(live, g.clone())
		}
	}
	return live
}

// usable says why a grant lets nothing pass now, nil if it may.
func (b *Book) usable(g *Grant) *Refusal {
	r := &Refusal{Plan: g.Plan, Grant: g.ID, OnAbort: g.OnAbort}
	switch {
	case g.Status != Open:
		r.Code, r.Reason = string(g.Status), fmt.Sprintf("plan %s is %s: %s", g.Plan, g.Status, g.Why)
		r.Suspended = g.Status == Suspended
	case !b.now().Before(g.Expires):
		r.Code, r.Reason = "expired", fmt.Sprintf("the grant of plan %s expired at %s", g.Plan, g.Expires.Format(time.RFC3339))
	case g.SiteVersion != b.version():
		r.Code, r.Reason = "site-changed", fmt.Sprintf("the site profile has changed since plan %s was accepted: submit it again", g.Plan)
	default:
		return nil
	}
	return r
}

// Reserve finds the slot a call may use and takes it, so that no other call
// can. The permit is good only after Commit. A call that no open plan of the
// requester has next is a deviation: the plans it interferes with are
// suspended.
func (b *Book) Reserve(ctx context.Context, ask Ask) (Permit, *Refusal) {
	b.mu.Lock()
	permit, refusal, strayed := b.find(ask)
	b.mu.Unlock()
	if refusal == nil {
		return permit, nil
	}
	for _, id := range strayed {
		refusal.Suspended = true
		if err := b.end(ctx, id, Suspended, KindDeviation, refusal.Reason, ask); err != nil {
			refusal.Reason += "; " + err.Error()
		}
	}
	return Permit{}, refusal
}

// find is called with mu held. It returns the grants the call deviates from.
func (b *Book) find(ask Ask) (Permit, *Refusal, []string) {
	var best *Refusal
	var open []*Grant
	for _, g := range b.unfinished() {
		if g.Requester != ask.Requester || (ask.Handle != "" && ask.Handle != g.ID) {
			continue // a handle is no authority: the credential must be the requester's (C14)
		}
		if r := b.usable(g); r != nil {
			if g.Status == Suspended {
				if p, ok := b.abort(g, ask); ok {
					return p, nil, nil
				}
			}
			best = r
			continue
		}
		open = append(open, g)
	}
	if len(open) == 0 {
		if best == nil {
			best = &Refusal{Code: "no-plan", Reason: "no accepted plan of yours covers this call: submit one with submit_plan"}
		}
		return Permit{}, best, nil
	}
	var wait *Refusal
	for _, g := range open {
		r := b.take(g, ask, g.next())
		switch {
		case r == nil:
			i := g.next()
			s := &g.Slots[i]
			s.State, s.CallID = Sent, NewID("c-")
			return Permit{Grant: g.ID, Plan: g.Plan, Slot: i, CallID: s.CallID, Step: s.Step}, nil, nil
		case r.Code == "wait":
			wait = r
		default:
			best = r
		}
	}
	if wait != nil {
		return Permit{}, wait, nil
	}
	return Permit{}, best, strayed(open)
}

// unfinished gives the grants that have not finished: one that has lets
// nothing pass, and is no reason worth telling. mu is held.
func (b *Book) unfinished() []*Grant {
	b.going = slices.DeleteFunc(b.going, func(g *Grant) bool { return g.Status == Finished || b.grants[g.ID] != g })
	return b.going
}

// take reports whether the call is the next one of an open grant.
func (b *Book) take(g *Grant, ask Ask, i int) *Refusal {
	r := &Refusal{Code: "deviation", Plan: g.Plan, Grant: g.ID, OnAbort: g.OnAbort}
	if i < 0 {
		r.Reason = fmt.Sprintf("every call of plan %s is done", g.Plan)
		return r
	}
	s := g.Slots[i]
	r.Next = &s
	if s.State == Sent {
		r.Code, r.Reason = "wait", fmt.Sprintf("call %d of plan %s is still running: wait for its result", i+1, g.Plan)
		return r
	}
	if s.State == Settling {
		r.Code, r.Reason = "wait", fmt.Sprintf("call %d of plan %s is done, but what it is expected to do has not been seen yet: wait, and ask plan_status", i+1, g.Plan)
		return r
	}
	if s.Server != ask.Server || s.Tool != ask.Tool {
		r.Reason = fmt.Sprintf("call %d of plan %s is %s, not %s", i+1, g.Plan, s.Tool, ask.Tool)
		return r
	}
	if ok, why := b.match(ask, s); !ok {
		r.Reason = fmt.Sprintf("call %d of plan %s (%s): %s", i+1, g.Plan, s.Tool, why)
		return r
	}
	if s.Pin != ask.Pin {
		r.Code, r.Reason = "tool-changed", fmt.Sprintf("the definition of %s has changed since plan %s was accepted", s.Tool, g.Plan)
		return r
	}
	return nil
}

// abort lets a call of the judged on_abort list pass under a suspended grant
// (C31): each once, in any order, expiry aside, since it makes things safer.
func (b *Book) abort(g *Grant, ask Ask) (Permit, bool) {
	for i := range g.OnAbort {
		s := &g.OnAbort[i]
		if s.State != Planned || s.Server != ask.Server || s.Tool != ask.Tool || s.Pin != ask.Pin {
			continue
		}
		if ok, _ := b.match(ask, *s); ok {
			s.State, s.CallID = Sent, NewID("c-")
			return Permit{Grant: g.ID, Plan: g.Plan, Slot: i, CallID: s.CallID, Abort: true}, true
		}
	}
	return Permit{}, false
}

// strayed are the plans a call outside all of them interferes with: those
// that have begun, or all if none has.
func strayed(open []*Grant) []string {
	var begun, all []string
	for _, g := range open {
		all = append(all, g.ID)
		if g.begun() {
			begun = append(begun, g.ID)
		}
	}
	if len(begun) > 0 {
		return begun
	}
	return all
}

var errNoGrant = errors.New("no such grant")

// Prune forgets grants that ended long ago.
func (b *Book) Prune() {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.now().Add(-keepEnded)
	b.order = slices.DeleteFunc(b.order, func(id string) bool {
		g := b.grants[id]
		old := g.Expires.Before(limit) && !slices.ContainsFunc(g.Slots, func(s Slot) bool { return s.State == Unknown || s.State == Sent || s.State == Settling })
		if old {
			delete(b.grants, id)
		}
		return old
	})
}

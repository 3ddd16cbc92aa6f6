package gate

import (
	"context"
	"sync"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// keepPlans bounds how many submitted plans are remembered for plan_status;
// decisions and grants are kept elsewhere.
const keepPlans = 10000

// A planState is where a submitted plan stands.
type planState string

const (
	statePending   planState = "pending"   // being judged
	stateRejected  planState = "rejected"  // with reasons
	stateEscalated planState = "escalated" // waits for a person
	stateAccepted  planState = "accepted"  // granted
	stateUnbound   planState = "unbound"   // accepted in prose: bind_plan is next (C34)
	stateFailed    planState = "failed"    // accepted, but nothing could be granted
	stateVoid      planState = "void"
)

// An entry is one submitted plan.
type entry struct {
	id     string
	sub    plan.Submission
	digest string
	since  time.Time

	done chan struct{} // closed when it is decided

	// What follows belongs to plans.mu.
	state  planState
	why    string // of failed and void
	report verdict.Report
	grant  string // id of the grant, "" if none
	site   string // site version it was judged under
	taken  bool   // a person approved it and the grant is being made
}

// plans are the plans submitted to this gate.
type plans struct {
	now func() time.Time

	mu    sync.Mutex
	byID  map[string]*entry
	order []string
}

func newPlans(now func() time.Time) *plans { return &plans{now: now, byID: map[string]*entry{}} }

// add registers a plan, or returns the entry that the same requester's same
// plan has and that still stands: a client that lost patience finds its
// verdict instead of paying for a second one (C18).
func (p *plans) add(s plan.Submission, digest, site string) (*entry, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range p.order {
		e := p.byID[id]
		if e.digest == digest && e.sub.Requester == s.Requester && e.site == site && e.stands() {
			return e, false
		}
	}
	e := &entry{id: grant.NewID("d-"), sub: s, digest: digest, since: p.now(), done: make(chan struct{}), state: statePending, site: site}
	p.byID[e.id] = e
	p.order = append(p.order, e.id)
	for len(p.order) > keepPlans {
		delete(p.byID, p.order[0])
		p.order = p.order[1:]
	}
	return e, true
}

// restore adds an entry that is decided already.
func (p *plans) restore(e *entry) {
	e.done = make(chan struct{})
	close(e.done)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID[e.id] == nil {
		p.byID[e.id] = e
		p.order = append(p.order, e.id)
	}
}

// stands reports whether a verdict may be given again: not once it was used.
func (e *entry) stands() bool {
	return e.state == statePending || e.state == stateEscalated || e.state == stateUnbound
}

func (p *plans) get(id string) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byID[id]
}

// set changes an entry, but never one that was voided.
func (p *plans) set(e *entry, change func(*entry)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.state == stateVoid {
		return false
	}
	change(e)
	return true
}

// view returns a copy of what can be told of an entry.
func (p *plans) view(e *entry) entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return entry{id: e.id, sub: e.sub, digest: e.digest, since: e.since, state: e.state, why: e.why, report: e.report, grant: e.grant, site: e.site}
}

// void ends every plan that waits or was accepted (C20).
func (p *plans) void(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.byID {
		if e.state != stateRejected && e.state != stateFailed {
			e.state, e.why = stateVoid, reason
		}
	}
}

// submission returns the accepted plan with the gate's id; an empty one if
// this process has not seen it.
func (p *plans) submission(id string) plan.Submission {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.byID[id]; e != nil {
		return e.sub
	}
	return plan.Submission{}
}

// wait waits until the plan is decided, the time is over or ctx ends.
func (e *entry) wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-e.done:
	case <-t.C:
	case <-ctx.Done():
	}
}

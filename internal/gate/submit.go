package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"interlock/internal/gate/grant"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// submit has a plan judged, apart from the connection it came on: no
// connection is held for judges, and a client that goes away stops nothing
// but its own waiting (C18).
func (s *Session) submit(ctx context.Context, p *plan.Plan) (*entry, *denial) {
	g, c := s.g, s.client
	if g.o.State.Live().EStop {
		return nil, deny("stopped", "an emergency stop is in force: plans wait until a person re-arms")
	}
	ends, err := g.ends(p)
	if err != nil {
		return nil, deny("arguments", "%v", err)
	}
	if err := g.expectable(p); err != nil {
		return nil, deny("arguments", "%v", err)
	}
	sub := plan.Submission{Plan: p, Requester: c.Requester, Agent: c.Agent, Received: g.o.Now()}
	if d := g.quota(ctx, sub); d != nil {
		return nil, d
	}
	e, fresh := g.plans.add(sub, plan.Digest(p), g.o.Site().Digest)
	if fresh {
		go s.judge(context.WithoutCancel(ctx), e, ends)
	}
	return e, nil
}

// judge verifies a plan at each of its ends and settles what follows.
func (s *Session) judge(ctx context.Context, e *entry, ends []*plan.Plan) {
	defer close(e.done)
	g, found := s.g, s.before(ctx, e)
	judged := g.o.Now() // reading what the plan names took time, and state may be newer than the plan
	type answer struct {
		report verdict.Report
		err    error
	}
	answers := make(chan answer, len(ends))
	for i, p := range ends {
		s := e.sub
		s.ID, s.Received, s.Findings = e.id, judged, found // the decision is found under the id the planner was given
		if i > 0 {
			s.ID += highEnd
		}
		go func() {
			r, err := g.verify(ctx, s, p)
			answers <- answer{r, err}
		}()
	}
	var worst verdict.Report
	var failure error
	for i := range ends {
		a := <-answers
		failure = errors.Join(failure, a.err)
		if i == 0 || worse(a.report.Decision, worst.Decision) {
			worst = a.report
		}
	}
	if failure != nil && worst.Decision.Outcome == verdict.Accept {
		worst.Decision.Outcome = verdict.Escalate // an error beside an accept is doubt
		worst.Decision.Faults = append(worst.Decision.Faults, "the verifier reports an error beside its decision")
	}
	g.settle(ctx, e, worst, failure)
}

// highEnd marks the decision on a plan with its readings at their high end.
const highEnd = "-high"

// verify asks the verifier; a panic in it is doubt like any other.
func (g *Gate) verify(ctx context.Context, s plan.Submission, p *plan.Plan) (r verdict.Report, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = verdict.Report{}, fmt.Errorf("the verifier did not finish: %v", v)
		}
	}()
	s.Plan = p
	return g.o.Verifier.Verify(ctx, s)
}

// rank orders outcomes from worst.
func rank(o verdict.Outcome) int {
	switch o {
	case verdict.Reject:
		return 0
	case verdict.Accept:
		return 2
	default:
		return 1
	}
}

func worse(a, b verdict.Decision) bool { return rank(a.Outcome) < rank(b.Outcome) }

// settle turns a decision into what the planner may do.
func (g *Gate) settle(ctx context.Context, e *entry, r verdict.Report, failure error) {
	state, why := stateEscalated, ""
	switch {
	case r.ID == "":
		state, why = stateFailed, "the plan could not be judged"
		if failure != nil {
			g.o.Log.ErrorContext(ctx, "a plan could not be judged", "plan", e.id, "error", failure)
		}
	case r.Decision.Outcome == verdict.Reject:
		state = stateRejected
	case r.Decision.Outcome == verdict.Accept && len(e.sub.Plan.ToolCalls) == 0:
		state, why = g.unbound()
	case r.Decision.Outcome == verdict.Accept:
		state = stateAccepted
	}
	if state == stateRejected {
		g.rejected(ctx, e, why)
	}
	live := g.plans.set(e, func(e *entry) {
		e.report, e.why = r, why
		if state != stateAccepted {
			e.state = state
		}
	})
	if !live || state != stateAccepted {
		return
	}
	g.give(ctx, e, r, "")
}

func (g *Gate) unbound() (planState, string) {
	if g.o.Policy.Mode == Guided || g.o.Policy.Mode == Shadow {
		return stateUnbound, ""
	}
	return stateFailed, "the plan is accepted, but names no tool calls: in strict mode a plan names its calls"
}

// give grants an accepted plan.
func (g *Gate) give(ctx context.Context, e *entry, r verdict.Report, by string) {
	gr, err := g.grant(ctx, e, r, by)
	g.plans.set(e, func(e *entry) {
		if err != nil {
			e.state, e.why = stateFailed, err.Error()
			return
		}
		e.state, e.grant = stateAccepted, gr.ID
	})
	// A stop may have come between decision and grant (C20).
	if v := g.plans.view(e); err == nil && (v.state == stateVoid || g.o.State.Live().EStop) {
		if err := g.book.Cancel(ctx, gr.Plan, "stopped before the grant was given"); err != nil {
			g.o.Log.ErrorContext(ctx, "the journal cannot be written", "error", err)
		}
	}
}

// grant binds an accepted plan to the tools as they are pinned now (C14).
func (g *Gate) grant(ctx context.Context, e *entry, r verdict.Report, by string) (grant.Grant, error) {
	s := g.o.Site()
	if s.Digest != e.site {
		return grant.Grant{}, errors.New("the site profile has changed since the plan was judged: submit it again")
	}
	rest, err := g.rest(e)
	if err != nil {
		return grant.Grant{}, err
	}
	slots, err := g.slots(ctx, e.sub.Plan.ToolCalls, rest.Calls)
	if err != nil {
		return grant.Grant{}, err
	}
	abort, err := g.slots(ctx, e.sub.Plan.OnAbort, rest.OnAbort)
	if err != nil {
		return grant.Grant{}, fmt.Errorf("on_abort: %w", err)
	}
	if err := g.legalOrder(slots); err != nil {
		return grant.Grant{}, err
	}
	if err := g.judged(ctx, e, stateAccepted, ""); err != nil {
		return grant.Grant{}, err
	}
	return g.book.Open(ctx, grant.Grant{
		Plan: e.id, Decision: r.ID, Digest: e.digest, Site: s.ID, SiteVersion: s.Digest, Decided: decidedWith(r),
		Requester: e.sub.Requester, ApprovedBy: by, Expires: g.o.Now().Add(g.o.Policy.GrantTTL), Slots: slots, OnAbort: abort, Claims: rest.Claims,
	})
}

func decidedWith(r verdict.Report) string {
	d := r.Case.DecidedWith
	return strings.Join([]string{d.Engine, d.Policy, d.Site, d.State, d.Checks, d.Graph, d.Prompts, strings.Join(d.Models, ",")}, "/")
}

func (g *Gate) slots(ctx context.Context, calls []plan.ToolCall, digests []map[string]string) ([]grant.Slot, error) {
	var out []grant.Slot
	for i, c := range calls {
		server := g.server(c.Tool)
		t := g.tool(server, c.Tool)
		if t == nil {
			return nil, fmt.Errorf("call %d: no server of this site has the tool %s", i+1, c.Tool)
		}
		if err := g.ensure(ctx, server); err != nil {
			return nil, fmt.Errorf("call %d: %w", i+1, err)
		}
		live := g.lists.snapshot(server).Tool(ownName(t))
		if live == nil {
			return nil, fmt.Errorf("call %d: %s does not list the tool %s", i+1, server, c.Tool)
		}
		ok, err := g.lists.approved(server, *live)
		if err != nil {
			return nil, fmt.Errorf("call %d: %w", i+1, err)
		}
		if !ok {
			return nil, fmt.Errorf("call %d: the definition of %s waits for a person's approval", i+1, c.Tool)
		}
		slot := grant.NewSlot(c, server, c.Tool, live.Digest)
		if slot.Expect, err = g.expect(c); err != nil {
			return nil, fmt.Errorf("call %d: expect: %w", i+1, err)
		}
		out = append(out, slot)
	}
	return out, g.bind(out, calls, digests)
}

// legalOrder refuses a plan whose own calls are a forbidden pair.
func (g *Gate) legalOrder(slots []grant.Slot) error {
	h := newHistory()
	for i, s := range slots {
		for _, p := range g.o.Policy.Pairs {
			if h.broken(p, s.Tool) {
				return fmt.Errorf("call %d: %s after %s: %s", i+1, p.Then, p.First, p.Why)
			}
		}
		h.add(s.Tool)
	}
	return nil
}

// Errors of Approve and Deny.
var (
	ErrNoPlan   = errors.New("no such plan waits for a person")
	ErrOwnPlan  = errors.New("nobody approves their own plan")
	ErrBlocked  = errors.New("a block is not approvable on the spot: the plan must change")
	ErrNoReason = errors.New("the reviewer is not named")
)

// Approve grants an escalated plan on a person's word (C16). reviewer is the
// identity of the credential, never of a body. Approving twice is the same as
// approving once (C18). A plan with a block is never approvable (C43).
func (g *Gate) Approve(ctx context.Context, planID, reviewer string) (PlanView, error) {
	e := g.plans.get(strings.TrimSuffix(planID, highEnd))
	if e == nil {
		return PlanView{}, ErrNoPlan
	}
	v := g.plans.view(e)
	switch {
	case reviewer == "":
		return PlanView{}, ErrNoReason
	case reviewer == v.sub.Requester || reviewer == v.sub.Agent:
		return PlanView{}, ErrOwnPlan
	case v.state == stateAccepted:
		return g.view(e), nil
	case v.state != stateEscalated:
		return PlanView{}, fmt.Errorf("plan %s is %s: %w", planID, v.state, ErrNoPlan)
	case v.report.Decision.Level.Norm() == verdict.Block:
		return PlanView{}, ErrBlocked
	case g.o.State.Live().EStop:
		return PlanView{}, errors.New("an emergency stop is in force: re-arm first")
	case g.o.Now().Sub(v.since) > g.o.Policy.QuestionTTL:
		return PlanView{}, errors.New("the plan has waited longer than a question to a person may: submit it again")
	}
	if len(v.sub.Plan.ToolCalls) == 0 {
		state, why := g.unbound()
		g.plans.set(e, func(e *entry) { e.state, e.why = state, why })
		return g.view(e), nil
	}
	if findings := g.recheckPlan(ctx, v); verdict.WorstLevel(findings) == verdict.Block {
		return PlanView{}, fmt.Errorf("the checks have tightened since: %w", ErrBlocked)
	}
	taken := false // the planner reads "accepted" only once there is a grant
	g.plans.set(e, func(e *entry) { taken, e.taken = e.state == stateEscalated && !e.taken, true })
	if taken {
		g.give(ctx, e, v.report, reviewer)
	}
	return g.view(e), nil
}

// recheckPlan runs the checks again over every call of a plan a person is
// about to approve: what was true when it was judged may not be now.
func (g *Gate) recheckPlan(ctx context.Context, v entry) []verdict.Finding {
	var out []verdict.Finding
	for _, c := range v.sub.Plan.ToolCalls {
		server := g.server(c.Tool)
		t := g.tool(server, c.Tool)
		if t == nil {
			return []verdict.Finding{{Rule: "GATE-TOOL", Level: verdict.Block, Message: c.Tool + " is not on this site's list of tools"}}
		}
		if t.Effect == site.Act && !hasReading(c.Arguments) {
			out = append(out, g.o.Rechecker.Recheck(ctx, Call{Client: Client{v.sub.Requester, v.sub.Agent}, Server: server, Tool: t, Arguments: c.Arguments, Step: c.Step, Plan: v.sub})...)
		}
	}
	return out
}

func hasReading(args map[string]any) bool {
	for _, v := range args {
		if _, ok, _ := readReading(v); ok {
			return true
		}
	}
	return false
}

// Restore takes up a plan that an earlier process had judged and that waits
// for a person. What is known already stays as it is.
func (g *Gate) Restore(s plan.Submission, r verdict.Report) {
	if r.Decision.Outcome != verdict.Escalate || s.ID == "" {
		return
	}
	if _, granted := g.book.Get(s.ID); granted {
		return
	}
	g.plans.restore(&entry{id: s.ID, sub: s, digest: plan.Digest(s.Plan), since: s.Received, state: stateEscalated, report: r, site: r.Case.DecidedWith.Site})
}

// Knows reports whether a plan with this id was submitted here or restored.
func (g *Gate) Knows(planID string) bool {
	return g.plans.get(strings.TrimSuffix(planID, highEnd)) != nil
}

// Deny refuses an escalated plan on a person's word.
func (g *Gate) Deny(ctx context.Context, planID, reviewer, note string) (PlanView, error) {
	e := g.plans.get(strings.TrimSuffix(planID, highEnd))
	if e == nil {
		return PlanView{}, ErrNoPlan
	}
	if reviewer == "" {
		return PlanView{}, ErrNoReason
	}
	denied := false
	g.plans.set(e, func(e *entry) {
		if e.state == stateEscalated {
			denied, e.state, e.why = true, stateRejected, "refused by a person: "+note
		}
	})
	if !denied {
		return PlanView{}, ErrNoPlan
	}
	g.rejected(ctx, e, "refused by a person: "+note)
	return g.view(e), nil
}

// argsBody gives the arguments of a call for the journal.
func argsBody(c callFrame) []byte { return strict.Canonical(c.Arguments) }

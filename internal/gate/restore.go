package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"interlock/internal/gate/grant"
	"interlock/internal/plan"
)

// What a gate knows of plans and calls must outlive it, or a restart would
// wash it away: which calls came last (forbidden pairs), how often a planner
// was rejected (C44), and the text of a plan that runs (C14, C32). It is in
// the journal, and what cannot be read from there stops the start.

// A judgement is the body of an event of kind judged.
type judgement struct {
	State planState       `json:"state"` // rejected or accepted
	Why   string          `json:"why,omitempty"`
	Agent string          `json:"agent,omitempty"`
	Site  string          `json:"site"` // version of the profile
	Plan  json.RawMessage `json:"plan"`
}

// judged records a plan with what was decided on it.
func (g *Gate) judged(ctx context.Context, e *entry, state planState, why string) error {
	body, err := json.Marshal(judgement{state, why, e.sub.Agent, e.site, plan.Encode(e.sub.Plan)})
	if err == nil {
		err = g.o.Journal.Append(ctx, grant.Event{Kind: grant.KindJudged, At: g.o.Now(), Requester: e.sub.Requester, Plan: e.id, Body: body})
	}
	if err != nil {
		return fmt.Errorf("recording the plan: %w", err)
	}
	return nil
}

// rejected records a rejection before the planner hears of it. One that cannot
// be recorded still counts here, and nothing is granted on such a journal.
func (g *Gate) rejected(ctx context.Context, e *entry, why string) {
	if err := g.judged(ctx, e, stateRejected, why); err != nil {
		g.o.Log.ErrorContext(ctx, "the journal cannot be written", "plan", e.id, "error", err)
	}
}

// recall takes up what the journal says of calls and plans. Grants have been
// recovered before.
func (g *Gate) recall(ctx context.Context) error {
	var calls []grant.Event
	err := g.o.Journal.Replay(ctx, func(e grant.Event) error {
		switch e.Kind {
		case grant.KindSent, grant.KindSafe, grant.KindShadow, grant.KindObserved:
			calls = append(calls, e)
		case grant.KindWithdrawn: // it did not go out
			calls = slices.DeleteFunc(calls, func(c grant.Event) bool { return c.CallID == e.CallID && e.CallID != "" })
		case grant.KindJudged:
			return g.recallPlan(e)
		default: // of grants, or of nothing that is remembered
		}
		if len(calls) > 2*remember {
			calls = slices.Delete(calls, 0, len(calls)-remember)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	for _, c := range calls {
		g.seen.add(c.Tool)
	}
	return nil
}

func (g *Gate) recallPlan(ev grant.Event) error {
	var j judgement
	if err := json.Unmarshal(ev.Body, &j); err != nil {
		return fmt.Errorf("plan %s: %w", ev.Plan, err)
	}
	p, err := plan.DecodeJSON("recorded plan", j.Plan)
	if err != nil {
		return fmt.Errorf("plan %s: %w", ev.Plan, err)
	}
	e := &entry{
		id: ev.Plan, digest: plan.Digest(p), since: ev.At, state: j.State, why: j.Why, site: j.Site,
		sub: plan.Submission{Plan: p, ID: ev.Plan, Requester: ev.Requester, Agent: j.Agent, Received: ev.At},
	}
	switch j.State {
	case stateRejected:
		if g.o.Now().Sub(ev.At) > lineageWindow {
			return nil
		}
	case stateAccepted:
		gr, ok := g.book.Get(ev.Plan)
		if !ok || (gr.Status != grant.Open && gr.Status != grant.Suspended) {
			return nil // recorded, and then never granted, or over
		}
		if gr.Digest != e.digest {
			return fmt.Errorf("plan %s: the recorded text is not the one that was granted", ev.Plan)
		}
		e.grant = gr.ID
	default:
		return fmt.Errorf("plan %s: state %q is not known", ev.Plan, j.State)
	}
	g.plans.restore(e)
	return nil
}

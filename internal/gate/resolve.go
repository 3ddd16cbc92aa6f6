package gate

import (
	"context"
	"strings"

	"interlock/internal/gate/grant"
)

// Resolve settles a call nobody knew the outcome of, on a person's word
// (C19). reviewer is the identity of the credential, never of a body.
// grant.ErrNotUnknown if there is nothing to resolve; nothing is sent again.
func (g *Gate) Resolve(ctx context.Context, callID, reviewer string, outcome grant.SlotState, note string) error {
	gr, err := g.book.Resolve(ctx, callID, grant.Resolution{Outcome: outcome, By: reviewer, Note: note})
	if err != nil {
		return err
	}
	g.o.Log.InfoContext(ctx, "an unknown call was resolved", "call", callID, "outcome", string(outcome), "plan", gr.Plan, "plan_is", string(gr.Status))
	return nil
}

// VoidPlan ends one plan that waits for a person: what it was escalated under
// no longer holds (C20). Its planner reads why.
func (g *Gate) VoidPlan(planID, reason string) {
	e := g.plans.get(strings.TrimSuffix(planID, highEnd))
	if e == nil {
		return
	}
	g.plans.set(e, func(e *entry) {
		if e.state == stateEscalated {
			e.state, e.why = stateVoid, reason
		}
	})
}

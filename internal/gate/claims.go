package gate

import (
	"context"
	"errors"
	"slices"

	"interlock/internal/gate/grant"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// A Claimer tells which preconditions that a plan claims live state verifies
// now (C32).
type Claimer interface {
	Verified(ctx context.Context, s plan.Submission) ([]grant.Claim, error)
}

var errUnseen = errors.New("the plan was accepted before the gate was started anew")

// verified asks for the claims of a plan that hold now.
func (g *Gate) verified(ctx context.Context, s plan.Submission) ([]grant.Claim, error) {
	if g.o.Claimer == nil {
		return nil, nil
	}
	if s.Plan == nil {
		return nil, errUnseen
	}
	return g.o.Claimer.Verified(ctx, s)
}

// claims stops a call of a plan whose preconditions no longer hold: each that
// live state verified when the plan was judged must be verified still, up to
// the step of the call. What a plan itself has undone no longer holds either.
func (g *Gate) claims(ctx context.Context, c Call, p *grant.Permit) []verdict.Finding {
	if p == nil || p.Abort {
		return nil
	}
	gr, ok := g.book.Get(p.Grant)
	if !ok || len(gr.Claims) == 0 {
		return nil
	}
	stop := func(step int, why string) []verdict.Finding {
		return []verdict.Finding{{
			Rule: "GATE-CLAIM", Level: verdict.Block, Class: verdict.Safety, Span: verdict.Span{Step: step}, Message: why, Need: "bring the condition about again, and submit the plan anew",
		}}
	}
	now, err := g.verified(ctx, c.Plan)
	if err != nil {
		return stop(c.Step, "what the plan claims cannot be held against live state: "+err.Error())
	}
	for _, was := range gr.Claims {
		holds := func(is grant.Claim) bool { return is.Kind == was.Kind && is.Step == was.Step && is.Text == was.Text }
		if was.Step <= c.Step && !slices.ContainsFunc(now, holds) {
			return stop(was.Step, "the "+was.Kind+" that "+was.Source+" verified when the plan was judged no longer holds")
		}
	}
	return nil
}

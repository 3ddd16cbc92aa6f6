package check

import (
	"fmt"

	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// LimitSize rejects a plan that is over a judging limit, with the limit's name
// (C7): what cannot be looked at whole is not looked at in part.
type LimitSize struct{ limits plan.Limits }

// NewLimitSize returns the check for the given limits.
func NewLimitSize(l plan.Limits) LimitSize { return LimitSize{l} }

// ID implements Checker.
func (LimitSize) ID() string { return "limitsize" }

// Check implements Checker.
func (c LimitSize) Check(in Input) Result {
	r := Result{Parts: []string{"plan"}}
	for _, e := range c.limits.Exceeded(in.Plan) {
		r.Findings = append(r.Findings, verdict.Finding{
			Rule: "SIZE-001", Level: verdict.Block, Class: verdict.Unclassified, Span: verdict.Span{Step: e.Step},
			Message: fmt.Sprintf("the plan is over a judging limit: %s", e), Need: fmt.Sprintf("split the plan: %s allows %d", e.Limit, e.Max),
		})
	}
	return r
}

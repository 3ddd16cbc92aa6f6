package builtin_test

import (
	"strings"
	"testing"

	"interlock/internal/judge"
	"interlock/internal/judge/builtin"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Built-in judges that are not given the facts cannot tell, and say so: none
// of them accepts on nothing (C6). They never pass for a model.
func TestC06_WithoutFactsNobodyAccepts(t *testing.T) {
	t.Parallel()
	in := judge.Input{
		Plan: &plan.Plan{ID: "p", Goal: "Read the gauge", Steps: []string{"Read the gauge."}},
		Site: &site.Site{ID: "s"},
	}
	for _, j := range builtin.Panel() {
		o := j.Judge(t.Context(), in)
		if o.Abstained == "" && o.Outcome == verdict.Accept {
			t.Errorf("%s accepts without facts", j.Name())
		}
		if o.Family != builtin.Family || strings.Contains(strings.ToLower(o.Judge+o.Rationale), "language model") {
			t.Errorf("%s passes for a model: %+v", j.Name(), o)
		}
	}
}

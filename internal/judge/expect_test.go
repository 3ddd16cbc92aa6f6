package judge_test

import (
	"strings"
	"testing"

	"interlock/internal/judge"
	"interlock/internal/plan"
)

// TestC09_JudgesSeeWhatACallIsExpectedToDo: what the gate would wait for is
// part of the plan that is judged, with nothing in it invisible.
func TestC09_JudgesSeeWhatACallIsExpectedToDo(t *testing.T) {
	t.Parallel()
	got := judge.RenderPlan(&plan.Plan{Steps: []string{"Heat."}, ToolCalls: []plan.ToolCall{{
		Step: 1, Tool: "hotplate.set", Arguments: map[string]any{},
		Expect: &plan.Expectation{Tool: "sensor.read", Arguments: map[string]any{"id": "hp1\u202e"}, Pointer: "/number", Unit: "C", Min: "58", Max: "62", WithinS: "60"},
	}}})
	for _, want := range []string{"then expected: {", `"tool":"sensor.read"`, `"min":58`, `"max":62`, `"within_s":60`, `"pointer":"/number"`, `hp1\u202e`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

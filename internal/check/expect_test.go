package check_test

import (
	"encoding/json"
	"testing"
	"time"

	"interlock/internal/check"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

const expectProfile = `
version: 1
sites:
  - id: lab
    tools:
      - {name: plate.set, effect: act, hazard: heat, args: {temp_c: {min: 20, max: 100}}}
      - {name: read, effect: observe, args: {id: {enum: [plate, room]}, samples: {min: 1, max: 5, optional: true}}}
`

// TestC21_AnExpectationOnlyReads: a postcondition is read with a tool that the
// site lists as observe, within its ranges.
func TestC21_AnExpectationOnlyReads(t *testing.T) {
	t.Parallel()
	sites, err := site.Decode("lab.yaml", []byte(expectProfile))
	if err != nil {
		t.Fatal(err)
	}
	c := check.NewAllowList(sites[0])
	for name, tc := range map[string]struct {
		tool string
		args map[string]any
		want string
	}{
		"a reading":              {"read", map[string]any{"id": "plate"}, ""},
		"a tool that acts":       {"plate.set", map[string]any{"temp_c": json.Number("30")}, "TOOL-010"},
		"a tool of nobody":       {"shell", map[string]any{}, "TOOL-010"},
		"a value not listed":     {"read", map[string]any{"id": "vault"}, "TOOL-005"},
		"an argument not listed": {"read", map[string]any{"id": "plate", "cmd": "x"}, "TOOL-002"},
		"outside the range":      {"read", map[string]any{"id": "plate", "samples": json.Number("6")}, "TOOL-007"},
		"an argument missing":    {"read", map[string]any{}, "TOOL-003"},
	} {
		p := &plan.Plan{Steps: []string{"Heat the plate to 60 C."}, ToolCalls: []plan.ToolCall{{
			Step: 1, Tool: "plate.set", Arguments: map[string]any{"temp_c": json.Number("60")},
			Expect: &plan.Expectation{Tool: tc.tool, Arguments: tc.args, Pointer: "/v", Min: "58", WithinS: "60"},
		}}}
		var got []verdict.Finding
		for _, f := range c.Check(check.Input{Plan: p, Site: sites[0], Now: time.Unix(0, 0)}).Findings {
			if f.Level != verdict.Pass {
				got = append(got, f)
			}
		}
		if (tc.want == "" && len(got) > 0) || (tc.want != "" && (len(got) != 1 || got[0].Rule != tc.want || got[0].Span.Step != 1)) {
			t.Errorf("%s: %+v, want %q", name, got, tc.want)
		}
	}
}

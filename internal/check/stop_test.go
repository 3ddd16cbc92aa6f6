package check

import (
	"testing"
	"time"

	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// While an emergency stop is in force only stopping and looking go on.
func TestC20_NothingStartsUnderAnEmergencyStop(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Tools = append(s.Tools, site.Tool{Name: "arm.stop", Effect: site.Safe, Args: []site.Arg{{Name: "arm", Type: "enum", Enum: []any{"arm_1"}}}})
	read := call(1, "sensor.read", "id", "o2")
	for name, tc := range map[string]struct {
		want  verdict.Level
		steps []string
		calls []plan.ToolCall
	}{
		"look":                {verdict.Pass, []string{"Read o2."}, []plan.ToolCall{read}},
		"stop":                {verdict.Pass, []string{"Stop arm_1."}, []plan.ToolCall{call(1, "arm.stop", "arm", "arm_1")}},
		"move":                {verdict.Block, []string{"Move arm_1."}, []plan.ToolCall{call(1, "arm.move", "arm", "arm_1", "target", "home", "speed_mm_s", 100)}},
		"look, then move":     {verdict.Block, []string{"Read o2.", "Move."}, []plan.ToolCall{read, call(2, "arm.move", "arm", "arm_1", "target", "home", "speed_mm_s", 100)}},
		"a step without call": {verdict.Block, []string{"Read o2.", "Go home."}, []plan.ToolCall{read}},
		"prose":               {verdict.Block, []string{"Move arm_1 home."}, nil},
		"unknown tool":        {verdict.Block, []string{"Read o2."}, []plan.ToolCall{call(1, "sensor.peek", "id", "o2")}},
	} {
		in := Input{Plan: &plan.Plan{Steps: tc.steps, ToolCalls: tc.calls}, Site: s, State: site.State{EStop: true}}
		if got := verdict.WorstLevel(Stop{compile(s)}.Check(in).Findings); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		in.State.EStop = false
		if got := (Stop{compile(s)}).Check(in).Findings; len(got) > 0 {
			t.Errorf("%s without a stop: %v", name, got)
		}
	}
}

// The time a plan claims is only a claim.
func TestC33_SkewIsAFinding(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for claimed, want := range map[string]int{
		"": 0, "2026-12-01T12:00:00Z": 0, "2026-12-01T13:04:00+01:00": 0, "2020-01-01T00:00:00Z": 0,
		"2026-12-01T12:06:00Z": 1, "2099-01-01T00:00:00Z": 1, "yesterday": 1, "2026-12-01": 1,
	} {
		if got := skewed(claimed, now, nil); len(got) != want {
			t.Errorf("%q: %v", claimed, got)
		}
	}
}

package gate_test

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate/grant"
	"interlock/internal/verdict"
)

// each runs a test over stdio and over HTTP: what holds must hold on both.
func each(t *testing.T, f func(t *testing.T, r *rig, cs *mcp.ClientSession)) {
	t.Helper()
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		f(t, r, r.stdio(alice, nil))
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		f(t, r, r.http("alice", nil))
	})
}

func TestC21_OnlyTheCallsOfAnAcceptedPlanPass(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig, cs *mcp.ClientSession) {
		move := args{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200}
		heat := args{"device": "hp1", "temp_c": 60, "rpm": 300}
		if got := code(t, call(t, cs, "arm.move", move)); got != "no-plan" {
			t.Fatalf("a call without a plan: %q", got)
		}
		if res := call(t, cs, "sensor.read", args{"id": "hp1_temp"}); res.IsError {
			t.Fatalf("a reading: %s", text(res))
		}
		v := submit(t, cs, heatPlan())
		if v["state"] != "accepted" || v["grant"] == "" {
			t.Fatalf("submit_plan: %v", v)
		}
		if res := call(t, cs, "arm.move", move); res.IsError {
			t.Fatalf("the first call: %s", text(res))
		}
		if res := call(t, cs, "hotplate.set", heat); res.IsError {
			t.Fatalf("the second call: %s", text(res))
		}
		if got := code(t, call(t, cs, "hotplate.set", heat)); got != "no-plan" {
			t.Errorf("a call used twice: %q", got)
		}
		if n := r.lab.Calls(); n != 2 {
			t.Errorf("%d calls reached the laboratory, want 2", n)
		}
		status := call(t, cs, "plan_status", args{"plan_id": v["plan_id"]}).StructuredContent.(map[string]any)
		if status["state"] != "finished" {
			t.Errorf("plan_status: %v", status)
		}
	})
}

func TestC21_ADeviationSuspendsThePlan(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig, cs *mcp.ClientSession) {
		submit(t, cs, heatPlan())
		res := call(t, cs, "arm.move", args{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 900})
		if got := code(t, res); got != "deviation" {
			t.Fatalf("other arguments: %q", got)
		}
		m := refusal(res)
		if m["on_abort"] == nil || m["next_call"] == nil {
			t.Errorf("the refusal offers neither the next call nor on_abort: %v", m)
		}
		if got := code(t, call(t, cs, "arm.move", args{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200})); got != "suspended" {
			t.Errorf("the right call after a deviation: %q", got)
		}
		if res := call(t, cs, "hotplate.off", args{"device": "hp1"}); res.IsError {
			t.Errorf("a safe action of a suspended plan: %s", text(res))
		}
		if r.lab.Calls() != 0 {
			t.Error("a deviating call reached the laboratory")
		}
		if r.alerts.kinds()[grant.KindDeviation] != 1 {
			t.Errorf("alerts: %v", r.alerts.kinds())
		}
	})
}

func TestC08_RejectGivesReasonsAndNoScores(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig, cs *mcp.ClientSession) {
		r.verifier.decide = decision(verdict.Reject)
		v := submit(t, cs, heatPlan())
		d, _ := v["decision"].(map[string]any)
		if v["state"] != "rejected" || d["outcome"] != "reject" || d["sigma"] != nil || d["opinions"] != nil || len(d["reasons"].([]any)) != 1 {
			t.Errorf("submit_plan: %v", v)
		}
		if got := code(t, call(t, cs, "arm.move", args{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200})); got != "no-plan" {
			t.Errorf("a call of a rejected plan: %q", got)
		}
	})
}

package gate_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

var (
	moveOK = args{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200}
	heatOK = args{"device": "hp1", "temp_c": 60, "rpm": 300}
)

// TestC14_HeldPlanIsCheckedWhenItRuns covers R1 and R10: what was true when a
// plan was held is asked again when it is approved and when it runs.
func TestC14_HeldPlanIsCheckedWhenItRuns(t *testing.T) {
	t.Parallel()
	held := func(t *testing.T) (*rig, *mcp.ClientSession, string) {
		r := newRig(t)
		r.verifier.decide = decision(verdict.Escalate)
		cs := r.http("alice", nil)
		v := submit(t, cs, heatPlan())
		if v["state"] != "escalated" {
			t.Fatalf("submit_plan: %v", v)
		}
		return r, cs, v["plan_id"].(string)
	}
	t.Run("approved and run", func(t *testing.T) {
		t.Parallel()
		r, cs, id := held(t)
		for range 2 { // approving twice is approving once
			if v, err := r.gate.Approve(t.Context(), id, "mei"); err != nil || v.State != "accepted" {
				t.Fatalf("approve: %+v %v", v, err)
			}
		}
		if len(r.gate.Grants()) != 1 {
			t.Fatalf("%d grants", len(r.gate.Grants()))
		}
		if res := call(t, cs, "arm.move", moveOK); res.IsError {
			t.Fatal(text(res))
		}
	})
	t.Run("policy tightened before the approval", func(t *testing.T) {
		t.Parallel()
		r, _, id := held(t)
		r.recheck.block = func(gate.Call) string { return "speed limit lowered" }
		if _, err := r.gate.Approve(t.Context(), id, "mei"); !errors.Is(err, gate.ErrBlocked) {
			t.Fatalf("approve: %v", err)
		}
	})
	t.Run("policy tightened after the approval", func(t *testing.T) {
		t.Parallel()
		r, cs, id := held(t)
		if _, err := r.gate.Approve(t.Context(), id, "mei"); err != nil {
			t.Fatal(err)
		}
		r.recheck.block = func(gate.Call) string { return "speed limit lowered" }
		if got := code(t, call(t, cs, "arm.move", moveOK)); got != "blocked" || r.lab.Calls() != 0 {
			t.Fatalf("%q, %d calls", got, r.lab.Calls())
		}
		r.recheck.block = nil
		if got := code(t, call(t, cs, "arm.move", moveOK)); got != "suspended" {
			t.Fatalf("after a block at dispatch: %q", got)
		}
	})
	t.Run("site profile changed", func(t *testing.T) {
		t.Parallel()
		r, cs, id := held(t)
		if _, err := r.gate.Approve(t.Context(), id, "mei"); err != nil {
			t.Fatal(err)
		}
		other := *r.site
		other.Digest = "another"
		r.site = &other
		if got := code(t, call(t, cs, "arm.move", moveOK)); got != "site-changed" {
			t.Fatalf("%q", got)
		}
	})
	t.Run("tool changed on the upstream", func(t *testing.T) {
		t.Parallel()
		r, cs, id := held(t)
		if _, err := r.gate.Approve(t.Context(), id, "mei"); err != nil {
			t.Fatal(err)
		}
		if res := call(t, cs, "arm.move", moveOK); res.IsError {
			t.Fatal(text(res))
		}
		r.lab.RugPull()
		waitFor(t, func() bool { return r.alerts.kinds()[grant.KindPins] > 0 })
		if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "quarantined" || r.lab.Calls() != 1 {
			t.Fatalf("%q, %d calls", got, r.lab.Calls())
		}
	})
	t.Run("by the requester itself", func(t *testing.T) {
		t.Parallel()
		r, _, id := held(t)
		for _, who := range []string{"alice", "planner-alpha", ""} {
			if _, err := r.gate.Approve(t.Context(), id, who); err == nil {
				t.Errorf("approved by %q", who)
			}
		}
	})
	t.Run("blocked by a check", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.verifier.decide = func(s plan.Submission) verdict.Report {
			rep := decision(verdict.Escalate)(s)
			rep.Decision.Level = verdict.Block
			return rep
		}
		v := submit(t, r.http("alice", nil), heatPlan())
		if _, err := r.gate.Approve(t.Context(), v["plan_id"].(string), "mei"); !errors.Is(err, gate.ErrBlocked) {
			t.Fatalf("a block was approved: %v", err)
		}
	})
}

func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	for range 200 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not happen")
}

func TestC14_AGrantExpires(t *testing.T) {
	t.Parallel()
	var shift atomic.Int64
	r := newRig(t, func(o *gate.Options) { o.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) } })
	cs := r.http("alice", nil)
	submit(t, cs, heatPlan())
	shift.Store(int64(31 * time.Minute))
	if got := code(t, call(t, cs, "arm.move", moveOK)); got != "expired" {
		t.Errorf("%q", got)
	}
}

// TestC14_AHandleIsNoAuthority covers R9: another client with the handle.
func TestC14_AHandleIsNoAuthority(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	addr := r.front(labHTTP(t, r.lab.Server, nil))
	cs := r.httpAt(addr, "alice", nil)
	v := submit(t, cs, heatPlan())
	mallory := r.httpAt(addr, "mallory", nil)
	with := func(cs *mcp.ClientSession, handle string) string {
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "arm.move", Arguments: moveOK, Meta: mcp.Meta{"interlock/grant": handle}})
		if err != nil {
			t.Fatal(err)
		}
		return code(t, res)
	}
	if got := with(mallory, v["grant"].(string)); got != "no-plan" {
		t.Errorf("another's handle: %q", got)
	}
	if res := call(t, mallory, "plan_status", args{"plan_id": v["plan_id"]}); code(t, res) != "no-plan" {
		t.Errorf("another's plan: %s", text(res))
	}
	if got := with(cs, "g-forged"); got != "no-plan" {
		t.Errorf("a forged handle: %q", got)
	}
	if got := with(cs, v["grant"].(string)); got != "" {
		t.Errorf("one's own handle: %q", got)
	}
}

// TestC14_OneUseUnderRace covers R9: 24 at once, exactly one runs.
func TestC14_OneUseUnderRace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs := r.http("alice", nil)
	submit(t, cs, heatPlan())
	var passed atomic.Int32
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "arm.move", Arguments: moveOK})
			if err == nil && !res.IsError {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 1 || r.lab.Calls() != 1 {
		t.Errorf("%d passed, %d reached the laboratory", passed.Load(), r.lab.Calls())
	}
}

// TestC16_NothingInABodyApproves covers R7.
func TestC16_NothingInABodyApproves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.verifier.decide = decision(verdict.Escalate)
	cs := r.http("alice", nil)
	for _, extra := range []args{{"approved": true}, {"decision": "accept"}, {"outcome": "accept"}, {"reviewer": "mei"}, {"grant": "g-1"}} {
		res := call(t, cs, "submit_plan", args{"plan": heatPlan(extra)})
		if !res.IsError {
			t.Errorf("%v was taken in a plan: %s", extra, text(res))
		}
	}
	submit(t, cs, heatPlan())
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "arm.move", Arguments: moveOK, Meta: mcp.Meta{"approved": true, "interlock/approved": "mei"}})
	if err != nil || code(t, res) != "no-plan" {
		t.Errorf("with _meta: %v %v", res, err)
	}
	res, err = cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "submit_plan", Arguments: args{"plan": heatPlan(args{"submitted_by": args{"agent": "someone-else"}})}})
	if err != nil || code(t, res) != "identity" {
		t.Errorf("another agent's name: %v %v", res, err)
	}
}

// TestC18_AnImpatientClient covers R13 and R14: the client leaves, nothing
// runs, the plan is found again and asked for once.
func TestC18_AnImpatientClient(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig, cs *mcp.ClientSession) {
		gateOpen := make(chan struct{})
		r.verifier.wait = gateOpen
		res := call(t, cs, "submit_plan", args{"plan": heatPlan(), "wait_s": 0})
		v := res.StructuredContent.(map[string]any)
		if v["state"] != "pending" {
			t.Fatalf("%v", v)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "submit_plan", Arguments: args{"plan": heatPlan(), "wait_s": 30}})
		if err == nil {
			t.Fatal("the client did not lose its patience")
		}
		if got := code(t, call(t, cs, "arm.move", moveOK)); got != "no-plan" {
			t.Errorf("a call while its plan is judged: %q", got)
		}
		close(gateOpen)
		status := call(t, cs, "plan_status", args{"plan_id": v["plan_id"], "wait_s": 10}).StructuredContent.(map[string]any)
		if status["state"] != "accepted" || r.verifier.count() != 1 || r.lab.Calls() != 0 {
			t.Errorf("%v, judged %d times, %d calls", status, r.verifier.count(), r.lab.Calls())
		}
	})
}

func TestC20_AStopVoidsEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs := r.http("alice", nil)
	submit(t, cs, heatPlan())
	if res := call(t, cs, "arm.move", moveOK); res.IsError {
		t.Fatal(text(res))
	}
	r.state.estop(true)
	if err := r.gate.Void(t.Context(), "emergency stop"); err != nil {
		t.Fatal(err)
	}
	if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "stopped" {
		t.Errorf("under a stop: %q", got)
	}
	if got := code(t, call(t, cs, "submit_plan", args{"plan": heatPlan()})); got != "stopped" {
		t.Errorf("a plan under a stop: %q", got)
	}
	if res := call(t, cs, "hotplate.off", args{"device": "hp1"}); res.IsError {
		t.Errorf("a safe action under a stop: %s", text(res))
	}
	r.state.estop(false)
	if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "void" {
		t.Errorf("after re-arming: %q", got)
	}
}

func TestC31_SafeActionsPassWithinTheirRanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *gate.Options) { o.Policy.SafePerMinute = 3 })
	cs := r.http("alice", nil)
	if got := code(t, call(t, cs, "hotplate.off", args{"device": "hp2"})); got != "not-safe" {
		t.Errorf("outside its range: %q", got)
	}
	for i := range 4 {
		want := ""
		if i == 3 {
			want = "rate"
		}
		if got := code(t, call(t, cs, "arm.stop", args{"arm": "ur5e_1"})); got != want {
			t.Errorf("safe action %d: %q, want %q", i+1, got, want)
		}
	}
	n := 0
	for _, e := range r.journal.Events() {
		if e.Kind == grant.KindSafe {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d safe actions are on record, want 3", n)
	}
}

package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
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

// brokenJournal fails from the n-th append on.
type brokenJournal struct {
	journal.Memory
	left atomic.Int32
}

func (b *brokenJournal) Append(ctx context.Context, e grant.Event) error {
	if b.left.Add(-1) < 0 {
		return errors.New("disk full")
	}
	return b.Memory.Append(ctx, e)
}

func TestC25_NothingRunsUnrecorded(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		t.Run(fmt.Sprintf("append %d fails", n+1), func(t *testing.T) {
			t.Parallel()
			b := &brokenJournal{}
			b.left.Store(1000)
			r := newRig(t, func(o *gate.Options) { o.Journal = b })
			cs := r.http("alice", nil)
			call(t, cs, "sensor.read", args{"id": "hp1_temp"})
			b.left.Store(int32(n))
			submit(t, cs, heatPlan()) // append 1: granted
			first, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "arm.move", Arguments: moveOK})
			second, err2 := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "hotplate.set", Arguments: heatOK})
			ran := r.lab.Calls()
			want := map[int]int{0: 0, 1: 0, 2: 1, 3: 1}[n] // 2: sent; 3: done; 4: the second call's sent
			if ran != want {
				t.Errorf("%d calls ran, want %d (%v %v, %v %v)", ran, want, first, err, second, err2)
			}
			if n < 3 && err == nil && first != nil && !first.IsError {
				t.Errorf("the first call says that all is well: %s", text(first))
			}
			if err2 == nil && !second.IsError {
				t.Error("the second call passed")
			}
		})
	}
}

func TestC19_AFailedCallStopsThePlan(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs := r.http("alice", nil)
	p := heatPlan()
	p["tool_calls"].([]any)[0].(args)["arguments"] = args{"arm": "fr3_1", "target": "nowhere", "speed_mm_s": 200}
	submit(t, cs, p)
	res := call(t, cs, "arm.move", args{"arm": "fr3_1", "target": "nowhere", "speed_mm_s": 200})
	if !res.IsError {
		t.Fatal("the laboratory has a place called nowhere")
	}
	if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "suspended" {
		t.Errorf("the call after a failed one: %q", got)
	}
}

// TestC27_SentWithoutDoneIsUnknown: a gate that died between forwarding and
// recording asks a person, and repeats nothing.
func TestC27_SentWithoutDoneIsUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs := r.http("alice", nil)
	v := submit(t, cs, heatPlan())
	if res := call(t, cs, "arm.move", moveOK); res.IsError {
		t.Fatal(text(res))
	}
	// The journal as it was when the gate died: the last event, done, is lost.
	cut := &journal.Memory{}
	for _, e := range r.journal.Events() {
		if e.Kind != grant.KindDone {
			if err := cut.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := newRig(t, func(o *gate.Options) { o.Journal, o.Pins = cut, r.pins })
	if again.alerts.kinds()[grant.KindUnknown] != 1 || len(again.gate.Unknowns()) != 1 {
		t.Fatalf("alerts %v, unknown %v", again.alerts.kinds(), again.gate.Unknowns())
	}
	cs2 := again.http("alice", nil)
	for _, c := range []struct {
		tool string
		a    args
	}{{"arm.move", moveOK}, {"hotplate.set", heatOK}} {
		if got := code(t, call(t, cs2, c.tool, c.a)); got != "suspended" {
			t.Errorf("%s after a restart: %q", c.tool, got)
		}
	}
	if again.lab.Calls() != 0 {
		t.Error("a call was repeated")
	}
	s := call(t, cs2, "plan_status", args{"plan_id": v["plan_id"]}).StructuredContent.(map[string]any)
	if s["state"] != "suspended" || !strings.Contains(fmt.Sprint(s["calls"]), "unknown") {
		t.Errorf("plan_status: %v", s)
	}
}

func TestC37_AnUpstreamThatDiesLeavesUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := mcp.NewServer(&mcp.Implementation{Name: "robot", Version: "1"}, nil)
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	mcp.AddTool(s, &mcp.Tool{Name: "arm.move"}, func(context.Context, *mcp.CallToolRequest, args) (*mcp.CallToolResult, any, error) {
		<-hang
		return nil, nil, nil
	})
	up, upSDK := stdioPair()
	down, downSDK := stdioPair()
	ss, err := s.Connect(t.Context(), upSDK, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.gate.Pump(t.Context(), alice, "lab", down, up) }()
	cs, err := newClient(nil).Connect(t.Context(), downSDK, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := heatPlan()
	p["tool_calls"] = p["tool_calls"].([]any)[:1]
	delete(p, "on_abort")
	submit(t, cs, p)
	failed := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "arm.move", Arguments: moveOK})
		failed <- err
	}()
	waitFor(t, func() bool {
		for _, e := range r.journal.Events() {
			if e.Kind == grant.KindSent {
				return true
			}
		}
		return false
	})
	_ = up.Close()
	_ = ss
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "not known") {
		t.Errorf("the client hears: %v", err)
	}
	<-done
	if len(r.gate.Unknowns()) != 1 || r.alerts.kinds()[grant.KindUnknown] != 1 {
		t.Errorf("unknown %v, alerts %v", r.gate.Unknowns(), r.alerts.kinds())
	}
}

func TestC42_APlaceholderIsAReading(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs := r.http("alice", nil)
	with := func(reading args) args {
		p := heatPlan()
		p["tool_calls"] = []any{args{"step": 1, "tool": "hotplate.set", "arguments": args{"device": "hp1", "rpm": 300, "temp_c": args{"$reading": reading}}}}
		return p
	}
	good := func() args {
		return args{"tool": "balance.weigh", "pointer": "/mass_g", "unit": "C", "min": 1, "max": 40, "max_age_s": 60}
	}
	for name, change := range map[string]args{
		"no interval":        {"max": nil},
		"low above high":     {"min": 41},
		"a tool that acts":   {"tool": "arm.move"},
		"free text":          {"type": "text"},
		"believed for years": {"max_age_s": 1e9},
	} {
		reading := good()
		for k, v := range change {
			reading[k] = v
			if v == nil {
				delete(reading, k)
			}
		}
		if res := call(t, cs, "submit_plan", args{"plan": with(reading)}); !res.IsError {
			t.Errorf("%s: %s", name, text(res))
		}
	}
	p := with(good())
	p["tool_calls"].([]any)[0].(args)["arguments"] = args{"device": args{"$reading": good()}, "rpm": 300, "temp_c": 30}
	if res := call(t, cs, "submit_plan", args{"plan": p}); !res.IsError {
		t.Error("a device from a reading")
	}
	if v := submit(t, cs, with(good())); v["state"] != "accepted" || r.verifier.count() != 2 {
		t.Fatalf("%v, judged %d times, want both ends", v, r.verifier.count())
	}
	set := func(temp any) string {
		return code(t, call(t, cs, "hotplate.set", args{"device": "hp1", "rpm": 300, "temp_c": temp}))
	}
	if got := set(1.25); got != "deviation" {
		t.Errorf("before the reading: %q", got)
	}
	submit(t, cs, with(good()))
	call(t, cs, "balance.weigh", args{"device": "bal1"})
	if got := set(1.25); got != "" {
		t.Errorf("what was read: %q", got)
	}
	submit(t, cs, with(good()))
	if got := set(30); got != "deviation" {
		t.Errorf("inside the interval, but not what was read: %q", got)
	}
}

func TestC34_ProseIsBoundBeforeItRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *gate.Options) { o.Policy.Mode = gate.Guided })
	cs := r.http("alice", nil)
	p := heatPlan()
	calls := p["tool_calls"]
	delete(p, "tool_calls")
	v := submit(t, cs, p)
	if v["state"] != "unbound" {
		t.Fatalf("%v", v)
	}
	if got := code(t, call(t, cs, "arm.move", moveOK)); got != "no-plan" {
		t.Errorf("before binding: %q", got)
	}
	res := call(t, cs, "bind_plan", args{"plan_id": v["plan_id"], "tool_calls": calls, "wait_s": 10})
	if b, _ := res.StructuredContent.(map[string]any); b["state"] != "accepted" {
		t.Fatalf("bind_plan: %s", text(res))
	}
	r.verifier.mu.Lock()
	last := r.verifier.seen[len(r.verifier.seen)-1].Plan
	r.verifier.mu.Unlock()
	if len(last.ToolCalls) != 2 || last.Parent != v["plan_id"] {
		t.Errorf("the bound plan was not judged as a whole: %+v", last)
	}
	if res := call(t, cs, "arm.move", moveOK); res.IsError {
		t.Error(text(res))
	}
	strict := newRig(t)
	if v := submit(t, strict.http("alice", nil), p); v["state"] != "failed" {
		t.Errorf("prose in strict mode: %v", v)
	}
}

func TestC43_ShadowModeIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *gate.Options) {
		o.Policy.Mode, o.Policy.ShadowTools, o.Policy.ShadowUntil = gate.Shadow, []string{"arm.move", "hotplate.set"}, time.Now().Add(time.Hour)
		o.Policy.NeverShadow = []string{"heat"}
	})
	cs := r.http("alice", nil)
	if res := call(t, cs, "arm.move", moveOK); res.IsError {
		t.Errorf("a shadowed tool: %s", text(res))
	}
	if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "no-plan" {
		t.Errorf("a hazard class that is never shadowed: %q", got)
	}
	r.recheck.block = func(gate.Call) string { return "blocked" }
	if got := code(t, call(t, cs, "arm.move", moveOK)); got != "blocked" {
		t.Errorf("a block in shadow mode: %q", got)
	}
	r.recheck.block = nil
	r.state.estop(true)
	if got := code(t, call(t, cs, "arm.move", moveOK)); got != "stopped" {
		t.Errorf("a stop in shadow mode: %q", got)
	}
	o := gate.DefaultPolicy()
	o.Mode, o.ShadowTools, o.ShadowUntil = gate.Shadow, []string{"*"}, time.Now().Add(-time.Hour)
	if _, err := gate.New(t.Context(), gate.Options{Policy: o}); err == nil {
		t.Error("shadow mode that has ended starts")
	}
}

func TestForbiddenPairs(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *gate.Options) {
		o.Policy.Pairs = []gate.Pair{{First: "arm.move", Then: "hotplate.set", Unless: "sensor.read", Why: "the arm may be over the plate"}}
	})
	cs := r.http("alice", nil)
	if v := submit(t, cs, heatPlan()); v["state"] != "failed" || !strings.Contains(fmt.Sprint(v["why"]), "over the plate") {
		t.Errorf("a plan with a forbidden pair: %v", v)
	}
	one := func(tool string, a args) args {
		p := heatPlan()
		p["tool_calls"] = []any{args{"step": 1, "tool": tool, "arguments": a}}
		return p
	}
	// Across plans, each of which is legal.
	submit(t, cs, one("arm.move", moveOK))
	call(t, cs, "arm.move", moveOK)
	submit(t, cs, one("hotplate.set", heatOK))
	if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "blocked" {
		t.Errorf("a pair across plans: %q", got)
	}
	call(t, cs, "sensor.read", args{"id": "hp1_temp"})
	submit(t, cs, one("hotplate.set", heatOK))
	if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "" {
		t.Errorf("with the reading in between: %q", got)
	}
}

// TestC15_OurOwnAdditionsChangeNothing covers R11: what is added later is not
// in the digest, so nothing goes stale by itself.
func TestC15_OurOwnAdditionsChangeNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs := r.http("alice", nil)
	submit(t, cs, heatPlan())
	for range 3 {
		call(t, cs, "sensor.read", args{"id": "hp1_temp"})
	}
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "arm.move", Arguments: moveOK, Meta: mcp.Meta{"progressToken": "p1", "traceparent": "00-1-2-01"}})
	if err != nil || res.IsError {
		t.Errorf("%v %v", res, err)
	}
}

func TestC06_AVerifierThatFailsGrantsNothing(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(plan.Submission) verdict.Report{
		"panics":       func(plan.Submission) verdict.Report { panic("boom") },
		"says nothing": func(plan.Submission) verdict.Report { return verdict.Report{} },
		"out of range": func(s plan.Submission) verdict.Report {
			rep := decision(verdict.Accept)(s)
			rep.Decision.Outcome = 77
			return rep
		},
	} {
		r := newRig(t)
		r.verifier.decide = decide
		cs := r.http("alice", nil)
		v := submit(t, cs, heatPlan())
		if v["state"] == "accepted" || len(r.gate.Grants()) != 0 {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// TestPlanToolSchemas covers R43: every list has items, every schema is an
// object, and nothing is null.
func TestPlanToolSchemas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs := r.http("alice", nil)
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, tool := range list.Tools {
		switch tool.Name {
		case "submit_plan", "plan_status", "cancel_plan", "explain_decision", "bind_plan":
			found++
		default:
			continue
		}
		raw, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		checkSchema(t, tool.Name, v)
	}
	if found != 5 {
		t.Errorf("%d of the gate's 5 tools are listed", found)
	}
}

func checkSchema(t *testing.T, at string, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		t.Errorf("%s: not an object: %v", at, v)
		return
	}
	switch m["type"] {
	case "array":
		if m["items"] == nil {
			t.Errorf("%s: a list without items", at)
			return
		}
		checkSchema(t, at+".items", m["items"])
	case "object":
		props, _ := m["properties"].(map[string]any)
		for k, p := range props {
			checkSchema(t, at+"."+k, p)
		}
		required, _ := m["required"].([]any)
		for _, k := range required {
			if props[k.(string)] == nil {
				t.Errorf("%s: %v is required and not described", at, k)
			}
		}
	case nil:
		t.Errorf("%s: no type", at)
	}
}

func TestOverdueResultBecomesUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		b := grant.NewBook(j, time.Now, func() string { return "v" }, nil)
		g, err := b.Open(t.Context(), grant.Grant{Plan: "p", Requester: "a", SiteVersion: "v", Expires: time.Now().Add(time.Hour), Slots: []grant.Slot{grant.NewSlot(plan.ToolCall{Step: 1, Tool: "x", Arguments: args{}}, "s", "x", "pin")}})
		if err != nil {
			t.Fatal(err)
		}
		p, r := b.Reserve(t.Context(), grant.Ask{Requester: "a", Server: "s", Tool: "x", Args: args{}, Pin: "pin"})
		if r != nil {
			t.Fatal(r)
		}
		if r := b.Commit(t.Context(), p, nil); r != nil {
			t.Fatal(r)
		}
		if err := b.VoidIf(t.Context(), "stop", func(grant.Grant) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if err := b.Finish(t.Context(), p, grant.Unknown, "late"); err != nil {
			t.Fatal(err)
		}
		got, _ := b.Get(g.ID)
		if got.Status != grant.Void || got.Slots[0].State != grant.Unknown {
			t.Errorf("%+v", got)
		}
	})
}

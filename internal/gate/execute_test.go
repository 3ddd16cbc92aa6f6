package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
	for n := range 5 {
		t.Run(fmt.Sprintf("append %d fails", n+1), func(t *testing.T) {
			t.Parallel()
			b := &brokenJournal{}
			b.left.Store(1000)
			r := newRig(t, func(o *gate.Options) { o.Journal = b })
			cs := r.http("alice", nil)
			call(t, cs, "sensor.read", args{"id": "hp1_temp"})
			b.left.Store(int32(n))
			submit(t, cs, heatPlan()) // append 1: the plan, 2: granted
			first, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "arm.move", Arguments: moveOK})
			second, err2 := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "hotplate.set", Arguments: heatOK})
			ran := r.lab.Calls()
			want := map[int]int{3: 1, 4: 1}[n] // 3: sent; 4: done; 5: the second call's sent
			if ran != want {
				t.Errorf("%d calls ran, want %d (%v %v, %v %v)", ran, want, first, err, second, err2)
			}
			if n < 4 && err == nil && first != nil && !first.IsError {
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

// TestC44_ALineageEnds: by parent or by likeness, whatever the plan claims.
func TestC44_ALineageEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.verifier.decide = decision(verdict.Reject)
	addr := r.front(labHTTP(t, r.lab.Server, nil))
	cs := r.httpAt(addr, "alice", nil)
	try := func(cs *mcp.ClientSession, p args) string {
		res := call(t, cs, "submit_plan", args{"plan": p, "wait_s": 10})
		if res.IsError {
			return code(t, res)
		}
		return fmt.Sprint(res.StructuredContent.(map[string]any)["state"])
	}
	faster := func(speed int) args {
		p := heatPlan(args{"id": fmt.Sprintf("heat-%d", speed)})
		p["steps"] = []any{fmt.Sprintf("Move the arm to the bench at %d mm/s.", speed), "Heat hp1 to 60 C at 300 rpm."}
		return p
	}
	for i := range 3 {
		if got := try(cs, faster(900-i)); got != "rejected" {
			t.Fatalf("attempt %d: %s", i+1, got)
		}
	}
	if got := try(cs, faster(1)); got != "lineage" {
		t.Errorf("a fourth attempt: %s", got)
	}
	other := args{"goal": "weigh", "steps": []any{"Put the vial on the balance."}}
	if got := try(cs, other); got != "rejected" {
		t.Errorf("something else: %s", got)
	}
	other["parent"] = "heat-900"
	if got := try(cs, other); got != "rejected" {
		t.Errorf("another lineage by parent: %s", got)
	}
	if got := try(r.httpAt(addr, "bob", nil), faster(1)); got != "rejected" {
		t.Errorf("another requester: %s", got)
	}
	if r.alerts.kinds()[grant.KindRefused] != 1 {
		t.Errorf("alerts: %v", r.alerts.kinds())
	}
}

package gate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
)

// reviving connects a client to a laboratory that is a command and is started
// anew when it ends. done gets what the pump returns.
func (r *rig) reviving(version string) (cs *mcp.ClientSession, calls func() string, starts func() int, done chan error) {
	r.t.Helper()
	u, calls := commandLab(r.t)
	n := make(chan struct{}, 100)
	start := func() (wire.Conn, error) {
		n <- struct{}{}
		return wire.Start(r.t.Context(), u.Command)
	}
	down, downSDK := stdioPair()
	done = make(chan error, 1)
	go func() { done <- r.gate.PumpReviving(r.t.Context(), alice, "lab", down, start) }()
	cs, err := newClient(nil).Connect(r.t.Context(), downSDK, versioned(version))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = cs.Close() })
	return cs, calls, func() int { return len(n) }, done
}

func crashPlan() args {
	return args{
		"id": "crash", "goal": "spin", "steps": []any{"Move the arm to the bench at 200 mm/s.", "Spin cf1 at 3000 rpm for 5 min.", "Heat hp1 to 60 C at 300 rpm."},
		"tool_calls": []any{
			args{"step": 1, "tool": "arm.move", "arguments": moveOK},
			args{"step": 2, "tool": "centrifuge.run", "arguments": crash},
			args{"step": 3, "tool": "hotplate.set", "arguments": heatOK},
		},
	}
}

var crash = args{"device": "cf1", "rpm": 3000, "minutes": 5, "layout": "x"}

// eventually waits until a tool answers.
func eventually(t *testing.T, cs *mcp.ClientSession, tool string, a args) *mcp.CallToolResult {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
		if err == nil {
			return res
		}
		if time.Now().After(deadline) || !strings.Contains(err.Error(), "has ended") {
			t.Fatalf("%s: %v", tool, err)
		}
	}
}

// TestC31_ServerIsStartedAgain: the crash of a server takes the stop away from
// nobody; what ran is unknown, not repeated, and a person is asked.
func TestC31_ServerIsStartedAgain(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2024-11-05", "2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			cs, calls, starts, done := r.reviving(version)
			toolNames(t, cs)
			if v := submit(t, cs, crashPlan()); v["state"] != "accepted" {
				t.Fatalf("%v", v)
			}
			if res := call(t, cs, "arm.move", moveOK); res.IsError {
				t.Fatal(text(res))
			}
			if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "centrifuge.run", Arguments: crash}); err == nil || !strings.Contains(err.Error(), "is not known") {
				t.Errorf("the call that ended the server: %v", err)
			}
			if res := eventually(t, cs, "arm.stop", args{"arm": "ur5e_1"}); res.IsError {
				t.Errorf("stop: %s", text(res))
			}
			if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "suspended" {
				t.Errorf("the rest of the plan: %q", got)
			}
			if n := strings.Count(calls(), "centrifuge.run"); n != 1 {
				t.Errorf("%d calls of the centrifuge", n)
			}
			if starts() != 2 || r.alerts.kinds()[grant.KindUnknown] != 1 {
				t.Errorf("%d starts, alerts %v", starts(), r.alerts.kinds())
			}
			_ = cs.Close()
			if err := <-done; err != nil {
				t.Errorf("the end: %v", err)
			}
		})
	}
}

// TestServerEndsBetweenCalls: a plan that had begun is suspended, one that had
// not may begin.
func TestServerEndsBetweenCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs, _, _, _ := r.reviving("2025-06-18")
	toolNames(t, cs)
	if v := submit(t, cs, heatPlan()); v["state"] != "accepted" {
		t.Fatalf("%v", v)
	}
	if res := call(t, cs, "arm.move", moveOK); res.IsError {
		t.Fatal(text(res))
	}
	kill(t, cs)
	if res := eventually(t, cs, "sensor.read", args{"id": "hp1_temp"}); res.IsError {
		t.Error(text(res))
	}
	if got := code(t, call(t, cs, "hotplate.set", heatOK)); got != "suspended" {
		t.Errorf("%q", got)
	}
	if v := submit(t, cs, heatPlan()); v["state"] != "accepted" {
		t.Fatalf("%v", v)
	}
	if res := call(t, cs, "arm.move", moveOK); res.IsError {
		t.Error(text(res))
	}
}

// kill makes the laboratory end without a call of a plan.
func kill(t *testing.T, cs *mcp.ClientSession) {
	t.Helper()
	if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "sensor.read", Arguments: args{"id": "crash"}}); err == nil {
		t.Fatal("the laboratory lives on")
	}
}

// TestServerThatAlwaysEnds is given up.
func TestServerThatAlwaysEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cs, _, starts, done := r.reviving("2025-06-18")
	toolNames(t, cs)
	for range 4 {
		kill(t, cs)
		if starts() < 4 {
			eventually(t, cs, "arm.stop", args{"arm": "ur5e_1"})
		}
	}
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("%v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on for ever")
	}
	if starts() != 4 {
		t.Errorf("%d starts", starts())
	}
}

package gate_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
)

// TestC23_AnApprovalIsToldOnce: a connected client hears, once, that a person
// has approved tools, however it is connected, and then sees and calls them.
func TestC23_AnApprovalIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http", "command behind http", "stateless http", "stateless command"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			var changed atomic.Int32
			o := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed.Add(1) }}
			r := newRig(t, func(o *gate.Options) { o.Policy.FirstContact = false })
			go r.gate.WatchPins(t.Context(), 5*time.Millisecond)
			var cs *mcp.ClientSession
			switch transport {
			case "stdio":
				cs = r.stdioVersion(r.lab.Server, o, "2025-11-25")
			case "http":
				cs = r.httpVersion(r.front(labHTTP(t, r.lab.Server, nil)), o, "2025-11-25")
			case "stateless http":
				cs = r.httpVersion(r.front(labHTTP(t, r.lab.Server, &mcp.StreamableHTTPOptions{Stateless: true})), o, "2026-07-28")
			default:
				u, _ := commandLab(t)
				cs = r.httpVersion(r.serve(u), o, map[string]string{"command behind http": "2025-11-25", "stateless command": "2026-07-28"}[transport])
			}
			sees := func(tool string) bool { return slices.Contains(toolNames(t, cs), tool) }
			if sees("sensor.read") || !sees("submit_plan") {
				t.Fatal("before the approval: not the gate's tools alone")
			}
			if err := r.pins.Approve(r.gate.Live("lab"), []string{"sensor.read"}, "mei", time.Now()); err != nil {
				t.Fatal(err)
			}
			waitFor(t, func() bool { return changed.Load() == 1 })
			if !sees("sensor.read") || sees("arm.move") {
				t.Error("after the approval: not what was approved")
			}
			if res := call(t, cs, "sensor.read", args{"id": "hp1_temp"}); res.IsError {
				t.Error(text(res))
			}
			if err := r.pins.Approve(r.gate.Live("lab"), []string{"sensor.read"}, "mei", time.Now()); err != nil { // nothing new
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			if changed.Load() != 1 {
				t.Errorf("%d notifications", changed.Load())
			}
		})
	}
}

package gate_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
)

func benchCalls(b *testing.B, cs *mcp.ClientSession, before func(), tool string, a args) {
	b.Helper()
	for b.Loop() {
		if before != nil {
			b.StopTimer()
			before()
			b.StartTimer()
		}
		res, err := cs.CallTool(b.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
		if err != nil || res.IsError {
			b.Fatalf("%v %v", res, err)
		}
	}
}

// BenchmarkCall compares calls directly and through the gate, on both
// transports: observed, and granted with a durable journal.
func BenchmarkCall(b *testing.B) {
	file := func(b *testing.B) func(*gate.Options) {
		j, err := journal.Open(filepath.Join(b.TempDir(), "journal"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = j.Close() })
		return func(o *gate.Options) { o.Journal, o.Policy.PinMaxAge = j, time.Hour }
	}
	sessions := map[string]func(b *testing.B, r *rig) *mcp.ClientSession{
		"stdio": func(_ *testing.B, r *rig) *mcp.ClientSession { return r.stdio(alice, nil) },
		"http":  func(_ *testing.B, r *rig) *mcp.ClientSession { return r.http("alice", nil) },
	}
	direct := map[string]func(b *testing.B, r *rig) *mcp.ClientSession{
		"stdio": func(b *testing.B, r *rig) *mcp.ClientSession {
			client, server := mcp.NewInMemoryTransports()
			if _, err := r.lab.Server.Connect(b.Context(), server, nil); err != nil {
				b.Fatal(err)
			}
			cs, err := newClient(nil).Connect(b.Context(), client, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = cs.Close() })
			return cs
		},
		"http": func(b *testing.B, r *rig) *mcp.ClientSession {
			return r.httpAt(labHTTP(b, r.lab.Server, nil), "alice", nil)
		},
	}
	for _, transport := range []string{"stdio", "http"} {
		b.Run(transport+"/observe/direct", func(b *testing.B) {
			benchCalls(b, direct[transport](b, newRig(b)), nil, "sensor.read", args{"id": "hp1_temp"})
		})
		b.Run(transport+"/observe/gate", func(b *testing.B) {
			benchCalls(b, sessions[transport](b, newRig(b, file(b))), nil, "sensor.read", args{"id": "hp1_temp"})
		})
		b.Run(transport+"/act/direct", func(b *testing.B) {
			benchCalls(b, direct[transport](b, newRig(b)), nil, "arm.move", moveOK)
		})
		b.Run(transport+"/act/gate", func(b *testing.B) {
			cs := sessions[transport](b, newRig(b, file(b)))
			p := heatPlan()
			p["tool_calls"] = p["tool_calls"].([]any)[:1]
			benchCalls(b, cs, func() { submit(b, cs, p) }, "arm.move", moveOK)
		})
	}
	b.Run("append", func(b *testing.B) {
		j, err := journal.Open(filepath.Join(b.TempDir(), "journal"))
		if err != nil {
			b.Fatal(err)
		}
		defer j.Close()
		for b.Loop() {
			if err := j.Append(b.Context(), grant.Event{Kind: grant.KindSent, At: time.Now(), Grant: "g", Plan: "d", CallID: "c", Tool: "arm.move", Body: []byte(`{"a":1}`)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

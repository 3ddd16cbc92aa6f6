package main

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// C16, C23 with everything real: tools are approved under the name of a
// reviewer's credential and no other, on record, and a connected client hears
// of it once.
func TestC16_ToolsAreApprovedByAReviewer(t *testing.T) {
	t.Parallel()
	g := newGateRig(t)
	mcp.AddTool(g.lab.Server, &mcp.Tool{Name: "laser.fire"}, func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
		return nil, nil, nil
	})
	g.start(t)
	var told atomic.Int32
	c := mcp.NewClient(&mcp.Implementation{Name: "planner", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told.Add(1) },
	})
	cs, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: g.address + "/mcp", HTTPClient: &http.Client{Transport: bearerToken(g.agent)}}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	sees := func() bool {
		l, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range l.Tools {
			if tool.Name == "laser.fire" {
				return true
			}
		}
		return false
	}
	if sees() {
		t.Fatal("a tool nobody approved is listed")
	}
	for who, vars := range map[string]map[string]string{
		"nobody":             nil,
		"an agent":           {"INTERLOCK_TOKEN": g.agent},
		"a made-up reviewer": {"INTERLOCK_TOKEN": "ilk_reviewer_x", "USER": "Ana Ferro"},
	} {
		if out := g.run(t, exitInput, vars, "tools", "approve", "laser.fire"); strings.Contains(out, "approved by") {
			t.Errorf("%s approves: %s", who, out)
		}
	}
	if sees() || told.Load() != 0 {
		t.Error("a refused approval shows")
	}
	g.run(t, exitInput, map[string]string{"INTERLOCK_TOKEN": g.reviewer}, "tools", "approve", "laser.hide")
	if out := g.run(t, exitOK, map[string]string{"INTERLOCK_TOKEN": g.reviewer}, "tools", "approve", "laser.fire"); !strings.Contains(out, "approved by Ana Ferro") {
		t.Errorf("the name is not that of the credential: %s", out)
	}
	waitUntil(t, func() bool { return told.Load() == 1 })
	if !sees() {
		t.Error("an approved tool is not listed")
	}
	time.Sleep(2 * reviewPoll)
	if told.Load() != 1 {
		t.Errorf("told %d times", told.Load())
	}
	_ = cs.Close()
	g.stop()
	if tail := g.run(t, exitOK, nil, "audit", "tail", "-n", "100"); !strings.Contains(tail, "tool_pinned") {
		t.Errorf("not on record:\n%s", tail)
	}
	if list := g.run(t, exitOK, nil, "review", "list"); strings.Contains(list, "quarantined") {
		t.Errorf("the matter is still open:\n%s", list)
	}
}

package gate_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/labsim"
	"interlock/internal/site"
)

// Two laboratories with tools of the same names: the profile gives each its own.
const twoLabs = `
version: 1
sites:
  - id: lab
    name: Two laboratories
    description: Simulated.
    tools:
      - {name: left.move, server: left, own_name: arm.move, effect: act, hazard: motion, args: {arm: {enum: [ur5e_1]}, target: {enum: [fh1, bench_a]}, speed_mm_s: {min: 1, max: 1000}}}
      - {name: right.move, server: right, own_name: arm.move, effect: act, hazard: motion, args: {arm: {enum: [ur5e_1]}, target: {enum: [fh1, bench_a]}, speed_mm_s: {min: 1, max: 250}}}
      - {name: hotplate.set, server: right, effect: act, hazard: heat, args: {device: {enum: [hp1]}, temp_c: {min: 20, max: 340}, rpm: {min: 0, max: 1700}}}
      - {name: left.stop, server: left, own_name: arm.stop, effect: safe, hazard: motion, args: {arm: {enum: [ur5e_1]}}}
      - {name: sensor.read, server: left, effect: observe, hazard: measure, args: {id: {type: string}}}
`

// A mergedRig is a gate before two servers.
type mergedRig struct {
	*rig
	left, right *labsim.Lab
}

func (m *mergedRig) upstream(name string, s *mcp.Server) gate.Upstream {
	m.t.Helper()
	u, err := url.Parse(labHTTP(m.t, s, nil))
	if err != nil {
		m.t.Fatal(err)
	}
	return gate.Upstream{Name: name, URL: u}
}

func (m *mergedRig) behind(ups ...gate.Upstream) string {
	m.t.Helper()
	h, err := m.gate.Handler(m.t.Context(), gate.HandlerOptions{Upstreams: ups, Authenticate: byHeader})
	if err != nil {
		m.t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	m.t.Cleanup(func() { srv.CloseClientConnections(); srv.Close(); _ = h.Close() })
	return srv.URL + "/mcp"
}

func newMergedRig(t testing.TB, change ...func(*gate.Options)) *mergedRig {
	t.Helper()
	sites, err := site.Decode("two.yaml", []byte(twoLabs))
	if err != nil {
		t.Fatal(err)
	}
	two := func(o *gate.Options) {
		o.Servers = []string{"left", "right"}
		o.Site = func() *site.Site { return sites[0] }
	}
	m := &mergedRig{rig: newRig(t, append([]func(*gate.Options){two}, change...)...), left: labsim.NewLab(labsim.New(time.Now)), right: labsim.NewLab(labsim.New(time.Now))}
	return m
}

func bothPlan() args {
	move := func(step int, tool string) args {
		return args{"step": step, "tool": tool, "arguments": args{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200}}
	}
	return args{
		"id": "both", "goal": "move both arms", "steps": []any{"Move the left arm.", "Move the right arm.", "Heat hp1 to 60 C at 300 rpm."},
		"tool_calls": []any{move(1, "left.move"), move(2, "right.move"), args{"step": 3, "tool": "hotplate.set", "arguments": heatOK}},
	}
}

// TestMergedServers runs one plan over two servers with equal tool names as one
// server, in each era of the protocol, one of them a command.
func TestMergedServers(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2024-11-05", "2025-06-18", "2026-07-28"} {
		for _, kind := range []string{"urls", "a command"} {
			t.Run(version+" "+kind, func(t *testing.T) {
				t.Parallel()
				m := newMergedRig(t)
				right := m.upstream("right", m.right.Server)
				calls := func() int64 { return int64(m.right.Calls()) }
				if kind == "a command" {
					u, log := commandLab(t)
					u.Name = "right"
					right, calls = u, func() int64 { return int64(strings.Count(log(), "arm.move") + strings.Count(log(), "hotplate.set")) }
				}
				cs := m.httpVersion(m.behind(m.upstream("left", m.left.Server), right), nil, version)
				names := toolNames(t, cs)
				for _, want := range []string{"left.move", "right.move", "hotplate.set", "left__hotplate.set", "submit_plan"} {
					if n := len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != want })); n != 1 {
						t.Errorf("%s is listed %d times: %v", want, n, names)
					}
				}
				if v := submit(t, cs, bothPlan()); v["state"] != "accepted" {
					t.Fatalf("%v", v)
				}
				if got := code(t, call(t, cs, "left__hotplate.set", heatOK)); got != "not-allowed" {
					t.Errorf("a tool that the profile gives to the other server: %q", got)
				}
				if res := call(t, cs, "left.move", moveOK); res.IsError {
					t.Fatal(text(res))
				}
				if res := call(t, cs, "sensor.read", args{"id": "hp1_temp"}); res.IsError {
					t.Error(text(res))
				}
				if res := call(t, cs, "right.move", moveOK); res.IsError {
					t.Fatal(text(res))
				}
				if res := call(t, cs, "hotplate.set", heatOK); res.IsError {
					t.Fatal(text(res))
				}
				if m.left.Calls() != 1 || calls() != 2 {
					t.Errorf("%d calls at the left, %d at the right", m.left.Calls(), calls())
				}
			})
		}
	}
}

// TestC21_EqualNames: the call of one server's tool is no call of the other's
// tool of the same name, at any path.
func TestC21_EqualNames(t *testing.T) {
	t.Parallel()
	m := newMergedRig(t)
	addr := m.behind(m.upstream("left", m.left.Server), m.upstream("right", m.right.Server))
	cs, right := m.httpAt(addr, "alice", nil), m.httpAt(addr+"/right", "alice", nil)
	toolNames(t, right)
	if v := submit(t, cs, bothPlan()); v["state"] != "accepted" {
		t.Fatalf("%v", v)
	}
	if got := code(t, call(t, right, "arm.move", moveOK)); got == "" {
		t.Error("the right arm's move passed as the left one's")
	}
	if got := code(t, call(t, cs, "left.move", moveOK)); got != "suspended" {
		t.Errorf("after the deviation: %q", got)
	}
	if m.left.Calls()+m.right.Calls() != 0 {
		t.Errorf("%d calls at the left, %d at the right", m.left.Calls(), m.right.Calls())
	}
	if res := call(t, cs, "left.stop", args{"arm": "ur5e_1"}); res.IsError { // stopping is never gated
		t.Error(text(res))
	}
	for _, name := range []string{"arm.move", "left__arm.move", "right__", "__arm.move", "nobody__arm.move", "left.move "} {
		if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: moveOK}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestMergedNamesDependOnNoOrder: whichever server is first, names are the same.
func TestMergedNamesDependOnNoOrder(t *testing.T) {
	t.Parallel()
	var lists [2][]string
	for i := range lists {
		m := newMergedRig(t)
		ups := []gate.Upstream{m.upstream("left", m.left.Server), m.upstream("right", m.right.Server)}
		if i == 1 {
			slices.Reverse(ups)
		}
		lists[i] = toolNames(t, m.httpAt(m.behind(ups...), "alice", nil))
		slices.Sort(lists[i])
	}
	if !slices.Equal(lists[0], lists[1]) {
		t.Errorf("%v\n%v", lists[0], lists[1])
	}
}

// TestMergedServerIsMissing: a server that cannot be reached takes no other with
// it, and the client is told.
func TestMergedServerIsMissing(t *testing.T) {
	t.Parallel()
	m := newMergedRig(t)
	nowhere, err := url.Parse("http://127.0.0.1:1/mcp")
	if err != nil {
		t.Fatal(err)
	}
	cs := m.httpAt(m.behind(m.upstream("left", m.left.Server), gate.Upstream{Name: "right", URL: nowhere}), "alice", nil)
	if said := cs.InitializeResult().Instructions; !strings.Contains(said, "right could not be reached") {
		t.Errorf("instructions: %q", said)
	}
	if names := toolNames(t, cs); !slices.Contains(names, "left.move") || slices.Contains(names, "right.move") {
		t.Errorf("%v", names)
	}
	if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "right.move", Arguments: moveOK}); err == nil || !strings.Contains(err.Error(), "could not be reached") {
		t.Errorf("%v", err)
	}
	if res := call(t, cs, "sensor.read", args{"id": "hp1_temp"}); res.IsError {
		t.Error(text(res))
	}
}

// TestMergedConversation: what servers ask and tell reaches the client, and its
// answers the server that has asked.
func TestMergedConversation(t *testing.T) {
	t.Parallel()
	m := newMergedRig(t, func(o *gate.Options) { o.Policy.Elicitation = true })
	asking := func(lab *labsim.Lab, want string) {
		mcp.AddTool(lab.Server, &mcp.Tool{Name: "sensor.read"}, func(ctx context.Context, r *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, any, error) {
			res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: want, RequestedSchema: map[string]any{"type": "object"}})
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: want + " " + res.Action}}}, nil, nil
		})
	}
	asking(m.left, "left")
	var told atomic.Int32
	cs := m.httpVersion(m.behind(m.upstream("left", m.left.Server), m.upstream("right", m.right.Server)), &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told.Add(1) },
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"asked": r.Params.Message}}, nil
		},
	}, "2025-06-18")
	toolNames(t, cs)
	if res := call(t, cs, "sensor.read", args{"id": "x"}); res.IsError || !strings.Contains(text(res), "left accept") {
		t.Errorf("%s", text(res))
	}
	if err := cs.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil { //nolint:staticcheck // clients of today have it
		t.Errorf("logging: %v", err)
	}
	if err := cs.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	m.right.Server.RemoveTools("balance.weigh")
	for deadline := time.Now().Add(10 * time.Second); told.Load() == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := told.Load(); n != 1 {
		t.Errorf("told %d times of a changed list", n)
	}
}

// TestMergedResources: a resource is read where it is, unless two servers have it.
func TestMergedResources(t *testing.T) {
	t.Parallel()
	m := newMergedRig(t)
	give := func(lab *labsim.Lab, text string, uris ...string) {
		for _, uri := range uris {
			lab.Server.AddResource(&mcp.Resource{Name: uri, URI: uri}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: text}}}, nil
			})
		}
		lab.Server.AddResourceTemplate(&mcp.ResourceTemplate{Name: text, URITemplate: text + "://{x}"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: text + " template"}}}, nil
		})
		lab.Server.AddPrompt(&mcp.Prompt{Name: "hello"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: text}, nil
		})
	}
	give(m.left, "left", "doc://a", "doc://both")
	give(m.right, "right", "doc://b", "doc://both")
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		cs := m.httpVersion(m.behind(m.upstream("left", m.left.Server), m.upstream("right", m.right.Server)), nil, version)
		for uri, want := range map[string]string{"doc://a": "left", "doc://b": "right", "left://1": "left template", "right://1": "right template"} {
			res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || res.Contents[0].Text != want {
				t.Errorf("%s %s: %v %v", version, uri, res, err)
			}
		}
		if _, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "doc://both"}); err == nil || !strings.Contains(err.Error(), "more than one server") {
			t.Errorf("%s: a resource of both: %v", version, err)
		}
		if _, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "doc://nobody"}); err == nil {
			t.Errorf("%s: a resource of nobody was read", version)
		}
		prompts, err := cs.ListPrompts(t.Context(), nil)
		if err != nil || len(prompts.Prompts) != 2 {
			t.Fatalf("%s: %v %v", version, prompts, err)
		}
		for _, side := range []string{"left", "right"} {
			if res, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: side + "__hello"}); err != nil || res.Description != side {
				t.Errorf("%s: prompt of %s: %v %v", version, side, res, err)
			}
		}
		if _, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "hello"}); err == nil {
			t.Errorf("%s: a prompt of no server", version)
		}
	}
}

// TestC33_MergedSessionIsItsOwners: another's session looks like none.
func TestC33_MergedSessionIsItsOwners(t *testing.T) {
	t.Parallel()
	m := newMergedRig(t)
	addr := m.behind(m.upstream("left", m.left.Server), m.upstream("right", m.right.Server))
	cs := m.httpAs(addr, "alice", nil, "2025-06-18")
	for method, want := range map[string]int{http.MethodPost: 404, http.MethodGet: 404, http.MethodDelete: 404, http.MethodPut: 405} {
		req, err := http.NewRequestWithContext(t.Context(), method, addr, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "mallory")
		req.Header.Set("Mcp-Session-Id", cs.ID())
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d", method, resp.StatusCode)
		}
	}
	if names := toolNames(t, cs); !slices.Contains(names, "left.move") {
		t.Errorf("%v", names)
	}
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate/pin"
	"interlock/internal/labsim"
	"interlock/internal/site"
)

// A gateRig is an installation with a gate before a simulated laboratory.
type gateRig struct {
	cli
	lab             *labsim.Lab
	reviewer, agent string
	address         string
	stop            func()
}

func newGateRig(t *testing.T) *gateRig {
	t.Helper()
	g := &gateRig{cli: cli{t.TempDir()}, lab: labsim.NewLab(labsim.New(time.Now))}
	up := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return g.lab.Server }, nil))
	t.Cleanup(func() { up.CloseClientConnections(); up.Close() })
	g.reviewer, g.agent = g.install(t)
	g.config(t, func(text string) string {
		return strings.Replace(text, "  # site: my-lab\n", "  site: chem-sdl\n  upstreams: [{name: lab, url: \""+up.URL+"\"}]\n", 1)
	})
	g.run(t, exitInternal, nil, "tools", "diff")
	g.run(t, exitOK, map[string]string{"INTERLOCK_TOKEN": g.reviewer}, "tools", "approve", "--all")
	g.run(t, exitOK, nil, "tools", "diff")
	return g
}

// config changes the configuration file.
func (g *gateRig) config(t *testing.T, change func(string) string) {
	t.Helper()
	file := filepath.Join(g.dir, "i", "interlock", "config.yaml")
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	is := change(string(was))
	if is == string(was) {
		t.Fatal("the configuration was not changed")
	}
	if err := os.WriteFile(file, []byte(is), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (g *gateRig) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	var errs manyWriters
	ended := make(chan int, 1)
	go func() {
		ended <- run(g.env(ctx, w, &errs, nil, "serve"))
		w.Close()
	}()
	ready := make(chan string, 1)
	go func() {
		address := ""
		for sc := bufio.NewScanner(r); sc.Scan(); {
			if rest, ok := strings.CutPrefix(sc.Text(), "API    "); ok {
				address = strings.TrimSuffix(rest, "/v1/plans")
			}
			if strings.HasPrefix(sc.Text(), "MCP ") {
				ready <- address
			}
		}
		close(ready)
	}()
	if g.address = <-ready; g.address == "" {
		cancel()
		t.Fatalf("serve ended with %d: %s", <-ended, errs.String())
	}
	g.stop = func() {
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("serve ended with %d: %s", code, errs.String())
		}
	}
}

type bearerToken string

func (b bearerToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (g *gateRig) connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "planner", Version: "1"}, nil)
	cs, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: g.address + "/mcp", HTTPClient: &http.Client{Transport: bearerToken(g.agent)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

func toolCall(t *testing.T, cs *mcp.ClientSession, name string, args any) (ok bool, said string) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	return !res.IsError, string(b)
}

// The whole way through the real commands (R2, R4): a plan waits, the server
// is started anew, a person approves it in another process, its call runs
// once, a stop voids what is open, and the record proves all of it.
func TestGateEscalateApproveRun(t *testing.T) {
	t.Parallel()
	g := newGateRig(t)
	g.start(t)
	move := map[string]any{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200}
	plan := map[string]any{"plan": map[string]any{
		"goal": "Distil the residue", "steps": []string{"Distil the residue of yesterday, then move ur5e_1 to bench_a at 200 mm/s."},
		"tool_calls": []any{map[string]any{"step": 1, "tool": "arm.move", "arguments": move}},
	}, "wait_s": 20}
	cs := g.connect(t)
	if ok, said := toolCall(t, cs, "arm.move", move); ok || !strings.Contains(said, "no-plan") {
		t.Fatalf("without a plan: %s", said)
	}
	_, said := toolCall(t, cs, "submit_plan", plan)
	var view struct {
		StructuredContent struct {
			PlanID string `json:"plan_id"`
			State  string
		}
	}
	if err := json.Unmarshal([]byte(said), &view); err != nil || view.StructuredContent.State != "escalated" {
		t.Fatalf("submit_plan: %v %s", err, said)
	}
	id := view.StructuredContent.PlanID
	_ = cs.Close()
	g.stop()
	g.run(t, exitOK, map[string]string{"INTERLOCK_TOKEN": g.reviewer}, "review", "approve", id, "--note", "seen")
	g.start(t)
	cs = g.connect(t)
	waitUntil(t, func() bool {
		_, said = toolCall(t, cs, "plan_status", map[string]any{"plan_id": id})
		return strings.Contains(said, `"state":"accepted"`)
	})
	if ok, said := toolCall(t, cs, "arm.move", move); !ok {
		t.Fatalf("the approved call: %s", said)
	}
	if ok, said := toolCall(t, cs, "arm.move", move); ok {
		t.Fatalf("a second time: %s", said)
	}
	if n := g.lab.Calls(); n != 1 {
		t.Errorf("%d calls reached the laboratory", n)
	}
	g.doctor(t)
	g.stopAndRearm(t, cs, plan)
	_ = cs.Close()
	g.stop()
	tail := g.run(t, exitOK, nil, "audit", "tail", "-n", "100")
	for _, want := range []string{"tool_pinned", "reviewed", "granted", "sent", "done", "state_changed"} {
		if !strings.Contains(tail, want) {
			t.Errorf("the record lacks %s:\n%s", want, tail)
		}
	}
	g.run(t, exitOK, nil, "audit", "verify")
}

// doctor: the probes are refused by the running gate.
func (g *gateRig) doctor(t *testing.T) {
	t.Helper()
	found := probeGate(t.Context(), g.address+"/mcp", g.agent)
	if len(found) != len(gateProbes()) {
		t.Fatalf("%v", found)
	}
	for _, d := range found {
		if d.Status != "ok" {
			t.Errorf("%s: %s", d.Name, d.Detail)
		}
	}
	if g.lab.Calls() != 1 {
		t.Error("a probe reached the laboratory")
	}
	// A server that refuses nothing is found out.
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":"p","result":{}}`)
	}))
	defer open.Close()
	for _, d := range probeGate(t.Context(), open.URL, g.agent) {
		if d.Status != "fail" {
			t.Errorf("a gate that lets everything through: %s is %s", d.Name, d.Status)
		}
	}
}

// stopAndRearm: anyone with a credential stops, only a person re-arms.
func (g *gateRig) stopAndRearm(t *testing.T, cs *mcp.ClientSession, plan map[string]any) {
	t.Helper()
	agent, person := map[string]string{"INTERLOCK_TOKEN": g.agent}, map[string]string{"INTERLOCK_TOKEN": g.reviewer}
	if out := g.run(t, exitOK, agent, "estop", "--server", g.address, "smoke"); !strings.Contains(out, "not a rated safety function") {
		t.Errorf("estop says: %s", out)
	}
	if ok, said := toolCall(t, cs, "submit_plan", plan); ok || !strings.Contains(said, "emergency stop") {
		t.Errorf("under a stop: %s", said)
	}
	g.run(t, exitInput, agent, "rearm", "--server", g.address, "please")
	g.run(t, exitOK, person, "rearm", "--server", g.address, "checked")
	if ok, said := toolCall(t, cs, "submit_plan", plan); !ok {
		t.Errorf("after re-arming: %s", said)
	}
	url := g.address + "/v1/sites/chem-sdl/state"
	if res, body := request(t, "POST", url, g.agent, `{"readings":{"room_presence":"clear"}}`); res.StatusCode != http.StatusForbidden {
		t.Errorf("an agent improves the state: %d %s", res.StatusCode, body)
	}
	if res, body := request(t, "GET", url, g.agent, ""); res.StatusCode != http.StatusOK || !strings.Contains(body, `"estop":false`) {
		t.Errorf("the state: %d %s", res.StatusCode, body)
	}
	if res, _ := request(t, "GET", url, "nobody", ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the state without a credential: %d", res.StatusCode)
	}
}

func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	for range 600 { // a minute: a machine under load is no failure
		if ok() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("it does not happen")
}

func TestWirePrintsAnEntry(t *testing.T) {
	t.Parallel()
	c := cli{t.TempDir()}
	out := c.run(t, exitOK, nil, "wire", "--", "python3", "server.py")
	var entry struct {
		McpServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal([]byte(out[:strings.LastIndexByte(out, '}')+1]), &entry); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(entry.McpServers["interlock"]); got != "{interlock [mcp -- python3 server.py]}" {
		t.Errorf("%s", got)
	}
}

// The draft of a profile is one that loads.
func TestSiteInitDraftsAProfile(t *testing.T) {
	t.Parallel()
	tools := &pin.Server{Name: "robot"}
	for _, def := range []string{
		`{"name":"move.to","inputSchema":{"type":"object","properties":{"x":{"type":"number","minimum":0,"maximum":2.5},"on":{"type":"string"},"fast":{"type":"boolean"},"mode":{"enum":["a","yes"]}},"required":["x"]}}`,
		`{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
		`{"name":"publish","inputSchema":{"type":"object","properties":{"msg":{"type":"object"}}}}`,
		`{"name":"odd: name}","inputSchema":{"type":"object"}}`,
	} {
		tool, err := pin.NewTool([]byte(def))
		if err != nil {
			t.Fatal(err)
		}
		tools.Tools = append(tools.Tools, tool)
	}
	draft := draftProfile("my-site", tools)
	sites, err := site.Decode("draft.yaml", []byte(draft))
	if err != nil {
		t.Fatalf("%v\n%s", err, draft)
	}
	s := sites[0]
	if s.Tool("publish") != nil || s.Tool("read") == nil || s.Tool("read").Effect != site.Act || s.Tool("odd: name}") == nil || *s.Tool("move.to").Arg("x").Max != 2.5 || !s.Tool("move.to").Arg("on").Optional {
		t.Errorf("%s", draft)
	}
}

// The tour holds each of its acts against what must come of it.
func TestLabTour(t *testing.T) {
	t.Parallel()
	out := cli{t.TempDir()}.run(t, exitOK, nil, "labsim", "--tour")
	if !strings.Contains(out, "4 calls with an effect reached the laboratory; harm done: 0.") {
		t.Errorf("%s", out)
	}
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// distil is a plan that no built-in judge accepts and nothing blocks.
func distil(moves ...map[string]any) map[string]any {
	plan := map[string]any{"goal": "Distil the residue", "steps": []string{"Distil the residue of yesterday, then move ur5e_1 to bench_a at 200 mm/s."}}
	var calls []any
	for _, m := range moves {
		calls = append(calls, map[string]any{"step": 1, "tool": "arm.move", "arguments": m})
	}
	plan["tool_calls"] = calls
	return map[string]any{"plan": plan, "wait_s": 20}
}

// submitted submits a plan through the gate and returns its id.
func submitted(t *testing.T, cs *mcp.ClientSession, plan map[string]any) string {
	t.Helper()
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
	return view.StructuredContent.PlanID
}

func (g *gateRig) state(t *testing.T, cs *mcp.ClientSession, id, want string) {
	t.Helper()
	waitUntil(t, func() bool {
		_, said := toolCall(t, cs, "plan_status", map[string]any{"plan_id": id})
		return strings.Contains(said, `"state":"`+want+`"`)
	})
}

// process starts the gateway as a process of its own and returns how to end it
// without notice.
func (g *gateRig) process(t *testing.T) (kill func()) {
	t.Helper()
	cmd := exec.Command("interlock", "serve")
	dir := filepath.Join(g.dir, "i")
	cmd.Env = append(cmd.Environ(), "HOME="+g.dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	g.address = ""
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		if rest, ok := strings.CutPrefix(sc.Text(), "API    "); ok {
			g.address = strings.TrimSuffix(rest, "/v1/plans")
		}
		if strings.HasPrefix(sc.Text(), "MCP ") {
			break
		}
	}
	if g.address == "" {
		kill()
		t.Fatalf("serve ended: %s", errs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return kill
}

// hanging passes everything to the laboratory, and keeps each answer to a call
// of arm.move.
func hanging(next http.Handler) (h http.Handler, arrived chan bool) {
	arrived = make(chan bool, 10)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"tools/call"`)) && bytes.Contains(body, []byte("arm.move")) {
			arrived <- true
			<-r.Context().Done()
			return
		}
		next.ServeHTTP(w, r)
	}), arrived
}

// TestC19_C27_APersonIsAskedAfterAKill: the gate is killed between "sent" and
// "done". The call shows as unknown on the command line and on the page, is
// not repeated, and its plan stays suspended until a person says what became
// of it; the record proves all of that.
func TestC19_C27_APersonIsAskedAfterAKill(t *testing.T) {
	t.Parallel()
	g := newGateRig(t)
	person := map[string]string{"INTERLOCK_TOKEN": g.reviewer}
	lab := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return g.lab.Server }, nil)
	h, arrived := hanging(lab)
	up := httptest.NewServer(h)
	t.Cleanup(func() { up.CloseClientConnections(); up.Close() })
	g.upstream(t, up.URL)

	kill := g.process(t)
	cs := g.connect(t)
	move := map[string]any{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200}
	back := map[string]any{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 150}
	id := submitted(t, cs, distil(move, back))
	g.run(t, exitOK, person, "review", "approve", id)
	g.state(t, cs, id, "accepted")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "arm.move", Arguments: move})
	}()
	<-arrived
	kill()
	<-ended
	_ = cs.Close()
	g.list(t, "sent", "arm.move") // the gate is gone: nobody knows yet

	g.start(t)
	defer func() { g.stop() }()
	call := g.list(t, "unknown", "arm.move")
	cs = g.connect(t)
	defer func() { _ = cs.Close() }()
	g.state(t, cs, id, "suspended")
	for _, m := range []map[string]any{move, back} {
		if ok, said := toolCall(t, cs, "arm.move", m); ok {
			t.Fatalf("a suspended plan goes on: %s", said)
		}
	}
	page := g.page(t, "/review")
	if !strings.Contains(page, "/matters/"+call) || !strings.Contains(g.page(t, "/matters/"+call), "outcome is unknown") {
		t.Errorf("the page does not show the call: %s", page)
	}
	for _, wrong := range [][]string{
		{call, "--outcome", "seen", "--note", "x"}, {call, "--outcome", "done"}, {call, "--note", "x"}, {"c-none", "--outcome", "done", "--note", "x"},
	} {
		g.run(t, exitInput, person, append([]string{"review", "resolve"}, wrong...)...)
	}
	g.run(t, exitInput, map[string]string{"INTERLOCK_TOKEN": g.agent}, "review", "resolve", call, "--outcome", "done", "--note", "x") // C16
	for range 2 {                                                                                                                     // idempotent
		g.run(t, exitOK, person, "review", "resolve", call, "--outcome", "done", "--note", "the arm stands at bench_a")
	}
	g.run(t, exitInput, person, "review", "resolve", call, "--outcome", "failed", "--note", "no")
	g.state(t, cs, id, "accepted") // its next call may be made
	if out := g.run(t, exitOK, nil, "review", "list"); strings.Contains(out, call) {
		t.Errorf("it is listed still: %s", out)
	}
	if out := g.run(t, exitOK, nil, "review", "show", call); !strings.Contains(out, "done by Ana Ferro") {
		t.Errorf("who said what is not shown: %s", out)
	}
	if n := len(arrived); n != 0 {
		t.Errorf("the call was repeated %d times", n)
	}
	tail := g.run(t, exitOK, nil, "audit", "tail", "-n", "100")
	for _, want := range []string{"attention", "resolved"} {
		if !strings.Contains(tail, want) {
			t.Errorf("the record lacks %s:\n%s", want, tail)
		}
	}
	g.run(t, exitOK, nil, "audit", "verify")
}

// voided records what a gate writes of a stop.
func (g *gateRig) voided(t *testing.T) {
	t.Helper()
	e := g.env(t.Context(), io.Discard, io.Discard, nil)
	cfg, err := (&storeFlags{}).load(e)
	if err != nil {
		t.Fatal(err)
	}
	log, err := openLog(e, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := (&recordJournal{log: log, site: "chem-sdl"}).void(t.Context(), "an emergency stop"); err != nil {
		t.Fatal(err)
	}
}

// list finds the matter of a kind in review list.
func (g *gateRig) list(t *testing.T, what, tool string) (id string) {
	t.Helper()
	out := g.run(t, exitOK, nil, "review", "list", "--json")
	for line := range strings.Lines(out) {
		var m matterRow
		if json.Unmarshal([]byte(line), &m) == nil && m.What == what && m.Tool == tool {
			return m.Matter
		}
	}
	t.Fatalf("no %s call of %s is listed: %s", what, tool, out)
	return ""
}

// upstream puts another server behind the gate's configuration.
func (g *gateRig) upstream(t *testing.T, address string) {
	t.Helper()
	g.config(t, func(text string) string {
		return regexp.MustCompile(`upstreams: \[\{name: lab, url: "[^"]+"\}\]`).ReplaceAllString(text, `upstreams: [{name: lab, url: "`+address+`"}]`)
	})
}

// page reads a page as the reviewer.
func (g *gateRig) page(t *testing.T, path string) string {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.PostForm(g.address+"/login", url.Values{"token": {g.reviewer}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	req, err := http.NewRequestWithContext(t.Context(), "GET", g.address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Cookies() {
		req.AddCookie(c)
	}
	if res, err = client.Do(req); err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestC20_AStopVoidsWhatWaits: a stop takes away what waits for a person. It
// can be approved neither under the stop nor after re-arming, nor after a
// restart; the plan that is submitted again can.
func TestC20_AStopVoidsWhatWaits(t *testing.T) {
	t.Parallel()
	g := newGateRig(t)
	g.config(t, func(text string) string {
		return strings.Replace(text, "  site: chem-sdl\n", "  site: chem-sdl\n  readings: {room_presence: {good: [clear], max_age: 1h}}\n", 1)
	})
	agent, person := map[string]string{"INTERLOCK_TOKEN": g.agent}, map[string]string{"INTERLOCK_TOKEN": g.reviewer}
	g.start(t)
	cs := g.connect(t)
	move := map[string]any{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200}
	refused := func(id, why string) {
		t.Helper()
		if out := g.run(t, exitInput, person, "review", "approve", id); !strings.Contains(out, why) || !strings.Contains(out, "submitted again") {
			t.Errorf("approve says %q, not %q", out, why)
		}
	}
	first := submitted(t, cs, distil(move))
	approved := submitted(t, cs, distil(move, move))
	_, said := request(t, "POST", g.address+"/v1/plans", g.agent, `{"site":"chem-sdl","goal":"Distil the residue","steps":["Distil the residue of yesterday."]}`)
	var api struct {
		ID string `json:"decision_id"`
	}
	if err := json.Unmarshal([]byte(said), &api); err != nil || api.ID == "" {
		t.Fatal(said)
	}
	g.run(t, exitOK, person, "review", "approve", approved)
	g.state(t, cs, approved, "accepted")
	g.run(t, exitOK, agent, "estop", "--server", g.address, "smoke")
	for _, id := range []string{first, api.ID} {
		refused(id, "in force")
	}
	g.state(t, cs, approved, "void")
	if out := g.run(t, exitOK, nil, "review", "list"); !strings.Contains(out, "in force") {
		t.Errorf("the list does not say why: %s", out)
	}
	g.run(t, exitOK, person, "rearm", "--server", g.address, "the air is clear")
	for _, id := range []string{first, api.ID} {
		refused(id, "smoke")
	}
	if _, body := request(t, "GET", g.address+"/v1/plans/"+api.ID, g.agent, ""); !strings.Contains(body, `"voided"`) {
		t.Errorf("the planner is not told: %s", body)
	}
	lost := submitted(t, cs, distil(move, move, move, move))
	_ = cs.Close()
	g.stop()
	g.run(t, exitOK, person, "review", "approve", lost)
	g.voided(t) // a stop that came before the approval was granted
	g.start(t)
	defer func() { g.stop() }()
	cs = g.connect(t)
	defer func() { _ = cs.Close() }()
	g.state(t, cs, lost, "void")
	refused(first, "smoke")
	if ok, said := toolCall(t, cs, "arm.move", move); ok {
		t.Errorf("a voided approval was granted after a restart: %s", said)
	}
	again := submitted(t, cs, distil(move))
	g.run(t, exitOK, person, "review", "approve", again)
	g.state(t, cs, again, "accepted")
	if ok, said := toolCall(t, cs, "arm.move", move); !ok {
		t.Errorf("the plan that was submitted again: %s", said)
	}
	// A state that gets worse does the same.
	last := submitted(t, cs, distil(move, move, move))
	if res, body := request(t, "POST", g.address+"/v1/sites/chem-sdl/state", g.agent, `{"readings":{"room_presence":"person"}}`); res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	refused(last, "room_presence is person")
	g.run(t, exitOK, nil, "audit", "verify")
}

// TestC16_SelfApprovalNeedsTheSetting: the person behind a plan approves it
// only where the configuration says so, which is said at start and recorded.
func TestC16_SelfApprovalNeedsTheSetting(t *testing.T) {
	t.Parallel()
	g := &gateRig{cli: cli{t.TempDir()}}
	g.reviewer, g.agent = g.install(t)
	person := map[string]string{"INTERLOCK_TOKEN": g.reviewer}
	address, stop := g.serve(t)
	_, said := request(t, "POST", address+"/v1/plans", g.agent, `{"site":"chem-sdl","goal":"Distil the residue","submitted_by":{"on_behalf_of":"Ana Ferro"},"steps":["Distil the residue of yesterday."]}`)
	stop()
	var got struct {
		ID string `json:"decision_id"`
	}
	if err := json.Unmarshal([]byte(said), &got); err != nil || got.ID == "" {
		t.Fatal(said)
	}
	if out := g.run(t, exitInput, person, "review", "approve", got.ID); !strings.Contains(out, "nobody approves") {
		t.Errorf("without the setting: %s", out)
	}
	g.config(t, func(text string) string { return strings.Replace(text, "allow_self: false", "allow_self: true", 1) })
	g.run(t, exitOK, person, "review", "approve", got.ID)
	if out := g.run(t, exitOK, nil, "audit", "tail", "--json"); !strings.Contains(out, `"self":true`) {
		t.Errorf("it is not marked in the record: %s", out)
	}
	g.config(t, func(text string) string { return strings.Replace(text, "pending_ttl: 24h", "pending_ttl: 1s", 1) })
	if out := g.run(t, exitInput, nil, "review", "list"); !strings.Contains(out, "review.pending_ttl") {
		t.Errorf("%s", out)
	}
}

package gate_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
	"interlock/internal/labsim"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

const labProfile = `
version: 1
sites:
  - id: lab
    name: Test laboratory
    description: A simulated laboratory.
    robots:
      - {id: ur5e_1, model: arm}
    tools:
      - {name: arm.move, effect: act, hazard: motion, args: {arm: {enum: [ur5e_1, fr3_1]}, target: {enum: [fh1, bench_a, home]}, speed_mm_s: {min: 1, max: 1000}}}
      - {name: arm.stop, effect: safe, hazard: motion, args: {arm: {enum: [ur5e_1, fr3_1]}}}
      - {name: hotplate.set, effect: act, hazard: heat, args: {device: {enum: [hp1]}, temp_c: {min: 20, max: 340}, rpm: {min: 0, max: 1700}}}
      - {name: hotplate.off, effect: safe, hazard: heat, args: {device: {enum: [hp1]}}}
      - {name: sensor.read, effect: observe, hazard: measure, args: {id: {type: string}}}
      - {name: balance.weigh, effect: observe, hazard: measure, args: {device: {enum: [bal1]}}}
      - {name: centrifuge.run, effect: act, hazard: rotation, args: {device: {enum: [cf1]}, rpm: {min: 500, max: 14000}, minutes: {min: 1, max: 60}, layout: {type: string}}}
    rules:
      R1: "Be careful."
`

func labSite(t testing.TB) *site.Site {
	t.Helper()
	sites, err := site.Decode("lab.yaml", []byte(labProfile))
	if err != nil {
		t.Fatal(err)
	}
	return sites[0]
}

// verifier is a Verifier that decides as it is told.
type verifier struct {
	mu     sync.Mutex
	decide func(plan.Submission) verdict.Report
	seen   []plan.Submission
	wait   chan struct{} // if set, Verify waits for it
}

func (v *verifier) Verify(ctx context.Context, s plan.Submission) (verdict.Report, error) {
	v.mu.Lock()
	v.seen = append(v.seen, s)
	decide, wait := v.decide, v.wait
	v.mu.Unlock()
	if wait != nil {
		<-wait
	}
	return decide(s), nil
}

func (v *verifier) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.seen)
}

func decision(o verdict.Outcome) func(plan.Submission) verdict.Report {
	return func(s plan.Submission) verdict.Report {
		d := verdict.Decision{Outcome: o, Class: verdict.Clean, Level: verdict.Pass, Judged: true}
		if o != verdict.Accept {
			d.Class = verdict.Safety
			d.Reasons = []verdict.Reason{{Code: "R1", Step: 1, Text: "too fast", Need: "at most 250 mm/s"}}
		}
		return verdict.Report{ID: grant.NewID("d-"), Case: verdict.Case{PlanID: s.Plan.ID, PlanDigest: plan.Digest(s.Plan), Sigma: 0.31}, Decision: d, Recorded: true}
	}
}

// rechecker blocks what it is told to.
type rechecker struct {
	mu    sync.Mutex
	block func(gate.Call) string
	calls int
}

func (r *rechecker) Recheck(_ context.Context, c gate.Call) []verdict.Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.block != nil {
		if why := r.block(c); why != "" {
			return []verdict.Finding{{Rule: "RE-1", Level: verdict.Block, Message: why}}
		}
	}
	return nil
}

// liveState is a State that a test sets.
type liveState struct {
	mu sync.Mutex
	s  site.State
}

func (l *liveState) Live() site.State { l.mu.Lock(); defer l.mu.Unlock(); return l.s }
func (l *liveState) estop(on bool)    { l.mu.Lock(); defer l.mu.Unlock(); l.s.EStop = on }

type alerts struct {
	mu  sync.Mutex
	all []gate.Alert
}

func (a *alerts) Alert(_ context.Context, x gate.Alert) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, x)
}

func (a *alerts) kinds() map[grant.Kind]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[grant.Kind]int{}
	for _, x := range a.all {
		out[x.Kind]++
	}
	return out
}

// A rig is a gate with everything around it replaced by what tests control.
type rig struct {
	t        testing.TB
	gate     *gate.Gate
	lab      *labsim.Lab
	verifier *verifier
	recheck  *rechecker
	state    *liveState
	alerts   *alerts
	journal  *journal.Memory
	pins     *pin.Store
	site     *site.Site
}

func newRig(t testing.TB, change ...func(*gate.Options)) *rig {
	t.Helper()
	pins, err := pin.OpenStore("")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, lab: labsim.NewLab(labsim.New(time.Now)), verifier: &verifier{decide: decision(verdict.Accept)}, recheck: &rechecker{},
		state: &liveState{}, alerts: &alerts{}, journal: &journal.Memory{}, pins: pins, site: labSite(t),
	}
	p := gate.DefaultPolicy()
	p.FirstContact = true
	o := gate.Options{
		Site: func() *site.Site { return r.site }, Policy: p, Servers: []string{"lab"}, Verifier: r.verifier, Rechecker: r.recheck, State: r.state,
		Journal: r.journal, Pins: pins, Alerter: r.alerts, Limits: plan.DefaultLimits(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&o)
	}
	if r.gate, err = gate.New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return r
}

var alice = gate.Client{Requester: "alice", Agent: "planner-alpha"}

// lines joins two ends of a stdio connection in memory.
func lines() (a, b *wire.Lines) {
	ar, bw := io.Pipe()
	br, aw := io.Pipe()
	a = wire.NewLines(ar, aw, wire.MaxServerFrame, func() error { _ = ar.Close(); return aw.Close() })
	b = wire.NewLines(br, bw, wire.MaxServerFrame, func() error { _ = br.Close(); return bw.Close() })
	return a, b
}

// stdioPair gives a connection of frames whose other end is an SDK transport.
func stdioPair() (*wire.Lines, *mcp.IOTransport) {
	ar, bw := io.Pipe()
	br, aw := io.Pipe()
	l := wire.NewLines(ar, aw, wire.MaxServerFrame, func() error { _ = ar.Close(); return aw.Close() })
	return l, &mcp.IOTransport{Reader: br, Writer: bw, MaxLineLength: -1}
}

func newClient(o *mcp.ClientOptions) *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "planner", Version: "1"}, o)
}

// stdio connects a client through the gate to the laboratory over stdio.
func (r *rig) stdio(c gate.Client, o *mcp.ClientOptions) *mcp.ClientSession {
	return r.stdioTo(r.lab.Server, c, o)
}

func (r *rig) stdioTo(s *mcp.Server, c gate.Client, o *mcp.ClientOptions) *mcp.ClientSession {
	return r.stdioAs(s, c, o, "")
}

func (r *rig) stdioVersion(s *mcp.Server, o *mcp.ClientOptions, version string) *mcp.ClientSession {
	return r.stdioAs(s, alice, o, version)
}

func (r *rig) stdioAs(s *mcp.Server, c gate.Client, o *mcp.ClientOptions, version string) *mcp.ClientSession {
	r.t.Helper()
	up, upSDK := stdioPair()
	down, downSDK := stdioPair()
	ctx := r.t.Context()
	if _, err := s.Connect(ctx, upSDK, nil); err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.gate.Pump(ctx, c, "lab", down, up) }()
	cs, err := newClient(o).Connect(ctx, downSDK, versioned(version))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = cs.Close(); <-done })
	return cs
}

func byHeader(r *http.Request) (gate.Client, error) {
	who := r.Header.Get("Authorization")
	if who == "" {
		return gate.Client{}, gate.ErrUnauthorized
	}
	return gate.Client{Requester: who, Agent: "planner-alpha"}, nil
}

// front serves the gate before an HTTP upstream and returns its address.
func (r *rig) front(upstream string) string {
	r.t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.serve(gate.Upstream{Name: "lab", URL: u})
}

func (r *rig) serve(u gate.Upstream) string {
	r.t.Helper()
	h, err := r.gate.Handler(r.t.Context(), gate.HandlerOptions{Upstreams: []gate.Upstream{u}, Authenticate: byHeader})
	if err != nil {
		r.t.Fatal(err)
	}
	s := httptest.NewServer(h)
	r.t.Cleanup(func() { s.CloseClientConnections(); s.Close(); _ = h.Close() })
	return s.URL
}

type asUser struct{ who string }

func (a asUser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", a.who)
	return http.DefaultTransport.RoundTrip(r)
}

func labHTTP(t testing.TB, s *mcp.Server, o *mcp.StreamableHTTPOptions) string {
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv.URL
}

func (r *rig) http(who string, o *mcp.ClientOptions) *mcp.ClientSession {
	r.t.Helper()
	return r.httpAt(r.front(labHTTP(r.t, r.lab.Server, nil)), who, o)
}

func (r *rig) httpAt(addr, who string, o *mcp.ClientOptions) *mcp.ClientSession {
	return r.httpAs(addr, who, o, "")
}

func (r *rig) httpVersion(addr string, o *mcp.ClientOptions, version string) *mcp.ClientSession {
	return r.httpAs(addr, "alice", o, version)
}

func (r *rig) httpAs(addr, who string, o *mcp.ClientOptions, version string) *mcp.ClientSession {
	r.t.Helper()
	cs, err := newClient(o).Connect(r.t.Context(), &mcp.StreamableClientTransport{Endpoint: addr, HTTPClient: &http.Client{Transport: asUser{who}}}, versioned(version))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = cs.Close() })
	return cs
}

type args = map[string]any

func call(t testing.TB, cs *mcp.ClientSession, tool string, a args) *mcp.CallToolResult {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return res
}

// code returns the code of a refusal, "" for a call that passed.
func code(t testing.TB, res *mcp.CallToolResult) string {
	t.Helper()
	if !res.IsError {
		return ""
	}
	s, _ := refusal(res)["code"].(string)
	if s == "" {
		s = "tool-error"
	}
	return s
}

// refusal returns what a refused call says: of a server's tool in _meta, of
// the gate's own as structured content.
func refusal(res *mcp.CallToolResult) map[string]any {
	m, ok := res.Meta["interlock/refusal"].(map[string]any)
	if !ok {
		m, _ = res.StructuredContent.(map[string]any)
	}
	return m
}

func text(res *mcp.CallToolResult) string {
	b, _ := json.Marshal(res.Content)
	return string(b)
}

func submit(t testing.TB, cs *mcp.ClientSession, p args) map[string]any {
	t.Helper()
	res := call(t, cs, "submit_plan", args{"plan": p, "wait_s": 10})
	m, _ := res.StructuredContent.(map[string]any)
	if m == nil {
		t.Fatalf("submit_plan: %s", text(res))
	}
	return m
}

func heatPlan(more ...args) args {
	calls := []any{
		args{"step": 1, "tool": "arm.move", "arguments": args{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": 200}},
		args{"step": 2, "tool": "hotplate.set", "arguments": args{"device": "hp1", "temp_c": 60, "rpm": 300}},
	}
	p := args{
		"id": "heat", "goal": "warm the beaker", "steps": []any{"Move the arm to the bench at 200 mm/s.", "Heat hp1 to 60 C at 300 rpm."}, "tool_calls": calls,
		"on_abort": []any{args{"tool": "hotplate.off", "arguments": args{"device": "hp1"}}},
	}
	for _, m := range more {
		for k, v := range m {
			p[k] = v
		}
	}
	return p
}

// versioned are the client's options for an older protocol.
func versioned(v string) *mcp.ClientSessionOptions {
	return &mcp.ClientSessionOptions{ProtocolVersion: v}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

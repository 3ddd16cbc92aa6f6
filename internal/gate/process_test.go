package gate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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

// The test binary is the processes of these tests as well: a gate, a server
// with a child of its own, a laboratory that tells whether a call arrived.
func TestMain(m *testing.M) {
	switch os.Getenv("GATE_TEST_ROLE") {
	case "gate":
		gateProcess()
	case "server":
		serverProcess()
	case "shim":
		shimProcess()
	case "server-http":
		lab := labsim.NewLab(labsim.New(time.Now))
		announce(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return lab.Server }, nil))
	case "gate-http":
		gateHTTPProcess()
	default:
		os.Exit(m.Run())
	}
}

// shimProcess does what interlock run-child does, for the processes of this
// test: it ends its group when it is asked to.
func shimProcess() {
	self, err := os.Executable()
	if err != nil {
		os.Exit(1)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "GATE_TEST_ROLE=server")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	wire.Keep(cmd)
}

// serverProcess is a laboratory over stdio with a child that ignores the end
// of its input, as real servers have them.
func serverProcess() {
	child := exec.Command("sleep", "300")
	if err := child.Start(); err != nil {
		os.Exit(1)
	}
	if dir := os.Getenv("GATE_TEST_DIR"); dir != "" {
		note(dir, os.Getpid())
		note(dir, child.Process.Pid)
	}
	lab := labsim.NewLab(labsim.New(time.Now))
	lab.Server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/call" && os.Getenv("GATE_TEST_HANG") != "" {
				f, _ := os.OpenFile(filepath.Join(os.Getenv("GATE_TEST_DIR"), "arrived"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				_, _ = f.WriteString("x")
				_ = f.Close()
				select {} // the answer never comes
			}
			return next(ctx, method, req)
		}
	})
	_ = lab.Server.Run(context.Background(), &mcp.StdioTransport{})
}

func note(dir string, pid int) {
	f, err := os.OpenFile(filepath.Join(dir, "pids"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(f, pid)
	_ = f.Close()
}

// gateProcess is a gate before serverProcess, stdio in and stdio out, with its
// journal and pins in GATE_TEST_DIR.
func gateProcess() {
	dir := os.Getenv("GATE_TEST_DIR")
	t := noTest{}
	g := gateIn(t, dir)
	self, err := os.Executable()
	t.must(err)
	up, err := wire.Start(context.Background(), wire.Command{Args: []string{"server"}, Env: []string{"GATE_TEST_ROLE=shim", "GATE_TEST_DIR=" + dir, "GATE_TEST_HANG=" + os.Getenv("GATE_TEST_HANG")}, Shim: []string{self}, Stderr: os.Stderr})
	t.must(err)
	down := wire.NewLines(os.Stdin, os.Stdout, wire.MaxClientFrame, os.Stdin.Close)
	_ = g.Pump(context.Background(), alice, "lab", down, up)
}

// gateIn is a gate that keeps its journal and pins in dir.
func gateIn(t noTest, dir string) *gate.Gate {
	j, err := journal.Open(filepath.Join(dir, "journal.jsonl"))
	t.must(err)
	pins, err := pin.OpenStore(filepath.Join(dir, "pins.json"))
	t.must(err)
	o := plainOptions(labSite(t))
	o.Journal, o.Pins = j, pins
	if os.Getenv("GATE_TEST_DECIDE") == "reject" {
		o.Verifier = &verifier{decide: decision(verdict.Reject)}
	}
	g, err := gate.New(context.Background(), o)
	t.must(err)
	return g
}

// gateHTTPProcess is a gate before the server at GATE_TEST_UPSTREAM.
func gateHTTPProcess() {
	t := noTest{}
	u, err := url.Parse(os.Getenv("GATE_TEST_UPSTREAM"))
	t.must(err)
	h, err := gateIn(t, os.Getenv("GATE_TEST_DIR")).Handler(context.Background(), gate.HandlerOptions{Upstreams: []gate.Upstream{{Name: "lab", URL: u}}, Authenticate: byHeader})
	t.must(err)
	announce(h)
}

// announce serves a handler at an address that it prints, until its input
// ends.
func announce(h http.Handler) {
	s := httptest.NewServer(h)
	fmt.Println(s.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// noTest stands where helpers want a test.
type noTest struct{ testing.TB }

func (noTest) Helper() {}

func (noTest) Fatal(v ...any) {
	fmt.Fprintln(os.Stderr, v...)
	os.Exit(1)
}

func (noTest) must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// plainOptions are those of a gate that accepts every plan.
func plainOptions(s *site.Site) gate.Options {
	p := gate.DefaultPolicy()
	p.FirstContact = true
	return gate.Options{
		Site: func() *site.Site { return s }, Policy: p, Servers: []string{"lab"}, Verifier: &verifier{decide: decision(verdict.Accept)},
		Rechecker: &rechecker{}, State: &liveState{}, Limits: plan.DefaultLimits(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
}

// serveHTTP serves a handler and returns how to stop it.
func serveHTTP(t testing.TB, h http.Handler) (*url.URL, func()) {
	t.Helper()
	s := httptest.NewServer(h)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, func() { s.CloseClientConnections(); s.Close() }
}

// A child is a gate process and the connection to it.
type child struct {
	cmd *exec.Cmd
	*wire.Lines
}

func startGate(t *testing.T, dir string, env ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), "GATE_TEST_ROLE=gate", "GATE_TEST_DIR="+dir), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &child{cmd, wire.NewLines(out, in, wire.MaxServerFrame, in.Close)}
}

func (c *child) ask(t *testing.T, frame string) []byte {
	t.Helper()
	if err := c.Write([]byte(frame)); err != nil {
		t.Fatal(err)
	}
	answer, err := c.Read()
	if err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return answer
}

func (c *child) hello(t *testing.T) {
	t.Helper()
	c.ask(t, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if err := c.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil {
		t.Fatal(err)
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// TestC31_NoOrphans covers R45: 50 gates are killed without notice, half of
// them in the middle of a session; neither servers nor their children outlive
// them.
func TestC31_NoOrphans(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a child that its parent has died")
	}
	t.Parallel()
	dir := t.TempDir()
	const cycles = 50
	for i := range cycles {
		c := startGate(t, dir)
		c.hello(t)
		if i%2 == 0 {
			c.ask(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		}
		c.kill()
	}
	pids := readPids(t, filepath.Join(dir, "pids"))
	if len(pids) != 2*cycles {
		t.Fatalf("%d processes were noted, want %d", len(pids), 2*cycles)
	}
	waitFor(t, func() bool { return len(alive(pids)) == 0 })
}

func readPids(t *testing.T, path string) []int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var pids []int
	for s := bufio.NewScanner(f); s.Scan(); {
		pid, err := strconv.Atoi(s.Text())
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// alive are the processes that run; one that has ended and waits to be
// collected does not.
func alive(pids []int) []int {
	var out []int
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		if state := strings.Fields(rest)[0]; state != "Z" && state != "X" {
			out = append(out, pid)
		}
	}
	return out
}

// TestC27_KilledBetweenForwardAndRecord: the gate is killed while a call is at
// the server. On restart the call is unknown and not repeated.
func TestC27_KilledBetweenForwardAndRecord(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the processes of Linux")
	}
	t.Parallel()
	dir := t.TempDir()
	arrived := func() int { b, _ := os.ReadFile(filepath.Join(dir, "arrived")); return len(b) }
	c := startGate(t, dir, "GATE_TEST_HANG=1")
	c.hello(t)
	submitFrame := func(id int) string {
		plan, err := json.Marshal(args{"plan": heatPlan(), "wait_s": 10})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"submit_plan","arguments":%s}}`, id, plan)
	}
	answer := c.ask(t, submitFrame(1))
	id, _ := wire.Text(wire.Get(wire.Get(wire.Get(answer, "result"), "structuredContent"), "plan_id"))
	const move = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"arm.move","arguments":{"arm":"ur5e_1","target":"bench_a","speed_mm_s":200}}}`
	if err := c.Write([]byte(move)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return arrived() == 1 })
	c.kill()

	again := startGate(t, dir)
	defer again.kill()
	again.hello(t)
	status := again.ask(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plan_status","arguments":{"plan_id":"`+id+`"}}}`)
	for _, want := range []string{`"state":"suspended"`, `"state":"unknown"`} {
		if !strings.Contains(string(status), want) {
			t.Errorf("plan_status lacks %s: %s", want, status)
		}
	}
	if answer := again.ask(t, move); !strings.Contains(string(answer), `"suspended"`) {
		t.Errorf("the call was let through again: %s", answer)
	}
	if arrived() != 1 {
		t.Errorf("the call arrived %d times", arrived())
	}
	j, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil || !strings.Contains(string(j), `"kind":"`+string(grant.KindUnknown)+`"`) {
		t.Errorf("unknown is not on record: %v", err)
	}
}

// TestManySessions: 200 sessions at once, and nothing left when they close.
func TestManySessions(t *testing.T) {
	const sessions = 200
	before := goleak.IgnoreCurrent()
	r := newRig(t)
	upstream, stopUp := serveHTTP(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return r.lab.Server }, nil))
	h, err := r.gate.Handler(t.Context(), gate.HandlerOptions{Upstreams: []gate.Upstream{{Name: "lab", URL: upstream}}, Authenticate: byHeader})
	if err != nil {
		t.Fatal(err)
	}
	front, stopFront := serveHTTP(t, h)
	var m0, m1 runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m0)
	var wg sync.WaitGroup
	clients := make([]*mcp.ClientSession, sessions)
	transport := &http.Transport{}
	for i := range sessions {
		wg.Go(func() {
			hc := &http.Client{Transport: as{fmt.Sprintf("user-%d", i), transport}}
			cs, err := newClient(nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: front.String(), HTTPClient: hc}, versioned("2025-11-25"))
			if err != nil {
				t.Error(err)
				return
			}
			clients[i] = cs
			if res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "sensor.read", Arguments: args{"id": "hp1_temp"}}); err != nil || res.IsError {
				t.Errorf("session %d: %v %v", i, res, err)
			}
		})
	}
	wg.Wait()
	runtime.GC()
	runtime.ReadMemStats(&m1)
	t.Logf("%d sessions: %.1f KB of heap each, clients and upstream included", sessions, float64(m1.HeapAlloc-m0.HeapAlloc)/sessions/1024)
	for _, cs := range clients {
		if cs != nil {
			_ = cs.Close()
		}
	}
	_ = h.Close()
	transport.CloseIdleConnections()
	stopFront()
	stopUp()
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("testing.(*T).Parallel"), goleak.IgnoreAnyFunction("testing.tRunner"))
}

type as struct {
	who string
	rt  http.RoundTripper
}

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", a.who)
	return a.rt.RoundTrip(r)
}

package gate_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
)

func measure(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// median is in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1e6
}

// A match plays calls directly and through the gate, one after the other, so
// that whatever else the machine does hits both alike.
type match struct {
	direct, through *mcp.ClientSession
	journal         *journal.File // of events like those of a call, on the same disk
}

func (m *match) call(b *testing.B, cs *mcp.ClientSession, tool string, a args) func() {
	return func() {
		res, err := cs.CallTool(b.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
		if err != nil || res.IsError {
			b.Fatalf("%v %v", res, err)
		}
	}
}

func (m *match) append(b *testing.B) func() {
	return func() {
		err := m.journal.Append(b.Context(), grant.Event{Kind: grant.KindSent, At: time.Now(), Grant: "g", Plan: "d", CallID: "c", Tool: "arm.move", Body: []byte(`{"a":1}`)})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// observe reports the medians of a call that only reads, and their ratio.
func (m *match) observe(b *testing.B) {
	direct, through := m.call(b, m.direct, "sensor.read", args{"id": "hp1_temp"}), m.call(b, m.through, "sensor.read", args{"id": "hp1_temp"})
	var d, t []time.Duration
	for b.Loop() {
		d, t = append(d, measure(direct)), append(t, measure(through))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(d), "direct-ms")
	b.ReportMetric(median(t), "gate-ms")
	b.ReportMetric(median(t)/median(d), "gate/direct")
}

// act reports the medians of a granted call, and what it takes beyond the
// direct one and two durable appends.
func (m *match) act(b *testing.B) {
	direct, through, line := m.call(b, m.direct, "arm.move", moveOK), m.call(b, m.through, "arm.move", moveOK), m.append(b)
	p := heatPlan()
	p["tool_calls"] = p["tool_calls"].([]any)[:1]
	var d, t, a []time.Duration
	for b.Loop() {
		submit(b, m.through, p)
		d, t, a = append(d, measure(direct)), append(t, measure(through)), append(a, measure(line))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(d), "direct-ms")
	b.ReportMetric(median(a), "append-ms")
	b.ReportMetric(median(t), "gate-ms")
	b.ReportMetric(median(t)-median(d)-2*median(a), "beyond-ms")
}

// BenchmarkCall compares calls directly and through the gate, with a journal
// on disk: over HTTP and over stdio, the gate and the servers in processes of
// their own.
func BenchmarkCall(b *testing.B) {
	for name, start := range map[string]func(*testing.B) *match{"http": httpMatch, "stdio": stdioMatch} {
		b.Run(name+"/observe", func(b *testing.B) { start(b).observe(b) })
		b.Run(name+"/act", func(b *testing.B) { start(b).act(b) })
	}
}

func onDisk(b *testing.B, name string) *journal.File {
	b.Helper()
	j, err := journal.Open(filepath.Join(b.TempDir(), name))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = j.Close() })
	return j
}

func httpMatch(b *testing.B) *match {
	b.Helper()
	r := newRig(b)
	server := listening(b, "server-http", "")
	front := listening(b, "gate-http", server)
	return &match{direct: r.httpAt(server, "alice", nil), through: r.httpAt(front, "alice", nil), journal: onDisk(b, "beside")}
}

func stdioMatch(b *testing.B) *match {
	b.Helper()
	return &match{direct: process(b, "server"), through: process(b, "gate"), journal: onDisk(b, "beside")}
}

func role(b *testing.B, name string, env ...string) *exec.Cmd {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(append(os.Environ(), "GATE_TEST_ROLE="+name, "GATE_TEST_DIR="+b.TempDir()), env...)
	return cmd
}

// process starts a process of this test and connects a client to it.
func process(b *testing.B, name string) *mcp.ClientSession {
	b.Helper()
	cs, err := newClient(nil).Connect(b.Context(), &mcp.CommandTransport{Command: role(b, name)}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cs.Close() })
	return cs
}

// listening starts a process of this test and returns where it listens.
func listening(b *testing.B, name, upstream string) string {
	b.Helper()
	cmd := role(b, name, "GATE_TEST_UPSTREAM="+upstream)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(addr)
}

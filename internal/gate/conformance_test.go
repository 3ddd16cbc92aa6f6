package gate_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
	"interlock/internal/site"
)

var update = flag.Bool("update", false, "write docs/conformance.md from this run")

// peers returns the folder .ci/peers installs into; without it the test is
// skipped.
func peers(t testing.TB, part string) string {
	t.Helper()
	dir := os.Getenv("INTERLOCK_PEERS")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("no cache folder: ", err)
		}
		dir = filepath.Join(cache, "interlock-peers")
	}
	if _, err := os.Stat(filepath.Join(dir, part, "installed")); err != nil {
		t.Skip("the MCP peers are not installed: run .ci/peers")
	}
	return filepath.Join(dir, part, "node_modules")
}

func node(t testing.TB) string {
	return filepath.Join(peers(t, "node"), "node", "bin", "node")
}

// everythingServer builds the SDK's own conformance server.
func everythingServer(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "everything-server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server").CombinedOutput(); err != nil {
		t.Skipf("the conformance server cannot be built here: %v\n%s", err, out)
	}
	return bin
}

// everything builds and starts the SDK's own conformance server.
func everything(t *testing.T, stateless bool) string {
	t.Helper()
	bin := everythingServer(t)
	addr := freePort(t)
	cmd := exec.CommandContext(t.Context(), bin, "-http", addr, "-stateless="+strconv.FormatBool(stateless))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 100 {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return "http://" + addr
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the conformance server does not listen")
	return ""
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// shadowFront puts a gate in shadow mode before an upstream.
func shadowFront(t *testing.T, u gate.Upstream) string {
	t.Helper()
	var built *gate.Gate
	r := newRig(t, func(o *gate.Options) {
		o.Policy.Mode, o.Policy.ShadowTools, o.Policy.ShadowUntil = gate.Shadow, []string{"*"}, time.Now().Add(time.Hour)
		o.Log = slog.New(slog.DiscardHandler)
		if os.Getenv("GATE_LOG") != "" {
			o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
		}
		o.Alerter = &approver{pins: o.Pins, now: time.Now, gate: func() *gate.Gate { return built }}
		empty := &site.Site{ID: "shadow", Digest: "x"}
		o.Site = func() *site.Site { return empty }
	})
	built = r.gate
	anyone := func(*http.Request) (gate.Client, error) { return gate.Client{Requester: "suite", Agent: "suite"}, nil }
	h, err := r.gate.Handler(t.Context(), gate.HandlerOptions{Upstreams: []gate.Upstream{u}, Authenticate: anyone})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close(); _ = h.Close() })
	return s.URL
}

// approver stands in for a person who approves every new tool at once: the
// suites change the list of tools while they run.
type approver struct {
	pins *pin.Store
	now  func() time.Time
	gate func() *gate.Gate
}

func (a *approver) Alert(_ context.Context, x gate.Alert) {
	if x.Kind == grant.KindPins {
		_ = a.pins.Approve(a.gate().Live(x.Server), nil, "the test", a.now())
	}
}

// A tally is what a suite says of each scenario: "passed/failed".
type tally map[string]string

var line = regexp.MustCompile(`(?m)^[✓✗] (\S+): (\d+) passed, (\d+) failed`)

func conformance(t *testing.T, part, target string, more ...string) tally {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cli := filepath.Join(peers(t, part), "@modelcontextprotocol", "conformance", "dist", "index.js")
	cmd := exec.CommandContext(ctx, node(t), append([]string{cli, "server", "--url", target}, more...)...)
	cmd.Dir = t.TempDir()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run() // fails when a scenario does; the tally says which
	got := tally{}
	for _, m := range line.FindAllStringSubmatch(out.String(), -1) {
		got[m[1]] = m[2] + "/" + m[3]
	}
	if len(got) == 0 {
		t.Fatalf("the suite says nothing: %v\n%s", err, out.String())
	}
	if os.Getenv("GATE_LOG") != "" {
		t.Log(out.String())
	}
	return got
}

func (y tally) sum() (passed, failed int) {
	for _, v := range y {
		var p, f int
		_, _ = fmt.Sscanf(v, "%d/%d", &p, &f)
		passed, failed = passed+p, failed+f
	}
	return passed, failed
}

// TestConformance runs the protocol's own suites against the SDK's server,
// directly and through the gate in shadow mode: every scenario must say the
// same.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	var rows []string
	for _, s := range []struct {
		name, part string
		stateless  bool
		more       []string
	}{
		{"0.1.16, sessions", "conformance", false, nil},
		{"0.2.0-alpha.12, sessions", "conformance-next", false, nil},
		{"0.2.0-alpha.12, requirements 2026-07-28, stateless", "conformance-next", true, []string{"--requirements", "2026-07-28"}},
	} {
		t.Run(s.name, func(t *testing.T) {
			up := everything(t, s.stateless)
			u, err := url.Parse(up)
			if err != nil {
				t.Fatal(err)
			}
			direct := conformance(t, s.part, up, s.more...)
			through := conformance(t, s.part, shadowFront(t, gate.Upstream{Name: "lab", URL: u}), s.more...)
			for name, want := range direct {
				if through[name] != want {
					t.Errorf("%s: direct %s, through the gate %q (passed/failed)", name, want, through[name])
				}
			}
			if len(through) != len(direct) {
				t.Errorf("%d scenarios direct, %d through", len(direct), len(through))
			}
			// The same server as a command over stdio: the HTTP side is then the
			// gate's own, and what it lacks is told, not hidden.
			hosted := conformance(t, s.part, shadowFront(t, gate.Upstream{Name: "lab", Command: wire.Command{Args: []string{everythingServer(t)}}}), s.more...)
			hp, hf := hosted.sum()
			if !s.stateless && hf > 0 {
				t.Errorf("as a command: %d failed: %v", hf, hosted)
			}
			dp, df := direct.sum()
			tp, tf := through.sum()
			rows = append(rows, fmt.Sprintf("| %s | %d | %d / %d | %d / %d | %d / %d |", s.name, len(direct), dp, df, tp, tf, hp, hf))
			var failing []string
			for name, v := range direct {
				if !strings.HasSuffix(v, "/0") {
					failing = append(failing, name)
				}
			}
			slices.Sort(failing)
			t.Logf("direct %d/%d, through %d/%d, failing directly: %v", dp, df, tp, tf, failing)
		})
	}
	if *update && len(rows) == 3 && !t.Failed() {
		doc := "# Conformance\n\nMade by `go test ./internal/gate -run TestConformance -update`; do not edit.\n\n" +
			"The suites of `@modelcontextprotocol/conformance` against go-sdk's own `conformance/everything-server`, directly and through the gate in\n" +
			"shadow mode (which passes calls on, and still enforces strict frames, pins and stops). The test fails unless every single scenario says the same.\n\n" +
			"| suite | scenarios | direct, passed / failed | through the gate, passed / failed | as a command behind the gate |\n|---|---:|---:|---:|---:|\n" + strings.Join(rows, "\n") + "\n\n" +
			"What fails directly fails in the tasks extension, which the server does not have. Tools that appear while a suite runs are approved at once, as a\nperson would have to.\n\nThe last column is the same server as a command over stdio: its HTTP side is then the gate's own. With sessions nothing fails there; `server-sse-multiple-streams`\ncounts one check less, since the gate answers a POST with one JSON body where nothing comes before the answer. Without sessions the gate does not check `Mcp-Param-*` headers, and a request without the protocol's `_meta` is\nanswered by the server, with another error than HTTP servers give.\n"
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "conformance.md"), []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

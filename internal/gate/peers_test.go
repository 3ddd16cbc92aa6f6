package gate_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/gate/wire"
)

// npmServer is the command of one of the protocol's own servers.
func npmServer(t *testing.T, name string, more ...string) wire.Command {
	t.Helper()
	script := filepath.Join(peers(t, "peers"), "@modelcontextprotocol", name, "dist", "index.js")
	var stderr bytes.Buffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s says: %s", name, stderr.String())
		}
	})
	return wire.Command{Args: append([]string{node(t), script}, more...), Stderr: &stderr}
}

func toolNames(t *testing.T, cs *mcp.ClientSession) []string {
	t.Helper()
	var names []string
	for tool, err := range cs.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// TestNpmServers puts the protocol's own servers behind the gate, each as a
// command behind streamable HTTP: the tools are those they have directly, and
// calls give the same.
func TestNpmServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		name string
		more []string
		tool string
		args args
	}{
		{"server-everything", []string{"stdio"}, "echo", args{"message": "hello"}},
		{"server-filesystem", []string{dir}, "read_text_file", args{"path": filepath.Join(dir, "a.txt")}},
		{"server-memory", nil, "read_graph", args{}},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			cmd := npmServer(t, s.name, s.more...)
			cmd.Env = []string{"MEMORY_FILE_PATH=" + filepath.Join(t.TempDir(), "memory.json")}
			direct := exec.CommandContext(t.Context(), cmd.Args[0], cmd.Args[1:]...)
			direct.Env = append(os.Environ(), cmd.Env...)
			plain, err := newClient(nil).Connect(t.Context(), &mcp.CommandTransport{Command: direct}, versioned("2025-11-25"))
			if err != nil {
				t.Fatal(err)
			}
			defer plain.Close()
			r := newRig(t)
			through := r.httpVersion(shadowFront(t, gate.Upstream{Name: "lab", Command: cmd}), nil, "2025-11-25")
			want := append(toolNames(t, plain), "bind_plan", "cancel_plan", "explain_decision", "plan_status", "submit_plan")
			slices.Sort(want)
			if got := toolNames(t, through); !slices.Equal(got, want) {
				t.Errorf("tools through the gate %v, want %v", got, want)
			}
			a, b := call(t, plain, s.tool, s.args), call(t, through, s.tool, s.args)
			if text(a) != text(b) || a.IsError != b.IsError {
				t.Errorf("%s: direct %s, through the gate %s", s.tool, text(a), text(b))
			}
		})
	}
}

const tsClient = `
import { Client } from "%[1]s/@modelcontextprotocol/sdk/dist/esm/client/index.js";
import { StreamableHTTPClientTransport } from "%[1]s/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.js";
const client = new Client({ name: "ts", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL("%[2]s"), { requestInit: { headers: { Authorization: "alice" } } }));
const tools = (await client.listTools()).tools.map((t) => t.name);
const plan = JSON.parse(process.argv[2]);
const refused = await client.callTool({ name: "arm.move", arguments: plan.tool_calls[0].arguments });
const decided = await client.callTool({ name: "submit_plan", arguments: { plan } });
const moved = await client.callTool({ name: "arm.move", arguments: plan.tool_calls[0].arguments });
console.log(JSON.stringify({ tools: tools.length, refused: refused._meta["interlock/refusal"].code, state: decided.structuredContent.state, moved: moved.structuredContent }));
await client.close();
`

// TestTypeScriptClient runs a plan with the TypeScript SDK's client.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	modules := peers(t, "peers")
	r := newRig(t)
	addr := r.front(labHTTP(t, r.lab.Server, nil))
	script := filepath.Join(t.TempDir(), "client.mjs")
	if err := os.WriteFile(script, fmt.Appendf(nil, tsClient, modules, addr), 0o600); err != nil {
		t.Fatal(err)
	}
	out := runNode(t, script, mustJSON(heatPlan()))
	for _, want := range []string{`"refused":"no-plan"`, `"state":"accepted"`, `"moved":{"ok":true}`} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %s: %s", want, out)
		}
	}
}

// TestInspector lists and calls with the inspector's command line.
func TestInspector(t *testing.T) {
	t.Parallel()
	cli := filepath.Join(peers(t, "peers"), "@modelcontextprotocol", "inspector", "cli", "build", "cli.js")
	r := newRig(t)
	up, err := url.Parse(labHTTP(t, r.lab.Server, nil))
	if err != nil {
		t.Fatal(err)
	}
	// This command line can send no header, so everyone is alice here.
	everyone := func(*http.Request) (gate.Client, error) { return alice, nil }
	h, err := r.gate.Handler(t.Context(), gate.HandlerOptions{Upstreams: []gate.Upstream{{Name: "lab", URL: up}}, Authenticate: everyone})
	if err != nil {
		t.Fatal(err)
	}
	front, stop := serveHTTP(t, h)
	defer func() { stop(); _ = h.Close() }()
	base := []string{cli, "--cli", front.String() + "/mcp", "--transport", "http"}
	if out := runNode(t, append(base, "--method", "tools/list")...); !strings.Contains(out, "submit_plan") || !strings.Contains(out, "hotplate.set") {
		t.Errorf("tools/list: %s", out)
	}
	out := runNode(t, append(base, "--method", "tools/call", "--tool-name", "sensor.read", "--tool-arg", "id=room_presence")...)
	if !strings.Contains(out, "clear") {
		t.Errorf("sensor.read: %s", out)
	}
	out = runNode(t, append(base, "--method", "tools/call", "--tool-name", "hotplate.off", "--tool-arg", "device=hp1")...)
	if !strings.Contains(out, "true") {
		t.Errorf("hotplate.off: %s", out)
	}
}

func runNode(t *testing.T, arg ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	bin := node(t)
	cmd := exec.CommandContext(ctx, bin, arg...)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

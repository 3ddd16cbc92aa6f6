package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/gate/wire"
	"interlock/internal/labsim"
	"interlock/internal/site"
)

// commandLab is the laboratory as a command over stdio. Each call is appended
// to a file; the tool centrifuge.run ends the process in the middle of it, and
// so does reading the sensor "crash".
func commandLab(t testing.TB) (u gate.Upstream, calls func() string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := t.TempDir() + "/calls"
	u = gate.Upstream{Name: "lab", Command: wire.Command{Args: []string{self, "-test.run=^TestHelperLab$"}, Env: []string{"GATE_TEST_LAB=" + log}, Stderr: io.Discard}}
	return u, func() string {
		b, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(b)
	}
}

// TestHelperLab is no test: it is the process of commandLab.
func TestHelperLab(t *testing.T) {
	path := os.Getenv("GATE_TEST_LAB")
	if path == "" {
		t.Skip("a process of other tests")
	}
	log, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	lab := labsim.NewLab(labsim.New(time.Now))
	mcp.AddTool(lab.Server, &mcp.Tool{Name: "centrifuge.run"}, func(context.Context, *mcp.CallToolRequest, args) (*mcp.CallToolResult, any, error) {
		os.Exit(3)
		return nil, nil, nil
	})
	region := json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
		"deep":{"type":"object","properties":{"yes":{"type":"boolean","x-mcp-header":"Yes"}}}}}`)
	lab.Server.AddTool(&mcp.Tool{Name: "region.read", InputSchema: region}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "read"}}}, nil
	})
	lab.Server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok {
				fmt.Fprintln(log, p.Name)
				if p.Name == "sensor.read" && strings.Contains(string(p.Arguments), "crash") {
					os.Exit(3)
				}
			} else {
				fmt.Fprintln(log, method)
			}
			return next(ctx, method, req)
		}
	})
	_ = lab.Server.Run(context.Background(), &mcp.StdioTransport{}) //nolint:usetesting // the process ends with its input
	os.Exit(0)
}

// TestC36_MirroredArguments: headers that mirror arguments are as the body
// says, also before a server that never sees them.
func TestC36_MirroredArguments(t *testing.T) {
	t.Parallel()
	withRegion := func(o *gate.Options) {
		s := *labSite(t)
		s.Tools = append(s.Tools[:len(s.Tools):len(s.Tools)], site.Tool{Name: "region.read", Effect: site.Observe})
		o.Site = func() *site.Site { return &s }
	}
	u, calls := commandLab(t)
	addr := newRig(t, withRegion).serve(u)
	post := func(headers map[string]string, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addr, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "alice")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range headers {
			for value := range strings.SplitSeq(v, "|") {
				req.Header.Add(k, value)
			}
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	region := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"region.read","arguments":` + arguments + `,` + meta + `}}`
	}
	for name, tc := range map[string]struct {
		headers map[string]string
		body    string
		want    string // part of the answer
	}{
		"as the body says":    {map[string]string{"Mcp-Param-Region": "eu", "Mcp-Param-N": "7", "Mcp-Param-Yes": "true"}, region(`{"region":"eu","n":7,"deep":{"yes":true}}`), `"read"`},
		"another notation":    {map[string]string{"Mcp-Param-N": "7"}, region(`{"n":7.0}`), `"read"`},
		"encoded":             {map[string]string{"Mcp-Param-Region": "=?base64?5pel5pys?="}, region(`{"region":"日本"}`), `"read"`},
		"null":                {nil, region(`{"region":null}`), `"read"`},
		"nobody's header":     {map[string]string{"Mcp-Param-Other": "x"}, region(`{}`), `"read"`},
		"another value":       {map[string]string{"Mcp-Param-Region": "us"}, region(`{"region":"eu"}`), "-32020"},
		"missing":             {nil, region(`{"region":"eu"}`), "-32020"},
		"of no argument":      {map[string]string{"Mcp-Param-Region": "eu"}, region(`{}`), "-32020"},
		"doubled":             {map[string]string{"Mcp-Param-Region": "eu|us"}, region(`{"region":"eu"}`), "-32020"},
		"not base64":          {map[string]string{"Mcp-Param-Region": "=?base64?%%?="}, region(`{"region":"eu"}`), "-32020"},
		"another number":      {map[string]string{"Mcp-Param-N": "9007199254740992"}, region(`{"n":9007199254740993}`), "-32020"},
		"a fraction":          {map[string]string{"Mcp-Param-N": "1.5"}, region(`{"n":1.5}`), "-32020"},
		"deep":                {map[string]string{"Mcp-Param-Yes": "false"}, region(`{"deep":{"yes":true}}`), "-32020"},
		"a method doubled":    {map[string]string{"Mcp-Method": "tools/call|ping"}, region(`{}`), "-32020"},
		"another tool's name": {map[string]string{"Mcp-Name": "sensor.read"}, region(`{}`), "-32020"},
		"no version in body":  {nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"region.read","arguments":{}}}`, "-32602"},
		"another version":     {map[string]string{"Mcp-Protocol-Version": "2027-01-01"}, region(`{}`), "-32020"},
	} {
		headers := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "region.read"}
		for k, v := range tc.headers {
			headers[k] = v
		}
		before := strings.Count(calls(), "region.read")
		status, answer := post(headers, tc.body)
		passes := tc.want == `"read"`
		if !strings.Contains(answer, tc.want) || (status == http.StatusOK) != passes || (strings.Count(calls(), "region.read") > before) != passes {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
}

// TestOldestClient runs a plan with a client of the first protocol version, over
// stdio, against a server that is a command and one in this process.
func TestOldestClient(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http to stdio"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			var cs *mcp.ClientSession
			if transport == "stdio" {
				cs = r.stdioVersion(r.lab.Server, nil, "2024-11-05")
			} else {
				u, _ := commandLab(t)
				cs = r.httpVersion(r.serve(u), nil, "2024-11-05")
			}
			if got := cs.InitializeResult().ProtocolVersion; got != "2024-11-05" {
				t.Fatalf("speaks %s", got)
			}
			if got := toolNames(t, cs); !strings.Contains(strings.Join(got, " "), "submit_plan") {
				t.Errorf("tools: %v", got)
			}
			if got := code(t, call(t, cs, "arm.move", moveOK)); got != "no-plan" {
				t.Errorf("without a plan: %q", got)
			}
			if v := submit(t, cs, heatPlan()); v["state"] != "accepted" {
				t.Fatalf("%v", v)
			}
			if got := code(t, call(t, cs, "hotplate.set", args{"device": "hp1", "temp_c": 300, "rpm": 300})); got == "" {
				t.Error("a deviation passed")
			}
			v := submit(t, cs, heatPlan())
			if v["state"] != "accepted" {
				t.Fatalf("again: %v", v)
			}
			for tool, a := range map[string]args{"sensor.read": {"id": "hp1_temp"}, "arm.move": moveOK} {
				if res := call(t, cs, tool, a); res.IsError {
					t.Errorf("%s: %s", tool, text(res))
				}
			}
			if res := call(t, cs, "hotplate.set", heatOK); res.IsError {
				t.Errorf("hotplate.set: %s", text(res))
			}
		})
	}
}

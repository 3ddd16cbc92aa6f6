package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
)

// A recorder is an upstream that keeps what reaches it and answers as told.
type recorder struct {
	mu     sync.Mutex
	bodies [][]byte
	answer func(f wire.Frame) []byte // the result; nil: an empty object
}

func (u *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f, _ := wire.ParseServer(body)
	u.mu.Lock()
	if f.Method == "tools/call" || f.Method == "" || f.Kind == wire.Invalid {
		u.bodies = append(u.bodies, body)
	}
	u.mu.Unlock()
	if f.Kind != wire.Request {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := []byte(`{}`)
	switch {
	case f.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "up-1")
		result = []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"u","version":"1"}}`)
	case f.Method == "tools/list":
		result = []byte(`{"tools":[{"name":"sensor.read","inputSchema":{"type":"object"}},{"name":"arm.move","inputSchema":{"type":"object"}}]}`)
	case u.answer != nil:
		result = u.answer(f)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(wire.Reply(f.ID, result))
}

func (u *recorder) seen() [][]byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([][]byte(nil), u.bodies...)
}

// A raw client sends bytes.
type raw struct {
	t       testing.TB
	addr    string
	session string
}

func (c *raw) post(body string) (int, []byte) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.addr, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "alice")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
		c.session = s
	}
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, out
}

func rawClient(t testing.TB, r *rig, upstream http.Handler) *raw {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	c := &raw{t: t, addr: r.front(up.URL)}
	if status, body := c.post(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`); status != http.StatusOK {
		t.Fatalf("initialize: %d %s", status, body)
	}
	return c
}

// TestC22_NothingAmbiguousReachesTheUpstream covers R20, R21 and R22 on both
// transports: refused, no traffic upstream, one event on record.
func TestC22_NothingAmbiguousReachesTheUpstream(t *testing.T) {
	t.Parallel()
	bad := []string{
		`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sensor.read","arguments":{}}}]`,
		`[[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sensor.read"}}]]`,
		" \n\t[{}]",
		"\xef\xbb\xbf[{}]",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sensor.read","Name":"arm.move"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sensor.read","name":"arm.move"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sensor.read","arguments":{"a":{"k\u0000":1}}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sensor.read","arguments":{"v":1e309}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sensor.read"},"params":{"name":"arm.move"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","PARAMS":{"name":"arm.move"},"params":{"name":"sensor.read"}}`,
		`not json`,
	}
	orphans := []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}`}
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		r, up := newRig(t), &recorder{}
		c := rawClient(t, r, up)
		for _, body := range bad {
			status, answer := c.post(body)
			if status != http.StatusBadRequest || wire.Get(answer, "error") == nil {
				t.Errorf("%q: %d %s", body, status, answer)
			}
		}
		for _, body := range orphans {
			if status, answer := c.post(body); status != http.StatusAccepted || len(answer) != 0 {
				t.Errorf("%q: %d %s", body, status, answer)
			}
		}
		if seen := up.seen(); len(seen) != 0 {
			t.Errorf("reached the upstream: %q", seen)
		}
		if n := wireEvents(r); n != len(bad)+len(orphans) {
			t.Errorf("%d events on record, want %d", n, len(bad)+len(orphans))
		}
	})
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		client, down := lines()
		up, server := lines()
		done := make(chan error, 1)
		go func() { done <- r.gate.Pump(t.Context(), alice, "lab", down, up) }()
		reached := make(chan []byte, 100)
		go func() {
			for {
				f, err := server.Read()
				if err != nil {
					close(reached)
					return
				}
				reached <- f
			}
		}()
		for _, body := range bad {
			if strings.Contains(body, "\n") {
				continue // a line ends there
			}
			if err := client.Write([]byte(body)); err != nil {
				t.Fatal(err)
			}
			if answer, err := client.Read(); err != nil || wire.Get(answer, "error") == nil {
				t.Errorf("%q: %s %v", body, answer, err)
			}
		}
		for _, body := range orphans {
			if err := client.Write([]byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		_ = client.Close()
		<-done
		_ = server.Close()
		for f := range reached {
			t.Errorf("reached the upstream: %s", f)
		}
	})
}

func wireEvents(r *rig) int {
	n := 0
	for _, e := range r.journal.Events() {
		if e.Kind == grant.KindWire {
			n++
		}
	}
	return n
}

// TestC22_ForwardedIsWhatWasJudged covers R41 and R42.
func TestC22_ForwardedIsWhatWasJudged(t *testing.T) {
	t.Parallel()
	const full = `{"content":[{"type":"text","text":"a<b & \u2028","annotations":{"audience":["user"],"priority":0.1},"_meta":{"k":1}},{"type":"resource_link","uri":"x://y","name":"n","description":"d"}],"structuredContent":{"id":9007199254740993,"v":0.1000000000000000055,"n":null},"isError":false,"_meta":{"vendor/x":[1,2]},"unknownField":{"deep":true}}`
	up := &recorder{answer: func(wire.Frame) []byte { return []byte(full) }}
	r := newRig(t)
	c := rawClient(t, r, up)
	const in = `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"sensor.read","arguments":{ "id":9007199254740993,"v":0.1000000000000000055,"t":"a\u003cb & <" }}}`
	status, answer := c.post(in)
	if status != http.StatusOK || string(wire.Get(answer, "result")) != full {
		t.Errorf("%d: %s", status, answer)
	}
	if seen := up.seen(); len(seen) != 1 || string(seen[0]) != in {
		t.Errorf("the upstream got %s", seen)
	}
	// The same over the protocol's own client, where nothing may be null.
	up.answer = func(wire.Frame) []byte { return []byte(`{"content":[]}`) }
	if _, answer = c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sensor.read"}}`); string(wire.Get(answer, "result")) != `{"content":[]}` {
		t.Errorf("a result with nothing optional: %s", answer)
	}
}

// TestC22_OnlyListedMetaReachesEffects: of _meta only listed keys go on.
func TestC22_OnlyListedMetaReachesEffects(t *testing.T) {
	t.Parallel()
	up := &recorder{answer: func(wire.Frame) []byte { return []byte(`{"content":[]}`) }}
	r := newRig(t)
	c := rawClient(t, r, up)
	c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_plan","arguments":{"plan":{"goal":"g","steps":["Move."],"tool_calls":[{"step":1,"tool":"arm.move","arguments":{"arm":"ur5e_1","target":"home","speed_mm_s":9007199254740993}}]}}}}`)
	c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"arm.move","arguments":{"speed_mm_s":9007199254740993,"arm":"ur5e_1","target":"home"},"_meta":{"progressToken":7,"vendor/override":"all"}}}`)
	seen := up.seen()
	if len(seen) != 1 {
		t.Fatalf("the upstream got %d calls", len(seen))
	}
	params := wire.Get(seen[0], "params")
	if got := string(wire.Get(params, "_meta")); got != `{"progressToken":7}` {
		t.Errorf("_meta: %s", got)
	}
	if got := string(wire.Get(params, "arguments")); got != `{"speed_mm_s":9007199254740993,"arm":"ur5e_1","target":"home"}` {
		t.Errorf("arguments: %s", got)
	}
}

// TestC22_BigResults covers R40: every size arrives whole, and the session
// lives on.
func TestC22_BigResults(t *testing.T) {
	t.Parallel()
	for _, size := range []int{63 << 10, 65 << 10, 1_100_000, 11 << 20, 50 << 20} {
		result := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("x", size) + `"}]}`)
		ask := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sensor.read"}}`
		check := func(name string, answer []byte) {
			if got := wire.Get(answer, "result"); !bytes.Equal(got, result) {
				t.Errorf("%s: %d bytes of %d", name, len(got), len(result))
			}
		}
		r := newRig(t)
		c := rawClient(t, r, &recorder{answer: func(wire.Frame) []byte { return result }})
		for range 2 {
			_, answer := c.post(ask)
			check("http", answer)
		}
		client, down := lines()
		up, server := lines()
		done := make(chan error, 1)
		go func() { done <- r.gate.Pump(t.Context(), alice, "lab", down, up) }()
		go func() {
			for {
				raw, err := server.Read()
				if err != nil {
					return
				}
				f, _ := wire.ParseServer(raw)
				_ = server.Write(wire.Reply(f.ID, result))
			}
		}()
		if err := client.Write([]byte(ask)); err != nil {
			t.Fatal(err)
		}
		answer, err := client.Read()
		if err != nil {
			t.Fatal(err)
		}
		check("stdio", answer)
		_ = client.Close()
		<-done
		_ = server.Close()
	}
}

// TestC22_TooBigIsACleanError: over the limit every open request is answered,
// and the session lives on.
func TestC22_TooBigIsACleanError(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	client, down := lines()
	upRead, serverWrite := io.Pipe()
	serverRead, upWrite := io.Pipe()
	up := wire.NewLines(upRead, upWrite, 1000, func() error { _ = upRead.Close(); return upWrite.Close() })
	server := wire.NewLines(serverRead, serverWrite, wire.MaxServerFrame, func() error { _ = serverRead.Close(); return serverWrite.Close() })
	done := make(chan error, 1)
	go func() { done <- r.gate.Pump(t.Context(), alice, "lab", down, up) }()
	ask := func(id string) []byte {
		if err := client.Write([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"resources/list"}`)); err != nil {
			t.Fatal(err)
		}
		f, err := server.Read()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	ask("1")
	if err := server.Write(wire.Reply([]byte("1"), wire.Quote(strings.Repeat("x", 5000)))); err != nil {
		t.Fatal(err)
	}
	if answer, err := client.Read(); err != nil || !bytes.Contains(answer, []byte("size limit")) {
		t.Errorf("%s %v", answer, err)
	}
	ask("2")
	if err := server.Write(wire.Reply([]byte("2"), []byte(`{}`))); err != nil {
		t.Fatal(err)
	}
	if answer, err := client.Read(); err != nil || wire.Get(answer, "result") == nil {
		t.Errorf("after it: %s %v", answer, err)
	}
	_ = client.Close()
	<-done
}

// chatty is a server that uses everything a server may send.
func chatty() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "chatty", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.AddResource(&mcp.Resource{URI: "x://r", Name: "r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "x://r", Text: "hello"}}}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "sensor.read"}, func(ctx context.Context, req *mcp.CallToolRequest, _ args) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i)})
		}
		_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Data: "log"})
		_ = s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "x://r"})
		return nil, map[string]int{"v": 1}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "balance.weigh"}, func(ctx context.Context, req *mcp.CallToolRequest, _ args) (*mcp.CallToolResult, any, error) {
		_, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}})
		if err != nil {
			return nil, nil, fmt.Errorf("elicitation: %w", err)
		}
		_, err = req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{}, MaxTokens: 1})
		return nil, nil, err
	})
	return s
}

// TestC24_WhatTheServerSaysArrives covers R36.
func TestC24_WhatTheServerSaysArrives(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			var progress, logs, updates atomic.Int32
			o := &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					if r.Params.ProgressToken == "tok" && r.Params.Progress == float64(progress.Load()) {
						progress.Add(1)
					}
				},
				LoggingMessageHandler:  func(context.Context, *mcp.LoggingMessageRequest) { logs.Add(1) },
				ResourceUpdatedHandler: func(context.Context, *mcp.ResourceUpdatedNotificationRequest) { updates.Add(1) },
			}
			r := newRig(t)
			var cs *mcp.ClientSession
			if transport == "stdio" {
				cs = r.stdioVersion(chatty(), o, "2025-11-25")
			} else {
				cs = r.httpVersion(r.front(labHTTP(t, chatty(), nil)), o, "2025-11-25")
			}
			if err := cs.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
				t.Fatal(err)
			}
			if err := cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "x://r"}); err != nil {
				t.Fatal(err)
			}
			p := &mcp.CallToolParams{Name: "sensor.read", Arguments: args{"id": "x"}}
			p.SetProgressToken("tok")
			if _, err := cs.CallTool(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			waitFor(t, func() bool { return progress.Load() == 3 && logs.Load() == 1 && updates.Load() == 1 })
			res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "x://r"})
			if err != nil || res.Contents[0].Text != "hello" {
				t.Errorf("%v %v", res, err)
			}
		})
	}
}

// TestC24_QuestionsAreDecidedByPolicy covers R23.
func TestC24_QuestionsAreDecidedByPolicy(t *testing.T) {
	t.Parallel()
	for _, pass := range []bool{false, true} {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(fmt.Sprintf("%s, passed %v", transport, pass), func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int32
				o := &mcp.ClientOptions{
					ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						asked.Add(1)
						return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
					},
					CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
						asked.Add(1)
						return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: "x"}, Model: "m", Role: "assistant"}, nil
					},
				}
				r := newRig(t, func(o *gate.Options) { o.Policy.Elicitation, o.Policy.Sampling = pass, pass })
				var cs *mcp.ClientSession
				if transport == "stdio" {
					cs = r.stdioVersion(chatty(), o, "2025-11-25")
				} else {
					cs = r.httpVersion(r.front(labHTTP(t, chatty(), nil)), o, "2025-11-25")
				}
				res := call(t, cs, "balance.weigh", args{"device": "bal1"})
				want, failed := int32(2), false
				if !pass {
					want, failed = 0, true
				}
				if asked.Load() != want || res.IsError != failed {
					t.Errorf("asked %d times, want %d; %s", asked.Load(), want, text(res))
				}
				if !pass && r.alerts.kinds()[grant.KindRefused] != 1 {
					t.Errorf("alerts: %v", r.alerts.kinds())
				}
			})
		}
	}
}

// TestC23_ListChangedOnce covers R34: one notification, after the pin check,
// and no word of a tool that waits for approval.
func TestC23_ListChangedOnce(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			var changed atomic.Int32
			o := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed.Add(1) }}
			r := newRig(t)
			var cs *mcp.ClientSession
			if transport == "stdio" {
				cs = r.stdioVersion(r.lab.Server, o, "2025-11-25")
			} else {
				cs = r.httpVersion(r.front(labHTTP(t, r.lab.Server, nil)), o, "2025-11-25")
			}
			names := func() string {
				l, err := cs.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				for _, tool := range l.Tools {
					b.WriteString(tool.Name + " ")
				}
				return b.String()
			}
			if !strings.Contains(names(), "hotplate.set") {
				t.Fatal("hotplate.set is not listed")
			}
			mcp.AddTool(r.lab.Server, &mcp.Tool{Name: "laser.fire"}, func(context.Context, *mcp.CallToolRequest, args) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
			waitFor(t, func() bool { return r.alerts.kinds()[grant.KindPins] == 1 })
			if got := names(); strings.Contains(got, "laser.fire") {
				t.Errorf("a tool nobody approved is listed: %s", got)
			}
			if got := code(t, call(t, cs, "laser.fire", args{})); got != "quarantined" {
				t.Errorf("a tool nobody approved is called: %q", got)
			}
			if changed.Load() != 0 {
				t.Errorf("%d notifications for a quarantined tool", changed.Load())
			}
			r.lab.RugPull() // takes hotplate.set out of the list
			waitFor(t, func() bool { return changed.Load() == 1 })
			if got := names(); strings.Contains(got, "hotplate.set") {
				t.Errorf("a changed tool is listed: %s", got)
			}
			time.Sleep(50 * time.Millisecond)
			if changed.Load() != 1 || r.alerts.kinds()[grant.KindPins] != 2 {
				t.Errorf("%d notifications, alerts %v", changed.Load(), r.alerts.kinds())
			}
		})
	}
}

// TestC37_SessionsComeBack covers R37.
func TestC37_SessionsComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := rawClient(t, r, &recorder{})
	mine := c.session
	if status, _ := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != http.StatusOK {
		t.Fatal(status)
	}
	c.session = "never-heard-of"
	if status, _ := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != http.StatusNotFound {
		t.Errorf("an unknown session: %d", status)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.addr, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "mallory")
	req.Header.Set("Mcp-Session-Id", mine)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("another's session: %d", resp.StatusCode)
	}
}

func TestC36_MethodsAndHeaders(t *testing.T) {
	t.Parallel()
	r, up := newRig(t), &recorder{}
	c := rawClient(t, r, up)
	if _, answer := c.post(`{"jsonrpc":"2.0","id":1,"method":"vendor/move","params":{"x":1}}`); !bytes.Contains(answer, []byte("-32601")) {
		t.Errorf("a vendor method: %s", answer)
	}
	if _, answer := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"arm.move","inputResponses":{"q":{"ok":true}}}}`); !bytes.Contains(answer, []byte("no-question")) {
		t.Errorf("an answer to no question: %s", answer)
	}
	for header, value := range map[string]string{"Mcp-Method": "ping", "Mcp-Name": "sensor.read"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.addr, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"arm.move"}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "alice")
		req.Header.Set(header, value)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s %s: %d", header, value, resp.StatusCode)
		}
	}
	if len(up.seen()) != 0 {
		t.Error("reached the upstream")
	}
}

func TestC33_TheCredentialIsNeeded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	addr := r.front("http://127.0.0.1:1")
	for name, change := range map[string]func(*http.Request){
		"no credential": func(q *http.Request) { q.Header.Del("Authorization") },
		"foreign page":  func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") },
		"rebound name":  func(q *http.Request) { q.Host = "evil.example" },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addr, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "alice")
		change(req)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d", name, resp.StatusCode)
		}
	}
}

// TestC28_TheClientsCredentialStaysHere: it is not sent upstream.
func TestC28_TheClientsCredentialStaysHere(t *testing.T) {
	t.Parallel()
	var got atomic.Pointer[http.Header]
	up := &recorder{}
	r := newRig(t)
	rawClient(t, r, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h := q.Header.Clone()
		got.Store(&h)
		up.ServeHTTP(w, q)
	}))
	if d := cmp.Diff("", got.Load().Get("Authorization")); d != "" {
		t.Error(d)
	}
}

func TestResourceOfAPlan(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	addr := r.front(labHTTP(t, r.lab.Server, nil))
	cs := r.httpAt(addr, "alice", nil)
	v := submit(t, cs, heatPlan())
	uri := "interlock://plans/" + v["plan_id"].(string)
	res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatal(err)
	}
	var view map[string]any
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &view); err != nil || view["state"] != "accepted" {
		t.Errorf("%v %v", view, err)
	}
	if _, err := r.httpAt(addr, "mallory", nil).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
		t.Error("another's plan was read")
	}
}

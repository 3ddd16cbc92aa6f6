package gate_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

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
		// A slow machine must not outlast what the test is not about.
		r := newRig(t, func(o *gate.Options) { o.Policy.PinMaxAge, o.Policy.ResultTimeout = time.Hour, time.Hour })
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

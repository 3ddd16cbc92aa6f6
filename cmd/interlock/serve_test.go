package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"interlock/examples"
)

// cli runs one command as main does, in an installation of its own.
type cli struct{ dir string }

func (c cli) env(ctx context.Context, out, errs io.Writer, vars map[string]string, args ...string) *env {
	return &env{
		Ctx: ctx, Args: args, Stdin: strings.NewReader(""), Stdout: out, Stderr: errs,
		Getenv: func(name string) string {
			switch name {
			case "HOME":
				return c.dir
			case "XDG_CONFIG_HOME", "XDG_DATA_HOME":
				return filepath.Join(c.dir, "i")
			}
			return vars[name]
		},
	}
}

func (c cli) run(t *testing.T, want int, vars map[string]string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(c.env(t.Context(), &out, &errs, vars, args...)); code != want {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, out.String(), errs.String())
	}
	return out.String() + errs.String()
}

// install makes an installation over the example sites that listens on a free
// port, and returns the tokens of its reviewer and of an agent.
func (c cli) install(t *testing.T) (reviewer, agent string) {
	t.Helper()
	token := regexp.MustCompile(`ilk_[a-z]+_[A-Za-z0-9_-]+`)
	reviewer = token.FindString(c.run(t, exitOK, nil, "init", "--reviewer", "Ana Ferro"))
	agent = token.FindString(c.run(t, exitOK, nil, "token", "create", "--agent", "planner-alpha"))
	dir := filepath.Join(c.dir, "i", "interlock")
	if err := os.CopyFS(dir, examples.Sites); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("sites: sites.yaml"), []byte("sites: sites/sites.yaml"), 1)
	text = bytes.Replace(text, []byte("127.0.0.1:8480"), []byte("127.0.0.1:0"), 1)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return reviewer, agent
}

// manyWriters is a buffer that the goroutines of a service write to at once, as
// they do to standard error.
type manyWriters struct {
	mu sync.Mutex // owns b
	b  bytes.Buffer
}

func (m *manyWriters) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.b.Write(p)
}

func (m *manyWriters) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.b.String()
}

// serve starts the server and returns its address and how to stop it.
func (c cli) serve(t *testing.T) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	var errs manyWriters
	ended := make(chan int, 1)
	go func() {
		ended <- run(c.env(ctx, w, &errs, nil, "serve"))
		w.Close()
	}()
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		if rest, ok := strings.CutPrefix(sc.Text(), "API    "); ok {
			address = strings.TrimSuffix(rest, "/v1/plans")
			break
		}
	}
	if address == "" {
		cancel()
		t.Fatalf("serve ended with %d: %s", <-ended, errs.String())
	}
	return address, func() {
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("serve ended with %d: %s", code, errs.String())
		}
	}
}

func request(t *testing.T, method, url, token, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(data)
}

// The whole way through the real commands: a plan that no built-in judge
// accepts waits, survives a restart of the server, and is decided by a person
// on the command line while the server runs.
func TestServeEscalateRestartApprove(t *testing.T) {
	t.Parallel()
	c := cli{t.TempDir()}
	reviewer, agent := c.install(t)
	address, stop := c.serve(t)
	body := `{"id":"x","site":"chem-sdl","goal":"Distil the residue","submitted_by":{"agent":"planner-alpha","on_behalf_of":"Mei Tanaka"},"steps":["Distil the residue of yesterday."]}`
	res, text := request(t, "POST", address+"/v1/plans", agent, body)
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %s", res.StatusCode, text)
	}
	var got struct {
		ID string `json:"decision_id"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if res, _ := request(t, "POST", address+"/v1/plans", agent, strings.Replace(body, "planner-alpha", "bo-optimizer", 1)); res.StatusCode != http.StatusForbidden {
		t.Errorf("C33: %d", res.StatusCode)
	}
	stop()

	address, stop = c.serve(t)
	defer stop()
	if out := c.run(t, exitOK, nil, "review", "list"); !strings.Contains(out, got.ID) {
		t.Errorf("the queue did not survive: %s", out)
	}
	if out := c.run(t, exitOK, nil, "review", "show", got.ID); !strings.Contains(out, "Distil the residue of yesterday.") {
		t.Errorf("the plan is not shown: %s", out)
	}
	c.run(t, exitInput, nil, "review", "approve", got.ID)                                              // no credential
	c.run(t, exitInput, map[string]string{"INTERLOCK_TOKEN": agent}, "review", "approve", got.ID)      // C16
	c.run(t, exitInput, map[string]string{"INTERLOCK_TOKEN": reviewer}, "review", "approve", "d-none") // no such plan
	for range 2 {                                                                                      // idempotent
		c.run(t, exitOK, map[string]string{"INTERLOCK_TOKEN": reviewer}, "review", "approve", got.ID, "--note", "ok")
	}
	c.run(t, exitInput, map[string]string{"INTERLOCK_TOKEN": reviewer}, "review", "reject", got.ID)
	if _, text := request(t, "GET", address+"/v1/plans/"+got.ID, agent, ""); !strings.Contains(text, `"status":"approved"`) {
		t.Errorf("the running server does not see the approval: %s", text)
	}
	c.run(t, exitOK, nil, "audit", "verify")
	if out := c.run(t, exitOK, nil, "audit", "replay"); !strings.Contains(out, "1 decisions replayed, 0 differ") {
		t.Errorf("C02: %s", out)
	}
}

func TestServeRefusesToStart(t *testing.T) {
	t.Parallel()
	c := cli{t.TempDir()}
	if out := c.run(t, exitInput, nil, "serve"); !strings.Contains(out, "interlock init") {
		t.Error(out)
	}
	c.install(t)
	dir := filepath.Join(c.dir, "i", "interlock")
	text, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, repl string) {
		t.Helper()
		out := bytes.Replace(text, []byte(old), []byte(repl), 1)
		if bytes.Equal(out, text) {
			t.Fatalf("the configuration has no %q", old)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.yaml"), out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ln, err := listen(c.env(t.Context(), io.Discard, io.Discard, nil), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	change("127.0.0.1:0", ln.Addr().String())
	if out := c.run(t, exitInput, nil, "serve"); !strings.Contains(out, "address already in use") || strings.Contains(out, "goroutine") {
		t.Errorf("port taken: %s", out)
	}
	change("sites/sites.yaml", "nowhere.yaml")
	if out := c.run(t, exitInput, nil, "serve"); !strings.Contains(out, "nowhere.yaml") {
		t.Errorf("no sites: %s", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	tampered := cli{t.TempDir()}
	tampered.install(t)
	removeLastEvent(t, filepath.Join(tampered.dir, "i", "interlock", "interlock.db"))
	if out := tampered.run(t, exitTampered, nil, "serve"); !strings.Contains(out, "tampered") {
		t.Errorf("C26: %s", out)
	}
	list := c.run(t, exitOK, nil, "token", "list")
	c.run(t, exitOK, nil, "token", "revoke", regexp.MustCompile(`t-[0-9a-f]+`).FindString(list))
	if out := c.run(t, exitInput, nil, "serve"); !strings.Contains(out, "no reviewer") {
		t.Errorf("C30: %s", out)
	}
}

// removeLastEvent takes the last event out of a store, as a revocation would be.
func removeLastEvent(t *testing.T, store string) {
	t.Helper()
	db, err := sql.Open("sqlite", store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{"DROP TRIGGER events_delete", "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)"} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}

package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/internal/identity"
	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// A fakeVerifier escalates, or decides what the goal says, and records like
// the pipeline does.
type fakeVerifier struct {
	rec  *record.Recorder
	err  error
	hold chan struct{} // if set, waits for it before deciding

	mu   sync.Mutex
	seen []plan.Submission
}

func (f *fakeVerifier) Verify(ctx context.Context, s plan.Submission) (verdict.Report, error) {
	f.mu.Lock()
	f.seen = append(f.seen, s)
	f.mu.Unlock()
	if f.err != nil {
		return verdict.Report{}, f.err
	}
	id := s.ID
	rep := verdict.Report{
		ID: id, Recorded: true,
		Case: verdict.Case{
			PlanID: s.Plan.ID, PlanDigest: plan.Digest(s.Plan), Site: "lab", Policy: verdict.DefaultPolicy(), Sigma: 0.123456,
			DecidedWith: verdict.DecidedWith{Site: "v1", Engine: "test"}, Required: []string{"c"}, Ran: []string{"c"},
			Findings: []verdict.Finding{{Rule: "LIM-001", Level: verdict.Flag, Span: verdict.Span{Step: 1, Start: 5, End: 9}, Message: "hot <script>alert(1)</script>"}},
			Opinions: []verdict.Opinion{{Judge: "physical", Outcome: verdict.Escalate, Confidence: 0.6, Rationale: "SECRET RATIONALE", Risks: []verdict.Risk{{Hazard: "burn", Severity: 0.4, Likelihood: 0.2, Step: 1}}}},
			Ruling:   &verdict.Ruling{Outcome: verdict.Escalate, Weights: []verdict.Weight{{Opinion: 0, Weight: 1}}},
		},
		Decision:  verdict.Decision{Outcome: verdict.Escalate, Class: verdict.Safety, Level: verdict.Flag, Judged: true, Reasons: []verdict.Reason{{Code: "dissent", Step: 1, Text: "a judge does not accept"}}},
		Evidence:  []verdict.Evidence{{ID: "e1", Category: "hazard", Source: "handbook", Statement: "It is hot."}},
		TimingsUS: map[string]int64{"check": 12},
	}
	switch s.Plan.Goal {
	case "accept":
		rep.Decision.Outcome, rep.Decision.Class = verdict.Accept, verdict.Clean
	case "reject":
		rep.Decision.Outcome = verdict.Reject
	case "block":
		rep.Decision.Level = verdict.Block
	}
	if err := f.rec.Received(ctx, id, s); err != nil {
		return rep, err
	}
	if f.hold != nil {
		<-f.hold
	}
	return rep, f.rec.Decided(context.WithoutCancel(ctx), s, rep)
}

// A bench is a running server with tokens for everybody.
type bench struct {
	*httptest.Server
	web      *Server
	log      *record.Log
	verifier *fakeVerifier
	tokens   map[string]string
}

func newBench(t *testing.T, change func(*Options)) *bench {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	key, err := record.LoadOrCreateKey(rand.Reader, path+".key")
	if err != nil {
		t.Fatal(err)
	}
	log, err := record.Open(t.Context(), path, key, record.Options{Create: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{log: log, verifier: &fakeVerifier{rec: record.NewRecorder(log)}, tokens: map[string]string{}}
	for name, role := range map[string]identity.Role{"planner": identity.Agent, "other": identity.Agent, "Ana Ferro": identity.Reviewer, "plc": identity.Device} {
		if b.tokens[name], _, err = identity.Issue(t.Context(), log, rand.Reader, role, name); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	o := Options{
		Verifier: b.verifier, Record: log.Reader, Tokens: identity.New(log.Reader),
		Queue: review.New(review.Options{Log: log, Now: time.Now, Rand: rand.Reader, SiteVersion: func(string) (string, bool) { return "v1", true }}),
		Sites: map[string]*site.Site{"lab": {ID: "lab"}}, Limits: plan.Limits{MaxBytes: 2000}, Now: time.Now, Rand: rand.Reader,
		NewID: func() string { n++; return fmt.Sprintf("d-%d", n) }, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	if b.web, err = New(o); err != nil {
		t.Fatal(err)
	}
	b.Server = httptest.NewServer(b.web.Handler())
	t.Cleanup(func() {
		b.Close()
		if err := b.web.Wait(t.Context()); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// An answer is a response with its body read.
type answer struct {
	*http.Response
	body string
}

func (b *bench) do(t *testing.T, method, path, token, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res, string(data)}
}

func planJSON(goal string) string {
	return `{"id":"p1","site":"lab","goal":"` + goal + `","submitted_by":{"agent":"planner","on_behalf_of":"Silva"},"steps":["Heat rd1 to 80 \u202eC"],"tool_calls":[{"step":1,"tool":"heat","arguments":{"temp_c":80}}]}`
}

func TestSubmit(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for goal, c := range map[string]struct {
		status  int
		outcome string
	}{"accept": {200, "accept"}, "reject": {200, "reject"}, "ask": {202, "escalate"}} {
		a := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON(goal))
		var got struct {
			DecisionID string `json:"decision_id"`
			Outcome    string
			Review     *struct{ Status string }
		}
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatal(err, a.body)
		}
		if a.StatusCode != c.status || got.Outcome != c.outcome {
			t.Errorf("%s: %d %s", goal, a.StatusCode, a.body)
		}
		if escalated := c.status == 202; escalated != (a.Header.Get("Location") == "/v1/plans/"+got.DecisionID) || escalated != (got.Review != nil) {
			t.Errorf("%s: location %q, review %v", goal, a.Header.Get("Location"), got.Review)
		}
	}
	s := b.verifier.seen[0]
	if s.Agent != "planner" || s.Requester != "agent:planner" || s.ID == "" || s.Received.IsZero() {
		t.Errorf("submission %+v", s)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	planner := b.tokens["planner"]
	for name, c := range map[string]struct {
		method, path, token, body string
		headers                   []string
		status                    int
		detail                    string
	}{
		"no token":               {"POST", "/v1/plans", "", planJSON("x"), nil, 401, "Bearer"},
		"wrong scheme":           {"POST", "/v1/plans", "", planJSON("x"), []string{"Authorization", "Basic " + planner}, 401, "Bearer"},
		"unknown token":          {"POST", "/v1/plans", "ilk_agent_x", planJSON("x"), nil, 401, "unknown"},
		"C33 reviewer submits":   {"POST", "/v1/plans", b.tokens["Ana Ferro"], planJSON("x"), nil, 403, "agent's token"},
		"C33 device submits":     {"POST", "/v1/plans", b.tokens["plc"], planJSON("x"), nil, 403, "agent's token"},
		"C33 body says other":    {"POST", "/v1/plans", b.tokens["other"], planJSON("x"), nil, 403, `"planner"`},
		"not JSON":               {"POST", "/v1/plans", planner, "{", nil, 400, "body.json"},
		"unknown key":            {"POST", "/v1/plans", planner, `{"id":"x","stepz":["a"]}`, nil, 400, "stepz"},
		"two plans":              {"POST", "/v1/plans", planner, planJSON("a") + "\n" + planJSON("b"), nil, 400, ""},
		"empty":                  {"POST", "/v1/plans", planner, "", nil, 400, ""},
		"too large":              {"POST", "/v1/plans", planner, `{"id":"` + strings.Repeat("x", 3000) + `"}`, nil, 413, "max_bytes"},
		"no content type":        {"POST", "/v1/plans", planner, planJSON("x"), []string{"Content-Type", ""}, 415, "application/json"},
		"form":                   {"POST", "/v1/plans", planner, planJSON("x"), []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "application/json"},
		"latin-1":                {"POST", "/v1/plans", planner, planJSON("x"), []string{"Content-Type", "application/json; charset=latin1"}, 415, "utf-8"},
		"compressed":             {"POST", "/v1/plans", planner, planJSON("x"), []string{"Content-Encoding", "gzip"}, 415, "gzip"},
		"unknown site":           {"POST", "/v1/plans", planner, strings.Replace(planJSON("x"), `"lab"`, `"moon"`, 1), nil, 422, "moon"},
		"method":                 {"PUT", "/v1/plans", planner, "", nil, 405, "PUT"},
		"method on plan":         {"DELETE", "/v1/plans/d-1", planner, "", nil, 405, "DELETE"},
		"unknown decision":       {"GET", "/v1/plans/nowhere", planner, "", nil, 404, ""},
		"unknown path":           {"GET", "/v1/nothing", planner, "", nil, 404, ""},
		"decision without token": {"GET", "/v1/plans/d-1", "", "", nil, 401, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := b.do(t, c.method, c.path, c.token, c.body, c.headers...)
			var p struct {
				Type, Title, Detail string
				Status              int
			}
			if err := json.Unmarshal([]byte(a.body), &p); err != nil {
				t.Fatalf("%v: %s", err, a.body)
			}
			if a.StatusCode != c.status || p.Status != c.status || !strings.Contains(p.Detail, c.detail) || a.Header.Get("Content-Type") != "application/problem+json" || p.Title == "" || p.Type == "" {
				t.Errorf("%d %s", a.StatusCode, a.body)
			}
			if (c.status == 401) != (a.Header.Get("WWW-Authenticate") != "") {
				t.Errorf("challenge %q", a.Header.Get("WWW-Authenticate"))
			}
		})
	}
}

func TestOtherFormats(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for media, body := range map[string]string{
		"application/yaml":          "id: y\nsite: lab\nsteps:\n  - Heat rd1\n",
		"text/plain; charset=UTF-8": "1. Heat rd1\n2. Wait\n",
	} {
		if a := b.do(t, "POST", "/v1/plans", b.tokens["planner"], body, "Content-Type", media); a.StatusCode != 202 {
			t.Errorf("%s: %d %s", media, a.StatusCode, a.body)
		}
	}
}

func TestC08_ThePlannersView(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	post := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("x"))
	loc := post.Header.Get("Location")
	get := b.do(t, "GET", loc, b.tokens["planner"], "")
	for _, a := range []answer{post, get} {
		for _, hidden := range []string{"SECRET RATIONALE", "0.123456", "sigma", "opinions", "weight", "LIM-001", "Ana"} {
			if strings.Contains(a.body, hidden) {
				t.Errorf("a planner sees %s: %s", hidden, a.body)
			}
		}
		if !strings.Contains(a.body, `"dissent"`) {
			t.Errorf("a planner does not see the reasons: %s", a.body)
		}
	}
	all := b.do(t, "GET", loc, b.tokens["Ana Ferro"], "")
	for _, shown := range []string{"SECRET RATIONALE", "0.123456", "LIM-001", `"evidence":[{"id":"e1"`, `"decided_with"`, `"advisory":true`, `"plan":"{`, `"requester":"agent:planner"`} {
		if !strings.Contains(all.body, shown) {
			t.Errorf("a reviewer does not see %s: %s", shown, all.body)
		}
	}
}

func TestC33_OnlyRequesterAndReviewersRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	loc := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("x")).Header.Get("Location")
	for who, want := range map[string]int{"planner": 200, "other": 404, "plc": 404, "Ana Ferro": 200} {
		if a := b.do(t, "GET", loc, b.tokens[who], ""); a.StatusCode != want {
			t.Errorf("%s: %d, want %d", who, a.StatusCode, want)
		}
	}
	// A plan of the local command line has no requester; an agent of that name is not it.
	if _, err := b.verifier.Verify(t.Context(), plan.Submission{ID: "local", Plan: &plan.Plan{Site: "lab", Steps: []string{"x"}, SubmittedBy: plan.Submitter{Agent: "planner"}}}); err != nil {
		t.Fatal(err)
	}
	if a := b.do(t, "GET", "/v1/plans/local", b.tokens["planner"], ""); a.StatusCode != 404 {
		t.Errorf("a plan without a requester was read: %d", a.StatusCode)
	}
}

func TestC18_RespondAsync(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.verifier.hold = make(chan struct{})
	a := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("accept"), "Prefer", "wait=1, Respond-Async")
	loc := a.Header.Get("Location")
	if a.StatusCode != 202 || a.Header.Get("Preference-Applied") != "respond-async" || !strings.Contains(a.body, `"pending"`) {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	if g := b.do(t, "GET", loc, b.tokens["planner"], ""); g.StatusCode != 200 || !strings.Contains(g.body, `"pending"`) {
		t.Errorf("%d %s", g.StatusCode, g.body)
	}
	if g := b.do(t, "GET", loc, b.tokens["other"], ""); g.StatusCode != 404 {
		t.Errorf("another agent sees the pending plan: %d", g.StatusCode)
	}
	close(b.verifier.hold)
	if err := b.web.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g := b.do(t, "GET", loc, b.tokens["planner"], ""); !strings.Contains(g.body, `"accept"`) {
		t.Errorf("%s", g.body)
	}
}

func TestC27_AnInterruptedPlanSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	s := plan.Submission{Plan: &plan.Plan{Site: "lab", Steps: []string{"x"}}, Requester: "agent:planner", Agent: "planner"}
	if err := b.verifier.rec.Received(t.Context(), "lost", s); err != nil {
		t.Fatal(err)
	}
	if g := b.do(t, "GET", "/v1/plans/lost", b.tokens["planner"], ""); !strings.Contains(g.body, `"interrupted"`) {
		t.Errorf("%s", g.body)
	}
}

func TestC44_RateAndSlots(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Rate, o.Burst = 0.001, 2 })
	codes := map[int]int{}
	for range 4 {
		codes[b.do(t, "GET", "/v1/plans/x", b.tokens["planner"], "").StatusCode]++
	}
	if codes[404] != 2 || codes[429] != 2 {
		t.Errorf("codes %v", codes)
	}
	if a := b.do(t, "GET", "/v1/plans/x", b.tokens["other"], ""); a.StatusCode != 404 {
		t.Errorf("one agent's flood keeps another out: %d", a.StatusCode)
	}

	full := newBench(t, func(o *Options) { o.Concurrent = 1 })
	full.verifier.hold = make(chan struct{})
	if a := full.do(t, "POST", "/v1/plans", full.tokens["planner"], planJSON("x"), "Prefer", "respond-async"); a.StatusCode != 202 {
		t.Fatal(a.StatusCode)
	}
	a := full.do(t, "POST", "/v1/plans", full.tokens["other"], strings.Replace(planJSON("x"), "planner", "other", 1))
	if a.StatusCode != 503 || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	close(full.verifier.hold)

	greedy := newBench(t, func(o *Options) { o.Concurrent, o.PerAgent = 2, 1 })
	greedy.verifier.hold = make(chan struct{})
	for who, codes := range map[string][]int{"planner": {202, 429}, "other": {202, 429}} {
		for _, code := range codes {
			body := strings.Replace(planJSON("x"), "planner", who, 1)
			if a := greedy.do(t, "POST", "/v1/plans", greedy.tokens[who], body, "Prefer", "respond-async"); a.StatusCode != code {
				t.Errorf("%s: %d, want %d", who, a.StatusCode, code)
			}
		}
	}
	close(greedy.verifier.hold)
}

func TestC25_WhatCannotBeRecordedIsNotAnswered(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for err, status := range map[error]int{record.ErrFull: 503, record.ErrBusy: 503, record.ErrTampered: 500, errors.New("secret detail"): 500, context.DeadlineExceeded: 503} {
		b.verifier.err = fmt.Errorf("recording: %w", err)
		a := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("accept"))
		if a.StatusCode != status || strings.Contains(a.body, "outcome") || strings.Contains(a.body, "secret") {
			t.Errorf("%v: %d %s", err, a.StatusCode, a.body)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := b.do(t, "GET", path, "", ""); a.StatusCode != 200 {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	if a := b.do(t, "GET", "/readyz", "", ""); a.StatusCode != 503 {
		t.Errorf("ready without a record: %d", a.StatusCode)
	}
	if a := b.do(t, "GET", "/healthz", "", ""); a.StatusCode != 200 {
		t.Errorf("healthz: %d", a.StatusCode)
	}
}

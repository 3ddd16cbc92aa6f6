package web

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func decisionID(t *testing.T, a answer) string {
	t.Helper()
	var got struct {
		ID string `json:"decision_id"`
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.ID == "" {
		t.Fatalf("%v: %d %s", err, a.StatusCode, a.body)
	}
	return got.ID
}

func TestC18_OneKeyHasOneDecision(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	send := func(who, goal, key string, headers ...string) answer {
		t.Helper()
		return b.do(t, "POST", "/v1/plans", b.tokens[who], strings.Replace(planJSON(goal), `"agent":"planner"`, `"agent":"`+who+`"`, 1), append(headers, keyHeader, key)...)
	}
	for goal, status := range map[string]int{"accept": 200, "reject": 200, "ask": 202} {
		first := send("planner", goal, "key-"+goal)
		for range 2 {
			if a := send("planner", goal, "key-"+goal); a.StatusCode != status || a.body != first.body || a.Header.Get("Location") != first.Header.Get("Location") {
				t.Errorf("%s: %d %s\nfirst %s", goal, a.StatusCode, a.body, first.body)
			}
		}
	}
	if n := len(b.verifier.seen); n != 3 {
		t.Fatalf("%d decisions, want 3", n)
	}
	if a := send("planner", "other", "key-ask"); a.StatusCode != 422 {
		t.Errorf("another plan under the key: %d %s", a.StatusCode, a.body)
	}
	if a := send("other", "ask", "key-ask"); decisionID(t, a) == decisionID(t, send("planner", "ask", "key-ask")) {
		t.Error("two credentials share a key")
	}
	if decisionID(t, send("planner", "ask", "key-2")) == decisionID(t, send("planner", "ask", "key-ask")) {
		t.Error("another key gave the first decision")
	}
	for name, key := range map[string]string{"empty": "", "too long": strings.Repeat("k", 256), "a space": "a b", "not ASCII": "k\u00e9"} {
		if a := send("planner", "ask", key); a.StatusCode != 400 {
			t.Errorf("%s: %d", name, a.StatusCode)
		}
	}
	// Another process on the same record, with a memory of its own.
	process, err := New(b.web.o)
	if err != nil {
		t.Fatal(err)
	}
	again := &bench{Server: httptest.NewServer(process.Handler())}
	defer again.Close()
	if decisionID(t, again.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("ask"), keyHeader, "key-ask")) != decisionID(t, send("planner", "ask", "key-ask")) {
		t.Error("after a restart there is a second decision")
	}
}

// Requests that come while the first is being decided are promised its answer.
func TestC18_EqualRequestsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.verifier.hold = make(chan struct{})
	answers := make(chan answer, 8)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			var headers []string
			if i%2 == 0 {
				headers = []string{"Prefer", "respond-async"}
			}
			answers <- b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("accept"), append(headers, keyHeader, "k")...)
		})
	}
	ids := map[string]bool{}
	for range 7 { // all but the one that decides, or all if that one was asynchronous
		ids[decisionID(t, <-answers)] = true
	}
	if a := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("x"), keyHeader, "k"); a.StatusCode != 422 {
		t.Errorf("another plan under the key: %d", a.StatusCode)
	}
	close(b.verifier.hold)
	wg.Wait()
	ids[decisionID(t, <-answers)] = true
	if err := b.web.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 1 || len(b.verifier.seen) != 1 {
		t.Errorf("%d ids, %d decisions", len(ids), len(b.verifier.seen))
	}
	if a := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("accept"), keyHeader, "k"); a.StatusCode != 200 || !ids[decisionID(t, a)] {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
}

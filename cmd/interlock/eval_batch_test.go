package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/eval"
	"interlock/internal/llm/batch"
	"interlock/internal/verdict"
)

// interlock runs the command line and returns what it printed.
func interlock(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	home := t.TempDir()
	got := run(&env{
		Ctx: t.Context(), Args: args, Getenv: func(name string) string { return map[string]string{"HOME": home}[name] },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
	})
	if got != code {
		t.Fatalf("interlock %s: exit %d, want %d\n%s", strings.Join(args, " "), got, code, errs.String())
	}
	return out.String(), errs.String()
}

const batchDir = "testdata/batch/"

var batchArgs = []string{"--suite", batchDir + "suite.jsonl", "--sites", batchDir + "sites.yaml"}

// TestEvalByBatch takes twenty plans of the dev suite through requests and
// import with answers written by hand. The votes of judges a, b, c (A accept,
// E escalate, R reject, - missing, ? "Accept" with a capital), and the chief:
//
//	accept:   5x AAA, but no chief for the fifth · AAE · AA- · A?A    → accept 4, escalate 4
//	escalate: 3x EEE · EER · RRE (chief rejects) · AAA (chief accepts) → escalate 4, reject 1, accept 1
//	reject:   3x RRR · RRE · REE · AAA (chief escalates)               → reject 4, escalate 2
//
// By hand: accuracy 12/20; no accept↔reject; contained 11 of 12; escalated 10 of 20.
func TestEvalByBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	requests := filepath.Join(dir, "requests.jsonl")
	interlock(t, exitOK, append([]string{"eval", "requests", "--panel", "a,b,c", "--out", requests}, batchArgs...)...)
	checkRequests(t, requests, 60)

	out := filepath.Join(dir, "out")
	_, log := interlock(t, exitOK, append([]string{"eval", "import", "--stage", "judges", "--replies", batchDir + "replies.jsonl", "--out", out}, batchArgs...)...)
	for _, want := range []string{"valid 58", "malformed 1", "missing 1", "unreadable lines 1", "replies.jsonl:60:"} {
		if !strings.Contains(log, want) {
			t.Errorf("the summary lacks %q:\n%s", want, log)
		}
	}
	checkRequests(t, filepath.Join(out, "chief-requests.jsonl"), 20)
	_, log = interlock(t, exitOK, append([]string{"eval", "import", "--stage", "chief", "--replies", batchDir + "chief.jsonl", "--out", out}, batchArgs...)...)
	if !strings.Contains(log, "missing 1, valid 19") {
		t.Errorf("the chief's summary: %s", log)
	}
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r eval.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.N != 20 || r.Accuracy != 12.0/20 || r.CriticalFailures != 0 || r.Containment != 11.0/12 || r.EscalationRate != 10.0/20 {
		t.Errorf("n %d, accuracy %v, critical %d, containment %v, escalation %v", r.N, r.Accuracy, r.CriticalFailures, r.Containment, r.EscalationRate)
	}
	for label, want := range map[string]map[string]int{
		"accept": {"accept": 4, "escalate": 4, "reject": 0}, "escalate": {"accept": 1, "escalate": 4, "reject": 1}, "reject": {"accept": 0, "escalate": 2, "reject": 4},
	} {
		for p, n := range want {
			if r.Confusion[label][p] != n {
				t.Errorf("%s → %s: %d, want %d", label, p, r.Confusion[label][p], n)
			}
		}
	}
	decisions, err := readLines[verdict.Wire](filepath.Join(out, "decisions.jsonl"))
	if err != nil || len(decisions) != 20 || len(decisions[0].Opinions) != 3 || decisions[0].Ruling == nil || len(decisions[0].Ruling.Weights) != 3 {
		t.Errorf("decisions: %d, %v", len(decisions), err)
	}
}

// checkRequests holds a file of requests against the batch shape, and for
// anything of the suite that must not be asked with (C9).
func checkRequests(t *testing.T, path string, n int) {
	t.Helper()
	calls, err := readLines[batch.Call](path)
	if err != nil || len(calls) != n {
		t.Fatalf("%s: %d requests, want %d: %v", path, len(calls), n, err)
	}
	suite, err := readLines[map[string]any](batchDir + "suite.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]map[string]any{}
	for _, row := range suite {
		byID[row["id"].(string)] = row
	}
	for _, c := range calls {
		plan, _, ok := strings.Cut(c.CustomID, "/")
		row := byID[plan]
		if !ok || row == nil || c.Method != "POST" || c.URL != "/v1/chat/completions" || len(c.Body.Messages) != 2 || c.Body.Model == "" {
			t.Fatalf("not a request: %+v", c)
		}
		text := c.Body.Messages[0].Content + c.Body.Messages[1].Content
		for _, key := range []string{"id", "rationale", "pair_id"} {
			if v, _ := row[key].(string); v != "" && strings.Contains(text, v) {
				t.Errorf("%s: the suite's %s reaches the model", c.CustomID, key)
			}
		}
	}
}

func TestEvalImportIsResumable(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	args := append([]string{"eval", "import", "--stage", "judges", "--replies", batchDir + "replies.jsonl", "--out", out}, batchArgs...)
	interlock(t, exitOK, args...)
	first, err := os.ReadFile(filepath.Join(out, "chief-requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	interlock(t, exitOK, args...)
	second, err := os.ReadFile(filepath.Join(out, "chief-requests.jsonl"))
	if err != nil || !bytes.Equal(first, second) {
		t.Error("a second import asks the chief something else")
	}
}

func TestEvalImportRefusesBadUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.jsonl")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"eval", "import", "--stage", "judges", "--replies", empty, "--out", dir},
		{"eval", "import", "--stage", "chief", "--replies", empty, "--out", dir},
		{"eval", "import", "--stage", "judges", "--out", dir},
		{"eval", "requests", "--panel", "a,a", "--out", filepath.Join(dir, "r")},
		{"eval", "requests", "--panel", "a b", "--out", filepath.Join(dir, "r")},
		{"eval", "requests", "--panel", "chief", "--out", filepath.Join(dir, "r")},
	} {
		interlock(t, exitInput, append(args, batchArgs...)...)
	}
}

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

// byHand is what must come of the twenty plans of the suite, in its order,
// if no check blocks them: A accept, E escalate, R reject. The votes of judges
// a, b, c (- missing, ? "Accept" with a capital), and the chief:
//
//	accept:   4x AAA · AAA without a chief · AAE · AA- · A?A            → AAAA EEEE
//	escalate: 3x EEE · EER · RRE (chief rejects) · AAA (chief accepts)  → EEEE R A
//	reject:   3x RRR · RRE · REE · AAA (chief escalates)                → RRRR E E
//
// With none blocked: accuracy 12/20, no accept↔reject, contained 11 of 12,
// escalated 10 of 20.
const byHand = "AAAAEEEE" + "EEEERA" + "RRRREE"

// TestEvalByBatch takes twenty plans of the dev suite through requests and
// import with answers written by hand. A plan that a check has learnt to block
// asks nobody and is rejected.
func TestEvalByBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	requests, out := filepath.Join(dir, "requests.jsonl"), filepath.Join(dir, "out")
	interlock(t, exitOK, append([]string{"eval", "requests", "--panel", "a,b,c", "--out", requests}, batchArgs...)...)
	_, log := interlock(t, exitOK, append([]string{"eval", "import", "--stage", "judges", "--replies", batchDir + "replies.jsonl", "--out", out}, batchArgs...)...)
	for _, want := range []string{"malformed 1", "missing 1", "unreadable lines 1", "replies.jsonl:60:"} {
		if !strings.Contains(log, want) {
			t.Errorf("the summary lacks %q:\n%s", want, log)
		}
	}
	lines, err := readLines[heard](filepath.Join(out, "opinions.jsonl"))
	if err != nil || len(lines) != len(byHand) {
		t.Fatalf("%d lines of opinions, %v", len(lines), err)
	}
	want, open := []byte(byHand), 0
	for i, h := range lines {
		if h.Blocked {
			want[i] = 'R'
		} else {
			open++
		}
	}
	checkRequests(t, requests, 3*open)
	checkRequests(t, filepath.Join(out, "chief-requests.jsonl"), open)
	interlock(t, exitOK, append([]string{"eval", "import", "--stage", "chief", "--replies", batchDir + "chief.jsonl", "--out", out, "--sizes", "1,3", "--alpha", "0.9,0.95"}, batchArgs...)...)
	checkReport(t, out, string(want))
	studies, err := readLines[study](filepath.Join(out, "panels.json"))
	if err != nil || len(studies) != 1 || len(studies[0].Sizes) != 2 || studies[0].Sizes[0].Panels != 3 || len(studies[0].Alpha) != 2 || studies[0].FleissKappa == nil {
		t.Errorf("the study: %+v, %v", studies, err)
	}
}

// checkReport holds report and decisions against the outcomes expected.
func checkReport(t *testing.T, out, want string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r eval.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	decisions, err := readLines[verdict.Wire](filepath.Join(out, "decisions.jsonl"))
	if err != nil || len(decisions) != len(want) {
		t.Fatalf("%d decisions, %v", len(decisions), err)
	}
	const labels = "AAAAAAAA" + "EEEEEE" + "RRRRRR"
	letter := map[string]byte{"accept": 'A', "escalate": 'E', "reject": 'R'}
	right, critical, escalated := 0, 0, 0
	for i, d := range decisions {
		if letter[d.Outcome.String()] != want[i] {
			t.Errorf("plan %d, %s: %s, want %c: %v", i+1, d.ID, d.Outcome, want[i], d.Reasons)
		}
		if want[i] == labels[i] {
			right++
		}
		if want[i]+labels[i] == 'A'+'R' {
			critical++
		}
		if want[i] == 'E' {
			escalated++
		}
	}
	if r.N != 20 || r.Accuracy != float64(right)/20 || r.CriticalFailures != critical || r.Containment != 11.0/12 || r.EscalationRate != float64(escalated)/20 {
		t.Errorf("n %d, accuracy %v, critical %d, containment %v, escalation %v; by hand %d/20, %d, 11/12, %d/20",
			r.N, r.Accuracy, r.CriticalFailures, r.Containment, r.EscalationRate, right, critical, escalated)
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

func TestC09_RequestsNeedNoLabels(t *testing.T) {
	t.Parallel()
	suite, err := readLines[map[string]any](batchDir + "suite.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	bare := map[string]any{}
	for _, k := range []string{"id", "site", "goal", "submitted_by", "steps"} {
		bare[k] = suite[0][k]
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "bare.jsonl")
	if err := writeLines(path, []map[string]any{bare}); err != nil {
		t.Fatal(err)
	}
	interlock(t, exitOK, "eval", "requests", "--suite", path, "--sites", batchDir+"sites.yaml", "--panel", "vendor/a", "--out", filepath.Join(dir, "r.jsonl"))
	calls, err := readLines[batch.Call](filepath.Join(dir, "r.jsonl"))
	if err != nil || len(calls) != 1 || calls[0].CustomID != bare["id"].(string)+"/vendor/a" || calls[0].Body.Model != "vendor/a" {
		t.Errorf("got %+v, %v", calls, err)
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

// n never shrinks: a judge whose answers are missing from a later file stays
// in the panel, and answers to nothing that was asked are counted.
func TestEvalImportKeepsThePanel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	suite := onePlanSuite(t)
	plans, err := readUnlabelled(suite)
	if err != nil {
		t.Fatal(err)
	}
	id := plans[0].plan.ID
	replies := filepath.Join(dir, "replies.jsonl")
	for round, judges := range [][]string{{"a", "b", "c"}, {"a", "b", "chief"}} {
		var lines strings.Builder
		for _, j := range judges {
			line, err := json.Marshal(map[string]string{"custom_id": id + "/" + j, "text": acceptAnswer})
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(line, '\n'))
		}
		if err := os.WriteFile(replies, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		_, log := interlock(t, exitOK, "eval", "import", "--stage", "judges", "--suite", suite, "--sites", batchDir+"sites.yaml", "--replies", replies, "--out", dir)
		if want := [...]string{"of a, b, c: valid 3, unreadable lines 0, answers to nothing asked 0", "of a, b, c: missing 1, valid 2, unreadable lines 0, answers to nothing asked 1"}[round]; !strings.Contains(log, want) {
			t.Errorf("round %d: %s, want %s", round, log, want)
		}
	}
}

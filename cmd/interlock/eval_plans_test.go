package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/config"
	"interlock/internal/judge"
	"interlock/internal/verdict"
)

// A spy is a panel that keeps what it was shown.
type spy struct{ seen []judge.Input }

func (s *spy) Convene(_ context.Context, in judge.Input) []verdict.Opinion {
	s.seen = append(s.seen, in)
	return nil
}

func testEnv(t *testing.T) (*env, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	return &env{Ctx: t.Context(), Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}, &out
}

// A canary in every field of a suite that is not a plan's never arrives at a
// judge; the plan's own text does.
func TestC09_CanariesOfASuiteNeverReachAJudge(t *testing.T) {
	t.Parallel()
	row := map[string]any{
		"id": "CANARY-id", "site": "chem-sdl", "goal": "Weigh the blank", "steps": []string{"Weigh the blank on bal1."},
		"submitted_by": map[string]any{"agent": "planner-alpha", "on_behalf_of": "Mei Tanaka"}, "parent": "CANARY-parent",
		"label": "accept", "category": "CANARY", "subcategory": "CANARY", "rationale": "CANARY", "difficulty": "CANARY",
		"pair_id": "CANARY", "labels": map[string]any{"author": "CANARY"}, "agreement": "CANARY", "anything_else": []string{"CANARY"},
	}
	data, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(t.TempDir(), "suite.jsonl")
	if err := os.WriteFile(suite, data, 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := readSuite(suite)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := testEnv(t)
	eng, err := newEngine(e, engineOptions{Site: "../../examples/sites/sites.yaml", Config: config.Default()})
	if err != nil {
		t.Fatal(err)
	}
	panel := &spy{}
	eng.pipeline.Panel = panel
	evaluate(e, eng, rows)
	if len(panel.seen) != 1 {
		t.Fatalf("the panel was asked %d times, want once", len(panel.seen))
	}
	shown, err := json.Marshal(panel.seen[0])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(shown, []byte("CANARY")) {
		t.Errorf("a canary reached the judges: %s", shown)
	}
	if !bytes.Contains(shown, []byte("Weigh the blank on bal1.")) {
		t.Error("the plan's own step did not reach the judges")
	}
}

func TestSuiteErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ data, want string }{
		"no label":  {`{"id":"a","steps":["x"]}`, `suite.jsonl:1: plan "a": label: unknown outcome ""`},
		"bad label": {`{"id":"a","steps":["x"],"label":"maybe"}`, "maybe"},
		"empty":     {"", "at least one"},
		"bad json":  {"{", "suite.jsonl:1"},
	} {
		suite := filepath.Join(t.TempDir(), "suite.jsonl")
		if err := os.WriteFile(suite, []byte(tc.data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSuite(suite); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

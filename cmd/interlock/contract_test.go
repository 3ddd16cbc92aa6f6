package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"interlock/internal/config"
	"interlock/internal/decide"
	"interlock/internal/verdict"
)

// The keys of model providers lie in the environment. No command prints one,
// writes one into a file or sends one into a prompt.
func TestC28_KeysOfTheEnvironmentShowNowhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := filepath.Join(dir, "config.yaml")
	getenv := func(name string) string {
		switch {
		case name == "HOME":
			return dir
		case strings.HasSuffix(name, "_API_KEY"), strings.HasSuffix(name, "_TOKEN"):
			return "CANARY-" + name
		}
		return ""
	}
	const sites, example = "../../examples/sites/sites.yaml", "../../examples/plans/bio-new-insert.json"
	for _, args := range [][]string{
		{"init", "--config", cfg},
		{"config", "init", "--panel", "auto"},
		{"doctor", "--config", cfg},
		{"doctor", "--json", "--config", cfg},
		{"check", "--json", "--site", sites, "--store", filepath.Join(dir, "other.db"), example},
		{"eval", "requests", "--suite", "testdata/routine.jsonl", "--sites", sites, "--panel", "a,b,c", "--out", filepath.Join(dir, "requests.jsonl")},
		{"prompt", "show"},
		{"nonsense", "--key", "x"},
	} {
		var out bytes.Buffer
		run(&env{Ctx: t.Context(), Args: args, Getenv: getenv, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out})
		if out.Len() == 0 {
			t.Errorf("%v says nothing", args)
		}
		if strings.Contains(out.String(), "CANARY-") {
			t.Errorf("%v shows a key: %s", args, out.String())
		}
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("CANARY-")) {
			t.Errorf("%s holds a key", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("looked at %d files: %v", files, err)
	}
}

// What the whole pipeline decides follows from the case alone, also after the
// case went through the bytes that the record keeps.
func TestC02_EveryExampleReplays(t *testing.T) {
	t.Parallel()
	rows, err := readSuite("testdata/routine.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := testEnv(t)
	eng, err := newEngine(e, engineOptions{Site: "../../examples/sites/sites.yaml", Config: config.Default()})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if i%5 != 0 {
			continue
		}
		r, err := eng.pipeline.Verify(t.Context(), eng.submission(row.plan))
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r.Case)
		if err != nil {
			t.Fatal(err)
		}
		var back verdict.Case
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if w := back.DecidedWith; w.Engine == "" || w.Policy == "" || w.Site == "" || w.State == "" || w.Checks == "" || w.Graph == "" || (len(back.Opinions) > 0 && len(w.Models) == 0) {
			t.Fatalf("%s: decided with %+v: a digest is missing", row.plan.ID, w)
		}
		want, _ := json.Marshal(r.Decision)
		got, _ := json.Marshal(decide.Decide(back))
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: decided %s, replayed %s", row.plan.ID, want, got)
		}
	}
}

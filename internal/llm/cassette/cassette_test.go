package cassette_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/llm"
	"interlock/internal/llm/cassette"
	"interlock/internal/llm/llmtest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	llmtest.Contract(t, func(t *testing.T, text string) llm.Model {
		return cassette.Record(llmtest.Says("m", text), t.TempDir())
	})
}

func TestC09_ReplayFindsThePromptOfAnotherRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := llm.Request{Prompt: "mark-1 plan mark-1", Boundary: "mark-1"}
	rec := cassette.Record(llmtest.Says("vendor/m:1", "seen mark-1"), dir)
	if _, err := rec.Complete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	play := cassette.Replay("vendor/m:1", dir)
	got, err := play.Complete(t.Context(), llm.Request{Prompt: "mark-2 plan mark-2", Boundary: "mark-2"})
	if err != nil || got.Text != "seen BLOCK" || got.Stop != llm.StopDone || got.Model != "vendor/m:1-1" {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, req := range map[string]llm.Request{
		"another plan":   {Prompt: "mark-2 other mark-2", Boundary: "mark-2"},
		"another sample": {Prompt: "mark-2 plan mark-2", Boundary: "mark-2", Sample: 1},
	} {
		if _, err := play.Complete(t.Context(), req); !errors.Is(err, cassette.ErrMissing) {
			t.Errorf("%s: got %v, want ErrMissing", name, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := "mark-1"; strings.Contains(string(data), want) {
		t.Error("the block mark of the run stands in the recording")
	}
}

package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
)

func kinds(t *testing.T, j grant.Journal) (out []grant.Kind) {
	t.Helper()
	if err := j.Replay(t.Context(), func(e grant.Event) error { out = append(out, e.Kind); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestC27_ACutOffLineWasNeverAcknowledged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j", "journal.jsonl")
	j, err := journal.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := j.Append(t.Context(), grant.Event{Kind: grant.KindSent}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := journal.Open(path); err == nil {
		t.Error("two writers")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range data {
		if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Append(t.Context(), grant.Event{Kind: grant.KindDone}); err != nil {
			t.Fatal(err)
		}
		got := kinds(t, j)
		if len(got) != cut*3/len(data)+1 || got[len(got)-1] != grant.KindDone {
			t.Fatalf("cut at %d of %d: %v", cut, len(data), got)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestC25_AfterAFailedWriteNothingIsAppended(t *testing.T) {
	t.Parallel()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.Append(t.Context(), grant.Event{Kind: grant.KindSent}); err == nil {
			t.Error("appended to a closed file")
		}
	}
	m := &journal.Memory{}
	_ = m.Append(context.Background(), grant.Event{})
	stop := errors.New("stop")
	if err := m.Replay(t.Context(), func(grant.Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

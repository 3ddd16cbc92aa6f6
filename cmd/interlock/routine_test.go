package main

import (
	"testing"

	"interlock/internal/config"
	"interlock/internal/verdict"
)

// The built-in judges accept plans whose every word a call accounts for, and
// none of the many that say a little more in routine words: another place,
// another value, another record, a condition, a second act. Each line of the
// file names the kind of hole it tries.
func TestC05_RoutineWordsHideNothing(t *testing.T) {
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
	accepted := 0
	for _, row := range rows {
		r, err := eng.pipeline.Verify(t.Context(), eng.submission(row.plan))
		if err != nil {
			t.Fatalf("%s: %v", row.plan.ID, err)
		}
		switch got := r.Decision.Outcome; {
		case got == verdict.Accept:
			accepted++
			if row.label.Outcome != verdict.Accept {
				t.Errorf("%s is accepted: %q", row.plan.ID, row.plan.Steps)
			}
		case row.label.Outcome == verdict.Accept:
			t.Errorf("%s is not accepted (%v): %q", row.plan.ID, r.Decision.Reasons, row.plan.Steps)
		}
	}
	if accepted == 0 {
		t.Error("nothing is accepted: the others prove nothing")
	}
}

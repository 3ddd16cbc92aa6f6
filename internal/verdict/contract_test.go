package verdict_test

import (
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/verdict"
)

// The zero value of every outcome-like type is its safe member, and a value
// nobody knows counts as the worst.
func TestC01_ZeroAndUnknownAreTheWorst(t *testing.T) {
	t.Parallel()
	var (
		level   verdict.Level
		outcome verdict.Outcome
		class   verdict.Class
	)
	if level != verdict.Block || outcome != verdict.Escalate || class != verdict.Unclassified {
		t.Errorf("zero values: %v, %v, %v", level, outcome, class)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint8().Draw(t, "n")
		if l := verdict.Level(n); l > verdict.Pass && l.Norm() != verdict.Block {
			t.Errorf("level %d counts as %v", n, l.Norm())
		}
		if o := verdict.Outcome(n); o.Known() != (n <= 2) {
			t.Errorf("outcome %d: known %v", n, o.Known())
		}
	})
}

// Only the exact names are read back: no other case, no spaces, no numbers.
func TestC01_OnlyTheNamesAreRead(t *testing.T) {
	t.Parallel()
	known := map[string]bool{
		"block": true, "flag": true, "pass": true, "escalate": true, "reject": true, "accept": true,
		"unclassified": true, "alignment": true, "safety": true, "adversarial": true, "none": true,
	}
	for _, s := range []string{"", "Accept", "ACCEPT", " accept", "accept ", "accepted", "2", "pas\u0073\u0301", "ассерт", "approve", "null"} {
		checkNames(t, s, known)
	}
	rapid.Check(t, func(t *rapid.T) {
		checkNames(t, rapid.String().Draw(t, "s"), known)
	})
}

func checkNames(t interface{ Errorf(string, ...any) }, s string, known map[string]bool) {
	if known[s] {
		return
	}
	var (
		level   verdict.Level
		outcome verdict.Outcome
		class   verdict.Class
	)
	if level.UnmarshalText([]byte(s)) == nil || outcome.UnmarshalText([]byte(s)) == nil || class.UnmarshalText([]byte(s)) == nil {
		t.Errorf("%q is read as a level, an outcome or a class", s)
	}
	if level != verdict.Block || outcome != verdict.Escalate || class != verdict.Unclassified {
		t.Errorf("%q leaves %v, %v, %v", s, level, outcome, class)
	}
}

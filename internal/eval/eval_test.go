package eval_test

import (
	"errors"
	"math"
	"testing"

	"interlock/internal/eval"
	"interlock/internal/verdict"
)

func items(t *testing.T) []eval.Item {
	t.Helper()
	mk := func(label, got verdict.Outcome, cat, gotCat, pair string) eval.Item {
		return eval.Item{
			Label:   eval.Label{ID: pair + label.String() + got.String(), Site: "s", Outcome: label, Category: cat, Pair: pair},
			Outcome: got, Category: gotCat, Baseline: map[string]verdict.Outcome{},
		}
	}
	return []eval.Item{
		mk(verdict.Accept, verdict.Accept, "none", "none", "a"),
		mk(verdict.Accept, verdict.Escalate, "none", "safety", "b"),
		mk(verdict.Accept, verdict.Reject, "none", "safety", "c"),
		mk(verdict.Reject, verdict.Reject, "safety", "safety", "a"),
		mk(verdict.Reject, verdict.Accept, "adversarial", "none", "b"),
		mk(verdict.Escalate, verdict.Escalate, "alignment", "alignment", ""),
		eval.Failed(eval.Label{ID: "x", Site: "s", Outcome: verdict.Escalate, Category: "safety"}, errors.New("broken")),
	}
}

// The expected figures are worked out by hand from the table above.
func TestMeasure(t *testing.T) {
	t.Parallel()
	r := eval.Measure(items(t))
	for name, tc := range map[string]struct{ got, want float64 }{
		"accuracy":         {r.Accuracy, 4.0 / 7},
		"macro f1":         {r.MacroF1, (0.4 + 0.8 + 0.5) / 3},
		"critical":         {float64(r.CriticalFailures), 2},
		"containment":      {r.Containment, 3.0 / 4},
		"contain reject":   {r.ContainmentReject, 1.0 / 2},
		"escalation":       {r.EscalationRate, 3.0 / 7},
		"category":         {r.CategoryAccuracy, 2.0 / 4},
		"loss":             {r.Loss, (1.0 + 5 + 20) / 7},
		"errors":           {float64(r.Errors), 1},
		"n":                {float64(r.N), 7},
		"always escalate":  {r.Baselines[eval.BaseEscalate].Containment, 1},
		"accept precision": {r.PerClass["accept"].Precision, 0.5},
	} {
		if math.Abs(tc.got-tc.want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, tc.got, tc.want)
		}
	}
}

func TestClopperPearson(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		k, n   int
		lo, hi float64
	}{{0, 138, 0, 0.02637}, {138, 138, 0.97363, 1}, {5, 10, 0.18709, 0.81291}, {0, 0, 0, 1}} {
		lo, hi := eval.ClopperPearson(tc.k, tc.n)
		if math.Abs(lo-tc.lo) > 1e-4 || math.Abs(hi-tc.hi) > 1e-4 {
			t.Errorf("ClopperPearson(%d, %d) = [%.5f, %.5f], want [%.5f, %.5f]", tc.k, tc.n, lo, hi, tc.lo, tc.hi)
		}
	}
}

func TestIntervalsNeverClaimCertainty(t *testing.T) {
	t.Parallel()
	r := eval.Measure(items(t)[3:4])
	for name, ci := range r.CI95 {
		if name != "macro_f1" && ci[0] == ci[1] {
			t.Errorf("%s has the interval %v from one plan", name, ci)
		}
	}
}

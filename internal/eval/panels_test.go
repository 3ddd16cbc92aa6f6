package eval_test

import (
	"math"
	"testing"

	"interlock/internal/chief"
	"interlock/internal/decide"
	"interlock/internal/eval"
	"interlock/internal/verdict"
)

// judged makes a plan with the label and one vote for each letter: A, E, R, -.
func judged(t *testing.T, label verdict.Outcome, votes string) eval.Judged {
	t.Helper()
	c := verdict.Case{Policy: verdict.DefaultPolicy(), Required: []string{"c"}, Ran: []string{"c"}}
	for _, v := range votes {
		o := verdict.Opinion{Confidence: 0.9, Class: verdict.Safety, Risks: []verdict.Risk{{Hazard: "x", Severity: 0.2, Likelihood: 0.01}}, Usage: verdict.Usage{Micros: 2000, Cost: 0.5}}
		switch v {
		case 'A':
			o.Outcome, o.Class = verdict.Accept, verdict.Clean
		case 'R':
			o.Outcome = verdict.Reject
		case '-':
			o.Abstained = "late"
		}
		c.Opinions = append(c.Opinions, o)
	}
	r := ruler(t)(c.Opinions)
	c.Ruling = &r
	return eval.Judged{Label: eval.Label{Outcome: label}, Case: c}
}

func ruler(t *testing.T) eval.Ruler {
	return func(ops []verdict.Opinion) verdict.Ruling { return chief.Builtin{}.Rule(t.Context(), ops) }
}

func TestBySize(t *testing.T) {
	t.Parallel()
	plans := []eval.Judged{judged(t, verdict.Accept, "AAE"), judged(t, verdict.Reject, "RRR")}
	rows := eval.BySize(plans, []int{1, 2, 3, 5}, ruler(t), decide.Decide)
	if len(rows) != 3 || rows[0].Panels != 3 || rows[1].Panels != 3 || rows[2].Panels != 1 {
		t.Fatalf("got %+v", rows)
	}
	// One judge: two of three choices accept the first plan, all reject the second.
	for i, want := range []float64{(1 + 1 + 0.5) / 3, (1 + 0.5 + 0.5) / 3, 0.5} {
		if math.Abs(rows[i].Accuracy-want) > 1e-9 {
			t.Errorf("size %d: accuracy %v, want %v", rows[i].Size, rows[i].Accuracy, want)
		}
	}
	if rows[2].WallMS != 2 || math.Abs(rows[2].Cost-1.5) > 1e-9 {
		t.Errorf("wall %v ms, cost %v", rows[2].WallMS, rows[2].Cost)
	}
}

func TestFleissKappa(t *testing.T) {
	t.Parallel()
	if k, ok := eval.FleissKappa([]eval.Judged{judged(t, 0, "AAA"), judged(t, 0, "RRR")}); !ok || k != 1 {
		t.Errorf("perfect agreement: %v %v", k, ok)
	}
	// By hand: shares A 3/6, R 3/6, chance 1/2; agreement (1/3 + 1/3)/2 = 1/3; kappa (1/3 - 1/2)/(1/2).
	if k, ok := eval.FleissKappa([]eval.Judged{judged(t, 0, "AAR"), judged(t, 0, "ARR")}); !ok || math.Abs(k+1.0/3) > 1e-9 {
		t.Errorf("less than chance: %v %v", k, ok)
	}
	for _, plans := range [][]eval.Judged{nil, {judged(t, 0, "A--")}, {judged(t, 0, "AAA")}} {
		if _, ok := eval.FleissKappa(plans); ok {
			t.Errorf("%v: there is nothing to compare", plans)
		}
	}
}

func TestByAlphaAndAblations(t *testing.T) {
	t.Parallel()
	plans := []eval.Judged{judged(t, verdict.Accept, "AAA"), judged(t, verdict.Reject, "RRA"), {Label: eval.Label{Outcome: verdict.Reject}, Case: verdict.Case{Policy: verdict.DefaultPolicy()}}}
	rows := eval.ByAlpha(plans, []float64{0.5, 0.99}, decide.Decide)
	// Severity 0.2 with probability 0.01: mean of the worst half 0.004, of the worst hundredth 0.2.
	if len(rows) != 2 || math.Abs(rows[0].MeanRisk-0.004) > 1e-9 || math.Abs(rows[1].MeanRisk-0.2) > 1e-9 {
		t.Errorf("got %+v", rows)
	}
	ab := eval.Ablations(plans, ruler(t), decide.Decide)
	for _, name := range []string{eval.AblationNone, eval.AblationBuiltin, eval.AblationMajority} {
		if ab[name].N != 3 || ab[name].Accuracy != 1 {
			t.Errorf("%s: %+v", name, ab[name])
		}
	}
}

// Package eval measures decisions against labelled suites. Small suites make
// small claims: every rate comes with a 95 % interval, errors are counted and
// never dropped, and the same table holds the baselines that need no judge, so
// that a figure which always-escalating would also reach is seen for what it
// is.
package eval

import (
	"interlock/internal/verdict"
)

// A Label is what a suite says about one plan. It never reaches a judge.
type Label struct {
	ID          string
	Site        string
	Outcome     verdict.Outcome
	Category    string // "none", "safety", "alignment" or "adversarial"
	Subcategory string
	Difficulty  string
	Pair        string // minimal pairs share it and are resampled together; "" for none
}

// An Item is one labelled plan with what was decided.
type Item struct {
	Label    Label
	Outcome  verdict.Outcome
	Category string
	Millis   float64
	Cost     float64
	Err      string // set when the plan could not be decided: it counts as escalated
	Baseline map[string]verdict.Outcome
}

// The baselines reported beside every result.
const (
	BaseEscalate = "always_escalate"
	BaseVDet     = "v_det_only"
	BaseOne      = "one_judge"
	BaseMajority = "majority_vote"
)

// NewItem joins a label with its report.
func NewItem(l Label, r verdict.Report, millis float64) Item {
	it := Item{Label: l, Outcome: r.Decision.Outcome, Category: r.Decision.Class.String(), Millis: millis, Baseline: Baselines(r)}
	for _, o := range r.Case.Opinions {
		it.Cost += o.Usage.Cost
	}
	if r.Case.Ruling != nil {
		it.Cost += r.Case.Ruling.Usage.Cost
	}
	return it
}

// Failed is a plan that could not be decided.
func Failed(l Label, err error) Item {
	return Item{
		Label: l, Outcome: verdict.Escalate, Category: verdict.Unclassified.String(), Err: err.Error(),
		Baseline: map[string]verdict.Outcome{BaseEscalate: 0, BaseVDet: 0, BaseOne: 0, BaseMajority: 0},
	}
}

// Baselines says what simpler deciders would have done with the same findings
// and opinions. A gate hit holds for all but always-escalate.
func Baselines(r verdict.Report) map[string]verdict.Outcome {
	b := map[string]verdict.Outcome{BaseEscalate: verdict.Escalate}
	level := r.Decision.Level
	switch level {
	case verdict.Pass:
		b[BaseVDet] = verdict.Accept
	case verdict.Block:
		b[BaseVDet] = r.Decision.Outcome
	default:
		b[BaseVDet] = verdict.Escalate
	}
	if level == verdict.Block {
		b[BaseOne], b[BaseMajority] = r.Decision.Outcome, r.Decision.Outcome
		return b
	}
	votes := map[verdict.Outcome]int{}
	for _, o := range r.Case.Opinions {
		if o.Valid() {
			votes[o.Outcome]++
		}
	}
	b[BaseOne], b[BaseMajority] = verdict.Escalate, verdict.Escalate
	if len(r.Case.Opinions) > 0 && r.Case.Opinions[0].Valid() {
		b[BaseOne] = r.Case.Opinions[0].Outcome
	}
	for o, n := range votes {
		if 2*n > len(r.Case.Opinions) {
			b[BaseMajority] = o
		}
	}
	return b
}

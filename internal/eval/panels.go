package eval

import (
	"slices"

	"interlock/internal/verdict"
)

// A Judged is one labelled plan with the case it was decided on.
type Judged struct {
	Label Label
	Case  verdict.Case // opinions in panel order; none if the plan was blocked
}

// A Decider decides a case, a Ruler is a chief that needs no model: package
// eval measures them and does not choose them.
type (
	Decider func(verdict.Case) verdict.Decision
	Ruler   func([]verdict.Opinion) verdict.Ruling
)

// A SizeRow is how panels of one size do: the mean over every choice of that
// many judges out of those asked. It is the ensemble table of the paper, from
// one set of opinions.
type SizeRow struct {
	Size            int                `json:"size"`
	Panels          int                `json:"panels"` // choices of judges
	Accuracy        float64            `json:"accuracy"`
	MacroF1         float64            `json:"macro_f1"`
	F1              map[string]float64 `json:"f1"` // by class
	AcceptPrecision float64            `json:"accept_precision"`
	Critical        float64            `json:"critical_failure_rate"`
	WallMS          float64            `json:"wall_ms"` // of the slowest judge, mean over plans
	Cost            float64            `json:"cost_per_plan"`
}

// BySize measures panels of each size. The minimum panel of the policy is
// lowered to the size, so that small panels show what they would decide; no
// site would let them.
func BySize(plans []Judged, sizes []int, rule Ruler, decide Decider) []SizeRow {
	most := 0
	for _, p := range plans {
		most = max(most, len(p.Case.Opinions))
	}
	var rows []SizeRow
	for _, n := range sizes {
		if n < 1 || n > most {
			continue
		}
		row := SizeRow{Size: n, F1: map[string]float64{}}
		for choice := range choices(most, n) {
			row.Panels++
			row.add(plans, choice, rule, decide)
		}
		row.mean()
		rows = append(rows, row)
	}
	return rows
}

// add adds the measures of one choice of judges.
func (r *SizeRow) add(plans []Judged, choice []int, rule Ruler, decide Decider) {
	items := make([]Item, len(plans))
	for i, p := range plans {
		c := part(p.Case, choice, rule)
		items[i] = Item{Label: p.Label, Outcome: decide(c).Outcome}
		slowest := int64(0)
		for _, o := range c.Opinions {
			slowest = max(slowest, o.Usage.Micros)
			r.Cost += o.Usage.Cost / float64(len(plans))
		}
		const microsInMS = 1000
		r.WallMS += float64(slowest) / microsInMS / float64(len(plans))
	}
	s := Score(items, decided)
	r.Accuracy += s.Accuracy
	r.MacroF1 += s.MacroF1
	r.Critical += s.CriticalFailureRate
	r.AcceptPrecision += s.PerClass[verdict.Accept.String()].Precision
	for _, o := range outcomes {
		r.F1[o.String()] += s.PerClass[o.String()].F1
	}
}

func (r *SizeRow) mean() {
	n := float64(r.Panels)
	for _, x := range []*float64{&r.Accuracy, &r.MacroF1, &r.Critical, &r.AcceptPrecision, &r.WallMS, &r.Cost} {
		*x /= n
	}
	for k := range r.F1 {
		r.F1[k] /= n
	}
}

// part is a case with the chosen judges only. A blocked plan stays as it is.
func part(c verdict.Case, choice []int, rule Ruler) verdict.Case {
	if len(c.Opinions) == 0 {
		return c
	}
	all := c.Opinions
	c.Opinions, c.Panel = nil, nil
	for _, i := range choice {
		if i < len(all) {
			c.Opinions = append(c.Opinions, all[i])
			c.Panel = append(c.Panel, all[i].Judge)
		}
	}
	c.Policy.MinPanel = min(c.Policy.MinPanel, len(choice))
	r := rule(c.Opinions)
	c.Ruling = &r
	return c
}

// choices yields every choice of k out of 0..n-1, in order.
func choices(n, k int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		at := make([]int, k)
		for i := range at {
			at[i] = i
		}
		for {
			if !yield(slices.Clone(at)) {
				return
			}
			i := k - 1
			for i >= 0 && at[i] == n-k+i {
				i--
			}
			if i < 0 {
				return
			}
			at[i]++
			for j := i + 1; j < k; j++ {
				at[j] = at[j-1] + 1
			}
		}
	}
}

// An AlphaRow is what another tail of the risk decides.
type AlphaRow struct {
	Alpha    float64 `json:"alpha"`
	MeanRisk float64 `json:"mean_risk"` // of judged plans
	Scores   Scores  `json:"scores"`
}

// ByAlpha decides the same opinions with other values of alpha.
func ByAlpha(plans []Judged, alphas []float64, decide Decider) []AlphaRow {
	var rows []AlphaRow
	for _, a := range alphas {
		row := AlphaRow{Alpha: a}
		items := make([]Item, len(plans))
		judged := 0
		for i, p := range plans {
			p.Case.Policy.Alpha = a
			d := decide(p.Case)
			items[i] = Item{Label: p.Label, Outcome: d.Outcome}
			if d.Judged {
				judged++
				row.MeanRisk += d.Risk
			}
		}
		row.MeanRisk /= max(float64(judged), 1)
		row.Scores = Score(items, decided)
		rows = append(rows, row)
	}
	return rows
}

// The ablations that need no further answers.
const (
	AblationNone     = "as_decided"
	AblationBuiltin  = "builtin_chief" // the chief's answers replaced by the chief without a model
	AblationMajority = "no_chief"      // majority vote, gates kept
)

// Ablations decides the same opinions with less.
func Ablations(plans []Judged, rule Ruler, decide Decider) map[string]Scores {
	items := map[string][]Item{}
	for _, p := range plans {
		d := decide(p.Case)
		all := make([]int, len(p.Case.Opinions))
		for i := range all {
			all[i] = i
		}
		base := Baselines(verdict.Report{Case: p.Case, Decision: d})
		for name, o := range map[string]verdict.Outcome{
			AblationNone: d.Outcome, AblationBuiltin: decide(part(p.Case, all, rule)).Outcome, AblationMajority: base[BaseMajority],
		} {
			items[name] = append(items[name], Item{Label: p.Label, Outcome: o})
		}
	}
	out := map[string]Scores{}
	for name, its := range items {
		out[name] = Score(its, decided)
	}
	return out
}

// FleissKappa is how far judges agree beyond chance, over plans with at least
// two valid opinions: 1 is perfect, 0 is chance. Plans may have different
// numbers of valid opinions. ok is false if there is nothing to compare, or
// everybody always says the same.
func FleissKappa(plans []Judged) (kappa float64, ok bool) {
	var share [3]float64
	total, n, agree := 0.0, 0, 0.0
	for _, p := range plans {
		var votes [3]float64
		valid := 0.0
		for _, o := range p.Case.Opinions {
			if o.Valid() {
				votes[o.Outcome]++
				valid++
			}
		}
		if valid < 2 {
			continue
		}
		n++
		same := 0.0
		for k, v := range votes {
			share[k] += v
			same += v * (v - 1)
		}
		total += valid
		agree += same / (valid * (valid - 1))
	}
	if n == 0 {
		return 0, false
	}
	chance := 0.0
	for _, s := range share {
		chance += (s / total) * (s / total)
	}
	if chance >= 1 {
		return 0, false
	}
	return (agree/float64(n) - chance) / (1 - chance), true
}

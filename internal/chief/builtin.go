package chief

import (
	"context"
	"fmt"
	"strings"

	"interlock/internal/verdict"
)

// Builtin is the chief that needs no model. It weighs by confidence, support
// of citations and how concrete the grounds are, names the class by weighted
// risk, and leans by the rule below. It is deterministic.
type Builtin struct {
	Seed []byte // of the order; any value
	Bar  Bar    // what counts as a high risk
}

// A Bar says from where on a risk is high. The zero value is the default of
// docs/design.md.
type Bar struct {
	Product    float64 // severity times likelihood
	Severity   float64 // or severity at or above this
	Likelihood float64 // with at least this likelihood
}

// DefaultBar is the site policy's default.
func DefaultBar() Bar { return Bar{Product: 0.25, Severity: 0.8, Likelihood: 0.05} }

func (b Bar) high(r Risk) bool {
	if b == (Bar{}) {
		b = DefaultBar()
	}
	return r.Severity*r.Likelihood >= b.Product || (r.Severity >= b.Severity && r.Likelihood >= b.Likelihood)
}

// name is how the built-in chief signs.
const name = "builtin"

// Rule weighs the opinions. Weights refer to them by their index.
func (c Builtin) Rule(_ context.Context, opinions []verdict.Opinion) verdict.Ruling {
	if len(opinions) == 0 {
		return verdict.Ruling{Chief: name, Abstained: "there is no opinion to weigh"}
	}
	in, order := blind(c.Seed, opinions)
	weights := make([]float64, len(in.Opinions))
	reasons := make([]string, len(in.Opinions))
	for i, o := range in.Opinions {
		weights[i], reasons[i] = weigh(o)
	}
	r := verdict.Ruling{Chief: name, Weights: panel(weights, reasons, order)}
	r.Outcome, r.Rationale = c.lean(in)
	r.Class = classify(in, weights)
	if r.Outcome != verdict.Accept && r.Class == verdict.Clean {
		r.Class = verdict.Unclassified
	}
	return r
}

// The parts of a weight. They state what makes an opinion worth more, and sum
// to 1 for the best one.
const (
	shareConfidence = 0.4 // how sure it says it is
	shareSupport    = 0.3 // citations it was given, of those it makes
	shareGrounds    = 0.3 // risks with a step, a support and words of their own
	floorWeight     = 0.05
)

// weigh gives an opinion's weight before normalising, with the reason.
func weigh(o Blind) (float64, string) {
	if o.Abstained {
		return 0, "no usable answer"
	}
	support := 0.5 // cites nothing: neither proof nor invention
	if n := o.Supported + o.Unfounded; n > 0 {
		support = float64(o.Supported) / float64(n)
	}
	grounds := groundsOf(o)
	w := shareConfidence*o.Confidence + shareSupport*support + shareGrounds*grounds
	if !consistent(o) {
		w /= 2
	}
	reason := fmt.Sprintf("confidence %.2f, citations %d supported and %d not, grounds %.2f", o.Confidence, o.Supported, o.Unfounded, grounds)
	if !consistent(o) {
		reason += ", risks contradict the outcome"
	}
	return max(w, floorWeight), reason
}

// groundsOf says in [0,1] how concrete the typed risks are, with a little for
// prose that argues at all.
func groundsOf(o Blind) float64 {
	if len(o.Risks) == 0 {
		return 0
	}
	sum := 0.0
	for _, r := range o.Risks {
		if r.Step > 0 {
			sum += 0.3
		}
		if r.Supported > 0 {
			sum += 0.4
		}
		if len(strings.Fields(r.Hazard)) >= 2 {
			sum += 0.2
		}
	}
	g := sum / float64(len(o.Risks))
	if len(strings.Fields(o.Rationale)) >= 5 {
		g += 0.1
	}
	return min(g, 1)
}

// consistent reports whether the numbers fit the outcome: an acceptance with
// a high risk, or a rejection without any risk to speak of, does not.
func consistent(o Blind) bool {
	most := 0.0
	for _, r := range o.Risks {
		if o.Outcome == verdict.Accept && DefaultBar().high(r) {
			return false
		}
		most = max(most, r.Severity*r.Likelihood)
	}
	return o.Outcome != verdict.Reject || most >= 0.01
}

// lean is the rule: accept only if every judge answers, accepts and sees no
// concern; reject on a high risk that is supported and whose judge rejects, or
// if most judges reject; otherwise escalate.
func (c Builtin) lean(in Input) (verdict.Outcome, string) {
	rejects, accepts := 0, 0
	for _, o := range in.Opinions {
		if o.Abstained {
			continue
		}
		high := false
		for _, r := range o.Risks {
			high = high || c.Bar.high(r)
			if c.Bar.high(r) && r.Supported > 0 && o.Outcome == verdict.Reject {
				return verdict.Reject, "opinion " + o.Label + " states a high risk on supported grounds and rejects"
			}
		}
		switch o.Outcome {
		case verdict.Reject:
			rejects++
		case verdict.Accept:
			if o.Class == verdict.Clean && !high {
				accepts++
			}
		case verdict.Escalate:
		}
	}
	switch n := len(in.Opinions); {
	case 2*rejects > n:
		return verdict.Reject, fmt.Sprintf("%d of %d opinions reject", rejects, n)
	case accepts == n:
		return verdict.Accept, fmt.Sprintf("all %d opinions accept without a concern or a high risk", n)
	default:
		return verdict.Escalate, fmt.Sprintf("%d of %d opinions accept without a concern or a high risk, %d reject", accepts, n, rejects)
	}
}

// classify names the class with the largest weighted risk among opinions that
// see a concern; an attack explains the others, harm outweighs form.
func classify(in Input, weights []float64) verdict.Class {
	score := map[verdict.Class]float64{}
	unnamed := false
	for i, o := range in.Opinions {
		if o.Abstained || o.Class == verdict.Clean {
			continue
		}
		if o.Class == verdict.Unclassified || !o.Class.Known() {
			unnamed = true
			continue
		}
		worst := 0.05 // a concern without a number still counts
		for _, r := range o.Risks {
			worst = max(worst, r.Severity*r.Likelihood)
		}
		score[o.Class] += weights[i] * (0.5 + worst)
	}
	best, at := 0.0, verdict.Clean
	for _, k := range [...]verdict.Class{verdict.Adversarial, verdict.Safety, verdict.Alignment} {
		if score[k] > best {
			best, at = score[k], k
		}
	}
	if at == verdict.Clean && unnamed {
		return verdict.Unclassified
	}
	return at
}

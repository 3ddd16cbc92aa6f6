package decide

import (
	"cmp"
	"slices"

	"interlock/internal/verdict"
)

// An atom is one value of a discrete loss with its probability.
type atom struct{ loss, prob float64 }

// CVaR is the mean loss of the worst (1-alpha) share of outcomes, in [0,1]
// (Rockafellar and Uryasev 2000, for a discrete loss). It is the worse of two
// distributions: the mixture of the judges under the chief's weights, and the
// worst single judge, so that no weighting can hide one judge's alarm.
//
// Each risk is a Bernoulli loss: severity with probability likelihood.
// Multiplying the two first would hide the tail. Opinions that do not count
// are left out; without any the risk is 1.
func CVaR(opinions []verdict.Opinion, ruling *verdict.Ruling, alpha float64) float64 {
	if !(alpha >= 0 && alpha < 1) {
		return 1
	}
	weights := panelWeights(opinions, ruling)
	var mixture []atom
	worst, judges := 0.0, 0
	for i, o := range opinions {
		if !usable(o) {
			continue
		}
		judges++
		loss := lossOf(o.Risks)
		worst = max(worst, tailMean(loss, alpha))
		for _, a := range loss {
			mixture = append(mixture, atom{a.loss, a.prob * weights[i]})
		}
	}
	if judges == 0 {
		return 1
	}
	return max(worst, tailMean(mixture, alpha))
}

// lossOf adds up a judge's risks as comonotone: they are taken to happen
// together, which nothing stated by a judge can understate. The sum is capped
// at 1, total loss.
func lossOf(risks []verdict.Risk) []atom {
	rs := slices.Clone(risks)
	slices.SortFunc(rs, func(a, b verdict.Risk) int { return cmp.Compare(b.Likelihood, a.Likelihood) })
	atoms := []atom{}
	above := 1.0 // probability not yet given to an atom
	sum := 0.0
	for _, r := range rs {
		if p := above - r.Likelihood; p > 0 {
			atoms = append(atoms, atom{min(sum, 1), p})
			above = r.Likelihood
		}
		sum += r.Severity
	}
	return append(atoms, atom{min(sum, 1), above})
}

// tailMean averages the largest losses over the probability 1-alpha.
func tailMean(loss []atom, alpha float64) float64 {
	slices.SortFunc(loss, func(a, b atom) int { return cmp.Compare(b.loss, a.loss) })
	tail := 1 - alpha
	left, sum := tail, 0.0
	for _, a := range loss {
		p := min(a.prob, left)
		sum += p * a.loss
		if left -= p; left <= 0 {
			break
		}
	}
	return min(sum/tail, 1)
}

// panelWeights gives each usable opinion the chief's weight, at least 1/(2n)
// so that no judge can be silenced, normalised to sum 1; equal weights
// without a ruling.
func panelWeights(opinions []verdict.Opinion, ruling *verdict.Ruling) []float64 {
	w := make([]float64, len(opinions))
	n := 0
	for _, o := range opinions {
		if usable(o) {
			n++
		}
	}
	if ruling != nil && ruling.Abstained == "" {
		for _, rw := range ruling.Weights {
			if rw.Opinion >= 0 && rw.Opinion < len(w) && rw.Weight >= 0 && rw.Weight <= 1 {
				w[rw.Opinion] = rw.Weight
			}
		}
	}
	total := 0.0
	for i, o := range opinions {
		if !usable(o) {
			w[i] = 0
			continue
		}
		w[i] = max(w[i], 1/float64(2*n))
		total += w[i]
	}
	for i := range w {
		w[i] /= max(total, 1e-9)
	}
	return w
}

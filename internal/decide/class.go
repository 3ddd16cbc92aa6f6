package decide

import "interlock/internal/verdict"

// concernOrder breaks ties: an attack explains the others, harm outweighs
// form.
var concernOrder = [...]verdict.Class{verdict.Adversarial, verdict.Safety, verdict.Alignment}

// concern names the class of a plan that is not accepted: what blocks it,
// else what the chief says, else what most judges say, else what was flagged.
func concern(c verdict.Case) verdict.Class {
	if k := mostFindings(c, verdict.Block); k != verdict.Unclassified {
		return k
	}
	if !(c.Sigma < c.Policy.TauW) {
		return verdict.Adversarial
	}
	if r := c.Ruling; r != nil && r.Abstained == "" && isConcern(r.Class) {
		return r.Class
	}
	var votes [8]float64
	for _, o := range c.Opinions {
		if usable(o) && isConcern(o.Class) {
			votes[o.Class]++
		}
	}
	if k := most(votes); k != verdict.Unclassified {
		return k
	}
	for _, a := range c.Alarms {
		if isConcern(a.Class) {
			return a.Class
		}
	}
	return mostFindings(c, verdict.Flag)
}

func isConcern(k verdict.Class) bool {
	return k == verdict.Alignment || k == verdict.Safety || k == verdict.Adversarial
}

func mostFindings(c verdict.Case, level verdict.Level) verdict.Class {
	var votes [8]float64
	for _, f := range c.Findings {
		if f.Level.Norm() == level && isConcern(f.Class) {
			votes[f.Class]++
		}
	}
	return most(votes)
}

func most(votes [8]float64) verdict.Class {
	best, at := 0.0, verdict.Unclassified
	for _, k := range concernOrder {
		if votes[k] > best {
			best, at = votes[k], k
		}
	}
	return at
}

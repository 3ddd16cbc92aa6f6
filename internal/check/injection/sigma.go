package injection

import (
	"math"

	"interlock/internal/check/injection/ngram"
	"interlock/internal/verdict"
)

// The weights of the paper's formula.
const (
	weightRegex = 0.65
	weightFuzzy = 0.35
)

// sigmas are both scores of suspicion, each in [0,1].
type sigmas struct{ stack, paper float64 }

func (a sigmas) worst(b sigmas) sigmas {
	return sigmas{max(a.stack, b.stack), max(a.paper, b.paper)}
}

// paper is the paper's formula.
func paper(t terms) float64 { return weightRegex*t.regex + weightFuzzy*t.fuzzy }

// A Mode says which of the two scores gates.
type Mode string

// The modes.
const (
	Stack Mode = "stack" // calibrated with the trained model: the default
	Paper Mode = "paper" // 0.65·regex + 0.35·fuzzy
)

// A Calibration turns the three signals into a probability.
type Calibration struct {
	Bias, Model, Regex, Fuzzy float64 // of the log odds; Model, Regex and Fuzzy are not negative
	FuzzyAlone                float64 // how far an exact phrase alone makes an attack, [0,1]
}

// combine gives the calibrated score. It is the larger of what rules and
// phrases say by themselves and of what the fitted model says of all three: so
// the trained part may raise the score, never lower it (C4).
func (c Calibration) combine(t terms) sigmas {
	alone := c.alone(t)
	if t.model <= ngram.Nothing {
		return sigmas{stack: alone}
	}
	z := c.Bias + c.Model*bounded(t.model) + c.Regex*evidenceOdds(t.regex) + c.Fuzzy*t.fuzzy
	return sigmas{stack: max(alone, 1/(1+math.Exp(-z)))}
}

// alone is what rules and phrases say by themselves.
func (c Calibration) alone(t terms) float64 { return 1 - (1-t.regex)*(1-c.FuzzyAlone*t.fuzzy) }

// bounded keeps the log odds of the model where the calibration has seen any.
func bounded(x float64) float64 { return min(max(x, -8), 8) }

// evidenceOdds spreads the noisy-or of severities, which crowds near 1.
func evidenceOdds(r float64) float64 { return -math.Log1p(-min(r, 0.995)) }

// A Thresholds holds the two bounds of one mode.
type Thresholds struct{ TauA, TauW float64 }

// DefaultThresholds are set from the dev curve (docs/screen.md).
func DefaultThresholds(m Mode) Thresholds {
	if m == Paper {
		return Thresholds{TauA: 0.35, TauW: 0.85}
	}
	return Thresholds{TauA: 0.24, TauW: 0.57}
}

// level of a score.
func (t Thresholds) level(sigma float64) verdict.Level {
	switch {
	case sigma < t.TauA:
		return verdict.Pass
	case sigma < t.TauW:
		return verdict.Flag
	default: // NaN too
		return verdict.Block
	}
}

// Probability turns log odds into [0,1].
func Probability(logOdds float64) float64 { return 1 / (1 + math.Exp(-logOdds)) }

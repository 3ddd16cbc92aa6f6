package eval

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"interlock/internal/verdict"
)

// resamples of the bootstrap; the seed is fixed, so that a report repeats.
const resamples = 2000

// intervals gives 95 % intervals. Counts of rare events are exact
// (Clopper–Pearson: zero failures never print as [0,0]); the others are
// bootstrapped over clusters, because minimal pairs are not independent.
func intervals(items []Item, r Report) map[string][2]float64 {
	rejects := r.PerClass["reject"].Support
	bad := rejects + r.PerClass["escalate"].Support
	exact := func(rate float64, n int) [2]float64 {
		lo, hi := ClopperPearson(int(math.Round(rate*float64(n))), n)
		return [2]float64{lo, hi}
	}
	ci := map[string][2]float64{
		"critical_failure_rate": exact(r.CriticalFailureRate, r.N),
		"containment":           exact(r.Containment, bad),
		"containment_reject":    exact(r.ContainmentReject, rejects),
		"accept_recall":         exact(r.PerClass["accept"].Recall, r.PerClass["accept"].Support),
	}
	boot := bootstrap(items)
	ci["macro_f1"] = boot["macro_f1"]
	for name, v := range map[string]struct {
		rate float64
		n    int
	}{"accuracy": {r.Accuracy, r.N}, "escalation_rate": {r.EscalationRate, r.N}, "category_accuracy": {r.CategoryAccuracy, bad}} {
		ci[name] = boot[name]
		if v.rate == 0 || v.rate == 1 {
			ci[name] = exact(v.rate, v.n) // a bootstrap of identical values knows no doubt
		}
	}
	return ci
}

// bootstrap resamples whole clusters with replacement.
func bootstrap(items []Item) map[string][2]float64 {
	byPair := map[string][]Item{}
	var keys []string
	for _, it := range items {
		k := cmp.Or(it.Label.Pair, "alone:"+it.Label.ID)
		if byPair[k] == nil {
			keys = append(keys, k)
		}
		byPair[k] = append(byPair[k], it)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draws := map[string][]float64{}
	sample := make([]Item, 0, len(items))
	for range resamples {
		sample = sample[:0]
		for range keys {
			sample = append(sample, byPair[keys[rng.IntN(len(keys))]]...)
		}
		s := Score(sample, func(it Item) verdict.Outcome { return it.Outcome })
		draws["accuracy"] = append(draws["accuracy"], s.Accuracy)
		draws["macro_f1"] = append(draws["macro_f1"], s.MacroF1)
		draws["escalation_rate"] = append(draws["escalation_rate"], s.EscalationRate)
		draws["category_accuracy"] = append(draws["category_accuracy"], categoryAccuracy(sample))
	}
	ci := map[string][2]float64{}
	for name, d := range draws {
		slices.Sort(d)
		ci[name] = [2]float64{quantile(d, 0.025), quantile(d, 0.975)}
	}
	return ci
}

// ClopperPearson is the exact 95 % interval of k successes in n trials; [0,1]
// when there were no trials.
func ClopperPearson(k, n int) (lo, hi float64) {
	lo, hi = 0, 1
	if n <= 0 {
		return lo, hi
	}
	const tail = 0.025
	if k > 0 {
		lo = bisect(func(p float64) bool { return 1-binomialCDF(k-1, n, p) < tail })
	}
	if k < n {
		hi = bisect(func(p float64) bool { return binomialCDF(k, n, p) > tail })
	}
	return lo, hi
}

// bisect finds the p in [0,1] up to which below holds.
func bisect(below func(float64) bool) float64 {
	lo, hi := 0.0, 1.0
	for range 60 {
		if mid := (lo + hi) / 2; below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

func binomialCDF(k, n int, p float64) float64 {
	if p <= 0 {
		return 1
	}
	if p >= 1 {
		if k >= n {
			return 1
		}
		return 0
	}
	sum := 0.0
	lgN, _ := math.Lgamma(float64(n + 1))
	for i := 0; i <= k; i++ {
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(lgN - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}

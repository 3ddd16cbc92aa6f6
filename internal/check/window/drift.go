package window

import (
	"fmt"
	"math"
	"slices"

	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// Drift is judged on ranks, so that it needs to know nothing of how a value
// scatters: of n values in random order the chance that they rise from first
// to last is 1/n!. A run towards a limit must in addition have used up most of
// the room it began with. For values that scatter evenly, four falling values
// of which the last is within 15 % of the limit come about by chance once in
// 62 plans of a series whose room is used at random, and series of honest
// plans mostly do not move at all.
const (
	longRun   = 4    // steps of a run that nothing else speaks against
	shortRun  = 3    // with an argument from precedent, or the limit crossed
	used      = 0.15 // of the room left
	usedShort = 0.5
)

// A slower drift hides in scatter. Over a longer series Mann and Kendall's test
// counts the pairs that rise against those that fall: for values in random
// order its score is standard normal, and 3.29 is passed to one side once in
// 2000 plans.
const (
	trendFrom  = 8
	trendOver  = 16
	trendScore = 3.29
)

// A point is one value of a series with the plan it comes from.
type point struct {
	v  float64
	of *trace
}

// drift finds a value that moves step by step under an unchanged goal.
func (m *Monitor) drift(t *trace, before []*trace) (verdict.Alarm, bool) {
	if a, ok := m.loosened(t, before); ok {
		return a, true
	}
	thread := undertaking(t, before, sameGoal)
	if len(thread) < shortRun-1 || t.series {
		return verdict.Alarm{}, false
	}
	for i, v := range t.values {
		if slices.ContainsFunc(t.values[:i], func(o value) bool { return o.key == v.key }) || slices.Contains(t.goalKinds, v.kind) {
			continue // a plan that says in its goal what it sets has declared the change
		}
		series := seriesOf(thread, t, v.key)
		if n := len(series); n >= 2 && series[n-2].v == series[n-1].v && series[n-2].of.fate == Accepted {
			continue // it stays where it was accepted
		}
		run := monotone(series)
		if a, ok := m.creeps(t, v, run); ok {
			return a, true
		}
		if a, ok := m.trends(t, v, series); ok {
			return a, true
		}
	}
	return verdict.Alarm{}, false
}

// loosened finds a threshold, a limit or the setting of a safeguard that a
// requester moves step by step to one side. That each plan says so in its goal
// makes it no better.
func (m *Monitor) loosened(t *trace, before []*trace) (verdict.Alarm, bool) {
	for _, v := range t.values {
		if !v.guard || t.series {
			continue
		}
		own := mine(t, before, horizon, (*trace).runs)
		if run := monotone(seriesOf(own, t, v.key)); len(run) >= shortRun && run[len(run)-1].of == t {
			return alarm(RuleCriterion, verdict.Adversarial, fmt.Sprintf("%q, which guards something, is moved in %d steps from %s to %s", v.name, len(run), si(run[0].v, v.kind), si(v.v, v.kind)), t, traces(run)), true
		}
	}
	return verdict.Alarm{}, false
}

// sameGoal is how alike two goals are that speak of one undertaking.
const sameGoal = 0.6

func seriesOf(thread []*trace, t *trace, key uint32) []point {
	var out []point
	for _, b := range append(slices.Clone(thread), t) {
		for _, v := range b.values {
			if v.key == key {
				out = append(out, point{v.v, b})
				break
			}
		}
	}
	return out
}

// monotone returns the strictly rising or falling end of a series; repeated
// values count once.
func monotone(series []point) []point {
	var run []point
	for i := len(series) - 1; i >= 0; i-- {
		n := len(run)
		switch {
		case n == 0:
		case series[i].v == run[n-1].v:
			continue
		case n >= 2 && (series[i].v < run[n-1].v) != (run[n-1].v < run[n-2].v):
			slices.Reverse(run)
			return run
		}
		run = append(run, series[i])
	}
	slices.Reverse(run)
	return run
}

func (m *Monitor) creeps(t *trace, v value, run []point) (verdict.Alarm, bool) {
	n := len(run)
	if n < shortRun || run[n-1].of != t {
		return verdict.Alarm{}, false
	}
	first, last := run[0].v, run[n-1].v
	if b, ok := m.site.ahead(t, v, first, last); ok {
		room := math.Abs(b.v - first)
		left := math.Abs(b.v-last) / room
		crossed := (last > b.v) == (last > first) && last != b.v
		if !crossed && !(n >= longRun && left <= used) && !(t.precedent && left <= usedShort) {
			return verdict.Alarm{}, false
		}
		what := "towards"
		if crossed {
			what = "past"
		}
		return alarm(RuleDrift, verdict.Safety, fmt.Sprintf("%q moves in %d steps from %s to %s, %s a limit of the site (%s), under an unchanged goal", v.name, n, si(first, v.kind), si(last, v.kind), what, clip(b.text)), t, traces(run)), true
	}
	looser := v.bound < 0 && last > first || v.bound > 0 && last < first
	if looser && (n >= longRun || t.precedent) {
		return alarm(RuleCriterion, verdict.Alignment, fmt.Sprintf("the bound %q is loosened in %d steps from %s to %s under an unchanged goal", v.name, n, si(first, v.kind), si(last, v.kind)), t, traces(run)), true
	}
	return verdict.Alarm{}, false
}

// trends tests the latest values of a longer series for a trend towards a
// limit that has used up half of the room.
func (m *Monitor) trends(t *trace, v value, series []point) (verdict.Alarm, bool) {
	series = series[max(0, len(series)-trendOver):]
	n := len(series)
	if n < trendFrom || series[n-1].of != t {
		return verdict.Alarm{}, false
	}
	first, last := series[0].v, series[n-1].v
	b, ok := m.site.ahead(t, v, first, last)
	if !ok || math.Abs(b.v-last) > usedShort*math.Abs(b.v-first) {
		return verdict.Alarm{}, false
	}
	score := kendall(series)
	if last < first {
		score = -score
	}
	if score <= trendScore {
		return verdict.Alarm{}, false
	}
	return alarm(RuleDrift, verdict.Safety, fmt.Sprintf("%q drifts over %d plans from %s to %s, towards a limit of the site (%s)", v.name, n, si(first, v.kind), si(last, v.kind), clip(b.text)), t, traces(series)), true
}

// kendall is the score of Mann and Kendall's trend test, positive for rising
// values; ties only make it smaller.
func kendall(series []point) float64 {
	s := 0.0
	for i, a := range series {
		for _, b := range series[i+1:] {
			switch {
			case b.v > a.v:
				s++
			case b.v < a.v:
				s--
			}
		}
	}
	n := float64(len(series))
	return (s - math.Copysign(min(1, math.Abs(s)), s)) / math.Sqrt(n*(n-1)*(2*n+5)/18)
}

// ahead finds the limit that a value moves towards: of the site's numbers of
// its kind that concern the plan, one that it has passed, else the next.
func (s *Site) ahead(t *trace, v value, first, last float64) (bound, bool) {
	var best bound
	found, passed := false, false
	for _, b := range s.bounds {
		if b.kind != v.kind || b.v == first || (b.v > first) != (last > first) || b.thing != v.name && !s.concerns(t, b) {
			continue
		}
		past := b.v != last && (last > b.v) == (last > first)
		if !found || past && !passed || past == passed && math.Abs(b.v-last) < math.Abs(best.v-last) {
			best, found, passed = b, true, past
		}
	}
	return best, found
}

// concerns reports that a limit is about what the plan does: of a thing that
// it uses, or in a sentence that shares its telling words.
func (s *Site) concerns(t *trace, b bound) bool {
	if b.thing != "" {
		return slices.Contains(t.things, b.thing)
	}
	return common(b.about, t.words) >= min(2, max(1, len(b.about)/2))
}

func traces(run []point) []*trace {
	var out []*trace
	for _, p := range run[:max(0, len(run)-1)] {
		out = append(out, p.of)
	}
	return out
}

// clip keeps a message short.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// si writes a value with the unit of its kind.
func si(v float64, k quantity.Kind) string {
	unit := map[quantity.Kind]string{
		quantity.Speed: "m/s", quantity.Temperature: "K", quantity.Pressure: "Pa", quantity.Mass: "kg", quantity.Volume: "m³", quantity.Length: "m",
		quantity.Force: "N", quantity.Time: "s", quantity.Flow: "m³/s", quantity.Amount: "mol", quantity.Angle: "rad",
	}[k]
	if k == quantity.Fraction {
		return fmt.Sprintf("%.3g %%", 100*v)
	}
	return fmt.Sprintf("%.4g %s", v, unit)
}

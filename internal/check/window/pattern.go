package window

import (
	"fmt"
	"math"
	"slices"
	"time"

	"interlock/internal/verdict"
)

// collecting is how long pieces of information are put together.
const collecting = 21 * 24 * time.Hour

// mine are the earlier plans of the same agent or person, oldest first.
func mine(t *trace, before []*trace, within time.Duration, keep func(*trace) bool) []*trace {
	var out []*trace
	for _, b := range before {
		if t.same(b) && t.age(b) <= within && keep(b) {
			out = append(out, b)
		}
	}
	return out
}

// scouting finds plans that together collect who is where and when, and what
// does not see them.
func (m *Monitor) scouting(t *trace, before []*trace) (verdict.Alarm, bool) {
	const enough = 2
	if t.facets == 0 {
		return verdict.Alarm{}, false
	}
	with := mine(t, before, collecting, func(b *trace) bool { return b.facets != 0 })
	if put(t, with).count() < enough {
		// Of several agents and people together it takes one facet more.
		with = slices.DeleteFunc(slices.Clone(before), func(b *trace) bool { return b.facets == 0 || t.age(b) > collecting })
		if put(t, with).count() <= enough {
			return verdict.Alarm{}, false
		}
	}
	if len(with) == 0 {
		return verdict.Alarm{}, false // one plan that asks for all of it is for the other checks
	}
	return alarm(RuleScouting, verdict.Adversarial, fmt.Sprintf("observations of %d plans put together tell when and where nobody would notice", len(with)+1), t, with), true
}

// put joins the facets of plans.
func put(t *trace, with []*trace) facets {
	all := t.facets
	for _, b := range with {
		all |= b.facets
	}
	return all
}

// outflow finds data that leave in pieces.
func (m *Monitor) outflow(t *trace, before []*trace) (verdict.Alarm, bool) {
	if !t.outward.data || t.outward.may {
		return verdict.Alarm{}, false
	}
	with := mine(t, before, collecting, func(b *trace) bool { return b.outward.data && !b.outward.may })
	pieces := t.outward.piece && slices.ContainsFunc(with, func(b *trace) bool { return b.outward.piece })
	if len(with) == 0 || !pieces && len(with) < 2 {
		return verdict.Alarm{}, false
	}
	return alarm(RuleOutflow, verdict.Adversarial, fmt.Sprintf("data go to somebody outside in pieces, over %d plans, and nobody who may release them is named", len(with)+1), t, with), true
}

// edits finds records that are changed one by one.
func (m *Monitor) edits(t *trace, before []*trace) (verdict.Alarm, bool) {
	if len(t.edited) == 0 {
		return verdict.Alarm{}, false
	}
	var with []*trace
	one := false // the same record
	for _, b := range before {
		named := slices.ContainsFunc(b.edited, func(e string) bool { return e != unnamed && slices.Contains(t.edited, e) })
		if t.age(b) <= collecting && (named || t.same(b) && len(b.edited) > 0) {
			with = append(with, b)
			one = one || named
		}
	}
	if !one && len(with) < 2 {
		return verdict.Alarm{}, false
	}
	return alarm(RuleRecord, verdict.Alignment, fmt.Sprintf("recorded values or runs are changed or removed piece by piece, over %d plans", len(with)+1), t, with), true
}

// repeated finds one concern of integrity or hostility that different plans of
// an agent raise one after the other, each time too little to block. A routine
// that a rule flags is flagged every time: only plans in other words add
// evidence. With a rate of 1 in 20 honest plans that a rule flags, three of any
// five plans are flagged once in about 900 such fives.
func (m *Monitor) repeated(t *trace, before []*trace) (verdict.Alarm, bool) {
	const flagged, of, routine = 3, 5, 0.8
	latest := mine(t, before, collecting, func(*trace) bool { return true })
	latest = latest[max(0, len(latest)-(of-1)):]
	for _, rule := range t.flags {
		with := []*trace{}
		for _, b := range latest {
			other := alike(t.words, b.words) < routine && !slices.ContainsFunc(with, func(o *trace) bool { return alike(o.words, b.words) >= routine })
			if other && slices.Contains(b.flags, rule) {
				with = append(with, b)
			}
		}
		if len(with)+1 >= flagged {
			return alarm(RuleRepeated, verdict.Adversarial, fmt.Sprintf("%d of the last %d plans raise the same concern (%s)", len(with)+1, len(latest)+1, rule), t, with), true
		}
	}
	return verdict.Alarm{}, false
}

// A rate is how often an agent hands plans in.
type rate struct {
	since time.Time
	n     int
	last  []time.Time // the latest, oldest first
}

// Bounds of the rate test. Nobody's rate is believed to be below a floor, so
// that a busy minute of a quiet agent is no burst; of an agent that was not
// seen before little is known, so its floor is higher.
const (
	ratesKept  = 256 // agents
	latest     = 24
	floorKnown = 0.1 // plans a minute
	floorNew   = 0.5
	byChance   = 1e-6
)

// burst holds the plans of the last minute and of the last five against the
// agent's own rate: a count that a Poisson process of that rate reaches once
// in a million windows.
func (m *Monitor) burst(t *trace) (verdict.Alarm, bool) {
	r := m.rates[t.agent]
	if r == nil {
		if len(m.rates) >= ratesKept {
			m.forgetRate()
		}
		r = &rate{since: t.at}
		m.rates[t.agent] = r
	}
	defer func() {
		r.n++
		r.last = append(r.last, t.at)
		r.last = r.last[max(0, len(r.last)-latest):]
	}()
	past := t.at.Sub(r.since)
	perMinute := floorNew
	if past > time.Hour {
		perMinute = max(floorKnown, float64(r.n)/past.Minutes())
	}
	for _, span := range []time.Duration{time.Minute, 5 * time.Minute} {
		k := 1
		for _, at := range r.last {
			if d := t.at.Sub(at); d >= 0 && d < span {
				k++
			}
		}
		if mean := perMinute * span.Minutes(); tail(k, mean) < byChance {
			return alarm(RuleBurst, verdict.Adversarial, fmt.Sprintf("%d plans of one agent within %s, where its rate explains %.1f", k, span, mean), t, nil), true
		}
	}
	return verdict.Alarm{}, false
}

// forgetRate lets go of the agent that has been quiet longest.
func (m *Monitor) forgetRate() {
	oldest, when := "", time.Time{}
	for agent, r := range m.rates {
		if at := r.last[len(r.last)-1]; oldest == "" || at.Before(when) || at.Equal(when) && agent < oldest {
			oldest, when = agent, at
		}
	}
	delete(m.rates, oldest)
}

// tail is the chance that a Poisson variable reaches k.
func tail(k int, mean float64) float64 {
	p := math.Exp(-mean)
	for i := range k {
		p *= mean / float64(i+1)
	}
	rest := 0.0
	for i := k; i < k+64; i++ { // the tail itself: one minus the rest would lose it
		rest += p
		p *= mean / float64(i+1)
	}
	return min(rest, 1)
}

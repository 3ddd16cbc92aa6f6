package window

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// standing is how long what was brought somewhere is taken to be still there
// when nobody says that it was taken away.
const standing = 24 * time.Hour

// amounts adds up what plans bring against the limits of the site. A portion
// counts until the same place, vessel or robot is said to be emptied.
func (m *Monitor) amounts(t *trace, before []*trace) (verdict.Alarm, bool) {
	for i := range m.site.caps {
		c := &m.site.caps[i]
		own, emptied, where := m.site.brings(t, c)
		if own == 0 || own > c.most { // alone above the limit: the limit's own check speaks
			continue
		}
		within := c.period
		if within == 0 {
			within = standing
		}
		sum := own
		var with []*trace
		for k := len(before) - 1; k >= 0 && !emptied && t.age(before[k]) <= within; k-- {
			b := before[k]
			if !b.runs() || c.kind == quantity.Money && !t.same(b) {
				continue
			}
			more, cleared, there := m.site.brings(b, c)
			if (c.period == 0 && len(c.zones) == 0 || c.each) && !overlap(where, there) {
				more, cleared = 0, overlap(where, removedFrom(b))
			}
			if more > 0 {
				sum += more
				with = append(with, b)
			}
			if cleared && c.period == 0 {
				break
			}
		}
		if sum > c.most*1.000001 && len(with) > 0 {
			slices.Reverse(with)
			return alarm(RuleAmount, verdict.Safety, fmt.Sprintf("together with earlier plans %s, where the site allows %s (%s)", si(sum, c.kind), si(c.most, c.kind), clip(c.text)), t, with), true
		}
	}
	return verdict.Alarm{}, false
}

// brings sums what a plan adds under a limit after the last time it takes
// something away there; emptied says that it does so before adding.
func (s *Site) brings(t *trace, c *limit) (sum float64, emptied bool, where []string) {
	for _, d := range t.doses {
		if d.out {
			if len(c.zones) == 0 || overlap(c.zones, d.things) || len(d.things) == 0 {
				sum, emptied, where = 0, true, nil
			}
			continue
		}
		if d.kind != c.kind || !s.covers(c, d) {
			continue
		}
		sum += d.v
		for _, th := range d.things {
			where = note(where, th)
		}
		if len(d.things) == 0 {
			for _, th := range t.things {
				where = note(where, th)
			}
		}
	}
	if c.each { // of each batch, order, tray: what has a label
		return sum, emptied, slices.DeleteFunc(slices.Clone(t.things), func(n string) bool { return strings.Contains(n, ":") })
	}
	return sum, emptied, slices.DeleteFunc(where, func(n string) bool { return s.isRoom(n) })
}

func removedFrom(t *trace) []string {
	var out []string
	for _, d := range t.doses {
		if d.out {
			out = append(out, d.things...)
		}
	}
	return out
}

// covers reports that a dose falls under a limit: its material is named or of
// a kind that is named, at a place that is named, if any.
func (s *Site) covers(c *limit, d dose) bool {
	if len(c.zones) > 0 && !overlap(c.zones, d.things) {
		return false
	}
	if d.kind == quantity.None {
		return slices.Contains(c.nouns, d.noun)
	}
	if d.kind == quantity.Time || d.kind == quantity.Money || d.kind == quantity.Amount {
		return true
	}
	if len(c.materials) == 0 {
		return len(c.zones) > 0 || c.period > 0 && d.what == ""
	}
	if d.what == "" {
		return false
	}
	if slices.Contains(c.materials, d.what) {
		return true
	}
	return s.chemistry != nil && slices.ContainsFunc(c.words, func(w string) bool { return s.chemistry.Has(d.what, w) })
}

// counters carries counts over plans until the pause that resets them.
func (m *Monitor) counters(t *trace, before []*trace) (verdict.Alarm, bool) {
	for i := range m.site.counters {
		c := &m.site.counters[i]
		own := c.in(t)
		if own == 0 || c.resets(t) {
			continue
		}
		sum := own
		var with []*trace
		for k := len(before) - 1; k >= 0 && t.age(before[k]) <= standing; k-- {
			b := before[k]
			if !b.runs() {
				continue
			}
			if n := c.in(b); n > 0 {
				sum += n
				with = append(with, b)
			}
			if c.resets(b) {
				break
			}
		}
		if sum > c.every && len(with) > 0 {
			slices.Reverse(with)
			return alarm(RuleCounter, verdict.Safety, fmt.Sprintf("%.0f in a row over several plans without the pause that the site asks for (%s)", sum, clip(c.text)), t, with), true
		}
	}
	return verdict.Alarm{}, false
}

// in is the largest count that a plan states of the thing; a plan that uses the
// robot or device and only says "1 to 14" of something is taken at that.
func (c *counter) in(t *trace) float64 {
	n, ranged := 0.0, 0.0
	for _, x := range t.counts {
		if x.noun == c.noun {
			n = max(n, x.n)
		}
		if x.ranged {
			ranged = max(ranged, x.n)
		}
	}
	if n == 0 && c.thing != "" && slices.Contains(t.things, c.thing) {
		return ranged
	}
	return n
}

func (c *counter) resets(t *trace) bool {
	return slices.ContainsFunc(t.pauses, func(p pause) bool {
		return p.seconds >= c.seconds && (p.lemma == c.pause || strings.HasPrefix(p.lemma, c.pause))
	})
}

// portions finds one tool that brings a hazardous material to one place in
// portions that together exceed what the tool may bring at once, with nobody
// emptying the place in between.
func (m *Monitor) portions(t *trace, before []*trace) (verdict.Alarm, bool) {
	for _, v := range t.values {
		if v.most == 0 || slices.ContainsFunc(t.fills, func(f fill) bool { return f.clear }) {
			continue
		}
		sum := v.v
		var with []*trace
		for k := len(before) - 1; k >= 0 && t.age(before[k]) <= standing; k-- {
			b := before[k]
			if !b.runs() {
				continue
			}
			i := slices.IndexFunc(b.values, func(o value) bool { return o.key == v.key })
			if i >= 0 {
				sum += b.values[i].v
				with = append(with, b)
			}
			if overlap(removedFrom(b), t.things) || slices.ContainsFunc(b.fills, func(f fill) bool { return f.clear && slices.Contains(t.things, f.holder) }) {
				break
			}
		}
		if len(with) > 0 && v.v <= v.most && sum > v.most {
			slices.Reverse(with)
			return alarm(RuleAmount, verdict.Safety, fmt.Sprintf("%s brings %s in portions, where at most %s may be brought at once", v.name, si(sum, v.kind), si(v.most, v.kind)), t, with), true
		}
	}
	return verdict.Alarm{}, false
}

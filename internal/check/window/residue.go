package window

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/verdict"
)

// lingers is how long what a plan leaves behind is believed to be there.
const lingers = 7 * 24 * time.Hour

// cooling is how long a hot device is believed to be hot.
const cooling = 24 * time.Hour

// meeting finds a vessel into which two plans put materials that must not
// meet, with nobody emptying it in between.
func (m *Monitor) meeting(t *trace, before []*trace) (verdict.Alarm, bool) {
	if m.site.chemistry == nil {
		return verdict.Alarm{}, false
	}
	cleared := map[string]bool{}
	for _, f := range t.fills {
		if f.clear {
			cleared[f.holder] = true
			continue
		}
		if cleared[f.holder] {
			continue
		}
		if a, ok := m.meets(t, f, before); ok {
			return a, true
		}
	}
	return verdict.Alarm{}, false
}

func (m *Monitor) meets(t *trace, f fill, before []*trace) (verdict.Alarm, bool) {
	for k := len(before) - 1; k >= 0 && t.age(before[k]) <= lingers; k-- {
		b := before[k]
		if !b.runs() {
			continue
		}
		for i := len(b.fills) - 1; i >= 0; i-- {
			o := b.fills[i]
			if o.holder != f.holder {
				continue
			}
			if o.clear {
				return verdict.Alarm{}, false
			}
			if o.material == f.material {
				continue
			}
			if what := m.site.chemistry.Meet(o.material, f.material); what != "" {
				return alarm(RuleMeeting, verdict.Safety, fmt.Sprintf("%s still holds what an earlier plan put there: %s", strings.TrimPrefix(f.holder, "site:"), what), t, []*trace{b}), true
			}
		}
	}
	return verdict.Alarm{}, false
}

// gathered finds errands that together bring somebody three hazardous
// materials of which two must not meet, with no plan that works with them.
// Errands to different places are how a store is filled.
func (m *Monitor) gathered(t *trace, before []*trace) (verdict.Alarm, bool) {
	const enough = 3
	if m.site.chemistry == nil || t.worked || len(t.fetched) == 0 {
		return verdict.Alarm{}, false
	}
	with := mine(t, before, collecting, func(b *trace) bool {
		return b.runs() && !b.worked && len(b.fetched) > 0 && m.site.onePlace(t, b)
	})
	if len(with)+1 < enough {
		return verdict.Alarm{}, false
	}
	all := m.site.hazardous(t.fetched)
	for _, b := range with {
		for _, x := range m.site.hazardous(b.fetched) {
			all = note(all, x)
		}
	}
	if len(all) < enough {
		return verdict.Alarm{}, false
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if what := m.site.chemistry.Meet(a, b); what != "" {
				return alarm(RuleGathered, verdict.Adversarial, fmt.Sprintf("%d errands bring %d hazardous materials together, among them what must not meet: %s", len(with)+1, len(all), what), t, with), true
			}
		}
	}
	return verdict.Alarm{}, false
}

// onePlace reports that two errands end at one place, or do not say where.
func (s *Site) onePlace(a, b *trace) bool {
	where := func(t *trace) []string {
		return slices.DeleteFunc(slices.Clone(t.things), func(n string) bool { return slices.Contains(t.materials, n) || s.robot(n) })
	}
	x, y := where(a), where(b)
	return len(x) == 0 || len(y) == 0 || overlap(x, y)
}

// hazards are the traits of what is not lent out like salt.
func hazards() []string { return []string{"oxidiser", "corrosive", "toxic", "flammable"} }

func (s *Site) hazardous(materials []string) []string {
	return slices.DeleteFunc(slices.Clone(materials), func(m string) bool {
		return !slices.ContainsFunc(hazards(), func(trait string) bool { return s.chemistry.Has(m, trait) })
	})
}

// leftover finds flammable material brought to where a device was left hot.
func (m *Monitor) leftover(t *trace, before []*trace) (verdict.Alarm, bool) {
	if m.site.chemistry == nil || !slices.ContainsFunc(t.materials, func(x string) bool { return m.site.chemistry.Has(x, "flammable") }) {
		return verdict.Alarm{}, false
	}
	settled := slices.Clone(t.cooled)
	for k := len(before) - 1; k >= 0 && t.age(before[k]) <= cooling; k-- {
		b := before[k]
		if !b.runs() {
			continue
		}
		for _, h := range b.hot {
			at := m.site.location(h.device)
			beside := h.kelvin >= ignitesFrom && at != "" && slices.Contains(t.things, at)
			if slices.Contains(settled, h.device) || !slices.Contains(t.things, h.device) && !beside {
				continue
			}
			return alarm(RuleLeftover, verdict.Safety, fmt.Sprintf("an earlier plan left %s at %.0f °C, and this one brings flammable material there", strings.TrimPrefix(h.device, "site:"), h.kelvin-273.15), t, []*trace{b}), true
		}
		for _, list := range [][]string{b.cooled, b.set} { // a later setting replaces the earlier
			for _, d := range list {
				settled = note(settled, d)
			}
		}
	}
	return verdict.Alarm{}, false
}

// opened finds the use of something whose safeguard an earlier plan left open.
func (m *Monitor) opened(t *trace, before []*trace) (verdict.Alarm, bool) {
	restored := slices.Clone(t.restores)
	for k := len(before) - 1; k >= 0 && t.age(before[k]) <= lingers; k-- {
		b := before[k]
		if !b.runs() {
			continue
		}
		for _, o := range b.leaves {
			used := slices.ContainsFunc(o.things, func(n string) bool { return slices.Contains(t.things, n) && !slices.Contains(restored, n) })
			if used && (t.acts || len(t.materials) > 0) {
				return alarm(RuleOpened, verdict.Safety, fmt.Sprintf("an earlier plan left a safeguard (%s) open or out, nobody has put it back, and this plan uses what it protects", o.what), t, []*trace{b}), true
			}
		}
		for _, r := range b.restores {
			restored = note(restored, r)
		}
	}
	return verdict.Alarm{}, false
}

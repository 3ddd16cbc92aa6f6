package check

import (
	"math"
	"slices"

	"interlock/internal/quantity"
)

// An excess says how far a value is over the limits of the entities it may be
// meant for.
type excess struct {
	over   bool // every candidate is clearly over one of its limits, in the likeliest reading
	maybe  bool // over some limit, slightly, or in another reading
	under  bool // under a minimum
	limit  *axis
	denied bool
	entity int
}

// against holds the readings of a quantity against the limits of the
// candidates. One clear excess is enough for an entity; for a block every
// candidate must have one, since only one of them is meant.
func (r *limitRun) against(p *part, kind quantity.Kind, readings []float64, gauge int8, ents []int) excess {
	e := excess{over: len(ents) > 0}
	for _, ent := range ents {
		over, placed, within := false, 0, 0
		for i := range r.x.entities[ent].axes {
			a := &r.x.entities[ent].axes[i]
			how := r.applies(a, p, kind)
			switch {
			case how == nowhere:
			case a.denied:
				e.denied, e.maybe, e.limit, e.entity = true, true, a, ent
			case a.place == "":
				over = e.hold(a, ent, readings, gauge) || over
			default:
				placed++
				if e.hold(a, ent, readings, gauge) && how == inside {
					within++
				}
			}
		}
		// Of several places named, the value is for one of them only.
		e.over = e.over && (over || placed > 0 && within == placed)
	}
	return e
}

// applies reports whether a limit is in force for the step; limits for no
// particular place always are.
func (r *limitRun) applies(a *axis, p *part, kind quantity.Kind) mentioned {
	how := inside
	if a.kind != kind {
		return nowhere
	}
	if a.place != "" {
		if how = r.placed(p, a.place); how == nowhere {
			return nowhere
		}
	}
	if (a.cond || a.place != "") && a.max != nil && (r.states(p, kind, *a.max) || a.cond && r.conditionMet(p)) {
		return nowhere // the step keeps to it where it holds, and the value is for elsewhere
	}
	return how
}

// hold compares with one limit and says whether it is clearly exceeded. For a
// pressure that says neither gauge nor absolute, the reading in the limit's
// own convention comes first, and the other is not held against it.
func (e *excess) hold(a *axis, ent int, readings []float64, gauge int8) (over bool) {
	if a.max == nil {
		return false
	}
	if a.min != nil && slices.Max(readings) < *a.min*(1-1e-9) && readings[0] != 0 { // in every reading: "1,000 mm/s" is not too slow; zero is off
		e.under = true
	}
	limit, worst := *a.max, readings[0]
	if a.kind == quantity.Pressure {
		if gauge == +1 {
			limit += standardAtmosphere // if the limit is itself a gauge pressure
		}
	} else {
		worst = slices.Max(readings)
	}
	if worst > *a.max*(1+1e-9) {
		e.maybe = true
		if e.limit == nil || e.limit.max == nil || *e.limit.max > *a.max {
			e.limit, e.entity = a, ent
		}
	}
	return !a.cond && readings[0] > bar(a.kind, limit)
}

// standardAtmosphere is the difference of gauge and absolute pressure. Pa.
const standardAtmosphere = 101325

// bar is the value from which a limit counts as clearly exceeded. Temperatures
// are held as differences from 0 °C, so that 5 % means the same at any scale.
func bar(k quantity.Kind, limit float64) float64 {
	if k == quantity.Temperature {
		return limit + max(5, math.Abs(limit-273.15)*(clearly-1))
	}
	return limit * clearly
}

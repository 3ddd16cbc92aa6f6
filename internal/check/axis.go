package check

import (
	"maps"
	"math"
	"slices"
	"strings"

	"interlock/internal/quantity"
	"interlock/internal/site"
)

// An axis is one limited quantity of an entity, in SI.
type axis struct {
	kind     quantity.Kind
	name     string // attribute or tool argument, for messages
	unit     string // as the profile writes it
	max, min *float64
	place    string // zone or circumstance the limit is for, "" everywhere
	cond     bool   // holds only in a circumstance its name states (collaborative, near people)
	denied   bool   // the place is not allowed at all
}

// attrAxes turns an attribute into the limits it states.
func attrAxes(a site.Attr) []axis {
	spec, known := site.Spec(a.Name)
	kind, si := quantity.ArgUnit(a.Name)
	if kind == quantity.None || !known || !limiting(a.Name) {
		return nil
	}
	base := axis{kind: kind, name: a.Name, unit: quantity.UnitOf(a.Name), cond: circumstantial(a.Name)}
	var out []axis
	switch {
	case a.Range != nil:
		lo, hi := si(a.Range[0]), si(a.Range[1])
		base.min, base.max = &lo, &hi
		out = append(out, base)
	case a.Number != nil && spec.Bound != site.BoundNone:
		v := si(*a.Number)
		if spec.Bound == site.BoundMin {
			base.min = &v
		} else {
			base.max = &v
		}
		out = append(out, base)
	}
	loosest := math.Inf(-1)
	for _, place := range slices.Sorted(maps.Keys(a.ByPlace)) {
		b, m := base, si(a.ByPlace[place])
		b.place, b.max = place, &m
		b.cond = b.cond || circumstantial(place)
		loosest = max(loosest, m)
		out = append(out, b)
	}
	if len(a.ByPlace) > 0 { // wherever the step does not say
		b := base
		b.max = &loosest
		out = append(out, b)
	}
	for _, place := range slices.Sorted(maps.Keys(a.Denied)) {
		b := base
		b.place, b.denied = place, true
		out = append(out, b)
	}
	return out
}

// limiting leaves out attributes that limit the surroundings or the machine's
// own condition, not what a plan orders.
func limiting(name string) bool {
	for _, w := range [...]string{"wind", "battery", "alarm", "charge", "storage", "reach", "service", "o2_", "imbalance", "cutout", "relief", "rupture", "temp_c_ambient", "tilt", "slope", "takeoff"} {
		if strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// circumstantial reports limits that hold only while something is so.
func circumstantial(name string) bool {
	for _, w := range [...]string{"collaborative", "near", "people", "_open", "loaded", "extended", "arm_lift", "towed"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// toolAxes are the limits of a tool's numeric arguments.
func toolAxes(t *site.Tool) []axis {
	var out []axis
	for _, a := range t.Args {
		kind, si := quantity.ArgUnit(a.Name)
		if kind == quantity.None || a.Min == nil && a.Max == nil {
			continue
		}
		ax := axis{kind: kind, name: t.Name + " " + a.Name, unit: quantity.UnitOf(a.Name)}
		if a.Min != nil {
			v := si(*a.Min)
			ax.min = &v
		}
		if a.Max != nil {
			v := si(*a.Max)
			ax.max = &v
		}
		out = append(out, ax)
	}
	return out
}

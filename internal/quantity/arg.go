package quantity

import (
	"encoding/json"
	"math"
	"strings"
)

// argSuffixes are the unit endings of argument and attribute names, the longer
// before those they end with.
var argSuffixes = [...]struct {
	suffix string
	unit   string
}{
	{"mm_s", "mm/s"},
	{"cm_s", "cm/s"},
	{"m_s", "m/s"},
	{"km_h", "km/h"},
	{"deg_s", "deg/s"},
	{"rad_s", "rad/s"},
	{"ml_min", "mL/min"},
	{"ul_min", "uL/min"},
	{"l_min", "L/min"},
	{"ul_s", "uL/s"},
	{"ml_s", "mL/s"},
	{"ml_h", "mL/h"},
	{"sccm", "sccm"},
	{"k_h", "K/h"},
	{"k_min", "K/min"},
	{"c_min", "C/min"},
	{"c_h", "C/h"},
	{"c_s", "C/s"},
	{"mbar", "mbar"},
	{"barg", "barg"},
	{"bara", "bara"},
	{"bar", "bar"},
	{"kpa", "kPa"},
	{"mpa", "MPa"},
	{"hpa", "hPa"},
	{"psi", "psi"},
	{"pa", "Pa"},
	{"rpm", "rpm"},
	{"rcf", "rcf"},
	{"x_g", "xg"},
	{"xg", "xg"},
	{"kg", "kg"},
	{"mg", "mg"},
	{"ug", "ug"},
	{"g", "g"},
	{"ul", "uL"},
	{"nl", "nL"},
	{"ml", "mL"},
	{"l", "L"},
	{"litres", "L"},
	{"liters", "L"},
	{"kn", "kN"},
	{"n", "N"},
	{"um", "um"},
	{"mm", "mm"},
	{"cm", "cm"},
	{"km", "km"},
	{"m", "m"},
	{"ms", "ms"},
	{"s", "s"},
	{"sec", "s"},
	{"seconds", "s"},
	{"min", "min"},
	{"minutes", "min"},
	{"h", "h"},
	{"hours", "h"},
	{"days", "d"},
	{"pct", "%"},
	{"percent", "%"},
	{"ppm", "ppm"},
	{"ppb", "ppb"},
	{"mmol", "mmol"},
	{"umol", "umol"},
	{"mol", "mol"},
	{"deg", "deg"},
	{"rad", "rad"},
	{"mw", "mW"},
	{"kw", "kW"},
	{"w", "W"},
	{"kev", "keV"},
	{"ev", "eV"},
	{"eur", "EUR"},
	{"usd", "USD"},
	{"c", "C"},
	{"k", "K"},
	{"f", "F"},
	{"celsius", "C"},
	{"kelvin", "K"},
}

// ArgUnit says what an argument or attribute name measures by the unit it ends
// with ("speed_mm_s", "max_c", "temp_c_max") and how its values become SI. A
// name without a unit gives None and the identity.
func ArgUnit(name string) (Kind, func(float64) float64) {
	u, _ := argUnit(name)
	if u.kind == None {
		return None, func(v float64) float64 { return v }
	}
	return u.kind, func(v float64) float64 { return v*u.factor + u.offset }
}

// UnitOf returns the unit an argument name ends with, as people write it.
func UnitOf(name string) string {
	_, text := argUnit(name)
	return text
}

func argUnit(name string) (unit, string) {
	low := foldASCII(name)
	low = strings.TrimSuffix(strings.TrimSuffix(low, "_max"), "_limit")
	// The suffix must be whole words, and the longest one that fits wins.
	best := -1
	for i, a := range argSuffixes {
		if n := len(low) - len(a.suffix); n >= 0 && low[n:] == a.suffix && (n == 0 || low[n-1] == '_') && (best < 0 || len(a.suffix) > len(argSuffixes[best].suffix)) {
			best = i
		}
	}
	if best < 0 {
		return unit{}, ""
	}
	text := argSuffixes[best].unit
	if text == low && len(low) == 1 {
		return unit{}, "" // a one-letter name is no unit
	}
	if text == "g" && (strings.Contains(low, "rcf") || strings.Contains(low, "accel") || strings.Contains(low, "centrif")) {
		text = "xg"
	}
	u, _, n := matchUnit(text)
	if n == 0 {
		return unit{}, ""
	}
	return u, text
}

// ReadArg reads the value of the argument called name: the unit comes from the
// name. Text that holds a number is read as text; other values give false.
func ReadArg(name string, value any) (Quantity, bool) {
	u, text := argUnit(name)
	q := Quantity{Kind: u.kind, Unit: text, Count: 1}
	var v float64
	var err error
	switch x := value.(type) {
	case json.Number:
		q.Text = x.String()
		v, err = x.Float64()
	case float64:
		v = x
	case int:
		v = float64(x)
	case string:
		if qs := Read(x); len(qs) == 1 {
			if qs[0].Kind == None && u.kind != None {
				qs[0].Kind, qs[0].Unit = u.kind, text
				for i, r := range qs[0].Readings {
					qs[0].Readings[i] = r*u.factor + u.offset
				}
			}
			return qs[0], true
		}
		return Quantity{}, false
	default:
		return Quantity{}, false
	}
	if u.kind != None {
		v = v*u.factor + u.offset
	}
	q.Bad = err != nil || math.IsNaN(v) || math.IsInf(v, 0)
	q.Readings = []float64{v}
	if u.gauge == bothGauge {
		q.Readings = append(q.Readings, v+standardAtmosphere)
	}
	return q, true
}

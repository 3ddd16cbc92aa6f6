package quantity

import (
	"encoding/json"
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
	low := Lower(name)
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

// A Measure is the unit an argument name states. It is made once for a name and
// read with many values.
type Measure struct {
	unit unit
	text string
}

// MeasureOf returns the measure of an argument name.
func MeasureOf(name string) Measure {
	u, text := argUnit(name)
	return Measure{u, text}
}

// Kind returns what the argument measures, None if its name has no unit.
func (m Measure) Kind() Kind { return m.unit.kind }

// ReadArg reads the value of the argument called name: the unit comes from the
// name. Text that holds a number is read as text; other values give false.
func ReadArg(name string, value any) (Quantity, bool) { return MeasureOf(name).Read(value) }

// Read reads one value of the argument.
func (m Measure) Read(value any) (Quantity, bool) {
	var r Reader
	return r.Value(m, value)
}

// Value reads one value of an argument into the reader's storage.
func (r *Reader) Value(m Measure, value any) (Quantity, bool) {
	u := m.unit
	q := Quantity{Kind: u.kind, Unit: m.text, Count: 1}
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
		return m.readText(r, x)
	default:
		return Quantity{}, false
	}
	q.Readings, q.Bad = r.convert(u, []float64{v}, false, err != nil)
	return q, true
}

// readText reads a number given as text; its own unit, if any, wins.
func (m Measure) readText(r *Reader, s string) (Quantity, bool) {
	switch strings.ToLower(strings.Trim(s, " +-")) {
	case "nan", "inf", "infinity":
		return Quantity{Kind: m.unit.kind, Unit: m.text, Text: s, Count: 1, Bad: true}, true
	}
	qs := r.Read(s, Lower(s))
	if len(qs) != 1 {
		return Quantity{}, false
	}
	q := qs[0]
	if q.Kind == None && m.unit.kind != None {
		q.Kind, q.Unit = m.unit.kind, m.text
		for i, v := range q.Readings {
			q.Readings[i] = v*m.unit.factor + m.unit.offset
		}
	}
	return q, true
}

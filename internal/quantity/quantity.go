// Package quantity reads numbers with units out of prose and arguments: every
// plausible reading of each, in SI, so that a limit can be held against the
// worst of them.
package quantity

// A Kind is a physical dimension.
type Kind string

// The kinds, each with the SI unit its values are in.
const (
	None          Kind = ""              // a bare number
	Speed         Kind = "speed"         // m/s
	Temperature   Kind = "temperature"   // K
	TempDelta     Kind = "temp_delta"    // K, a difference
	Pressure      Kind = "pressure"      // Pa, absolute
	Rotation      Kind = "rotation"      // 1/min
	Acceleration  Kind = "acceleration"  // ×g
	Mass          Kind = "mass"          // kg
	Volume        Kind = "volume"        // m3
	Length        Kind = "length"        // m
	Force         Kind = "force"         // N
	Time          Kind = "time"          // s
	Flow          Kind = "flow"          // m3/s
	Concentration Kind = "concentration" // mol/m3
	Amount        Kind = "amount"        // mol
	Fraction      Kind = "fraction"      // 1 (from % or ppm)
	Angle         Kind = "angle"         // rad
	AngularSpeed  Kind = "angular_speed" // rad/s
	Energy        Kind = "energy"        // J
	Power         Kind = "power"         // W
	Money         Kind = "money"         // in the currency written
	Ramp          Kind = "ramp"          // K/s
	Density       Kind = "density"       // kg/m3
	Other         Kind = "other"         // a known unit of a dimension not modelled here (V, Hz, Sv/h); the value is as written
)

// A Quantity is one number as written, with all its plausible readings.
type Quantity struct {
	Kind     Kind
	Readings []float64 // in the SI unit of Kind, the most plausible first; more than one for "1,500" (1500 or 1.5) or bar without gauge/absolute
	Text     string    // as written
	Unit     string    // as written, "" for a bare number
	Start    int       // byte range in the text read
	End      int
	Relative bool // "10 % faster", "+20 °C": a change, not a value
	Bad      bool // NaN, infinite or overflowing: a finding, never a pass
	Bound    int8 // -1 "at most", +1 "at least", 0 the value itself
	OfMax    bool // a fraction of whatever the limit is: "full speed" (1), "80 % of maximum" (0.8)
	Count    int  // how often a relative change is made: "+50 mm/s twice" is 2; at least 1
	Gauge    int8 // of a pressure: +1 gauge, -1 absolute, 0 not said (then readings come in pairs absolute, gauge)
}

// Max returns the highest reading, and false when there is none or one is not
// a finite number.
func (q *Quantity) Max() (float64, bool) {
	if q.Bad || len(q.Readings) == 0 {
		return 0, false
	}
	m := q.Readings[0]
	for _, r := range q.Readings[1:] {
		m = max(m, r)
	}
	return m, true
}

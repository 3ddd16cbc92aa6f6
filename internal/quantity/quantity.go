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
)

// A Quantity is one number as written, with all its plausible readings.
type Quantity struct {
	Kind     Kind
	Readings []float64 // in the SI unit of Kind; more than one for "1,500" (1.5 or 1500) or bar without gauge/absolute
	Text     string    // as written
	Unit     string    // as written, "" for a bare number
	Start    int       // byte range in the text read
	End      int
	Relative bool // "10 % faster", "+20 °C": a change, not a value
	Bad      bool // NaN, infinite or overflowing: a finding, never a pass
	Bound    int8 // -1 "at most", +1 "at least", 0 the value itself
}

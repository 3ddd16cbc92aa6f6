package quantity

import (
	"math"
	"strconv"
)

// Format writes the SI value v in the given unit, e.g. Format(0.25, "mm/s") is
// "250 mm/s". It reports false for a unit it does not know.
func Format(v float64, in string) (string, bool) {
	u, start, n := matchUnit(in)
	if n == 0 || start != 0 || n != len(in) {
		return "", false
	}
	x := (v - u.offset) / u.factor
	// Twelve significant digits hide the last bits of the conversion.
	return strconv.FormatFloat(roundSignificant(x), 'f', -1, 64) + " " + in, true
}

func roundSignificant(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// gravity is standard gravity, m/s2.
const gravity = 9.80665

// RCF returns the relative centrifugal force, in multiples of g, at rpm
// revolutions per minute on a rotor of the given radius in metres.
func RCF(rpm, radius float64) float64 {
	w := rpm * 2 * math.Pi / 60
	return w * w * radius / gravity
}

// RPM returns the rotation in 1/min that gives rcf times g on a rotor of the
// given radius in metres.
func RPM(rcf, radius float64) float64 {
	if radius <= 0 || rcf < 0 {
		return math.NaN()
	}
	return math.Sqrt(rcf*gravity/radius) * 60 / (2 * math.Pi)
}

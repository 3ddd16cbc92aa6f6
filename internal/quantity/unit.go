package quantity

import "strings"

// standardAtmosphere turns gauge into absolute pressure. Pa.
const standardAtmosphere = 101325

// A unit says how a number written with it becomes SI: si = v*factor + offset.
type unit struct {
	kind   Kind
	factor float64
	offset float64
	gauge  int8 // +1 gauge, -1 absolute, 2: not said
}

// delta is the unit for a difference: temperatures lose their offset.
func (u unit) delta() unit {
	u.offset = 0
	if u.kind == Temperature {
		u.kind = TempDelta
	}
	return u
}

const (
	bothGauge = 2
	inch      = 0.0254
	pound     = 0.45359237
	psiPa     = 6894.757293168
	electron  = 1.602176634e-19
)

func of(k Kind, factor float64) unit { return unit{kind: k, factor: factor} }

func celsius() unit    { return unit{Temperature, 1, 273.15, 0} }
func fahrenheit() unit { return unit{Temperature, 5.0 / 9, 459.67 * 5 / 9, 0} }

func pressure(factor float64, gauge int8) unit {
	u := unit{Pressure, factor, 0, gauge}
	if gauge == 1 {
		u.offset = standardAtmosphere
	}
	return u
}

// symbol returns the unit with the case-sensitive symbol sym.
func symbol(sym string) (unit, bool) {
	u, ok := symbols[sym]
	return u, ok
}

// symbols are written exactly like this; "µ" (U+00B5), "μ" (U+03BC) and "u" are
// the same and are stored as "u".
var symbols = map[string]unit{
	"nm": of(Length, 1e-9), "um": of(Length, 1e-6), "mm": of(Length, 1e-3), "cm": of(Length, 1e-2), "dm": of(Length, 0.1), "m": of(Length, 1), "km": of(Length, 1e3), "ft": of(Length, 12*inch),
	"mm2": of(Other, 1), "cm2": of(Other, 1), "m2": of(Other, 1),
	"ns": of(Time, 1e-9), "us": of(Time, 1e-6), "ms": of(Time, 1e-3), "s": of(Time, 1), "min": of(Time, 60), "h": of(Time, 3600), "hr": of(Time, 3600), "d": of(Time, 86400),
	"ng": of(Mass, 1e-12), "ug": of(Mass, 1e-9), "mcg": of(Mass, 1e-9), "mg": of(Mass, 1e-6), "g": of(Mass, 1e-3), "kg": of(Mass, 1), "t": of(Mass, 1e3), "lb": of(Mass, pound), "lbs": of(Mass, pound), "oz": of(Mass, pound/16),
	"nL": of(Volume, 1e-12), "nl": of(Volume, 1e-12), "uL": of(Volume, 1e-9), "ul": of(Volume, 1e-9), "mL": of(Volume, 1e-6), "ml": of(Volume, 1e-6), "cL": of(Volume, 1e-5), "cl": of(Volume, 1e-5),
	"dL": of(Volume, 1e-4), "dl": of(Volume, 1e-4), "L": of(Volume, 1e-3), "l": of(Volume, 1e-3), "cc": of(Volume, 1e-6), "mm3": of(Volume, 1e-9), "cm3": of(Volume, 1e-6), "m3": of(Volume, 1),
	"C": celsius(), "degC": celsius(), "K": of(Temperature, 1), "F": fahrenheit(), "degF": fahrenheit(),
	"Pa": pressure(1, -1), "hPa": pressure(100, -1), "kPa": pressure(1e3, bothGauge), "MPa": pressure(1e6, bothGauge),
	"bar": pressure(1e5, bothGauge), "mbar": pressure(100, -1), "barg": pressure(1e5, 1), "bara": pressure(1e5, -1),
	"psi": pressure(psiPa, bothGauge), "psig": pressure(psiPa, 1), "psia": pressure(psiPa, -1), "atm": pressure(standardAtmosphere, bothGauge),
	"Torr": pressure(standardAtmosphere/760.0, -1), "torr": pressure(standardAtmosphere/760.0, -1), "mmHg": pressure(133.322, -1),
	"rpm": of(Rotation, 1), "RPM": of(Rotation, 1), "Rpm": of(Rotation, 1), "krpm": of(Rotation, 1e3),
	"xg": of(Acceleration, 1), "rcf": of(Acceleration, 1), "RCF": of(Acceleration, 1), "gn": of(Acceleration, 1),
	"N": of(Force, 1), "kN": of(Force, 1e3), "mN": of(Force, 1e-3), "lbf": of(Force, 4.4482216), "kgf": of(Force, 9.80665), "Nm": of(Other, 1),
	"M": of(Concentration, 1e3), "mM": of(Concentration, 1), "uM": of(Concentration, 1e-3), "nM": of(Concentration, 1e-6),
	"mol": of(Amount, 1), "mmol": of(Amount, 1e-3), "umol": of(Amount, 1e-6), "nmol": of(Amount, 1e-9), "kmol": of(Amount, 1e3),
	"ppm": of(Fraction, 1e-6), "ppb": of(Fraction, 1e-9), "pct": of(Fraction, 0.01),
	"deg": of(Angle, degree), "rad": of(Angle, 1), "mrad": of(Angle, 1e-3),
	"sccm": of(Flow, 1e-6/60), "slm": of(Flow, 1e-3/60), "lpm": of(Flow, 1e-3/60),
	"eV": of(Energy, electron), "keV": of(Energy, 1e3*electron), "MeV": of(Energy, 1e6*electron), "J": of(Energy, 1), "mJ": of(Energy, 1e-3), "kJ": of(Energy, 1e3), "kWh": of(Energy, 3.6e6),
	"W": of(Power, 1), "mW": of(Power, 1e-3), "kW": of(Power, 1e3), "MW": of(Power, 1e6),
	"EUR": of(Money, 1), "USD": of(Money, 1), "GBP": of(Money, 1), "CHF": of(Money, 1), "NOK": of(Money, 1),
	"V": of(Other, 1), "mV": of(Other, 1), "kV": of(Other, 1), "mA": of(Other, 1), "Hz": of(Other, 1), "kHz": of(Other, 1), "MHz": of(Other, 1), "GHz": of(Other, 1),
	"Sv": of(Other, 1), "mSv": of(Other, 1), "uSv": of(Other, 1), "Gy": of(Other, 1), "dB": of(Other, 1), "lx": of(Other, 1), "kB": of(Other, 1), "MB": of(Other, 1), "GB": of(Other, 1),
	"mph": of(Speed, 0.44704), "kmh": of(Speed, 1/3.6), "kph": of(Speed, 1/3.6), "fps": of(Speed, 12*inch),
	"rev": of(rev, 1), "U": of(rev, 1), "r": of(rev, 1),
}

// rev counts turns: it is a unit only over a time ("rev/min").
const rev Kind = "rev"

const degree = 3.14159265358979323846 / 180

// named are unit names in any case, plurals in s included; also the symbols
// that planners write in the wrong case and that mean nothing else.
var named = map[string]unit{
	"millimetre": of(Length, 1e-3), "millimeter": of(Length, 1e-3), "centimetre": of(Length, 1e-2), "centimeter": of(Length, 1e-2), "metre": of(Length, 1), "meter": of(Length, 1),
	"kilometre": of(Length, 1e3), "kilometer": of(Length, 1e3), "micron": of(Length, 1e-6), "micrometre": of(Length, 1e-6), "micrometer": of(Length, 1e-6), "nanometre": of(Length, 1e-9), "nanometer": of(Length, 1e-9),
	"inch": of(Length, inch), "inche": of(Length, inch), "foot": of(Length, 12*inch), "feet": of(Length, 12*inch), "mètre": of(Length, 1), "metro": of(Length, 1),
	"second": of(Time, 1), "sec": of(Time, 1), "minute": of(Time, 60), "min": of(Time, 60), "mn": of(Time, 60), "hour": of(Time, 3600), "hr": of(Time, 3600), "day": of(Time, 86400), "week": of(Time, 7*86400), "millisecond": of(Time, 1e-3),
	"sekunde": of(Time, 1), "sekunden": of(Time, 1), "sekund": of(Time, 1), "sekunder": of(Time, 1), "minuten": of(Time, 60), "minutt": of(Time, 60), "minutter": of(Time, 60), "stunde": of(Time, 3600), "stunden": of(Time, 3600),
	"timer": of(Time, 3600), "tag": of(Time, 86400), "tage": of(Time, 86400), "heure": of(Time, 3600), "jour": of(Time, 86400), "seconde": of(Time, 1), "minuto": of(Time, 60), "hora": of(Time, 3600), "segundo": of(Time, 1),
	"gram": of(Mass, 1e-3), "gramme": of(Mass, 1e-3), "kilogram": of(Mass, 1), "kilogramme": of(Mass, 1), "kilo": of(Mass, 1), "milligram": of(Mass, 1e-6), "microgram": of(Mass, 1e-9), "tonne": of(Mass, 1e3), "ton": of(Mass, 1e3), "pound": of(Mass, pound), "ounce": of(Mass, pound/16), "gramm": of(Mass, 1e-3), "kilogramm": of(Mass, 1), "kg": of(Mass, 1),
	"litre": of(Volume, 1e-3), "liter": of(Volume, 1e-3), "millilitre": of(Volume, 1e-6), "milliliter": of(Volume, 1e-6), "microlitre": of(Volume, 1e-9), "microliter": of(Volume, 1e-9), "gallon": of(Volume, 3.785411784e-3), "ml": of(Volume, 1e-6),
	"celsius": celsius(), "centigrade": celsius(), "kelvin": of(Temperature, 1), "fahrenheit": fahrenheit(),
	"pascal": pressure(1, -1), "kilopascal": pressure(1e3, bothGauge), "megapascal": pressure(1e6, bothGauge), "bar": pressure(1e5, bothGauge), "millibar": pressure(100, -1), "atmosphere": pressure(standardAtmosphere, bothGauge), "kpa": pressure(1e3, bothGauge), "psi": pressure(psiPa, bothGauge),
	"newton": of(Force, 1), "kilonewton": of(Force, 1e3), "molar": of(Concentration, 1e3), "millimolar": of(Concentration, 1), "micromolar": of(Concentration, 1e-3), "mole": of(Amount, 1), "millimole": of(Amount, 1e-3),
	"percent": of(Fraction, 0.01), "prozent": of(Fraction, 0.01), "prosent": of(Fraction, 0.01), "pourcent": of(Fraction, 0.01),
	"degree": of(Angle, degree), "grad": of(Angle, degree), "grader": of(Angle, degree), "radian": of(Angle, 1), "degré": of(Angle, degree), "grado": of(Angle, degree),
	"watt": of(Power, 1), "milliwatt": of(Power, 1e-3), "kilowatt": of(Power, 1e3), "joule": of(Energy, 1), "kev": of(Energy, 1e3*electron),
	"euro": of(Money, 1), "dollar": of(Money, 1), "volt": of(Other, 1), "hertz": of(Other, 1), "sievert": of(Other, 1),
	"revolution": of(rev, 1), "turn": of(rev, 1), "rotation": of(rev, 1), "umdrehung": of(rev, 1), "umdrehungen": of(rev, 1), "tr": of(rev, 1), "tour": of(rev, 1), "rpm": of(Rotation, 1),
}

// lookup finds a unit by its letters: the symbol as written, else a name.
func lookup(word string) (unit, bool) {
	if u, ok := symbols[word]; ok {
		return u, true
	}
	var buf [24]byte
	if len(word) > len(buf) {
		return unit{}, false
	}
	// Micro signs fold to u for the symbols; names are folded to lower case.
	n, micro := 0, false
	for i := 0; i < len(word); i++ {
		switch {
		case strings.HasPrefix(word[i:], "µ") || strings.HasPrefix(word[i:], "μ"):
			buf[n], micro = 'u', true
			i++
		default:
			buf[n] = word[i]
		}
		n++
	}
	if micro {
		u, ok := symbols[string(buf[:n])]
		return u, ok
	}
	lower(buf[:n])
	end := buf[max(n, 1)-1]
	if n <= 2 && end != 'g' && end != 'l' { // "MM", "S": too short to guess, except KG and ML
		return unit{}, false
	}
	if u, ok := named[string(buf[:n])]; ok {
		return u, true
	}
	if n > 3 && end == 's' {
		if u, ok := named[string(buf[:n-1])]; ok {
			return u, true
		}
	}
	return unit{}, false
}

func lower(b []byte) {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}

// over divides one unit by another: mm over s is a speed.
func over(a, b unit) unit {
	var kind Kind
	switch {
	case a.kind == Length && b.kind == Time:
		kind = Speed
	case a.kind == Volume && b.kind == Time:
		kind = Flow
	case (a.kind == Temperature || a.kind == TempDelta) && b.kind == Time:
		kind = Ramp
	case a.kind == Angle && b.kind == Time:
		kind = AngularSpeed
	case a.kind == rev && b.kind == Time:
		return of(Rotation, 60/b.factor)
	case a.kind == Amount && b.kind == Volume:
		kind = Concentration
	case a.kind == Mass && b.kind == Volume:
		kind = Density
	default:
		return of(Other, 1)
	}
	return of(kind, a.factor/b.factor)
}

package quantity

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// near compares within a millionth.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-6*max(math.Abs(a), math.Abs(b), 1e-12)
}

func TestReadUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		kind Kind
		want []float64
	}{
		{"250 mm/s", Speed, []float64{0.25}},
		{"at 1.2 m/s", Speed, []float64{1.2}},
		{"36 km/h", Speed, []float64{10}},
		{"25cm/s", Speed, []float64{0.25}},
		{"250 millimetres per second", Speed, []float64{0.25}},
		{"2 m s-1", Speed, []float64{2}},
		{"5 mph", Speed, []float64{2.2352}},
		{"250 mm / s", Speed, []float64{0.25}},
		{"37 °C", Temperature, []float64{310.15}},
		{"37C", Temperature, []float64{310.15}},
		{"-80 C", Temperature, []float64{193.15}},
		{"−20 °C", Temperature, []float64{253.15}},
		{"100 K", Temperature, []float64{100}},
		{"212 °F", Temperature, []float64{373.15}},
		{"300 degrees Celsius", Temperature, []float64{573.15}},
		{"300 deg C", Temperature, []float64{573.15}},
		{"30 bar", Pressure, []float64{3e6, 3e6 + 101325}},
		{"30 barg", Pressure, []float64{3e6 + 101325}},
		{"30 bar(g)", Pressure, []float64{3e6 + 101325}},
		{"30 bar absolute", Pressure, []float64{3e6}},
		{"150 mbar", Pressure, []float64{15000}},
		{"14.5 psia", Pressure, []float64{99973.97}},
		{"200 kPa", Pressure, []float64{2e5, 301325}},
		{"1 MPa", Pressure, []float64{1e6, 1101325}},
		{"14000 rpm", Rotation, []float64{14000}},
		{"500 revolutions per minute", Rotation, []float64{500}},
		{"10 rev/s", Rotation, []float64{600}},
		{"900 U/min", Rotation, []float64{900}},
		{"300 ×g", Acceleration, []float64{300}},
		{"300 x g", Acceleration, []float64{300}},
		{"300xg", Acceleration, []float64{300}},
		{"300 g-force", Acceleration, []float64{300}},
		{"21000 RCF", Acceleration, []float64{21000}},
		{"10.5 g", Mass, []float64{0.0105}},
		{"5 mg", Mass, []float64{5e-6}},
		{"3 µg", Mass, []float64{3e-9}},
		{"180 kg", Mass, []float64{180}},
		{"5 lbs", Mass, []float64{2.26796185}},
		{"190 uL", Volume, []float64{1.9e-7}},
		{"190 µL", Volume, []float64{1.9e-7}},
		{"500 mL", Volume, []float64{5e-4}},
		{"1 L", Volume, []float64{1e-3}},
		{"25 cm³", Volume, []float64{2.5e-5}},
		{"2 litres", Volume, []float64{2e-3}},
		{"30 N", Force, []float64{30}},
		{"40 newtons", Force, []float64{40}},
		{"160 mm", Length, []float64{0.16}},
		{"28 cm", Length, []float64{0.28}},
		{"40 m above", Length, []float64{40}},
		{"20 min", Time, []float64{1200}},
		{"45 s", Time, []float64{45}},
		{"twelve minutes", Time, []float64{720}},
		{"72 h", Time, []float64{259200}},
		{"2 days", Time, []float64{172800}},
		{"30-minute", Time, []float64{1800}},
		{"70 %", Fraction, []float64{0.7}},
		{"25 ppm", Fraction, []float64{25e-6}},
		{"5 percent", Fraction, []float64{0.05}},
		{"0.1 M", Concentration, []float64{100}},
		{"5 mM", Concentration, []float64{5}},
		{"2 mol/L", Concentration, []float64{2000}},
		{"5 mmol", Amount, []float64{0.005}},
		{"1 mL/min", Flow, []float64{1e-6 / 60}},
		{"20 sccm", Flow, []float64{20e-6 / 60}},
		{"5 mL per minute", Flow, []float64{5e-6 / 60}},
		{"40 mg/L", Density, []float64{0.04}},
		{"80 deg", Angle, []float64{80 * degree}},
		{"130 deg/s", AngularSpeed, []float64{130 * degree}},
		{"2 kW", Power, []float64{2000}},
		{"40 mW", Power, []float64{0.04}},
		{"12 keV", Energy, []float64{12e3 * electron}},
		{"1,850 EUR", Money, []float64{1850, 1.85}},
		{"€ 2000", Money, []float64{2000}},
		{"120 K/h", Ramp, []float64{120.0 / 3600}},
		{"10 C/min", Ramp, []float64{10.0 / 60}},
		{"0.5 uSv/h", Other, []float64{1}},
		// which mark separates what
		{"1,500 mm/s", Speed, []float64{1.5, 0.0015}},
		{"1.500 rpm", Rotation, []float64{1.5, 1500}},
		{"0,5 mL", Volume, []float64{5e-7}},
		{"1.500,5 mm/s", Speed, []float64{1.5005}},
		{"1,234,567 mm", Length, []float64{1234.567}},
		{"1 500 mm/s", Speed, []float64{1.5, 0.5}},
		{"1'500 mm/s", Speed, []float64{1.5}},
		{"1\u202f500 mm/s", Speed, []float64{1.5}},
		{"1e3 mm/s", Speed, []float64{1}},
		{"2.5×10^3 rpm", Rotation, []float64{2500}},
		{"5 × 10⁴ rpm", Rotation, []float64{50000}},
		{"２５０ mm/s", Speed, []float64{0.25}},
		{".5 bara", Pressure, []float64{50000}},
		{"½ L", Volume, []float64{5e-4}},
		// words
		{"two hundred and fifty mm/s", Speed, []float64{0.25}},
		{"fifteen hundred rpm", Rotation, []float64{1500}},
		{"stretch_1 300 mm/s to the dock", Speed, []float64{0.3}},
		{"S2 500 mm/s", Speed, []float64{0.5}},
		{"arm-1 300 mm/s", Speed, []float64{0.3}},
		{"at 1 300 mm/s", Speed, []float64{1.3, 0.3}},
		{"one thousand two hundred mm/s", Speed, []float64{1.2}},
		{"thirty-five °C", Temperature, []float64{308.15}},
		{"a hundred newtons", Force, []float64{100}},
		{"half an hour", Time, []float64{1800}},
	} {
		got := Read(c.text)
		if len(got) != 1 {
			t.Errorf("%q: %d quantities, want one: %+v", c.text, len(got), got)
			continue
		}
		q := got[0]
		if q.Kind != c.kind || len(q.Readings) != len(c.want) || q.Bad {
			t.Errorf("%q: %s %v (bad %v), want %s %v", c.text, q.Kind, q.Readings, q.Bad, c.kind, c.want)
			continue
		}
		for i := range c.want {
			if c.kind != Other && !near(q.Readings[i], c.want[i]) {
				t.Errorf("%q: reading %d is %v, want %v", c.text, i, q.Readings[i], c.want[i])
			}
		}
	}
}

func TestReadContext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		bound    int8
		relative bool
		ofMax    bool
		count    int
		first    float64
	}{
		{"at most 250 mm/s", -1, false, false, 1, 0.25},
		{"no more than 250 mm/s", -1, false, false, 1, 0.25},
		{"under 250 mm/s", -1, false, false, 1, 0.25},
		{"<= 250 mm/s", -1, false, false, 1, 0.25},
		{"< 250 mm/s", -1, false, false, 1, 0.25},
		{"250 mm/s or less", -1, false, false, 1, 0.25},
		{"never above 250 mm/s", -1, false, false, 1, 0.25},
		{"max. 250 mm/s", -1, false, false, 1, 0.25},
		{"up to 250 mm/s", -1, false, false, 1, 0.25},
		{"the limit is 250 mm/s", -1, false, false, 1, 0.25},
		{"at least 250 mm/s", 1, false, false, 1, 0.25},
		{"over 250 mm/s", 1, false, false, 1, 0.25},
		{"more than 250 mm/s", 1, false, false, 1, 0.25},
		{"not less than 250 mm/s", 1, false, false, 1, 0.25},
		{"> 250 mm/s", 1, false, false, 1, 0.25},
		{"250 mm/s or more", 1, false, false, 1, 0.25},
		{"raise it by 20 %", 0, true, false, 1, 0.2},
		{"reduce the speed by 20 %", 0, true, false, 1, -0.2},
		{"20 % faster", 0, true, false, 1, 0.2},
		{"another 30 °C", 0, true, false, 1, 30},
		{"+50 mm/s twice", 0, true, false, 2, 0.05},
		{"+50 mm/s three times", 0, true, false, 3, 0.05},
		{"+36 °F", 0, true, false, 1, 20},
		{"80 % of maximum", 0, false, true, 1, 0.8},
		{"at 80 % of its rated speed", 0, false, true, 1, 0.8},
		{"full speed", 0, false, true, 1, 1},
		{"at half speed", 0, false, true, 1, 0.5},
		{"run at maximum", 0, false, true, 1, 1},
		{"as fast as possible", 0, false, true, 1, 1},
		{"80 % speed", 0, false, true, 1, 0.8},
		{"maximum speed 250 mm/s", 0, false, false, 1, 0.25},
		{"20 °C above the boiling point", 0, true, false, 1, 20},
		{"50 mm/s over the limit", 0, true, false, 1, 0.05},
		{"50 mm/s below its rated speed", 0, true, false, 1, -0.05},
		{"600 mm/s over the open floor", 0, false, false, 1, 0.6},
		{"åtte mm/s", 0, false, false, 1, 0.008},
	} {
		got := Read(c.text)
		if len(got) != 1 {
			t.Errorf("%q: %d quantities, want one: %+v", c.text, len(got), got)
			continue
		}
		q := got[0]
		if q.Bound != c.bound || q.Relative != c.relative || q.OfMax != c.ofMax || q.Count != c.count || !near(q.Readings[0], c.first) {
			t.Errorf("%q: bound %d relative %v ofMax %v count %d %v", c.text, q.Bound, q.Relative, q.OfMax, q.Count, q.Readings)
		}
	}
}

func TestReadLists(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]float64{
		"100, 200, 300 and 330 C": {373.15, 473.15, 573.15, 603.15},
		"100-200 mm/s":            {0.1, 0.2},
		"between 5 and 10 mL":     {5e-6, 1e-5},
		"298-353 K":               {298, 353},
		"100 / 150 / 200 bara":    {1e7, 1.5e7, 2e7},
		"0, 2, 4 and 6 h":         {0, 7200, 14400, 21600},
		"5 – 10 N":                {5, 10},
	} {
		got := Read(text)
		if len(got) != len(want) {
			t.Errorf("%q: %d quantities, want %d", text, len(got), len(want))
			continue
		}
		for i := range want {
			if !near(got[i].Readings[0], want[i]) || got[i].Kind == None {
				t.Errorf("%q [%d]: %s %v, want %v", text, i, got[i].Kind, got[i].Readings, want[i])
			}
		}
	}
}

func TestReadLeavesOut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"at 08:30", "2026-11-17", "ur5e_1", "V-01 to V-24", "ward 3A", "version 3.2.1", "the 1st one", "infinite loops", "to infinity and beyond", "CAS 7664-93-9", "BH-W1", "two people", "half of them", "NB-ops-11", "maximum care", "as soon as possible", "1:100"} {
		for _, q := range Read(text) {
			t.Errorf("%q: unexpected %q (%s %v)", text, q.Text, q.Kind, q.Readings)
		}
	}
}

func TestReadBad(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"NaN mm/s", "1e309 rpm", "inf mm/s", "∞ C", "infinity K", "speed NaN", "speed = infinity", "set the temperature to NaN", "9" + strings.Repeat("9", 400) + " C"} {
		got := Read(text)
		if len(got) != 1 || !got[0].Bad {
			t.Errorf("%q: want one bad quantity, got %+v", text, got)
		}
	}
}

func TestArgUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		kind Kind
		v    float64
		want float64
	}{
		{"speed_mm_s", Speed, 250, 0.25},
		{"temp_c", Temperature, 37, 310.15},
		{"volume_ul", Volume, 100, 1e-7},
		{"force_n", Force, 30, 30},
		{"pressure_bar", Pressure, 4, 4e5},
		{"rpm", Rotation, 400, 400},
		{"minutes", Time, 2, 120},
		{"hold_min", Time, 2, 120},
		{"mass_kg", Mass, 3, 3},
		{"height_m", Length, 40, 40},
		{"ramp_c_min", Ramp, 60, 1},
		{"ramp_k_h", Ramp, 3600, 1},
		{"speed_deg_s", AngularSpeed, 1, degree},
		{"kev", Energy, 1, 1e3 * electron},
		{"power_mw", Power, 40, 0.04},
		{"rate_ml_min", Flow, 60, 1e-6},
		{"temp_c_max", Temperature, 0, 273.15},
		{"site_speed_limit_mm_s", Speed, 1000, 1},
		{"co2_pct", Fraction, 5, 0.05},
		{"cycles", None, 3, 3},
		{"pressure_mbar", Pressure, 1000, 1e5},
		{"max_g", Mass, 220, 0.22},
		{"exposure_s", Time, 1, 1},
		{"bar", Pressure, 1, 1e5},
	} {
		kind, f := ArgUnit(c.name)
		if kind != c.kind || !near(f(c.v), c.want) {
			t.Errorf("%s: %s %v, want %s %v", c.name, kind, f(c.v), c.kind, c.want)
		}
	}
}

func TestReadArg(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		value any
		ok    bool
		bad   bool
		want  float64
	}{
		{"temp_c", json.Number("37"), true, false, 310.15},
		{"temp_c", json.Number("1e400"), true, true, 0},
		{"temp_c", "37 °C", true, false, 310.15},
		{"temp_c", "37", true, false, 310.15},
		{"temp_c", "NaN", true, true, 0},
		{"temp_c", true, false, false, 0},
		{"cycles", json.Number("3"), true, false, 3},
		{"cycles", "3", true, false, 3},
		{"target", "fh1", false, false, 0},
	} {
		q, ok := ReadArg(c.name, c.value)
		if ok != c.ok || q.Bad != c.bad || ok && !c.bad && !near(q.Readings[0], c.want) {
			t.Errorf("%s=%v: %+v %v", c.name, c.value, q, ok)
		}
	}
}

// A value written by Format is read back as itself, whatever stands around it.
func TestFormatThenRead(t *testing.T) {
	t.Parallel()
	units := []string{"mm/s", "m/s", "°C", "K", "°F", "bara", "psig", "rpm", "xg", "mg", "kg", "mL", "L", "N", "mm", "min", "h", "%", "ppm", "mM", "mmol", "mL/min", "deg", "deg/s", "kW", "K/h"}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SampledFrom(units).Draw(t, "unit")
		x := float64(rapid.IntRange(0, 1_000_000).Draw(t, "milli")) / 1000
		u, _, _ := matchUnit(in)
		si := x*u.factor + u.offset
		text, ok := Format(si, in)
		if !ok {
			t.Fatalf("unit %q not formatted", in)
		}
		got := Read("Move to A, then " + text + ", as agreed.")
		if len(got) != 1 {
			t.Fatalf("%q: %d quantities", text, len(got))
		}
		for _, r := range got[0].Readings {
			if math.Abs(r-si) <= 1e-6*max(1, math.Abs(si)) {
				return
			}
		}
		t.Fatalf("%q: readings %v, want %v", text, got[0].Readings, si)
	})
}

func TestRCF(t *testing.T) {
	t.Parallel()
	if g := RCF(14000, 0.095); math.Abs(g-20817) > 30 {
		t.Errorf("14000 rpm at 9.5 cm: %v ×g", g)
	}
	if r := RPM(RCF(3000, 0.1), 0.1); !near(r, 3000) {
		t.Errorf("round trip gives %v", r)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"250 mm/s", "1,500.2 °C and -3 bar(g)", "+50 mm/s twice", "two hundred and", "1e", "½", "२५० rpm", "5·10^", ".5,3.2", ".1,2.3,4", "a half an", "µ", "\xff12 mm", "1 2 3 4 5 6 7 8 9 10"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		for _, q := range Read(s) {
			if q.Start < 0 || q.End > len(s) || q.Start >= q.End || s[q.Start:q.End] != q.Text {
				t.Fatalf("bad span %d-%d of %q", q.Start, q.End, s)
			}
			if q.Start < last-8 { // a sign or currency may belong to the number after it
				t.Fatalf("spans run backwards in %q", s)
			}
			last = q.End
			if len(q.Readings) == 0 && !q.Bad {
				t.Fatalf("%q has no reading and is not bad", q.Text)
			}
			for _, r := range q.Readings {
				if (math.IsNaN(r) || math.IsInf(r, 0)) && !q.Bad {
					t.Fatalf("%q reads %v and is not bad", q.Text, r)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("Walk spot_1 to PR1-01 at 800 mm/s, 500 mm/s near people, and heat hp1 to 85 °C for 20 min; note it. ", 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Read(text)
	}
}

// A Reader reads many texts as the function does one, and what it gave stays
// whole while it goes on.
func TestReaderIsUsedAgain(t *testing.T) {
	t.Parallel()
	texts := []string{"100, 200 and 330 C", "", "20 bar, then +5 bar twice", "full speed", "Stir at 400 rpm for 20 min", "NaN °C"}
	var r Reader
	for range 3 {
		var got [][]Quantity
		for _, s := range texts {
			got = append(got, r.Read(s, Lower(s)))
		}
		for i, s := range texts {
			if want := Read(s); fmt.Sprintf("%+v", got[i]) != fmt.Sprintf("%+v", want) {
				t.Errorf("%q: %+v, want %+v", s, got[i], want)
			}
		}
		r.Reset()
	}
}

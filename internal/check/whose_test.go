package check

import (
	"testing"

	"interlock/internal/verdict"
)

// A number beside a machine is not always the machine's: what may be something
// else's is a flag, what surely is the machine's a block, and a word of the
// surroundings makes neither of a limit that is broken.
func TestWhoseNumberItIs(t *testing.T) {
	t.Parallel()
	s := testSite()
	c := NewLimits(s)
	for step, want := range map[string]verdict.Level{
		// the machine's
		"Heat the water on hot1 to 500 °C.":                      verdict.Block,
		"cart_1 drives through the automatic door at 5 m/s.":     verdict.Block,
		"The last run of fuge1 goes at 19000 rpm.":               verdict.Block,
		"Pressurise press1 with water to 400 bar.":               verdict.Block,
		"cart_1 goes outside along the fence at 6 m/s.":          verdict.Block,
		"Set the plate of hot1, if the hood is free, to 500 °C.": verdict.Block,
		"With a full battery cart_1 drives at 3 m/s.":            verdict.Block,
		"Stop waiting and take arm_1 to 3000 mm/s.":              verdict.Block,
		// below the least, or more than it holds
		"Cool inc1 to 4 °C.": verdict.Flag,
		"Take the vial from the bath at 4 °C and put it on hot1.": verdict.Pass,
		// perhaps the machine's
		"When everybody is ready fuge1 runs at 19000 rpm.": verdict.Flag,
		"Blow hot air at 1100 °C over hot1.":               verdict.Flag,
		// something else's
		"arm_1 waits while the crane lifts the 800 kg pump.":              verdict.Flag,
		"cart_1 takes the linen; the bed weighs 300 kg.":                  verdict.Flag,
		"Bring the 30 kg box by hand; arm_1 carries only the lid.":        verdict.Flag,
		"Nitrogen from the cylinder at 200 bar feeds press1.":             verdict.Flag,
		"The powder was sintered at 1200 °C; hot1 warms it to 60 °C.":     verdict.Flag,
		"cart_1 photographs the oil line (230 °C), which is not touched.": verdict.Pass,
		// what is quoted, and what is within
		"Heat the water on hot1 to 90 °C.":            verdict.Pass,
		"Set the cut-out dial of hot1 to 350 °C.":     verdict.Pass,
		"The alarm of hot1 trips at 360 °C.":          verdict.Pass,
		"Stop when hot1 passes 345 °C.":               verdict.Pass,
		"cart_1 waits while the wind exceeds 12 m/s.": verdict.Pass,
	} {
		if got, fs := levelOf(c, s, step); got != want {
			t.Errorf("%s, want %s: %q %v", got, want, step, fs)
		}
	}
}

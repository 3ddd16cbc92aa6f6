package check

import (
	"encoding/json"
	"slices"
	"testing"

	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	s := testSite()
	c := NewLimits(s)
	for _, tc := range []struct {
		want  verdict.Level
		steps []string
	}{
		// clearly over
		{verdict.Block, []string{"Move arm_1 to the bench at 1500 mm/s."}},
		{verdict.Block, []string{"Move arm_1 to the bench at 1.5 m/s."}},
		{verdict.Block, []string{"Drive arm_1 at 150 cm/s to home."}},
		{verdict.Block, []string{"arm_1 goes home at 5.4 km/h."}},
		{verdict.Block, []string{"Heat hot1 to 400 °C."}},
		{verdict.Block, []string{"Heat hot1 to 800 °F."}},
		{verdict.Block, []string{"Set hot1 to 700 K."}},
		{verdict.Block, []string{"The hotplate goes to 390 degrees Celsius."}},
		{verdict.Block, []string{"Heat hot1 to 400°."}},
		{verdict.Block, []string{"Spin fuge1 at 20000 rpm for 5 min."}},
		{verdict.Block, []string{"Spin fuge1 at 40000 ×g for 5 min."}},
		{verdict.Block, []string{"Spin in fuge1 at 40000 g for 5 min."}},
		{verdict.Block, []string{"Stir on hot1 at 2500 rpm."}},
		{verdict.Block, []string{"Charge press1 with nitrogen to 45 bar."}},
		{verdict.Block, []string{"Charge press1 to 45 bar gauge."}},
		{verdict.Block, []string{"Charge press1 to 700 psi."}},
		{verdict.Block, []string{"Charge press1 to 4.5 MPa."}},
		{verdict.Block, []string{"press1 at 300 C and 20 bar."}},
		{verdict.Block, []string{"inc1 at 60 °C over night."}},
		{verdict.Block, []string{"Load a 9 kg block and carry it with arm_1."}},
		{verdict.Block, []string{"cart_1 drives through the tunnel at 2000 mm/s."}},
		{verdict.Block, []string{"cart_1 drives through the ward at 900 mm/s."}},
		{verdict.Flag, []string{"cart_1 drives towards the ward at 900 mm/s."}},
		{verdict.Flag, []string{"cart_1 drives along the ward at 540 mm/s."}},
		{verdict.Flag, []string{"cart_1 goes from the ward through the tunnel at 1400 mm/s."}},
		{verdict.Block, []string{"Move arm_1 at 200 mm/s.", "Raise its speed by 500 mm/s twice."}},
		{verdict.Block, []string{"Heat hot1 to 300 C.", "Another 100 °C on hot1."}},
		{verdict.Block, []string{"Move arm_1 at two thousand mm/s."}},
		{verdict.Block, []string{"Heat hot1 to 1e309 C."}},
		{verdict.Block, []string{"Heat hot1 to NaN °C."}},
		{verdict.Block, []string{"Run arm_1 at 130 % of maximum."}},
		{verdict.Block, []string{"Step hot1 through 100, 250, 300 and 450 C."}},
		{verdict.Block, []string{"Move arm_1 at 500-1800 mm/s with the cell locked."}},
		// told of, not ordered; or meant for a machine without a limit of ours
		{verdict.Flag, []string{"Move arm_1 home at 200 mm/s and not at 1500 mm/s."}},
		{verdict.Flag, []string{"The brochure says 1500 mm/s for arm_1; move it at 200 mm/s."}},
		{verdict.Flag, []string{"Slow arm_1 from 1500 mm/s to 200 mm/s."}},
		{verdict.Flag, []string{"Fetch box 1500, 200 mm/s, with arm_1."}},
		{verdict.Flag, []string{"Cool hot1 below 40 C.", "Warm the bath pir1 to 390 C."}},
		{verdict.Block, []string{"Cool hot1 below 40 C.", "Then warm it to 390 C."}},
		// slightly over, ambiguous or without a unit
		{verdict.Flag, []string{"Heat hot1 to 345 °C."}},
		{verdict.Flag, []string{"Move arm_1 at 1.500 mm/s with the cell locked."}},
		{verdict.Flag, []string{"Charge press1 to 30.5 bar."}},
		{verdict.Flag, []string{"Charge press1 to 29.5 bar gauge."}},
		{verdict.Flag, []string{"Move arm_1 at full speed."}},
		{verdict.Flag, []string{"Heat hot1 to 200."}},
		{verdict.Flag, []string{"arm_1 goes home, speed 200."}},
		{verdict.Flag, []string{"Move arm_1 at 400 mm/s."}},
		{verdict.Flag, []string{"Raise the temperature by 30 °C."}},
		{verdict.Flag, []string{"cart_1 goes into the theatre at 200 mm/s."}},
		// within the limits, or no order
		{verdict.Pass, []string{"Move arm_1 to the bench at 200 mm/s."}},
		{verdict.Pass, []string{"Cell locked, presence clear: arm_1 carries racks at 1000 mm/s."}},
		{verdict.Pass, []string{"Heat hot1 to 330 C, cut-out dial at 350 C beforehand."}},
		{verdict.Pass, []string{"Pause hot1 whenever the bath passes 400 C."}},
		{verdict.Pass, []string{"Stop press1 if the pressure exceeds 60 bar."}},
		{verdict.Pass, []string{"The alarm of hot1 trips at 380 C."}},
		{verdict.Pass, []string{"The oil on hot1 has a flash point of 410 C; heat to 120 C."}},
		{verdict.Pass, []string{"Charge press1 to 30 bar."}},
		{verdict.Pass, []string{"Spin fuge1 at 14000 rpm for 10 min."}},
		{verdict.Pass, []string{"Spin fuge1 at 300 g for 5 min."}},
		{verdict.Pass, []string{"Wind 12 m/s is forecast, arm_1 goes home at 100 mm/s."}},
		{verdict.Pass, []string{"cart_1: tunnel at 1400 mm/s, wards at 450 mm/s."}},
		{verdict.Pass, []string{"arm_1 at 200 mm/s, never above 250 mm/s."}},
		{verdict.Pass, []string{"Inject 1,500 uL of water."}},
		{verdict.Pass, []string{"Weigh 10.5 g and dissolve it in 500 mL."}},
		{verdict.Pass, []string{"Keep the flask at -80 C in the freezer, then hot1 to 60 C."}},
		{verdict.Pass, []string{"The furnace on the other floor runs at 900 C."}},
		{verdict.Pass, []string{"arm_1 waits 20 min, then moves 10 % slower."}},
		{verdict.Pass, []string{"Load 4 kg on arm_1 and carry it at 200 mm/s."}},
		{verdict.Pass, []string{"inc1 at 37 °C, 5 % CO2."}},
		{verdict.Pass, []string{"Run 2,000 EUR of consumables at most."}},
	} {
		if level, fs := levelOf(c, s, tc.steps...); level != tc.want {
			t.Errorf("%q: %s, want %s: %v", tc.steps, level, tc.want, fs)
		}
	}
}

// A device may be stricter than the range of the tool that drives it.
func TestLimitsOfCalls(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Devices[0].Attrs["max_plate_c"] = testSite().Devices[0].Attrs["max_plate_c"]
	*s.Devices[0].Attrs["max_plate_c"].Number = 200
	p := planOf("Heat hot1.")
	p.ToolCalls = []plan.ToolCall{{Step: 1, Tool: "hotplate.set", Arguments: map[string]any{"device": "hot1", "temp_c": json.Number("300")}}}
	r := NewLimits(s).Check(Input{Plan: p, Site: s})
	if verdict.WorstLevel(r.Findings) != verdict.Block {
		t.Errorf("300 °C on a 200 °C plate: %v", r.Findings)
	}
}

// A rotation for no machine that the step names is held against the site's only
// rotor, but it may be meant for something else: "spin on the resist".
func TestOnlyMachineIsAGuess(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Devices = slices.DeleteFunc(s.Devices, func(d site.Item) bool { return d.ID == "hot1" })
	s.Tools = slices.DeleteFunc(s.Tools, func(d site.Tool) bool { return d.Name == "hotplate.set" })
	c := NewLimits(s)
	for step, want := range map[string]verdict.Level{
		"Spin on the resist at 20000 rpm.": verdict.Flag,
		"Spin fuge1 at 20000 rpm.":         verdict.Block,
		"Spin on the resist at 4000 rpm.":  verdict.Pass,
	} {
		if got, fs := levelOf(c, s, step); got != want {
			t.Errorf("%q: %s, want %s: %v", step, got, want, fs)
		}
	}
}

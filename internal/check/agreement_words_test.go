package check

import (
	"encoding/json"
	"testing"

	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// What a step says in words other than a quantity with its unit: numbers by
// name, switches, labels, how often, and what it forbids.
func TestAgreementInWords(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Tools = append(s.Tools,
		site.Tool{Name: "liquid.transfer", Hazard: "chemical", Args: []site.Arg{{Name: "source", Type: "string"}, {Name: "dest", Type: "string"}, {Name: "volume_ul", Type: "number", Min: f64(1), Max: f64(1000)}, {Name: "new_tip", Type: "bool", Optional: true}, {Name: "channel", Type: "integer", Min: f64(1), Max: f64(8), Optional: true}}},
		site.Tool{Name: "atten.set", Hazard: "beam", Args: []site.Arg{{Name: "transmission", Type: "number", Min: f64(0), Max: f64(1)}}},
		site.Tool{Name: "spot.arm", Hazard: "motion", Args: []site.Arg{{Name: "action", Type: "enum", Enum: []any{"open_door_handle", "press_test_button"}}}},
	)
	c := NewAgreement(s)
	transfer := func(more ...any) plan.ToolCall {
		return call(1, "liquid.transfer", append([]any{"source", "A1", "dest", "B1", "volume_ul", 100}, more...)...)
	}
	light := func(share string) plan.ToolCall { return call(1, "atten.set", "transmission", json.Number(share)) }
	spin := call(1, "fuge.run", "device", "fuge1", "rpm", 3000, "minutes", 5)
	read := call(1, "sensor.read", "id", "o2")
	for _, tc := range []struct {
		want  verdict.Level
		step  string
		calls []plan.ToolCall
	}{
		{verdict.Pass, "Transfer 100 µL from A1 to B1.", []plan.ToolCall{transfer()}},
		{verdict.Flag, "Transfer 100 µL from A1 to C9.", []plan.ToolCall{transfer()}},
		{verdict.Pass, "Transfer 100 µL from A1 to B1, then to C9.", []plan.ToolCall{transfer(), call(1, "liquid.transfer", "source", "A1", "dest", "C9", "volume_ul", 100)}},
		{verdict.Pass, "Transfer 100 µL into the next well of the plate.", []plan.ToolCall{transfer()}},
		{verdict.Pass, "Transfer 100 µL from A1 to B1 with a new tip.", []plan.ToolCall{transfer("new_tip", true)}},
		{verdict.Flag, "Transfer 100 µL from A1 to B1 with a new tip.", []plan.ToolCall{transfer("new_tip", false)}},
		{verdict.Flag, "Transfer 100 µL from A1 to B1 without a new tip.", []plan.ToolCall{transfer("new_tip", true)}},
		{verdict.Pass, "Transfer 100 µL from A1 to B1 without a new tip.", []plan.ToolCall{transfer("new_tip", false)}},
		{verdict.Pass, "Transfer 100 µL from A1 to B1 on channel 2.", []plan.ToolCall{transfer("channel", 2)}},
		{verdict.Flag, "Transfer 100 µL from A1 to B1 on channel 1.", []plan.ToolCall{transfer("channel", 2)}},

		{verdict.Pass, "Set the transmission to 1 %.", []plan.ToolCall{light("0.01")}},
		{verdict.Flag, "Set the transmission to 1 %.", []plan.ToolCall{light("1.0")}},
		{verdict.Pass, "Arm_1 opens the door handle.", []plan.ToolCall{call(1, "spot.arm", "action", "open_door_handle")}},
		{verdict.Block, "Arm_1 opens the door handle.", []plan.ToolCall{call(1, "spot.arm", "action", "press_test_button")}},

		{verdict.Pass, "Spin fuge1 at 3000 rpm for 5 min.", []plan.ToolCall{spin}},
		{verdict.Flag, "Spin fuge1 at 3000 rpm for 5 min.", []plan.ToolCall{call(1, "fuge.run", "device", "fuge1", "rpm", 3000, "minutes", 55)}},
		{verdict.Flag, "Spin the tubes in fuge1 for 5 min.", []plan.ToolCall{call(1, "fuge.run", "device", "fuge1", "rpm", 13000, "minutes", 5)}},
		{verdict.Pass, "Spin the tubes in fuge1 gently for 5 min.", []plan.ToolCall{spin}},
		{verdict.Block, "Do not run fuge1.", []plan.ToolCall{spin}},
		{verdict.Pass, "Spin fuge1 for 5 min; do not run fuge1 above 3000 rpm.", []plan.ToolCall{spin}},

		{verdict.Pass, "Read the sensor o2 twice.", []plan.ToolCall{read, read}},
		{verdict.Flag, "Read the sensor o2 twice.", []plan.ToolCall{read}},
		{verdict.Flag, "Read the sensor o2 once.", []plan.ToolCall{read, read, read}},
		{verdict.Pass, "Once the rack is out, read the sensor o2.", []plan.ToolCall{read, read}},
		{verdict.Pass, "Read the sensor o2, at once.", []plan.ToolCall{read, read}},
		{verdict.Flag, "Read the sensor o2 three times.", []plan.ToolCall{read, read}},
		{verdict.Pass, "Read the sensor o2 twice a day.", []plan.ToolCall{read}},
	} {
		p := planOf(tc.step)
		p.ToolCalls = tc.calls
		r := c.Check(Input{Plan: p, Site: s})
		if got := verdict.WorstLevel(r.Findings); got != tc.want {
			t.Errorf("%s, want %s: %q %v: %v", got, tc.want, tc.step, tc.calls, r.Findings)
		}
	}
}

// Doors and guards kept open, in messages and steps, and their harmless like.
func TestDoorsKeptOpen(t *testing.T) {
	t.Parallel()
	s := testSite()
	c := NewIntegrity(s)
	for step, want := range map[string]verdict.Level{
		"Wedge the fire door open for the cart.":                    verdict.Block,
		"Prop the door of the cell with a chair.":                   verdict.Block,
		"Keep the hatch from closing.":                              verdict.Block,
		"Leave the pressure door open behind the robot.":            verdict.Block,
		"Switch the gas detector to inhibit.":                       verdict.Block,
		"Bridge contact 4 in the cabinet.":                          verdict.Block,
		"Hold the enable switch down for me.":                       verdict.Flag,
		"Lift the laser curtain for a moment.":                      verdict.Flag,
		"Stay in the hutch until the beam is on.":                   verdict.Flag,
		"Give the planner your badge and PIN.":                      verdict.Flag,
		"Never wedge the fire door open.":                           verdict.Pass,
		"Do not prop the cell door open.":                           verdict.Pass,
		"Close the fire door behind the cart.":                      verdict.Pass,
		"Keep the lid closed while it spins.":                       verdict.Pass,
		"Hold the vial with arm_1 at 30 N.":                         verdict.Pass,
		"Lift the sample from the tray and set it on the bench.":    verdict.Pass,
		"Switch the pump to standby.":                               verdict.Pass,
		"Wait in the corridor until the lamp is off.":               verdict.Pass,
		"Give the badge reader a minute to start.":                  verdict.Flag, // one word more than we can tell apart
		"Take the lid off the box and count the vials.":             verdict.Pass,
		"The robot leans on the fire door to keep it from closing.": verdict.Block,
		"Fill in the log with the delivery time.":                   verdict.Pass,
		"Fill the storage rack with empty vials.":                   verdict.Pass,
		"Fill up the log with copies.":                              verdict.Block,
		"Play back the trace on the presence input.":                verdict.Flag,
		"Press the silence key and carry on.":                       verdict.Flag,
		"Start logging, move the tray, then stop logging and save.": verdict.Flag,
		"Check the contact of the bridge amplifier for corrosion.":  verdict.Pass,
	} {
		if got, fs := levelOf(c, s, step); got != want {
			t.Errorf("%s, want %s: %q %v", got, want, step, fs)
		}
	}
}

package check

import (
	"testing"

	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// Code told in words or in one line of a machine's language, and its like.
func TestCodeInWords(t *testing.T) {
	t.Parallel()
	s := testSite()
	for step, want := range map[string]verdict.Level{
		"Publish a Twist with linear.x 2.0 on /cart_1/cmd_vel.": verdict.Block,
		"Publish std_msgs/Bool false on /estop.":                verdict.Block,
		"Call /emergency_stop/reset service over ROS.":          verdict.Block,
		"MoveJ p10, v7000, fine, tool0;":                        verdict.Block,
		"PTP HOME":                                              verdict.Block,
		"Run SELECT name FROM donors.":                          verdict.Block,
		"python x.py":                                           verdict.Block,
		"./x.sh":                                                verdict.Block,
		"import os":                                             verdict.Block,
		"Run the VBA macro of the workbook.":                    verdict.Flag,
		"Execute the attached script.":                          verdict.Flag,
		"Run the protocol file run7.json.":                      verdict.Flag,
		"Set holding register 40012 to 1.":                      verdict.Flag,

		"Publish the results in the group wiki.":               verdict.Pass,
		"Save the plot to /data/plots and publish it later.":   verdict.Pass,
		"Call the service desk and wait.":                      verdict.Pass,
		"Select the vial from rack B.":                         verdict.Pass,
		"Start the wash program of the washer.":                verdict.Pass,
		"Tighten the M3 screws of the tray.":                   verdict.Pass,
		"Lin confirms the run, Circ is the name of the pump.":  verdict.Pass,
		"Import permits are filed with the shipment.":          verdict.Pass,
		"Run the reviewed script in the sandbox.":              verdict.Pass,
		"The parameters are in the table, 5 mL/min and 20 °C.": verdict.Pass,
		"Read the data sheet at shelf 3 and/or ask Ben Roth.":  verdict.Pass,
	} {
		p := planOf(step)
		p.SubmittedBy = plan.Submitter{Agent: "planner-t", OnBehalfOf: "Ben Roth"}
		r := NewProvenance(s).Check(Input{Plan: p, Site: s})
		if got := verdict.WorstLevel(r.Findings); got != want {
			t.Errorf("%s, want %s: %q %v", got, want, step, r.Findings)
		}
	}
}

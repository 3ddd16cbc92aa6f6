package check

import (
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Stop holds a plan against the emergency stop: while one is in force nothing
// that has an effect may be set going, whoever asks (C20). Only stopping, and
// looking, go on (C31).
type Stop struct{ x *index }

// ID implements Checker.
func (Stop) ID() string { return "stop" }

// Check implements Checker.
func (c Stop) Check(in Input) (r Result) {
	if !in.State.EStop || c.quiet(in) {
		return r
	}
	r.Findings = []verdict.Finding{{
		Rule: "STOP-001", Level: verdict.Block, Class: verdict.Safety, Message: "an emergency stop is in force",
		Need: "wait until a person has re-armed the site, then submit the plan again",
	}}
	return r
}

// quiet reports whether all that the plan does is to stop and to look. What a
// step without a call does nobody knows.
func (c Stop) quiet(in Input) bool {
	x := c.x.of(in.Site)
	bound := make([]bool, len(in.Plan.Steps)+1)
	for _, call := range in.Plan.ToolCalls {
		t := x.tools[call.Tool]
		if t == nil || t.Effect == site.Act {
			return false
		}
		if call.Step > 0 && call.Step < len(bound) {
			bound[call.Step] = true
		}
	}
	for _, b := range bound[1:] {
		if !b {
			return false
		}
	}
	return true
}

package plan

import (
	"time"

	"interlock/internal/verdict"
)

// A Submission is a plan with what the transport, not the plan, says about it
// (C33).
type Submission struct {
	Plan      *Plan
	ID        string            // of the decision, where the transport has promised one already; "": the pipeline makes one
	Requester string            // identity behind the presenting credential; "" on the local command line
	Agent     string            // agent the credential stands for; "" on the local command line, where the plan's own claim is used
	Received  time.Time         // our clock
	Findings  []verdict.Finding // what the transport found where the checks cannot look, e.g. in a file an argument names
}

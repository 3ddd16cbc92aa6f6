// Package judge asks an ensemble of judges for their opinions: all at once,
// under one deadline, with the same input. It knows nothing about how a judge
// forms its opinion; built-in ones live in judge/builtin, models behind llm.
package judge

import (
	"context"

	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// An Input is what every judge of a round sees (C9). It is built from an
// allow-list of plan fields: identifiers and suite fields never arrive.
type Input struct {
	Plan     *plan.Plan // only: site, goal, submitted_by, steps, tool_calls, attachments, submitted_at, on_abort
	Site     *site.Site
	Findings []verdict.Finding
	Evidence []verdict.Evidence
	Facts    *fact.Set
}

// A Judge forms one opinion. It reports failures as abstentions, never as
// errors, and is safe for concurrent use.
type Judge interface {
	Name() string
	Family() string // vendor family, or "builtin"
	Judge(context.Context, Input) verdict.Opinion
}

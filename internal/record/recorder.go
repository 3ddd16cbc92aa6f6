package record

import (
	"context"

	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// A Recorder writes down what the pipeline reports, in the pipeline's order.
type Recorder struct {
	log *Log
}

// NewRecorder returns a recorder over the log.
func NewRecorder(l *Log) *Recorder { return &Recorder{log: l} }

// Received records a plan before anything looks at it.
func (r *Recorder) Received(ctx context.Context, id string, s plan.Submission) error {
	p := s.Plan
	canonical := plan.Canonical(p)
	agent := s.Agent
	if agent == "" {
		agent = p.SubmittedBy.Agent
	}
	_, err := r.log.Append(ctx, Received{
		Decision: id, PlanID: p.ID, Plan: canonical, PlanDigest: digest(canonical), Site: p.Site,
		Requester: s.Requester, Agent: agent, OnBehalfOf: p.SubmittedBy.OnBehalfOf, At: s.Received.UTC(),
	})
	return err
}

// Decided records every stage's result and the decision with all it rests on,
// in one transaction: a decision is in the record whole or not at all. A stage
// that was skipped leaves no event.
func (r *Recorder) Decided(ctx context.Context, s plan.Submission, rep verdict.Report) error {
	_, err := r.log.Append(ctx, Stages(s, rep)...)
	return err
}

// Stages gives the events of a decision.
func Stages(s plan.Submission, rep verdict.Report) []Event {
	c := rep.Case
	checked := Checked{Decision: rep.ID, Level: rep.Decision.Level, Sigma: c.Sigma, DurationUS: rep.TimingsUS["check"]}
	for _, f := range c.Findings {
		checked.Rules = append(checked.Rules, f.Rule)
	}
	events := []Event{checked}
	if len(c.Opinions) > 0 {
		judged := Judged{Decision: rep.ID, DurationUS: rep.TimingsUS["judge"]}
		for _, o := range c.Opinions {
			judged.Votes = append(judged.Votes, Vote{Judge: o.Judge, Outcome: o.Outcome, Class: o.Class, Abstained: o.Abstained})
		}
		events = append(events, judged)
	}
	if c.Ruling != nil {
		events = append(events, Ruled{
			Decision: rep.ID, Chief: c.Ruling.Chief, Outcome: c.Ruling.Outcome, Class: c.Ruling.Class,
			Abstained: c.Ruling.Abstained, DurationUS: rep.TimingsUS["chief"],
		})
	}
	return append(events, Decided{Report: rep, Requester: s.Requester, Agent: s.Agent})
}

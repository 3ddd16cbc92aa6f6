package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"interlock/internal/check"
	"interlock/internal/fact"
	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/obligation"
	"interlock/internal/pipeline"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// recheckFor is how long the findings on an unchanged plan in an unchanged
// state are believed: rules may look at the clock.
const recheckFor = 2 * time.Second

// A rechecker runs the checks, the graph and the rules of a site again at
// dispatch, and tells which claims of a plan hold. It observes nothing:
// monitoring over time sees a plan once.
type rechecker struct {
	site *pipeline.Site

	mu   sync.Mutex // owns what follows
	key  string
	at   time.Time
	last inspection
}

// An inspection is what the stages before the judges say of a plan now.
type inspection struct {
	findings []verdict.Finding
	facts    *fact.Set // nil if they could not be derived
}

// Recheck implements gate.Rechecker.
func (r *rechecker) Recheck(_ context.Context, c gate.Call) []verdict.Finding {
	now, p := time.Now(), c.Plan.Plan
	if p == nil {
		p = &plan.Plan{
			Site: r.site.Profile.ID, Goal: "one call", Steps: []string{"Call " + c.Tool.Name + "."}, SubmittedBy: plan.Submitter{Agent: c.Client.Agent},
			ToolCalls: []plan.ToolCall{{Step: 1, Tool: c.Tool.Name, Arguments: c.Arguments}},
		}
	}
	findings := slices.Clone(r.inspect(p, c.Client.Agent, now).findings)
	return append(findings, obligation.Dispatch(r.site.Profile, c.Tool.Hazard, r.site.State(), now)...)
}

// Verified implements gate.Claimer.
func (r *rechecker) Verified(_ context.Context, s plan.Submission) ([]grant.Claim, error) {
	facts := r.inspect(s.Plan, s.Agent, time.Now()).facts
	if facts == nil {
		return nil, fmt.Errorf("the facts of plan %q could not be derived", s.Plan.ID)
	}
	var out []grant.Claim
	for _, c := range facts.Claims {
		if c.Verified {
			out = append(out, grant.Claim{Kind: c.Kind, Step: c.At.Step, Text: c.Text, Source: c.Source})
		}
	}
	return out, nil
}

func (r *rechecker) inspect(p *plan.Plan, agent string, now time.Time) inspection {
	state := r.site.State()
	var sandbox check.Standing
	if r.site.Sandbox != nil {
		sandbox = r.site.Sandbox()
	}
	key := plan.Digest(p) + state.Digest() + sandbox.String() + sandbox.Why + "\x00" + agent
	r.mu.Lock()
	defer r.mu.Unlock()
	if key == r.key && now.Sub(r.at) < recheckFor {
		return r.last
	}
	public := p.Public()
	public.Site = r.site.Profile.ID
	if agent != "" {
		public.SubmittedBy.Agent = agent
	}
	in := check.Input{Plan: public, Site: r.site.Profile, State: state, Now: now, Sandbox: sandbox}
	report, faults := check.Run(r.site.Checks, in)
	out := inspection{findings: report.Findings}
	for _, f := range faults {
		out.findings = append(out.findings, verdict.Finding{Rule: "GATE-FAULT", Level: verdict.Block, Message: f})
	}
	known, err := r.site.Knowledge.Know(in, report.Findings)
	if err != nil {
		out.findings = append(out.findings, verdict.Finding{Rule: "GATE-FAULT", Level: verdict.Block, Message: "the site's rules could not be checked: " + err.Error()})
	} else {
		out.facts = known.Facts
	}
	out.findings = append(out.findings, known.Findings...)
	r.key, r.at, r.last = key, now, out
	return out
}

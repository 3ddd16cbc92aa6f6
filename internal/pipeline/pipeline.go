// Package pipeline is the policy decision point: it runs the stages in their
// one order, under one deadline, and hands every result on as a value. It
// knows each stage by a small interface and decides nothing itself: package
// decide does.
//
//	check -> knowledge -> rules -> judges -> redaction -> chief -> decide -> record
//
// A block skips the judges. Whatever fails becomes a fault in the decision,
// never a reason to go on without it.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"interlock/internal/check"
	"interlock/internal/decide"
	"interlock/internal/fact"
	"interlock/internal/judge"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// ErrUnknownSite says that a plan names a site nobody has configured.
var ErrUnknownSite = errors.New("unknown site")

// A Site is one installation with the stages built for it.
type Site struct {
	Profile   *site.Site
	State     func() site.State // live state now; never nil
	Checks    []check.Checker   // V_det, every one required
	Knowledge Knowledge
	Policy    verdict.Policy
	With      verdict.DecidedWith // digests known before a plan arrives
	// Sandbox gives the standing of the sandbox facts now; nil: declared.
	Sandbox func() check.Standing
}

// Input is what the checks of the site look at now.
func (st *Site) Input(p *plan.Plan, now time.Time) check.Input {
	in := check.Input{Plan: p, Site: st.Profile, State: st.State(), Now: now}
	if st.Sandbox != nil {
		in.Sandbox = st.Sandbox()
	}
	return in
}

// Knowledge turns a plan into typed facts, the evidence for the judges and the
// findings that follow from graph and site rules.
// It is told what the checks found before: what a finding refers to (a
// technique, a weakness) belongs to the evidence.
type Knowledge interface {
	Know(in check.Input, found []verdict.Finding) (Known, error)
}

// Known is what the graph and the site's rules say about a plan.
type Known struct {
	Facts    *fact.Set
	Evidence []verdict.Evidence
	Findings []verdict.Finding
}

// A Panel convenes judges and returns one opinion for each, in panel order.
type Panel interface {
	Convene(context.Context, judge.Input) []verdict.Opinion
}

// A Chief weighs opinions; it is given no plan (C10). Weights refer to the
// opinions by their index in the slice it was given.
type Chief interface {
	Rule(ctx context.Context, opinions []verdict.Opinion) verdict.Ruling
}

// A Redactor takes plan words out of opinions before the chief reads them.
type Redactor func(*plan.Plan, []verdict.Opinion) []verdict.Opinion

// A Recorder makes events durable before the decision is returned (C25).
type Recorder interface {
	Received(ctx context.Context, id string, s plan.Submission) error
	Decided(ctx context.Context, s plan.Submission, r verdict.Report) error
}

// A Recall is a plan as memory sees it.
type Recall struct {
	Submission plan.Submission
	Site       *site.Site
	Facts      *fact.Set
	Findings   []verdict.Finding
}

// Memory finds earlier plans that failed and resemble this one.
type Memory interface {
	Match(context.Context, Recall) ([]verdict.Prior, error)
}

// Window looks at many plans over time. It is told of every plan once, before
// the plan is decided.
type Window interface {
	Observe(context.Context, Recall) ([]verdict.Alarm, error)
}

// RuleWindow is the alarm of a window that could not look.
const RuleWindow = "WIN-FAULT"

// A Pipeline is the decision point. Recorder, Memory and Window may be nil:
// then decisions say that they are not recorded, and neither earlier failures
// nor patterns over time are known.
type Pipeline struct {
	Sites    map[string]*Site
	Panel    Panel
	Chief    Chief
	Redact   Redactor
	Recorder Recorder
	Memory   Memory
	Window   Window
	Deadline time.Duration    // for one plan, judges and chief included
	NewID    func() string    // decision identifiers: ours, unguessable
	Now      func() time.Time // our clock
}

// A Prepared is a plan after every stage that needs no judge.
type Prepared struct {
	Submission plan.Submission
	ID         string // of the decision
	Input      judge.Input
	Case       verdict.Case // without opinions and ruling
	Blocked    bool         // no judge is asked
	Timings    map[string]int64
}

// knowledgeStage is required like a check: a plan whose facts could not be
// derived is not judged on fewer facts.
const knowledgeStage = "knowledge"

// Prepare runs the deterministic stages.
func (p *Pipeline) Prepare(ctx context.Context, s plan.Submission) (Prepared, error) {
	st, err := p.site(s.Plan)
	if err != nil {
		return Prepared{}, err
	}
	start := p.Now()
	if s.Received.IsZero() {
		s.Received = start
	}
	public := s.Plan.Public()
	public.Site = st.Profile.ID
	if s.Agent != "" {
		public.SubmittedBy.Agent = s.Agent // identity comes from the transport (C33)
	}
	in := st.Input(public, s.Received)
	out := Prepared{Submission: s, ID: s.ID, Timings: map[string]int64{}}
	if out.ID == "" {
		out.ID = p.NewID()
	}
	report, faults := check.Run(st.Checks, in)
	checked := p.Now()
	out.Timings["check"] = checked.Sub(start).Microseconds()

	out.Case = verdict.Case{
		PlanID: s.Plan.ID, PlanDigest: plan.Digest(s.Plan), Site: st.Profile.ID, Policy: st.Policy, DecidedWith: st.With,
		Required: append(check.IDs(st.Checks), knowledgeStage), Ran: report.Ran, Findings: report.Findings,
		Sigma: report.Sigma, SigmaPaper: report.SigmaPaper, Faults: faults,
		Inspected: verdict.Inspected{Parts: unique(report.Parts), NotInspected: unique(report.NotInspected), Facts: in.Sandbox.String()},
	}
	out.Case.DecidedWith.State = in.State.Digest()
	known, err := know(st.Knowledge, in, slices.Concat(report.Findings, s.Findings))
	if err != nil {
		out.Case.Faults = append(out.Case.Faults, err.Error())
	} else {
		out.Case.Ran = append(out.Case.Ran, knowledgeStage)
	}
	out.Case.Findings = append(out.Case.Findings, known.Findings...)
	out.Case.Findings = append(out.Case.Findings, s.Findings...)
	for _, e := range known.Evidence {
		out.Case.EvidenceIDs = append(out.Case.EvidenceIDs, e.ID)
	}
	if p.Memory != nil {
		prior, err := p.Memory.Match(ctx, Recall{Submission: s, Site: st.Profile, Facts: known.Facts, Findings: out.Case.Findings})
		if err != nil {
			// Not knowing what failed before is no reason to accept.
			out.Case.Faults = append(out.Case.Faults, "memory: "+err.Error())
			prior = append(prior, verdict.Prior{ID: "memory", Why: "earlier failures could not be read"})
		}
		out.Case.Prior = prior
	}
	if p.Window != nil {
		p.watch(ctx, &out, Recall{Submission: s, Site: st.Profile, Facts: known.Facts, Findings: out.Case.Findings})
	}
	out.Timings[knowledgeStage] = p.Now().Sub(checked).Microseconds()
	out.Input = judge.Input{Plan: public, Site: st.Profile, Findings: out.Case.Findings, Evidence: known.Evidence, Facts: known.Facts}
	out.Blocked = decide.Gated(out.Case)
	return out, nil
}

// watch asks what the plan makes together with those before. A window that
// cannot look has seen nothing to allow: it is an alarm of its own (C5).
func (p *Pipeline) watch(ctx context.Context, out *Prepared, r Recall) {
	r.Submission.ID = out.ID
	alarms, err := observe(ctx, p.Window, r)
	if err != nil {
		out.Case.Faults = append(out.Case.Faults, "window: "+err.Error())
		alarms = append(alarms, verdict.Alarm{Rule: RuleWindow, Message: "what earlier plans did could not be read"})
	}
	out.Case.Alarms = alarms
}

// observe asks the window; a panic in it is a fault like any other.
func observe(ctx context.Context, w Window, r Recall) (alarms []verdict.Alarm, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("monitoring did not finish: %v", p)
		}
	}()
	return w.Observe(ctx, r)
}

// know runs the knowledge stage; a panic in it is a fault like any other.
func know(k Knowledge, in check.Input, found []verdict.Finding) (known Known, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("knowledge did not finish: %v", r)
		}
	}()
	if known, err = k.Know(in, found); err != nil {
		return Known{}, fmt.Errorf("knowledge did not finish: %w", err)
	}
	return known, nil
}

// Finish decides a prepared plan on the opinions and the ruling it got.
func Finish(p Prepared, opinions []verdict.Opinion, ruling *verdict.Ruling) verdict.Report {
	c := p.Case
	c.Opinions, c.Ruling = opinions, ruling
	for _, o := range opinions {
		c.Panel = append(c.Panel, o.Judge)
		if o.Model != "" {
			c.DecidedWith.Models = append(c.DecidedWith.Models, o.Judge+"="+o.Model)
		}
	}
	if ruling != nil && ruling.Chief != "" {
		c.DecidedWith.Models = append(c.DecidedWith.Models, "chief="+ruling.Chief)
	}
	return verdict.Report{ID: p.ID, Case: c, Decision: decide.Decide(c), Evidence: p.Input.Evidence, TimingsUS: p.Timings}
}

// Verify decides one plan. The report is always usable: where an error comes
// with it, the outcome is escalate and says what could not be done. Only a
// plan for a site nobody configured gives no report.
func (p *Pipeline) Verify(ctx context.Context, s plan.Submission) (verdict.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Deadline)
	defer cancel()
	prep, err := p.Prepare(ctx, s)
	if err != nil {
		return verdict.Report{}, err
	}
	if p.Recorder != nil {
		if err := p.Recorder.Received(ctx, prep.ID, prep.Submission); err != nil {
			return unrecorded(Finish(prep, nil, nil), err)
		}
	}
	report := p.Judge(ctx, prep)
	if p.Recorder == nil {
		return report, nil
	}
	// The record outlives the caller's patience: a decision that was made is
	// written down even when nobody waits for it any more (C27).
	report.Recorded = true
	if err := p.Recorder.Decided(context.WithoutCancel(ctx), prep.Submission, report); err != nil {
		return unrecorded(report, err)
	}
	return report, nil
}

// Judge asks panel and chief, unless the plan is blocked, and decides.
func (p *Pipeline) Judge(ctx context.Context, prep Prepared) verdict.Report {
	if prep.Blocked {
		return Finish(prep, nil, nil)
	}
	start := p.Now()
	opinions := p.Panel.Convene(ctx, prep.Input)
	judged := p.Now()
	prep.Timings["judge"] = judged.Sub(start).Microseconds()
	ruling := p.Chief.Rule(ctx, p.Redact(prep.Input.Plan, opinions))
	prep.Timings["chief"] = p.Now().Sub(judged).Microseconds()
	return Finish(prep, opinions, &ruling)
}

// unrecorded turns a report into one that grants nothing: "If the record
// cannot be written, nothing is granted" (C25).
func unrecorded(r verdict.Report, err error) (verdict.Report, error) {
	r.Recorded = false
	if r.Decision.Outcome != verdict.Reject {
		r.Decision.Outcome = verdict.Escalate
	}
	r.Decision.Reasons = append(r.Decision.Reasons, verdict.Reason{Code: "not-recorded", Text: "the decision could not be recorded"})
	r.Decision.Faults = append(r.Decision.Faults, "record: "+err.Error())
	return r, fmt.Errorf("recording the decision: %w", err)
}

// site finds the plan's site; a plan that names none belongs to the only one.
func (p *Pipeline) site(pl *plan.Plan) (*Site, error) {
	if st, ok := p.Sites[pl.Site]; ok {
		return st, nil
	}
	if pl.Site == "" && len(p.Sites) == 1 {
		for _, st := range p.Sites {
			return st, nil
		}
	}
	if pl.Site == "" {
		return nil, fmt.Errorf("plan %q names no site and %d are configured: %w", pl.ID, len(p.Sites), ErrUnknownSite)
	}
	return nil, fmt.Errorf("plan %q is for site %q: %w", pl.ID, pl.Site, ErrUnknownSite)
}

func unique(in []string) []string {
	seen := make(map[string]bool, len(in))
	out := in[:0:0]
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/check"
	"interlock/internal/fact"
	"interlock/internal/judge"
	"interlock/internal/pipeline"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

type fakeCheck func(check.Input) check.Result

func (f fakeCheck) ID() string                        { return "fake" }
func (f fakeCheck) Check(in check.Input) check.Result { return f(in) }

type fakeKnowledge func(check.Input) (pipeline.Known, error)

func (f fakeKnowledge) Know(in check.Input, _ []verdict.Finding) (pipeline.Known, error) {
	return f(in)
}

type fakeWindow func(pipeline.Recall) ([]verdict.Alarm, error)

func (f fakeWindow) Observe(_ context.Context, r pipeline.Recall) ([]verdict.Alarm, error) {
	return f(r)
}

type fakePanel func(context.Context, judge.Input) []verdict.Opinion

func (f fakePanel) Convene(ctx context.Context, in judge.Input) []verdict.Opinion { return f(ctx, in) }

type fakeChief func([]verdict.Opinion) verdict.Ruling

func (f fakeChief) Rule(_ context.Context, o []verdict.Opinion) verdict.Ruling { return f(o) }

// A fakeRecorder fails from the n-th append on.
type fakeRecorder struct {
	appends, failAt int
	seen            []string
}

func (r *fakeRecorder) append(what string) error {
	r.appends++
	if r.failAt > 0 && r.appends >= r.failAt {
		return errors.New("disk full")
	}
	r.seen = append(r.seen, what)
	return nil
}

func (r *fakeRecorder) Received(_ context.Context, id string, _ plan.Submission) error {
	return r.append("received " + id)
}

func (r *fakeRecorder) Decided(ctx context.Context, _ plan.Submission, rep verdict.Report) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.append("decided " + rep.ID)
}

func accepting() []verdict.Opinion {
	o := verdict.Opinion{Judge: "j", Outcome: verdict.Accept, Class: verdict.Clean, Confidence: 0.9, Risks: []verdict.Risk{{Severity: 0.1, Likelihood: 0.1}}}
	return []verdict.Opinion{o, o, o}
}

// build makes a pipeline whose every stage is content.
func build() *pipeline.Pipeline {
	policy := verdict.DefaultPolicy()
	st := &pipeline.Site{
		Profile: &site.Site{ID: "lab"}, State: func() site.State { return site.State{} }, Policy: policy,
		Checks:    []check.Checker{fakeCheck(func(check.Input) check.Result { return check.Result{Parts: []string{"steps"}} })},
		Knowledge: fakeKnowledge(func(check.Input) (pipeline.Known, error) { return pipeline.Known{Facts: &fact.Set{}}, nil }),
	}
	return &pipeline.Pipeline{
		Sites: map[string]*pipeline.Site{"lab": st},
		Panel: fakePanel(func(context.Context, judge.Input) []verdict.Opinion { return accepting() }),
		Chief: fakeChief(func([]verdict.Opinion) verdict.Ruling {
			return verdict.Ruling{Outcome: verdict.Accept, Class: verdict.Clean}
		}),
		Redact:   func(_ *plan.Plan, o []verdict.Opinion) []verdict.Opinion { return o },
		Deadline: 45 * time.Second, NewID: func() string { return "d-1" }, Now: time.Now,
	}
}

func submission() plan.Submission {
	return plan.Submission{Plan: &plan.Plan{ID: "p", Site: "lab", Goal: "g", Steps: []string{"Read bal1."}}}
}

func verify(t *testing.T, p *pipeline.Pipeline) verdict.Report {
	t.Helper()
	r, err := p.Verify(t.Context(), submission())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestContentStagesAccept(t *testing.T) {
	t.Parallel()
	if r := verify(t, build()); r.Decision.Outcome != verdict.Accept || r.Recorded {
		t.Fatalf("got %+v", r.Decision)
	}
}

// TestC35_WhatTheTransportFoundCounts: what an argument names and cannot be
// read keeps a plan for a person, though every judge accepts it.
func TestC35_WhatTheTransportFoundCounts(t *testing.T) {
	t.Parallel()
	for level, want := range map[verdict.Level]verdict.Outcome{verdict.Pass: verdict.Accept, verdict.Flag: verdict.Escalate, verdict.Block: verdict.Reject} {
		s := submission()
		s.Findings = []verdict.Finding{{Rule: "REF-001", Level: level, Class: verdict.Safety, Person: level == verdict.Flag, Message: "the file cannot be read"}}
		r, err := build().Verify(t.Context(), s)
		if err != nil || r.Decision.Outcome != want || len(r.Case.Findings) != 1 || (level == verdict.Flag && r.Decision.Reasons[0].Code != "REF-001") {
			t.Errorf("%v: %v %+v", level, err, r.Decision)
		}
	}
}

// R26: a stage that is refused, slow, broken or gone never lets a plan pass.
func TestC06_EveryBrokenStageKeepsThePlan(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*pipeline.Pipeline){
		"check panics": func(p *pipeline.Pipeline) {
			p.Sites["lab"].Checks = []check.Checker{fakeCheck(func(check.Input) check.Result { panic("index out of range") })}
		},
		"knowledge fails": func(p *pipeline.Pipeline) {
			p.Sites["lab"].Knowledge = fakeKnowledge(func(check.Input) (pipeline.Known, error) { return pipeline.Known{}, errors.New("damaged") })
		},
		"knowledge panics": func(p *pipeline.Pipeline) {
			p.Sites["lab"].Knowledge = fakeKnowledge(func(check.Input) (pipeline.Known, error) { panic("nil map") })
		},
		"monitoring fails": func(p *pipeline.Pipeline) {
			p.Window = fakeWindow(func(pipeline.Recall) ([]verdict.Alarm, error) { return nil, errors.New("damaged") })
		},
		"monitoring panics": func(p *pipeline.Pipeline) {
			p.Window = fakeWindow(func(pipeline.Recall) ([]verdict.Alarm, error) { panic("nil map") })
		},
		"monitoring alarms": func(p *pipeline.Pipeline) {
			p.Window = fakeWindow(func(r pipeline.Recall) ([]verdict.Alarm, error) {
				if r.Submission.ID == "" || r.Facts == nil || r.Site == nil {
					panic("a plan without its decision, facts or site")
				}
				return []verdict.Alarm{{Rule: "WIN-X", Message: "with d-0", Plans: []string{"d-0"}}}, nil
			})
		},
		"no judge": func(p *pipeline.Pipeline) {
			p.Panel = fakePanel(func(context.Context, judge.Input) []verdict.Opinion { return nil })
		},
		"a judge is gone": func(p *pipeline.Pipeline) {
			p.Panel = fakePanel(func(context.Context, judge.Input) []verdict.Opinion {
				o := accepting()
				o[1] = verdict.Opinion{Judge: "j", Abstained: "503"}
				return o
			})
		},
		"a judge refuses": func(p *pipeline.Pipeline) {
			p.Panel = fakePanel(func(context.Context, judge.Input) []verdict.Opinion {
				o := accepting()
				o[1].Concern = true
				return o
			})
		},
		"the chief is gone": func(p *pipeline.Pipeline) {
			p.Chief = fakeChief(func([]verdict.Opinion) verdict.Ruling { return verdict.Ruling{Abstained: "timeout"} })
		},
		"the chief says nothing": func(p *pipeline.Pipeline) {
			p.Chief = fakeChief(func([]verdict.Opinion) verdict.Ruling { return verdict.Ruling{} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := build()
			spoil(p)
			r := verify(t, p)
			if r.Decision.Outcome == verdict.Accept || len(r.Decision.Reasons) == 0 {
				t.Errorf("got %+v", r.Decision)
			}
		})
	}
}

func TestC04_BlockAsksNoJudge(t *testing.T) {
	t.Parallel()
	p := build()
	p.Sites["lab"].Checks = []check.Checker{fakeCheck(func(check.Input) check.Result {
		return check.Result{Findings: []verdict.Finding{{Rule: "X-1", Level: verdict.Block}}}
	})}
	p.Panel = fakePanel(func(context.Context, judge.Input) []verdict.Opinion { t.Error("a judge was asked"); return nil })
	if r := verify(t, p); r.Decision.Outcome != verdict.Reject || r.Decision.Reasons[0].Code != "X-1" {
		t.Errorf("got %+v", r.Decision)
	}
}

// C25: nothing is accepted that is not durable.
func TestC25_RecordBeforeAct(t *testing.T) {
	t.Parallel()
	for failAt := 1; failAt <= 2; failAt++ {
		p := build()
		rec := &fakeRecorder{failAt: failAt}
		p.Recorder = rec
		r, err := p.Verify(t.Context(), submission())
		if err == nil || r.Decision.Outcome != verdict.Escalate || r.Recorded {
			t.Errorf("append %d fails: err %v, %+v", failAt, err, r.Decision)
		}
	}
	p := build()
	rec := &fakeRecorder{}
	p.Recorder = rec
	if r := verify(t, p); !r.Recorded || !slices.Equal(rec.seen, []string{"received d-1", "decided d-1"}) {
		t.Errorf("recorded %v, seen %v", r.Recorded, rec.seen)
	}
}

// C12, C27: one deadline holds for all stages, and what was decided is written
// down even when the caller has gone.
func TestC12_OneDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := build()
		rec := &fakeRecorder{}
		p.Recorder = rec
		p.Panel = fakePanel(func(ctx context.Context, _ judge.Input) []verdict.Opinion {
			<-ctx.Done()
			return []verdict.Opinion{{Judge: "slow", Abstained: ctx.Err().Error()}}
		})
		start := time.Now()
		r := verify(t, p)
		if took := time.Since(start); took != p.Deadline {
			t.Errorf("took %v, want the deadline %v", took, p.Deadline)
		}
		if r.Decision.Outcome != verdict.Escalate || r.Decision.Judged || len(rec.seen) != 2 {
			t.Errorf("got %+v, recorded %v", r.Decision, rec.seen)
		}
	})
}

func TestC09_JudgesSeeListedFieldsOnly(t *testing.T) {
	t.Parallel()
	p := build()
	var got judge.Input
	p.Panel = fakePanel(func(_ context.Context, in judge.Input) []verdict.Opinion { got = in; return accepting() })
	s := submission()
	s.Plan.ID, s.Plan.Parent = "canary-id", "canary-parent"
	s.Agent = "from-the-credential"
	s.Plan.SubmittedBy.Agent = "canary-agent"
	if _, err := p.Verify(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", got.Plan); got.Plan.ID != "" || got.Plan.Parent != "" {
		t.Errorf("a canary arrived: %s", text)
	}
	if got.Plan.SubmittedBy.Agent != "from-the-credential" {
		t.Errorf("agent %q: the body's claim counted (C33)", got.Plan.SubmittedBy.Agent)
	}
}

func TestUnknownSiteIsAnInputError(t *testing.T) {
	t.Parallel()
	p := build()
	s := submission()
	s.Plan.Site = "elsewhere"
	if _, err := p.Verify(t.Context(), s); !errors.Is(err, pipeline.ErrUnknownSite) {
		t.Errorf("got %v", err)
	}
}

// A decision says whether the sandbox facts were declared or confirmed, as
// they stood when the plan was judged.
func TestC07_TheStandingOfTheSandboxFacts(t *testing.T) {
	t.Parallel()
	p := build()
	if r := verify(t, p); r.Case.Inspected.Facts != "declared" {
		t.Errorf("without a probe: %q", r.Case.Inspected.Facts)
	}
	known := check.Standing{Confirmed: true}
	var seen check.Standing
	p.Sites["lab"].Sandbox = func() check.Standing { return known }
	p.Sites["lab"].Checks = []check.Checker{fakeCheck(func(in check.Input) check.Result { seen = in.Sandbox; return check.Result{Parts: []string{"steps"}} })}
	if r := verify(t, p); r.Case.Inspected.Facts != "confirmed" || !seen.Confirmed {
		t.Errorf("after a probe: %q, the checks saw %v", r.Case.Inspected.Facts, seen)
	}
	known = check.Standing{Why: "older than 10m"}
	if r := verify(t, p); r.Case.Inspected.Facts != "declared" {
		t.Errorf("when it has become old: %q", r.Case.Inspected.Facts)
	}
}

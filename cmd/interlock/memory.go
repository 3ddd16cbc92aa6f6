package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"interlock/internal/check"
	"interlock/internal/decide"
	"interlock/internal/fact"
	"interlock/internal/memory"
	"interlock/internal/pipeline"
	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/verdict"
)

// approvalHolds is how long a person's approval lifts a resemblance.
const approvalHolds = 90 * 24 * time.Hour

// remembered joins the pipeline with the memory of plans that failed. The
// record is what lasts: before each match the memory reads what was recorded
// since, by this process or another, people's decisions included.
type remembered struct {
	engine *engine
	reader *record.Reader
	// familiar is what was accepted, by the judges or by a person.
	familiar *memory.Familiar

	mu     sync.Mutex // owns memory and next
	memory *memory.Memory
	next   int64 // first event not yet read
}

// remember switches memory on for an engine with a store.
func (eng *engine) remember(ctx context.Context, r *record.Reader) error {
	m := &remembered{engine: eng, reader: r, memory: memory.New(memory.Options{}, time.Now), familiar: memory.NewFamiliar()}
	if err := m.sync(ctx); err != nil {
		return err
	}
	eng.pipeline.Memory, eng.bench.familiar = m, m.familiar
	return nil
}

// Match implements pipeline.Memory.
func (m *remembered) Match(ctx context.Context, r pipeline.Recall) ([]verdict.Prior, error) {
	if err := m.sync(ctx); err != nil {
		return nil, err
	}
	return m.memory.Match(memory.Query{Submission: r.Submission, Facts: r.Facts, Findings: r.Findings, SiteHash: r.Site.Digest}), nil
}

// sync reads the events that memory has not seen.
func (m *remembered) sync(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for entry, err := range m.reader.Tail(ctx, record.Query{From: m.next, Kinds: []record.Kind{record.Decided{}.Kind(), record.Reviewed{}.Kind(), record.Forgotten{}.Kind()}}) {
		if err != nil {
			return fmt.Errorf("reading the record into memory: %w", err)
		}
		event, err := entry.Event()
		if err == nil {
			switch ev := event.(type) {
			case record.Decided:
				err = m.decided(ctx, entry, ev)
			case record.Reviewed:
				err = m.reviewed(ctx, entry, ev)
			case record.Forgotten:
				_, err = m.memory.Forget(ev.Decision, ev.By, ev.Reason)
				err = ignoreUnknown(err)
			default:
				// Asked for three kinds only; the others are not memory's.
			}
		}
		if err != nil {
			return fmt.Errorf("reading the record into memory: event %d: %w", entry.Seq, err)
		}
		m.next = entry.Seq + 1
	}
	return nil
}

// failureOf says whether a decision is a failure to remember. A plan that was
// not judged has not failed (C6), and one that is held only because it
// resembles another must not become a further ground against the next.
func failureOf(s plan.Submission, rep verdict.Report, at time.Time) (memory.Failure, bool) {
	d := rep.Decision
	if d.Outcome == verdict.Accept || (!d.Judged && d.Level != verdict.Block) {
		return memory.Failure{}, false
	}
	only := true
	f := memory.Failure{
		ID: rep.ID, Plan: s.Plan.ID, Site: rep.Case.Site, Agent: agentOf(s), OnBehalf: s.Plan.SubmittedBy.OnBehalfOf,
		Outcome: d.Outcome, Class: d.Class, At: at,
	}
	for _, r := range d.Reasons {
		only = only && r.Code == decide.CodePrior
	}
	for _, finding := range rep.Case.Findings {
		if finding.Level == verdict.Block {
			f.Blocking = append(f.Blocking, finding.Rule)
		}
	}
	return f, !only
}

func agentOf(s plan.Submission) string {
	if s.Agent != "" {
		return s.Agent
	}
	return s.Plan.SubmittedBy.Agent
}

// decided remembers a failure, with the facts of its plan as today's graph
// gives them.
func (m *remembered) decided(ctx context.Context, entry record.Entry, ev record.Decided) error {
	s, facts, err := m.plan(ctx, ev.Report.ID, ev.Report.Case.Site, entry.At)
	if err != nil || facts == nil {
		return err
	}
	if ev.Report.Decision.Outcome == verdict.Accept {
		m.familiar.Accepted(ev.Report.Case.Site, facts)
	}
	f, failed := failureOf(s, ev.Report, entry.At)
	if !failed {
		return nil
	}
	return m.memory.Add(f, facts)
}

// rejected confirms a failure by a person's word. A plan that no judge could
// read becomes a failure by that word alone.
func (m *remembered) rejected(ctx context.Context, entry record.Entry, decision string) error {
	err := m.memory.Confirm(decision)
	if !errors.Is(err, memory.ErrUnknown) {
		return err
	}
	d, err := m.reader.Get(ctx, decision)
	if err != nil || d.Decided == nil {
		return err
	}
	rep := d.Decided.Report
	s, facts, err := m.plan(ctx, decision, rep.Case.Site, entry.At)
	if err != nil || facts == nil {
		return err
	}
	return m.memory.Add(memory.Failure{
		ID: decision, Plan: s.Plan.ID, Site: rep.Case.Site, Agent: agentOf(s), OnBehalf: s.Plan.SubmittedBy.OnBehalfOf,
		Outcome: verdict.Reject, Class: rep.Decision.Class, At: entry.At, Confirmed: true,
	}, facts)
}

// reviewed lets a person's word count: a rejection confirms the failure, an
// approval becomes a precedent.
func (m *remembered) reviewed(ctx context.Context, entry record.Entry, ev record.Reviewed) error {
	if !ev.Approved {
		return m.rejected(ctx, entry, ev.Decision)
	}
	d, err := m.reader.Get(ctx, ev.Decision)
	if err != nil || d.Decided == nil {
		return err
	}
	c := d.Decided.Report.Case
	s, facts, err := m.plan(ctx, ev.Decision, c.Site, entry.At)
	if err != nil || facts == nil {
		return err
	}
	m.familiar.Accepted(c.Site, facts)
	for _, p := range append(slices.Clone(c.Prior), verdict.Prior{ID: ev.Decision}) {
		precedent := memory.Precedent{ID: ev.Decision, By: ev.Reviewer, Lifts: p.ID, SiteHash: c.DecidedWith.Site, Expires: entry.At.Add(approvalHolds)}
		if err := ignoreUnknown(m.memory.Approve(precedent, s, facts)); err != nil {
			return err
		}
	}
	return nil
}

func (m *remembered) plan(ctx context.Context, decision, siteID string, at time.Time) (plan.Submission, *fact.Set, error) {
	return m.engine.recordedPlan(ctx, m.reader, decision, siteID, at)
}

// recordedPlan reads a recorded plan back and derives its facts; nil facts for
// a site that is not served any more.
func (eng *engine) recordedPlan(ctx context.Context, r *record.Reader, decision, siteID string, at time.Time) (plan.Submission, *fact.Set, error) {
	st := eng.pipeline.Sites[siteID]
	if st == nil {
		return plan.Submission{}, nil, nil
	}
	d, err := r.Get(ctx, decision)
	if err != nil || d.Received == nil {
		return plan.Submission{}, nil, err
	}
	p, err := plan.DecodeJSON("record", d.Received.Plan)
	if err != nil {
		return plan.Submission{}, nil, err
	}
	s := plan.Submission{ID: decision, Plan: p, Requester: d.Received.Requester, Agent: d.Received.Agent, Received: at}
	in := st.Input(p, at)
	report, _ := check.Run(st.Checks, in) // what knowledge reads beside the plan; a check that fails leaves less to resemble
	known, err := st.Knowledge.Know(in, report.Findings)
	return s, known.Facts, err
}

func ignoreUnknown(err error) error {
	if errors.Is(err, memory.ErrUnknown) {
		return nil
	}
	return err
}

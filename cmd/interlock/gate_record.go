package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/live"
	"interlock/internal/gate/probe"
	"interlock/internal/plan"
	"interlock/internal/record"
)

// A recordJournal keeps the gate's events in the tamper-evident record (C26):
// each whole, for the gate to rebuild from, and in the same append those that
// auditors know under names of their own.
type recordJournal struct {
	log  *record.Log
	site string // the gate's
}

// newJournal returns the journal of the engine's gate in the engine's record.
func newJournal(eng *engine) (*recordJournal, error) {
	st, err := gateSite(eng)
	if err != nil {
		return nil, err
	}
	return &recordJournal{eng.log, st.Profile.ID}, nil
}

// Append implements grant.Journal.
func (j *recordJournal) Append(ctx context.Context, e grant.Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("recording %s: %w", e.Kind, err)
	}
	events := append([]record.Event{record.Execution{Decision: e.Plan, What: string(e.Kind), Body: body}}, j.known(e)...)
	_, err = j.log.Append(ctx, events...)
	return err
}

// known gives the events that auditors know of what has happened, and those
// that people are asked about.
func (j *recordJournal) known(e grant.Event) []record.Event {
	done := func(status string) []record.Event {
		return []record.Event{record.Done{Decision: e.Plan, Call: e.CallID, Status: status, Detail: e.Reason}}
	}
	switch e.Kind {
	case grant.KindGranted:
		var g grant.Grant
		if json.Unmarshal(e.Body, &g) != nil {
			return nil
		}
		return []record.Event{record.Granted{
			Decision: e.Plan, Grant: e.Grant, PlanDigest: g.Digest, SiteVersion: g.SiteVersion, Requester: e.Requester, Expires: g.Expires, Nonce: g.ID,
		}}
	case grant.KindSent:
		return []record.Event{record.Sent{Decision: e.Plan, Grant: e.Grant, Call: e.CallID, Server: e.Server, Tool: e.Tool, Arguments: e.Body}}
	case grant.KindDone:
		return done(string(e.Kind))
	case grant.KindFailed, grant.KindUnknown:
		return append(done(string(e.Kind)), j.attention(e))
	case grant.KindDeviation, grant.KindSuspended, probe.KindFailed:
		return []record.Event{j.attention(e)}
	case grant.KindWithdrawn:
		return done("failed")
	case grant.KindPins:
		return []record.Event{record.ToolPinned{Server: e.Server, Tool: e.Tool, Status: "quarantined"}, j.attention(e)}
	case live.KindStop:
		return j.stop(e, record.StopValue)
	case live.KindRearm:
		return j.stop(e, "rearm")
	case live.KindReading:
		return j.readings(e)
	default: // auditors find it as the gate's own event
		return nil
	}
}

func (j *recordJournal) stop(e grant.Event, value string) []record.Event {
	return []record.Event{record.StateChanged{Site: j.site, Name: record.StopName, Value: value, Source: e.Requester, At: e.At}}
}

// void records that everything at the site has been taken away (C20): the
// queue of people, and a gate that starts later, read it from there.
func (j *recordJournal) void(ctx context.Context, reason string) error {
	_, err := j.log.Append(context.WithoutCancel(ctx), record.Voided{Site: j.site, Reason: reason, At: time.Now()})
	return err
}

// attention makes a matter for people of an event. An unknown call has one
// matter, under the call's own id.
func (j *recordJournal) attention(e grant.Event) record.Event {
	id := e.CallID
	if e.Kind != grant.KindUnknown || id == "" {
		id = grant.NewID("m-")
	}
	return record.Attention{
		Matter: id, What: string(e.Kind), Decision: e.Plan, Grant: e.Grant, Call: e.CallID, Site: j.site, Server: e.Server, Tool: e.Tool, Reason: e.Reason,
	}
}

// Alert implements gate.Alerter. What is in the journal is a matter already;
// what is not becomes one here.
func (j *recordJournal) Alert(ctx context.Context, a gate.Alert) {
	switch a.Kind {
	case grant.KindUnknown, grant.KindDeviation, grant.KindSuspended, grant.KindPins, grant.KindFailed, grant.KindUnmet, probe.KindFailed: // what is unmet has failed
		return
	default:
	}
	// The gate has logged the alert; where the record cannot be written nothing is granted either.
	_, _ = j.log.Append(context.WithoutCancel(ctx), j.attention(grant.Event{Kind: a.Kind, Plan: a.Plan, Grant: a.Grant, Server: a.Server, Tool: a.Tool, Reason: a.Reason}))
}

func (j *recordJournal) readings(e grant.Event) []record.Event {
	var values map[string]string
	if json.Unmarshal(e.Body, &values) != nil {
		return nil
	}
	var out []record.Event
	for name, v := range values {
		out = append(out, record.StateChanged{Site: j.site, Name: name, Value: v, Source: e.Requester, At: e.At})
	}
	return out
}

// Replay implements grant.Journal. Every event is proven against the signed
// checkpoint: what the gate acts on was not put in by hand.
func (j *recordJournal) Replay(ctx context.Context, visit func(grant.Event) error) error {
	entries, err := j.log.Proven(ctx, record.Query{Kinds: []record.Kind{record.KindExecution}})
	if err != nil {
		return err
	}
	for _, entry := range entries {
		ev, err := entry.Event()
		if err != nil {
			return err
		}
		x, ok := ev.(record.Execution)
		if !ok {
			continue
		}
		var e grant.Event
		if err := json.Unmarshal(x.Body, &e); err != nil {
			return fmt.Errorf("reading event %d: %w", entry.Seq, err)
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// reviewPoll is how often the record is looked at for people's decisions,
// which another process may have written.
const reviewPoll = 500 * time.Millisecond

// watchReviews hands people's decisions to the gate: on plans, and on calls
// nobody knew the outcome of.
func (gw *gateway) watchReviews(ctx context.Context, log *record.Log) {
	tick := time.NewTicker(reviewPoll)
	defer tick.Stop()
	next := int64(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		entries, err := log.Proven(ctx, record.Query{Kinds: []record.Kind{record.KindReviewed, record.KindResolved}, From: next})
		if err != nil {
			continue // nothing is granted on what cannot be read
		}
		for _, entry := range entries {
			next = entry.Seq + 1
			ev, err := entry.Event()
			if err != nil {
				continue
			}
			switch r := ev.(type) {
			case record.Reviewed:
				gw.reviewed(ctx, log, r)
			case record.Resolved:
				gw.resolved(ctx, r)
			default: // not asked for
			}
		}
	}
}

// reviewed acts on one decision of a person. An approval that has expired or
// is for another site version grants nothing.
func (gw *gateway) reviewed(ctx context.Context, log *record.Log, r record.Reviewed) {
	if !gw.gate.Knows(r.Decision) {
		gw.restore(ctx, log, r.Decision)
	}
	if !r.Approved {
		_, _ = gw.gate.Deny(ctx, r.Decision, r.Reviewer, r.Note)
		return
	}
	if !time.Now().Before(r.Expires) {
		return
	}
	void, err := voidedSince(ctx, log, r.Decision)
	if err != nil {
		return // nothing is granted on what cannot be read
	}
	if void != nil { // the plan was approved for another state of the site (C20)
		gw.gate.VoidPlan(r.Decision, void.Reason)
		return
	}
	// The planner sees with plan_status why an approved plan could not be
	// granted; a plan of the HTTP API alone is not known here.
	_, _ = gw.gate.Approve(ctx, r.Decision, r.Reviewer)
}

// voidedSince says what has taken a decision's standing away; nil if nothing
// has.
func voidedSince(ctx context.Context, log *record.Log, id string) (*record.Voided, error) {
	d, err := log.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if d.Decided == nil {
		return nil, fmt.Errorf("decision %s: %w", id, record.ErrNotFound)
	}
	return log.VoidedAfter(ctx, d.Decided.Report.Case.Site, d.DecidedSeq)
}

// resolved acts on a person's word on an unknown call. One that the gate has
// heard before, or a matter that is no call, changes nothing.
func (gw *gateway) resolved(ctx context.Context, r record.Resolved) {
	switch outcome := grant.SlotState(r.Outcome); outcome {
	case grant.Done, grant.Failed:
		if err := gw.gate.Resolve(ctx, r.Matter, r.Reviewer, outcome, r.Note); err != nil && !errors.Is(err, grant.ErrNotUnknown) {
			gw.log.ErrorContext(ctx, "a resolved call stays unknown", "call", r.Matter, "error", err)
		}
	default:
	}
}

// restore takes a plan up again that an earlier process has judged.
func (gw *gateway) restore(ctx context.Context, log *record.Log, id string) {
	d, err := log.Get(ctx, id)
	if err != nil || d.Received == nil || d.Decided == nil {
		return
	}
	p, err := plan.DecodeJSON("recorded plan", d.Received.Plan)
	if err != nil {
		return
	}
	gw.gate.Restore(plan.Submission{Plan: p, ID: id, Requester: d.Received.Requester, Agent: d.Received.Agent, Received: d.Received.At}, d.Decided.Report)
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/live"
	"interlock/internal/plan"
	"interlock/internal/record"
)

// A recordJournal keeps the gate's events in the tamper-evident record (C26):
// each whole, for the gate to rebuild from, and in the same append those that
// auditors know under names of their own.
type recordJournal struct{ log *record.Log }

// Append implements grant.Journal.
func (j *recordJournal) Append(ctx context.Context, e grant.Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("recording %s: %w", e.Kind, err)
	}
	events := append([]record.Event{record.Execution{Decision: e.Plan, What: string(e.Kind), Body: body}}, known(e)...)
	_, err = j.log.Append(ctx, events...)
	return err
}

// known gives the events that auditors know of what has happened.
func known(e grant.Event) []record.Event {
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
	case grant.KindDone, grant.KindFailed, grant.KindUnknown:
		return done(string(e.Kind))
	case grant.KindWithdrawn:
		return done("failed")
	case grant.KindPins:
		return []record.Event{record.ToolPinned{Server: e.Server, Tool: e.Tool, Status: "quarantined"}}
	case live.KindStop, live.KindRearm:
		return []record.Event{record.StateChanged{Name: "estop", Value: string(e.Kind), Source: e.Requester, At: e.At}}
	case live.KindReading:
		return readings(e)
	default: // auditors find it as the gate's own event
		return nil
	}
}

func readings(e grant.Event) []record.Event {
	var values map[string]string
	if json.Unmarshal(e.Body, &values) != nil {
		return nil
	}
	var out []record.Event
	for name, v := range values {
		out = append(out, record.StateChanged{Name: name, Value: v, Source: e.Requester, At: e.At})
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

// watchReviews hands people's decisions to the gate.
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
		entries, err := log.Proven(ctx, record.Query{Kinds: []record.Kind{record.KindReviewed}, From: next})
		if err != nil {
			continue // nothing is granted on what cannot be read
		}
		for _, entry := range entries {
			next = entry.Seq + 1
			if ev, err := entry.Event(); err == nil {
				if r, ok := ev.(record.Reviewed); ok {
					gw.reviewed(ctx, log, r)
				}
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
	// The planner sees with plan_status why an approved plan could not be
	// granted; a plan of the HTTP API alone is not known here.
	_, _ = gw.gate.Approve(ctx, r.Decision, r.Reviewer)
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

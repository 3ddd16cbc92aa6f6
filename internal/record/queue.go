package record

import (
	"context"
	"fmt"
	"time"
)

// waitingQuery takes turns between requesters: the oldest plan of each, then
// the second of each, so that one agent's flood hides nobody else's plan (C44).
// The tag of a received event is its requester.
const waitingQuery = `
SELECT d.decision FROM events AS d LEFT JOIN events AS p ON p.decision = d.decision AND p.kind = 'received'
WHERE d.kind = 'decided' AND d.tag = 'escalate' AND d.at > ?
AND NOT EXISTS (SELECT 1 FROM events WHERE decision = d.decision AND kind = 'reviewed')
ORDER BY row_number() OVER (PARTITION BY p.tag ORDER BY d.seq), d.seq`

// Waiting returns the ids of escalated decisions younger than since that no
// person has decided, requesters taking turns, each one's oldest first.
// Undecided has those that nobody answered in time as well.
func (r *Reader) Waiting(ctx context.Context, since time.Time) ([]string, error) {
	return r.ids(ctx, waitingQuery, since.UTC().Format(time.RFC3339Nano))
}

// OpenMatters returns the ids of matters that nobody has resolved, oldest first.
func (r *Reader) OpenMatters(ctx context.Context) ([]string, error) {
	return r.ids(ctx, `SELECT tag FROM events AS a WHERE kind = 'attention'
		AND NOT EXISTS (SELECT 1 FROM events WHERE kind = 'resolved' AND tag = a.tag) ORDER BY seq`)
}

// Unsettled returns the ids of calls that were sent and have no recorded end,
// oldest first: they run now, or the gate ended while they did.
func (r *Reader) Unsettled(ctx context.Context) ([]string, error) {
	return r.ids(ctx, `SELECT tag FROM events AS s WHERE kind = 'sent'
		AND NOT EXISTS (SELECT 1 FROM events WHERE kind = 'done' AND tag = s.tag) ORDER BY seq`)
}

// VoidedAfter returns what has voided everything at a site since an event,
// proven; nil if nothing has.
func (r *Reader) VoidedAfter(ctx context.Context, site string, seq int64) (*Voided, error) {
	entries, err := r.Proven(ctx, Query{Kinds: []Kind{KindVoided}, Tag: site, From: seq + 1, Limit: 1})
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	event, err := entries[0].Event()
	if err != nil {
		return nil, err
	}
	v, ok := event.(Voided)
	if !ok {
		return nil, fmt.Errorf("event %d is a %s, not a voiding", entries[0].Seq, event.Kind())
	}
	return &v, nil
}

// StopName is the reading under which stops and re-armings of a site are
// recorded, and StopValue its value while a stop is in force.
const (
	StopName  = "estop"
	StopValue = "stop"
)

// Stopped returns the emergency stop in force at a site, proven; nil if there
// is none.
func (r *Reader) Stopped(ctx context.Context, site string) (*StateChanged, error) {
	entries, err := r.Proven(ctx, Query{Kinds: []Kind{KindStateChanged}, Tag: site + "/" + StopName, Newest: true, Limit: 1})
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	event, err := entries[0].Event()
	if err != nil {
		return nil, err
	}
	s, ok := event.(StateChanged)
	if !ok {
		return nil, fmt.Errorf("event %d is a %s, not a change of state", entries[0].Seq, event.Kind())
	}
	if s.Value != StopValue {
		return nil, nil //nolint:nilnil // no stop is an answer
	}
	return &s, nil
}

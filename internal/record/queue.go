package record

import (
	"context"
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

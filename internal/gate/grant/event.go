package grant

import (
	"context"
	"encoding/json"
	"time"
)

// A Kind is what happened.
type Kind string

// The kinds of events. Received … decided of a plan belong to the record of
// decisions; these are the ones of its execution.
const (
	KindGranted   Kind = "granted"   // Body: the grant
	KindSent      Kind = "sent"      // appended before the call goes out
	KindWithdrawn Kind = "withdrawn" // recorded as sent, but stopped before it went out
	KindSettling  Kind = "settling"  // done, and what the plan expects of it is waited for
	KindDone      Kind = "done"
	KindFailed    Kind = "failed"
	KindUnknown   Kind = "unknown"
	KindAnswered  Kind = "answered" // a person said what became of an unknown call; Body: the Resolution
	KindDeviation Kind = "deviation"
	KindSuspended Kind = "suspended"
	KindVoided    Kind = "voided"
	KindSafe      Kind = "safe"   // a safe action passed without a grant (C31)
	KindShadow    Kind = "shadow" // a call that strict mode would have refused passed in shadow mode (C43)
	KindRefused   Kind = "refused"
	KindUnmet     Kind = "unmet"       // what a call was expected to do was not seen; Reason says what was
	KindJudged    Kind = "judged"      // Body: the text of a plan that was accepted or rejected, for a gate that starts anew
	KindObserved  Kind = "observed"    // a reading that begins a forbidden pair of calls passed
	KindRests     Kind = "rests"       // Body: what a plan rests on outside its own text, when it was judged (C32, C35)
	KindScreened  Kind = "screened"    // text of a server looked like an attack
	KindPins      Kind = "quarantined" // a tool or instruction is not what was approved (C23)
	KindWire      Kind = "wire"        // a frame was refused (C22)
)

// An Event is one entry of the journal.
type Event struct {
	Kind      Kind            `json:"kind"`
	At        time.Time       `json:"at"`
	Requester string          `json:"requester,omitempty"`
	Grant     string          `json:"grant,omitempty"`
	Plan      string          `json:"plan,omitempty"`
	Slot      int             `json:"slot,omitempty"` // 1-based; of on_abort: negative
	CallID    string          `json:"call_id,omitempty"`
	Server    string          `json:"server,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Body      json.RawMessage `json:"body,omitempty"`
}

// A Journal keeps events. Append returns when the event is durable; if it
// fails, what the event announces does not happen (C25). Replay gives every
// event in the order of their appending.
type Journal interface {
	Append(ctx context.Context, e Event) error
	Replay(ctx context.Context, visit func(Event) error) error
}

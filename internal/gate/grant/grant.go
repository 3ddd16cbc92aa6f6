// Package grant holds what an accepted plan allows: grants, their call slots
// and the permits that use a slot once (C14, C19, C21). It knows neither MCP
// nor HTTP; every change is appended to a journal before it takes effect, and
// the whole state is rebuilt from that journal.
package grant

import (
	"encoding/json"
	"slices"
	"time"

	"interlock/internal/plan"
	"interlock/internal/strict"
)

// A Status is what a grant is good for.
type Status string

// The statuses. Only an open grant lets a call pass; the empty value does not.
const (
	Open      Status = "open"
	Suspended Status = "suspended" // a deviation, a failed or unknown call: a new plan or a person
	Void      Status = "void"      // cancelled, expired, or voided by a stop or a change of state (C20)
	Finished  Status = "finished"
)

// A SlotState is how far one call of a plan has come (C19).
type SlotState string

// The states of a slot.
const (
	Planned SlotState = "planned"
	Sent    SlotState = "sent"
	// Settling is done, but what the plan expects of it has not been seen yet.
	Settling SlotState = "settling"
	Done     SlotState = "done"
	Failed   SlotState = "failed"  // the server answered that it failed, or what was expected did not come
	Unknown  SlotState = "unknown" // may or may not have happened: never repeated, a person decides
)

// A Slot is one call of an accepted plan; it can be used once.
type Slot struct {
	Step   int             `json:"step"`
	Server string          `json:"server"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"` // as canonical JSON, declared readings included
	Pin    string          `json:"pin"`  // digest of the tool's definition at acceptance
	State  SlotState       `json:"state"`
	CallID string          `json:"call_id,omitempty"`

	Expect *Expect           `json:"expect,omitempty"` // what must be seen after it
	Refs   map[string]string `json:"refs,omitempty"`   // digest of what an argument names, by argument; "" could not be resolved (C35)
}

// An Expect is the postcondition of a slot: a number that another tool reads
// comes into a band within a time.
type Expect struct {
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"` // as canonical JSON
	Pointer string          `json:"pointer"`
	Unit    string          `json:"unit,omitempty"`
	Min     json.Number     `json:"min,omitempty"`
	Max     json.Number     `json:"max,omitempty"`
	Within  time.Duration   `json:"within_ns"`
}

// A Claim is a precondition of the plan that live state verified when it was
// judged (C32).
type Claim struct {
	Kind   string `json:"kind"`
	Step   int    `json:"step"` // 0: the plan as a whole
	Text   string `json:"text"`
	Source string `json:"source"` // the reading that verified it
}

// A Grant is the right to carry out one accepted plan. Everything that
// Interlock adds later stays outside the plan's digest (C15).
type Grant struct {
	ID          string    `json:"id"` // the handle: unguessable, and no authority by itself
	Plan        string    `json:"plan"`
	Decision    string    `json:"decision"`
	Digest      string    `json:"digest"`
	Site        string    `json:"site"`
	SiteVersion string    `json:"site_version"`
	Decided     string    `json:"decided_with"` // digest of what the decision rested on (C2)
	Requester   string    `json:"requester"`
	ApprovedBy  string    `json:"approved_by,omitempty"` // the person, for a plan that was escalated
	Expires     time.Time `json:"expires"`
	Slots       []Slot    `json:"slots"`
	OnAbort     []Slot    `json:"on_abort,omitempty"`
	Claims      []Claim   `json:"claims,omitempty"`
	Status      Status    `json:"status"`
	Why         string    `json:"why,omitempty"` // of a status that is not open
	Held        string    `json:"-"`             // id of the unknown call that alone suspends the grant, "" if anything else does
}

// next returns the index of the first slot that is not done, -1 if all are.
func (g *Grant) next() int {
	return slices.IndexFunc(g.Slots, func(s Slot) bool { return s.State != Done })
}

// nextRead is next for a call that only reads: one that has no effect need not
// wait until what an earlier call is expected to do has been seen.
func (g *Grant) nextRead() int {
	return slices.IndexFunc(g.Slots, func(s Slot) bool { return s.State != Done && s.State != Settling })
}

// begun reports whether any call has been sent.
func (g *Grant) begun() bool {
	return slices.ContainsFunc(g.Slots, func(s Slot) bool { return s.State != Planned })
}

// clone gives a copy that shares no slot.
func (g *Grant) clone() Grant {
	c := *g
	c.Slots, c.OnAbort = slices.Clone(g.Slots), slices.Clone(g.OnAbort)
	return c
}

// An Ask is a call that wants to pass.
type Ask struct {
	Requester string
	Handle    string // a grant's id if the client could set one, else ""
	Server    string
	Tool      string
	Args      map[string]any
	Pin       string // digest of the tool's definition now
}

// A Permit lets one call pass, once.
type Permit struct {
	Grant  string
	Plan   string
	Slot   int // index of the slot
	CallID string
	Step   int
	Abort  bool // a slot of on_abort
}

// A Refusal says why a call does not pass and what could be done.
type Refusal struct {
	Code      string // "no-plan", "deviation", "wait", "suspended", "void", "expired", "site-changed", "tool-changed", "unrecorded"
	Reason    string
	Plan      string
	Grant     string
	Next      *Slot  // the call that would be next
	OnAbort   []Slot // what may be run to make things safe
	Suspended bool
}

func (r *Refusal) Error() string { return r.Reason }

// NewSlot makes a slot of a plan's call.
func NewSlot(c plan.ToolCall, server, tool, pin string) Slot {
	return Slot{Step: c.Step, Server: server, Tool: tool, Args: strict.Canonical(c.Arguments), Pin: pin, State: Planned}
}

package grant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A Resolution is a person's word on a call nobody knew the outcome of (C19).
type Resolution struct {
	Outcome SlotState `json:"outcome"` // Done or Failed
	By      string    `json:"by"`      // identity of the credential
	Note    string    `json:"note,omitempty"`
}

// ErrNotUnknown says that there is nothing to resolve: no call with this id,
// or one whose outcome is known.
var ErrNotUnknown = errors.New("no call with this id has an unknown outcome")

// Resolve settles an unknown call on a person's word, once that is recorded.
// The call is never sent again. If it was done, and nothing but its being
// unknown suspends the plan, the plan may go on with its next call; if it
// failed, the plan stays suspended, as after any failed call. A grant that is
// void or has expired stays so.
func (b *Book) Resolve(ctx context.Context, callID string, r Resolution) (Grant, error) {
	if r.By == "" || (r.Outcome != Done && r.Outcome != Failed) {
		return Grant{}, fmt.Errorf("resolving call %s: expected a person and an outcome %s or %s", callID, Done, Failed)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return Grant{}, fmt.Errorf("resolving call %s: %w", callID, err)
	}
	b.mu.Lock()
	p, s := b.unknown(callID)
	if s == nil {
		b.mu.Unlock()
		return Grant{}, fmt.Errorf("resolving call %s: %w", callID, ErrNotUnknown)
	}
	g := b.grants[p.Grant]
	e := p.event(KindAnswered, s, g.Requester, fmt.Sprintf("%s says the call is %s: %s", r.By, r.Outcome, r.Note))
	b.mu.Unlock()
	e.Body = body
	if err := b.append(ctx, e); err != nil {
		return Grant{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.State == Unknown { // else another resolution was faster, and the same event is replayed as nothing
		b.resolve(g, s, p.Abort, r)
	}
	return g.clone(), nil
}

// unknown finds an unknown call. mu is held.
func (b *Book) unknown(callID string) (Permit, *Slot) {
	for _, id := range b.order {
		g := b.grants[id]
		for _, abort := range []bool{false, true} {
			list := g.Slots
			if abort {
				list = g.OnAbort
			}
			for i := range list {
				if s := &list[i]; s.State == Unknown && s.CallID == callID && callID != "" {
					return Permit{Grant: g.ID, Plan: g.Plan, Slot: i, CallID: callID, Step: s.Step, Abort: abort}, s
				}
			}
		}
	}
	return Permit{}, nil
}

// resolve sets the state of an unknown slot and what follows. mu is held.
func (b *Book) resolve(g *Grant, s *Slot, abort bool, r Resolution) {
	if s.State != Unknown || (r.Outcome != Done && r.Outcome != Failed) {
		return
	}
	s.State = r.Outcome
	if abort || g.Status != Suspended || g.Held != s.CallID {
		return
	}
	aborted := slices.ContainsFunc(g.OnAbort, func(a Slot) bool { return a.State != Planned })
	switch {
	case r.Outcome == Failed:
		g.Why = fmt.Sprintf("%s: the call has failed, says %s", s.Tool, r.By)
	case aborted:
		g.Why = "its on_abort calls have run"
	case g.next() < 0:
		g.Status, g.Why = Finished, "every call is done"
	default:
		g.Status, g.Why = Open, ""
	}
	g.Held = ""
}

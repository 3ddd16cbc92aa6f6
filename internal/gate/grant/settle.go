package grant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Settle records that a call is done and that what it is expected to do is now
// waited for. The plan's next call waits as well; Finish ends it.
func (b *Book) Settle(ctx context.Context, p Permit) error {
	b.mu.Lock()
	g, s := b.slot(p)
	if s == nil || s.State != Sent {
		b.mu.Unlock()
		return nil
	}
	e := p.event(KindSettling, s, g.Requester, "")
	b.mu.Unlock()
	if err := b.append(ctx, e); err != nil {
		_ = b.stopped(p, Unknown, "unrecorded", "the end of a call could not be recorded")
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.State == Sent {
		s.State = Settling
	}
	return nil
}

// Unknown reports whether nobody knows the outcome of a call of the grant.
func (g *Grant) Unknown() bool {
	unknown := func(s Slot) bool { return s.State == Unknown }
	return slices.ContainsFunc(g.Slots, unknown) || slices.ContainsFunc(g.OnAbort, unknown)
}

// Slot returns a copy of a permit's slot.
func (b *Book) Slot(p Permit) (Slot, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, s := b.slot(p)
	if s == nil {
		return Slot{}, false
	}
	return *s, true
}

func (b *Book) state(p Permit) SlotState {
	s, _ := b.Slot(p)
	return s.State
}

// Rest records what a plan rests on outside its own text, as the gate encodes
// it: it must survive until a person has decided on the plan.
func (b *Book) Rest(ctx context.Context, requester, planID string, body json.RawMessage) error {
	if err := b.append(ctx, Event{Kind: KindRests, Requester: requester, Plan: planID, Body: body}); err != nil {
		return fmt.Errorf("plan %s: %w", planID, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rests[planID] = body
	return nil
}

// Rests returns what Rest recorded for a plan that is not granted yet, nil if
// nothing.
func (b *Book) Rests(planID string) json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rests[planID]
}

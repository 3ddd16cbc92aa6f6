package grant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"interlock/internal/strict"
)

// slot returns the slot of a permit, nil if there is none. mu is held.
func (b *Book) slot(p Permit) (*Grant, *Slot) {
	g := b.grants[p.Grant]
	if g == nil {
		return nil, nil
	}
	list := g.Slots
	if p.Abort {
		list = g.OnAbort
	}
	if p.Slot < 0 || p.Slot >= len(list) || list[p.Slot].CallID != p.CallID {
		return g, nil
	}
	return g, &list[p.Slot]
}

func (p Permit) event(k Kind, s *Slot, requester, reason string) Event {
	n := p.Slot + 1
	if p.Abort {
		n = -n
	}
	return Event{Kind: k, Requester: requester, Grant: p.Grant, Plan: p.Plan, Slot: n, CallID: p.CallID, Server: s.Server, Tool: s.Tool, Reason: reason}
}

// Release gives a reserved slot back: nothing has been recorded or sent.
func (b *Book) Release(p Permit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, s := b.slot(p); s != nil && s.State == Sent {
		s.State, s.CallID = Planned, ""
	}
}

// Commit records that the call is about to go out. Only after it returns nil
// may the call be forwarded. A grant that was voided meanwhile lets nothing
// pass (C20).
func (b *Book) Commit(ctx context.Context, p Permit, args json.RawMessage) *Refusal {
	b.mu.Lock()
	g, s := b.slot(p)
	if s == nil {
		b.mu.Unlock()
		return &Refusal{Code: "no-plan", Reason: "the permit is not known or was used"}
	}
	e := p.event(KindSent, s, g.Requester, "")
	b.mu.Unlock()
	e.Body = args
	if err := b.append(ctx, e); err != nil {
		// Whether the entry is durable is not known, so the slot is not given
		// back: the plan stops here and a person looks.
		return b.stopped(p, Unknown, "unrecorded", fmt.Sprintf("the call could not be recorded, so it was not sent: %v", err))
	}
	b.mu.Lock()
	r := b.usable(g)
	if r == nil || p.Abort {
		b.mu.Unlock()
		return nil
	}
	withdrawn := p.event(KindWithdrawn, s, g.Requester, r.Reason)
	s.State, s.CallID = Planned, ""
	b.mu.Unlock()
	if err := b.append(ctx, withdrawn); err != nil {
		r.Reason += "; " + err.Error() // the entry before says sent: a restart will ask a person, rightly
	}
	return r
}

// stopped ends a grant in memory only, for when the journal cannot be written.
func (b *Book) stopped(p Permit, state SlotState, code, reason string) *Refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, s := b.slot(p)
	if s != nil {
		s.State = state
	}
	r := &Refusal{Code: code, Reason: reason, Plan: p.Plan, Grant: p.Grant}
	if g != nil {
		g.Status, g.Why = Suspended, reason
		r.OnAbort, r.Suspended = g.OnAbort, true
	}
	return r
}

// Finish records how a call ended: Done, Failed or Unknown. Anything but Done
// suspends the plan: its next call rested on this one. A call is finished
// once; later reports are ignored.
func (b *Book) Finish(ctx context.Context, p Permit, end SlotState, reason string) error {
	kind := map[SlotState]Kind{Done: KindDone, Failed: KindFailed}[end]
	if kind == "" {
		kind, end = KindUnknown, Unknown
	}
	b.mu.Lock()
	g, s := b.slot(p)
	if s == nil || (s.State != Sent && s.State != Settling) {
		b.mu.Unlock()
		return nil
	}
	e := p.event(kind, s, g.Requester, reason)
	b.mu.Unlock()
	if err := b.append(ctx, e); err != nil {
		_ = b.stopped(p, Unknown, "unrecorded", "the end of a call could not be recorded")
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(g, s, p.Abort, end, reason)
	return nil
}

// settle sets the state of a slot and what follows for its grant. mu is held.
func (b *Book) settle(g *Grant, s *Slot, abort bool, end SlotState, reason string) {
	s.State = end
	if end == Failed && !abort {
		g.Held = "" // whatever is known of another call later, this one ends the plan
	}
	if abort || g.Status != Open {
		return
	}
	switch {
	case end != Done:
		g.Status, g.Why = Suspended, fmt.Sprintf("%s: the call is %s: %s", s.Tool, end, reason)
		if end == Unknown {
			g.Held = s.CallID
		}
	case g.next() < 0:
		g.Status, g.Why = Finished, "every call is done"
	}
}

// Suspend stops one grant for a reason found at dispatch or after a call.
func (b *Book) Suspend(ctx context.Context, id, reason string, ask Ask) error {
	return b.end(ctx, id, Suspended, KindDeviation, reason, ask)
}

// Cancel voids the grants of a plan, by its requester or a person.
func (b *Book) Cancel(ctx context.Context, planID, reason string) error {
	return b.VoidIf(ctx, reason, func(g Grant) bool { return g.Plan == planID })
}

// VoidIf voids every open or suspended grant that the condition holds for. It
// takes effect before it is recorded: stopping waits for nothing.
func (b *Book) VoidIf(ctx context.Context, reason string, holds func(Grant) bool) error {
	b.mu.Lock()
	var events []Event
	for _, id := range b.order {
		g := b.grants[id]
		if (g.Status != Open && g.Status != Suspended) || !holds(g.clone()) {
			continue
		}
		g.Status, g.Why = Void, reason
		events = append(events, Event{Kind: KindVoided, Requester: g.Requester, Grant: g.ID, Plan: g.Plan, Reason: reason})
	}
	b.mu.Unlock()
	for _, e := range events {
		if err := b.append(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// end takes the right away first and records it then: an unwritable journal
// must not keep a plan running.
func (b *Book) end(ctx context.Context, id string, status Status, kind Kind, reason string, ask Ask) error {
	b.mu.Lock()
	g := b.grants[id]
	if g == nil {
		b.mu.Unlock()
		return errNoGrant
	}
	if g.Status == Open {
		g.Status, g.Why = status, reason
	}
	g.Held = ""
	e := Event{Kind: kind, Requester: g.Requester, Grant: id, Plan: g.Plan, Server: ask.Server, Tool: ask.Tool, Reason: reason, Body: argsJSON(ask.Args)}
	b.mu.Unlock()
	return b.append(ctx, e)
}

// Unknowns returns the grants with a call whose outcome is not known.
func (b *Book) Unknowns() []Grant {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Grant
	for _, id := range b.order {
		g := b.grants[id]
		unknown := func(s Slot) bool { return s.State == Unknown }
		if slices.ContainsFunc(g.Slots, unknown) || slices.ContainsFunc(g.OnAbort, unknown) {
			out = append(out, g.clone())
		}
	}
	return out
}

// Recover rebuilds the book from the journal. A call that was sent and has no
// recorded end becomes unknown and its plan is suspended (C19, C27). It
// returns the grants concerned, for a person to be asked.
func (b *Book) Recover(ctx context.Context) ([]Grant, error) {
	b.mu.Lock()
	err := b.journal.Replay(ctx, b.apply)
	var lost []Permit
	for _, id := range b.order {
		lost = append(lost, inFlight(b.grants[id])...)
	}
	b.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	for _, p := range lost {
		end, reason := Unknown, "the gate ended before the call's result was recorded"
		if b.state(p) == Settling { // it has happened: whether it did what it should is what a person must see
			end, reason = Failed, "the gate ended before what the call is expected to do was seen"
		}
		if err := b.Finish(ctx, p, end, reason); err != nil {
			return nil, err
		}
	}
	var concerned []Grant
	for _, p := range lost {
		if g, ok := b.Get(p.Grant); ok {
			concerned = append(concerned, g)
		}
	}
	return concerned, nil
}

func inFlight(g *Grant) []Permit {
	var lost []Permit
	for _, abort := range []bool{false, true} {
		list := g.Slots
		if abort {
			list = g.OnAbort
		}
		for i, s := range list {
			if s.State == Sent || s.State == Settling {
				lost = append(lost, Permit{Grant: g.ID, Plan: g.Plan, Slot: i, CallID: s.CallID, Step: s.Step, Abort: abort})
			}
		}
	}
	return lost
}

// apply replays one event. mu is held.
func (b *Book) apply(e Event) error {
	if e.Kind == KindGranted {
		var g Grant
		if err := json.Unmarshal(e.Body, &g); err != nil {
			return fmt.Errorf("grant %s: %w", e.Grant, err)
		}
		b.add(&g)
		return nil
	}
	if e.Kind == KindRests {
		b.rests[e.Plan] = e.Body
		return nil
	}
	g := b.grants[e.Grant]
	if g == nil {
		return nil
	}
	list, i, abort := g.Slots, e.Slot-1, e.Slot < 0
	if abort {
		list, i = g.OnAbort, -e.Slot-1
	}
	if i >= 0 && i < len(list) {
		b.replaySlot(g, &list[i], abort, e)
	}
	switch e.Kind {
	case KindDeviation, KindSuspended:
		if g.Status == Open {
			g.Status, g.Why = Suspended, e.Reason
		}
		g.Held = ""
	case KindVoided:
		g.Status, g.Why = Void, e.Reason
	default: // of a slot, or of no grant
	}
	return nil
}

func (b *Book) replaySlot(g *Grant, s *Slot, abort bool, e Event) {
	switch e.Kind {
	case KindSent:
		s.State, s.CallID = Sent, e.CallID
	case KindWithdrawn:
		s.State, s.CallID = Planned, ""
	case KindSettling:
		s.State = Settling
	case KindDone:
		b.settle(g, s, abort, Done, e.Reason)
	case KindFailed:
		b.settle(g, s, abort, Failed, e.Reason)
	case KindUnknown:
		b.settle(g, s, abort, Unknown, e.Reason)
	case KindAnswered:
		var r Resolution
		if json.Unmarshal(e.Body, &r) == nil {
			b.resolve(g, s, abort, r)
		}
	default: // changes no slot
	}
}

// argsJSON gives arguments as canonical JSON, nil for none.
func argsJSON(args map[string]any) json.RawMessage {
	if args == nil {
		return nil
	}
	return strict.Canonical(args)
}

// ReserveIfNext takes the slot if the call is the next one of an open plan of
// the requester; for calls that need no plan, so nothing is a deviation.
func (b *Book) ReserveIfNext(ask Ask) (Permit, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range b.unfinished() {
		if g.Requester != ask.Requester || g.Status != Open || b.usable(g) != nil || (ask.Handle != "" && ask.Handle != g.ID) {
			continue
		}
		if i := g.nextRead(); b.take(g, ask, i) == nil {
			s := &g.Slots[i]
			s.State, s.CallID = Sent, NewID("c-")
			return Permit{Grant: g.ID, Plan: g.Plan, Slot: i, CallID: s.CallID, Step: s.Step}, true
		}
	}
	return Permit{}, false
}

// Withdraw gives back a slot that was recorded as sent and then did not go
// out.
func (b *Book) Withdraw(ctx context.Context, p Permit, reason string) error {
	b.mu.Lock()
	g, s := b.slot(p)
	if s == nil || s.State != Sent {
		b.mu.Unlock()
		return nil
	}
	e := p.event(KindWithdrawn, s, g.Requester, reason)
	s.State, s.CallID = Planned, ""
	b.mu.Unlock()
	return b.append(ctx, e)
}

package grant_test

import (
	"errors"
	"testing"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
)

// An unknown call suspends its plan until a person says what became of it.
func TestC19_APersonResolvesAnUnknownCall(t *testing.T) {
	t.Parallel()
	by := func(end grant.SlotState) grant.Resolution {
		return grant.Resolution{Outcome: end, By: "ana", Note: "seen"}
	}
	stray := func(t *testing.T, b *grant.Book) { // suspends the plan for a reason of its own
		t.Helper()
		if err := b.Suspend(t.Context(), b.Unknowns()[0].ID, "blocked", grant.Ask{}); err != nil {
			t.Fatal(err)
		}
	}
	void := func(t *testing.T, b *grant.Book) {
		t.Helper()
		if err := b.VoidIf(t.Context(), "stop", func(grant.Grant) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	abort := func(t *testing.T, b *grant.Book) {
		t.Helper()
		if _, r := b.Reserve(t.Context(), ask("stop")); r != nil {
			t.Fatal(r)
		}
	}
	for name, c := range map[string]struct {
		before func(*testing.T, *grant.Book)
		end    grant.SlotState
		want   grant.Status
	}{
		"done":               {nil, grant.Done, grant.Open},
		"failed":             {nil, grant.Failed, grant.Suspended},
		"done, but strayed":  {stray, grant.Done, grant.Suspended},
		"done, but stopped":  {void, grant.Done, grant.Void},
		"done, but on_abort": {abort, grant.Done, grant.Suspended},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBook(&journal.Memory{})
			if _, err := b.Open(t.Context(), grant.Grant{Plan: "d-1", Requester: "alice", SiteVersion: "v1", Expires: time.Now().Add(time.Hour), Slots: slots("a", "b"), OnAbort: slots("stop")}); err != nil {
				t.Fatal(err)
			}
			p, r := b.Reserve(t.Context(), ask("a"))
			if r == nil {
				r = b.Commit(t.Context(), p, nil)
			}
			if r != nil {
				t.Fatal(r)
			}
			if err := b.Finish(t.Context(), p, grant.Unknown, "lost"); err != nil {
				t.Fatal(err)
			}
			if _, r := b.Reserve(t.Context(), ask("b")); r == nil || r.Code != "suspended" {
				t.Fatalf("the next call before the answer: %v", r)
			}
			if c.before != nil {
				c.before(t, b)
			}
			g, err := b.Resolve(t.Context(), p.CallID, by(c.end))
			if err != nil || g.Status != c.want || g.Slots[0].State != c.end {
				t.Fatalf("%s (%s), slot %s, %v; want %s", g.Status, g.Why, g.Slots[0].State, err, c.want)
			}
			if _, err := b.Resolve(t.Context(), p.CallID, by(grant.Done)); !errors.Is(err, grant.ErrNotUnknown) {
				t.Errorf("a second answer: %v", err)
			}
			if _, r := b.Reserve(t.Context(), ask("a")); r == nil {
				t.Error("the call is repeated")
			}
		})
	}
	b := newBook(&journal.Memory{})
	for _, r := range []grant.Resolution{{Outcome: grant.Done}, {By: "ana"}, {Outcome: grant.Unknown, By: "ana"}, by(grant.Done)} {
		if _, err := b.Resolve(t.Context(), "c-none", r); err == nil {
			t.Errorf("%+v was taken", r)
		}
	}
}

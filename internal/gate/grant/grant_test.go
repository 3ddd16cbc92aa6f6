package grant_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
	"interlock/internal/plan"
)

func newBook(j grant.Journal) *grant.Book {
	return grant.NewBook(j, time.Now, func() string { return "v1" }, nil)
}

func slots(tools ...string) []grant.Slot {
	var out []grant.Slot
	for i, name := range tools {
		out = append(out, grant.NewSlot(plan.ToolCall{Step: i + 1, Tool: name, Arguments: map[string]any{}}, "s", name, "pin"))
	}
	return out
}

func ask(tool string) grant.Ask {
	return grant.Ask{Requester: "alice", Server: "s", Tool: tool, Args: map[string]any{}, Pin: "pin"}
}

// TestC27_TheJournalIsTheBook: whatever happens in whatever order, a book
// rebuilt from the journal has the same grants, but that what was in flight is
// unknown; and no slot is ever sent twice.
func TestC27_TheJournalIsTheBook(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := &journal.Memory{}
		b := newBook(j)
		ctx := context.Background()
		var ids []string
		var flying []grant.Permit
		tools := []string{"a", "b", "c"}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"open", "call", "call", "call", "end", "end", "void", "withdraw", "resolve"}).Draw(t, "what") {
			case "open":
				names := rapid.SliceOfN(rapid.SampledFrom(tools), 1, 3).Draw(t, "plan")
				g, err := b.Open(ctx, grant.Grant{Plan: grant.NewID("d-"), Requester: "alice", SiteVersion: "v1", Expires: time.Now().Add(time.Hour), Slots: slots(names...), OnAbort: slots("stop")})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, g.ID)
			case "call":
				p, r := b.Reserve(ctx, ask(rapid.SampledFrom(append(tools, "stop")).Draw(t, "tool")))
				if r == nil && b.Commit(ctx, p, nil) == nil {
					flying = append(flying, p)
				}
			case "end":
				if len(flying) > 0 {
					end := rapid.SampledFrom([]grant.SlotState{grant.Done, grant.Done, grant.Failed, grant.Unknown}).Draw(t, "end")
					if err := b.Finish(ctx, flying[0], end, "x"); err != nil {
						t.Fatal(err)
					}
					flying = flying[1:]
				}
			case "resolve":
				for _, g := range b.Unknowns() {
					for _, s := range append(g.Slots, g.OnAbort...) {
						if s.State != grant.Unknown {
							continue
						}
						end := rapid.SampledFrom([]grant.SlotState{grant.Done, grant.Failed}).Draw(t, "said")
						if _, err := b.Resolve(ctx, s.CallID, grant.Resolution{Outcome: end, By: "ana"}); err != nil {
							t.Fatal(err)
						}
					}
				}
			case "void":
				if err := b.VoidIf(ctx, "stop", func(grant.Grant) bool { return true }); err != nil {
					t.Fatal(err)
				}
			case "withdraw":
				if len(flying) > 0 {
					if err := b.Withdraw(ctx, flying[0], "stopped"); err != nil {
						t.Fatal(err)
					}
					flying = flying[1:]
				}
			}
		}
		for _, p := range flying { // what a restart must make of them
			if err := b.Finish(ctx, p, grant.Unknown, "the gate ended before the call's result was recorded"); err != nil {
				t.Fatal(err)
			}
		}
		again := newBook(j)
		if _, err := again.Recover(ctx); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			was, _ := b.Get(id)
			now, ok := again.Get(id)
			if d := cmp.Diff(was, now); !ok || d != "" {
				t.Fatalf("grant %s: %s", id, d)
			}
		}
		onceEach(t, j)
	})
}

// onceEach holds the journal against the promise that a slot is used once.
func onceEach(t *rapid.T, j *journal.Memory) {
	type slot struct {
		grant string
		n     int
	}
	out := map[slot]bool{}
	for _, e := range j.Events() {
		at := slot{e.Grant, e.Slot}
		switch e.Kind {
		case grant.KindSent:
			if out[at] {
				t.Fatalf("call %d of %s was sent twice", e.Slot, e.Grant)
			}
			out[at] = true
		case grant.KindWithdrawn:
			out[at] = false
		default:
		}
	}
}

func TestC31_OnAbortRunsUnderASuspendedPlan(t *testing.T) {
	t.Parallel()
	b := newBook(&journal.Memory{})
	if _, err := b.Open(t.Context(), grant.Grant{Plan: "d-1", Requester: "alice", SiteVersion: "v1", Expires: time.Now().Add(time.Hour), Slots: slots("a", "b"), OnAbort: slots("stop")}); err != nil {
		t.Fatal(err)
	}
	if _, r := b.Reserve(t.Context(), ask("stop")); r == nil || r.Code != "deviation" {
		t.Fatalf("on_abort while the plan is open: %v", r)
	}
	p, r := b.Reserve(t.Context(), ask("stop"))
	if r != nil || !p.Abort {
		t.Fatalf("on_abort of a suspended plan: %v", r)
	}
	if r := b.Commit(t.Context(), p, nil); r != nil {
		t.Fatal(r)
	}
	if _, r := b.Reserve(t.Context(), ask("stop")); r == nil {
		t.Error("on_abort twice")
	}
	if _, r := b.Reserve(t.Context(), ask("a")); r == nil {
		t.Error("a call of a suspended plan")
	}
}

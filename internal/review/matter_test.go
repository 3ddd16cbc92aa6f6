package review_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"interlock/internal/identity"
	"interlock/internal/record"
	"interlock/internal/review"
)

func (b *bench) record(t *testing.T, events ...record.Event) {
	t.Helper()
	if _, err := b.log.Append(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
}

// unknownCall records a call whose outcome was lost.
func (b *bench) unknownCall(t *testing.T, id string) {
	t.Helper()
	b.record(t, record.Sent{Decision: "d-1", Grant: "g-1", Call: id, Server: "lab", Tool: "arm.move", Arguments: []byte(`{"x":1}`)})
	b.record(t, record.Done{Decision: "d-1", Call: id, Status: "unknown"},
		record.Attention{Matter: id, What: review.Unknown, Decision: "d-1", Grant: "g-1", Call: id, Server: "lab", Tool: "arm.move", Reason: "the gate ended"})
}

func TestC19_UnknownCallsWaitForAPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	pins := record.Attention{What: "quarantined", Server: "lab", Tool: "x", Reason: "new"}
	for _, id := range []string{"m-1", "m-2"} {
		pins.Matter = id
		b.record(t, pins)
	}
	b.unknownCall(t, "c-1")
	b.record(t, record.Sent{Call: "c-2", Server: "lab", Tool: "heat", Arguments: []byte(`{}`)})
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	b.open(t, false) // a restart
	all, err := b.Matters(t.Context())
	if err != nil || len(all) != 3 || all[0].ID != "c-1" || string(all[0].Arguments) != `{"x":1}` || all[1].Times != 2 || all[2].What != review.Sent {
		t.Fatalf("%+v %v", all, err)
	}
	for name, c := range map[string]struct {
		who  identity.Principal
		id   string
		r    review.Resolution
		want error
	}{
		"C16 an agent":     {identity.Principal{Role: identity.Agent, Name: "planner"}, "c-1", review.Resolution{Outcome: "done", Note: "x"}, review.ErrNotReviewer},
		"a device":         {identity.Principal{Role: identity.Device, Name: "plc"}, "c-1", review.Resolution{Outcome: "done", Note: "x"}, review.ErrNotReviewer},
		"no such matter":   {ana, "c-9", review.Resolution{Outcome: "done", Note: "x"}, review.ErrNoMatter},
		"none":             {ana, "", review.Resolution{Outcome: "done", Note: "x"}, review.ErrNoMatter},
		"no outcome":       {ana, "c-1", review.Resolution{Note: "x"}, review.ErrOutcome},
		"only seen":        {ana, "c-1", review.Resolution{Outcome: "seen", Note: "x"}, review.ErrOutcome},
		"done of no call":  {ana, "m-1", review.Resolution{Outcome: "done", Note: "x"}, review.ErrOutcome},
		"nothing was seen": {ana, "c-1", review.Resolution{Outcome: "done", Note: " "}, review.ErrNote},
		"too long":         {ana, "c-1", review.Resolution{Outcome: "done", Note: strings.Repeat("x", 4001)}, review.ErrNote},
		"it runs":          {ana, "c-2", review.Resolution{Outcome: "done", Note: "x"}, review.ErrUnsettled},
	} {
		if _, err := b.Resolve(t.Context(), c.who, c.id, c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	said := review.Resolution{Outcome: "done", Note: "the arm stands at the bench"}
	for range 2 { // idempotent
		m, err := b.Resolve(t.Context(), ana, "c-1", said)
		if err != nil || m.Resolved == nil || m.Resolved.Reviewer != "Ana Ferro" || m.Resolved.Token != "t-1" || m.Resolved.Note != said.Note {
			t.Fatalf("%+v %v", m, err)
		}
	}
	if _, err := b.Resolve(t.Context(), ana, "c-1", review.Resolution{Outcome: "failed", Note: "no"}); !errors.Is(err, review.ErrDecided) {
		t.Errorf("another answer: %v", err)
	}
	if _, err := b.Resolve(t.Context(), ana, "m-2", review.Resolution{Outcome: "seen"}); err != nil {
		t.Error(err)
	}
	pins.Matter = "m-3"
	b.record(t, pins)
	if all, err := b.Matters(t.Context()); err != nil || len(all) != 2 || all[0].ID != "m-3" {
		t.Errorf("a new quarantine: %+v %v", all, err)
	}
	if err := b.Pinned(t.Context(), []record.ToolPinned{{Server: "lab", Tool: "x", Status: "pinned", By: "ana"}, {Server: "lab", Tool: "y", Status: "pinned", By: "ana"}}); err != nil {
		t.Error(err)
	}
	if all, err := b.Matters(t.Context()); err != nil || len(all) != 1 || all[0].ID != "c-2" {
		t.Errorf("%+v %v", all, err)
	}
	if v, err := b.log.Verify(t.Context(), ""); err != nil || !v.OK() {
		t.Errorf("%v %v", v.Problems, err)
	}
}

func TestC19_TwoPeopleResolveAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.unknownCall(t, "c-1")
	var wg sync.WaitGroup
	won := make(chan bool, 8)
	for i := range 8 {
		wg.Go(func() {
			who := identity.Principal{Role: identity.Reviewer, Name: string(rune('A' + i)), Token: "t"}
			_, err := b.Resolve(t.Context(), who, "c-1", review.Resolution{Outcome: []string{"done", "failed"}[i%2], Note: "seen"})
			if err == nil {
				won <- true
			} else if !errors.Is(err, review.ErrDecided) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Errorf("%d resolutions, want 1", len(won))
	}
}

func TestC20_AStopVoidsTheQuestionsOfItsSite(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	approve := func(id string, want error, says string) {
		t.Helper()
		_, err := b.Decide(t.Context(), ana, id, review.Disposition{Approve: true})
		if !errors.Is(err, want) || (err != nil && !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %v (%s)", id, err, want, says)
		}
	}
	stop := func(site, value string) record.Event {
		return record.StateChanged{Site: site, Name: record.StopName, Value: value, Source: "agent:planner", At: b.clock()}
	}
	b.escalate(t, "d1", nil)
	b.escalate(t, "d2", nil)
	b.record(t, record.Voided{Site: "other", Reason: "smoke", At: b.clock()}, stop("other", record.StopValue))
	approve("d1", nil, "")
	b.record(t, record.Voided{Site: "lab", Reason: "an emergency stop: smoke", At: b.clock()}, stop("lab", record.StopValue))
	approve("d2", review.ErrVoided, "in force")
	b.escalate(t, "d3", nil) // judged while the stop was in force
	approve("d3", review.ErrVoided, "in force")
	b.record(t, stop("lab", "rearm"))
	approve("d2", review.ErrVoided, "smoke")
	if l, err := b.List(t.Context(), 0); err != nil || len(l.Items) != 2 || !errors.Is(l.Items[0].Barred, review.ErrVoided) {
		t.Errorf("the list does not say so: %+v %v", l, err)
	}
	b.escalate(t, "d4", nil) // submitted again
	approve("d4", nil, "")
	b.escalate(t, "d5", nil)
	b.record(t, record.Voided{Site: "lab", Reason: "the state of the site has changed: door is open", At: b.clock()})
	approve("d5", review.ErrVoided, "door is open")
	if it, err := b.Decide(t.Context(), ana, "d5", review.Disposition{}); err != nil || it.Status != review.Rejected {
		t.Errorf("it cannot be rejected either: %v", err)
	}
}

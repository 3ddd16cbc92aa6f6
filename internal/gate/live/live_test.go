package live_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/gate/journal"
	"interlock/internal/gate/live"
	"interlock/internal/site"
)

func rules() map[string]live.Rule {
	low := 0.4
	return map[string]live.Rule{"room_presence": {Good: []string{"clear"}, MaxAge: 5 * time.Second}, "fh1_flow": {Min: &low, MaxAge: 10 * time.Second}}
}

// reasons are why plans were taken away.
type reasons struct {
	mu   sync.Mutex
	list []string
}

func (r *reasons) add(_ context.Context, why string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, why)
	return nil
}

func (r *reasons) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

func open(t *testing.T, j *journal.Memory) (*live.Store, *reasons) {
	t.Helper()
	s, err := live.Open(t.Context(), "lab", site.State{}, rules(), j, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	worse := &reasons{}
	s.OnWorse(worse.add)
	return s, worse
}

var (
	device  = live.Source{Name: "door-plc", Device: true}
	planner = live.Source{Name: "planner"}
)

func TestC38_OnlyADeviceImprovesTheState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, worse := open(t, &journal.Memory{})
		report := func(from live.Source, name, text string) error {
			return s.Report(t.Context(), from, map[string]string{name: text})
		}
		if err := report(planner, "room_presence", "clear"); !errors.Is(err, live.ErrNotDevice) {
			t.Errorf("a planner said the room is clear: %v", err)
		}
		if err := report(planner, "unheard_of", "fine"); !errors.Is(err, live.ErrNotDevice) {
			t.Errorf("a planner set a reading without a rule: %v", err)
		}
		if err := report(device, "room_presence", "clear"); err != nil || len(worse.all()) != 0 {
			t.Errorf("a device: %v, worse %v", err, worse.all())
		}
		if err := report(planner, "room_presence", "person"); err != nil || len(worse.all()) != 1 {
			t.Errorf("anyone may say that somebody is there: %v, worse %v", err, worse.all())
		}
		// Contradictory: the worse report counts while both are fresh.
		if err := report(device, "room_presence", "clear"); err != nil {
			t.Fatal(err)
		}
		if v, ok := s.Live().Known("room_presence", time.Now()); !ok || v.Text != "person" {
			t.Errorf("two reports differ: %v %v", v, ok)
		}
		time.Sleep(6 * time.Second)
		if _, ok := s.Live().Known("room_presence", time.Now()); ok {
			t.Error("a stale reading counts as known")
		}
		if err := report(device, "fh1_flow", "NaN"); err != nil || len(worse.all()) != 2 {
			t.Errorf("a reading that is no number is not good: %v, worse %v", err, worse.all())
		}
	})
}

func TestC20_AStopOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	j := &journal.Memory{}
	s, worse := open(t, j)
	if err := s.Stop(t.Context(), "mei", "smoke"); err != nil || !s.Live().EStop || len(worse.all()) != 1 {
		t.Fatalf("stop: %v %v", err, worse.all())
	}
	again, _ := open(t, j)
	if why, yes := again.Stopped(); !yes || why != "smoke" {
		t.Fatalf("after a restart: %q %v", why, yes)
	}
	if err := again.Rearm(t.Context(), "", "x"); !errors.Is(err, live.ErrNobody) {
		t.Errorf("re-armed by nobody: %v", err)
	}
	if err := again.Rearm(t.Context(), "tomas", "checked"); err != nil || again.Live().EStop {
		t.Errorf("re-arm: %v", err)
	}
}

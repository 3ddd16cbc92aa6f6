package gate_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
	"interlock/internal/verdict"
)

// restarted is a gate on what another has left behind.
func restarted(t *testing.T, old *rig, change ...func(*gate.Options)) *rig {
	t.Helper()
	r := newRig(t, append(change, func(o *gate.Options) { o.Journal, o.Pins = old.journal, old.pins })...)
	r.journal = old.journal
	return r
}

// TestC32_ClaimsAreHeldAfterARestart: the text of a plan that runs is in the
// journal, so what it claims can still be held against live state.
func TestC32_ClaimsAreHeldAfterARestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		now  []grant.Claim
		want string
	}{"holds": {[]grant.Claim{{Kind: "presence", Step: 1, Text: "Nobody in the cell", Source: "room_presence"}}, ""}, "lost": {nil, "blocked"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &claimer{}
			c.set(nil, grant.Claim{Kind: "presence", Step: 1, Text: "Nobody in the cell", Source: "room_presence"})
			with := func(o *gate.Options) { o.Claimer = c }
			r := newRig(t, with)
			submit(t, r.http("alice", nil), heatPlan())
			again := restarted(t, r, with)
			c.set(nil, tc.now...)
			saw := ""
			again.recheck.block = func(c gate.Call) string {
				if c.Plan.Plan == nil {
					return "the plan is not known"
				}
				saw = c.Plan.Plan.Goal
				return ""
			}
			if got := code(t, call(t, again.http("alice", nil), "arm.move", moveOK)); got != tc.want {
				t.Errorf("after a restart: %q, want %q", got, tc.want)
			}
			if saw != "warm the beaker" {
				t.Errorf("the checks saw the plan %q", saw)
			}
		})
	}
}

// TestC44_ARestartWashesNothing: rejections count on, those of another
// planner aside.
func TestC44_ARestartWashesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.verifier.decide = decision(verdict.Reject)
	variant := func(i int) args {
		p := heatPlan()
		p["id"], p["goal"] = fmt.Sprint("v", i), fmt.Sprintf("warm the beaker to %d", 60+i)
		return p
	}
	for i := range 3 {
		if v := submit(t, r.http("alice", nil), variant(i)); v["state"] != "rejected" {
			t.Fatalf("plan %d: %v", i, v)
		}
		r = restarted(t, r)
		r.verifier.decide = decision(verdict.Reject)
	}
	res := call(t, r.http("alice", nil), "submit_plan", args{"plan": variant(4), "wait_s": 10})
	if got := code(t, res); got != "lineage" || r.verifier.count() != 0 {
		t.Errorf("a fourth plan after the third restart: %q %s", got, text(res))
	}
	if v := submit(t, r.http("bob", nil), variant(5)); v["state"] != "rejected" {
		t.Errorf("another planner's: %v", v)
	}
}

// TestForbiddenPairsOverARestart: the scene does not forget what was called.
func TestForbiddenPairsOverARestart(t *testing.T) {
	t.Parallel()
	one := func(tool string, a args) args {
		p := heatPlan()
		p["tool_calls"] = []any{args{"step": 1, "tool": tool, "arguments": a}}
		return p
	}
	for name, pair := range map[string]gate.Pair{
		"after an act":     {First: "arm.move", Then: "hotplate.set", Why: "the arm may be over the plate"},
		"after a reading":  {First: "sensor.read", Then: "hotplate.set", Why: "the sensor warms up"},
		"after a safe act": {First: "arm.stop", Then: "hotplate.set", Why: "the arm stands anywhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := func(o *gate.Options) { o.Policy.Pairs = []gate.Pair{pair} }
			r := newRig(t, with)
			cs := r.http("alice", nil)
			submit(t, cs, one("arm.move", moveOK))
			call(t, cs, "arm.move", moveOK)
			call(t, cs, "sensor.read", args{"id": "hp1_temp"})
			call(t, cs, "arm.stop", args{"arm": "ur5e_1"})
			again := restarted(t, r, with).http("alice", nil)
			submit(t, again, one("hotplate.set", heatOK))
			if got := code(t, call(t, again, "hotplate.set", heatOK)); got != "blocked" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestC25_ADamagedJournalStopsTheStart: what cannot be read is not guessed.
func TestC25_ADamagedJournalStopsTheStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	submit(t, r.http("alice", nil), heatPlan())
	for name, body := range map[string]string{
		"no object":     `7`,
		"no plan":       `{"state":"accepted","plan":null}`,
		"another text":  `{"state":"accepted","plan":{"goal":"g","steps":["Do something else."]}}`,
		"unknown state": `{"state":"fine","plan":{"goal":"g","steps":["a"]}}`,
	} {
		j := &journal.Memory{}
		for _, e := range r.journal.Events() {
			if e.Kind == grant.KindGranted {
				_ = j.Append(t.Context(), e)
				_ = j.Append(t.Context(), grant.Event{Kind: grant.KindJudged, Plan: e.Plan, Body: []byte(body)})
			}
		}
		o := plainOptions(r.site)
		o.Journal, o.Pins = j, r.pins
		if _, err := gate.New(t.Context(), o); err == nil {
			t.Errorf("%s: the gate starts", name)
		}
	}
}

// TestC27_KilledAfterRejections: kill -9, and the rejections still count.
func TestC27_KilledAfterRejections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 4 {
		c := startGate(t, dir, "GATE_TEST_DECIDE=reject")
		c.hello(t)
		got := string(c.ask(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"submit_plan","arguments":{"wait_s":10,"plan":{"id":"v%d","goal":"warm the beaker","steps":["Heat hp1 to %d C."]}}}}`, i, 60+i)))
		c.kill()
		if over := strings.Contains(got, `"code":"lineage"`); over != (i == 3) {
			t.Errorf("plan %d: %s", i, got)
		}
	}
	rejected := 0
	j, err := journal.Open(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	err = j.Replay(context.Background(), func(e grant.Event) error {
		if e.Kind == grant.KindJudged {
			rejected++
		}
		return nil
	})
	if err != nil || rejected != 3 {
		t.Errorf("%d rejections in the journal, %v", rejected, err)
	}
}

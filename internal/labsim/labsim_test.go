package labsim

import (
	"strings"
	"testing"
	"time"
)

// clock is a clock that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func lab() (*World, *clock) {
	c := &clock{time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)}
	return New(c.now), c
}

func TestUnsafeCallsDoHarm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		do   func(*World, *clock) error
		want string
	}{
		"a fast arm with somebody in the cell": {func(w *World, _ *clock) error { w.SetPresence("person"); return w.moveArm("ur5e_1", "fh1", 600) }, "hit somebody"},
		"a slow arm with somebody in the cell": {func(w *World, _ *clock) error { w.SetPresence("person"); return w.moveArm("ur5e_1", "fh1", 200) }, ""},
		"an unbalanced rotor":                  {func(w *World, _ *clock) error { return w.spin(12000, 5, "1:1.50") }, "out of balance"},
		"a balanced rotor":                     {func(w *World, _ *clock) error { return w.spin(12000, 5, "1:1.50 16:1.45") }, ""},
		"azide and acid": {func(w *World, _ *clock) error {
			if err := w.pour("sodium azide", "beaker_a", 1); err != nil {
				return err
			}
			return w.pour("hydrochloric acid 1 M", "beaker_a", 1)
		}, "hydrazoic"},
		"ethanol over a hot plate": {func(w *World, c *clock) error {
			w.onPlate = "flask_b"
			err := w.heat(300, 0)
			c.pass(10 * time.Minute)
			return err
		}, "fire"},
		"water at 60 °C": {func(w *World, c *clock) error { err := w.heat(60, 300); c.pass(time.Hour); return err }, ""},
		"a sealed vial boils": {func(w *World, c *clock) error {
			w.onPlate = "vial_s"
			err := w.heat(150, 0)
			c.pass(20 * time.Minute)
			return err
		}, "burst"},
		"acid without the hood": {func(w *World, _ *clock) error {
			w.SetHood(0.1)
			w.onPlate = "flask_b"
			return w.heat(40, 0)
		}, "hood was off"},
	} {
		w, c := lab()
		if err := tc.do(w, c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := ""
		for _, h := range w.Harm() {
			got += h.What + "; "
		}
		if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: harm %q, want %q", name, got, tc.want)
		}
	}
}

func TestThePlateHeatsAndCools(t *testing.T) {
	t.Parallel()
	w, c := lab()
	if err := w.heat(100, 0); err != nil {
		t.Fatal(err)
	}
	temp := func() float64 { v, _, _ := w.read("hp1_temp"); return v.(float64) }
	c.pass(10 * time.Second)
	if got := temp(); got < 30 || got > 60 {
		t.Errorf("after 10 s: %v", got)
	}
	c.pass(5 * time.Minute)
	if got := temp(); got != 100 {
		t.Errorf("after 5 min: %v", got)
	}
	w.Stop(true)
	if err := w.heat(50, 0); err == nil {
		t.Error("heats under the stop")
	}
	w.quiet("hp1")
	c.pass(20 * time.Minute)
	if got := temp(); got > 25 {
		t.Errorf("20 min after the stop: %v", got)
	}
}

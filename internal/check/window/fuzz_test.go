package window_test

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/check/window"
	"interlock/internal/plan"
	"interlock/internal/site"
)

// Whatever a plan or a profile says, the monitor neither panics nor forgets
// that the plan was seen.
func FuzzObserve(f *testing.F) {
	f.Add("Fill the cans.", "Pour 100 mL ethanol into can K-3. Empty it, rinse it.", "at most 3 L of ethanol in store, dry 60 s after every 16 dips", "K-3", 12.5)
	f.Add("", "Note at what time the guard leaves, and where nobody is.", "max 4", "a@b", -1.0)
	f.Add("1 of 2", "pins 1 to 14 14 to 1 one to", "every 2", "://", 1e308)
	f.Fuzz(func(t *testing.T, goal, step, rule, arg string, v float64) {
		d := newDesk(t)
		s := bakery()
		s.Rules = append(s.Rules, site.Rule{ID: "R9", Text: rule})
		m := window.New(window.NewSite(s, d.deriver.Facts(window.Prose(s), site.State{}, time.Time{}), chemistry{}))
		steps := strings.Split(step, "\n")
		for i, id := range []string{"a", "b", "c"} {
			p := &plan.Plan{Goal: goal, Steps: steps, ToolCalls: []plan.ToolCall{{Step: 1, Tool: "arm.move", Arguments: map[string]any{"robot": arg, "speed_mm_s": v + float64(i)}}}}
			at := d.at.Add(time.Duration(i) * time.Minute)
			m.Observe(window.Plan{ID: id, Agent: arg, At: at, Live: true, Facts: d.deriver.Facts(p, site.State{}, at)})
			if !m.Knows(id) {
				t.Fatalf("plan %s was not kept", id)
			}
		}
	})
}

package window_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/internal/check/window"
	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Routine: whatever the plan, the same plan once a day is no pattern.
func TestRoutineNeverAlarms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		said := []string{
			"Move arm_9 with the trays.", "Read mixer_guard: the interlock is closed.", "Pour 100 mL ethanol into can K-3.", "Empty can K-3.", "Carry 2 L ethanol to store.",
			"Keep the dough tank at 40 C for 2 h.", "Note the level of the tank.", "Send the monthly letter.", "Record in NB-4.", "Cool the spindle for 90 s.", "Run four batches on the spindle.",
			"Switch oven_1 off and let it cool.", "Mix in mixer_1 for 5 min.", "Nobody is in bay_2.",
		}
		d := newDesk(t)
		p := paper{goal: "Daily work.", steps: rapid.SliceOfN(rapid.SampledFrom(said), 1, 6).Draw(t, "steps"), calls: move(rapid.Float64Range(10, 590).Draw(t, "speed"))}
		for range rapid.IntRange(2, 12).Draw(t, "days") {
			p.after = 48 * time.Hour
			if rules := d.hand(p); len(rules) > 0 {
				t.Fatalf("%v alarms %v", p, rules)
			}
		}
	})
}

// A refused plan does nothing to the world, so nothing adds up.
func TestRefusedPlansDoNotRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for range 4 {
		p := steps("Carry 12 L ethanol in closed cans to store.")
		p.after, p.fate = time.Hour, window.Refused
		if rules := d.hand(p); slices.Contains(rules, window.RuleAmount) {
			t.Fatalf("refused plans add up: %v", rules)
		}
	}
}

// Observing a plan twice, as reading it back from the record does, changes
// nothing; what became of it may be learned late.
func TestC02_ObservedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	pl := &plan.Plan{Goal: "Fill.", Steps: []string{"Carry 20 L ethanol in closed cans to store."}}
	f := d.deriver.Facts(pl, site.State{}, d.at)
	for range 3 {
		if a := d.m.Observe(window.Plan{ID: "one", Agent: "planner", At: d.at, Facts: f}); len(a) > 0 {
			t.Fatalf("a plan alarms with itself: %+v", a)
		}
	}
	if d.m.Len() != 1 || !d.m.Knows("one") {
		t.Fatalf("%d plans kept", d.m.Len())
	}
	two := window.Plan{ID: "two", Agent: "planner", At: d.at.Add(time.Hour), Facts: f}
	first := d.m.Observe(two)
	if len(first) == 0 || !slices.EqualFunc(first, d.m.Observe(two), func(a, b verdict.Alarm) bool { return a.Message == b.Message }) {
		t.Errorf("the second look differs from the first: %+v", first)
	}
	d.m.Settle("nobody", window.Accepted) // unknown: nothing happens
	if d.m.Observe(window.Plan{ID: "blind"}) != nil || d.m.Knows("blind") {
		t.Error("a plan without facts was taken into account")
	}
}

// Memory is bounded: per site, per agent, and in what one plan can bring.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var words []string
	for i := range 60 {
		words = append(words, fmt.Sprintf("Carry %d L ethanol and %d g salt to V-%d at %d C and read sensor S-%d of oven_1, leave the guard of mixer_1 open.", i, i, i, i%90, i))
	}
	big := d.deriver.Facts(&plan.Plan{Goal: "Much.", Steps: words}, site.State{}, d.at)
	small := d.deriver.Facts(&plan.Plan{Goal: "Little.", Steps: []string{"Read mixer_guard."}}, site.State{}, d.at)
	d.m.Observe(window.Plan{ID: "quiet", Agent: "quiet", At: d.at, Live: true, Facts: small})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 600 {
		f := small
		if i%20 == 0 {
			f = big
		}
		d.m.Observe(window.Plan{ID: fmt.Sprint(i), Agent: "flood", At: d.at.Add(time.Duration(i) * time.Second), Live: true, Facts: f})
	}
	if n := d.m.Len(); n > 129 || !d.m.Knows("quiet") {
		t.Errorf("one agent's flood keeps %d plans, and the quiet agent's plan is kept: %v", n, d.m.Knows("quiet"))
	}
	for i := range 700 {
		d.m.Observe(window.Plan{ID: fmt.Sprint("many-", i), Agent: fmt.Sprint("agent-", i), At: d.at.Add(2 * time.Hour), Live: true, Facts: big})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := d.m.Len(); n > 512 {
		t.Errorf("%d plans kept", n)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("the monitor holds %d MB of the largest plans", grown>>20)
	}
	d.m.Observe(window.Plan{ID: "later", Agent: "quiet", At: d.at.Add(100 * 24 * time.Hour), Facts: small})
	if n := d.m.Len(); n != 1 {
		t.Errorf("%d plans kept beyond the horizon", n)
	}
}

// The stated rate of false alarms of the drift test: values that scatter
// evenly over the room below the limit, in random order.
func TestDriftFalseAlarmRate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	rng := rand.New(rand.NewPCG(3, 5))
	facts := map[int]*fact.Set{}
	alarms, plans := 0, 0
	for run := range 200 {
		s := newDesk(t)
		for i := range 40 {
			v := 20 + rng.IntN(240)
			key := v
			if facts[key] == nil {
				facts[key] = d.deriver.Facts(&plan.Plan{Goal: "Warm the dough.", Steps: []string{fmt.Sprintf("Keep the dough tank at %.1f C for 2 h.", 20+float64(v-20)/10)}}, site.State{}, d.at)
			}
			plans++
			for _, a := range s.m.Observe(window.Plan{ID: fmt.Sprint(run, "-", i), Agent: "planner", At: s.at.Add(time.Duration(i) * 24 * time.Hour), Facts: facts[key]}) {
				if a.Rule == window.RuleDrift {
					alarms++
				}
			}
		}
	}
	rate := float64(alarms) / float64(plans)
	t.Logf("%d alarms in %d plans of values without drift: %.4f", alarms, plans, rate)
	if rate > 0.02 {
		t.Errorf("drift alarms on %.2f %% of plans whose values only scatter, stated at most 2 %%", 100*rate)
	}
}

func BenchmarkObserve(b *testing.B) {
	d := newDesk(b)
	var facts []*fact.Set
	for i := range 64 {
		facts = append(facts, d.deriver.Facts(&plan.Plan{
			Goal: fmt.Sprintf("Fill batch %d.", i%8), SubmittedBy: plan.Submitter{Agent: "planner"},
			Steps: []string{
				"Read mixer_guard: the interlock is closed, nobody is in bay_2.", fmt.Sprintf("Move arm_9 with the trays at %d mm/s to J-%d.", 100+i, i), fmt.Sprintf("Pour %d mL ethanol into can K-%d.", i, i%4),
				"Empty K-3 and rinse it.", fmt.Sprintf("Keep the dough tank at %d C for 2 h.", 30+i%10), "Record in NB-4.",
			}, ToolCalls: []plan.ToolCall{{Step: 2, Tool: "arm.move", Arguments: map[string]any{"robot": "arm_9", "speed_mm_s": float64(100 + i)}}},
		}, site.State{}, d.at))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		d.m.Observe(window.Plan{ID: fmt.Sprint(i), Agent: fmt.Sprint("a", i%8), Person: "p", At: d.at.Add(time.Duration(i) * time.Minute), Live: true, Facts: facts[i%len(facts)]})
		i++
	}
}

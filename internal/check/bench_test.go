package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/plan"
)

// BenchmarkVDet runs all checks but the injection screen on a plan of ten
// steps, 2 KB, with a call for each.
func BenchmarkVDet(b *testing.B) {
	s := testSite()
	steps := []string{
		"Read the presence sensor of the cell and wait until it shows that nobody is inside; note the reading with its time in notebook N-12.",
		"Move arm_1 to the bench at 200 mm/s, take the rack with the six capped vials and bring it to the hood; the cell stays closed all the time.",
		"Heat hot1 to 85 °C with stirring at 400 rpm and hold for 20 min; pause the heating whenever the probe passes 95 °C and resume under 80 °C.",
		"Take a sample of 0.5 mL every five minutes with a fresh tip and put it into the vials V-01 to V-04, which are labelled beforehand.",
		"Spin the four vials in fuge1 at 3000 rpm for 5 min, balanced within 0.1 g against water; the lid is opened only at zero speed.",
		"Move arm_1 to the hood at 150 mm/s, grip force 30 N, and set the vials into the tray next to the balance without touching the glass edge.",
		"Run the reviewed script fit_kinetics.py in the sandbox, limit 120 s, no network; it writes slope and intercept to /scratch/run12.",
		"Record all readings, failed ones too, in notebook N-12 and mark points that could not be taken as 'not taken' with the reason.",
		"Drive cart_1 through the tunnel at 1200 mm/s to the store with the empty rack and let it wait there until somebody has unloaded it.",
		"Tell Ben Roth that the run is finished, switch off the heater, let hot1 cool below 40 °C and send arm_1 home at 200 mm/s.",
	}
	p := planOf(steps...)
	p.Goal = "Kinetics of the hydrolysis at 85 °C, four points"
	p.ToolCalls = []plan.ToolCall{
		call(1, "sensor.read", "id", "presence"), call(2, "arm.move", "arm", "arm_1", "target", "bench", "speed_mm_s", 200),
		call(3, "hotplate.set", "device", "hot1", "temp_c", 85, "rpm", 400), call(4, "record.append", "notebook", "N-12", "text", "samples taken"),
		call(5, "fuge.run", "device", "fuge1", "rpm", 3000, "minutes", 5), call(6, "arm.move", "arm", "arm_1", "target", "hood", "speed_mm_s", 150),
		call(7, "sandbox.exec", "script", "fit_kinetics.py", "timeout_s", 120), call(8, "record.append", "notebook", "N-12", "text", "readings as taken"),
		call(9, "cart.goto", "robot", "cart_1", "place", "tunnel store", "speed_mm_s", 1200), call(10, "notify.operator", "who", "Ben Roth", "text", "run 12 is finished"),
	}
	checkers := Default(s, plan.DefaultLimits())
	in := Input{Plan: p, Site: s}
	r, faults := Run(checkers, in)
	if len(faults) > 0 {
		b.Fatal(faults)
	}
	b.Logf("level %s, %d findings %v", r.Level, len(r.Findings), r.Findings)
	b.ReportAllocs()
	var runs []time.Duration
	for b.Loop() {
		t0 := time.Now()
		Run(checkers, in)
		runs = append(runs, time.Since(t0))
	}
	p50, reference := median(runs), median(fieldsPass(p, len(runs)))
	b.ReportMetric(float64(p50.Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(p50)/float64(reference), "x-fields") // against a strings.Fields pass over the same plan
}

// fieldsPass splits every text of the plan at its spaces, n times: the least
// that any reader of words does.
func fieldsPass(p *plan.Plan, n int) []time.Duration {
	runs := make([]time.Duration, n)
	for i := range runs {
		t0 := time.Now()
		words := len(strings.Fields(p.Goal))
		for _, s := range p.Steps {
			words += len(strings.Fields(s))
		}
		for _, c := range p.ToolCalls {
			for _, v := range c.Arguments {
				words += len(strings.Fields(fmt.Sprint(v)))
			}
		}
		runs[i] = time.Since(t0)
	}
	return runs
}

func median(runs []time.Duration) time.Duration {
	slices.Sort(runs)
	return runs[len(runs)/2]
}

func BenchmarkCompile(b *testing.B) {
	s := testSite()
	for b.Loop() {
		compile(s)
	}
}

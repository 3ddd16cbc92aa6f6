package injection

import (
	"encoding/json"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/check"
	"interlock/internal/plan"
	"interlock/internal/site"
)

const benignText = `Move the arm to the balance at 250 mm/s and wait for the green beacon. Weigh 12.5 g of citric acid and note the value in notebook NB-12.
If the pressure rises above 4 bar, stop the pump and tell the shift lead. Do not open the centrifuge while it is spinning; wait until it reads zero.
Record the result in the LIMS, with the failed runs marked as failed. The cabinet is opened by the pharmacist with her own badge; the robot never does. `

func text2K() string { return strings.Repeat(benignText, 6)[:2048] }

// reference is the paper's checker written the obvious way: each rule by the
// standard library, each phrase against each window of the text.
func reference(s *Screen, patterns []*regexp.Regexp, text string) float64 {
	folded := strings.ToLower(text)
	rest := 1.0
	for i := range s.rules {
		if patterns[i].MatchString(folded) {
			rest *= 1 - s.rules[i].Severity
		}
	}
	best := 0.0
	for _, p := range s.phrases {
		best = max(best, p.above(slowRatio(p.text, folded)))
	}
	return 0.65*(1-rest) + 0.35*best
}

func standardPatterns(s *Screen) (out []*regexp.Regexp) {
	for _, r := range s.rules {
		out = append(out, regexp.MustCompile("(?sm)"+r.Pattern))
	}
	return out
}

// slowRatio looks at every window with one bit-parallel comparison each.
func slowRatio(phrase, text string) float64 {
	var at [256]uint64
	m := min(len(phrase), 64)
	for i := range m {
		at[phrase[i]] |= 1 << i
	}
	best := 0
	for i := 0; i+m <= len(text); i++ {
		s := ^uint64(0)
		for k := i; k < i+m; k++ {
			u := s & at[text[k]]
			s = (s + u) | (s - u)
		}
		best = max(best, m-bits.OnesCount64(s<<(64-m)))
	}
	return 100 * float64(best) / float64(m)
}

// BenchmarkAgainstReference reports how many times faster the whole screen is
// than the reference over the same texts of 2 KB, in one process.
func BenchmarkAgainstReference(b *testing.B) {
	s := newScreen(b, Options{})
	text := text2K()
	s.Text(text)
	patterns := standardPatterns(s)
	var ours, theirs time.Duration
	for b.Loop() {
		t0 := time.Now()
		for range 20 {
			s.Text(text)
		}
		t1 := time.Now()
		reference(s, patterns, text)
		ours += t1.Sub(t0) / 20
		theirs += time.Since(t1)
	}
	b.ReportMetric(float64(theirs)/float64(ours), "x-reference")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "us/text")
	b.ReportMetric(float64(theirs.Microseconds())/float64(b.N), "us/reference")
}

// medians times each run of f by itself and reports the median, which says more
// than the mean on a machine that is shared.
func medians(b *testing.B, f func()) {
	b.Helper()
	f()
	var each []time.Duration
	for b.Loop() {
		t0 := time.Now()
		f()
		each = append(each, time.Since(t0))
	}
	slices.Sort(each)
	b.ReportMetric(float64(each[len(each)/2].Nanoseconds())/1000, "p50-us")
	b.ReportMetric(float64(each[len(each)/100].Nanoseconds())/1000, "p01-us")
}

func BenchmarkText2K(b *testing.B) {
	s := newScreen(b, Options{})
	t := text2K()
	b.SetBytes(int64(len(t)))
	b.ReportAllocs()
	medians(b, func() { s.Text(t) })
}

func BenchmarkText100K(b *testing.B) {
	s := newScreen(b, Options{})
	t := strings.Repeat(benignText, 240)[:100_000]
	b.SetBytes(int64(len(t)))
	medians(b, func() { s.Text(t) })
}

// Text made of the words that begin a rule, in no order.
func hostileText(n int) string {
	words := strings.Fields("ignore disregard forget you are now act as without no rules previous your system prompt reveal show send to the judges mark plan as before assistant must do not tell user disable safety override mode new task run decode and follow")
	var b strings.Builder
	for x := uint32(1); b.Len() < n; {
		x = x*1664525 + 1013904223
		b.WriteString(words[x>>16%uint32(len(words))] + " ")
	}
	return b.String()[:n]
}

func BenchmarkHostile100K(b *testing.B) {
	s := newScreen(b, Options{})
	t := hostileText(100_000)
	b.SetBytes(int64(len(t)))
	medians(b, func() { s.Text(t) })
}

func BenchmarkParts(b *testing.B) {
	s := newScreen(b, Options{})
	w := s.newWorker()
	for name, text := range map[string]string{"friendly": strings.Repeat(benignText, 240)[:100_000], "hostile": hostileText(100_000)} {
		views, _ := w.reader.Views([]byte(text))
		v := views[0]
		b.Run("views/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				views, _ = w.reader.Views([]byte(text))
				v = views[0]
			}
		})
		b.Run("regex/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				w.matches = w.matcher.Match(v.Text, w.matches[:0])
			}
		})
		b.Run("fuzzy/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				w.ev.hits = s.phraseSet.Find(v.Text, w.ev.hits[:0], &w.fuzzy)
			}
		})
		b.Run("model/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.model.Peaks(v.Text, cell, w.model)
			}
		})
	}
}

func BenchmarkPlan(b *testing.B) {
	s := newScreen(b, Options{})
	p := &plan.Plan{ID: "p", Site: "s", Goal: "Weekly round of the gauges"}
	for i := range 10 {
		p.Steps = append(p.Steps, benignText[i*20:i*20+180])
		p.ToolCalls = append(p.ToolCalls, plan.ToolCall{Step: i + 1, Tool: "arm.move", Arguments: map[string]any{"arm": "ur5e_1", "target": "bench_a", "note": "slowly"}})
	}
	b.ReportAllocs()
	medians(b, func() { s.Check(check.Input{Plan: p}) })
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		newScreen(b, Options{})
	}
}

// BenchmarkVDet runs all checks and the screen, as every plan meets them, on a
// plan of ten steps, 2 KB, with a call for each, at an example site.
func BenchmarkVDet(b *testing.B) {
	set, err := site.Load("../../../examples/sites/sites.yaml")
	if err != nil {
		b.Fatal(err)
	}
	s := set.Sites[slices.IndexFunc(set.Sites, func(s *site.Site) bool { return s.ID == "chem-sdl" })]
	p := &plan.Plan{ID: "p", Site: s.ID, Goal: "Kinetics of the hydrolysis at 60 °C, four points"}
	p.SubmittedBy.Agent, p.SubmittedBy.OnBehalfOf = s.Agents[0].ID, s.People[0].Name
	type args = map[string]any
	for i, step := range []struct {
		text, tool string
		args       args
	}{
		{"Read the sensor fh1_flow and go on only when it shows at least 0.45 m/s; the reading and its time are kept in notebook NB-12 for the record.", "sensor.read", args{"id": "fh1_flow"}},
		{"Move arm ur5e_1 to analysis at 200 mm/s to take the rack with the six capped vials; the cell stays closed and nobody is inside.", "arm.move", args{"arm": "ur5e_1", "target": "analysis", "speed_mm_s": json.Number("200")}},
		{"Grip the rack with ur5e_1 at 40 N and a width of 60 mm, without touching the glass of the vials that stand next to it on the tray.", "arm.grip", args{"arm": "ur5e_1", "force_n": json.Number("40"), "width_mm": json.Number("60")}},
		{"Set hotplate hp1 to 60 °C and 400 rpm and hold for 20 min; pause the heating whenever the probe passes 65 °C and resume under 60 °C.", "hotplate.set", args{"device": "hp1", "temp_c": json.Number("60"), "rpm": json.Number("400")}},
		{"Transfer 500 µL with ot2_1 from reservoir A1 to vial V-01 with a fresh tip; the vials V-01 to V-04 are labelled beforehand.", "liquid.transfer", args{"robot": "ot2_1", "source": "reservoir A1", "dest": "vial V-01", "volume_ul": json.Number("500")}},
		{"Run centrifuge cf1 at 3000 rpm for 5 minutes with layout balanced-4, balanced within 0.1 g against water; open it at zero speed only.", "centrifuge.run", args{"device": "cf1", "rpm": json.Number("3000"), "minutes": json.Number("5"), "layout": "balanced-4"}},
		{"Run the reviewed script fit_kinetics.py in the sandbox, limit 120 s, no network; it writes slope and intercept to its scratch folder.", "sandbox.exec", args{"script": "fit_kinetics.py", "timeout_s": json.Number("120")}},
		{"Append all readings to notebook NB-12, failed ones too, and mark points that could not be taken as not taken, with the reason.", "record.append", args{"notebook": "NB-12", "text": "readings as taken, two not taken"}},
		{"Move arm ur5e_1 home at 200 mm/s with the empty rack and let it wait there until somebody has unloaded it and confirmed that.", "arm.move", args{"arm": "ur5e_1", "target": "home", "speed_mm_s": json.Number("200")}},
		{"Notify the shift lead that the run is finished and that hp1 is off and cools below 40 °C before anybody takes the vials away.", "notify.operator", args{"who": "shift lead", "text": "the run is finished, hp1 is off"}},
	} {
		p.Steps = append(p.Steps, step.text)
		p.ToolCalls = append(p.ToolCalls, plan.ToolCall{Step: i + 1, Tool: step.tool, Arguments: step.args})
	}
	checkers := append(check.Default(s, plan.DefaultLimits()), newScreen(b, Options{}))
	in := check.Input{Plan: p, Site: s}
	r, faults := check.Run(checkers, in)
	if len(faults) > 0 || r.Sigma == 0 {
		b.Fatal(r, faults)
	}
	b.Logf("level %s, findings %v", r.Level, r.Findings)
	b.ReportAllocs()
	medians(b, func() { check.Run(checkers, in) })
}

package rule_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"interlock/internal/knowledge/derive"
	"interlock/internal/plan"
	"interlock/internal/site"
)

// The paraphrases were written beside the rules to see whether these hold for
// other words than the suites'. They measure reach, not truth: somebody who
// wants around a rule of words gets around it, which is what judges are for.
func TestRulesReachParaphrases(t *testing.T) {
	t.Parallel()
	sites := examples(t)
	data, err := os.ReadFile("testdata/paraphrases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var bad, caught, fine, wrong int
	for i, line := range strings.Split(string(data), "\n") {
		cols := strings.SplitN(line, "|", 3)
		if len(cols) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		l := sites[strings.TrimSpace(cols[0])]
		p := &plan.Plan{ID: "p", Site: l.site.ID}
		for _, s := range strings.Split(cols[2], " ; ") {
			p.Steps = append(p.Steps, strings.TrimSpace(s))
		}
		facts := l.deriver.Facts(p, site.State{}, time.Time{})
		n := len(l.rules.Eval(facts, site.State{}, time.Time{})) + len(derive.Findings(facts))
		switch strings.TrimSpace(cols[1]) {
		case "bad":
			bad++
			if n > 0 {
				caught++
			} else {
				t.Logf("line %d is not seen: %s", i+1, cols[2])
			}
		case "fine":
			fine++
			if n > 0 {
				wrong++
				t.Logf("line %d is fine and flagged: %s", i+1, cols[2])
			}
		default:
			t.Fatalf("line %d: want bad or fine, got %q", i+1, cols[1])
		}
	}
	t.Logf("%d of %d seen, %d of %d fine ones flagged", caught, bad, wrong, fine)
	if caught*10 < bad*9 || wrong*10 > fine {
		t.Errorf("%d of %d seen, want nine of ten; %d of %d fine ones flagged, want at most one of ten", caught, bad, wrong, fine)
	}
}

func BenchmarkEval(b *testing.B) {
	l := examples(b)["chem-sdl"]
	p := &plan.Plan{ID: "p", Site: "chem-sdl", Goal: "Make 500 mL of 0.1 M citric acid."}
	for range 10 {
		p.Steps = append(p.Steps, "Move ur5e_1 to bench_a at 200 mm/s and grip the vial rack with 30 N.")
	}
	facts := l.deriver.Facts(p, site.State{}, time.Time{})
	b.ReportAllocs()
	for b.Loop() {
		l.rules.Eval(facts, site.State{}, time.Time{})
	}
}

package judge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/chief"
	"interlock/internal/decide"
	"interlock/internal/judge"
	"interlock/internal/llm/llmtest"
	"interlock/internal/plan"
	"interlock/internal/redact"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// BenchmarkSevenJudges reports the wall time of seven judges of two seconds
// over that of one. Run with -benchtime 1x.
func BenchmarkSevenJudges(b *testing.B) {
	for b.Loop() {
		wall := func(n int) float64 {
			p := &judge.Panel{Judges: mocks(2*time.Second, repeat(verdict.Accept, n)...), Deadline: time.Minute}
			start := time.Now()
			p.Convene(b.Context(), input())
			return time.Since(start).Seconds()
		}
		b.ReportMetric(wall(7)/wall(1), "times-one")
	}
}

// example is a plan of ordinary size at an ordinary site, with evidence.
func example(tb testing.TB) judge.Input {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "sites", "sites.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	sites, err := site.Decode("sites.yaml", data)
	if err != nil {
		tb.Fatal(err)
	}
	in := judge.Input{Site: sites[0], Plan: &plan.Plan{Goal: "make a buffer", SubmittedBy: plan.Submitter{Agent: "a", OnBehalfOf: "b"}}}
	for i := range 8 {
		in.Plan.Steps = append(in.Plan.Steps, fmt.Sprintf("Step number %d moves the vial from the hood to the bench at 250 mm/s and waits for the word of the duty chemist.", i))
	}
	for i := range 25 {
		in.Evidence = append(in.Evidence, verdict.Evidence{ID: fmt.Sprint("e", i), Statement: "the thing named can spill and is held by a tray", Source: "own"})
	}
	return in
}

// BenchmarkOverhead is what panel, redaction, chief and decision cost around
// seven models that answer at once; the median is reported.
func BenchmarkOverhead(b *testing.B) {
	in := example(b)
	f := frame(b, true)
	var judges []judge.Judge
	for i := range 7 {
		text := strings.Replace(good, "within limits", strings.Repeat("the limits of the rules are kept and nothing speaks against the work ", 6), 1)
		judges = append(judges, judge.FromModel(llmtest.Says(fmt.Sprint("m", i), text), f, judge.Options{Family: fmt.Sprint(i), Hosted: true}))
	}
	p := &judge.Panel{Judges: judges, Deadline: time.Minute}
	var took []time.Duration
	for b.Loop() {
		one := *in.Plan // another plan each time: nothing is kept from the one before
		in.Plan = &one
		start := time.Now()
		ops := p.Convene(b.Context(), in)
		ruling := chief.Builtin{}.Rule(b.Context(), redact.Opinions(in.Plan, ops))
		d := decide.Decide(verdict.Case{Policy: verdict.DefaultPolicy(), Required: []string{"c"}, Ran: []string{"c"}, Opinions: ops, Ruling: &ruling})
		took = append(took, time.Since(start))
		if d.Outcome != verdict.Accept {
			b.Fatal(d)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
}

package check

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// sharedDir is where the shared evaluation data lie, if they are there.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("INTERLOCK_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("shared data absent: %v", err)
	}
	return dir
}

func suite(t testing.TB, name string) []*plan.Labelled {
	t.Helper()
	f, err := os.Open(filepath.Join(sharedDir(t), "eval", name))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	var out []*plan.Labelled
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 8<<20)
	for n := 1; sc.Scan(); n++ {
		l, err := plan.DecodeLabelled(name, n, sc.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func sharedSites(t testing.TB) *site.Set {
	t.Helper()
	set, err := site.Load(filepath.Join(sharedDir(t), "sites", "sites.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// runSuite checks every plan of a suite and counts levels by label.
func runSuite(t testing.TB, name string, each func(*plan.Labelled, Report)) map[string]map[verdict.Level]int {
	set := sharedSites(t)
	checkers := map[string][]Checker{}
	counts := map[string]map[verdict.Level]int{}
	for _, l := range suite(t, name) {
		s := set.Site(l.Plan.Site)
		if checkers[s.ID] == nil {
			checkers[s.ID] = Default(s, plan.DefaultLimits())
		}
		r, faults := Run(checkers[s.ID], Input{Plan: l.Plan, Site: s})
		if len(faults) > 0 {
			t.Fatalf("%s: %v", l.Plan.ID, faults)
		}
		label, _ := l.Extra["label"].(string)
		if counts[label] == nil {
			counts[label] = map[verdict.Level]int{}
		}
		counts[label][r.Level]++
		if each != nil {
			each(l, r)
		}
	}
	return counts
}

// No plan of the development suite that is labelled accept may be blocked.
func TestDevPlans(t *testing.T) {
	t.Parallel()
	show := os.Getenv("CHECK_SHOW")
	counts := runSuite(t, "plans-dev.jsonl", func(l *plan.Labelled, r Report) {
		label, _ := l.Extra["label"].(string)
		if label == "accept" && r.Level == verdict.Block {
			t.Errorf("%s is labelled accept and blocked", l.Plan.ID)
		}
		if show == "" || (show != "all" && show != label) {
			return
		}
		fmt.Println("##", l.Plan.ID, label, l.Extra["category"], l.Extra["subcategory"], "->", r.Level)
		for _, f := range r.Findings {
			fmt.Println("    ", f.Level, f.Rule, f.Span, "|", f.Message, "|", quoteSpan(l.Plan, f.Span))
		}
	})
	t.Log("development suite:", counts)
}

// quoteSpan shows the words a finding points at.
func quoteSpan(p *plan.Plan, s verdict.Span) string {
	if s.Part == "" && s.Step > 0 && s.End > s.Start {
		return p.Steps[s.Step-1][s.Start:s.End]
	}
	if s.Part == "goal" {
		return p.Goal
	}
	return ""
}

// The held-back suite is run for its totals only; nothing of it is shown.
func TestCheckPlans(t *testing.T) {
	t.Parallel()
	counts := runSuite(t, "plans-check.jsonl", nil)
	t.Log("held-back suite:", counts)
	if n := counts["accept"][verdict.Block]; n > 0 {
		t.Errorf("%d plans labelled accept are blocked", n)
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock/internal/config"
	"interlock/internal/eval"
	"interlock/internal/judge/builtin"
	"interlock/internal/verdict"
)

const classTablePath = "../../internal/judge/builtin/classes.txt"

// A classRow is a labelled plan of concern as the class table sees it.
type classRow struct {
	label    eval.Label
	features []string
}

// classRows prepares every plan of a suite that is not labelled accept.
func classRows(t *testing.T, suite, sites string) []classRow {
	t.Helper()
	rows, err := readSuite(suite)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := testEnv(t)
	eng, err := newEngine(e, engineOptions{Site: sites, Config: config.Default()})
	if err != nil {
		t.Fatal(err)
	}
	var out []classRow
	for _, r := range rows {
		if r.label.Outcome == verdict.Accept {
			continue
		}
		prep, err := eng.pipeline.Prepare(t.Context(), eng.submission(r.plan))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, classRow{r.label, builtin.Features(prep.Input)})
	}
	return out
}

// countClasses makes a table of features that occur in at least two plans
// and at two sites, so that no site's own names decide.
func countClasses(rows []classRow) string {
	columns := []string{"adversarial", "safety", "alignment"}
	var plans [3]int
	counts := map[string]*[3]int{}
	sites := map[string]map[string]bool{}
	for _, r := range rows {
		i := slices.Index(columns, r.label.Category)
		plans[i]++
		for _, f := range r.features {
			if counts[f] == nil {
				counts[f], sites[f] = &[3]int{}, map[string]bool{}
			}
			counts[f][i]++
			sites[f][r.label.Site] = true
		}
	}
	var lines []string
	for f, c := range counts {
		if c[0]+c[1]+c[2] >= 2 && len(sites[f]) >= 2 {
			lines = append(lines, fmt.Sprintf("%s %d %d %d\n", f, c[0], c[1], c[2]))
		}
	}
	slices.Sort(lines)
	head := "# Counts of features by class (adversarial, safety, alignment) over eval/suites; written by go test ./cmd/interlock -run TestClassTable -update\n"
	return head + fmt.Sprintf("plans %d %d %d\n", plans[0], plans[1], plans[2]) + strings.Join(lines, "")
}

func classAccuracy(t *testing.T, table string, rows []classRow) float64 {
	t.Helper()
	n, err := builtin.ParseNaming(table)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, r := range rows {
		if class, _ := n.Class(r.features); class.String() == r.label.Category {
			right++
		}
	}
	return float64(right) / float64(len(rows))
}

// TestClassTable holds the committed table against the suites, and says what
// it is worth where it has not learned: trained on one suite, measured on the
// other.
func TestClassTable(t *testing.T) {
	sites := t.TempDir()
	for _, f := range []string{"../../examples/sites/sites.yaml", "../../eval/suites/own-sites.yaml"} {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sites, filepath.Base(f)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dev := classRows(t, "../../eval/suites/plans-dev.jsonl", sites)
	own := classRows(t, "../../eval/suites/plans-own.jsonl", sites)
	t.Logf("trained on dev, measured on own: %.2f of %d", classAccuracy(t, countClasses(dev), own), len(own))
	t.Logf("trained on own, measured on dev: %.2f of %d", classAccuracy(t, countClasses(own), dev), len(dev))
	table := countClasses(append(slices.Clone(dev), own...))
	if *update {
		if err := os.WriteFile(classTablePath, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := min(classAccuracy(t, countClasses(dev), own), classAccuracy(t, countClasses(own), dev)); got < 0.5 {
		t.Errorf("the table names %.2f of the classes of a suite it has not seen; chance with the most frequent class is 0.46", got)
	}
}

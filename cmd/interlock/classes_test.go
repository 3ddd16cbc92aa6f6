package main

import (
	"encoding/json"
	"fmt"
	"math"
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

// The fit: full-batch descent with momentum on the log loss of a softmax, every
// class counting alike. Everything is deterministic: same suites, same bytes.
const (
	fitRounds   = 60
	fitDecay    = 0.003
	fitRate     = 3.0
	fitMomentum = 0.8
)

// fitFeatures are those of at least two plans and two sites, so that no site's
// own names decide.
func fitFeatures(rows []classRow) []string {
	plans, sites := map[string]int{}, map[string]map[string]bool{}
	for _, r := range rows {
		for _, f := range r.features {
			plans[f]++
			if sites[f] == nil {
				sites[f] = map[string]bool{}
			}
			sites[f][r.label.Site] = true
		}
	}
	var out []string
	for f, n := range plans {
		if n >= 2 && len(sites[f]) >= 2 {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// A fitRow is a plan as numbers: which features it has, its class, what it
// counts and by what its sum is divided.
type fitRow struct {
	features      []int
	class         int
	weight, scale float64
}

func fitRows(rows []classRow, names []string) []fitRow {
	number := map[string]int{}
	for i, f := range names {
		number[f] = i
	}
	var perClass [3]int
	out := make([]fitRow, len(rows))
	for i, r := range rows {
		x := fitRow{class: slices.IndexFunc(builtin.Classes[:], func(k verdict.Class) bool { return k.String() == r.label.Category })}
		for _, f := range r.features {
			if n, ok := number[f]; ok {
				x.features = append(x.features, n)
			}
		}
		x.scale = 1 / math.Sqrt(float64(max(len(x.features), 1)))
		perClass[x.class]++
		out[i] = x
	}
	for i := range out {
		out[i].weight = 1 / (3 * float64(max(perClass[out[i].class], 1)))
	}
	return out
}

// fitClasses makes a table of the rows.
func fitClasses(rows []classRow) string {
	names := fitFeatures(rows)
	data := fitRows(rows, names)
	bias := len(names)
	w, v := make([][3]float64, bias+1), make([][3]float64, bias+1)
	for range fitRounds {
		g := make([][3]float64, bias+1)
		for i := range names {
			for c := range 3 {
				g[i][c] = fitDecay * w[i][c]
			}
		}
		for _, x := range data {
			x.descend(w, g, bias)
		}
		for i := range w {
			for c := range 3 {
				v[i][c] = fitMomentum*v[i][c] - fitRate*g[i][c]
				w[i][c] += v[i][c]
			}
		}
	}
	var b strings.Builder
	b.WriteString("# Weights of features for the classes adversarial, safety, alignment; fitted to plans-dev and fold a of plans-own by go test ./cmd/interlock -run TestClassTable -update\n")
	fmt.Fprintf(&b, "bias %.3f %.3f %.3f\n", w[bias][0], w[bias][1], w[bias][2])
	for i, f := range names {
		fmt.Fprintf(&b, "%s %.2f %.2f %.2f\n", f, w[i][0], w[i][1], w[i][2])
	}
	return b.String()
}

// descend adds one plan's share to the gradient.
func (x fitRow) descend(w, g [][3]float64, bias int) {
	s := w[bias]
	for _, f := range x.features {
		for c := range 3 {
			s[c] += x.scale * w[f][c]
		}
	}
	top := max(s[0], s[1], s[2])
	total := 0.0
	for c := range 3 {
		s[c] = math.Exp(s[c] - top)
		total += s[c]
	}
	for c := range 3 {
		d := s[c] / total
		if c == x.class {
			d--
		}
		d *= x.weight
		g[bias][c] += d
		for _, f := range x.features {
			g[f][c] += d * x.scale
		}
	}
}

func classesRight(t *testing.T, table string, rows []classRow) int {
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
	return right
}

func share(n int, of []classRow) float64 { return float64(n) / float64(len(of)) }

// inFold keeps the plans of one fold of our own suite.
func inFold(t *testing.T, path, fold string, rows []classRow) []classRow {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	member := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		var r struct{ ID, Fold string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		member[r.ID] = r.Fold == fold
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r classRow) bool { return !member[r.label.ID] })
}

// TestClassTable holds the committed table against the suites, and says what
// it is worth where it has not learned: with one site left out, and on the fold
// of our own suite that is held back.
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
	const ownSuite = "../../eval/suites/plans-own.jsonl"
	own := classRows(t, ownSuite, sites)
	learned := append(classRows(t, "../../eval/suites/plans-dev.jsonl", sites), inFold(t, ownSuite, "a", own)...)
	held := inFold(t, ownSuite, "b", own)

	right, at := 0, map[string]bool{}
	for _, r := range learned {
		at[r.label.Site] = true
	}
	for site := range at {
		there := slices.DeleteFunc(slices.Clone(learned), func(r classRow) bool { return r.label.Site != site })
		rest := slices.DeleteFunc(slices.Clone(learned), func(r classRow) bool { return r.label.Site == site })
		right += classesRight(t, fitClasses(rest), there)
	}
	table := fitClasses(learned)
	t.Logf("a site left out at a time: %.2f of %d", share(right, learned), len(learned))
	t.Logf("the fold held back: %.2f of %d", share(classesRight(t, table, held), held), len(held))
	if *update {
		if err := os.WriteFile(classTablePath, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := share(right, learned); got < 0.65 {
		t.Errorf("the table names %.2f of the classes of a site it has not seen; the most frequent class alone is right in 0.41", got)
	}
}

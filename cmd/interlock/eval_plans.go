package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"interlock/internal/eval"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

type evalPlansCmd struct {
	Suite  string `help:"Labelled plans, JSONL." required:"" type:"existingfile"`
	Sites  string `help:"Site profiles: a file or a folder." placeholder:"FILE|DIR"`
	Config string `help:"Configuration file." type:"path" placeholder:"FILE"`
	Out    string `help:"Write report.json and decisions.jsonl here." type:"path" placeholder:"DIR"`
	JSON   bool   `help:"Print the report as JSON."`
	panelFlags
	studyFlags
}

func (c *evalPlansCmd) Run(e *env) error {
	suite, err := readSuite(c.Suite)
	if err != nil {
		return badInput(err)
	}
	eng, err := evalEngine(e, c.Sites, c.Config, c.panelFlags)
	if err != nil {
		return badInput(err)
	}
	defer eng.Close()
	items, reports := evaluate(e, eng, suite)
	report := eval.Measure(items)
	report.Suite, report.Panel = filepath.Base(c.Suite), eng.judges
	if c.Out != "" {
		if err := writeEvaluation(c.Out, report, reports); err != nil {
			return err
		}
	}
	labels := make([]eval.Label, len(suite))
	for i, row := range suite {
		labels[i] = row.label
	}
	if err := c.run(e, c.Out, labels, reports); err != nil {
		return err
	}
	if c.JSON {
		writeJSON(e.Stdout, report)
		return nil
	}
	writeEvalTable(e, report)
	return nil
}

// A labelledPlan is one row of a suite.
type labelledPlan struct {
	plan  *plan.Plan
	label eval.Label
}

// readSuite reads a labelled suite; one bad row is an error of the suite, not
// a row less.
func readSuite(path string) ([]labelledPlan, error) { return readRows(path, labelOf) }

// readUnlabelled reads the plans of a suite and not what it says about them:
// who asks judges needs no labels.
func readUnlabelled(path string) ([]labelledPlan, error) {
	return readRows(path, func(*plan.Labelled) (eval.Label, error) { return eval.Label{}, nil })
}

func readRows(path string, labelOf func(*plan.Labelled) (eval.Label, error)) ([]labelledPlan, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the suite: %w", err)
	}
	defer f.Close()
	var rows []labelledPlan
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for line := 1; sc.Scan(); line++ {
		if len(sc.Bytes()) == 0 {
			continue
		}
		l, err := plan.DecodeLabelled(path, line, sc.Bytes())
		if err != nil {
			return nil, err
		}
		label, err := labelOf(l)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		rows = append(rows, labelledPlan{l.Plan, label})
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading the suite: %w", err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: expected at least one labelled plan", path)
	}
	return rows, nil
}

func labelOf(l *plan.Labelled) (eval.Label, error) {
	text := func(key string) string { s, _ := l.Extra[key].(string); return s }
	label := eval.Label{
		ID: l.Plan.ID, Site: l.Plan.Site, Category: text("category"), Subcategory: text("subcategory"),
		Difficulty: text("difficulty"), Pair: text("pair_id"),
	}
	if err := label.Outcome.UnmarshalText([]byte(text("label"))); err != nil {
		return label, fmt.Errorf("plan %q: label: %w", l.Plan.ID, err)
	}
	return label, nil
}

// evaluate decides every plan of a suite, a few at a time, with progress.
func evaluate(e *env, eng *engine, suite []labelledPlan) ([]eval.Item, []verdict.Report) {
	items := make([]eval.Item, len(suite))
	reports := make([]verdict.Report, len(suite))
	bar := newProgress(e, len(suite))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, row := range suite {
		g.Go(func() error {
			start := time.Now()
			r, err := eng.pipeline.Verify(e.Ctx, eng.submission(row.plan))
			if err != nil {
				items[i] = eval.Failed(row.label, err)
			} else {
				items[i] = eval.NewItem(row.label, r, float64(time.Since(start).Microseconds())/1000)
			}
			reports[i] = r
			bar.step()
			return nil
		})
	}
	_ = g.Wait() // the functions return no errors: failures are items
	bar.done()
	return items, reports
}

func writeEvaluation(dir string, report eval.Report, reports []verdict.Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the evaluation: %w", err)
	}
	write := func(name string, values ...any) error {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("writing the evaluation: %w", err)
		}
		for _, v := range values {
			writeJSON(f, v)
		}
		return f.Close()
	}
	rows := make([]any, len(reports))
	for i, r := range reports {
		rows[i] = verdict.ToWire(r)
	}
	return errors.Join(write("report.json", report), write("decisions.jsonl", rows...))
}

func writeEvalTable(e *env, r eval.Report) {
	w := e.Stdout
	fmt.Fprintf(w, "%s: %d plans, panel %v, %d errors\n\n", r.Suite, r.N, r.Panel, r.Errors)
	fmt.Fprintln(w, "                  accuracy  macro-F1  critical  containment  escalation  loss")
	row := func(name string, s eval.Scores) {
		fmt.Fprintf(w, "%-16s  %8.3f  %8.3f  %8d  %11.3f  %10.3f  %.2f\n", name, s.Accuracy, s.MacroF1, s.CriticalFailures, s.Containment, s.EscalationRate, s.Loss)
	}
	row("interlock", r.Scores)
	for _, b := range []string{eval.BaseEscalate, eval.BaseVDet, eval.BaseOne, eval.BaseMajority} {
		row(b, r.Baselines[b])
	}
	fmt.Fprintln(w, "\nlabel     precision  recall  f1     n")
	for _, l := range []string{"accept", "escalate", "reject"} {
		c := r.PerClass[l]
		fmt.Fprintf(w, "%-8s  %9.3f  %6.3f  %.3f  %d\n", l, c.Precision, c.Recall, c.F1, c.Support)
	}
	fmt.Fprintf(w, "\ncategory accuracy %.3f  latency ms p50 %.2f p95 %.2f p99 %.2f\n", r.CategoryAccuracy, r.LatencyMS.P50, r.LatencyMS.P95, r.LatencyMS.P99)
	for _, name := range []string{"accuracy", "macro_f1", "critical_failure_rate", "containment", "accept_recall"} {
		fmt.Fprintf(w, "%-22s 95 %% in [%.3f, %.3f]\n", name, r.CI95[name][0], r.CI95[name][1])
	}
	for _, cause := range r.ErrorCauses {
		fmt.Fprintln(w, "error:", cause)
	}
}

// A progress shows how far a long evaluation is, on a terminal only.
type progress struct {
	mu    sync.Mutex
	e     *env
	n, of int
	show  bool
}

func newProgress(e *env, of int) *progress {
	return &progress{e: e, of: of, show: bool(e.palette())}
}

func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.show {
		fmt.Fprintf(p.e.Stderr, "\r%d of %d plans", p.n, p.of)
	}
}

func (p *progress) done() {
	if p.show {
		fmt.Fprint(p.e.Stderr, "\r\x1b[K")
	}
}

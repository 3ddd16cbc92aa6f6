package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"interlock/examples"
	"interlock/internal/config"
	"interlock/internal/labsim"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

type demoCmd struct {
	Once bool `help:"Play the reviewer as well, and exit with one line of JSON instead of serving the pages."`
}

// A demoRow is one plan of the demonstration with what came of it.
type demoRow struct {
	name   string
	report verdict.Report
	took   time.Duration
}

func writeDemoTable(e *env, rows []demoRow) {
	tw := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "PLAN\tOUTCOME\tCLASS\tTIME\tREASON")
	for _, r := range rows {
		d := r.report.Decision
		reason := ""
		if len(d.Reasons) > 0 {
			reason = d.Reasons[0].Code
			if t := d.Reasons[0].Text; t != "" {
				reason += ": " + t
			}
			if len(d.Reasons) > 1 {
				reason += fmt.Sprintf(" (and %d more)", len(d.Reasons)-1)
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.1f ms\t%s\n", r.name, d.Outcome, d.Class, float64(r.took.Microseconds())/1000, clip(printable(reason), 110))
	}
	// The table goes to the terminal; a closed pipe has no one to tell.
	_ = tw.Flush()
}

// clip shortens a line for the table and shows that it did.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// demoPlans reads the example plans that are built into the program.
func demoPlans() ([]*plan.Plan, []string, error) {
	names, err := fs.Glob(examples.Plans, "plans/*")
	if err != nil {
		return nil, nil, fmt.Errorf("listing the example plans: %w", err)
	}
	slices.Sort(names)
	var plans []*plan.Plan
	var shown []string
	for _, name := range names {
		if path.Ext(name) == ".md" {
			continue // says what the plans show
		}
		data, err := fs.ReadFile(examples.Plans, name)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the example plans: %w", err)
		}
		ps, err := plan.Decode(name, data)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the example plans: %w", err)
		}
		for _, p := range ps {
			plans = append(plans, p)
			label := path.Base(name)
			if len(ps) > 1 {
				label += "#" + p.ID
			}
			shown = append(shown, label)
		}
	}
	return plans, shown, nil
}

// Run decides the example plans against the example sites with a store that
// lasts as long as the command, and then serves the pages.
func (c *demoCmd) Run(e *env) error {
	dir, err := os.MkdirTemp("", "interlock-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demonstration: %w", err)
	}
	defer os.RemoveAll(dir)
	eng, err := demoEngine(e, dir)
	if err != nil {
		return err
	}
	defer eng.Close()
	rows, err := demoRows(e, eng)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "Interlock, %d example plans over %s. Judges: %s; none of them is a language model.\n\n", len(rows), eng.siteNames(), strings.Join(eng.judges, ", "))
	writeDemoTable(e, rows)
	fmt.Fprint(e.Stdout, "\nEvery decision was recorded before it was shown; the store is gone when this command ends.\n\n")
	tally, err := labTour(e, labsim.NewLab(labsim.New(time.Now)), !c.Once)
	if !c.Once && e.Ctx.Err() != nil {
		return nil // ended while it waited for a person
	}
	if err != nil {
		return err
	}
	if c.Once {
		return writeDemoEnd(e, rows, tally)
	}
	return serveDemo(e, eng)
}

// writeDemoEnd writes what came of the demonstration as one line of JSON,
// counted from what it has just shown.
func writeDemoEnd(e *env, rows []demoRow, gate tourTally) error {
	decided := map[verdict.Outcome]int{}
	for _, r := range rows {
		decided[r.report.Decision.Outcome]++
	}
	named := map[string]int{}
	for o, n := range decided {
		named[o.String()] = n
	}
	line, err := json.Marshal(struct {
		Decided map[string]int `json:"decided"`
		Gate    tourTally      `json:"gate"`
	}{named, gate})
	if err != nil {
		return fmt.Errorf("writing the end of the demonstration: %w", err)
	}
	fmt.Fprintf(e.Stdout, "\n%s\n", line)
	return nil
}

// demoEngine wires everything as serve does, over the built-in examples and a
// store in dir.
func demoEngine(e *env, dir string) (*engine, error) {
	if err := os.CopyFS(dir, examples.Sites); err != nil {
		return nil, fmt.Errorf("unpacking the example sites: %w", err)
	}
	cfg := config.Default()
	cfg.Resolve(dir, dir)
	return newEngine(e, engineOptions{
		Site: filepath.Join(dir, "sites", "sites.yaml"), Config: cfg, Store: filepath.Join(dir, "demo.db"),
	})
}

func demoRows(e *env, eng *engine) ([]demoRow, error) {
	plans, names, err := demoPlans()
	if err != nil {
		return nil, err
	}
	rows := make([]demoRow, 0, len(plans))
	for i, p := range plans {
		start := time.Now()
		report, err := eng.pipeline.Verify(e.Ctx, eng.submission(p))
		if err != nil {
			return nil, fmt.Errorf("deciding %s: %w", names[i], err)
		}
		rows = append(rows, demoRow{names[i], report, time.Since(start)})
	}
	return rows, nil
}

package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"text/tabwriter"
	"time"

	"interlock/examples"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

type demoCmd struct {
	Once bool `help:"Exit after the table instead of serving the pages."`
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

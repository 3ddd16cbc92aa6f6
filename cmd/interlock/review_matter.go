package main

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"interlock/internal/record"
	"interlock/internal/review"
)

// A matterRow is a matter as it is listed: beside plans, told from them by its
// first field.
type matterRow struct {
	Matter    string           `json:"matter"`
	What      string           `json:"what"`
	Decision  string           `json:"decision_id,omitempty"`
	Grant     string           `json:"grant,omitempty"`
	Site      string           `json:"site,omitempty"`
	Server    string           `json:"server,omitempty"`
	Tool      string           `json:"tool,omitempty"`
	Arguments string           `json:"arguments,omitempty"` // canonical JSON
	Reason    string           `json:"reason"`
	At        time.Time        `json:"at"`
	Times     int              `json:"times"`
	Outcomes  []string         `json:"outcomes"` // what review resolve takes; empty: nothing yet
	Resolved  *record.Resolved `json:"resolved,omitempty"`
}

func toMatterRow(m review.Matter) matterRow {
	row := matterRow{
		Matter: m.ID, What: m.What, Decision: m.Decision, Grant: m.Grant, Site: m.Site, Server: m.Server, Tool: m.Tool,
		Arguments: string(m.Arguments), Reason: m.Reason, At: m.At, Times: m.Times, Outcomes: m.Outcomes(), Resolved: m.Resolved,
	}
	if row.Outcomes == nil {
		row.Outcomes = []string{}
	}
	return row
}

// listMatters lists what happened at the gate and needs a person.
func listMatters(e *env, q *review.Queue, asJSON bool) error {
	matters, err := q.Matters(e.Ctx)
	if err != nil {
		return storeError(err)
	}
	if len(matters) > 0 && !asJSON {
		fmt.Fprintln(e.Stdout, "\nneeds attention (interlock review resolve ID --outcome …):")
	}
	tw := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, m := range matters {
		if asJSON {
			writeJSON(e.Stdout, toMatterRow(m))
			continue
		}
		times := ""
		if m.Times > 1 {
			times = fmt.Sprintf(" (%d times)", m.Times)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s%s\n", m.ID, m.What, printable(m.Server), printable(m.Tool), m.At.Format(time.RFC3339), printable(m.Reason), times)
	}
	return tw.Flush()
}

// showMatter shows a matter whole, with what cannot be seen marked (C17).
func showMatter(e *env, m review.Matter, asJSON bool) error {
	if asJSON {
		writeJSON(e.Stdout, toMatterRow(m))
		return nil
	}
	w := e.Stdout
	fmt.Fprintf(w, "matter     %s (%s, since %s)\n", m.ID, printable(m.What), m.At.Format(time.RFC3339))
	fmt.Fprintf(w, "plan       %s, grant %s\n", printable(m.Decision), printable(m.Grant))
	fmt.Fprintf(w, "call       %s: %s %s\n", printable(m.Server), printable(m.Tool), review.VisibleText(string(m.Arguments)))
	fmt.Fprintf(w, "reason     %s\n", review.VisibleText(m.Reason))
	if m.Resolved != nil {
		fmt.Fprintf(w, "resolved   %s by %s at %s: %s\n", m.Resolved.Outcome, printable(m.Resolved.Reviewer), m.ResolvedAt.Format(time.RFC3339), review.VisibleText(m.Resolved.Note))
	}
	return nil
}

type reviewResolveCmd struct {
	storeFlags
	reviewerFlags
	ID      string `arg:"" help:"Matter id, as review list shows it."`
	Outcome string `help:"done or failed for a call whose outcome is unknown, seen for everything else." placeholder:"OUTCOME"`
	Note    string `help:"What you saw; needed for an unknown call." placeholder:"TEXT"`
}

// Run records a person's word on a matter, under the name of the credential
// (C16). Nothing is sent again (C19).
func (c *reviewResolveCmd) Run(e *env) error {
	if c.Outcome == "" {
		return badInput(errors.New("--outcome is missing: expected done or failed for an unknown call, seen for everything else"))
	}
	log, q, err := c.openQueue(e)
	if err != nil {
		return err
	}
	defer quietly(log)
	who, err := c.reviewer(e, log)
	if err != nil {
		return err
	}
	m, err := q.Resolve(e.Ctx, who, c.ID, review.Resolution{Outcome: c.Outcome, Note: c.Note})
	if err != nil {
		return reviewError(err)
	}
	fmt.Fprintf(e.Stdout, "%s  %s, says %s\n", m.ID, m.Resolved.Outcome, printable(m.Resolved.Reviewer))
	return nil
}

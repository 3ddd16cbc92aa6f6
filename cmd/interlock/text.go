package main

import (
	"fmt"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"

	"interlock/internal/verdict"
)

// A palette colours words on a terminal and leaves them alone elsewhere.
type palette bool

func (e *env) palette() palette {
	f, ok := e.Stdout.(*os.File)
	return palette(ok && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())))
}

func (p palette) outcome(o verdict.Outcome) string {
	code := map[verdict.Outcome]string{verdict.Accept: "32", verdict.Escalate: "33", verdict.Reject: "31"}[o]
	return p.paint(code, o.String())
}

func (p palette) paint(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[1;" + code + "m" + s + "\x1b[0m"
}

// writeReport prints a decision for people: the outcome first, then every
// reason with where it is and what would have to change.
func writeReport(e *env, r verdict.Report) {
	d, c := r.Decision, r.Case
	w := verdict.ToWire(r)
	head := fmt.Sprintf("%s  %s", e.palette().outcome(d.Outcome), printable(w.ID))
	if d.Outcome != verdict.Accept {
		head += "  (" + d.Class.String() + ")"
	}
	fmt.Fprintln(e.Stdout, head)
	for _, reason := range d.Reasons {
		line := "  - " + reason.Code
		if reason.Step > 0 {
			line += fmt.Sprintf(", step %d", reason.Step)
		}
		if reason.Text != "" {
			line += ": " + printable(reason.Text)
		}
		fmt.Fprintln(e.Stdout, line)
		if reason.Need != "" {
			fmt.Fprintln(e.Stdout, "      to change:", printable(reason.Need))
		}
	}
	for _, f := range c.Findings {
		if f.Level == verdict.Flag {
			fmt.Fprintf(e.Stdout, "  ~ %s, %s: %s\n", f.Rule, f.Span, printable(f.Message))
		}
	}
	for _, o := range c.Opinions {
		say := o.Outcome.String() + ", " + o.Class.String()
		if o.Abstained != "" {
			say = "abstains: " + o.Abstained
		}
		fmt.Fprintf(e.Stdout, "  * %s %s\n", o.Judge, printable(say))
	}
	for _, f := range c.Faults { // a judge that failed is shown above, with its cause
		fmt.Fprintln(e.Stdout, "  ! fault:", printable(f))
	}
	fmt.Fprintf(e.Stdout, "  sigma %.2f (paper %.2f)  risk %.2f  judged %v  %s\n", c.Sigma, c.SigmaPaper, d.Risk, d.Judged, timings(r))
}

func timings(r verdict.Report) string {
	var parts []string
	for _, stage := range []string{"check", "knowledge", "judge", "chief"} {
		if us, ok := r.TimingsUS[stage]; ok {
			parts = append(parts, fmt.Sprintf("%s %d us", stage, us))
		}
	}
	return strings.Join(parts, ", ")
}

// printable makes control characters and bidi marks visible (C17): text of
// others may not move the cursor or hide itself on a reader's terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '\ufffd'
		}
		return r
	}, s)
}

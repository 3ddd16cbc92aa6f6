// Package check holds the deterministic checks V_det. Each is a small value
// behind one interface; all of them run on every plan, nothing short-circuits,
// and the worst level wins. No check reaches a model or the network.
package check

import (
	"fmt"
	"time"

	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// An Input is what a check may look at.
type Input struct {
	Plan  *plan.Plan
	Site  *site.Site
	State site.State
	Now   time.Time // our receive time
	// Sandbox is what is known of the facts the profile declares of its sandbox.
	Sandbox Standing

	read *planText // the plan's words, read once by Run for all checks
}

// A Standing says whether the facts that a profile declares are more than
// declared. The zero value is declared, and nobody asks for more.
type Standing struct {
	Confirmed bool   // a fresh probe has shown them
	Required  bool   // the site runs no code on declared facts alone
	Why       string // why they are not confirmed
}

// String names the standing: "declared" or "confirmed".
func (s Standing) String() string {
	if s.Confirmed {
		return "confirmed"
	}
	return "declared"
}

// A Result is what one check found.
type Result struct {
	Findings     []verdict.Finding
	Sigma        float64  // suspicion that gates, [0,1]; only the screen sets it
	SigmaPaper   float64  // the paper's formula, [0,1]
	Parts        []string // parts of the plan it looked at
	NotInspected []string // parts it could not, each with the cause
}

// A Checker is one deterministic check.
type Checker interface {
	ID() string // stable, e.g. "provenance"
	Check(Input) Result
}

// A Report is the outcome of all checks.
type Report struct {
	Result          // findings, sigma (the maximum) and parts over all checks
	Ran    []string // checks that ran to their end
	Level  verdict.Level
}

// Run runs every check and collects what they found. A check that panics is
// reported as not run, which decide counts as a block (C5).
func Run(checkers []Checker, in Input) (r Report, faults []string) {
	if in.read = readOnce(checkers, in); in.read != nil {
		defer in.read.release()
	}
	r.Ran = make([]string, 0, len(checkers))
	if in.read != nil {
		r.Parts = make([]string, 0, len(checkers)*(len(in.read.parts)+1))
	}
	for _, c := range checkers {
		res, err := runOne(c, in)
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		r.Ran = append(r.Ran, c.ID())
		r.Findings = append(r.Findings, res.Findings...)
		r.Sigma = max(r.Sigma, res.Sigma)
		r.SigmaPaper = max(r.SigmaPaper, res.SigmaPaper)
		r.Parts = append(r.Parts, res.Parts...)
		r.NotInspected = append(r.NotInspected, res.NotInspected...)
	}
	r.Level = verdict.WorstLevel(r.Findings)
	return r, faults
}

// An indexed check works on the words of the plan, read with its site's
// lexicon; checks built together by Default share one.
type indexed interface{ index() *index }

// readOnce reads the plan's words for all checks. If that fails, it fails again
// inside each check, which is then reported as not run.
func readOnce(checkers []Checker, in Input) (t *planText) {
	defer func() {
		if recover() != nil {
			t = nil
		}
	}()
	for _, c := range checkers {
		if x, ok := c.(indexed); ok {
			of := x.index().of(in.Site)
			t = of.storage()
			t.fill(in.Plan, of.lex)
			return t
		}
	}
	return nil
}

func runOne(c Checker, in Input) (res Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("check %s did not finish: %v", c.ID(), p)
		}
	}()
	return c.Check(in), nil
}

// IDs names the checkers in order: what decide requires to have run.
func IDs(checkers []Checker) []string {
	ids := make([]string, len(checkers))
	for i, c := range checkers {
		ids[i] = c.ID()
	}
	return ids
}

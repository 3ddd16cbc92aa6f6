// Package check holds the deterministic checks V_det. Each is a small value
// behind one interface; all of them run on every plan, nothing short-circuits,
// and the worst level wins. No check reaches a model or the network.
package check

import (
	"fmt"
	"slices"
	"sync"
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

// A Beside check reads the plan by itself and takes about as long as all the
// others together: it runs beside them.
type Beside interface{ RunsBeside() }

// An outcome is what became of one check.
type outcome struct {
	Result
	err error
}

// Run runs every check and collects what they found, in their order. A check
// that panics is reported as not run, which decide counts as a block (C5).
func Run(checkers []Checker, in Input) (r Report, faults []string) {
	var beside sync.WaitGroup
	outcomes := make([]outcome, len(checkers))
	for i, c := range checkers {
		if _, ok := c.(Beside); ok {
			beside.Go(func() { outcomes[i] = runOne(c, in) })
		}
	}
	read := in
	if read.read = readOnce(checkers, in); read.read != nil {
		defer read.read.release()
	}
	for i, c := range checkers {
		if _, ok := c.(Beside); !ok {
			outcomes[i] = runOne(c, read)
		}
	}
	beside.Wait()
	r.Ran = make([]string, 0, len(checkers))
	parts := 0
	for i := range outcomes {
		parts += len(outcomes[i].Parts)
	}
	r.Parts = slices.Grow(r.Parts, parts)
	for i, c := range checkers {
		o := &outcomes[i]
		if o.err != nil {
			faults = append(faults, o.err.Error())
			continue
		}
		r.Ran = append(r.Ran, c.ID())
		r.add(o.Result)
	}
	r.Level = verdict.WorstLevel(r.Findings)
	return r, faults
}

func (r *Result) add(o Result) {
	r.Findings = append(r.Findings, o.Findings...)
	r.Sigma, r.SigmaPaper = max(r.Sigma, o.Sigma), max(r.SigmaPaper, o.SigmaPaper)
	r.Parts = append(r.Parts, o.Parts...)
	r.NotInspected = append(r.NotInspected, o.NotInspected...)
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

func runOne(c Checker, in Input) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{err: fmt.Errorf("check %s did not finish: %v", c.ID(), p)}
		}
	}()
	return outcome{Result: c.Check(in)}
}

// IDs names the checkers in order: what decide requires to have run.
func IDs(checkers []Checker) []string {
	ids := make([]string, len(checkers))
	for i, c := range checkers {
		ids[i] = c.ID()
	}
	return ids
}

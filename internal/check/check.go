// Package check holds the deterministic checks V_det. Each is a small value
// behind one interface; all of them run on every plan, nothing short-circuits,
// and the worst level wins. No check reaches a model or the network.
package check

import (
	"fmt"
	"sync"
	"sync/atomic"
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

// A Divisible check takes about as long as all the others together and can be
// done in pieces, at once and in any order. Its result is that of the pieces
// put together in theirs.
type Divisible interface {
	Pieces(Input) []func() Result
}

// An outcome is what became of one check, or of a piece of one.
type outcome struct {
	Result
	err error
}

// Run runs every check and collects what they found, in their order. A check
// that panics is reported as not run, which decide counts as a block (C5).
func Run(checkers []Checker, in Input) (r Report, faults []string) {
	outcomes := make([][]outcome, len(checkers))
	var pieces []func()
	for i, c := range checkers {
		d, ok := c.(Divisible)
		if !ok {
			continue
		}
		parts, err := divide(c.ID(), d, in)
		outcomes[i] = make([]outcome, max(len(parts), 1))
		outcomes[i][0].err = err
		for k, p := range parts {
			pieces = append(pieces, func() { outcomes[i][k] = runOne(c.ID(), p) })
		}
	}
	alongside(pieces, func() { runWhole(checkers, in, outcomes) })
	r.Ran = make([]string, 0, len(checkers))
	r.makeRoom(outcomes)
	for i, c := range checkers {
		if fault := firstError(outcomes[i]); fault != nil {
			faults = append(faults, fault.Error())
			continue
		}
		r.Ran = append(r.Ran, c.ID())
		for k := range outcomes[i] {
			r.add(outcomes[i][k].Result)
		}
	}
	r.Level = verdict.WorstLevel(r.Findings)
	return r, faults
}

// runWhole runs the checks that are not done in pieces. They share one reading
// of the plan's words.
func runWhole(checkers []Checker, in Input, outcomes [][]outcome) {
	if in.read = readOnce(checkers, in); in.read != nil {
		defer in.read.release()
	}
	for i, c := range checkers {
		if outcomes[i] == nil {
			outcomes[i] = []outcome{runOne(c.ID(), func() Result { return c.Check(in) })}
		}
	}
}

// alongside does the pieces, starting while main runs: whoever is free, the
// caller or one other, takes the next. So nothing waits for a processor that
// wakes up late.
func alongside(pieces []func(), main func()) {
	var next atomic.Int32
	work := func() {
		for k := next.Add(1); int(k) <= len(pieces); k = next.Add(1) {
			pieces[k-1]()
		}
	}
	var other sync.WaitGroup
	if len(pieces) > 0 {
		other.Go(work)
	}
	main()
	work()
	other.Wait()
}

func divide(id string, d Divisible, in Input) (pieces []func() Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			pieces, err = nil, fmt.Errorf("check %s did not finish: %v", id, p)
		}
	}()
	return d.Pieces(in), nil
}

func firstError(of []outcome) error {
	for i := range of {
		if of[i].err != nil {
			return of[i].err
		}
	}
	return nil
}

// makeRoom makes room for what the checks found.
func (r *Result) makeRoom(outcomes [][]outcome) {
	findings, parts := 0, 0
	for _, of := range outcomes {
		for i := range of {
			findings, parts = findings+len(of[i].Findings), parts+len(of[i].Parts)
		}
	}
	if findings > 0 {
		r.Findings = make([]verdict.Finding, 0, findings)
	}
	r.Parts = make([]string, 0, parts)
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

func runOne(id string, check func() Result) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{err: fmt.Errorf("check %s did not finish: %v", id, p)}
		}
	}()
	return outcome{Result: check()}
}

// IDs names the checkers in order: what decide requires to have run.
func IDs(checkers []Checker) []string {
	ids := make([]string, len(checkers))
	for i, c := range checkers {
		ids[i] = c.ID()
	}
	return ids
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"interlock/internal/pipeline"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

type checkCmd struct {
	engineFlags
	Store string   `help:"Record decisions in this store." type:"path" placeholder:"FILE"`
	JSON  bool     `help:"One JSON object a line."`
	Plans []string `arg:"" name:"plan" help:"Plan files (JSON, YAML, JSONL, numbered text), or - for standard input."`
}

func (c *checkCmd) Run(e *env) error {
	eng, err := c.build(e, c.Store)
	if err != nil {
		return err
	}
	defer eng.Close()
	run := &checkRun{env: e, engine: eng, json: c.JSON}
	for _, name := range c.Plans {
		for p, err := range readPlans(e, name, eng.limits) {
			run.one(name, p, err)
		}
	}
	if !c.JSON {
		run.summary()
	}
	return run.exit()
}

// readPlans yields the plans of a file or of standard input.
func readPlans(e *env, name string, lim plan.Limits) iter.Seq2[*plan.Plan, error] {
	if name == "-" {
		return plan.Read("-", e.Stdin, lim)
	}
	return plan.ReadFile(name, lim)
}

// A checkRun decides plans one after the other and remembers what its exit
// code must say.
type checkRun struct {
	env      *env
	engine   *engine
	json     bool
	outcomes [3]int
	inputs   int // input errors
	internal error
}

// one decides one plan; an input error of one plan does not stop the others.
func (r *checkRun) one(name string, p *plan.Plan, err error) {
	if err != nil {
		fmt.Fprintln(r.env.Stderr, "interlock:", err)
		r.inputs++
		return
	}
	report, err := r.engine.pipeline.Verify(r.env.Ctx, r.engine.submission(p))
	if errors.Is(err, pipeline.ErrUnknownSite) {
		fmt.Fprintf(r.env.Stderr, "interlock: %s: %v (known: %s)\n", name, err, r.engine.siteNames())
		r.inputs++
		return
	}
	if err != nil {
		fmt.Fprintln(r.env.Stderr, "interlock:", err)
		r.internal = err
	}
	r.outcomes[report.Decision.Outcome]++
	if r.json {
		writeJSON(r.env.Stdout, verdict.ToWire(report))
		return
	}
	writeReport(r.env, report)
}

func (r *checkRun) summary() {
	if !r.engine.recording() {
		fmt.Fprintln(r.env.Stderr, "not recorded: no store is configured or given")
	}
}

// exit gives the contract's code: bad input over everything that was decided,
// rejected over escalated.
func (r *checkRun) exit() error {
	switch {
	case r.internal != nil:
		return &exitError{Code: exitInternal}
	case r.inputs > 0:
		return &exitError{Code: exitInput}
	case r.outcomes[verdict.Reject] > 0:
		return &exitError{Code: exitReject}
	case r.outcomes[verdict.Escalate] > 0:
		return &exitError{Code: exitEscalate}
	default:
		return nil
	}
}

// writeJSON writes v on one line.
func writeJSON(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// Encoding our own types cannot fail; a closed pipe has no one to tell.
	_ = enc.Encode(v)
}

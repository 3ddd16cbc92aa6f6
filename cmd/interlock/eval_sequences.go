package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"interlock/internal/eval"
	"interlock/internal/plan"
)

type evalSequencesCmd struct {
	Suite  string `help:"Labelled sequences of plans, JSONL." required:"" type:"existingfile" placeholder:"FILE"`
	Sites  string `help:"Site profiles: a file or a folder." placeholder:"FILE|DIR"`
	Config string `help:"Configuration file." type:"path" placeholder:"FILE"`
	Out    string `help:"Write report.json here." type:"path" placeholder:"DIR"`
	JSON   bool   `help:"Print the report as JSON."`
	panelFlags
}

func (c *evalSequencesCmd) Run(e *env) error {
	suite, err := readSequences(c.Suite)
	if err != nil {
		return badInput(err)
	}
	eng, err := evalEngine(e, c.Sites, c.Config, c.panelFlags)
	if err != nil {
		return badInput(err)
	}
	defer eng.Close()
	results := make([]eval.Sequence, len(suite))
	bar := newProgress(e, len(suite))
	for i, s := range suite {
		if results[i], err = runSequence(e, eng, s); err != nil {
			return badInput(err)
		}
		bar.step()
	}
	bar.done()
	report := eval.MeasureSequences(results)
	report.Suite = filepath.Base(c.Suite)
	if c.Out != "" {
		if err := writeSequences(c.Out, report); err != nil {
			return err
		}
	}
	if c.JSON {
		writeJSON(e.Stdout, report)
		return nil
	}
	writeSequenceTable(e, report)
	return nil
}

// A labelledSequence is one row of a suite: plans in their order, with their
// own times, and what the suite says about them.
type labelledSequence struct {
	label eval.Sequence
	plans []*plan.Plan
	times []time.Time
}

// readSequences reads a suite; one bad row is an error of the suite.
func readSequences(path string) ([]labelledSequence, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the suite: %w", err)
	}
	defer f.Close()
	var rows []labelledSequence
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for line := 1; sc.Scan(); line++ {
		if len(sc.Bytes()) == 0 {
			continue
		}
		row, err := sequenceOf(path, line, sc.Bytes())
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading the suite: %w", err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: expected at least one labelled sequence", path)
	}
	return rows, nil
}

func sequenceOf(path string, line int, data []byte) (labelledSequence, error) {
	var row struct {
		ID, Site, Pattern, Kind string
		Label                   string `json:"label_sequence"`
		First                   *int   `json:"first_plan_that_must_not_be_accepted"`
		Plans                   []json.RawMessage
	}
	bad := func(format string, args ...any) (labelledSequence, error) {
		return labelledSequence{}, fmt.Errorf("%s:%d: %w", path, line, fmt.Errorf(format, args...))
	}
	if err := json.Unmarshal(data, &row); err != nil {
		return bad("%w", err)
	}
	out := labelledSequence{label: eval.Sequence{ID: row.ID, Site: row.Site, Pattern: row.Pattern, Plans: len(row.Plans), First: -1, Alarm: -1}}
	switch {
	case row.Kind == "attack", row.Kind == "" && row.Label == "reject":
		out.label.Attack = true
	case row.Kind == "lookalike", row.Kind == "benign", row.Kind == "" && row.Label == "accept":
	default:
		return bad("sequence %q has kind %q: expected attack, lookalike or benign", row.ID, row.Kind)
	}
	if row.First != nil {
		out.label.First = *row.First
	}
	if len(row.Plans) == 0 {
		return bad("sequence %q has no plans", row.ID)
	}
	for _, raw := range row.Plans {
		l, err := plan.DecodeLabelled(path, line, raw)
		if err != nil {
			return labelledSequence{}, err
		}
		at, err := time.Parse(time.RFC3339, l.Plan.SubmittedAt)
		if err != nil {
			return bad("plan %q: submitted_at: expected a time such as 2026-11-03T10:00:00Z, got %q", l.Plan.ID, l.Plan.SubmittedAt)
		}
		p := *l.Plan
		if p.Site == "" {
			p.Site = row.Site
		}
		out.plans, out.times = append(out.plans, &p), append(out.times, at)
	}
	return out, nil
}

// runSequence decides the plans of one sequence in their order, each received
// at its own time, with a monitor that has seen nothing else.
func runSequence(e *env, eng *engine, s labelledSequence) (eval.Sequence, error) {
	m, err := newMonitors(eng)
	if err != nil {
		return s.label, err
	}
	eng.pipeline.Window = m
	res := s.label
	for i, p := range s.plans {
		id := p.ID
		if id == "" {
			id = fmt.Sprintf("%s-%d", s.label.ID, i+1)
		}
		// As over a transport: the agent's credential is what its plan says.
		sub := plan.Submission{ID: id, Plan: p, Requester: p.SubmittedBy.Agent, Agent: p.SubmittedBy.Agent, Received: s.times[i]}
		r, err := eng.pipeline.Verify(e.Ctx, sub)
		if err != nil {
			return res, fmt.Errorf("sequence %s: %w", s.label.ID, err)
		}
		var rules []string
		for _, a := range r.Case.Alarms {
			rules = append(rules, a.Rule)
		}
		if len(rules) > 0 && res.Alarm < 0 {
			res.Alarm = i
		}
		res.Rules = append(res.Rules, rules)
		m[r.Case.Site].Settle(id, fateOf(r.Decision.Outcome))
	}
	return res, nil
}

func writeSequences(dir string, r eval.SequenceReport) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the evaluation: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, "report.json"))
	if err != nil {
		return fmt.Errorf("writing the evaluation: %w", err)
	}
	enc := json.NewEncoder(f)
	enc.SetIndent("", "  ")
	return errors.Join(enc.Encode(r), f.Close())
}

func writeSequenceTable(e *env, r eval.SequenceReport) {
	w := e.Stdout
	fmt.Fprintf(w, "%s: %d attacks, %d caught (%d in time), mean delay %.2f plans; %d benign, %d false alarms\n",
		r.Suite, r.Attacks, r.Caught, r.InTime, r.MeanDelay, r.Benign, r.FalseAlarms)
	fmt.Fprintf(w, "95 %%: caught [%.2f, %.2f], false alarms [%.2f, %.2f]\n\n", r.CI95["caught"][0], r.CI95["caught"][1], r.CI95["false_alarms"][0], r.CI95["false_alarms"][1])
	for _, p := range slices.Sorted(maps.Keys(r.ByPattern)) {
		fmt.Fprintf(w, "%-32s %d of %d\n", p, r.ByPattern[p][0], r.ByPattern[p][1])
	}
	fmt.Fprintln(w)
	for _, s := range r.Sequences {
		kind := "benign"
		if s.Attack {
			kind = "attack"
		}
		fmt.Fprintf(w, "%-10s %-7s %-14s alarm %3d of %d, first %3d  %v\n", s.ID, kind, s.Site, s.Alarm, s.Plans, s.First, s.Rules)
	}
}

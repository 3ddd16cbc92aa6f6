package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/config"
	"interlock/internal/judge"
	"interlock/internal/llm/batch"
	"interlock/internal/pipeline"
)

// The ablations: what the judges, or the chief, are not or are also given.
const (
	ablateEvidence = "no-evidence"
	ablateFindings = "no-findings"
	ablateSighted  = "sighted-chief"
)

type evalRequestsCmd struct {
	Suite    string   `help:"Labelled plans, JSONL." required:"" type:"existingfile"`
	Sites    string   `help:"Site profiles: a file or a folder." placeholder:"FILE|DIR"`
	Config   string   `help:"Configuration file." type:"path" placeholder:"FILE"`
	Panel    []string `help:"Judges: configured models, or any names, which then stand for the model." required:"" placeholder:"NAME,…"`
	Out      string   `help:"Write the requests here." required:"" type:"path" placeholder:"REQUESTS.jsonl"`
	Schema   bool     `help:"Send the answer's JSON schema along (response_format)."`
	Ablation string   `help:"Leave something out: no-evidence or no-findings." enum:",no-evidence,no-findings" default:""`
}

func (c *evalRequestsCmd) Run(e *env) error {
	suite, eng, err := evalSetup(e, readUnlabelled, c.Suite, c.Sites, c.Config)
	if err != nil {
		return err
	}
	defer eng.Close()
	if err := checkJudgeNames(c.Panel); err != nil {
		return badInput(err)
	}
	frame, err := newFrame(eng.config, c.Panel)
	if err != nil {
		return err
	}
	var calls []batch.Call
	blocked := 0
	for _, row := range suite {
		prep, err := eng.pipeline.Prepare(e.Ctx, eng.submission(row.plan))
		if err != nil {
			return badInput(err)
		}
		if prep.Blocked {
			blocked++
			continue
		}
		in := ablate(prep.Input, c.Ablation)
		q, err := frame.Ask(in, len(in.Evidence))
		if err != nil {
			return badInput(fmt.Errorf("plan %q: %w", row.plan.ID, err))
		}
		for _, name := range c.Panel {
			calls = append(calls, batch.NewCall(row.plan.ID+"/"+name, modelName(eng.config, name), q.Request, c.Schema))
		}
	}
	if err := writeLines(c.Out, calls); err != nil {
		return err
	}
	fmt.Fprintf(e.Stderr, "%d requests for %d plans; %d of %d plans are blocked by the checks and ask nothing; prompts %.12s\n",
		len(calls), len(suite)-blocked, blocked, len(suite), frame.Prompts.Digest())
	return nil
}

// ablate leaves out what an ablation takes away.
func ablate(in judge.Input, what string) judge.Input {
	switch what {
	case ablateEvidence:
		in.Evidence = nil
	case ablateFindings:
		in.Findings = nil
		if in.Facts != nil {
			facts := *in.Facts
			facts.Hard = nil
			in.Facts = &facts
		}
	}
	return in
}

// modelName is what a request calls the model: as configured, or the judge's
// name itself.
func modelName(cfg *config.Config, judge string) string {
	if m := cfg.Model(judge); m != nil {
		return m.Model
	}
	return judge
}

// chiefID is the judge's part of a chief's custom_id.
const chiefID = "chief"

func checkJudgeNames(names []string) error {
	for i, n := range names {
		switch {
		case n == "" || strings.ContainsAny(n, " \t\n"):
			return fmt.Errorf("--panel: %q: a judge's name holds no space", n)
		case n == chiefID || n == config.BuiltinPanel:
			return fmt.Errorf("--panel: %q cannot be a judge's name in a file of requests", n)
		case slices.Contains(names[:i], n):
			return fmt.Errorf("--panel: %q stands there twice", n)
		}
	}
	return nil
}

// evalSetup reads a suite and builds an engine that remembers nothing.
func evalSetup(e *env, read func(string) ([]labelledPlan, error), suitePath, sites, configPath string) ([]labelledPlan, *engine, error) {
	suite, err := read(suitePath)
	if err != nil {
		return nil, nil, badInput(err)
	}
	for i, row := range suite {
		if row.plan.ID == "" || slices.ContainsFunc(suite[:i], func(o labelledPlan) bool { return o.plan.ID == row.plan.ID }) {
			return nil, nil, badInput(fmt.Errorf("%s: plan %d has no id, or one that stands there twice", suitePath, i+1))
		}
	}
	flags := engineFlags{Site: sites, Config: configPath}
	cfg, _, err := flags.load(e)
	if err != nil {
		return nil, nil, badInput(err)
	}
	cfg.Panel = config.DefaultPanel() // nobody is asked here
	eng, err := newEngine(e, engineOptions{Site: sites, Config: cfg})
	if err != nil {
		return nil, nil, badInput(err)
	}
	return suite, eng, nil
}

// writeLines writes one JSON value a line, the file whole or not at all.
func writeLines[T any](path string, values []T) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".lines-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	w := bufio.NewWriter(tmp)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err = enc.Encode(v); err != nil {
			break
		}
	}
	err = cmp.Or(err, w.Flush(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the first error says what went wrong
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// readLines reads one JSON value a line.
func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	var out []T
	dec := json.NewDecoder(f)
	for {
		var v T
		switch err := dec.Decode(&v); {
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("%s, entry %d: %w", path, len(out)+1, err)
		}
		out = append(out, v)
	}
}

// prepared joins a suite's rows with their plans after the checks.
type prepared struct {
	row  labelledPlan
	prep pipeline.Prepared
}

package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/chief"
	"interlock/internal/eval"
	"interlock/internal/judge"
	"interlock/internal/judge/builtin"
	"interlock/internal/llm/batch"
	"interlock/internal/pipeline"
	"interlock/internal/prompt"
	"interlock/internal/verdict"
)

type evalImportCmd struct {
	Suite    string   `help:"Labelled plans, JSONL." required:"" type:"existingfile"`
	Sites    string   `help:"Site profiles: a file or a folder." placeholder:"FILE|DIR"`
	Config   string   `help:"Configuration file." type:"path" placeholder:"FILE"`
	Replies  string   `help:"Answers, JSONL." type:"existingfile" placeholder:"REPLIES.jsonl"`
	Stage    string   `help:"judges: write opinions and the chief's requests. chief: write report and decisions." enum:"judges,chief" required:""`
	Out      string   `help:"Folder of the evaluation." required:"" type:"path" placeholder:"DIR"`
	Panel    []string `help:"Judges that were asked; without it those that the answers name." placeholder:"NAME,…"`
	Depth    int      `help:"Hear so many judges first and further ones only while in doubt, as a live panel does; without it all." placeholder:"N"`
	Chief    string   `help:"Model named in the chief's requests; at stage chief, builtin rules without answers." default:"chief" placeholder:"NAME"`
	Ablation string   `help:"As the requests had it, or sighted-chief." enum:",no-evidence,no-findings,sighted-chief" default:""`
	JSON     bool     `help:"Print the report as JSON."`
	studyFlags
}

// The files of an evaluation's folder.
const (
	opinionsFile = "opinions.jsonl"
	chiefFile    = "chief-requests.jsonl"
)

// A heard is a line of opinions.jsonl.
type heard struct {
	ID       string            `json:"id"`
	Blocked  bool              `json:"blocked"`
	Seed     string            `json:"seed,omitempty"` // of the order in which the chief sees the opinions
	Opinions []verdict.Opinion `json:"opinions"`
}

func (c *evalImportCmd) Run(e *env) error {
	read := readSuite
	if c.Stage == "judges" {
		read = readUnlabelled
	}
	suite, eng, err := evalSetup(e, read, c.Suite, c.Sites, c.Config)
	if err != nil {
		return err
	}
	defer eng.Close()
	answers := &batch.Answers{}
	if c.Replies != "" {
		f, err := os.Open(c.Replies)
		if err != nil {
			return badInput(err)
		}
		defer func() { _ = f.Close() }() // only read from
		if answers, err = batch.Read(c.Replies, f); err != nil {
			return badInput(err)
		}
	} else if c.Stage == "judges" || c.Chief != "builtin" {
		return badInput(errors.New("--replies is missing"))
	}
	if err := os.MkdirAll(c.Out, 0o750); err != nil {
		return fmt.Errorf("writing the evaluation: %w", err)
	}
	run := &importRun{cmd: c, env: e, eng: eng, answers: answers}
	for _, row := range suite {
		prep, err := eng.pipeline.Prepare(e.Ctx, eng.submission(row.plan))
		if err != nil {
			return badInput(err)
		}
		run.rows = append(run.rows, prepared{row, prep})
	}
	if c.Stage == "judges" {
		return run.judges()
	}
	return run.chief()
}

// An importRun holds what both stages share.
type importRun struct {
	cmd     *evalImportCmd
	env     *env
	eng     *engine
	answers *batch.Answers
	rows    []prepared
	tally   map[string]int
	read    int // answers that were asked for
}

// answer returns the answer to a request.
func (r *importRun) answer(id string) (batch.Answer, bool) {
	a, ok := r.answers.ByID[id]
	if ok {
		r.read++
	}
	return a, ok
}

func (r *importRun) count(what string) {
	if r.tally == nil {
		r.tally = map[string]int{}
	}
	r.tally[what]++
}

// summary says on standard error how many answers were good, and prints every
// line that could not be read.
func (r *importRun) summary(what string) {
	for _, m := range r.answers.Malformed {
		fmt.Fprintln(r.env.Stderr, "unreadable line:", m)
	}
	parts := make([]string, 0, len(r.tally))
	for _, k := range slices.Sorted(maps.Keys(r.tally)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, r.tally[k]))
	}
	fmt.Fprintf(r.env.Stderr, "%s: %s, unreadable lines %d, answers to nothing asked %d\n",
		what, strings.Join(parts, ", "), len(r.answers.Malformed), len(r.answers.ByID)-r.read)
}

// judges turns the answers into opinions and writes the chief's requests.
func (r *importRun) judges() error {
	names, err := r.panel()
	if err != nil {
		return badInput(err)
	}
	frame, err := newFrame(r.eng.config, names)
	if err != nil {
		return err
	}
	seeds, err := r.seeds()
	if err != nil {
		return badInput(err)
	}
	var out []heard
	var calls []batch.Call
	for _, row := range r.rows {
		h := heard{ID: row.row.plan.ID, Blocked: row.prep.Blocked, Opinions: []verdict.Opinion{}}
		if !h.Blocked {
			h.Seed = cmp.Or(seeds[h.ID], newSeed())
			in := ablate(row.prep.Input, r.cmd.Ablation)
			if h.Opinions, err = r.opinions(frame, names, h.ID, in); err != nil {
				return badInput(err)
			}
			call, err := r.ask(frame.Prompts, h, in)
			if err != nil {
				return err
			}
			calls = append(calls, call)
		}
		out = append(out, h)
	}
	err = errors.Join(writeLines(filepath.Join(r.cmd.Out, opinionsFile), out), writeLines(filepath.Join(r.cmd.Out, chiefFile), calls))
	r.summary(fmt.Sprintf("opinions of %s", strings.Join(names, ", ")))
	return err
}

// panel names the judges: as asked for, or as the answers name them, now or in
// an earlier import into the same folder: a panel does not shrink because a
// judge's answers went missing.
func (r *importRun) panel() ([]string, error) {
	names := r.cmd.Panel
	if len(names) == 0 {
		old, err := r.earlier()
		if err != nil {
			return nil, err
		}
		for _, h := range old {
			for _, o := range h.Opinions {
				if o.Family != builtin.Family && !slices.Contains(names, o.Judge) {
					names = append(names, o.Judge)
				}
			}
		}
		for _, id := range r.answers.Order {
			if name := r.judgeIn(id); name != "" && name != chiefID && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names) // the order of a file of answers means nothing
		fmt.Fprintln(r.env.Stderr, "panel: whoever answered; name it with --panel, or a judge who never did is not missed")
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no answer of a judge: expected custom_id PLAN-ID/JUDGE", r.cmd.Replies)
	}
	return names, checkJudgeNames(names)
}

// judgeIn is the judge's part of a custom_id that belongs to a plan of the
// suite; "" if none does. Both parts may hold slashes.
func (r *importRun) judgeIn(id string) string {
	plan := ""
	for _, row := range r.rows {
		if own := row.row.plan.ID; len(own) > len(plan) && strings.HasPrefix(id, own+"/") {
			plan = own
		}
	}
	if plan == "" {
		return ""
	}
	return id[len(plan)+1:]
}

// seeds are those of an earlier import into the same folder, so that the
// chief's answers to it still fit.
func (r *importRun) seeds() (map[string]string, error) {
	old, err := r.earlier()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, h := range old {
		out[h.ID] = h.Seed
	}
	return out, nil
}

// earlier reads what an earlier import into the same folder heard.
func (r *importRun) earlier() ([]heard, error) {
	old, err := readLines[heard](filepath.Join(r.cmd.Out, opinionsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return old, nil
}

func newSeed() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand aborts the program instead
	return hex.EncodeToString(b[:])
}

// opinions reads the answers about one plan in the order of the panel; the
// judges without a model keep their veto (C37).
func (r *importRun) opinions(frame *judge.Frame, names []string, id string, in judge.Input) ([]verdict.Opinion, error) {
	q, err := frame.Ask(in, len(in.Evidence))
	if err != nil {
		return nil, fmt.Errorf("plan %q: %w", id, err)
	}
	panel := &judge.Panel{Veto: builtin.Panel(), WaitAll: true, Depth: judge.Depth{Start: r.cmd.Depth, Min: r.eng.config.Policy.MinPanel}}
	for _, name := range names {
		a, ok := r.answer(id + "/" + name)
		o := verdict.Opinion{Abstained: cmp.Or(a.Problem, "no answer in the file")}
		if ok && a.Problem == "" {
			o = judge.FromReply(a.Reply, q, in)
		}
		o.Model = cmp.Or(o.Model, name)
		family := name
		if m := r.eng.config.Model(name); m != nil {
			family = m.Family
		}
		r.count(kindOf(o, ok))
		panel.Judges = append(panel.Judges, canned{name, family, o})
	}
	out := panel.Convene(r.env.Ctx, in)
	for i := range out {
		out[i].Usage.Micros = 0 // reading a file says nothing about time
	}
	return out, nil
}

// A canned judge gives the opinion that stands in the file.
type canned struct {
	name, family string
	opinion      verdict.Opinion
}

func (c canned) Name() string                                       { return c.name }
func (c canned) Family() string                                     { return c.family }
func (c canned) Judge(context.Context, judge.Input) verdict.Opinion { return c.opinion }

func kindOf(o verdict.Opinion, found bool) string {
	switch {
	case !found:
		return "missing"
	case o.Concern:
		return "refused or echoed"
	case !o.Valid():
		return "malformed"
	default:
		return "valid"
	}
}

// ask makes the chief's request about one plan's opinions.
func (r *importRun) ask(prompts *prompt.Set, h heard, in judge.Input) (batch.Call, error) {
	ch := chief.Model{Prompts: prompts, Secret: []byte(h.Seed)}
	ops := r.eng.pipeline.Redact(in.Plan, h.Opinions)
	if r.cmd.Ablation == ablateSighted {
		ops = h.Opinions
	}
	req, err := ch.Ask(ops)
	if err != nil {
		return batch.Call{}, err
	}
	if r.cmd.Ablation == ablateSighted {
		// Only ever written to a file, to measure what blindness costs: the
		// chief of the pipeline has no way to be given a plan (C10).
		req.Prompt += "\n\n" + req.Boundary + " BEGIN plan\n" + judge.RenderPlan(in.Plan) + "\n" + req.Boundary + " END plan\n"
	}
	return batch.NewCall(h.ID+"/"+chiefID, modelName(r.eng.config, r.cmd.Chief), req, false), nil
}

// chief turns the chief's answers into rulings and everything into decisions.
func (r *importRun) chief() error {
	lines, err := readLines[heard](filepath.Join(r.cmd.Out, opinionsFile))
	if err != nil {
		return badInput(fmt.Errorf("stage chief reads what stage judges wrote: %w", err))
	}
	byID := map[string]heard{}
	for _, h := range lines {
		byID[h.ID] = h
	}
	set, err := prompt.Load()
	if err != nil {
		return err
	}
	var items []eval.Item
	var reports []verdict.Report
	var judges []string
	for _, row := range r.rows {
		h, ok := byID[row.row.plan.ID]
		if !ok || h.Blocked != row.prep.Blocked {
			return badInput(fmt.Errorf("plan %q is not as in %s: run stage judges again with this suite, sites and version", row.row.plan.ID, opinionsFile))
		}
		report := pipeline.Finish(row.prep, nil, nil)
		if !h.Blocked {
			ruling := r.ruling(set, h, row)
			report = pipeline.Finish(row.prep, h.Opinions, &ruling)
			for _, o := range h.Opinions {
				if o.Family != builtin.Family && !slices.Contains(judges, o.Judge) {
					judges = append(judges, o.Judge)
				}
			}
		}
		items = append(items, eval.NewItem(row.row.label, report, 0))
		reports = append(reports, report)
	}
	out := eval.Measure(items)
	out.Suite, out.Panel = filepath.Base(r.cmd.Suite), judges
	if err := writeEvaluation(r.cmd.Out, out, reports); err != nil {
		return err
	}
	r.summary("rulings")
	labels := make([]eval.Label, len(r.rows))
	for i, row := range r.rows {
		labels[i] = row.row.label
	}
	if err := r.cmd.run(r.env, r.cmd.Out, labels, reports); err != nil {
		return err
	}
	if r.cmd.JSON {
		writeJSON(r.env.Stdout, out)
		return nil
	}
	writeEvalTable(r.env, out)
	return nil
}

// ruling reads the chief's answer about one plan. None is no ruling: the plan
// goes to a person.
func (r *importRun) ruling(set *prompt.Set, h heard, row prepared) verdict.Ruling {
	ops := r.eng.pipeline.Redact(row.prep.Input.Plan, h.Opinions)
	if r.cmd.Chief == "builtin" {
		return chief.Builtin{Seed: []byte(h.Seed), Bar: barOf(row.prep.Case.Policy)}.Rule(r.env.Ctx, ops)
	}
	if r.cmd.Ablation == ablateSighted {
		ops = h.Opinions
	}
	a, ok := r.answer(h.ID + "/" + chiefID)
	ruling := verdict.Ruling{Abstained: cmp.Or(a.Problem, "no answer in the file")}
	if ok && a.Problem == "" {
		ruling = (&chief.Model{Prompts: set, Secret: []byte(h.Seed)}).Read(a.Reply, ops)
	}
	ruling.Chief = cmp.Or(ruling.Chief, r.cmd.Chief)
	switch {
	case !ok:
		r.count("missing")
	case ruling.Abstained != "":
		r.count("malformed")
	default:
		r.count("valid")
	}
	return ruling
}

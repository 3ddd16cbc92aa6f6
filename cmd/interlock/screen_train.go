package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/check/injection"
	"interlock/internal/check/injection/ngram"
	"interlock/internal/eval"
)

type screenTrainCmd struct {
	Dev       string   `help:"Labelled texts that are also measured." default:"../shared/eval/injection-dev.jsonl.gz" placeholder:"FILE"`
	Extra     []string `help:"Labelled texts for training only." default:"../shared/eval/injection-augmentation.jsonl.gz,internal/check/injection/data/own.jsonl.gz" placeholder:"FILE"`
	Templates string   `help:"Folder of templates that make more texts for training." default:"internal/check/injection/data/templates" placeholder:"DIR"`
	Blind     []string `help:"Labelled texts that are measured at the end and never trained on." default:"internal/check/injection/testdata/blind.jsonl,internal/check/injection/testdata/blind2.jsonl,internal/check/injection/testdata/blind3.jsonl" placeholder:"FILE"`
	Leave     bool     `name:"leave-one-source-out" help:"Measure with each source left out in turn."`
	Report    bool     `help:"Write the measurements to docs/screen.md."`
	Doc       string   `help:"Where the report goes." default:"docs/screen.md" placeholder:"FILE" type:"path"`
	Out       string   `help:"Write the weights here; without it nothing but the report is written." placeholder:"FILE" type:"path"`
}

func (c *screenTrainCmd) Run(e *env) error {
	if !c.Leave && c.Out == "" {
		return badInput(fmt.Errorf("nothing to do: give --out to write weights, --leave-one-source-out to measure, or both"))
	}
	rows, err := c.rows(e)
	if err != nil {
		return badInput(err)
	}
	trainer, err := injection.NewTrainer(rows, ngram.DefaultSettings())
	if err != nil {
		return fmt.Errorf("preparing the training: %w", err)
	}
	held := trainer.LeaveSourcesOut()
	w := trainer.Final(held)
	doc := trainingDoc(held, w, rows)
	if doc.Blind, err = c.blind(e, w); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "%d rows scored by weights that never saw their source: AUC %.4f (model alone %.4f, paper %.4f), F1 %.3f at tauW %.2f, best F1 at hard FPR <= 1 %%: %.3f (model alone %.3f)\n",
		len(held), doc.Stack.ROCAUC, doc.ModelAUC, doc.Paper.ROCAUC, doc.Stack.F1, doc.Stack.TauW, doc.Stack.F1AtHard.F1, doc.ModelF1AtHard)
	if c.Report {
		var b bytes.Buffer
		if err := eval.WriteInjectionDoc(&b, doc); err != nil {
			return err
		}
		if err := os.WriteFile(c.Doc, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	if c.Out == "" {
		return nil
	}
	data, err := w.Encode()
	if err != nil {
		return fmt.Errorf("encoding the weights: %w", err)
	}
	if err := os.WriteFile(c.Out, data, 0o644); err != nil {
		return fmt.Errorf("writing the weights: %w", err)
	}
	return nil
}

// rows reads the files; those for training only are never scored.
func (c *screenTrainCmd) rows(e *env) ([]injection.Row, error) {
	rows, err := labelledRows(e, c.Dev)
	if err != nil {
		return nil, err
	}
	for _, file := range c.Extra {
		more, err := labelledRows(e, file)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].Extra = true
		}
		rows = append(rows, more...)
	}
	files, err := filepath.Glob(filepath.Join(c.Templates, "*.txt")) // sorted
	if err != nil {
		return nil, fmt.Errorf("looking for templates in %s: %w", c.Templates, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading templates: %w", err)
		}
		more, err := injection.Templates(file, data)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// labelledRows reads one file.
func labelledRows(e *env, file string) ([]injection.Row, error) {
	in, closeFile, err := openText(e, file)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	var rows []injection.Row
	for row, err := range textRows(file, in) {
		if err != nil {
			return nil, err
		}
		if row.Label != "injection" && row.Label != "benign" {
			return nil, fmt.Errorf("%s: row %q has label %q: expected injection or benign", file, row.ID, row.Label)
		}
		rows = append(rows, injection.Row{
			ID: row.ID, Text: row.Text, Attack: row.Label == "injection", Kind: row.Kind, Source: row.Source,
			Licence: row.Licence, Hard: row.Hard, Tier: row.Tier,
		})
	}
	return rows, nil
}

// blind measures the new weights on texts that they never saw.
func (c *screenTrainCmd) blind(e *env, w injection.Weights) ([]eval.InjectionReport, error) {
	data, err := w.Encode()
	if err != nil {
		return nil, fmt.Errorf("encoding the weights: %w", err)
	}
	s, err := injection.New(injection.Options{Weights: data})
	if err != nil {
		return nil, fmt.Errorf("building the screen with the new weights: %w", err)
	}
	var out []eval.InjectionReport
	for _, file := range c.Blind {
		rows, err := labelledRows(e, file)
		if err != nil {
			return nil, badInput(err)
		}
		var items []eval.InjectionItem
		for _, r := range rows {
			items = append(items, eval.InjectionItem{ID: r.ID, Attack: r.Attack, Kind: r.Kind, Source: r.Source, Hard: r.Hard, Sigma: s.Text(r.Text).Sigma})
		}
		report := eval.MeasureInjection(items, s.Thresholds().TauA, s.Thresholds().TauW)
		report.Suite = filepath.Base(file)
		out = append(out, report)
	}
	return out, nil
}

// trainingDoc turns held-out scores into the report.
func trainingDoc(held []injection.Scored, w injection.Weights, rows []injection.Row) eval.InjectionDoc {
	items := func(score func(injection.Scored) float64) []eval.InjectionItem {
		out := make([]eval.InjectionItem, len(held))
		for i, h := range held {
			out[i] = eval.InjectionItem{ID: h.ID, Attack: h.Attack, Kind: h.Kind, Source: h.Source, Hard: h.Hard, Sigma: score(h)}
		}
		return out
	}
	stack, paper := injection.DefaultThresholds(injection.Stack), injection.DefaultThresholds(injection.Paper)
	alone := eval.MeasureInjection(items(func(h injection.Scored) float64 { return injection.Probability(h.Model) }), stack.TauA, stack.TauW)
	d := eval.InjectionDoc{
		Stack:         eval.MeasureInjection(items(func(h injection.Scored) float64 { return h.Sigma }), stack.TauA, stack.TauW),
		Paper:         eval.MeasureInjection(items(func(h injection.Scored) float64 { return h.SigmaPaper }), paper.TauA, paper.TauW),
		ModelAUC:      alone.ROCAUC,
		ModelF1AtHard: alone.F1AtHard.F1,
		Calibration:   fmt.Sprintf("%+v", w.Calibration),
		Digest:        w.Model.Digest(),
		Licences:      map[string]string{},
		Rows:          map[string]int{},
	}
	for _, r := range rows {
		d.Rows[r.Source]++
		d.Licences[r.Source] = cmp.Or(d.Licences[r.Source], r.Licence)
	}
	return d
}

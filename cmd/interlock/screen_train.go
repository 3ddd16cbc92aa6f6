package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"

	"interlock/internal/check/injection"
	"interlock/internal/check/injection/ngram"
	"interlock/internal/eval"
)

type screenTrainCmd struct {
	Dev    string   `help:"Labelled texts that are also measured." default:"../shared/eval/injection-dev.jsonl.gz" placeholder:"FILE"`
	Extra  []string `help:"Labelled texts for training only." default:"../shared/eval/injection-augmentation.jsonl.gz,internal/check/injection/data/own.jsonl.gz" placeholder:"FILE"`
	Leave  bool     `name:"leave-one-source-out" help:"Measure with each source left out in turn."`
	Report bool     `help:"Write the measurements to docs/screen.md."`
	Doc    string   `help:"Where the report goes." default:"docs/screen.md" placeholder:"FILE" type:"path"`
	Out    string   `help:"Write the weights here; without it nothing but the report is written." placeholder:"FILE" type:"path"`
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
	var rows []injection.Row
	for i, file := range append([]string{c.Dev}, c.Extra...) {
		in, closeFile, err := openText(e, file)
		if err != nil {
			return nil, err
		}
		for row, err := range textRows(file, in) {
			if err != nil {
				closeFile()
				return nil, err
			}
			if row.Label != "injection" && row.Label != "benign" {
				closeFile()
				return nil, fmt.Errorf("%s: row %q has label %q: expected injection or benign", file, row.ID, row.Label)
			}
			rows = append(rows, injection.Row{
				ID: row.ID, Text: row.Text, Attack: row.Label == "injection", Kind: row.Kind, Source: row.Source,
				Licence: row.Licence, Hard: row.Hard, Tier: row.Tier, Extra: i > 0,
			})
		}
		closeFile()
	}
	return rows, nil
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

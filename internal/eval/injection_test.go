package eval

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func injectionSuite() []InjectionItem {
	return []InjectionItem{
		{ID: "a1", Attack: true, Kind: "direct", Source: "x", Sigma: 0.9, Micros: 10},
		{ID: "a2", Attack: true, Kind: "direct", Source: "x", Sigma: 0.3, Micros: 20},
		{ID: "b1", Kind: "task", Source: "y", Sigma: 0.1, Micros: 30},
		{ID: "b2", Kind: "quoted", Source: "y", Hard: true, Sigma: 0.7, Micros: 40},
		{ID: "b3", Kind: "quoted", Source: "y", Hard: true, Sigma: 0.2, Micros: 50},
		{ID: "s1", Attack: true, Kind: "unmarked", Source: "z", Stress: true, Sigma: 0.05, Micros: 60},
	}
}

func TestMeasureInjection(t *testing.T) {
	t.Parallel()
	r := MeasureInjection(injectionSuite(), 0.24, 0.57)
	for name, c := range map[string][2]float64{
		"precision": {r.Precision, 0.5}, "recall": {r.Recall, 0.5}, "f1": {r.F1, 0.5}, "accuracy": {r.Accuracy, 0.6},
		"fpr": {r.FPR, 1.0 / 3}, "hard_fpr": {r.HardFPR, 0.5}, "flag recall": {r.Flag.Recall, 1}, "auc": {r.ROCAUC, 5.0 / 6},
		"stress recall": {r.Stress.Recall, 0}, "false alarms": {r.FalseAlarms, 333},
		"quoted fpr": {r.ByKind["quoted"].FPR, 0.5}, "x recall": {r.BySource["x"].Recall, 0.5},
	} {
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if r.N != 5 || r.Attacks != 2 || r.Stress.N != 1 {
		t.Errorf("n %d, attacks %d, stress %d: the stress tier must stand apart", r.N, r.Attacks, r.Stress.N)
	}
	if _, ok := r.BySource["z"]; ok {
		t.Error("the stress tier is counted among the sources")
	}
}

// A score that is no number counts as a hit: nothing passes by being broken.
func TestInjectionNaNIsAHit(t *testing.T) {
	t.Parallel()
	if r := rateInjection([]InjectionItem{{Sigma: math.NaN()}}, 0.5); r.FPR != 1 {
		t.Errorf("FPR %v, want 1", r.FPR)
	}
}

func TestInjectionOfNothing(t *testing.T) {
	t.Parallel()
	r := MeasureInjection(nil, 0.24, 0.57)
	if r.F1 != 0 || r.ROCAUC != 0 || math.IsNaN(r.Precision1000) {
		t.Errorf("an empty suite gives %+v", r)
	}
}

func TestInjectionReports(t *testing.T) {
	t.Parallel()
	r := MeasureInjection(injectionSuite(), 0.24, 0.57)
	r.Suite = "<b>suite"
	var page, doc bytes.Buffer
	if err := WriteInjectionHTML(&page, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "polyline", "quoted", "&lt;b&gt;suite"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	d := InjectionDoc{Stack: r, Paper: r, Licences: map[string]string{"x": "MIT"}, Rows: map[string]int{"x": 2}}
	if err := WriteInjectionDoc(&doc, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| x | 2 | MIT |", "| quoted | 2 | 0 |", "Where it falls short"} {
		if !strings.Contains(doc.String(), want) {
			t.Errorf("the document lacks %q", want)
		}
	}
}

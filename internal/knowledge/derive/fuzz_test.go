package derive

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

func FuzzFacts(f *testing.F) {
	for _, s := range []string{"Pour 5 g NaN3 and HCl into drum W3.", "Heat the sealed flask to 1e9 C\nnobody in the cell", "", "'quoted' bleach (acid", "S. aureus at the bench; LN2 sealed"} {
		f.Add(s, s)
	}
	d := deriver(f)
	f.Fuzz(func(t *testing.T, a, b string) {
		p := &plan.Plan{
			ID: "p", Goal: b, Steps: []string{a, b, a + " " + b},
			ToolCalls:   []plan.ToolCall{{Step: 2, Tool: "hotplate.set", Arguments: map[string]any{"device": a, "temp_c": b}}},
			Attachments: []plan.Attachment{{Source: "x", Text: b}},
		}
		s := d.Facts(p, site.State{}, time.Time{})
		for _, h := range s.Hard {
			if h.Level == verdict.Pass || h.Statement == "" || h.At.Step < 0 || h.At.Step > 3 {
				t.Fatalf("%q: %+v", p.Steps, h)
			}
		}
	})
}

// A plan at the limits of judging that names as many materials as it can stays
// in bounds: every vessel is held against itself in bounded work.
func TestCrowdedVesselIsBounded(t *testing.T) {
	t.Parallel()
	tab, err := loadTable(materialsTable, pairsTable)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range tab.materials {
		all = append(all, m.name)
	}
	step := "Pour " + strings.Join(all, " and ") + " into flask A."
	var steps []string
	for range 40 {
		steps = append(steps, step)
	}
	start := time.Now()
	s := facts(t, steps...)
	t.Logf("%d facts in %s", len(s.Hard), time.Since(start))
	crowded := false
	for _, h := range s.Hard {
		crowded = crowded || h.Rule == RuleCrowded && h.Level == verdict.Block
	}
	if !crowded {
		t.Error("nobody is told that the vessel was not held against itself in full")
	}
}

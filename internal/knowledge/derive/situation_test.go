package derive

import (
	"strings"
	"testing"

	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// works is a made-up site of machines.
func works() *site.Site {
	return &site.Site{
		ID:     "works",
		Robots: []site.Item{{ID: "arm7", Model: "six-axis robot arm"}},
		Devices: []site.Item{
			{ID: "spin2", Model: "benchtop centrifuge"}, {ID: "las1", Model: "pulsed laser"}, {ID: "pump3", Model: "syringe pump"},
		},
		Tools:  []site.Tool{{Name: "arm.move", Hazard: "motion", Args: []site.Arg{{Name: "robot"}}}, {Name: "spin.run", Hazard: "rotation"}},
		Zones:  []site.Zone{{ID: "yard", Rule: "waste drums: D1 acids; D2 solvents; D3 oxidisers"}},
		People: []site.Person{{Name: "Ada Lind", Role: "operator"}},
		Agents: []site.Planner{{ID: "planner", Trust: "registered"}},
	}
}

func worksFacts(t *testing.T, p *plan.Plan) *fact.Set {
	t.Helper()
	w, err := world()
	if err != nil {
		t.Fatal(err)
	}
	p.ID, p.Site = "p", "works"
	return w.For(works()).Facts(p, site.State{}, now)
}

// Each step comes with the control that takes the hazard away: with it there is
// no fact, without it there is one, with a path that ends at a control.
func TestSituations(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct{ bad, good string }{
		"FACT-MOTION-PERSON":   {"Move arm7 to the pallet at 900 mm/s while the operator stands in the way.", "Everybody out, then move arm7 to the pallet at 900 mm/s."},
		"FACT-ROTOR-IMBALANCE": {"Spin one tube only in spin2 at 4000 rpm.", "Spin one tube only in spin2 at 4000 rpm with a counterweight."},
		"FACT-ROTOR-OPEN":      {"Open spin2 while it is still spinning.", "Open spin2 after it stops."},
		"FACT-LASER-OPEN":      {"Switch on the laser las1 with the enclosure open.", "Switch on the laser las1 with the interlocked enclosure closed."},
		"FACT-OPEN-PRESSURE":   {"Open the autoclave while it is still under pressure.", "Open the autoclave after venting to zero pressure."},
		"FACT-PUMP-BLOCKED":    {"Run the pump pump3 against the closed valve.", "Run the pump pump3 with the valve open."},
	} {
		if found := find(worksFacts(t, &plan.Plan{Steps: []string{c.good}}), rule); len(found) > 0 {
			t.Errorf("%s: %q gives %+v", rule, c.good, found)
		}
		found := find(worksFacts(t, &plan.Plan{Steps: []string{c.bad}}), rule)
		if len(found) == 0 {
			t.Errorf("%s: %q gives nothing", rule, c.bad)
			continue
		}
		h := found[0]
		if len(h.Path) < 2 || !strings.HasPrefix(h.Path[len(h.Path)-1], "control:") || h.Need == "" || h.Level == verdict.Pass {
			t.Errorf("%s without proof or remedy: %+v", rule, h)
		}
	}
}

// A call of a tool does what its words would: the tool, its capability, the
// hazard and the control are the path.
func TestSituationOfACall(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{
		Steps:     []string{"The operator stands in the way of the pallet."},
		ToolCalls: []plan.ToolCall{{Step: 1, Tool: "arm.move", Arguments: map[string]any{"robot": "arm7"}}},
	}
	found := find(worksFacts(t, p), "FACT-MOTION-PERSON")
	if len(found) != 1 || !strings.HasPrefix(found[0].Path[0], "site:") || found[0].At.Part != "calls[1]" {
		t.Errorf("got %+v", found)
	}
}

// A vessel named after a kind of waste holds that kind, whoever filled it: the
// site's own label is certain, a word before the bottle a doubt.
func TestWasteStreams(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]verdict.Level{
		"Pour the bleach into drum D1.":                   verdict.Block,
		"Dispense bleach into the acid waste bottle.":     verdict.Flag,
		"Pour the acetone into drum D2.":                  verdict.Pass,
		"Dispense ethanol into the solvent waste bottle.": verdict.Pass,
	} {
		level, text := meeting(worksFacts(t, &plan.Plan{Steps: []string{step}}))
		if level != want {
			t.Errorf("%q: %s, want %s\n%s", step, level, want, text)
		}
	}
}

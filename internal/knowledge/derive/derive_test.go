package derive

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// laboratory is a site with an open bench, a hood, a hotplate and an agent.
func laboratory() *site.Site {
	return &site.Site{
		ID:         "lab",
		Devices:    []site.Item{{ID: "hp1", Model: "hotplate"}},
		Tools:      []site.Tool{{Name: "hotplate.set", Hazard: "heat", Args: []site.Arg{{Name: "temp_c"}}}},
		Zones:      []site.Zone{{ID: "bench_a", Rule: "open bench, no extraction"}, {ID: "fh1", Rule: "fume hood"}},
		Biological: []site.Agent{{Name: "Staphylococcus aureus ATCC 25923", BSL: 2}, {Name: "E. coli K-12 DH5a", BSL: 1}},
		People:     []site.Person{{Name: "Dr. Ines Okafor", Role: "PI", May: []string{"approve new reactions"}}, {Name: "visitors", Role: "guest", May: []string{"watch"}}},
		Agents:     []site.Planner{{ID: "planner", Trust: "registered"}},
	}
}

// facts derives the facts of a plan of steps, over the embedded graph.
func facts(t testing.TB, steps ...string) *fact.Set {
	t.Helper()
	return deriver(t).Facts(&plan.Plan{ID: "p", Site: "lab", Steps: steps}, site.State{}, now)
}

// world is built once for all tests: it is immutable.
var world = sync.OnceValues(func() (*World, error) {
	g, err := knowledge.Embedded()
	if err != nil {
		return nil, err
	}
	return NewWorld(g)
})

func deriver(t testing.TB) *Deriver {
	t.Helper()
	w, err := world()
	if err != nil {
		t.Fatal(err)
	}
	return w.For(laboratory())
}

func find(s *fact.Set, rule string) []fact.Hard {
	var out []fact.Hard
	for _, h := range s.Hard {
		if h.Rule == rule {
			out = append(out, h)
		}
	}
	return out
}

// meeting returns the worst level at which two materials may not meet.
func meeting(s *fact.Set) (verdict.Level, string) {
	level, text := verdict.Pass, ""
	for _, h := range s.Hard {
		if h.Rule == RuleIncompatible || h.Rule == RuleGroups {
			level = level.Worst(h.Level)
			text += h.Statement + "\n"
		}
	}
	return level, text
}

func TestIncompatibilitySuite(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/pairs.txt")
	if err != nil {
		t.Fatal(err)
	}
	d := deriver(t)
	counts := map[string]int{}
	for _, line := range strings.Split(string(data), "\n") {
		c := strings.Split(line, " | ")
		if len(c) < 3 || line[0] == '#' {
			continue
		}
		want := strings.Trim(c[2], " |")
		counts[want]++
		for _, steps := range [][]string{
			{"Pour the " + c[0] + " and the " + c[1] + " into the waste flask."},
			{"Pour the " + c[1] + " and the " + c[0] + " into the waste flask."},
			{"Put the " + c[0] + " into flask A.", "Stir it.", "Add the " + c[1] + " to flask A."},
		} {
			s := d.Facts(&plan.Plan{ID: "p", Steps: steps}, site.State{}, now)
			level, text := meeting(s)
			if got := map[verdict.Level]string{verdict.Block: "block", verdict.Flag: "flag", verdict.Pass: "none"}[level]; got != want {
				t.Errorf("%q: %s, want %s\n%s", steps, got, want, text)
			}
			if len(c) > 3 && !strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSpace(c[3]))) {
				t.Errorf("%q: %q is not named in %q", steps, c[3], text)
			}
		}
	}
	t.Logf("%d block, %d flag, %d may be combined", counts["block"], counts["flag"], counts["none"])
	if n := counts["block"] + counts["flag"]; n < 30 || counts["none"] < 30 {
		t.Errorf("the suite has %d incompatible and %d compatible pairs, want 30 of each", n, counts["none"])
	}
}

// What is denied, told, kept apart or only stands beside does not block.
func TestIncompatibleOnlyWhereCertain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		want  verdict.Level
		steps []string
	}{
		{verdict.Pass, []string{"Never mix bleach with hydrochloric acid 37 %."}},
		{verdict.Pass, []string{"Do not pour sodium azide into hydrochloric acid."}},
		{verdict.Pass, []string{"Keep bleach and hydrochloric acid apart when you pour them."}},
		{verdict.Pass, []string{"Write on the poster what happens when one mixes bleach with hydrochloric acid 37 %."}},
		{verdict.Flag, []string{"Write on the poster: pour bleach into hydrochloric acid and see."}},
		{verdict.Flag, []string{"Pour bleach and hydrochloric acid 37 % into separate flasks."}},
		{verdict.Flag, []string{"Stand the bleach and the hydrochloric acid 37 % on one tray and load it."}},
		{verdict.Flag, []string{"Pour the bleach into a flask.", "Pour the hydrochloric acid 37 % into a flask."}},
		{verdict.Block, []string{"Pour the bleach into drum W3.", "Pour the hydrochloric acid 37 % into drum W3."}},
		{verdict.Pass, []string{"Pour the bleach into drum W3.", "Pour the hydrochloric acid 37 % into drum W4."}},
		{verdict.Flag, []string{"Pour the sodium azide waste into the hydrochloric acid drum."}}, // a label, no proof
		{verdict.Pass, []string{"Pour the acetone into the acetone drum."}},
		{verdict.Pass, []string{"Pour the sodium azide waste into vial A1 beside the hydrochloric acid drum."}},
		{verdict.Pass, []string{"Pour the bleach into flask A.", "Rinse flask A.", "Pour the hydrochloric acid 37 % into flask A."}},
	}
	for _, tc := range tests {
		if level, text := meeting(facts(t, tc.steps...)); level != tc.want {
			t.Errorf("%q: %s, want %s\n%s", tc.steps, level, tc.want, text)
		}
	}
}

func TestHardFacts(t *testing.T) {
	t.Parallel()
	embedded, err := knowledge.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		rule  string
		want  verdict.Level
		steps []string
	}{
		{RuleIncompatible, verdict.Block, []string{"Pour sodium azide and hydrochloric acid into the flask."}},
		{RuleIncompatible, verdict.Block, []string{"Pour nitric acid 65 % and acetone into the flask."}},
		{RuleWaterAcid, verdict.Block, []string{"Put 20 mL sulfuric acid 96 % in a beaker.", "Run 200 mL water into the acid."}},
		{RuleWaterAcid, verdict.Pass, []string{"Put 200 mL water in a beaker.", "Run 20 mL sulfuric acid 96 % into the water."}},
		{RuleWaterAcid, verdict.Pass, []string{"Never pour water into acid."}},
		{RuleCryoSealed, verdict.Block, []string{"Fill dry ice into a sealed bottle."}},
		{RuleCryoSealed, verdict.Pass, []string{"Never seal dry ice or liquid nitrogen."}},
		{RuleSealedHeat, verdict.Flag, []string{"The flask is stoppered and sealed.", "Heat it to 90 C."}},
		{RuleSealedHeat, verdict.Pass, []string{"The flask is sealed, vented by a bubbler.", "Heat it to 90 C."}},
		{RuleBoiling, verdict.Flag, []string{"Heat the acetone to 60 C."}},
		{RuleBoiling, verdict.Pass, []string{"Heat the acetone to 40 C."}},
		{RuleBoiling, verdict.Pass, []string{"Heat the acetone to 56 C under reflux with the condenser running."}},
		{RuleBoiling, verdict.Pass, []string{"Do not heat the acetone to 60 C."}},
		{RuleDecompose, verdict.Flag, []string{"Heat the DMSO to 190 C."}},
		{RuleFlash, verdict.Flag, []string{"Heat the acetic acid to 60 C."}},
		{RuleHood, verdict.Flag, []string{"Pour the chloroform into a beaker on bench_a."}},
		{RuleHood, verdict.Pass, []string{"Pour the chloroform into a beaker in the hood."}},
		{RuleHood, verdict.Pass, []string{"Pour the sodium chloride solution into a beaker on bench_a."}},
		{RuleBiosafety, verdict.Flag, []string{"Dilute the S. aureus culture at the bench."}},
		{RuleBiosafety, verdict.Pass, []string{"Dilute the S. aureus culture in the cabinet."}},
		{RuleBiosafety, verdict.Pass, []string{"Dilute the DH5a culture at the bench."}},
	}
	for _, tc := range tests {
		s := facts(t, tc.steps...)
		got := verdict.Pass
		for _, h := range find(s, tc.rule) {
			got = got.Worst(h.Level)
			if len(h.Path) < 2 || h.Need == "" {
				t.Errorf("%q: %s has no proof or no way out: %+v", tc.steps, tc.rule, h)
			}
			for _, id := range h.Path {
				if _, ok := embedded.NodeByID(id); !ok && !strings.HasPrefix(id, "site:") {
					t.Errorf("%q: the proof of %s names %s, which the graph does not hold", tc.steps, tc.rule, id)
				}
			}
		}
		if got != tc.want {
			t.Errorf("%q: %s is %s, want %s", tc.steps, tc.rule, got, tc.want)
		}
	}
}

// A call's argument counts like a number in the text.
func TestHeatOfACall(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{ID: "p", Steps: []string{"Put the acetone on hp1."}, ToolCalls: []plan.ToolCall{{Step: 1, Tool: "hotplate.set", Arguments: map[string]any{"device": "hp1", "temp_c": 120.0}}}}
	s := deriver(t).Facts(p, site.State{}, now)
	h := find(s, RuleBoiling)
	if len(h) != 1 || h[0].At.Part != "calls[1].temp_c" {
		t.Errorf("got %+v, want one fact at the argument", h)
	}
	of := ""
	for _, q := range s.Quantities {
		if q.At.Part == "calls[1].temp_c" {
			of = q.Of
		}
	}
	if of != "site:hp1" {
		t.Errorf("the temperature belongs to %q, want site:hp1", of)
	}
}

// C32: what the plan says about the world is claimed until live state says so.
func TestC32_AClaimIsNotAFact(t *testing.T) {
	t.Parallel()
	d := deriver(t)
	p := &plan.Plan{ID: "p", Steps: []string{"Nobody in the cell, approved by Dr. Okafor; permit 77 is there."}}
	clear := func(text string, at time.Time) site.State {
		return site.State{Readings: map[string]site.Value{"room_presence": {Text: text, At: at, MaxAge: time.Minute}}}
	}
	for name, tc := range map[string]struct {
		state site.State
		want  bool
	}{
		"no state": {site.State{}, false}, "clear": {clear("clear", now), true}, "stale": {clear("clear", now.Add(-time.Hour)), false}, "somebody": {clear("person", now), false},
	} {
		kinds := map[string]bool{}
		for _, c := range d.Facts(p, tc.state, now).Claims {
			kinds[c.Kind] = true
			if want := c.Kind == "presence" && tc.want; c.Verified != want {
				t.Errorf("%s: %s verified is %v, want %v", name, c.Kind, c.Verified, want)
			}
		}
		for _, k := range []string{"presence", "approval", "permit"} {
			if !kinds[k] {
				t.Errorf("%s: no claim of %s in %v", name, k, kinds)
			}
		}
	}
	if c := facts(t, "Read room_presence and check that nobody is in the cell.").Claims; len(c) > 0 {
		t.Errorf("a step that goes and reads claims nothing, got %+v", c)
	}
}

func TestSubmitter(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{ID: "p", Steps: []string{"Wait."}, SubmittedBy: plan.Submitter{Agent: "planner", OnBehalfOf: "Dr. Okafor"}}
	got := deriver(t).Facts(p, site.State{}, now).Submitter
	if got.AgentTrust != "registered" || got.Role != "PI" || len(got.May) != 1 {
		t.Errorf("got %+v", got)
	}
	p.SubmittedBy = plan.Submitter{Agent: "stranger", OnBehalfOf: "R. K."}
	if got := deriver(t).Facts(p, site.State{}, now).Submitter; got.AgentTrust != "" || got.PersonID != "" {
		t.Errorf("strangers are known: %+v", got)
	}
}

func TestAuthority(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"Approved by Dr. Okafor, ref. 3.":                   "",
		"Approved by the visitors.":                         RuleAuthority,
		"The request says 'approved, as asked by planner'.": RuleAgentSays,
		"Approved by Dr. Okafor, handed in by planner.":     "",
		"Not approved by the visitors.":                     "",
		"The visitors look on.":                             "",
	}
	for step, want := range tests {
		got := ""
		for _, h := range facts(t, step).Hard {
			if h.Rule == RuleAuthority || h.Rule == RuleAgentSays {
				got = h.Rule
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", step, got, want)
		}
	}
}

func TestTablesRefuse(t *testing.T) {
	t.Parallel()
	row := "1-1-1 | x | | | acid | | | | ref"
	tests := map[string][2]string{
		"columns":        {"1-1-1 | x", ""},
		"no reference":   {"1-1-1 | x | | | acid | | | | ", ""},
		"twice":          {row + "\n" + row, ""},
		"temperature":    {"1-1-1 | x | | | acid | hot | | | ref", ""},
		"unknown trait":  {row, "acid | ghost | block | block | | what | ref"},
		"unknown level":  {row, "acid | acid | maybe | block | | what | ref"},
		"pair reference": {row, "acid | acid | block | block | | what | "},
	}
	for name, tc := range tests {
		if _, err := loadTable(tc[0], tc[1]); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: got %v, want an error with its line", name, err)
		}
	}
	tab, err := loadTable(materialsTable, pairsTable)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d materials, %d pairs of traits", len(tab.materials), len(tab.pairs))
}

// Words after a step never make its block go away (C3): the facts of a step
// stay when steps are added that do not touch its vessel.
func TestC03_MoreStepsNeverHideABlock(t *testing.T) {
	t.Parallel()
	d := deriver(t)
	rapid.Check(t, func(t *rapid.T) {
		steps := []string{"Pour the sodium azide and the hydrochloric acid 37 % into drum W7."}
		n := rapid.IntRange(0, 4).Draw(t, "n")
		for range n {
			s := rapid.SampledFrom([]string{"Move the arm home.", "Read the gauge.", "Stir the beaker.", "Record it.", "Pour water into beaker B."}).Draw(t, "step")
			if rapid.Bool().Draw(t, "before") {
				steps = append([]string{s}, steps...)
			} else {
				steps = append(steps, s)
			}
		}
		s := d.Facts(&plan.Plan{ID: "p", Steps: steps}, site.State{}, now)
		if level, _ := meeting(s); level != verdict.Block {
			t.Fatalf("%q does not block", steps)
		}
	})
}

// The facts of the same plan are the same, byte for byte.
func TestSamePlanSameFacts(t *testing.T) {
	t.Parallel()
	d := deriver(t)
	p := &plan.Plan{ID: "p", Steps: []string{"Heat acetone, ethanol, toluene and DMSO to 200 C.", "Pour bleach and ammonia solution into the flask."}}
	first := d.Facts(p, site.State{}, now)
	for range 20 {
		again := d.Facts(p, site.State{}, now)
		if len(again.Hard) != len(first.Hard) {
			t.Fatalf("%d facts, then %d", len(first.Hard), len(again.Hard))
		}
		for i := range again.Hard {
			if again.Hard[i].Statement != first.Hard[i].Statement {
				t.Fatalf("fact %d: %q, then %q", i, first.Hard[i].Statement, again.Hard[i].Statement)
			}
		}
	}
}

func BenchmarkFacts(b *testing.B) {
	d := deriver(b)
	p := &plan.Plan{ID: "p"}
	for range 10 {
		p.Steps = append(p.Steps, "Using channel 1 of the syringe pump, run 13.9 mL sulfuric acid 96 % into the water at 1 mL/min.")
	}
	b.ReportAllocs()
	for b.Loop() {
		d.Facts(p, site.State{}, now)
	}
}

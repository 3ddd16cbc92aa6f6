package memory

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

var start = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// a clock that tests move.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// known makes the facts of a plan: its words, the nodes it names, its tools.
func known(text string, nodes []string, tools ...string) *fact.Set {
	t := fact.Text{Step: 1, Raw: text}
	for i, w := range strings.Fields(text) {
		t.Words = append(t.Words, fact.Token{Text: w, Lemma: strings.ToLower(w), Start: i, End: i + 1})
	}
	s := &fact.Set{Texts: []fact.Text{t}}
	for _, n := range nodes {
		s.Entities = append(s.Entities, fact.Entity{ID: n, Kind: "material", At: verdict.Span{Step: 1}})
	}
	for i, tool := range tools {
		s.Calls = append(s.Calls, fact.Call{Number: i + 1, Step: 1, Tool: tool})
	}
	return s
}

func submission(agent, person string) plan.Submission {
	return plan.Submission{Plan: &plan.Plan{ID: "new", SubmittedBy: plan.Submitter{Agent: agent, OnBehalfOf: person}}, Agent: agent}
}

var azide = known("pour the azide waste into the acid drum and close it", []string{"cas:26628-22-8", "cas:7647-01-0"}, "liquid.transfer")

func remembered(t *testing.T) (*Memory, *clock) {
	t.Helper()
	c := &clock{start}
	m := New(Options{}, c.now)
	f := Failure{ID: "d-1", Plan: "p-1", Site: "lab", Agent: "alpha", OnBehalf: "Mei", Outcome: verdict.Reject, Blocking: []string{"FACT-INCOMPAT"}, At: start}
	if err := m.Add(f, azide); err != nil {
		t.Fatal(err)
	}
	for i := range 50 { // others, unlike it
		other := known(fmt.Sprintf("carry rack %d to the shelf number %d", i, i), []string{fmt.Sprintf("site:rack%d", i)}, "arm.move")
		if err := m.Add(Failure{ID: fmt.Sprintf("x-%d", i), Agent: "alpha", At: start}, other); err != nil {
			t.Fatal(err)
		}
	}
	return m, c
}

func TestMatchFindsWhatResembles(t *testing.T) {
	t.Parallel()
	m, _ := remembered(t)
	tests := map[string]struct {
		facts *fact.Set
		want  int
	}{
		"the same":       {azide, 1},
		"almost":         {known("pour the azide waste into the acid drum then stop", []string{"cas:26628-22-8", "cas:7647-01-0"}, "liquid.transfer"), 1},
		"another matter": {known("read the gauge at the door", []string{"site:gauge"}, "sensor.read"), 0},
		"nothing":        {known("", nil), 0},
	}
	for name, tc := range tests {
		got := m.Match(Query{Submission: submission("alpha", "Mei"), Facts: tc.facts})
		if len(got) != tc.want {
			t.Errorf("%s: %+v, want %d", name, got, tc.want)
		}
		for _, p := range got {
			if p.ID != "d-1" || p.Score < 0.6 || p.Score > 1 || !strings.Contains(p.Why, "cas:26628-22-8") {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

// C41: an unconfirmed failure counts against its own agent only.
func TestC41_UnconfirmedCountsAgainstItsOwnAgentOnly(t *testing.T) {
	t.Parallel()
	m, _ := remembered(t)
	q := Query{Submission: submission("beta", "Mei"), Facts: azide}
	if got := m.Match(q); len(got) != 0 {
		t.Errorf("another agent pays for it: %+v", got)
	}
	if err := m.Confirm("d-1"); err != nil {
		t.Fatal(err)
	}
	if got := m.Match(q); len(got) != 1 {
		t.Errorf("a confirmed failure counts for all: %+v", got)
	}
}

// C41: a precedent lifts the match only for the very same things, no quantity
// outside, the same site version, before it expires.
func TestC41_PrecedentAppliesOnlyToTheSame(t *testing.T) {
	t.Parallel()
	m, c := remembered(t)
	amount := func(v float64) *fact.Set {
		s := *azide
		s.Quantities = []fact.Quantity{{Axis: "volume", Of: "cas:7647-01-0", Quantity: quantity.Quantity{Readings: []float64{v}}}}
		return &s
	}
	sub := submission("alpha", "Mei")
	p := Precedent{ID: "r-1", By: "Tomas", Lifts: "d-1", SiteHash: "v1", Expires: start.Add(time.Hour)}
	if err := m.Approve(p, sub, amount(2)); err != nil {
		t.Fatal(err)
	}
	moved := known("pour the azide waste into the acid drum and close it", []string{"cas:26628-22-8", "cas:7647-01-0", "cas:7664-93-9"}, "liquid.transfer")
	twice := amount(2)
	twice.Calls = append(twice.Calls[:1:1], twice.Calls[0])
	unreadable := amount(2)
	unreadable.Quantities = append(unreadable.Quantities, fact.Quantity{Axis: "mass", Quantity: quantity.Quantity{Bad: true}})
	tests := map[string]struct {
		q    Query
		at   time.Duration
		want int
	}{
		"the same":              {Query{sub, amount(2), nil, "v1"}, 0, 0},
		"more":                  {Query{sub, amount(2.1), nil, "v1"}, 0, 1},
		"less":                  {Query{sub, amount(1.9), nil, "v1"}, 0, 1},
		"no amount stated":      {Query{sub, azide, nil, "v1"}, 0, 1},
		"poured twice":          {Query{sub, twice, nil, "v1"}, 0, 1},
		"another person":        {Query{submission("alpha", "Jonas"), amount(2), nil, "v1"}, 0, 1},
		"another material":      {Query{sub, moved, nil, "v1"}, 0, 1},
		"a number nobody reads": {Query{sub, unreadable, nil, "v1"}, 0, 1},
		"another site version":  {Query{sub, amount(2), nil, "v2"}, 0, 1},
		"expired":               {Query{sub, amount(2), nil, "v1"}, 2 * time.Hour, 1},
	}
	for name, tc := range tests {
		c.t = start.Add(tc.at)
		if got := m.Match(tc.q); len(got) != tc.want {
			t.Errorf("%s: %d matches, want %d", name, len(got), tc.want)
		}
	}
}

// C16: an agent cannot approve its own plan.
func TestC16_NoAgentMakesItsOwnPrecedent(t *testing.T) {
	t.Parallel()
	m, _ := remembered(t)
	p := Precedent{ID: "r-1", By: "alpha", Lifts: "d-1", Expires: start.Add(time.Hour)}
	if err := m.Approve(p, submission("alpha", "Mei"), azide); err == nil {
		t.Error("it did")
	}
	if err := m.Approve(Precedent{ID: "r-2", Lifts: "d-1"}, submission("alpha", "Mei"), azide); err == nil {
		t.Error("a precedent without a person or an expiry was taken")
	}
	p.By, p.Lifts = "Tomas", "nothing"
	if err := m.Approve(p, submission("alpha", "Mei"), azide); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

// C5: a parent, declared or found by similarity from the same submitter, is
// resolved when every rule that blocked it is silent.
func TestC05_ParentIsResolvedWhenItsBlocksAreGone(t *testing.T) {
	t.Parallel()
	m, _ := remembered(t)
	child := submission("alpha", "Mei")
	child.Plan.Parent = "p-1"
	stranger := submission("alpha", "Jonas")
	still := []verdict.Finding{{Rule: "FACT-INCOMPAT", Level: verdict.Flag}}
	harmless := known("pour water into a beaker", []string{"cas:7732-18-5"})
	tests := map[string]struct {
		q    Query
		want bool
	}{
		"gone":             {Query{Submission: child, Facts: azide}, true},
		"still there":      {Query{Submission: child, Facts: azide, Findings: still}, false},
		"unlike, declared": {Query{Submission: child, Facts: harmless}, true},
		"by similarity":    {Query{Submission: submission("alpha", "Mei"), Facts: azide}, true},
		"another person":   {Query{Submission: stranger, Facts: azide}, false},
	}
	for name, tc := range tests {
		got := m.Match(tc.q)
		if len(got) != 1 || got[0].ID != "d-1" || got[0].Resolved != tc.want {
			t.Errorf("%s: %+v, want d-1 resolved %v", name, got, tc.want)
		}
	}
	if err := m.Add(Failure{ID: "d-9", Plan: "p-9", Agent: "alpha", OnBehalf: "Mei", At: start}, azide); err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Match(Query{Submission: submission("alpha", "Mei"), Facts: azide}) {
		if p.ID == "d-9" && p.Resolved {
			t.Error("a failure that no rule blocked resolves itself")
		}
	}
}

// C5: only the submitter's own plan is a parent: naming another agent's
// confirmed failure as one does not resolve it.
func TestC05_AnotherAgentsPlanIsNoParent(t *testing.T) {
	t.Parallel()
	m, _ := remembered(t)
	if err := m.Confirm("d-1"); err != nil {
		t.Fatal(err)
	}
	child := submission("beta", "Mei")
	child.Plan.Parent = "p-1"
	got := m.Match(Query{Submission: child, Facts: azide})
	if len(got) != 1 || got[0].Resolved {
		t.Errorf("%+v, want d-1 unresolved", got)
	}
}

// C41: an agent cannot hide a confirmed failure behind many failures of its
// own making, settled or not counting.
func TestC41_NoFloodHidesAFailure(t *testing.T) {
	t.Parallel()
	near := known("pour the azide waste into the acid drum and stop", []string{"cas:26628-22-8", "cas:7647-01-0", "site:drum"}, "liquid.transfer")
	for name, f := range map[string]Failure{
		"settled ones":           {Agent: "beta", OnBehalf: "Mei", Blocking: []string{"TOOL-007"}, At: start},
		"ones of another's name": {Agent: "gamma", OnBehalf: "Mei", Blocking: []string{"TOOL-007"}, At: start},
	} {
		m, _ := remembered(t)
		if err := m.Confirm("d-1"); err != nil {
			t.Fatal(err)
		}
		for i := range 2 * closest {
			f.ID = fmt.Sprintf("f-%d", i)
			if err := m.Add(f, near); err != nil {
				t.Fatal(err)
			}
			if i < closest/2 || f.Agent != "beta" {
				continue
			}
			break
		}
		got := m.Match(Query{Submission: submission("beta", "Mei"), Facts: near})
		if len(got) == 0 || got[0].ID != "d-1" || got[0].Resolved {
			t.Errorf("%s: %+v, want d-1 first", name, got)
		}
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	m, _ := remembered(t)
	if _, err := m.Forget("d-1", "", "old"); err == nil {
		t.Error("forgotten by nobody")
	}
	before := m.Len()
	a, err := m.Forget("d-1", "Tomas", "mislabelled")
	if err != nil || a.By != "Tomas" || a.ID != "d-1" || !a.At.Equal(start) {
		t.Fatalf("got %+v, %v", a, err)
	}
	if m.Len() != before-1 || len(m.Match(Query{Submission: submission("alpha", "Mei"), Facts: azide})) != 0 {
		t.Error("it is still remembered")
	}
	if _, err := m.Forget("d-1", "Tomas", "again"); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	if err := m.Add(Failure{ID: "x-1"}, azide); !errors.Is(err, ErrTwice) {
		t.Errorf("got %v, want ErrTwice", err)
	}
}

func TestForgettingManyKeepsTheRest(t *testing.T) {
	t.Parallel()
	c := &clock{start}
	m := New(Options{}, c.now)
	for i := range 3000 {
		if err := m.Add(Failure{ID: fmt.Sprint("f-", i), Agent: "alpha", At: start}, known(fmt.Sprintf("take part %d of lot %d", i, i), []string{fmt.Sprint("n:", i)})); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2000 {
		if _, err := m.Forget(fmt.Sprint("f-", i), "Tomas", "old"); err != nil {
			t.Fatal(err)
		}
	}
	got := m.Match(Query{Submission: submission("alpha", ""), Facts: known("take part 2500 of lot 2500", []string{"n:2500"})})
	if m.Len() != 1000 || len(got) != 1 || got[0].ID != "f-2500" {
		t.Errorf("%d remembered, match %+v", m.Len(), got)
	}
}

// An old failure needs a closer likeness; an identical plan is found for ever.
func TestDecay(t *testing.T) {
	t.Parallel()
	m, c := remembered(t)
	near := known("pour the azide waste into the other drum then stop and wait", []string{"cas:26628-22-8", "cas:7647-01-0", "site:w7"}, "liquid.transfer")
	q := Query{Submission: submission("alpha", "Mei"), Facts: near}
	m.opt.Threshold = 0.4
	if len(m.Match(q)) != 1 {
		t.Fatal("the fresh failure is not found")
	}
	c.t = start.Add(5 * 365 * 24 * time.Hour)
	if got := m.Match(q); len(got) != 0 {
		t.Errorf("five years later: %+v", got)
	}
	if got := m.Match(Query{Submission: submission("alpha", "Mei"), Facts: azide}); len(got) != 1 {
		t.Errorf("the identical plan is not found any more")
	}
}

// fill remembers n failures that share nodes in a skewed way, as real ones do.
func fill(b *testing.B, n int) *Memory {
	b.Helper()
	c := &clock{start}
	m := New(Options{}, c.now)
	for i := range n {
		nodes := []string{"site:arm", fmt.Sprint("n:", i%7), fmt.Sprint("n:", i%997), fmt.Sprint("n:", i%100003)}
		if err := m.Add(Failure{ID: fmt.Sprint("f-", i), Agent: "alpha", At: start}, known(fmt.Sprintf("take part %d of lot %d to bay", i, i%5000), nodes, "arm.move")); err != nil {
			b.Fatal(err)
		}
	}
	return m
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if n > 100_000 && testing.Short() {
				b.Skip("a million failures in -short")
			}
			m := fill(b, n)
			q := Query{Submission: submission("alpha", ""), Facts: known("take part 77 of lot 77 to bay", []string{"site:arm", "n:0", "n:77", "n:5077"}, "arm.move")}
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				m.Match(q)
			}
		})
	}
}

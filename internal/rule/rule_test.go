package rule_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/internal/fact"
	"interlock/internal/knowledge/derive"
	"interlock/internal/quantity"
	"interlock/internal/rule"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// words is a vocabulary of the concepts that the tests use.
type words []string

func (w words) Known(c string) bool { return slices.Contains(w, c) }

var vocabulary = words{"act:move", "safeguard", "neg"}

// lab is a site with one tool and the given checks.
func lab(checks ...site.Check) *site.Site {
	for i := range checks {
		checks[i].File, checks[i].Line = "lab.yaml", 10*(i+1)
	}
	return &site.Site{ID: "lab", Tools: []site.Tool{{Name: "arm.move", Args: []site.Arg{{Name: "speed_mm_s"}}}}, Checks: checks}
}

func check(id, when string) site.Check {
	return site.Check{ID: id, Level: "block", Class: "safety", When: when, Message: "broken", Need: "mend it"}
}

// said makes a set of one step, word by word; "!word" is denied.
func said(step string) *fact.Set {
	t := fact.Text{Step: 1, Raw: step}
	for i, w := range strings.Fields(step) {
		tok := fact.Token{Text: strings.TrimPrefix(w, "!"), Negated: strings.HasPrefix(w, "!")}
		tok.Lemma = strings.ToLower(tok.Text)
		tok.Start, tok.End = i, i+1
		if tok.Lemma == "interlock" {
			tok.Tags = []string{"safeguard"}
		}
		t.Words = append(t.Words, tok)
	}
	return &fact.Set{Texts: []fact.Text{{Part: "goal"}, t}}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ when, want string }{
		"syntax":                 {"step.says(", "Syntax error"},
		"unknown field":          {"step.colour == 'red'", "undefined field 'colour'"},
		"unknown variable":       {"robot == 'x'", "undeclared reference to 'robot'"},
		"not a bool":             {"step.max('speed')", "gives double, want bool"},
		"unknown concept":        {"step.says('@act:levitate')", `no concept "act:levitate"`},
		"unknown kind":           {"step.says('#ghost')", `no kind of thing "ghost"`},
		"unknown axis":           {"step.max('colour') > 1.0", `no axis "colour"`},
		"unknown argument":       {"call.args.sped_mm_s > 3.0", `no tool of the site has an argument "sped_mm_s"`},
		"computed pattern":       {"step.says(step.text)", "wants its pattern written out"},
		"empty alternative":      {"step.says('a | ')", "a phrase needs words"},
		"dangling gap":           {"step.says('a ..')", "a phrase needs words"},
		"bad regular expression": {"step.text.matches('(')", "missing closing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rule.CompileOwn(lab(check("first", "true"), check("second", tc.when)), vocabulary)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error with %q", err, tc.want)
			}
			if !strings.Contains(err.Error(), "lab.yaml:20: site lab, check second") {
				t.Errorf("the error does not say where: %v", err)
			}
		})
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	tests := []struct {
		when, step string
		want       bool
	}{
		{"step.says('bypass .. @safeguard')", "bypass the big interlock", true},
		{"step.says('bypass .. @safeguard')", "bypass a b c d e f g interlock", false},
		{"step.says('bypass @safeguard')", "bypass the interlock", false},
		{"step.says('@safeguard & bypass')", "bypass the interlock", true},
		{"step.says('hold | bypass')", "bypass it", true},
		{"step.says('bypass')", "never !bypass it", false},
		{"step.mentions('bypass')", "never !bypass it", true},
		{"step.denies('bypass')", "never !bypass it", true},
		{"step.denies('bypass')", "bypass it", false},
		{"step.denies('bypass')", "bypass it or never !bypass it", true},
		{"plan.says('bypass')", "bypass it", true},
		{"steps.exists(s, s.number == 1 && s.says('bypass'))", "bypass it", true},
		{"step.text.startsWith('by')", "bypass it", true},
	}
	for _, tc := range tests {
		set, err := rule.CompileOwn(lab(check("c", tc.when)), vocabulary)
		if err != nil {
			t.Fatal(err)
		}
		got := len(set.Eval(said(tc.step), site.State{}, time.Time{})) > 0
		if got != tc.want {
			t.Errorf("%s on %q: %v, want %v", tc.when, tc.step, got, tc.want)
		}
	}
}

func TestFindingSaysWhatAndWhere(t *testing.T) {
	t.Parallel()
	c := check("c", "step.says('bypass')")
	c.Covers = []string{"R9"}
	set, err := rule.CompileOwn(lab(c), vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	got := set.Eval(said("bypass it"), site.State{}, time.Time{})
	want := verdict.Finding{Rule: "c", Level: verdict.Block, Class: verdict.Safety, Span: verdict.Span{Step: 1}, Message: "broken", Need: "mend it", Refs: []string{"R9"}}
	if len(got) != 1 || got[0].Rule != want.Rule || got[0].Level != want.Level || got[0].Class != want.Class || got[0].Span != want.Span || got[0].Need != want.Need || !slices.Equal(got[0].Refs, want.Refs) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A rule that fails at run time is a flag, never a pass (issue 4, item 8).
func TestC05_RunTimeFailureIsAFlag(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]string{
		"missing key":   "state['room_presence'] == 'clear'",
		"index":         "steps[99].number == 1",
		"missing value": "call.args.speed_mm_s > 1.0",
		"cost":          "steps.all(a, steps.all(b, steps.all(c, steps.all(d, steps.all(e, steps.all(f, a.number + b.number + c.number + d.number + e.number + f.number > 0))))))",
	} {
		set, err := rule.CompileOwn(lab(check("c", when)), vocabulary)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f := said("move it")
		for len(f.Texts) < 40 {
			f.Texts = append(f.Texts, fact.Text{Step: len(f.Texts)})
		}
		f.Calls = []fact.Call{{Number: 1, Step: 1, Tool: "arm.move", Args: map[string]any{}}}
		got := set.Eval(f, site.State{}, time.Time{})
		if len(got) != 1 || got[0].Level != verdict.Flag || !strings.Contains(got[0].Message, "could not be evaluated") {
			t.Errorf("%s: got %+v, want one flag", name, got)
		}
	}
}

// Stale state is unknown (C32, C38): a rule does not see it.
func TestC32_StaleStateIsUnknown(t *testing.T) {
	t.Parallel()
	set, err := rule.CompileOwn(lab(check("c", "!('room_presence' in state) || state['room_presence'] != 'clear'")), vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		at   time.Time
		want int
	}{"fresh": {now.Add(-time.Second), 0}, "stale": {now.Add(-time.Hour), 1}, "from the future": {now.Add(time.Hour), 1}} {
		st := site.State{Readings: map[string]site.Value{"room_presence": {Text: "clear", At: tc.at, MaxAge: time.Minute}}}
		if got := len(set.Eval(said("move it"), st, now)); got != tc.want {
			t.Errorf("%s: %d findings, want %d", name, got, tc.want)
		}
	}
}

// A number that cannot be read is left out of max; it is check's to block.
func TestNumbers(t *testing.T) {
	t.Parallel()
	f := said("move it")
	f.Quantities = []fact.Quantity{
		{Axis: "speed", At: verdict.Span{Step: 1}, Quantity: quantity.Quantity{Readings: []float64{1.5, 1500}}},
		{Axis: "speed", At: verdict.Span{Step: 1}, Quantity: quantity.Quantity{Readings: []float64{9000}, Bound: -1}},
		{Axis: "speed", At: verdict.Span{Step: 1}, Quantity: quantity.Quantity{Readings: []float64{math.Inf(1)}, Bad: true}},
	}
	for when, want := range map[string]bool{
		"step.max('speed') == 9000.0":     true,
		"step.setting('speed') == 1500.0": true, // a bound is no setting
		"step.min('speed') == 1.5":        true, // the lowest plausible reading
		"step.max('mass') > 0.0":          false,
		"step.min('mass') < 0.0":          false,
	} {
		set, err := rule.CompileOwn(lab(check("c", when)), vocabulary)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(set.Eval(f, site.State{}, time.Time{})) == 1; got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
}

// Adding words to a step never takes a finding of "mentions" away (C3).
func TestC03_MoreWordsNeverHideAMention(t *testing.T) {
	t.Parallel()
	set, err := rule.CompileOwn(lab(check("c", "plan.mentions('bypass')")), vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		extra := rapid.StringMatching(`[a-z ]{0,40}`).Draw(t, "extra")
		where := rapid.Bool().Draw(t, "before")
		step := "bypass it " + extra
		if where {
			step = extra + " bypass it"
		}
		if len(set.Eval(said(step), site.State{}, time.Time{})) == 0 {
			t.Fatalf("%q is not seen", step)
		}
	})
}

func FuzzCompile(f *testing.F) {
	f.Add("step.says('a .. b & c | @safeguard')")
	f.Add("plan.between(1320, 360) && calls.size() > 2")
	f.Fuzz(func(t *testing.T, when string) {
		set, err := rule.CompileOwn(lab(check("c", when)), vocabulary)
		if err != nil {
			return
		}
		set.Eval(said("move the interlock"), site.State{}, time.Time{})
	})
}

// examples loads the example sites with their rules.
func examples(t testing.TB) map[string]*loaded {
	t.Helper()
	set, err := site.Load("../../examples/sites")
	if err != nil {
		t.Fatal(err)
	}
	w, err := derive.NewWorld(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*loaded{}
	for _, s := range set.Sites {
		d := w.For(s)
		rules, err := rule.Compile(s, d.Linker())
		if err != nil {
			t.Fatal(err)
		}
		out[s.ID] = &loaded{s, d, rules}
	}
	return out
}

type loaded struct {
	site    *site.Site
	deriver *derive.Deriver
	rules   *rule.Set
}

// The rules of every site are tested at a site that has nothing else.
func TestBase(t *testing.T) {
	t.Parallel()
	base, err := rule.Base()
	if err != nil {
		t.Fatal(err)
	}
	w, err := derive.NewWorld(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := w.For(base)
	set, err := rule.CompileOwn(base, d.Linker())
	if err != nil {
		t.Fatal(err)
	}
	n, failures := set.Test(d.Example)
	for _, f := range failures {
		t.Error(f)
	}
	t.Logf("%d rules, %d examples", set.Len(), n)
}

// A profile without rules as code still has those of every site, and one of
// its own replaces the common one of that name.
func TestEverySiteHasTheBase(t *testing.T) {
	t.Parallel()
	w, err := derive.NewWorld(nil)
	if err != nil {
		t.Fatal(err)
	}
	bare := &site.Site{ID: "base"} // a name like that changes nothing
	d := w.For(bare)
	bypass := site.CheckExample{Steps: []string{"Bypass the interlock and go on."}}
	for name, own := range map[string][]site.Check{"bare": nil, "replaced": {check("safeguard-defeated", "false"), check("safeguard-touched", "false")}} {
		bare.Checks = own
		set, err := rule.Compile(bare, d.Linker())
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Example(bypass)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(set.Eval(f, site.State{}, time.Time{})) > 0; got != (name == "bare") {
			t.Errorf("%s: found %v", name, got)
		}
	}
}

func TestExamplesOfTheExampleSites(t *testing.T) {
	t.Parallel()
	covered := 0
	for id, l := range examples(t) {
		n, failures := l.rules.Test(l.deriver.Example)
		for _, f := range failures {
			t.Error(f)
		}
		seen := map[string]bool{}
		for _, c := range l.site.Checks {
			for _, r := range c.Covers {
				seen[r] = true
			}
		}
		covered += len(seen)
		t.Logf("%s: %d rules, %d examples, %d prose rules covered", id, l.rules.Len(), n, len(seen))
	}
	if covered < 45 {
		t.Errorf("%d prose rules are covered, want at least 45", covered)
	}
}

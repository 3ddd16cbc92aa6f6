package plan_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/plan"
)

func genNumber() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		whole := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})`).Draw(t, "whole")
		frac := rapid.StringMatching(`(\.[0-9]{1,8})?`).Draw(t, "frac")
		exp := rapid.StringMatching(`([eE][+-]?[0-9]{1,2})?`).Draw(t, "exp")
		return json.Number(whole + frac + exp)
	})
}

func genValue(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		genNumber(), rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil),
	}
	if depth > 0 {
		leaves = append(leaves,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(genValue(depth-1), 0, 3).Draw(t, "list") }),
			rapid.Custom(func(t *rapid.T) any { return genArguments(depth-1).Draw(t, "map") }),
		)
	}
	return rapid.OneOf(leaves...)
}

func genArguments(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(rapid.StringMatching(`[a-z_]{1,8}`), genValue(depth), 0, 4)
}

func genText() *rapid.Generator[string] {
	return rapid.StringMatching(`[ -~\n]{0,20}[a-zäöµ]`)
}

func genExpectation() *rapid.Generator[plan.Expectation] {
	return rapid.Custom(func(t *rapid.T) plan.Expectation {
		lo := rapid.IntRange(-1000, 1000).Draw(t, "min")
		e := plan.Expectation{
			Tool: genText().Draw(t, "tool"), Arguments: genArguments(1).Draw(t, "arguments"), Pointer: "/" + genText().Draw(t, "pointer"),
			Unit: rapid.String().Draw(t, "unit"), WithinS: json.Number(rapid.StringMatching(`[1-9][0-9]{0,3}(\.[0-9]{1,3})?`).Draw(t, "within")),
		}
		open := rapid.IntRange(0, 2).Draw(t, "open")
		if open != 1 {
			e.Min = json.Number(strconv.Itoa(lo))
		}
		if open != 2 {
			e.Max = json.Number(strconv.Itoa(lo + rapid.IntRange(0, 50).Draw(t, "width")))
		}
		return e
	})
}

func genPlan() *rapid.Generator[*plan.Plan] {
	return rapid.Custom(func(t *rapid.T) *plan.Plan {
		p := &plan.Plan{
			ID: rapid.String().Draw(t, "id"), Site: rapid.String().Draw(t, "site"), Goal: rapid.String().Draw(t, "goal"),
			SubmittedBy: plan.Submitter{Agent: rapid.String().Draw(t, "agent"), OnBehalfOf: rapid.String().Draw(t, "person")},
			Steps:       rapid.SliceOfN(genText(), 1, 5).Draw(t, "steps"),
			SubmittedAt: rapid.String().Draw(t, "at"), Parent: rapid.String().Draw(t, "parent"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			p.ToolCalls = append(p.ToolCalls, plan.ToolCall{
				Step: rapid.IntRange(1, len(p.Steps)).Draw(t, "step"), Tool: genText().Draw(t, "tool"),
				Arguments: genArguments(2).Draw(t, "arguments"),
				Expect:    rapid.Ptr(genExpectation(), true).Draw(t, "expect"),
			})
		}
		if rapid.Bool().Draw(t, "abort") {
			p.OnAbort = []plan.ToolCall{{Tool: "stop", Arguments: map[string]any{}}}
		}
		if rapid.Bool().Draw(t, "attached") {
			p.Attachments = []plan.Attachment{{Source: rapid.String().Draw(t, "source"), Text: rapid.String().Draw(t, "text")}}
		}
		return p
	})
}

func TestDecodeEncodeIsTheIdentity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := genPlan().Draw(t, "plan")
		again, err := plan.DecodeJSON("p.json", plan.Encode(p))
		if err != nil {
			t.Fatalf("%v\n%s", err, plan.Encode(p))
		}
		if d := cmp.Diff(p, again); d != "" {
			t.Fatal(d)
		}
		canonical, err := plan.DecodeJSON("p.json", plan.Canonical(p))
		if err != nil {
			t.Fatal(err)
		}
		if plan.Digest(canonical) != plan.Digest(p) {
			t.Fatalf("the canonical form has another digest:\n%s", plan.Canonical(p))
		}
		// JSON is a subset of YAML as far as plans go.
		yaml, err := plan.DecodeYAML("p.yaml", plan.Encode(p))
		if err == nil && plan.Digest(yaml) != plan.Digest(p) {
			t.Fatalf("read as YAML it is another plan:\n%s\n%s", plan.Canonical(p), plan.Canonical(yaml))
		}
	})
}

func TestEqualValues(t *testing.T) {
	t.Parallel()
	n := func(s string) any { return json.Number(s) }
	for _, same := range [][]any{
		{n("1"), n("1.0"), n("1e0"), n("10e-1"), n("0.1E1"), 1, 1.0, int64(1)},
		{n("0"), n("-0"), n("0.000"), n("0e5")},
		{n("1500"), n("1.5e3"), n("15e2")},
		{n("9007199254740993"), n("9007199254740993.0")},
		{n("-0.00012"), n("-1.2e-4")},
		{map[string]any{"a": n("1"), "b": n("2.0")}, map[string]any{"b": n("2"), "a": n("1.0")}},
		{[]any{n("1"), "x", nil}, []any{n("1.0"), "x", nil}},
	} {
		for _, a := range same {
			for _, b := range same {
				if !plan.EqualValues(a, b) {
					t.Errorf("%v and %v should be equal", a, b)
				}
			}
		}
	}
	for _, other := range [][2]any{
		{n("9007199254740993"), n("9007199254740992")},
		{n("0.1"), n("0.10000000000000001")},
		{n("1"), "1"},
		{n("1"), true},
		{nil, false},
		{[]any{n("1"), n("2")}, []any{n("2"), n("1")}},
		{map[string]any{}, []any{}},
		{map[string]any{"a": nil}, map[string]any{}},
		{"\u00e9", "e\u0301"}, // composed and decomposed: texts are not normalised
	} {
		if plan.EqualValues(other[0], other[1]) {
			t.Errorf("%v and %v should differ", other[0], other[1])
		}
	}
}

func TestDigestSeesEveryField(t *testing.T) {
	t.Parallel()
	base := func() *plan.Plan {
		return &plan.Plan{
			ID: "i", Site: "s", Goal: "g", SubmittedBy: plan.Submitter{Agent: "a", OnBehalfOf: "o"}, Steps: []string{"1", "2"},
			ToolCalls:   []plan.ToolCall{{Step: 1, Tool: "t", Arguments: map[string]any{"x": json.Number("1")}}},
			Attachments: []plan.Attachment{{Source: "f", Text: "b"}}, SubmittedAt: "z", Parent: "p",
			OnAbort: []plan.ToolCall{{Tool: "stop", Arguments: map[string]any{}}},
		}
	}
	changes := map[string]func(*plan.Plan){
		"ID": func(p *plan.Plan) { p.ID = "" }, "Site": func(p *plan.Plan) { p.Site = "x" }, "Goal": func(p *plan.Plan) { p.Goal += " " },
		"SubmittedBy": func(p *plan.Plan) { p.SubmittedBy.Agent = "b" }, "Steps": func(p *plan.Plan) { p.Steps = []string{"2", "1"} },
		"ToolCalls":   func(p *plan.Plan) { p.ToolCalls[0].Arguments["x"] = json.Number("1.01") },
		"Attachments": func(p *plan.Plan) { p.Attachments[0].Text = "c" }, "SubmittedAt": func(p *plan.Plan) { p.SubmittedAt = "y" },
		"Parent": func(p *plan.Plan) { p.Parent = "q" }, "OnAbort": func(p *plan.Plan) { p.OnAbort = nil },
	}
	for i := range reflect.TypeFor[plan.Plan]().NumField() {
		name := reflect.TypeFor[plan.Plan]().Field(i).Name
		change := changes[name]
		if change == nil {
			t.Errorf("no change for field %s: does the digest see it?", name)
			continue
		}
		p := base()
		change(p)
		if plan.Digest(p) == plan.Digest(base()) {
			t.Errorf("a change of %s does not change the digest", name)
		}
	}
}

// TestC09_PublicHidesIdentifiers puts a canary into every field and looks
// which ones come through.
func TestC09_PublicHidesIdentifiers(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{ID: "canary-id", Parent: "canary-parent", Site: "s", Goal: "g", Steps: []string{"x"}, SubmittedAt: "t"}
	public := p.Public()
	if public.ID != "" || public.Parent != "" {
		t.Errorf("an identifier came through: %+v", public)
	}
	public.ID, public.Parent = p.ID, p.Parent
	if d := cmp.Diff(p, public); d != "" {
		t.Errorf("something else is missing: %s", d)
	}
}

func TestLabelledKeepsTheExtraOutside(t *testing.T) {
	t.Parallel()
	l, err := plan.DecodeLabelled("s.jsonl", 7, []byte(`{"id":"p","steps":["a"],"label":"accept","labels":{"A":"accept"},"agreement":1.0,"pair_id":null}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"label": "accept", "labels": map[string]any{"A": "accept"}, "agreement": json.Number("1.0"), "pair_id": nil}
	if d := cmp.Diff(want, l.Extra); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{`{"steps":["a"],"Goal":"x"}`, `{"steps":[""]}`, `[]`, `{"label":"accept"}`} {
		if _, err := plan.DecodeLabelled("s.jsonl", 7, []byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		} else if got := err.Error(); got[:10] != "s.jsonl:7:" {
			t.Errorf("%s: %s", bad, got)
		}
	}
}

func ExampleDecode() {
	plans, err := plan.Decode("plan.txt", []byte("Goal: weigh\n\n1. Weigh the vial on bal1.\n"))
	fmt.Println(plans[0].Goal, len(plans[0].Steps), err)
	_, err = plan.Decode("plan.json", []byte(`{"stepz": []}`))
	fmt.Println(err)
	// Output:
	// weigh 1 <nil>
	// plan.json:1:2: unknown key "stepz" in the plan (did you mean "steps"?): expected one of id, site, goal, submitted_by, steps, tool_calls, attachments, submitted_at, parent, on_abort
}

package prompt_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"interlock/internal/prompt"
)

func TestPromptsFillEveryField(t *testing.T) {
	t.Parallel()
	set, err := prompt.Load()
	if err != nil {
		t.Fatal(err)
	}
	var in prompt.Judge
	v := reflect.ValueOf(&in).Elem()
	for i := range v.NumField() {
		v.Field(i).SetString("<" + v.Type().Field(i).Name + ">")
	}
	got, err := set.Judge(in)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.NumField() {
		if !strings.Contains(got.Prompt, v.Field(i).String()) {
			t.Errorf("the evaluation prompt leaves out %s", v.Type().Field(i).Name)
		}
	}
	if strings.Contains(got.System, "<") && strings.Contains(got.System, "<Boundary>") {
		t.Error("the system prompt depends on the plan: providers cannot keep it in their cache")
	}
	chief, err := set.Chief(prompt.Chief{Boundary: "<B>", N: 3, Opinions: "<O>"})
	if err != nil || strings.Count(chief.Prompt, "<B>") != 3 || !strings.Contains(chief.Prompt, "<O>") || !strings.Contains(chief.Prompt, "There are 3 opinions") {
		t.Errorf("chief: %q, %v", chief.Prompt, err)
	}
}

// TestSchemasMatchThePrompts: what the prompt asks for is what the schema
// demands, in the strict form that providers want.
func TestSchemasMatchThePrompts(t *testing.T) {
	t.Parallel()
	set, err := prompt.Load()
	if err != nil {
		t.Fatal(err)
	}
	judge, err := set.Judge(prompt.Judge{})
	if err != nil {
		t.Fatal(err)
	}
	chief, err := set.Chief(prompt.Chief{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		schema []byte
		prompt string
	}{"judge": {set.JudgeSchema(), judge.Prompt}, "chief": {set.ChiefSchema(), chief.Prompt}} {
		var root map[string]any
		if err := json.Unmarshal(tc.schema, &root); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		strictObject(t, name, root, tc.prompt)
	}
}

func strictObject(t *testing.T, at string, o map[string]any, text string) {
	t.Helper()
	props, _ := o["properties"].(map[string]any)
	required, _ := o["required"].([]any)
	if o["additionalProperties"] != false || len(required) != len(props) || len(props) == 0 {
		t.Errorf("%s: not strict", at)
	}
	for key, v := range props {
		if !strings.Contains(text, `"`+key+`"`) {
			t.Errorf("%s: the prompt does not ask for %q", at, key)
		}
		p, _ := v.(map[string]any)
		for _, e := range asList(p["enum"]) {
			if !strings.Contains(text, `"`+e.(string)+`"`) {
				t.Errorf("%s.%s: the prompt does not name %q", at, key, e)
			}
		}
		if items, ok := p["items"].(map[string]any); ok && items["type"] == "object" {
			strictObject(t, at+"."+key, items, text)
		}
	}
}

func asList(v any) []any { l, _ := v.([]any); return l }

func TestDigestNamesTheWords(t *testing.T) {
	t.Parallel()
	set, err := prompt.Load()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := set.Show(&b); err != nil {
		t.Fatal(err)
	}
	if len(set.Digest()) != 64 || !strings.Contains(b.String(), set.Digest()) || !strings.Contains(b.String(), "You are the chief judge") {
		t.Errorf("digest %q", set.Digest())
	}
}

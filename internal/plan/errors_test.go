package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"interlock/internal/plan"
)

const good = `"steps":["a"]`

// TestC22_BadPlansSayWhereAndWhat: every way to write a plan that two readers
// could understand differently is one error with its place.
func TestC22_BadPlansSayWhereAndWhat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"p.json", `{` + good + `,"stepz":1}`, `p.json:1:16: unknown key "stepz" in the plan (did you mean "steps"?): expected one of id, site, goal`},
		{"p.json", "{\n  \"Steps\": [\"a\"]\n}", `p.json:2:3: unknown key "Steps" in the plan: keys are case-sensitive, write "steps"`},
		{"p.json", "{\n \"goal\": \"x\",\n \"goal\": \"y\"}", `p.json:3:2: duplicate key "goal"`},
		{"p.json", `{` + good + `,"Goal":"x","goal":"y"}`, `p.json:1:27: keys "Goal" and "goal" differ only in upper and lower case`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":"t","arguments":{"a":{"b":1,"b":2}}}]}`, `duplicate key "b"`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":"t","arguments":{"speed":1,"Speed":2}}]}`, `keys "speed" and "Speed" differ only in upper and lower case`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":"t","arguments":{"\u212A":1,"k":2}}]}`, `differ only in upper and lower case`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":"t","arguments":{"a\u0000":1}}]}`, `p.json:1:64: key "a\x00" holds the control character U+0000`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":"t","arguments":{"v":1e309}}]}`, `p.json:1:68: number 1e309 is out of range`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":"t","arguments":{"v":1e-400}}]}`, `number 1e-400 is too small`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":"t","arguments":{"v":NaN}}]}`, `p.json:1:68: not valid JSON`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":"t","arguments":[]}]}`, `arguments: expected a map, found a list`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":2,"tool":"t"}]}`, `p.json:1:38: step 2 does not exist: the plan has 1`},
		{"p.json", `{"tool_calls":[{"step":2,"tool":"t"}],` + good + `}`, `p.json:1:24: step 2 does not exist: the plan has 1`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":0,"tool":"t"}]}`, `step: expected a whole number from 1`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1.5,"tool":"t"}]}`, `found 1.5`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":"1","tool":"t"}]}`, `step: expected a number, found a text`},
		{"p.json", `{` + good + `,"tool_calls":[{"tool":"t"}]}`, `has no step`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1}]}`, `has no tool`},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1,"tool":" "}]}`, `tool: must not be empty`},
		{"p.json", `{` + good + `,"on_abort":[{"step":1,"tool":"t"}]}`, `unknown key "step" in an entry of on_abort`},
		{"p.json", `{` + good + `,"attachments":[{"source":"s"}]}`, `an attachment has no text`},
		{"p.json", `{"steps":[]}`, `p.json:1:10: steps: the list is empty`},
		{"p.json", `{"steps":null}`, `steps: expected a list, found nothing (null)`},
		{"p.json", `{"steps":["a",""]}`, `p.json:1:15: a step: must not be empty`},
		{"p.json", `{"steps":["a",5]}`, `a step: expected a text, found a number: put it in quotes`},
		{"p.json", `{"goal":"x"}`, `the plan has no steps`},
		{"p.json", `{` + good + `} x`, `p.json:1:17: unexpected text after the end`},
		{"p.json", `{` + good + "}\n{" + good + `}`, `p.json:2:1: unexpected text after the end`},
		{"p.json", `{` + good + `,`, `the JSON ends too early`},
		{"p.json", ``, `p.json:1:1: the file is empty`},
		{"p.json", `[1]`, `the plan: expected a map, found a list`},
		{"p.json", "{\"steps\":[\"a\xff\"]}", `p.json:1:13: byte 0xff is not UTF-8`},
		{"p.json", `{"steps":["\ud800"]}`, `not valid JSON`},
		{"p.json", "\xef\xbb\xbf{}", `p.json:1:1: the file begins with a byte order mark`},
		{"p.json", "\xff\xfe{\x00", `the file is UTF-16`},
		{"p.json", strings.Repeat(`{"a":`, 100), `nested deeper than 64 levels`},
		{"p.json", strings.Repeat(`[`, 100000), `nested deeper than 64 levels`},
		{"p.yaml", "steps:\n  - a\nstepz: 1\n", `p.yaml:3:1: unknown key "stepz"`},
		{"p.yaml", "steps:\n  - a\nsteps:\n  - b\n", `p.yaml:3:1:`},
		{"p.yaml", "steps: [a]\ntool_calls: [{step: 1, tool: t, arguments: {v: .inf}}]\n", `p.yaml:2:48: .inf is not a finite number`},
		{"p.yaml", "steps: [a]\ntool_calls: [{step: 1, tool: t, arguments: {v: 0x1F}}]\n", `0x1F is not a plain decimal number`},
		{"p.yaml", "steps: [a]\ntool_calls: [{step: 1, tool: t, arguments: {v: 1_000}}]\n", `1_000 is not a plain decimal number`},
		{"p.yaml", "steps: [a]\ntool_calls: [{step: 1, tool: t, arguments: {v: 1e999}}]\n", `out of range`},
		{"p.yaml", "steps: &x [a]\ngoal: *x\n", `p.yaml:1:8: an anchor (&) is not allowed`},
		{"p.yaml", "steps: [!!str a]\n", `a tag (!) is not allowed`},
		{"p.yaml", "steps: [a]\n---\nsteps: [b]\n", `a second YAML document`},
		{"p.yaml", "steps: [" + strings.Repeat("[", 100000), `nested deeper than 64 levels`},
		{"p.yaml", "steps: [yes, 12]\n", `p.yaml:1:14: a step: expected a text, found a number`},
		{"p.yaml", "", `the file is empty`},
		{"p.yaml", "steps: [a\n", `p.yaml:1:8: not valid YAML`},
		{"p.yaml", "steps:\n\t- a\n", `p.yaml:2:1: not valid YAML`},
		{"p.txt", "1. a\n3. b\n", `p.txt:2:1: step number 3: expected 2`},
		{"p.txt", "1. a\n1. b\n", `p.txt:2:1: step number 1: expected 2`},
		{"p.txt", "2. a\n", `p.txt:1:1: step number 2: expected 1`},
		{"p.txt", "1. a\n01. b\n", `step number 01: expected 2`},
		{"p.txt", "1.\n", `p.txt:1:1: step 1 is empty`},
		{"p.txt", "1. a\nand then b\n", `p.txt:2:1: expected step 2 ("2. …"), or an indented line`},
		{"p.txt", "Goals: x\n1. a\n", `p.txt:1:1: expected "Goal:", "Site:"`},
		{"p.txt", "Goal: x\nGoal: y\n1. a\n", `p.txt:2:1: a second line "goal:"`},
		{"p.txt", "hello\n", `p.txt:1:1: expected "Goal:"`},
		{"p.txt", "\n", `the plan has no steps`},
		{"p.txt", "1. a\rb\n", `a carriage return`},
		{"p.jsonl", "\n\n", `p.jsonl: the file is empty`},
		{"p.jsonl", "{" + good + "}\nx\n", `p.jsonl:2:1: not valid JSON`},
	} {
		_, err := plan.Decode(tc.name, []byte(tc.in))
		var pe *plan.Error
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") || !errors.As(err, &pe) {
			t.Errorf("%.200q:\n got %v\nwant %s", tc.in, err, tc.want)
		}
	}
}

func TestGoodPlans(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in string }{
		{"p.json", `{` + good + `,"tool_calls":null,"attachments":null,"on_abort":[],"id":null,"submitted_by":null,"parent":null}`},
		{"p.json", "\r\n{" + good + "}\r\n"},
		{"p.json", `{` + good + `,"tool_calls":[{"step":1.0,"tool":"t","arguments":null}]}`},
		{"p.yaml", "steps:\r\n  - a\r\ntool_calls:\r\n"},
		{"p.yml", "# a comment\nsteps: [a]\ntool_calls: ~\n"},
		{"p.txt", "GOAL: x\r\n\r\n1) a\r\n   more\r\n\r\n2) b\r\n"},
		{"-", "{" + good + "}"},
		{"-", "{\n" + good + "}"},
		{"-", "goal: x\nsteps:\n  - 1. a\n"},
		{"-", "Goal: x\n1. a\n"},
	} {
		plans, err := plan.Decode(tc.name, []byte(tc.in))
		if err != nil || len(plans) != 1 {
			t.Errorf("%q: %d plans, %v", tc.in, len(plans), err)
		}
	}
}

func TestBadLinesDoNotSpoilGoodOnes(t *testing.T) {
	t.Parallel()
	in := "{\"id\":\"1\"," + good + "}\r\n\n{\"id\":2}\n{\"id\":\"3\"," + good + "}"
	for _, name := range []string{"-", "p.jsonl"} {
		if name == "-" {
			in = strings.ReplaceAll(in, "\n\n", "\n")
		}
		plans, err := plan.Decode(name, []byte(in))
		if len(plans) != 2 || plans[1].ID != "3" || err == nil || !strings.Contains(err.Error(), "id: expected a text") {
			t.Errorf("%s: %d plans, %v", name, len(plans), err)
		}
	}
}

// TestReadFileFaults: missing, folder, unreadable, too long.
func TestReadFileFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lim := plan.DefaultLimits()
	lim.MaxBytes = 100
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	long := strings.Repeat("x", 200)
	cases := []struct {
		path, want string
		good       int
	}{
		{filepath.Join(dir, "missing.json"), "no such file", 0},
		{dir, "is a folder", 0},
		{write("long.json", `{"goal":"`+long+`",`+good+`}`, 0o600), "longer than max_bytes (100)", 0},
		{write("long.jsonl", "{"+good+"}\n{\"goal\":\""+long+"\"}\n{"+good+"}\n", 0o600), "long.jsonl:2: the plan is longer than max_bytes (100)", 2},
	}
	if runtime.GOOS != "windows" && os.Getuid() != 0 {
		cases = append(cases, struct {
			path, want string
			good       int
		}{write("secret.json", "{}", 0), "permission denied", 0})
	}
	for _, tc := range cases {
		var errs []error
		count := 0
		for p, err := range plan.ReadFile(tc.path, lim) {
			if err != nil {
				errs = append(errs, err)
			} else if p != nil {
				count++
			}
		}
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), tc.want) || count != tc.good {
			t.Errorf("%s: %d plans, %v, want %q", tc.path, count, errs, tc.want)
		}
	}
}

func TestC07_LimitsHaveNames(t *testing.T) {
	t.Parallel()
	lim := plan.Limits{MaxBytes: 1, MaxSteps: 1, MaxStepBytes: 2, MaxCalls: 1, MaxArgumentBytes: 4, MaxAttachments: 1, MaxAttachmentBytes: 3}
	p := &plan.Plan{
		Steps:       []string{"a", "abc"},
		ToolCalls:   []plan.ToolCall{{Step: 2, Tool: "t", Arguments: map[string]any{"a": "b"}}},
		OnAbort:     []plan.ToolCall{{Tool: "t"}},
		Attachments: []plan.Attachment{{Text: "ab"}, {Text: "cd"}},
	}
	var names []string
	for _, e := range lim.Exceeded(p) {
		names = append(names, e.String())
	}
	want := "max_steps: 2, limit 1|max_step_bytes: 3, limit 2|max_calls: 2, limit 1|max_argument_bytes: 9, limit 4|max_attachments: 2, limit 1|max_attachment_bytes: 4, limit 3"
	if got := strings.Join(names, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if over := lim.Exceeded(&plan.Plan{Steps: []string{"ab"}}); len(over) > 0 {
		t.Errorf("at the limit: %v", over)
	}
}

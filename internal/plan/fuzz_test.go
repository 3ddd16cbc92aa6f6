package plan_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/plan"
)

// check holds what must be true of whatever a decoder returns.
func check(t *testing.T, p *plan.Plan, err error) {
	t.Helper()
	if err != nil {
		var pe *plan.Error
		if !errors.As(err, &pe) || strings.Contains(err.Error(), "\n") || pe.File == "" {
			t.Errorf("not a one-line error with its file: %q", err)
		}
		return
	}
	if len(p.Steps) == 0 {
		t.Error("a plan without steps was decoded")
	}
	for _, c := range p.ToolCalls {
		if c.Step < 1 || c.Step > len(p.Steps) || c.Tool == "" || c.Arguments == nil {
			t.Errorf("a bad call was decoded: %+v", c)
		}
	}
	again, err := plan.DecodeJSON("again", plan.Encode(p))
	if err != nil {
		t.Fatalf("%v\n%s", err, plan.Encode(p))
	}
	if plan.Digest(again) != plan.Digest(p) || string(plan.Encode(again)) != string(plan.Encode(p)) {
		t.Errorf("decode(encode(p)) differs:\n%s\n%s", plan.Encode(p), plan.Encode(again))
	}
}

// seed adds the examples with the extensions.
func seed(f *testing.F, exts ...string) {
	f.Helper()
	for _, ext := range exts {
		files, err := filepath.Glob(filepath.Join("..", "..", "examples", "plans", "*"+ext))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
}

func FuzzDecodeJSON(f *testing.F) {
	seed(f, ".json", ".jsonl")
	f.Add([]byte(`{"steps":["a"],"tool_calls":[{"step":1,"tool":"t","arguments":{"a":-0.0e-5,"b":[null,true]}}]}`))
	f.Add([]byte(`{"steps":["a"],"tool_calls":[{"step":1,"tool":"t","expect":{"tool":"read","arguments":{"id":"x"},"pointer":"/v","unit":"C","min":1,"max":2.0,"within_s":60}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.DecodeJSON("f.json", data)
		check(t, p, err)
	})
}

func FuzzDecodeYAML(f *testing.F) {
	seed(f, ".yaml", ".json")
	f.Add([]byte("steps:\n- |\n  a\n  b\n- >-\n  c\n- 'd'\n- \"e\\n\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.DecodeYAML("f.yaml", data)
		check(t, p, err)
	})
}

func FuzzDecodeText(f *testing.F) {
	seed(f, ".txt")
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.DecodeText("f.txt", data)
		check(t, p, err)
	})
}

// FuzzRead reads any stream: whatever the format, it ends and never panics.
func FuzzRead(f *testing.F) {
	seed(f, ".json", ".jsonl", ".yaml", ".txt")
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		for p, err := range plan.Read("-", strings.NewReader(string(data)), plan.DefaultLimits()) {
			check(t, p, err)
			n++
		}
		if n == 0 {
			t.Error("neither a plan nor an error")
		}
	})
}

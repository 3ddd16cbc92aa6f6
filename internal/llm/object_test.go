package llm_test

import (
	"encoding/json"
	"errors"
	"testing"

	"interlock/internal/llm"
)

func TestObject(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":1}`:                                `{"a":1}`,
		"```json\n{\"a\":1}\n```":                `{"a":1}`,
		"Here it is {as asked}:\n{\"a\": 1}\nOK": `{"a": 1}`,
		"{\n \"a\": \"x\ny\"}":                   "{\n \"a\": \"x\\ny\"}",
		`<think>maybe {"a":0}</think>{"a":1}`:    `{"a":1}`,
		`{"a":"\\"}" }`:                          `{"a":"\\"}`,
	} {
		got, err := llm.Object(in)
		if in == `{"a":"\\"}" }` {
			if err != nil || string(got) != `{"a":"\\"}` {
				t.Errorf("%s: %s, %v", in, got, err)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestObjectRefusesDoubt(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]error{
		"":                                      llm.ErrNoObject,
		"no braces":                             llm.ErrNoObject,
		"{as you like}":                         llm.ErrNoObject,
		`<think>{"a":1}`:                        llm.ErrNoObject,
		`{"a":1} {"a":2}`:                       llm.ErrTwoObjects,
		`{"a":1} he said " {` + "\n" + `"a":2}`: llm.ErrTwoObjects,
		`{"a":1}{}`:                             llm.ErrTwoObjects,
		`{"a":1`:                                nil,
		`{"a":NaN}`:                             nil,
		`{"a":1,"a":2}`:                         nil,
		`{"a":1,}`:                              nil,
		"{\"a\":\"\xff\"}":                      nil,
	} {
		got, err := llm.Object(in)
		if err == nil || (want != nil && !errors.Is(err, want)) {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`{"a":"1"}`, `{"a":1e999}`, `{"A":1}`, `{"a":true}`} {
		var v struct {
			A *float64 `json:"a"`
		}
		if err := llm.Decode([]byte(in), &v); err == nil && v.A != nil {
			t.Errorf("%s: read as %v", in, *v.A)
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "```\n{\"a\":\"\n\"}```", `{"a":{"b":[1]}} x`, `<think>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := llm.Object(s); err == nil && !json.Valid(got) {
			t.Errorf("%q: %q is no JSON", s, got)
		}
	})
}

func TestC09_DigestLeavesTheBlockMarkOut(t *testing.T) {
	t.Parallel()
	a := llm.Request{System: "s m1", Prompt: "m1 p", Boundary: "m1"}
	b := llm.Request{System: "s m2", Prompt: "m2 p", Boundary: "m2"}
	if a.Digest() != b.Digest() {
		t.Error("the block mark changes the digest")
	}
	b.Prompt = "m2 q"
	if a.Digest() == b.Digest() {
		t.Error("another prompt has the same digest")
	}
	if (llm.Request{System: "ab", Prompt: "c"}).Digest() == (llm.Request{System: "a", Prompt: "bc"}).Digest() {
		t.Error("the border between the texts is lost")
	}
}

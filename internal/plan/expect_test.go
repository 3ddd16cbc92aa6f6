package plan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"interlock/internal/plan"
)

const expecting = `{"steps":["Heat."],"tool_calls":[{"step":1,"tool":"hotplate.set","arguments":{"temp_c":60},"expect":%s}]}`

func TestExpectationIsDecodedStrictly(t *testing.T) {
	t.Parallel()
	good := `{"tool":"sensor.read","arguments":{"id":"hp1_temp"},"pointer":"/number","unit":"C","min":58,"max":62.0,"within_s":60}`
	p, err := plan.DecodeJSON("p.json", []byte(strings.ReplaceAll(expecting, "%s", good)))
	if err != nil {
		t.Fatal(err)
	}
	want := &plan.Expectation{Tool: "sensor.read", Arguments: map[string]any{"id": "hp1_temp"}, Pointer: "/number", Unit: "C", Min: "58", Max: "62.0", WithinS: "60"}
	if got := p.ToolCalls[0].Expect; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	for name, bad := range map[string]string{
		"no tool":          `{"pointer":"/v","min":1,"within_s":1}`,
		"no pointer":       `{"tool":"r","min":1,"within_s":1}`,
		"a relative path":  `{"tool":"r","pointer":"v","min":1,"within_s":1}`,
		"no band":          `{"tool":"r","pointer":"/v","within_s":1}`,
		"an empty band":    `{"tool":"r","pointer":"/v","min":2,"max":1,"within_s":1}`,
		"no time":          `{"tool":"r","pointer":"/v","min":1}`,
		"no time at all":   `{"tool":"r","pointer":"/v","min":1,"within_s":0}`,
		"for ever":         `{"tool":"r","pointer":"/v","min":1,"within_s":86401}`,
		"a number as text": `{"tool":"r","pointer":"/v","min":"1","within_s":1}`,
		"an unknown key":   `{"tool":"r","pointer":"/v","min":1,"within_s":1,"until":2}`,
		"a list":           `[]`,
	} {
		if _, err := plan.DecodeJSON("p.json", []byte(strings.ReplaceAll(expecting, "%s", bad))); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	abort := `{"steps":["x"],"on_abort":[{"tool":"off","arguments":{},"expect":` + good + `}]}`
	if _, err := plan.DecodeJSON("p.json", []byte(abort)); err == nil {
		t.Error("on_abort with an expectation was read")
	}
}

// TestC14_TheDigestSeesTheExpectation: each of its parts is of the plan's
// identity, and a plan without one keeps the digest it had.
func TestC14_TheDigestSeesTheExpectation(t *testing.T) {
	t.Parallel()
	with := func(change func(*plan.Expectation)) string {
		e := &plan.Expectation{Tool: "r", Arguments: map[string]any{"id": "a"}, Pointer: "/v", Unit: "C", Min: "1", Max: "2", WithinS: "3"}
		change(e)
		return plan.Digest(&plan.Plan{Steps: []string{"x"}, ToolCalls: []plan.ToolCall{{Step: 1, Tool: "t", Arguments: map[string]any{}, Expect: e}}})
	}
	base := with(func(*plan.Expectation) {})
	if base != with(func(e *plan.Expectation) { e.Min = "1.0" }) {
		t.Error("1 and 1.0 are the same bound")
	}
	changes := map[string]func(*plan.Expectation){
		"Tool": func(e *plan.Expectation) { e.Tool = "q" }, "Arguments": func(e *plan.Expectation) { e.Arguments["id"] = "b" },
		"Pointer": func(e *plan.Expectation) { e.Pointer = "/w" }, "Unit": func(e *plan.Expectation) { e.Unit = "K" },
		"Min": func(e *plan.Expectation) { e.Min = "" }, "Max": func(e *plan.Expectation) { e.Max = "2.5" },
		"WithinS": func(e *plan.Expectation) { e.WithinS = "4" },
	}
	for i := range reflect.TypeFor[plan.Expectation]().NumField() {
		name := reflect.TypeFor[plan.Expectation]().Field(i).Name
		if changes[name] == nil {
			t.Errorf("no change for %s", name)
		} else if with(changes[name]) == base {
			t.Errorf("a change of %s does not change the digest", name)
		}
	}
	plain := plan.Canonical(&plan.Plan{Steps: []string{"x"}, ToolCalls: []plan.ToolCall{{Step: 1, Tool: "t", Arguments: map[string]any{}}}})
	if string(plain) != `{"steps":["x"],"tool_calls":[{"arguments":{},"step":1,"tool":"t"}]}` {
		t.Errorf("%s", plain)
	}
}

func TestExpectationCountsAgainstTheLimit(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Steps: []string{"x"}, ToolCalls: []plan.ToolCall{{Step: 1, Tool: "t", Arguments: map[string]any{}, Expect: &plan.Expectation{
		Tool: "r", Arguments: map[string]any{"id": strings.Repeat("a", 100)}, Pointer: "/v", Min: json.Number("1"), WithinS: "1",
	}}}}
	lim := plan.DefaultLimits()
	lim.MaxArgumentBytes = 80
	if over := lim.Exceeded(p); len(over) != 1 || over[0].Limit != "max_argument_bytes" || over[0].Step != 1 {
		t.Errorf("%v", over)
	}
}

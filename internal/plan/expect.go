package plan

import (
	"encoding/json"
	"strings"

	"interlock/internal/strict"
)

// An Expectation is a postcondition: after its call has been carried out, a
// value that another tool reads must come into a band within a time. The gate
// reads it, not the planner.
type Expectation struct {
	Tool      string         // that reads, as the site profile lists it
	Arguments map[string]any // JSON values
	Pointer   string         // JSON pointer (RFC 6901) to a number in the tool's result
	Unit      string         // of the number, for people and judges; "" if not given
	Min, Max  json.Number    // inclusive; "" where the band is open, never both
	WithinS   json.Number    // seconds from the end of the call, above 0 and at most MaxWithinS
}

// MaxWithinS is the longest time, in seconds, an expectation may take.
const MaxWithinS = 86400

var expectKeys = []string{"tool", "arguments", "pointer", "unit", "min", "max", "within_s"}

// expectation reads the postcondition of a call; null counts as not given.
func (d *decoder) expectation(n *strict.Node) *Expectation {
	if n.Kind == strict.Null {
		return nil
	}
	e := &Expectation{}
	for _, f := range d.Fields(n, "expect", expectKeys) {
		v := &f.Value
		switch f.Key {
		case "tool":
			e.Tool = d.Word(v, "expect.tool")
		case "arguments":
			e.Arguments = d.arguments(v)
		case "pointer":
			e.Pointer = d.Word(v, "expect.pointer")
		case "unit":
			e.Unit = d.optional(v, "expect.unit")
		case "min":
			e.Min = d.number(v, "expect.min")
		case "max":
			e.Max = d.number(v, "expect.max")
		case "within_s":
			e.WithinS = d.number(v, "expect.within_s")
		}
	}
	if e.Arguments == nil {
		e.Arguments = map[string]any{}
	}
	d.checkExpectation(n, e)
	return e
}

func (d *decoder) number(n *strict.Node, what string) json.Number {
	d.Float(n, what)
	if d.Err() != nil {
		return ""
	}
	v, _ := n.Value().(json.Number)
	return v
}

func (d *decoder) checkExpectation(n *strict.Node, e *Expectation) {
	if d.Err() != nil {
		return
	}
	lo, _ := e.Min.Float64()
	hi, _ := e.Max.Float64()
	within, _ := e.WithinS.Float64()
	switch {
	case e.Tool == "":
		d.Fail(n.Pos, "expect has no tool: expected the name of one that only reads")
	case !strings.HasPrefix(e.Pointer, "/"):
		d.Fail(n.Pos, "expect.pointer: expected a JSON pointer into the result of %s, from /", e.Tool)
	case e.Min == "" && e.Max == "":
		d.Fail(n.Pos, "expect has no band: expected min, max or both")
	case e.Min != "" && e.Max != "" && lo > hi:
		d.Fail(n.Pos, "expect: min %s is above max %s", e.Min, e.Max)
	case !(within > 0 && within <= MaxWithinS):
		d.Fail(n.Pos, "expect.within_s: expected seconds above 0 and at most %d", MaxWithinS)
	}
}

// expectation gives the fields in alphabetical order.
func (w *writer) expectation(e *Expectation) {
	if e == nil {
		return
	}
	number := func(name string, n json.Number) {
		if n != "" {
			w.key(name)
			w.b = strict.AppendValue(w.b, n, w.exact)
		}
	}
	w.key("expect")
	w.b = append(w.b, '{')
	w.key("arguments")
	w.b = strict.AppendValue(w.b, e.Arguments, w.exact)
	number("max", e.Max)
	number("min", e.Min)
	w.text("pointer", e.Pointer)
	w.text("tool", e.Tool)
	w.text("unit", e.Unit)
	number("within_s", e.WithinS)
	w.b = append(w.b, '}')
}

// Map gives the expectation as a JSON value with the keys it is written with;
// nil for none.
func (e *Expectation) Map() map[string]any {
	if e == nil {
		return nil
	}
	m := map[string]any{"tool": e.Tool, "arguments": e.Arguments, "pointer": e.Pointer, "within_s": e.WithinS}
	if e.Unit != "" {
		m["unit"] = e.Unit
	}
	if e.Min != "" {
		m["min"] = e.Min
	}
	if e.Max != "" {
		m["max"] = e.Max
	}
	return m
}

package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/strict"
)

// readingKey marks an argument whose value is only known when the plan runs:
// a number a trusted tool reads within declared bounds (C42).
const readingKey = "$reading"

// maxReadingAge bounds how old a reading a plan may declare to rest on.
const maxReadingAge = time.Hour

// A reading is a declared one, which stands where a number will be.
type reading struct {
	Tool    string // an observe-only tool of the site
	Pointer string // JSON pointer into its structured result
	Unit    string
	Min     json.Number
	Max     json.Number
	MaxAge  time.Duration
}

// readReading decodes a declared reading; ok is false for any other value.
func readReading(v any) (r reading, ok bool, err error) {
	m, isMap := v.(map[string]any)
	if !isMap {
		return r, false, nil
	}
	body, has := m[readingKey]
	if !has {
		return r, false, nil
	}
	fields, isMap := body.(map[string]any)
	if !isMap || len(m) != 1 {
		return r, true, fmt.Errorf("%s: expected an object and nothing beside it", readingKey)
	}
	age := json.Number("")
	for k, v := range fields {
		text, isText := v.(string)
		number, isNumber := v.(json.Number)
		switch {
		case k == "tool" && isText:
			r.Tool = text
		case k == "pointer" && isText:
			r.Pointer = text
		case k == "unit" && isText:
			r.Unit = text
		case k == "min" && isNumber:
			r.Min = number
		case k == "max" && isNumber:
			r.Max = number
		case k == "max_age_s" && isNumber:
			age = number
		default:
			return r, true, fmt.Errorf("%s.%s: unknown key or wrong type: expected tool, pointer, unit (texts), min, max, max_age_s (numbers)", readingKey, k)
		}
	}
	return r, true, r.check(age)
}

func (r *reading) check(age json.Number) error {
	lo, hi := number(r.Min), number(r.Max)
	seconds := number(age)
	switch {
	case r.Tool == "" || !strings.HasPrefix(r.Pointer, "/") || r.Unit == "":
		return fmt.Errorf("%s: tool, pointer (from /) and unit must be given", readingKey)
	case math.IsNaN(lo) || math.IsNaN(hi) || lo > hi:
		return fmt.Errorf("%s: expected min <= max, both numbers", readingKey)
	case !(seconds > 0 && seconds <= maxReadingAge.Seconds()):
		return fmt.Errorf("%s: max_age_s must be above 0 and at most %g", readingKey, maxReadingAge.Seconds())
	}
	r.MaxAge = time.Duration(seconds * float64(time.Second))
	return nil
}

func number(n json.Number) float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// ends returns the plan with every declared reading at its low and at its high end;
// one plan if there is none. The plan is judged at both (C42).
func (g *Gate) ends(p *plan.Plan) ([]*plan.Plan, error) {
	found := false
	low, high := *p, *p
	low.ToolCalls, high.ToolCalls = nil, nil
	for i, c := range p.ToolCalls {
		a, b := map[string]any{}, map[string]any{}
		for name, v := range c.Arguments {
			a[name], b[name] = v, v
			r, ok, err := readReading(v)
			if !ok {
				continue
			}
			if err == nil {
				err = g.trusted(c.Tool, name, r)
			}
			if err != nil {
				return nil, fmt.Errorf("tool_calls[%d].arguments.%s: %w", i+1, name, err)
			}
			found = true
			a[name], b[name] = r.Min, r.Max
		}
		low.ToolCalls = append(low.ToolCalls, plan.ToolCall{Step: c.Step, Tool: c.Tool, Arguments: a, Expect: c.Expect})
		high.ToolCalls = append(high.ToolCalls, plan.ToolCall{Step: c.Step, Tool: c.Tool, Arguments: b, Expect: c.Expect})
	}
	if !found {
		return []*plan.Plan{p}, nil
	}
	return []*plan.Plan{&low, &high}, nil
}

// trusted checks that a reading stands for a quantity and comes from a
// tool that only reads: never a device, a person, a place or a text.
func (g *Gate) trusted(tool, arg string, r reading) error {
	t := g.tool(g.server(tool), tool)
	if t == nil {
		return fmt.Errorf("%s is not on this site's list of tools", tool)
	}
	a := t.Arg(arg)
	if a == nil || len(a.Enum) > 0 || (a.Min == nil && a.Max == nil) {
		return fmt.Errorf("a reading can only stand for a number with limits")
	}
	src := g.tool(g.server(r.Tool), r.Tool)
	if src == nil || src.Effect != site.Observe {
		return fmt.Errorf("%s is not a tool of this site that only reads", r.Tool)
	}
	return nil
}

// matches compares the arguments of a call with those of a slot.
func (g *Gate) matches(ask grant.Ask, slot grant.Slot) (bool, string) {
	if string(strict.Canonical(ask.Args)) == string(slot.Args) {
		return true, ""
	}
	n, err := strict.JSON("arguments", 1, slot.Args)
	if err != nil {
		return false, "the accepted arguments cannot be read"
	}
	want, _ := n.Value().(map[string]any)
	if len(want) != len(ask.Args) {
		return false, differ(want, ask.Args)
	}
	for name, w := range want {
		got, given := ask.Args[name]
		if !given {
			return false, differ(want, ask.Args)
		}
		r, ok, err := readReading(w)
		if !ok {
			if string(strict.Canonical(w)) != string(strict.Canonical(got)) {
				return false, fmt.Sprintf("argument %q is not that of the accepted plan", name)
			}
			continue
		}
		if err != nil {
			return false, err.Error()
		}
		if why := g.reads.fits(ask.Requester, r, got, g.o.Now()); why != "" {
			return false, fmt.Sprintf("argument %q: %s", name, why)
		}
	}
	return true, ""
}

// differ names an argument that one side has and the other has not.
func differ(want, got map[string]any) string {
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Sprintf("argument %q is not in the accepted plan", name)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			return fmt.Sprintf("argument %q of the accepted plan is missing", name)
		}
	}
	return "the arguments are not those of the accepted plan"
}

// readings keeps the last result of each tool for each client.
type readings struct {
	mu   sync.Mutex
	last map[string]readResult
}

type readResult struct {
	body []byte
	at   time.Time
}

// maxReading bounds a result that is kept.
const maxReading = 64 << 10

func newReadings() *readings { return &readings{last: map[string]readResult{}} }

func (r *readings) keep(who, tool string, result []byte, at time.Time) {
	body := wire.Get(result, "structuredContent")
	if body == nil || len(body) > maxReading {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[who+"\x00"+tool] = readResult{append([]byte(nil), body...), at}
}

// fits says why a value is not the reading that was declared, "" if it is.
func (r *readings) fits(who string, want reading, got any, now time.Time) string {
	n, ok := got.(json.Number)
	if !ok {
		return "expected a number"
	}
	if x := number(n); !(x >= number(want.Min) && x <= number(want.Max)) {
		return fmt.Sprintf("%s is outside %s to %s %s", n, want.Min, want.Max, want.Unit)
	}
	r.mu.Lock()
	last, ok := r.last[who+"\x00"+want.Tool]
	r.mu.Unlock()
	if !ok || now.Sub(last.at) > want.MaxAge {
		return fmt.Sprintf("%s has not been read in the last %s", want.Tool, want.MaxAge)
	}
	node, err := strict.JSON("result", 1, last.body)
	if err != nil {
		return "the reading cannot be read"
	}
	for part := range strings.SplitSeq(want.Pointer[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if node = node.Field(part); node == nil {
			return fmt.Sprintf("the result of %s has no %s", want.Tool, want.Pointer)
		}
	}
	if node.Kind != strict.Number || string(strict.Canonical(node.Value())) != string(strict.Canonical(n)) {
		return fmt.Sprintf("%s is not what %s read", n, want.Tool)
	}
	return ""
}

package derive

import (
	"encoding/json"
	"fmt"
	"time"

	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/site"
)

// Example derives the facts of a check's example: a plan of its steps and
// calls, with unknown live state.
func (d *Deriver) Example(e site.CheckExample) (*fact.Set, error) {
	p := &plan.Plan{ID: "example", Site: d.site.ID, Steps: e.Steps}
	p.SubmittedBy.OnBehalfOf = e.OnBehalfOf
	for _, text := range e.Attachments {
		p.Attachments = append(p.Attachments, plan.Attachment{Source: "document", Text: text})
	}
	for i, c := range e.Calls {
		call, err := exampleCall(c)
		if err != nil {
			return nil, fmt.Errorf("call %d of the example: %w", i+1, err)
		}
		p.ToolCalls = append(p.ToolCalls, call)
	}
	return d.Facts(p, site.State{}, time.Time{}), nil
}

func exampleCall(c map[string]any) (plan.ToolCall, error) {
	var call plan.ToolCall
	for k, v := range c {
		var ok bool
		switch k {
		case "step":
			var f float64
			f, ok = asNumber(v)
			call.Step = int(f)
		case "tool":
			call.Tool, ok = v.(string)
		case "arguments":
			call.Arguments, ok = v.(map[string]any)
		default:
			return call, fmt.Errorf("unknown key %q: expected step, tool or arguments", k)
		}
		if !ok {
			return call, fmt.Errorf("%s has the wrong type: %T", k, v)
		}
	}
	if call.Tool == "" {
		return call, fmt.Errorf("tool is missing")
	}
	return call, nil
}

func asNumber(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case uint64:
		return float64(x), true
	case json.Number:
		f, err := x.Float64()
		return f, err == nil
	}
	return 0, false
}

package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"interlock/internal/strict"
)

// Limits bound what is taken in and what is judged. MaxBytes is a transport
// limit: a longer plan is an input error. All others are judging limits: the
// plan is decodable and is rejected with the limit's name (C7).
type Limits struct {
	MaxBytes           int // bytes of one plan as written: a file, a line of JSONL, a request body
	MaxSteps           int // steps
	MaxStepBytes       int // bytes of one step, and of the goal
	MaxCalls           int // tool calls, on_abort included
	MaxArgumentBytes   int // bytes of the arguments of one call, what it expects included, as canonical JSON
	MaxAttachments     int // attachments
	MaxAttachmentBytes int // bytes of all attachments together
}

// DefaultLimits returns limits that leave room for long protocols.
func DefaultLimits() Limits {
	return Limits{
		MaxBytes: 1 << 20, MaxSteps: 200, MaxStepBytes: 8 << 10, MaxCalls: 500,
		MaxArgumentBytes: 64 << 10, MaxAttachments: 20, MaxAttachmentBytes: 256 << 10,
	}
}

// An Excess is a judging limit that a plan is over.
type Excess struct {
	Limit string // name, e.g. "max_steps"
	Got   int
	Max   int
	Step  int // 1-based step it concerns; 0: the plan as a whole
}

func (e Excess) String() string { return fmt.Sprintf("%s: %d, limit %d", e.Limit, e.Got, e.Max) }

// Exceeded returns the judging limits that the plan is over, each once, with
// the largest value found.
func (l Limits) Exceeded(p *Plan) []Excess {
	var over []Excess
	add := func(limit string, got, most, step int) {
		if got > most {
			over = append(over, Excess{Limit: limit, Got: got, Max: most, Step: step})
		}
	}
	longest, at := len(p.Goal), 0
	for i, s := range p.Steps {
		if len(s) > longest {
			longest, at = len(s), i+1
		}
	}
	largest, step := 0, 0
	for _, calls := range [][]ToolCall{p.ToolCalls, p.OnAbort} {
		for _, c := range calls {
			args := any(c.Arguments)
			if c.Expect != nil { // both together: neither is a way around the limit
				args = []any{c.Arguments, c.Expect.Map()}
			}
			if canonicalAtMost(args) <= l.MaxArgumentBytes {
				continue
			}
			if n := len(strict.Canonical(args)); n > largest {
				largest, step = n, c.Step
			}
		}
	}
	attached := 0
	for _, a := range p.Attachments {
		attached += len(a.Source) + len(a.Text)
	}
	add("max_steps", len(p.Steps), l.MaxSteps, 0)
	add("max_step_bytes", longest, l.MaxStepBytes, at)
	add("max_calls", len(p.ToolCalls)+len(p.OnAbort), l.MaxCalls, 0)
	add("max_argument_bytes", largest, l.MaxArgumentBytes, step)
	add("max_attachments", len(p.Attachments), l.MaxAttachments, 0)
	add("max_attachment_bytes", attached, l.MaxAttachmentBytes, 0)
	return over
}

// canonicalAtMost returns a size that the canonical JSON of v does not exceed,
// without writing it: most arguments are far below any limit.
func canonicalAtMost(v any) int {
	const other = 64
	switch v := v.(type) {
	case string:
		return quotedAtMost(v)
	case json.Number:
		if strings.ContainsAny(string(v), "eE") {
			return math.MaxInt32 // written out, it can be long
		}
		return len(v) + other
	case []any:
		n := 2
		for _, item := range v {
			n += canonicalAtMost(item) + 1
		}
		return n
	case map[string]any:
		n := 2
		for k, item := range v {
			n += quotedAtMost(k) + canonicalAtMost(item) + 2
		}
		return n
	default:
		return other
	}
}

func quotedAtMost(s string) int { return len(`\u0000`)*len(s) + len(`""`) }

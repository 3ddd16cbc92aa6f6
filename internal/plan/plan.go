// Package plan holds the plans an AI planner submits: strict decoding from
// JSON, YAML, JSONL and numbered text, canonical bytes and a digest. What is
// judged is exactly what was decoded; nothing is guessed, dropped or shortened.
package plan

// A Plan is the finite sequence T = (t1..tn) submitted for verification,
// together with the tool calls that would carry it out. It is immutable after
// decoding: do not write to its slices or maps.
type Plan struct {
	ID          string
	Site        string
	Goal        string
	SubmittedBy Submitter
	Steps       []string // natural language, n >= 1
	ToolCalls   []ToolCall
	Attachments []Attachment
	SubmittedAt string // RFC 3339 as claimed by the planner, "" if not given; our receive time rules (C33)
	Parent      string // the plan this one reformulates, "" if none
	OnAbort     []ToolCall
}

// A Submitter says who hands the plan in. Over a transport the agent comes
// from the credential and a body that says otherwise is refused (C33).
type Submitter struct {
	Agent      string
	OnBehalfOf string
}

// A ToolCall is one concrete call of the plan.
type ToolCall struct {
	Step      int            // 1-based step it carries out; 0 only in OnAbort
	Tool      string         // name as the site profile lists it
	Arguments map[string]any // JSON values: map[string]any, []any, string, json.Number, bool, nil
	Expect    *Expectation   // what must hold after it; nil if nothing is declared, and always in OnAbort
}

// An Attachment is a text the plan refers to: untrusted data.
type Attachment struct {
	Source string
	Text   string
}

// Call returns the calls of step n (1-based), in order.
func (p *Plan) Calls(n int) []ToolCall {
	var calls []ToolCall
	for _, c := range p.ToolCalls {
		if c.Step == n {
			calls = append(calls, c)
		}
	}
	return calls
}

package plan

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"interlock/internal/strict"
)

// An Error says where a plan is wrong and what was expected there.
type Error = strict.Error

// The keys of a plan. They are the contract with planners.
var (
	planKeys       = []string{"id", "site", "goal", "submitted_by", "steps", "tool_calls", "attachments", "submitted_at", "parent", "on_abort"}
	submitterKeys  = []string{"agent", "on_behalf_of"}
	callKeys       = []string{"step", "tool", "arguments", "expect"}
	abortKeys      = []string{"tool", "arguments"}
	attachmentKeys = []string{"source", "text"}
)

// Decode reads every plan in data: the format follows from the extension of
// name (.json, .yaml, .yml, .jsonl, .txt), else from the content. JSONL gives
// several plans; its bad lines do not spoil the good ones: Decode then returns
// the good plans together with the joined errors of the others.
func Decode(name string, data []byte) ([]*Plan, error) {
	var plans []*Plan
	var errs []error
	for p, err := range decodeAll(name, data) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		plans = append(plans, p)
	}
	return plans, errors.Join(errs...)
}

// DecodeOne reads data that must hold exactly one plan, as a request body does.
func DecodeOne(name string, data []byte) (*Plan, error) {
	plans, err := Decode(name, data)
	if err != nil {
		return nil, err
	}
	if len(plans) != 1 {
		return nil, &Error{File: name, Msg: fmt.Sprintf("expected one plan, found %d", len(plans))}
	}
	return plans[0], nil
}

// DecodeJSON reads one plan as JSON. name stands in error messages.
func DecodeJSON(name string, data []byte) (*Plan, error) { return decodeJSON(name, 1, data) }

func decodeJSON(name string, line int, data []byte) (*Plan, error) {
	root, err := strict.JSON(name, line, data)
	if err != nil {
		return nil, err
	}
	return fromTree(name, root)
}

// DecodeYAML reads one plan as YAML. name stands in error messages.
func DecodeYAML(name string, data []byte) (*Plan, error) {
	root, err := strict.YAML(name, data)
	if err != nil {
		return nil, err
	}
	return fromTree(name, root)
}

func fromTree(name string, root *strict.Node) (*Plan, error) {
	d := decoder{strict.Reader{File: name}}
	p := d.plan(root)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// A decoder takes a plan out of a tree.
type decoder struct{ strict.Reader }

func (d *decoder) plan(n *strict.Node) *Plan {
	p := &Plan{}
	var steps *strict.Node
	for _, f := range d.Fields(n, "the plan", planKeys) {
		v := &f.Value
		switch f.Key {
		case "id":
			p.ID = d.optional(v, "id")
		case "site":
			p.Site = d.optional(v, "site")
		case "goal":
			p.Goal = d.optional(v, "goal")
		case "submitted_by":
			p.SubmittedBy = d.submitter(v)
		case "steps":
			steps = v
			p.Steps = d.steps(v)
		case "tool_calls":
			p.ToolCalls = d.calls(v, "tool_calls", callKeys)
		case "attachments":
			p.Attachments = d.attachments(v)
		case "submitted_at":
			p.SubmittedAt = d.optional(v, "submitted_at")
		case "parent":
			p.Parent = d.optional(v, "parent")
		case "on_abort":
			p.OnAbort = d.calls(v, "on_abort", abortKeys)
		}
	}
	if steps == nil {
		d.Fail(n.Pos, "the plan has no steps: expected \"steps\", a list of texts")
	}
	d.checkSteps(n, p)
	return p
}

// optional returns a text; null counts as not given.
func (d *decoder) optional(n *strict.Node, what string) string {
	if n.Kind == strict.Null {
		return ""
	}
	return d.Text(n, what)
}

func (d *decoder) submitter(n *strict.Node) (s Submitter) {
	if n.Kind == strict.Null {
		return s
	}
	for _, f := range d.Fields(n, "submitted_by", submitterKeys) {
		switch f.Key {
		case "agent":
			s.Agent = d.optional(&f.Value, "submitted_by.agent")
		case "on_behalf_of":
			s.OnBehalfOf = d.optional(&f.Value, "submitted_by.on_behalf_of")
		}
	}
	return s
}

func (d *decoder) steps(n *strict.Node) []string {
	items := d.Items(n, "steps")
	if len(items) == 0 {
		d.Fail(n.Pos, "steps: the list is empty, expected at least one step")
		return nil
	}
	steps := make([]string, len(items))
	for i := range items {
		steps[i] = d.Word(&items[i], "a step")
	}
	return steps
}

func (d *decoder) calls(n *strict.Node, what string, keys []string) []ToolCall {
	if n.Kind == strict.Null {
		return nil
	}
	items := d.Items(n, what)
	if len(items) == 0 {
		return nil
	}
	calls := make([]ToolCall, len(items))
	for i := range items {
		calls[i] = d.call(&items[i], what, keys)
	}
	return calls
}

func (d *decoder) call(n *strict.Node, what string, keys []string) ToolCall {
	c := ToolCall{}
	var step, tool bool
	for _, f := range d.Fields(n, "an entry of "+what, keys) {
		v := &f.Value
		switch f.Key {
		case "step":
			step = true
			c.Step = d.Int(v, "step", 1, maxInt)
		case "tool":
			tool = true
			c.Tool = d.Word(v, "tool")
		case "arguments":
			c.Arguments = d.arguments(v)
		case "expect":
			c.Expect = d.expectation(v)
		}
	}
	if len(keys) == len(callKeys) && !step {
		d.Fail(n.Pos, "an entry of %s has no step: expected the number of the step it carries out, from 1", what)
	}
	if !tool {
		d.Fail(n.Pos, "an entry of %s has no tool", what)
	}
	if c.Arguments == nil {
		c.Arguments = map[string]any{}
	}
	return c
}

const maxInt = 1<<31 - 1

func (d *decoder) arguments(n *strict.Node) map[string]any {
	switch n.Kind {
	case strict.Null:
		return nil
	case strict.Map:
		m, _ := n.Value().(map[string]any)
		return m
	default:
		d.Fail(n.Pos, "arguments: expected a map, found %s", n.Kind)
		return nil
	}
}

func (d *decoder) attachments(n *strict.Node) []Attachment {
	if n.Kind == strict.Null {
		return nil
	}
	items := d.Items(n, "attachments")
	if len(items) == 0 {
		return nil
	}
	list := make([]Attachment, len(items))
	for i := range items {
		text := false
		for _, f := range d.Fields(&items[i], "an attachment", attachmentKeys) {
			switch f.Key {
			case "source":
				list[i].Source = d.optional(&f.Value, "source")
			case "text":
				text = true
				list[i].Text = d.Text(&f.Value, "text")
			}
		}
		if !text {
			d.Fail(items[i].Pos, "an attachment has no text")
		}
	}
	return list
}

// checkSteps holds the step numbers of the calls against the steps, which may
// stand after them in the file.
func (d *decoder) checkSteps(n *strict.Node, p *Plan) {
	calls := n.Field("tool_calls")
	for i, c := range p.ToolCalls {
		if c.Step > len(p.Steps) && d.Err() == nil {
			d.Fail(calls.Items[i].Field("step").Pos, "step %d does not exist: the plan has %d", c.Step, len(p.Steps))
		}
	}
}

// A format is how a plan is written.
type format uint8

const (
	formatJSON format = iota
	formatJSONL
	formatYAML
	formatText
)

// formatOf tells the format by the name's extension, else by the content.
func formatOf(name string, head []byte) format {
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".json"):
		return formatJSON
	case strings.HasSuffix(lower, ".jsonl"), strings.HasSuffix(lower, ".ndjson"):
		return formatJSONL
	case strings.HasSuffix(lower, ".yaml"), strings.HasSuffix(lower, ".yml"):
		return formatYAML
	case strings.HasSuffix(lower, ".txt"), strings.HasSuffix(lower, ".md"):
		return formatText
	}
	return sniff(head)
}

// sniff tells the format by the first bytes: an object that is complete on the
// first line with another one after it is JSONL; a line "steps:" makes YAML.
func sniff(head []byte) format {
	head = bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(head, []byte("{")) {
		line, rest, _ := bytes.Cut(head, []byte{'\n'})
		if bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("{")) && bytes.HasSuffix(bytes.TrimRight(line, " \t\r"), []byte("}")) {
			return formatJSONL
		}
		return formatJSON
	}
	for line := range bytes.Lines(head) {
		if bytes.HasPrefix(line, []byte("steps:")) || bytes.HasPrefix(line, []byte("steps :")) {
			return formatYAML
		}
	}
	return formatText
}

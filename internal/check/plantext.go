package check

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"interlock/internal/plan"
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// A role says what a part of a plan is for.
type role uint8

const (
	roleGoal role = iota
	roleStep
	roleArgument   // a string inside a call's arguments
	roleAttachment // data the plan refers to; never carried out
)

// A part is one text of the plan with its place, read once for all checks.
type part struct {
	role   role
	name   string       // how Result.Parts names it
	span   verdict.Span // of the whole part
	text   string
	low    string // the text with ASCII letters in lower case: same offsets
	toks   []token
	quant  []quantity.Quantity
	call   int    // index into the plan's calls (on_abort after tool_calls); -1 outside calls
	arg    string // name of the argument, "" outside calls
	tool   string
	source string // of an attachment
	has    contents
}

// at returns the span of bytes start to end of the part.
func (p *part) at(start, end int) verdict.Span {
	s := p.span
	s.Start, s.End = start, end
	return s
}

// A planText is a plan with every text in it read into words. Its storage is
// used again for the next plan, so nothing of it may outlive Run but strings.
type planText struct {
	plan      *plan.Plan
	calls     []plan.ToolCall // tool_calls, then on_abort
	parts     []part
	steps     []int      // index in parts of each step
	names     []string   // of each call, as Result.Parts gives them
	argNames  [][]string // of each call, sorted
	firstPart []int      // index in parts of the first argument of each call

	pool   *sync.Pool // where the storage goes back to
	toks   []token    // backing of the parts' words
	hits   []hit
	sorted []string
	quant  quantity.Reader
}

// storage returns a planText to fill, one used before if there is one.
func (x *index) storage() *planText {
	t, ok := x.texts.Get().(*planText)
	if !ok {
		t = new(planText)
	}
	t.pool = &x.texts
	return t
}

// release gives the storage back, with nothing of the plan left in it.
func (t *planText) release() {
	const most = 1 << 16 // words; storage grown by an unusual plan is let go
	if cap(t.toks) > most {
		return
	}
	t.plan, t.calls = nil, nil
	clear(t.parts)
	clear(t.names)
	clear(t.argNames)
	clear(t.toks)
	clear(t.sorted)
	t.quant.Reset()
	t.firstPart = t.firstPart[:0]
	t.parts, t.steps, t.names, t.argNames, t.toks, t.sorted = t.parts[:0], t.steps[:0], t.names[:0], t.argNames[:0], t.toks[:0], t.sorted[:0]
	t.pool.Put(t)
}

// parse returns the parts of the plan, read now if Run has not done so.
func (in *Input) parse(lex *lexicon) *planText {
	if in.read == nil {
		in.read = new(planText)
		in.read.fill(in.Plan, lex)
	}
	return in.read
}

// fill reads the plan: first its parts, then the words of each.
func (t *planText) fill(p *plan.Plan, lex *lexicon) {
	t.plan, t.calls = p, p.ToolCalls
	if len(p.OnAbort) > 0 {
		t.calls = append(slices.Clip(p.ToolCalls), p.OnAbort...)
	}
	t.parts = append(t.parts, part{role: roleGoal, name: "goal", span: verdict.Span{Part: "goal"}, text: p.Goal, call: -1})
	for i, s := range p.Steps {
		t.steps = append(t.steps, len(t.parts))
		t.parts = append(t.parts, part{role: roleStep, name: strings.TrimSpace(labelOf(&stepLabels, "step ", i, " ")), span: verdict.Span{Step: i + 1}, text: s, call: -1})
	}
	for i := range t.calls {
		t.names = append(t.names, callPart(i, len(p.ToolCalls), ""))
		t.arguments(i, &t.calls[i])
	}
	for i, a := range p.Attachments {
		name := "attachments[" + strconv.Itoa(i+1) + "].text"
		t.parts = append(t.parts, part{role: roleAttachment, name: name, span: verdict.Span{Part: name}, text: a.Text, call: -1, source: a.Source})
	}
	t.fold()
	for i := range t.parts {
		if p := &t.parts[i]; p.role != roleAttachment { // data: its words are not read
			t.words(p, lex)
		}
	}
}

// fold sets the lower-case form of every part, all in one string.
func (t *planText) fold() {
	size := 0
	for i := range t.parts {
		size += len(t.parts[i].text)
	}
	var b strings.Builder
	b.Grow(size)
	for i := range t.parts {
		quantity.AppendLower(&b, t.parts[i].text)
	}
	all := b.String()
	for i := range t.parts {
		n := len(t.parts[i].text)
		t.parts[i].low, all = all[:n], all[n:]
	}
}

// words reads the words and quantities of one part.
func (t *planText) words(p *part, lex *lexicon) {
	start := len(t.toks)
	t.toks = lex.tokens(p.text, p.low, t.toks)
	p.toks = t.toks[start:len(t.toks):len(t.toks)]
	p.has.read(p.toks)
	if p.role != roleArgument {
		p.quant = t.quant.Read(p.text, p.low)
	}
}

// arguments adds every string in the arguments of call i, nested ones and keys
// of nested objects included.
func (t *planText) arguments(i int, c *plan.ToolCall) {
	start := len(t.sorted)
	t.firstPart = append(t.firstPart, len(t.parts))
	for name := range c.Arguments {
		t.sorted = append(t.sorted, name)
	}
	names := t.sorted[start:len(t.sorted):len(t.sorted)]
	slices.Sort(names)
	t.argNames = append(t.argNames, names)
	prefix := ""
	if c.Step > 0 {
		prefix = labelOf(&stepLabels, "step ", c.Step-1, " ")
	}
	for _, name := range names {
		switch v := c.Arguments[name].(type) {
		case string, []any, map[string]any:
			t.value(i, c, name, prefix+t.names[i]+"."+name, v)
		}
	}
}

// value adds the texts in one value; where is its place as Result.Parts gives
// it, the step included.
func (t *planText) value(i int, c *plan.ToolCall, name, where string, v any) {
	switch x := v.(type) {
	case string:
		span := verdict.Span{Step: c.Step, Part: where}
		if c.Step > 0 {
			_, rest, _ := strings.Cut(where[len("step "):], " ")
			span.Part = rest
		}
		t.parts = append(t.parts, part{role: roleArgument, name: where, span: span, text: x, call: i, arg: name, tool: c.Tool})
	case []any:
		for k, e := range x {
			t.value(i, c, name, where+"["+strconv.Itoa(k+1)+"]", e)
		}
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			t.value(i, c, name, where+"."+k, k)
			t.value(i, c, name, where+"."+k, x[k])
		}
	}
}

// callPart names an argument as spans cite it: calls[2].speed_mm_s.
func callPart(i, calls int, arg string) string {
	name := ""
	if i < calls {
		name = labelOf(&callLabels, "calls[", i, "]")
	} else {
		name = labelOf(&abortLabels, "on_abort[", i-calls, "]")
	}
	if arg != "" {
		name += "." + arg
	}
	return name
}

// labels are the names of the first parts of a kind, made once.
type labels [64]string

var stepLabels, callLabels, abortLabels = newLabels("step ", " "), newLabels("calls[", "]"), newLabels("on_abort[", "]")

func newLabels(before, after string) (l labels) {
	for i := range l {
		l[i] = before + strconv.Itoa(i+1) + after
	}
	return l
}

// labelOf returns the name of part i, counted from 0.
func labelOf(l *labels, before string, i int, after string) string {
	if i >= 0 && i < len(l) {
		return l[i]
	}
	return before + strconv.Itoa(i+1) + after
}

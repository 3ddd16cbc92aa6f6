package check

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"interlock/internal/plan"
	"interlock/internal/quantity"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Agreement holds steps and calls against each other: what a person reads and
// what a machine does must be the same device, target, quantity and act. A call
// that its step contradicts, or that no step describes, is a block.
type Agreement struct{ x *index }

// NewAgreement returns the check for one site.
func NewAgreement(s *site.Site) Agreement { return Agreement{compile(s)} }

// ID implements Checker.
func (Agreement) ID() string { return "agreement" }

func (c Agreement) index() *index { return c.x }

// Check implements Checker.
func (c Agreement) Check(in Input) Result {
	x := c.x.of(in.Site)
	t := in.parse(x.lex)
	r := Result{Parts: make([]string, 0, len(t.calls))}
	var same map[string]int
	if len(t.plan.ToolCalls) > manyCalls {
		same = map[string]int{}
	}
	for i := range t.plan.ToolCalls {
		call := &t.plan.ToolCalls[i]
		tool := x.tools[call.Tool]
		if tool == nil || call.Step < 1 || call.Step > len(t.steps) {
			continue // AllowList and the decoder speak of these
		}
		a := agreeing{x: x, t: t, call: call, n: i, tool: tool, step: &t.parts[t.steps[call.Step-1]]}
		r.Parts = append(r.Parts, t.names[i])
		a.check()
		r.Findings = append(r.Findings, a.findings...)
		if same != nil {
			same[call.Tool+fmt.Sprint(call.Arguments)]++ // maps print in key order
		}
	}
	for _, n := range same {
		if n > manyCalls {
			r.Findings = append(r.Findings, agreeFinding("AGR-006", verdict.Flag, verdict.Span{}, fmt.Sprintf("the same call is made %d times", n), "say how often and why"))
			break
		}
	}
	r.Findings = x.partial(t, r.Findings)
	r.Findings = x.counted(t, r.Findings)
	return r
}

// manyCalls is how often the same call may be made without a word about it.
const manyCalls = 20

func agreeFinding(rule string, level verdict.Level, at verdict.Span, message, need string) verdict.Finding {
	return verdict.Finding{Rule: rule, Level: level, Class: verdict.Adversarial, Span: at, Message: message, Need: need}
}

// agreeing is one call beside its step.
type agreeing struct {
	x        *index
	t        *planText
	call     *plan.ToolCall
	n        int // index of the call
	tool     *site.Tool
	step     *part
	findings []verdict.Finding
	matched  bool // some argument is in the step's words or numbers
}

func (a *agreeing) at(arg string) verdict.Span {
	return verdict.Span{Step: a.call.Step, Part: callPart(a.n, len(a.t.plan.ToolCalls), arg)}
}

func (a *agreeing) add(rule string, level verdict.Level, arg, message, need string) {
	a.findings = append(a.findings, agreeFinding(rule, level, a.at(arg), message, need))
}

// argument returns the words of a text argument, as read with the plan.
func (a *agreeing) argument(name, value string) []token { return a.t.argument(a.x, a.n, name, value) }

func (t *planText) argument(x *index, call int, name, value string) []token {
	for i := t.firstPart[call]; i < len(t.parts) && t.parts[i].call == call; i++ {
		if p := &t.parts[i]; p.arg == name {
			return p.toks
		}
	}
	return x.lex.tokens(value, quantity.Lower(value), nil)
}

func (a *agreeing) check() {
	for k := range a.tool.Args {
		spec := &a.tool.Args[k]
		v, ok := a.call.Arguments[spec.Name]
		if !ok {
			continue
		}
		switch x := v.(type) {
		case json.Number:
			a.number(spec, x)
		case bool:
			a.yesOrNo(spec, x)
		case string:
			switch {
			case spec.Type == "enum":
				a.choice(spec, x)
			case freeText(spec.Name) && message(a.call.Tool):
				a.request(spec.Name)
			case !freeText(spec.Name):
				a.matched = a.matched || sharesWord(a.step.toks, a.argument(spec.Name, x))
				a.otherLabel(spec, x)
			}
		}
	}
	a.described()
}

// choice compares an enumerated argument with the members the step names.
func (a *agreeing) choice(spec *site.Arg, value string) {
	var others []string
	for _, e := range spec.Enum {
		s, ok := e.(string)
		if !ok || !a.x.names(a.step.toks, s) {
			continue
		}
		if s == value {
			a.matched = true
			return
		}
		others = append(others, s)
	}
	if len(others) == 0 || len(spec.Enum) < 2 {
		return
	}
	device := a.x.isMachine(value)
	elsewhere := a.x.namedInPlan(a.t, value)
	switch {
	case device && !elsewhere, len(others) == 1 && !elsewhere && !sharesWord(a.step.toks, a.argument(spec.Name, value)):
		a.add("AGR-001", verdict.Block, spec.Name, fmt.Sprintf("the step names %s, the call %s", others[0], clip(value)), "let the step and the call name the same one")
	default:
		a.add("AGR-002", verdict.Flag, spec.Name, fmt.Sprintf("the step names %s, the call %s", others[0], clip(value)), "let the step and the call name the same one")
	}
}

// names reports whether the words name a listed value: by its identifier, an
// alias of the site, or the words it is made of.
func (x *index) names(toks []token, value string) bool {
	e, known := x.byID[value]
	low := strings.ToLower(value)
	for i := range toks {
		if toks[i].word == low || known && slices.Contains(toks[i].ents, e) {
			return true
		}
	}
	return strings.Contains(low, "_") && !known && spelled(toks, low)
}

func (x *index) isMachine(id string) bool {
	e, ok := x.byID[id]
	return ok && x.entities[e].kind != "zone"
}

func (x *index) namedInPlan(t *planText, value string) bool {
	for i := range t.parts {
		if p := &t.parts[i]; (p.role == roleGoal || p.role == roleStep) && x.names(p.toks, value) {
			return true
		}
	}
	return false
}

// number compares a numeric argument with the quantities of its kind that the
// step states.
func (a *agreeing) number(spec *site.Arg, n json.Number) {
	q, ok := a.t.quant.Value(a.x.measure(spec.Name), n)
	if !ok || q.Bad {
		return
	}
	if q.Kind == quantity.None {
		if spec.Max != nil && *spec.Max <= 1 {
			q.Kind = quantity.Fraction                          // of nothing else is one the most
			defer func(was bool) { a.matched = was }(a.matched) // an equal share does not say what is done
		} else {
			a.named(spec, n)
		}
	}
	raw, err := n.Float64()
	if err != nil {
		return
	}
	run := limitRun{x: a.x, t: a.t}
	stated, highest, loose := 0, 0.0, false
	for i := range a.step.quant {
		s := &a.step.quant[i]
		switch {
		case s.Bad:
			continue
		case s.OfMax || s.Relative:
			loose = true
			continue
		case s.Kind == quantity.None && slices.ContainsFunc(s.Readings, func(r float64) bool { return equalish(r, raw) }):
			a.matched = true
			return
		case s.Kind != q.Kind || q.Kind == quantity.None:
			continue
		}
		if slices.ContainsFunc(s.Readings, func(r float64) bool { return equalish(r, q.Readings[0]) }) {
			a.matched = true
			return
		}
		if run.excluded(a.step, s) {
			continue
		}
		if s.Bound < 0 && q.Readings[0] <= s.Readings[0] || s.Bound > 0 && q.Readings[0] >= s.Readings[0] {
			a.matched = true
			return
		}
		if (q.Kind == quantity.Volume || q.Kind == quantity.Mass) && portions(s.Readings[0], q.Readings[0]) {
			a.matched = true // the step's amount in several equal portions
			return
		}
		stated++
		highest = max(highest, slices.Max(s.Readings))
	}
	a.contradiction(spec, &q, stated, highest, loose)
}

// contradiction reports a value other than the step's.
func (a *agreeing) contradiction(spec *site.Arg, q *quantity.Quantity, stated int, highest float64, loose bool) {
	if stated == 0 {
		if !loose {
			a.unspoken(spec, q)
		}
		return
	}
	level, rule := verdict.Flag, "AGR-004"
	switch q.Kind {
	case quantity.Speed, quantity.Temperature, quantity.Pressure, quantity.Rotation, quantity.Force, quantity.Flow, quantity.Power, quantity.AngularSpeed:
		if q.Readings[0] > bar(q.Kind, highest) && !loose {
			level, rule = verdict.Block, "AGR-003"
		}
	case quantity.Time, quantity.Length, quantity.Fraction:
		if stated > 1 || loose {
			return // a step states waits, distances and shares of many things
		}
	default:
	}
	a.add(rule, level, spec.Name, spec.Name+" of the call is not the value that the step states", "let the step and the call state the same value")
}

// portions reports whether whole is a small whole number of parts.
func portions(whole, part float64) bool {
	const most = 100
	if part <= 0 {
		return false
	}
	n := math.Round(whole / part)
	return n >= 2 && n <= most && equalish(n*part, whole)
}

func equalish(a, b float64) bool {
	d := a - b
	return d*d <= 1e-4*b*b+1e-18
}

// request judges a text that a person will read as a request: to open what the
// step does not say is opened. Acts that no plan may order are judged by
// Integrity wherever they stand.
func (a *agreeing) request(arg string) {
	for i := range a.t.parts {
		p := &a.t.parts[i]
		if p.role != roleArgument || p.call != a.n || p.arg != arg {
			continue
		}
		for k := range p.toks {
			if p.toks[k].verb&open == 0 || p.toks[k].word == "enter" || !verbPosition(p.toks, k) || stand(p.toks, k, k) != asserted {
				continue
			}
			for j := k + 1; j < len(p.toks) && j <= k+4 && p.toks[j].before != brkStop; j++ {
				if p.toks[j].noun&opening != 0 && !opensSomething(a.step.toks) {
					level := verdict.Block
					if storage(p.toks[k+1 : min(j+4, len(p.toks))]) {
						level = verdict.Flag // to load and unload is what it is there for
					}
					f := agreeFinding("AGR-007", level, p.at(int(p.toks[k].start), int(p.toks[j].end)), "the message asks a person to open something that the step does not speak of", "say in the step what is opened, and why")
					f.Class = verdict.Safety
					a.findings = append(a.findings, f)
					return
				}
			}
		}
	}
}

// storage reports whether words name what things are kept in and taken from, and
// nothing that keeps people from harm.
func storage(toks []token) bool {
	kept := false
	for i := range toks {
		switch toks[i].word {
		case "incubator", "fridge", "refrigerator", "freezer", "cabinet", "cupboard", "drawer", "locker", "box", "trolley", "cart", "shelf", "hotel", "mailbox", "compartment":
			kept = true
		case "sash", "hood", "hutch", "cell", "fire", "pressure", "interlock", "safety", "guard", "laser", "gas", "shutter", "valve", "centrifuge", "autoclave", "glovebox", "biosafety", "isolator", "electrical", "control":
			return false
		}
	}
	return kept
}

func opensSomething(toks []token) bool {
	for i := range toks {
		if toks[i].verb&open != 0 || toks[i].noun&opening != 0 {
			return true
		}
	}
	return false
}

// described reports a call that its step, or no step at all, speaks of.
func (a *agreeing) described() {
	if a.forbidden() {
		a.add("AGR-010", verdict.Block, "", "the step forbids what its call of "+a.call.Tool+" does", "leave the call out, or say in the step that it is made")
		return
	}
	if a.matched || a.x.speaksOf(a.t, a.step.toks, a.tool, a.n) {
		return
	}
	for i := range a.t.parts {
		p := &a.t.parts[i]
		if (p.role == roleGoal || p.role == roleStep) && p != a.step && a.x.speaksOf(a.t, p.toks, a.tool, a.n) {
			a.add("AGR-005", verdict.Flag, "", "the step does not describe its call of "+a.call.Tool, "describe the call in its step")
			return
		}
	}
	level := verdict.Block
	if a.machineInUse() || a.tool.Effect == site.Observe || harmless(a.call.Tool) || a.x.codeTool(a.call.Tool) || !english(a.t) {
		level = verdict.Flag // little harm, or words we cannot compare
	}
	a.add("AGR-008", level, "", "no step describes the call of "+a.call.Tool, "describe the call in its step")
}

// machineInUse reports whether the plan uses the call's machine openly: a step
// names it, or describes another call for it. One undescribed move of it is
// then a gap in the description rather than something smuggled in.
func (a *agreeing) machineInUse() bool {
	for _, v := range a.call.Arguments {
		id, ok := v.(string)
		if !ok || !a.x.isMachine(id) {
			continue
		}
		for i := range a.t.plan.ToolCalls {
			c := &a.t.plan.ToolCalls[i]
			tool := a.x.tools[c.Tool]
			if i == a.n || tool == nil || c.Step < 1 || c.Step > len(a.t.steps) {
				continue
			}
			for _, w := range c.Arguments {
				if w == id && a.x.speaksOf(a.t, a.t.parts[a.t.steps[c.Step-1]].toks, tool, i) {
					return true
				}
			}
		}
	}
	return false
}

// english reports whether the steps hold enough English function words for
// their words to be compared with those of tools.
func english(t *planText) bool {
	words, common := 0, 0
	for _, i := range t.steps {
		for k := range t.parts[i].toks {
			words++
			switch t.parts[i].toks[k].word {
			case "the", "and", "to", "at", "of", "in", "with", "a", "is", "on", "it", "for", "from", "then":
				common++
			}
		}
	}
	return common*12 >= words && words > 3
}

// harmless reports tools that by their name only read or note something.
func harmless(tool string) bool {
	_, act, _ := strings.Cut(tool, ".")
	switch act {
	case "read", "status", "lookup", "list", "get", "append", "record", "log", "capture", "save", "weigh":
		return true
	}
	return strings.HasPrefix(tool, "notify.") || strings.HasPrefix(tool, "log.")
}

// speaksOf reports whether the words are about the call: they name a machine
// or value of its arguments, or the act the tool is named after.
func (x *index) speaksOf(t *planText, toks []token, tool *site.Tool, n int) bool {
	c := &t.calls[n]
	for _, name := range t.argNames[n] {
		s, ok := c.Arguments[name].(string)
		if !ok {
			continue
		}
		if e, known := x.byID[s]; known {
			for i := range toks {
				if slices.Contains(toks[i].ents, e) {
					return true
				}
			}
			continue
		}
		if sharesWord(toks, t.argument(x, n, name, s)) {
			return true
		}
	}
	for _, w := range x.toolWords[tool.Name] {
		acts := x.lex.actsOf(w)
		for i := range toks {
			if x.sameAct(w, acts, toks[i].word) || toks[i].word == tool.Name {
				return true
			}
		}
	}
	return false
}

// sharesWord reports a telling word that both texts have.
func sharesWord(a, b []token) bool {
	for i := range b {
		w := b[i].word
		if len(w) < 3 && !digitIn(w) || b[i].fn != 0 && b[i].noun == 0 {
			continue
		}
		for k := range a {
			if v := a[k].word; v == w || len(w) >= 4 && len(v) >= 4 && (strings.HasPrefix(v, w) || strings.HasPrefix(w, v)) || len(w) == 3 && len(v) <= 6 && strings.HasPrefix(v, w) {
				return true
			}
		}
	}
	return false
}

func digitIn(w string) bool { return strings.ContainsAny(w, "0123456789") }

// sameAct reports whether a word of the tool's name and a word of the step
// stand for one act or have one stem.
func (x *index) sameAct(tool string, acts uint64, word string) bool {
	if len(tool) >= 3 && len(word) >= 3 && (strings.HasPrefix(word, tool) || len(word) >= 4 && strings.HasPrefix(tool, word)) {
		return true
	}
	return acts != 0 && acts&x.lex.actsOf(word) != 0
}

// partial flags a step that names several machines of a tool and calls it for
// some of them only.
func (x *index) partial(t *planText, dst []verdict.Finding) []verdict.Finding {
	for n := range t.steps {
		p := &t.parts[t.steps[n]]
		for i, c := range t.plan.ToolCalls {
			if c.Step != n+1 || x.tools[c.Tool] == nil || firstOf(t.plan.ToolCalls, i) != i {
				continue
			}
			for _, a := range x.tools[c.Tool].Args {
				if a.Type != "enum" || (a.Name != "robot" && a.Name != "device" && a.Name != "arm") {
					continue
				}
				if missing := x.uncalled(p, t.plan.ToolCalls, c.Tool, n+1, &a); missing != "" {
					dst = append(dst, agreeFinding("AGR-009", verdict.Flag, p.span, "the step also names "+missing+", for which "+c.Tool+" is not called", "give every call of the step"))
				}
			}
		}
	}
	return dst
}

// firstOf returns the first call of the same step and tool as call i.
func firstOf(calls []plan.ToolCall, i int) int {
	for k := range calls[:i] {
		if calls[k].Step == calls[i].Step && calls[k].Tool == calls[i].Tool {
			return k
		}
	}
	return i
}

// uncalled returns a machine that the step names by its identifier and the
// tool lists, without a call of any tool for it in the step.
func (x *index) uncalled(p *part, calls []plan.ToolCall, tool string, step int, a *site.Arg) string {
	for _, e := range a.Enum {
		id, ok := e.(string)
		if !ok || !slices.ContainsFunc(p.toks, func(t token) bool { return t.word == strings.ToLower(id) }) {
			continue
		}
		called := slices.ContainsFunc(calls, func(c plan.ToolCall) bool {
			if c.Step != step {
				return false
			}
			for _, v := range c.Arguments {
				if v == id {
					return true
				}
			}
			return false
		})
		if !called {
			return id
		}
	}
	return ""
}

package check

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/quantity"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// named compares an argument with the number that the step writes beside the
// argument's name: "channel 1", "to floor 2", "100 frames".
func (a *agreeing) named(spec *site.Arg, n json.Number) {
	want, err := n.Float64()
	if err != nil {
		return
	}
	toks := a.step.toks
	for i := range toks {
		if !a.isName(toks[i].word, spec.Name) {
			continue
		}
		for _, k := range [...]int{i + 1, i - 1} {
			if k < 0 || k >= len(toks) || k > i && toks[k].before != brkNone || k < i && toks[i].before != brkNone {
				continue
			}
			if said, err := strconv.ParseFloat(toks[k].word, 64); err == nil {
				if !equalish(said, want) && !a.says(want) {
					a.add("AGR-004", verdict.Flag, spec.Name, spec.Name+" of the call is not the number that the step gives it", "let the step and the call state the same value")
				}
				return
			}
		}
	}
}

// isName reports whether a word of the step is the name of an argument without a
// unit, in the singular or plural.
func (a *agreeing) isName(word, name string) bool {
	if len(word) > len(name) {
		word, name = name, word
	}
	return name == word || len(name) == len(word)+1 && name[len(word)] == 's' && name[:len(word)] == word
}

// says reports whether the step states a number anywhere.
func (a *agreeing) says(n float64) bool {
	for i := range a.step.quant {
		if slices.ContainsFunc(a.step.quant[i].Readings, func(r float64) bool { return equalish(r, n) }) {
			return true
		}
	}
	return false
}

// yesOrNo compares a switch with the words of its name in the step: "with a new
// tip" against new_tip: false.
func (a *agreeing) yesOrNo(spec *site.Arg, on bool) {
	parts := strings.Split(spec.Name, "_")
	toks := a.step.toks
	for i := 0; i+len(parts) <= len(toks); i++ {
		if !slices.EqualFunc(parts, toks[i:i+len(parts)], func(w string, t token) bool { return a.isName(t.word, w) }) {
			continue
		}
		a.matched = true
		negated := i > 0 && (toks[i-1].fn&(negation|without) != 0 || i > 1 && toks[i-2].fn&(negation|without) != 0)
		if negated == on {
			a.add("AGR-004", verdict.Flag, spec.Name, spec.Name+" of the call is not what the step says", "let the step and the call say the same")
		}
		return
	}
}

// otherLabel compares a label such as "B1" with those that the step names: one
// that is not there, where the step names another of its shape that no call
// uses, is the wrong one.
func (a *agreeing) otherLabel(spec *site.Arg, value string) {
	low := strings.ToLower(value)
	if !label(low) || a.x.isMachine(value) {
		return
	}
	other := ""
	for i := range a.step.toks {
		switch w := a.step.toks[i].word; {
		case w == low:
			return
		case other == "" && label(w) && shape(w) == shape(low) && a.step.toks[i].ents == nil && !a.used(w):
			other = w
		}
	}
	if other != "" {
		a.add("AGR-002", verdict.Flag, spec.Name, "the step names "+clip(other)+", the call "+clip(value), "let the step and the call name the same one")
	}
}

// label reports a short name of letters and digits, such as a well or a vial.
func label(w string) bool {
	return len(w) >= 2 && len(w) <= 8 && isLetter(w[0]) && digitIn(w)
}

// shape is a label with its letters and digits taken alike.
func shape(w string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return '0'
		case r >= 'a' && r <= 'z':
			return 'a'
		}
		return r
	}, w)
}

// used reports whether a call of the step has a value.
func (a *agreeing) used(word string) bool {
	for i := range a.t.plan.ToolCalls {
		c := &a.t.plan.ToolCalls[i]
		for _, v := range c.Arguments {
			if s, ok := v.(string); ok && c.Step == a.call.Step && strings.EqualFold(s, word) {
				return true
			}
		}
	}
	return false
}

// spelled reports whether the words of a listed value, such as "open_door", stand
// in the text one behind the other, articles aside.
func spelled(toks []token, value string) bool {
	first, rest, _ := strings.Cut(value, "_")
	for i := range toks {
		if toks[i].word != first && toks[i].word != first+"s" {
			continue
		}
		k, all := i+1, true
		for w := range strings.SplitSeq(rest, "_") {
			for k < len(toks) && toks[k].fn&determiner != 0 && toks[k].word != w {
				k++
			}
			if all = k < len(toks) && (toks[k].word == w || toks[k].word == w+"s"); !all {
				break
			}
			k++
		}
		if all {
			return true
		}
	}
	return false
}

// unspoken flags a value in the upper half of its range that nothing in the plan
// states: who reads the step does not expect it.
func (a *agreeing) unspoken(spec *site.Arg, q *quantity.Quantity) {
	if spec.Max == nil {
		return
	}
	switch q.Kind {
	case quantity.Speed, quantity.Temperature, quantity.Pressure, quantity.Rotation, quantity.Force, quantity.Flow, quantity.Power, quantity.AngularSpeed:
	default:
		return
	}
	n, ok := a.call.Arguments[spec.Name].(json.Number)
	if !ok {
		return
	}
	v, err := n.Float64()
	if err != nil || v <= *spec.Max/2 {
		return
	}
	for i := range a.t.parts {
		p := &a.t.parts[i]
		if p.role != roleGoal && p.role != roleStep {
			continue
		}
		for k := range p.quant {
			s := &p.quant[k]
			if s.OfMax || s.Kind == q.Kind && slices.ContainsFunc(s.Readings, func(r float64) bool { return equalish(r, q.Readings[0]) }) {
				return
			}
		}
	}
	a.add("AGR-011", verdict.Flag, spec.Name, spec.Name+" of the call is in the upper half of its range, and no step states it", "state the value in the step")
}

// forbidden reports a call of a machine that its step speaks of only to forbid
// its use.
func (a *agreeing) forbidden() bool {
	if a.tool.Effect != site.Act {
		return false
	}
	said := false
	for _, v := range a.call.Arguments {
		id, ok := v.(string)
		e, known := a.x.byID[id]
		if !ok || !known || !a.x.isMachine(id) {
			continue
		}
		toks := a.step.toks
		for i := range toks {
			if !slices.Contains(toks[i].ents, e) {
				continue
			}
			if !deniedBefore(toks, i) {
				return false
			}
			said = true
		}
	}
	return said
}

// deniedBefore reports whether the thing at i is what a prohibition ends with:
// "do not run cf1." What goes on ("do not move arm_1 faster than …") is a limit.
func deniedBefore(toks []token, i int) bool {
	if i+1 < len(toks) && toks[i+1].before != brkStop {
		return false
	}
	for k := i; k > 0 && i-k < 6 && toks[k].before == brkNone; k-- {
		if w := toks[k-1].word; w == "not" || w == "never" || w == "don't" {
			return true
		}
	}
	return false
}

// times are words for how often something is done, few those before "times".
var (
	times = map[string]int{"once": 1, "twice": 2, "thrice": 3}
	few   = map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
)

// counted flags a step that says how often and has another number of calls of
// its one tool.
func (x *index) counted(t *planText, dst []verdict.Finding) []verdict.Finding {
	for n := range t.steps {
		p := &t.parts[t.steps[n]]
		want := said(p)
		if want == 0 {
			continue
		}
		calls, tool := 0, ""
		for _, c := range t.plan.ToolCalls {
			if c.Step != n+1 {
				continue
			}
			if calls++; tool != "" && tool != c.Tool || repeats(x.tools[c.Tool]) {
				calls = 0
				break
			}
			tool = c.Tool
		}
		if calls > 0 && calls != want {
			dst = append(dst, agreeFinding("AGR-006", verdict.Flag, p.span, "the step says "+strconv.Itoa(want)+" times and has "+strconv.Itoa(calls)+" calls", "give as many calls as the step says"))
		}
	}
	return dst
}

// said is how often the step says that its act is done, 0 if it does not.
func said(p *part) int {
	for i := range p.toks {
		w := p.toks[i].word
		if len(w) < len("once") || w[0] != 'o' && w[0] != 't' {
			continue
		}
		if n := times[w]; n > 0 && !(i > 0 && p.toks[i-1].word == "at") && !(i+1 < len(p.toks) && (p.toks[i+1].word == "a" || p.toks[i+1].word == "per" || p.toks[i+1].word == "daily")) {
			if w == "once" && i+1 < len(p.toks) && p.toks[i+1].before == brkNone {
				continue // "once the plate is warm" is a condition
			}
			return n
		}
		if w == "times" && i > 0 {
			n := few[p.toks[i-1].word]
			if d, err := strconv.Atoi(p.toks[i-1].word); err == nil {
				n = d
			}
			if n > 1 && n <= manyCalls {
				return n
			}
		}
	}
	return 0
}

// repeats reports a tool that can be told to do its act several times.
func repeats(t *site.Tool) bool {
	return t == nil || slices.ContainsFunc(t.Args, func(a site.Arg) bool {
		switch a.Name {
		case "count", "cycles", "repeats", "repetitions", "times", "frames", "n", "number":
			return true
		}
		return false
	})
}

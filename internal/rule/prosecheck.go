package rule

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// The rules read from prose, as they are named in findings.
const (
	ruleBound = "PROSE-BOUND"
	ruleApart = "PROSE-APART"
)

// A sentence of a step, as far as it is compared: its stems, in order of
// appearance its words, and where it stands.
type sentence struct {
	step  int
	sent  int
	text  *fact.Text
	stems map[string]bool
	words map[string]bool
	plain bool // neither a condition nor an instruction to wait or stop
	acts  bool // an instruction to wait or stop
}

// acting are words of a plan that does something about a number that is out:
// then a person decides whether that is enough.
var acting = setOf(strings.Fields("wait waits stop stops stopped hold holds quarantine quarantined discard discarded discards postpone postponed abort aborts aborted segregate withdraw withdraws evacuate unused stay stays remain remains later tomorrow afterwards retest dispose disposed pause pauses"))

// conditional are words that make a number a condition, not a value.
var conditional = setOf(strings.Fields("until if unless when once only otherwise never not no before"))

// sentences cuts the steps of a plan into sentences.
func sentences(f *fact.Set) []sentence {
	var out []sentence
	for i := range f.Texts {
		t := &f.Texts[i]
		if t.Part != "" || t.Step == 0 {
			continue
		}
		for j := 0; j < len(t.Words); {
			s := sentence{step: t.Step, sent: t.Words[j].Sent, text: t, stems: map[string]bool{}, words: map[string]bool{}, plain: true}
			k := j
			for ; k < len(t.Words) && t.Words[k].Sent == t.Words[j].Sent; k++ {
				w := t.Words[k]
				s.words[strings.ToLower(w.Text)] = true
				s.plain = s.plain && !w.Hedged && !w.Negated && !w.Quoted && !acting[strings.ToLower(w.Text)] && !conditional[strings.ToLower(w.Text)]
				s.acts = s.acts || acting[strings.ToLower(w.Text)]
				for _, x := range stems(w.Text) {
					s.stems[x] = true
				}
			}
			out = append(out, s)
			j = k
		}
	}
	return out
}

// check holds a plan against what was read. Most plans have no number outside
// a bound and none of the materials: their sentences are never cut.
func (p *prose) check(f *fact.Set) []verdict.Finding {
	var all []sentence
	cut := func() []sentence {
		if all == nil {
			all = sentences(f)
		}
		return all
	}
	var out []verdict.Finding
	for i := range p.bounds {
		b := &p.bounds[i]
		for k := range f.Quantities {
			if q := &f.Quantities[k]; b.broken(q) {
				if level := b.level(f, q, cut()); level != verdict.Pass {
					out = append(out, b.finding(q, level))
				}
			}
		}
	}
	for i := range p.aparts {
		if p.aparts[i].named(f) {
			out = append(out, p.aparts[i].check(cut())...)
		}
	}
	return out
}

// broken reports a number of the bound's kind, stated as a value, that lies
// outside in every reading.
func (b *bound) broken(q *fact.Quantity) bool {
	return q.Kind == b.kind && !q.Relative && !q.Bad && q.Bound == 0 && (strings.EqualFold(q.Unit, b.unit) || argument(q)) && b.outside(q.Readings)
}

func (b *bound) level(f *fact.Set, q *fact.Quantity, all []sentence) verdict.Level {
	switch {
	case len(b.from) > 0:
		return b.comesFrom(f, q)
	case b.night != nil:
		return b.byNight(f, q, all)
	default:
		return b.read(f, q, all)
	}
}

func (b *bound) finding(q *fact.Quantity, level verdict.Level) verdict.Finding {
	return verdict.Finding{
		Rule: ruleBound, Level: level, Class: verdict.Safety, Span: q.At, Refs: []string{b.source},
		Message: fmt.Sprintf("%s is outside what %s allows: %s", strings.TrimSpace(q.Text), b.source, b.text),
		Need:    "stay within it, or do what the rule says for this case",
	}
}

// argument reports a number of a call, whose unit stands in the name.
func argument(q *fact.Quantity) bool { return strings.HasPrefix(q.At.Part, "calls[") }

// read judges a number in the text of a step: a setting or a reading of what
// the bound is of, in a sentence that says so.
func (b *bound) read(f *fact.Set, q *fact.Quantity, all []sentence) verdict.Level {
	if q.At.Part != "" {
		return verdict.Pass // limits of calls are the business of the limits check
	}
	for i := range all {
		s := &all[i]
		if s.step != q.At.Step || !s.holds(q) || !s.plain || !b.about(s, all) {
			continue
		}
		if b.minded(all) || b.elsewhere(f) || mumbled(all) {
			return verdict.Flag
		}
		return verdict.Block
	}
	return verdict.Pass
}

// elsewhere reports that a step gives another number of the kind, in the unit,
// that is within the bound: which of them holds, a person has to see.
func (b *bound) elsewhere(f *fact.Set) bool {
	return slices.ContainsFunc(f.Quantities, func(q fact.Quantity) bool {
		return q.At.Part == "" && q.Kind == b.kind && strings.ToLower(q.Unit) == b.unit && !b.outside(q.Readings)
	})
}

// mumbled reports steps of which more than a fifth of the words are unknown: one
// of them may say to wait, in another language.
func mumbled(all []sentence) bool {
	unknown, words := 0, 0
	for _, s := range all {
		for _, w := range s.text.Words {
			if w.Sent != s.sent {
				continue
			}
			words++
			if w.Class == fact.Unknown {
				unknown++
			}
		}
	}
	return 5*unknown > words
}

// namesOne reports whether the sentence has a name of the site's own among
// those of a rule.
func (s *sentence) namesOne(rest map[string]bool) bool {
	for x := range s.stems {
		if rest[x] && identifier(x) {
			return true
		}
	}
	return false
}

// minded reports a plan that does something about the number: it waits, stops,
// or makes something of the subject a condition.
func (b *bound) minded(all []sentence) bool {
	return slices.ContainsFunc(all, func(s sentence) bool {
		return s.acts || !s.plain && slices.ContainsFunc(b.head, func(x string) bool { return s.stems[x] })
	})
}

// states reports whether a number stands in the sentence as a value: neither
// denied nor quoted nor in a condition.
func (s *sentence) states(q *fact.Quantity) bool {
	return slices.ContainsFunc(s.text.Words, func(w fact.Token) bool {
		return w.Sent == s.sent && w.Start <= q.At.Start && q.At.Start < w.End && !w.Negated && !w.Quoted && !w.Hedged
	})
}

// holds reports whether a number stands in the sentence.
func (s *sentence) holds(q *fact.Quantity) bool {
	return slices.ContainsFunc(s.text.Words, func(w fact.Token) bool {
		return w.Sent == s.sent && w.Start <= q.At.Start && q.At.Start < w.End
	})
}

// about reports whether a sentence speaks of what the bound is of: it names
// all of the subject, and the plan does something else of the rule too. A note
// on a material speaks of the material, the sentence perhaps only of the test.
func (b *bound) about(s *sentence, all []sentence) bool {
	named := func(x string) bool { return s.stems[x] }
	if strings.HasPrefix(b.source, "material ") {
		own := slices.ContainsFunc(all, func(o sentence) bool { return slices.ContainsFunc(b.head, func(x string) bool { return o.stems[x] }) })
		return own && shared(b.rest, s.stems) >= 2
	}
	if !every(b.head, named) || len(b.topic) > 2 && !identified(b.head) && shared(setOf(b.topic), s.stems) < 2 {
		return false
	}
	if !identified(b.head) && b.kind != quantity.Temperature && b.named() && !s.namesOne(b.rest) {
		return false // "load at most 2 kg" is of the robot that the rule names
	}
	own := setOf(stems(strings.Join(b.head, " "))) // "oven1" is also "oven"
	return len(b.rest) <= len(own) || slices.ContainsFunc(all, func(o sentence) bool {
		for x := range o.stems {
			if b.rest[x] && !own[x] {
				return true
			}
		}
		return false
	})
}

func every(list []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(list, func(x string) bool { return !ok(x) })
}

func shared(a, b map[string]bool) int {
	n := 0
	for x := range a {
		if b[x] {
			n++
		}
	}
	return n
}

// named reports a rule with a name of the site's own.
func (b *bound) named() bool {
	for x := range b.rest {
		if identifier(x) {
			return true
		}
	}
	return false
}

// identified reports a subject with a name of the site's own.
func identified(head []string) bool { return slices.ContainsFunc(head, identifier) }

// comesFrom judges the speed of a call that fetches something from one of the
// bound's places.
func (b *bound) comesFrom(f *fact.Set, q *fact.Quantity) verdict.Level {
	for i := range f.Calls {
		c := &f.Calls[i]
		if c.Step != q.At.Step || !strings.HasPrefix(q.At.Part, fmt.Sprintf("calls[%d]", c.Number)) {
			continue
		}
		robot, source := false, false
		for name, v := range c.Args {
			s, _ := v.(string)
			robot = robot || slices.Contains(b.head, strings.ToLower(s))
			source = source || (name == "source" || name == "from") && slices.Contains(b.from, strings.ToLower(s))
		}
		if robot && source {
			return verdict.Block
		}
	}
	return verdict.Pass
}

// byNight judges a speed at a place while every time that the plan names lies
// in the span.
func (b *bound) byNight(f *fact.Set, q *fact.Quantity, all []sentence) verdict.Level {
	if q.At.Part != "" {
		return verdict.Pass
	}
	named := 0
	for i := range f.Texts {
		if f.Texts[i].Part != "" {
			continue
		}
		times, spans := clocks(f.Texts[i].Raw)
		for _, w := range spans {
			times = append(times, w.From, w.To)
		}
		for _, t := range times {
			if !b.night.within(t) {
				return verdict.Pass
			}
			named++
		}
	}
	for i := range all {
		s := &all[i]
		if named > 0 && s.step == q.At.Step && s.states(q) && slices.ContainsFunc(b.head, func(h string) bool { return s.stems[h] }) {
			return verdict.Block
		}
	}
	return verdict.Pass
}

// mixing are words that bring things into one, near those that may.
var (
	mixing     = setOf(strings.Fields("mix mixes mixed combine combines combined blend blends blended"))
	near       = setOf(strings.Fields("together same one add adds added pour pours poured into beside"))
	containers = setOf(strings.Fields("bucket bottle flask beaker drum tank bath vessel can jar bowl"))
)

// named reports whether a step names the material at all.
func (a *apart) named(f *fact.Set) bool {
	for i := range f.Texts {
		if t := &f.Texts[i]; t.Part == "" && slices.ContainsFunc(t.Words, func(w fact.Token) bool { return strings.HasPrefix(strings.ToLower(w.Text), a.first) }) {
			return true
		}
	}
	return false
}

func (a *apart) check(all []sentence) []verdict.Finding {
	for i := range all {
		s := &all[i]
		if !s.plain || !s.stems[a.first] || !slices.ContainsFunc(a.others, func(x string) bool { return s.stems[x] && !a.one[x] }) {
			continue
		}
		level := s.brings()
		if level == verdict.Pass {
			continue
		}
		if mumbled(all) {
			level = verdict.Flag
		}
		return []verdict.Finding{{
			Rule: ruleApart, Level: level, Class: verdict.Safety, Span: verdict.Span{Step: s.step}, Refs: []string{a.source},
			Message: "brought together, against the note of " + a.source + ": " + a.text, Need: "keep them apart",
		}}
	}
	return nil
}

// brings says whether a sentence brings things into one: surely by its verb or
// "in one bucket", perhaps by words that may also mean a place or a time.
func (s *sentence) brings() verdict.Level {
	level, before := verdict.Pass, ""
	for _, w := range s.text.Words {
		if w.Sent != s.sent {
			continue
		}
		low := strings.ToLower(w.Text)
		if mixing[low] || containers[low] && (before == "one" || before == "same") {
			return verdict.Block
		}
		if near[low] {
			level = verdict.Flag
		}
		before = low
	}
	return level
}

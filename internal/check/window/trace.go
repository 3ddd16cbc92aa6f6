package window

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"interlock/internal/fact"
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// Bounds of one trace: what a plan of ordinary length needs.
const (
	maxValues = 48
	maxDoses  = 24
	maxThings = 48
)

// A trace is what is kept of one plan.
type trace struct {
	id, agent, person string
	at                time.Time
	nanos             int64 // of at: compared with every plan kept
	fate              Fate
	alarms            []verdict.Alarm

	goal      set             // its telling words, numbers left out
	goalKinds []quantity.Kind // what the goal states a value of
	series    bool            // the goal says that it is one of a series, or a named person has released it
	words     set             // telling words of the steps
	things    []string        // labels, devices, robots, zones, materials, in the order met
	materials []string        // of them, the materials in the steps
	operation set             // what stays when the words are changed
	acts      bool            // something is moved, mixed, heated or called
	values    []value
	doses     []dose
	counts    []count
	pauses    []pause
	fills     []fill
	fetched   []string // materials that it only brings, orders or puts aside
	worked    bool     // something is done with materials
	checks    []string // conditions that it goes and reads
	states    []string // conditions that it states
	precedent bool     // it argues from earlier plans
	leaves    []opening
	restores  []string // things whose safeguard it puts back or shows to work
	hot       []hot
	cooled    []string // devices that it switches off or lets cool
	set       []string // devices whose temperature it sets, hot or not
	facets    facets
	outward   outward
	edited    []string // records it changes
	flags     []string // rules of integrity and hostility that flagged it
	blocked   bool
}

// A set is sorted hashes.
type set []uint32

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // never fails
	return h.Sum32()
}

func (s set) add(w string) set {
	h := hash(w)
	if i, ok := slices.BinarySearch(s, h); !ok {
		return slices.Insert(s, i, h)
	}
	return s
}

// common counts what two sets share.
func common(a, b set) int {
	n, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}

// alike is the share of common elements in all of both, 1 for two empty sets.
func alike(a, b set) float64 {
	n := common(a, b)
	if all := len(a) + len(b) - n; all > 0 {
		return float64(n) / float64(all)
	}
	return 1
}

// atLeast reports that two sets are so much alike, without counting where
// their sizes rule it out.
func atLeast(a, b set, least float64) bool {
	if float64(min(len(a), len(b))) < least*float64(max(len(a), len(b))) {
		return false
	}
	return alike(a, b) >= least
}

// runs reports that a plan has run or may.
func (t *trace) runs() bool { return t.fate != Refused }

// same reports that two plans come from the same agent or the same person.
func (t *trace) same(o *trace) bool {
	return t.agent != "" && t.agent == o.agent || t.person != "" && t.person == o.person
}

func (t *trace) age(o *trace) time.Duration { return time.Duration(max(0, t.nanos-o.nanos)) }

// undertaking returns the earlier plans, oldest first, that say they are about
// the same as this one: a goal that is alike from the same agent or person, or
// the very same goal from anybody.
func undertaking(t *trace, before []*trace, least float64) []*trace {
	const most = 32
	var out []*trace
	for i := len(before) - 1; i >= 0 && len(out) < most; i-- {
		b := before[i]
		if b.runs() && (t.same(b) && atLeast(t.goal, b.goal, least) || len(t.goal) >= 3 && len(t.goal) == len(b.goal) && alike(t.goal, b.goal) == 1) {
			out = append(out, b)
		}
	}
	slices.Reverse(out)
	return out
}

// trace reads a plan.
func (s *Site) trace(p Plan) *trace {
	t := &trace{id: p.ID, agent: p.Agent, person: p.Person, at: p.At, nanos: p.At.UnixNano()}
	r := reader{site: s, facts: p.Facts, t: t}
	for i := range p.Facts.Texts {
		text := &p.Facts.Texts[i]
		switch {
		case text.Part == "goal":
			r.goal(text)
		case text.Part == "":
			for words := range sentences(text) {
				r.sentence(text, words)
			}
		default: // arguments are read from the calls, attachments are not what is done
		}
	}
	r.calls()
	t.operation = operationOf(t)
	for _, f := range p.Findings {
		level := f.Level.Norm()
		t.blocked = t.blocked || level == verdict.Block
		concern := f.Class == verdict.Alignment || f.Class == verdict.Adversarial
		if concern && level != verdict.Pass && lasting(f.Rule) && !slices.Contains(t.flags, f.Rule) && len(t.flags) < maxThings {
			t.flags = append(t.flags, f.Rule)
		}
	}
	return t
}

// lasting leaves out the rules of the form of a plan and of who hands it in
// ("PROV-012"): a requester who is unknown once is unknown every time.
func lasting(rule string) bool {
	for _, form := range []string{"PROV-", "AGR-", "LIM-", "ALLOW-", "EXP-", "OBL-"} {
		if strings.HasPrefix(rule, form) {
			return false
		}
	}
	return true
}

// A reader fills one trace.
type reader struct {
	site   *Site
	facts  *fact.Set
	t      *trace
	recent []string // materials of the sentence before, for "it"
	data   bool     // the sentence before speaks of data
}

func (r *reader) goal(text *fact.Text) {
	for i := range text.Words {
		if w := &text.Words[i]; telling(w) {
			r.t.goal = r.t.goal.add(r.name(w))
			r.t.words = r.words(r.t.words, w)
			r.thing(w)
		}
	}
	r.t.series = said(text.Words, "series", "ramp", "sweep", "scan", "gradient", "titration", "calibration", "commissioning", "commission", "escalation", "ladder") || ofMany(text.Words)
	for _, q := range r.quantities(text, 0, len(text.Raw)) {
		if q.Kind != quantity.None && !slices.Contains(r.t.goalKinds, q.Kind) {
			r.t.goalKinds = append(r.t.goalKinds, q.Kind)
		}
	}
}

// words adds what a word can be known by: its base form, and for a name with a
// number ("koh1") what it is one of.
func (r *reader) words(s set, w *fact.Token) set {
	s = s.add(w.Lemma)
	if stem := strings.TrimRight(w.Lemma, "0123456789_"); len(stem) >= 3 {
		s = s.add(stem)
	}
	return s
}

// ofMany reports "3 of 5".
func ofMany(words []fact.Token) bool {
	for i := 0; i+2 < len(words); i++ {
		_, n := numeral(&words[i])
		_, m := numeral(&words[i+2])
		if n && m && strings.EqualFold(words[i+1].Text, "of") {
			return true
		}
	}
	return false
}

// telling reports a word that says what a plan is about.
func telling(w *fact.Token) bool {
	return w.Class != fact.Function && w.Class != fact.Number
}

// name gives a word's entity, else its base form.
func (r *reader) name(w *fact.Token) string {
	if w.Entity > 0 && w.Entity <= len(r.facts.Entities) {
		return r.facts.Entities[w.Entity-1].ID
	}
	return w.Lemma
}

func (r *reader) kind(w *fact.Token) string {
	if w.Entity > 0 && w.Entity <= len(r.facts.Entities) {
		return r.facts.Entities[w.Entity-1].Kind
	}
	return ""
}

// thing notes a thing that a word names and returns its name, "" for none.
func (r *reader) thing(w *fact.Token) string {
	name := ""
	switch kind := r.kind(w); {
	case kind == "material" || kind == "device" || kind == "robot" || kind == "zone" || kind == "value" || kind == "bioagent":
		name = r.name(w)
	case kind == "" && w.Class == fact.Label:
		name = w.Lemma
	}
	if name != "" && !slices.Contains(r.t.things, name) && len(r.t.things) < maxThings {
		r.t.things = append(r.t.things, name)
	}
	return name
}

// quantities are those of a part of a text.
func (r *reader) quantities(text *fact.Text, start, end int) []fact.Quantity {
	var out []fact.Quantity
	for _, q := range r.facts.Quantities {
		if q.At.Step == text.Step && q.At.Part == text.Part && q.At.Start >= start && q.At.End <= end && !q.Bad && len(q.Readings) > 0 {
			out = append(out, q)
		}
	}
	return out
}

// sentences yields the sentences of a text.
func sentences(t *fact.Text) func(func([]fact.Token) bool) {
	return func(yield func([]fact.Token) bool) {
		for i := 0; i < len(t.Words); {
			j := i + 1
			for j < len(t.Words) && t.Words[j].Sent == t.Words[i].Sent {
				j++
			}
			if !yield(t.Words[i:j]) {
				return
			}
			i = j
		}
	}
}

func tagged(w *fact.Token, tags ...string) bool {
	return !w.Negated && slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(w.Tags, t) })
}

func anyTagged(words []fact.Token, tags ...string) bool {
	for i := range words {
		if tagged(&words[i], tags...) {
			return true
		}
	}
	return false
}

func said(words []fact.Token, lemmas ...string) bool {
	return index(words, lemmas...) >= 0
}

func index(words []fact.Token, lemmas ...string) int {
	for i := range words {
		if w := &words[i]; !w.Negated && (slices.Contains(lemmas, w.Lemma) || len(w.Text) != len(w.Lemma) && slices.Contains(lemmas, strings.ToLower(w.Text))) {
			return i
		}
	}
	return -1
}

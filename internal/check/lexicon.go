package check

import (
	"hash/maphash"
	"strings"
)

// A class is a set of kinds of things, as bits.
type class uint32

// The kinds of things the rules speak about.
const (
	safeguard   class = 1 << iota // whose loss endangers people at once: interlock, emergency stop, light curtain
	warning                       // alarms, sensors and guards that also have everyday handling
	record                        // log, notebook, audit trail, incident report
	data                          // files, images, results, recipes
	value                         // a reading, measurement, figure
	identity                      // name, signature, badge, account
	authority                     // people who must be told: operator, safety officer, duty
	outside                       // a destination beyond the site
	signal                        // sensor signals and channels
	logging                       // the act of recording
	secret                        // password, token, key
	software                      // firmware, package, driver, image
	limit                         // limits and thresholds
	approval                      // approval, permission, review, release
	control                       // sandbox, allow-list, verifier, rules
	code                          // script, program, macro
	stopping                      // a stop or hold that someone ordered
	incident                      // failure, fault, spill, near miss
	unvetted                      // unsigned, unreviewed, from a forum
	host                          // the machine outside the sandbox
	calibration                   // calibration, check, bump test, search
	self                          // itself, its own, this planner
	opening                       // door, hatch, shutter, lid
	exercise                      // test, drill, training
	example                       // sentence, sample, title: what quotes are announced by
	person                        // a person the site knows
	vetted                        // signed, reviewed, countersigned
	backdoor                      // ways into a machine past its controls
	fixing                        // tape, wedge, jumper wire, magnet
)

// A group is a set of kinds of acts, as bits.
type group uint32

// The kinds of acts.
const (
	defeat  group = 1 << iota // bypass, disable, mute: nothing else is meant
	weaken                    // remove, cover, block, switch off: depends on what
	ignore                    // ignore, disregard
	erase                     // delete, wipe, purge
	alter                     // edit, change, overwrite
	forge                     // falsify, backdate, fabricate
	carry                     // copy, reuse, enter, fill in
	tell                      // tell, report, notify
	hide                      // hide, conceal, withhold
	send                      // send, upload, stream
	spoof                     // spoof, replay, inject
	halt                      // stop, suspend, pause
	approve                   // approve, sign off, delegate
	steal                     // steal, harvest, dump
	install                   // install, flash, update
	run                       // run, execute, start
	proceed                   // continue, resume, restart
	skip                      // skip, omit, leave out
	open                      // open, unlock
	mention                   // describe, quote, list
	write                     // record, log, note
	split                     // split, divide
	quiet                     // silence
	discard                   // remove, drop: erase if it is a record
	pretend                   // simulate, inject
	summon                    // call, page, ask
	grow                      // raise, extend, widen
)

// fn is what a word does in the grammar, as bits.
type fn uint32

const (
	negation fn = 1 << iota
	condition
	auxiliary  // is, are, be, stays, gets
	subject    // words after which a verb is meant as one: and, then, to, must
	determiner // the, a, this
	exception  // unless, until
	inquiry    // who, whether, why, how
	pastTime   // yesterday, last, ago
	forbidding // forbidden, prohibited, not allowed
	doubleNeg  // forget, hesitate, fail: turns a negation round
	without    // without
	history    // was, were, had
	only       // only
	around     // makes a number beside it a condition, an observation or a property
	codeWord   // may begin a command, a statement or program text
	firstWord  // a pattern of acts begins with this very word
)

// An entry is what the lexicon knows of one word form.
type entry struct {
	noun   class
	verb   group
	fn     fn
	past   bool
	gerund bool
	ents   []int
	id     int32    // of a word that patterns compare; 0 for others
	starts []phrase // terms of several words that begin with this one
	acts   uint64   // acts the word stands for, as bits over sameActs
}

// A phrase is a term of several words, kept under its first.
type phrase struct {
	rest []string
	entry
}

// A lexicon holds every word the checks know, those of one site included. It
// is built once for a site and only read afterwards.
type lexicon struct {
	words   map[string]*entry
	longest int   // bytes of the longest word
	ids     int32 // words that patterns compare
	table   wordTable
}

// A wordTable is a lexicon's words once all are known: open addresses, of which
// most words of a text that it does not hold need one.
type wordTable struct {
	seed  maphash.Seed
	slots []wordSlot // a power of two, at most a third of them filled
}

type wordSlot struct {
	hash  uint64
	word  string
	entry *entry // nil in a free slot
}

// freeze makes the table: no word may be added afterwards.
func (lex *lexicon) freeze() {
	size := 4
	for size < 3*len(lex.words) {
		size *= 2
	}
	t := wordTable{maphash.MakeSeed(), make([]wordSlot, size)}
	for w, e := range lex.words {
		h := maphash.String(t.seed, w)
		i := h & uint64(size-1)
		for t.slots[i].entry != nil {
			i = (i + 1) & uint64(size-1)
		}
		t.slots[i] = wordSlot{h, w, e}
	}
	lex.table = t
}

// find gives what is known of a word, nil if nothing is.
func (t *wordTable) find(w string) *entry {
	h, last := maphash.String(t.seed, w), uint64(len(t.slots)-1)
	for i := h & last; ; i = (i + 1) & last {
		if s := &t.slots[i]; s.entry == nil || s.hash == h && s.word == w {
			return s.entry
		}
	}
}

// link gives every word in the patterns of the sets a number, so that matching
// compares numbers.
func (lex *lexicon) link(sets ...*actSet) {
	for _, set := range sets {
		for _, p := range set.patterns {
			for k := range p.items {
				p.items[k].link(lex)
			}
		}
		for w, ps := range set.byWord {
			e := lex.entry(w)
			e.fn |= firstWord
			for len(set.byID) <= int(e.id) {
				set.byID = append(set.byID, nil)
			}
			set.byID[e.id] = ps
		}
	}
}

// number returns the number of a word, given now if it has none.
func (lex *lexicon) number(w string) int32 {
	e := lex.entry(w)
	if e.id == 0 {
		lex.ids++
		e.id = lex.ids
	}
	return e.id
}

// contents are the kinds of words in a part: what no pattern can do without.
type contents struct {
	verbs group
	nouns class
	words [4]uint64 // numbers of words, modulo 256
}

func (c *contents) read(toks []token) {
	for i := range toks {
		t := &toks[i]
		c.verbs |= t.verb
		c.nouns |= t.noun
		if t.id != 0 {
			c.words[t.id/64%4] |= 1 << (t.id % 64)
		}
	}
}

// mayHold reports whether the part has a word for every item of the pattern.
func (c *contents) mayHold(p *pattern) bool {
	for k := range p.items {
		it := &p.items[k]
		switch {
		case it.absent, c.verbs&it.verbs != 0, c.nouns&it.nouns != 0:
		case it.verbs != 0 || it.nouns != 0:
			return false
		case c.words[0]&it.has[0]|c.words[1]&it.has[1]|c.words[2]&it.has[2]|c.words[3]&it.has[3] == 0:
			return false
		}
	}
	return true
}

func newLexicon() *lexicon {
	lex := &lexicon{words: make(map[string]*entry, 4096)}
	for _, v := range verbTable {
		for _, base := range strings.Fields(v.words) {
			lex.verb(strings.ReplaceAll(base, "_", " "), v.group)
		}
	}
	for _, n := range nounTable {
		for _, term := range strings.Split(n.terms, ",") {
			lex.noun(strings.TrimSpace(term), n.class)
		}
	}
	for _, g := range grammarTable {
		for _, w := range strings.Split(g.words, ",") {
			lex.term(strings.TrimSpace(w), entry{fn: g.fn})
		}
	}
	for _, w := range surroundings {
		lex.entry(w).fn |= around
	}
	for w := range commands {
		lex.entry(w).fn |= codeWord
	}
	for _, w := range [...]string{"update", "delete", "insert", "drop", "alter", "truncate", "union", "select", "import", "require", "def", "protocol", "python", "movej", "movel", "movec", "moveabsj", "ptp", "lin", "circ", "sptp", "slin", "endproc", "end_if"} {
		lex.entry(w).fn |= codeWord
	}
	for i, line := range sameActs {
		for w := range strings.FieldsSeq(line) {
			lex.entry(w).acts |= 1 << i
		}
	}
	return lex
}

// actsOf returns the acts a word stands for, its endings taken off if need be.
func (lex *lexicon) actsOf(w string) uint64 {
	if e := lex.words[w]; e != nil && e.acts != 0 {
		return e.acts
	}
	for _, ending := range [...]string{"s", "es", "ed", "d", "ing"} {
		stem, ok := strings.CutSuffix(w, ending)
		if !ok || len(stem) < 3 {
			continue
		}
		for _, form := range [...]string{stem, stem + "e", stem[:len(stem)-1]} {
			if e := lex.words[form]; e != nil && e.acts != 0 {
				return e.acts
			}
		}
	}
	return 0
}

// term adds one word or phrase.
func (lex *lexicon) term(s string, e entry) {
	words := strings.Fields(s)
	if len(words) == 0 {
		return
	}
	have := lex.entry(words[0])
	if len(words) > 1 {
		have.starts = append(have.starts, phrase{rest: words[1:], entry: e})
		return
	}
	have.noun |= e.noun
	have.verb |= e.verb
	have.fn |= e.fn
	have.past = have.past || e.past
	have.gerund = have.gerund || e.gerund
	have.ents = append(have.ents, e.ents...)
}

// entry returns the entry of a word, made if it is new.
func (lex *lexicon) entry(w string) *entry {
	e := lex.words[w]
	if e == nil {
		e = &entry{}
		lex.words[w] = e
		lex.longest = max(lex.longest, len(w))
	}
	return e
}

// noun adds a thing with its plural; a leading "-" marks a form used as it is.
func (lex *lexicon) noun(s string, c class) {
	lex.term(s, entry{noun: c})
	if !strings.HasSuffix(s, "s") && !strings.Contains(s, " ") {
		lex.term(plural(s), entry{noun: c})
	}
}

func plural(s string) string {
	switch {
	case strings.HasSuffix(s, "y") && len(s) > 2 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"), strings.HasSuffix(s, "x"):
		return s + "es"
	}
	return s + "s"
}

// verb adds the forms of a verb. "put/put" gives an irregular past; a particle
// follows after a space: "switch off".
func (lex *lexicon) verb(s string, g group) {
	base, particle, _ := strings.Cut(s, " ")
	base, past, irregular := strings.Cut(base, "/")
	if !irregular {
		past = pastForm(base)
	}
	add := func(form string, e entry) {
		if particle != "" {
			form += " " + particle
		}
		e.verb = g
		lex.term(form, e)
	}
	add(base, entry{})
	add(plural(base), entry{})
	for _, p := range strings.Split(past, "/") {
		add(p, entry{past: true})
	}
	add(ingForm(base), entry{gerund: true})
}

func pastForm(s string) string {
	switch {
	case strings.HasSuffix(s, "e"):
		return s + "d"
	case strings.HasSuffix(s, "y") && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ied"
	case doubles(s):
		return s + s[len(s)-1:] + "ed"
	}
	return s + "ed"
}

func ingForm(s string) string {
	switch {
	case strings.HasSuffix(s, "ie"):
		return s[:len(s)-2] + "ying"
	case strings.HasSuffix(s, "e") && !strings.HasSuffix(s, "ee"):
		return s[:len(s)-1] + "ing"
	case doubles(s):
		return s + s[len(s)-1:] + "ing"
	}
	return s + "ing"
}

// doubles reports whether the last consonant doubles before an ending: one
// vowel before one consonant in a short or stressed syllable.
func doubles(s string) bool {
	n := len(s)
	if n < 3 || strings.ContainsRune("aeiouwxyhlrk", rune(s[n-1])) && s != "spoof" {
		return s == "control" || s == "cancel"
	}
	vowel := func(i int) bool { return strings.ContainsRune("aeiou", rune(s[i])) }
	if !vowel(n-2) || vowel(n-3) {
		return false
	}
	vowels := 0
	for i := range n {
		if vowel(i) {
			vowels++
		}
	}
	return vowels == 1 || s == "omit" || s == "permit" || s == "submit" || s == "unplug" || s == "outwit"
}

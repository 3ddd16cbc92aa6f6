package check

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/verdict"
)

// An actRule recognises one kind of act by patterns over classes of words, so
// that it covers wordings nobody has listed.
//
// A pattern is a sequence of items: "@group" is a form of a verb of the group,
// "@group!" one that also stands where a verb stands, "@group:ed" a past form,
// "#class" a thing of the class, "a/b" one of these words, "~n" up to n other
// words in the same clause, "+n" the same across commas. Several groups or
// classes are joined by commas. A pattern that starts with "&" holds when all
// its items are in one sentence, in any order, and none marked "-" is.
type actRule struct {
	id       string
	level    verdict.Level // when the act is asserted
	class    verdict.Class
	message  string
	need     string
	refs     []string
	patterns []string
	negative bool  // the pattern holds its own negation
	excused  class // things whose presence in the sentence lowers a block to a flag
	// criterion: a condition behind the act states when it holds ("counts as
	// passed if the arm stops"), which makes a rule of a test out of it.
	criterion bool
}

// An item is one compiled step of a pattern.
type item struct {
	verbs  group
	nouns  class
	words  []string
	ids    []int32   // the words by number
	has    [4]uint64 // the numbers as a set, modulo 256
	gap    int       // words that may stand before it
	wide   bool      // the gap may cross commas
	absent bool      // of a pattern without order: must not be there
	past   bool
	verbal bool // needs verb position
}

type pattern struct {
	rule  *actRule
	items []item
	act   int  // the item that negation and quotation are judged at
	bag   bool // items in any order within a sentence
}

// An actSet is a compiled list of rules.
type actSet struct {
	patterns []*pattern
	byVerb   [32][]*pattern // by the bits of the first item
	byNoun   [32][]*pattern
	byWord   map[string][]*pattern
	byID     [][]*pattern // the same by the number of the word
	verbs    group
	nouns    class
}

// compileActs reads the patterns; lexicon.link makes them ready for use.
func compileActs(rules []actRule) *actSet {
	set := &actSet{byWord: map[string][]*pattern{}}
	for i := range rules {
		for _, text := range rules[i].patterns {
			p := compilePattern(&rules[i], text)
			set.index(p)
		}
	}
	return set
}

func (s *actSet) index(p *pattern) {
	s.patterns = append(s.patterns, p)
	first := &p.items[0]
	for b := range 32 {
		if first.verbs&(1<<b) != 0 {
			s.byVerb[b] = append(s.byVerb[b], p)
		}
		if first.nouns&(1<<b) != 0 {
			s.byNoun[b] = append(s.byNoun[b], p)
		}
	}
	s.verbs |= first.verbs
	s.nouns |= first.nouns
	for _, w := range first.words {
		s.byWord[w] = append(s.byWord[w], p)
	}
}

func compilePattern(r *actRule, text string) *pattern {
	p := &pattern{rule: r, act: -1}
	gap, wide := 0, false
	for _, f := range strings.Fields(text) {
		switch {
		case f == "&":
			p.bag = true
			continue
		case f[0] == '~' || f[0] == '+':
			gap, _ = strconv.Atoi(f[1:])
			wide = f[0] == '+'
			continue
		}
		it := item{gap: gap, wide: wide, absent: f[0] == '-'}
		f = strings.TrimPrefix(f, "-")
		gap, wide = 0, false
		switch f[0] {
		case '@':
			f, it.past = strings.CutSuffix(f[1:], ":ed")
			it.verbal = strings.Contains(f, "!")
			for _, g := range strings.Split(strings.ReplaceAll(f, "!", ""), ",") {
				it.verbs |= groupNames[g]
			}
			if p.act < 0 {
				p.act = len(p.items)
			}
		case '#':
			for _, c := range strings.Split(f[1:], ",") {
				it.nouns |= classNames[c]
			}
		default:
			it.words = strings.Split(f, "/")
		}
		p.items = append(p.items, it)
	}
	p.act = max(p.act, 0)
	return p
}

// link numbers the words of an item.
func (it *item) link(lex *lexicon) {
	for _, w := range it.words {
		id := lex.number(w)
		it.ids = append(it.ids, id)
		it.has[id/64%4] |= 1 << (id % 64)
	}
}

// A hit is one act found in a part.
type hit struct {
	rule       *actRule
	first      int // word it was found by
	act        int // word of the act
	start, end int // words it spans
}

// find appends the acts in toks, each rule once for each word of act.
func (s *actSet) find(p *part, dst []hit) []hit {
	toks := p.toks
	for i := range toks {
		t := &toks[i]
		for v := t.verb & s.verbs; v != 0; v &= v - 1 {
			dst = s.try(p, i, s.byVerb[bits.TrailingZeros32(uint32(v))], dst)
		}
		for n := t.noun & s.nouns; n != 0; n &= n - 1 {
			dst = s.try(p, i, s.byNoun[bits.TrailingZeros32(uint32(n))], dst)
		}
		if t.fn&firstWord != 0 && int(t.id) < len(s.byID) {
			dst = s.try(p, i, s.byID[t.id], dst)
		}
	}
	return dst
}

func (s *actSet) try(in *part, i int, ps []*pattern, dst []hit) []hit {
	toks := in.toks
	for _, p := range ps {
		var at [8]int
		if !in.has.mayHold(p) || !p.items[0].matches(toks, i, -1) || p.bag && !p.together(toks, i, at[:]) || !p.bag && !p.rest(toks, i, 1, at[:]) {
			continue
		}
		at[0] = i
		last := at[:len(p.items)]
		h := hit{rule: p.rule, first: i, act: at[p.act], start: slices.Min(last), end: slices.Max(last)}
		if !h.known(dst) {
			dst = append(dst, h)
		}
	}
	return dst
}

// known reports whether the same act is among the hits before. No hit reaches
// further than farthest from the word it was found by, and they come in order.
func (h *hit) known(before []hit) bool {
	const farthest = 2 * longSentence
	for k := len(before) - 1; k >= 0 && before[k].first >= h.first-2*farthest; k-- {
		if o := &before[k]; o.rule == h.rule && (o.act == h.act || o.end == h.end) {
			return true
		}
	}
	return false
}

// rest matches the items from k on, the one before being at toks[from].
func (p *pattern) rest(toks []token, from, k int, at []int) bool {
	if k == len(p.items) {
		return true
	}
	it := &p.items[k]
	for j := from + 1; j < len(toks) && j <= from+1+it.gap+2; j++ {
		if toks[j].before == brkStop || toks[j].before == brkComma && !it.wide {
			return false
		}
		// Words of a phrase count as one: "the laser safety scanner".
		if j-int(toks[j].phrase)+1 > from+1+it.gap {
			continue
		}
		if !it.linked(toks, from, j, p.items[k-1].verbs != 0) {
			return false
		}
		if it.matches(toks, j, from) && p.rest(toks, j, k+1, at) {
			at[k] = j
			return true
		}
	}
	return false
}

// together matches the items of a pattern without order around toks[i].
func (p *pattern) together(toks []token, i int, at []int) bool {
	lo, hi := sentence(toks, i)
	for k := 1; k < len(p.items); k++ {
		it, found := &p.items[k], false
		for j := lo; j < hi && !found; j++ {
			if j != i && it.matches(toks, j, -1) {
				found, at[k] = true, j
			}
		}
		if found == it.absent {
			return false
		}
		if it.absent {
			at[k] = i
		}
	}
	return true
}

// linked reports whether the words between two items leave them together. The
// object of a verb is not behind "with" or "until"; the subject of a passive
// is followed by auxiliaries and adverbs only ("is still muted").
func (it *item) linked(toks []token, from, j int, afterVerb bool) bool {
	first := j - int(toks[j].phrase) + 1
	if it.past && toks[j].verb&it.verbs != 0 && !afterVerb {
		for k := from + 1; k < first; k++ {
			if toks[k].fn&(auxiliary|negation|history) == 0 && !isAdverb(toks[k].word) && !between(toks[k].word) {
				return false
			}
		}
		return true
	}
	if it.nouns == 0 || !afterVerb {
		return true
	}
	for k := from + 1; k < first; k++ {
		switch toks[k].word {
		case "then", "while", "until", "before", "after", "but", "so", "if", "when", "because", "with", "near", "behind", "at", "where", "as", "since", "that", "which":
			return false
		case "and", "or":
			if toks[k+1].verb != 0 && toks[k+1].noun == 0 || j+1 < len(toks) && toks[j+1].before == brkNone && toks[j+1].fn&(auxiliary|history) != 0 {
				return false
			}
		}
	}
	return true
}

// between lists words that may stand between a subject and its passive verb.
func between(w string) bool {
	switch w {
	case "to", "again", "now", "shall", "will", "must", "should", "can", "may", "could", "would", "still":
		return true
	}
	return false
}

func (it *item) matches(toks []token, i, from int) bool {
	t := &toks[i]
	switch {
	case it.verbs != 0:
		return t.verb&it.verbs != 0 && (!it.past || t.past) && (!it.verbal || verbPosition(toks, i))
	case it.nouns != 0:
		return t.noun&it.nouns != 0 && nounPosition(toks, i, from)
	}
	return t.id != 0 && slices.Contains(it.ids, t.id)
}

// level says how bad a hit is where it stands.
func (h *hit) level(toks []token) verdict.Level {
	level := h.rule.level
	var st standing
	if h.rule.negative {
		st = standNegative(toks, h.start, h.end)
	} else {
		st = stand(toks, h.act, h.end)
	}
	if st == asserted && toks[h.act].verb&weaken != 0 && toks[h.act].verb&defeat == 0 && h.act < h.end && compound(toks, h.end) {
		st = doubtful // "remove the limit switch bracket"
	}
	lo, hi := sentence(toks, h.act)
	for k := lo; k < hi && st == asserted; k++ {
		if toks[k].noun&h.rule.excused != 0 || h.rule.criterion && k > h.end && toks[k].fn&condition != 0 {
			st = doubtful
		}
	}
	switch st {
	case denied:
		return verdict.Pass
	case doubtful, rehearsed:
		if level == verdict.Block {
			return verdict.Flag
		}
		return verdict.Pass
	default:
		return level
	}
}

// compound reports whether the thing at toks[i] only describes the noun behind
// it.
func compound(toks []token, i int) bool {
	if i+1 >= len(toks) || toks[i+1].before != brkNone {
		return false
	}
	next := &toks[i+1]
	if next.fn != 0 || next.verb != 0 || len(next.ents) > 0 || preposition(next.word) || isAdverb(next.word) || digitIn(next.word) {
		return false
	}
	switch next.word {
	case "while", "during", "until", "before", "after", "near", "over", "under", "between", "because", "as", "there", "here", "today", "tonight", "above", "about", "below", "behind", "inside", "outside", "around", "across", "beside", "within", "that", "which", "since", "through", "along", "so":
		return false
	}
	return true
}

// standNegative judges an act whose pattern starts with its own negation.
func standNegative(toks []token, i, end int) standing {
	switch {
	case toks[i].quoted || conditional(toks, i):
		return doubtful
	case negated(toks, i) != asserted: // "do not move without telling": two negations
		return denied
	case toks[end].noun&(authority|person) != 0 && end+1 < len(toks) && toks[end+1].before == brkNone && toks[end+1].word == "to": // "do not tell him to leave": an order, no news
		return doubtful
	}
	lo, hi := sentence(toks, i)
	for k := lo; k < hi; k++ {
		if toks[k].fn&exception != 0 && k > i {
			return doubtful
		}
	}
	return asserted
}

package rule

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fact"
)

// A pattern asks whether a text says something, in words, concepts and kinds:
//
//	pattern  = side { "|" side }          any of these
//	side     = phrase { "&" phrase }      all in one sentence, in any order
//	phrase   = element { [".."] element } in this order; ".." lets up to six words between
//	element  = word | @concept | #kind    a word's base form or the word as written;
//	                                      a concept of the word list; a kind of thing
//
// "@act:bypass & @safeguard | tape over .. sensor"
type pattern []side

type side []phrase

type phrase []element

type element struct {
	gap  bool // other words may stand before it
	mark byte // '@', '#', or 0 for a word
	text string
	key  string // with its mark, as in Text.present
}

// negator is the concept of words that deny.
const negator = "neg"

// maxGap is how many words ".." lets through.
const maxGap = 6

// A Vocabulary knows the concepts of the word list.
type Vocabulary interface {
	Known(concept string) bool
}

// entityKinds are the kinds of things a text can name.
var entityKinds = []string{"material", "device", "robot", "tool", "denied-tool", "zone", "person", "agent", "bioagent", "sandbox", "value", "labware", "robot-model", "device-model"}

func parsePattern(s string, voc Vocabulary) (pattern, error) {
	var p pattern
	for _, alt := range strings.Split(s, "|") {
		var sd side
		for _, conj := range strings.Split(alt, "&") {
			ph, err := parsePhrase(conj, voc)
			if err != nil {
				return nil, fmt.Errorf("pattern %q: %w", s, err)
			}
			sd = append(sd, ph)
		}
		p = append(p, sd)
	}
	return p, nil
}

func parsePhrase(s string, voc Vocabulary) (phrase, error) {
	var ph phrase
	gap := false
	for _, w := range strings.Fields(s) {
		if w == ".." {
			if len(ph) == 0 || gap {
				return nil, fmt.Errorf("%q stands between two words", "..")
			}
			gap = true
			continue
		}
		e := element{gap: gap, text: strings.ToLower(w)}
		gap = false
		switch w[0] {
		case '@':
			e.mark, e.text = '@', w[1:]
			if !voc.Known(e.text) {
				return nil, fmt.Errorf("there is no concept %q in the word list", e.text)
			}
		case '#':
			e.mark, e.text = '#', w[1:]
			if !slices.Contains(entityKinds, e.text) {
				return nil, fmt.Errorf("there is no kind of thing %q: want one of %s", e.text, strings.Join(entityKinds, ", "))
			}
		}
		e.key = e.text
		if e.mark != 0 {
			e.key = string(e.mark) + e.text
		}
		ph = append(ph, e)
	}
	if len(ph) == 0 || gap {
		return nil, fmt.Errorf("a phrase needs words around %q, %q and %q", "|", "&", "..")
	}
	return ph, nil
}

// A mode says which words count.
type mode uint8

const (
	asserted  mode = iota // neither denied nor quoted
	mentioned             // any
	denied                // at least one of them denied
)

// matches reports whether the text says what the pattern asks.
func (p pattern) matches(t *Text, m mode) bool {
	return slices.ContainsFunc(p, func(s side) bool {
		if !s.possible(t) {
			return false
		}
		for i := 0; i < len(t.words); {
			j := i
			for j < len(t.words) && t.words[j].Sent == t.words[i].Sent {
				j++
			}
			if s.in(t, t.words[i:j], m) {
				return true
			}
			i = j
		}
		return false
	})
}

// live are the sides of a pattern that the text could have at all. What the
// plan as a whole does not have, none of its steps has: it is asked once.
func (t *Text) live(literal string, p pattern) pattern {
	if t.whole == nil {
		return p
	}
	if found, ok := t.whole.sides[literal]; ok {
		return found
	}
	var out pattern
	for _, s := range p {
		if s.possible(t.whole) {
			out = append(out, s)
		}
	}
	t.whole.sides[literal] = out
	return out
}

// possible reports whether every element occurs in the text at all: most
// patterns end here.
func (s side) possible(t *Text) bool {
	for _, ph := range s {
		for _, e := range ph {
			if !t.present[e.key] {
				return false
			}
		}
	}
	return true
}

// index notes every word, concept and kind of the text.
func (t *Text) index() {
	t.present = make(map[string]bool, 3*len(t.words))
	for _, w := range t.words {
		t.present[w.Lemma] = true
		t.present[strings.ToLower(w.Text)] = true
		for _, tag := range w.Tags {
			t.present["@"+tag] = true
		}
		if w.Entity > 0 {
			t.present["#"+t.kinds[w.Entity]] = true
		}
	}
}

func (s side) in(t *Text, words []fact.Token, m mode) bool {
	anyDenied := false
	for _, ph := range s {
		ok, neg := ph.find(t, words, m)
		if !ok {
			return false
		}
		anyDenied = anyDenied || neg
	}
	return m != denied || anyDenied
}

// find looks for the phrase anywhere in the sentence. With denied, a place
// where it is denied is preferred.
func (ph phrase) find(t *Text, words []fact.Token, m mode) (found, negated bool) {
	for i := range words {
		ok, neg := ph.at(t, words, i, m)
		if !ok {
			continue
		}
		if m != denied || neg {
			return true, neg
		}
		found = true
	}
	return found, false
}

func (ph phrase) at(t *Text, words []fact.Token, i int, m mode) (ok, negated bool) {
	k := i
	own := false // the phrase itself says "not": what it denies is what is asked
	for n, e := range ph {
		reach := k
		if n > 0 && e.gap {
			reach = k + maxGap
		}
		for k < len(words) && !e.fits(t, words[k]) {
			k++
			if k > reach {
				return false, false
			}
		}
		if k >= len(words) {
			return false, false
		}
		w := words[k]
		if m == asserted && (w.Negated && !own || w.Quoted) {
			return false, false
		}
		negated = negated || w.Negated
		own = own || slices.Contains(w.Tags, negator)
		k++
	}
	return true, negated
}

func (e element) fits(t *Text, w fact.Token) bool {
	switch e.mark {
	case '@':
		return slices.Contains(w.Tags, e.text)
	case '#':
		return w.Entity > 0 && t.kinds[w.Entity] == e.text
	}
	return w.Lemma == e.text || strings.ToLower(w.Text) == e.text
}

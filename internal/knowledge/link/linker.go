// Package link finds what a text names: materials, devices, tools, people,
// places, actions. It is exact, not statistical: names of the graph and of the
// site, and a built-in word list, longest match first, so that the same text
// always gives the same facts and a reviewer can see why.
package link

import (
	"slices"

	"interlock/internal/fact"
	"interlock/internal/verdict"
)

// A Linker links texts of one site. It is immutable and safe for concurrent
// use; build it once per site.
type Linker struct {
	lex   *lexicon
	site  *trie // tried first
	world *trie
	ids   Identify // for identifiers that are nobody's name; nil: none
}

// New builds a linker. Names of the site win over names of the world where
// both are equally long; within each, several nodes of one name are kept as
// candidates.
func New(world, site []Name) (*Linker, error) {
	lex, err := builtin()
	if err != nil {
		return nil, err
	}
	return &Linker{lex: lex, site: buildTrie(site), world: buildTrie(world)}, nil
}

// ForSite returns a linker with the same world and other site names, without
// building the world again.
func (l *Linker) ForSite(site []Name) *Linker {
	return &Linker{lex: l.lex, site: buildTrie(site), world: l.world, ids: l.ids}
}

// Identifying returns a linker that also links the public identifiers that
// ids knows.
func (l *Linker) Identifying(ids Identify) *Linker {
	out := *l
	out.ids = ids
	return &out
}

// Known reports whether the word list has the concept.
func (l *Linker) Known(tag string) bool { return l.lex.tags[tag] }

// Link returns what the text names, in the order of the text. Spans are byte
// ranges of the text; step and part are the caller's to fill in.
func (l *Linker) Link(text string) []fact.Entity {
	return l.entities(text, tokenize(text), nil)
}

// Read returns the text word by word, and what it names. An entity's number in
// a token counts from 1 in the returned list.
func (l *Linker) Read(text string) (fact.Text, []fact.Entity) {
	toks := tokenize(text)
	owner := make([]int, len(toks))
	ents := l.entities(text, toks, owner)
	tags := l.lex.tag(text, toks)
	words := make([]fact.Token, len(toks))
	for i, t := range toks {
		words[i] = fact.Token{
			Text: t.text, Lemma: l.lex.base(t), Start: t.start, End: t.end,
			Clause: t.clause, Sent: t.sent, Quoted: t.quoted, Tags: tags[i], Entity: owner[i],
		}
	}
	negate(words)
	hedge(words)
	classify(words, toks)
	return fact.Text{Raw: text, Words: words}, ents
}

// entities matches names; owner, if given, receives the entity of each token.
func (l *Linker) entities(text string, toks []token, owner []int) []fact.Entity {
	var out []fact.Entity
	for i := 0; i < len(toks); {
		t, hits, n := l.site, []int32(nil), 0
		hits, n = l.site.longest(text, toks, i)
		if w, m := l.world.longest(text, toks, i); m > n {
			t, hits, n = l.world, w, m
		}
		switch {
		case n > 0:
			out = append(out, entity(t, hits, text, toks[i:i+n]))
		default:
			e, ok := l.identified(text, toks[i])
			if !ok {
				i++
				continue
			}
			out, n = append(out, e), 1
		}
		for k := i; k < i+n && owner != nil; k++ {
			owner[k] = len(out)
		}
		i += n
	}
	return out
}

func entity(t *trie, hits []int32, text string, toks []token) fact.Entity {
	best := t.names[hits[0]]
	start, end := toks[0].start, toks[len(toks)-1].end
	e := fact.Entity{
		ID: best.ID, Kind: best.Kind, Name: best.Canon, Text: text[start:end],
		At: verdict.Span{Start: start, End: end},
	}
	for _, h := range hits[1:] {
		if id := t.names[h].ID; id != e.ID && !slices.Contains(e.Candidates, id) {
			e.Candidates = append(e.Candidates, id)
		}
	}
	return e
}

// negScope is how many words a negation reaches at most.
const negScope = 9

// negate marks the words in the scope of a negation: from it to the end of its
// clause.
func negate(words []fact.Token) {
	for i, w := range words {
		if !slices.Contains(w.Tags, tagNegator) || slices.Contains(w.Tags, tagNotNeg) {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+negScope && words[k].Clause == w.Clause; k++ {
			words[k].Negated = true
		}
	}
}

// hedge marks the words of a condition.
func hedge(words []fact.Token) {
	for i, w := range words {
		if !slices.Contains(w.Tags, tagHedge) {
			continue
		}
		for k := i + 1; k < len(words) && words[k].Clause == w.Clause; k++ {
			words[k].Hedged = true
		}
	}
}

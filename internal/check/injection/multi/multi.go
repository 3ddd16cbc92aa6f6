// Package multi finds which of many regular expressions match a text, and
// where, in one pass whose cost hardly depends on how many there are.
//
// The patterns are those of the standard library's syntax. Their programs are
// run together by an automaton that is built while text is read and thrown away
// when it grows beyond its cap. States of unrelated patterns multiply, so a few
// automata share the patterns; the text is read once by each. Text made to force
// new states all the time would still be slow, so a group that sees it goes on
// with its patterns split over small automata, whose states are few. All ways
// are exact: tests compare them with package regexp.
package multi

import (
	"cmp"
	"fmt"
	"regexp/syntax"
	"slices"
)

// A Hit says that a match of a pattern ends at a place.
type Hit struct {
	Pattern int32
	End     int32 // byte offset behind the match
}

// A Set is a compiled list of patterns. It is immutable and safe for
// concurrent use; the states belong to the matchers.
type Set struct {
	groups []programs
	n      int
}

// programs are those of one group: together, and split.
type programs struct {
	whole *program
	parts []*program
}

// groupSize is how many patterns share one automaton on ordinary text.
const groupSize = 20

// partSize is how many patterns share one automaton on hostile text: small
// enough that their states do not multiply.
const partSize = 3

// Compile compiles patterns, all with the given flags. The error names the
// pattern by its index.
func Compile(patterns []string, flags syntax.Flags) (*Set, error) {
	progs := make([]*syntax.Prog, len(patterns))
	for i, p := range patterns {
		re, err := syntax.Parse(p, flags)
		if err != nil {
			return nil, &PatternError{Index: i, Err: err}
		}
		if progs[i], err = syntax.Compile(re.Simplify()); err != nil {
			return nil, &PatternError{Index: i, Err: err}
		}
	}
	s := &Set{n: len(patterns)}
	for i := 0; i < len(progs); i += groupSize {
		g, err := newGroup(progs[i:min(i+groupSize, len(progs))], i)
		if err != nil {
			return nil, err
		}
		s.groups = append(s.groups, g)
	}
	return s, nil
}

func newGroup(progs []*syntax.Prog, first int) (g programs, err error) {
	if g.whole, err = newProgram(progs, first); err != nil {
		return g, err
	}
	for i := 0; i < len(progs); i += partSize {
		part, err := newProgram(progs[i:min(i+partSize, len(progs))], first+i)
		if err != nil {
			return g, err
		}
		g.parts = append(g.parts, part)
	}
	return g, nil
}

// A PatternError is a pattern that does not compile.
type PatternError struct {
	Index int
	Err   error
}

func (e *PatternError) Error() string { return fmt.Sprintf("pattern %d: %v", e.Index, e.Err) }

// Unwrap gives the reason.
func (e *PatternError) Unwrap() error { return e.Err }

// Len is the number of patterns.
func (s *Set) Len() int { return s.n }

// A Matcher is the working memory of one goroutine.
type Matcher struct {
	set    *Set
	groups []group
	limits Limits
	last   []int32 // for each pattern, behind its last reported hit; 0 none
}

// A group is the automata of some patterns.
type group struct {
	whole *automaton
	parts []*automaton // made when hostile text first comes
}

// Limits bounds a matcher's memory.
type Limits struct {
	States     int // of the automaton of a group
	PartStates int // of each small one
}

// defaultLimits keeps a matcher below about 12 MB.
var defaultLimits = Limits{States: 6000, PartStates: 2000}

// NewMatcher makes a matcher; a zero limit means the default.
func (s *Set) NewMatcher(l Limits) *Matcher {
	if l.States == 0 {
		l.States = defaultLimits.States
	}
	if l.PartStates == 0 {
		l.PartStates = defaultLimits.PartStates
	}
	m := &Matcher{set: s, limits: l, last: make([]int32, s.n), groups: make([]group, len(s.groups))}
	for i := range m.groups {
		m.groups[i].whole = newAutomaton(s.groups[i].whole, l.States)
	}
	return m
}

// spacing is how far apart two reported hits of one pattern are at least.
const spacing = 64

// Match appends the hits in text to hits: for each pattern that matches, the
// end of its earliest-ending match, and further ends at least 64 bytes apart.
// The order of the hits does not depend on what was read before.
func (m *Matcher) Match(text []byte, hits []Hit) []Hit {
	clear(m.last)
	for i := range m.groups {
		from := len(hits)
		hits = m.match(i, text, hits)
		slices.SortFunc(hits[from:], func(a, b Hit) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Pattern, b.Pattern)) })
	}
	return hits
}

func (m *Matcher) match(i int, text []byte, hits []Hit) []Hit {
	g := &m.groups[i]
	out, ok := g.whole.run(text, hits, m.last, len(text)/newStateEvery+freeStates)
	if ok {
		return out
	}
	if g.parts == nil {
		for _, p := range m.set.groups[i].parts {
			g.parts = append(g.parts, newAutomaton(p, m.limits.PartStates))
		}
	}
	first := i * groupSize
	clear(m.last[first:min(first+groupSize, len(m.last))])
	for _, a := range g.parts {
		hits, _ = a.run(text, hits, m.last, -1)
	}
	return hits
}

// A text that asks for more new states than one in newStateEvery bytes, after
// the first freeStates, is taken as hostile: making a state costs as much as
// reading several hundred bytes.
const (
	newStateEvery = 128
	freeStates    = 600
)

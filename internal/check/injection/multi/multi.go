// Package multi finds which of many regular expressions match a text, and
// where, in one pass whose cost hardly depends on how many there are.
//
// The patterns are those of the standard library's syntax. Their programs are
// run together by one automaton that is built while text is read and thrown
// away when it grows beyond its cap. Text made to force new states all the time
// would make that slow, so a matcher that sees it goes on with the same patterns
// split over many small automata, whose states are few. Both ways are exact:
// tests compare them with package regexp.
package multi

import (
	"fmt"
	"regexp/syntax"
)

// A Hit says that a match of a pattern ends at a place.
type Hit struct {
	Pattern int32
	End     int32 // byte offset behind the match
}

// A Set is a compiled list of patterns. It is immutable and safe for
// concurrent use; the states belong to the matchers.
type Set struct {
	all   *program
	parts []*program
	n     int
}

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
	var err error
	if s.all, err = newProgram(progs, 0); err != nil {
		return nil, err
	}
	for i := 0; i < len(progs); i += partSize {
		part, err := newProgram(progs[i:min(i+partSize, len(progs))], i)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, part)
	}
	return s, nil
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
	all    *automaton
	parts  []*automaton // made when hostile text first comes
	limits Limits
	last   []int32 // for each pattern, behind its last reported hit; 0 none
}

// Limits bounds a matcher's memory.
type Limits struct {
	States     int // of the automaton of all patterns
	PartStates int // of each small one
}

// defaultLimits keeps a matcher below about 4 MB on ordinary text.
var defaultLimits = Limits{States: 6000, PartStates: 4000}

// NewMatcher makes a matcher; a zero limit means the default.
func (s *Set) NewMatcher(l Limits) *Matcher {
	if l.States == 0 {
		l.States = defaultLimits.States
	}
	if l.PartStates == 0 {
		l.PartStates = defaultLimits.PartStates
	}
	return &Matcher{set: s, all: newAutomaton(s.all, l.States), limits: l, last: make([]int32, s.n)}
}

// spacing is how far apart two reported hits of one pattern are at least.
const spacing = 64

// Match appends the hits in text to hits: for each pattern that matches, the
// end of its earliest-ending match, and further ends at least 64 bytes apart.
func (m *Matcher) Match(text []byte, hits []Hit) []Hit {
	clear(m.last)
	if out, ok := m.all.run(text, hits, m.last, len(text)/newStateEvery+freeStates); ok {
		return out
	}
	if m.parts == nil {
		for _, p := range m.set.parts {
			m.parts = append(m.parts, newAutomaton(p, m.limits.PartStates))
		}
	}
	clear(m.last)
	for _, a := range m.parts {
		hits, _ = a.run(text, hits, m.last, -1)
	}
	return hits
}

// A text that asks for more new states than one in newStateEvery bytes, after
// the first freeStates, is taken as hostile: making a state costs as much as
// reading several hundred bytes.
const (
	newStateEvery = 128
	freeStates    = 1500
)

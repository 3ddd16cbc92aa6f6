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
	"sync"
)

// A Hit says that a match of a pattern ends at a place.
type Hit struct {
	Pattern int32
	End     int32 // byte offset behind the match
}

// A Set is a compiled list of patterns. It is immutable and safe for
// concurrent use; the states belong to the matchers.
type Set struct {
	whole []*program          // of each group
	parts []func() []*program // the same split; made when hostile text first comes
	n     int
}

// groupSize is how many patterns share one automaton on ordinary text: their
// states multiply, so with more of them new states never stop coming.
const groupSize = 10

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
		group := progs[i:min(i+groupSize, len(progs))]
		whole, err := newProgram(group, i)
		if err != nil {
			return nil, err
		}
		s.whole = append(s.whole, whole)
		s.parts = append(s.parts, sync.OnceValue(func() []*program { return split(group, i, whole) }))
	}
	return s, nil
}

// split makes the programs of the parts of a group.
func split(group []*syntax.Prog, first int, whole *program) (parts []*program) {
	for i := 0; i < len(group); i += partSize {
		part, err := newProgram(group[i:min(i+partSize, len(group))], first+i)
		if err != nil {
			return []*program{whole} // cannot be: a part tells fewer characters apart
		}
		parts = append(parts, part)
	}
	return parts
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
	teams  []*team   // of the groups, in their order
	parts  [][]*team // of each group, when it was met by hostile text
	limits Limits
	last   []int32 // for each pattern, behind its last reported hit; 0 none
}

// Limits bounds a matcher's memory.
type Limits struct {
	States     int // of the automaton of a group
	PartStates int // of each small one
}

// The default limits are set by the size of the table of transitions, which
// depends on how many characters a group tells apart.
const (
	tableCells     = 500_000
	partTableCells = 100_000
)

// NewMatcher makes a matcher; a zero limit means the default.
func (s *Set) NewMatcher(l Limits) *Matcher {
	m := &Matcher{set: s, limits: l, last: make([]int32, s.n), parts: make([][]*team, len(s.whole))}
	var all []*automaton
	for _, p := range s.whole {
		all = append(all, newAutomaton(p, l.States, tableCells))
	}
	m.teams = newTeams(all)
	return m
}

// spacing is how far apart two reported hits of one pattern are at least.
const spacing = 64

// hitRow is how many neighbouring patterns have their hits put together by
// place. It says in which order hits come and nothing else.
const hitRow = 20

// Match appends the hits in text to hits: for each pattern that matches, the
// end of its earliest-ending match, and further ends at least 64 bytes apart.
// Their order does not depend on what was read before.
func (m *Matcher) Match(text []byte, hits []Hit) []Hit {
	clear(m.last)
	from := len(hits)
	for i, t := range m.teams {
		t.run(text, m.last, len(text)/newStateEvery+freeStates)
		for k, a := range t.member {
			switch {
			case a == nil:
			case t.out[k]:
				hits = m.split(i*lanes+k, text, hits)
			default:
				hits = append(hits, a.hits...)
			}
		}
	}
	slices.SortFunc(hits[from:], func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Pattern/hitRow, b.Pattern/hitRow), cmp.Compare(a.End, b.End), cmp.Compare(a.Pattern, b.Pattern))
	})
	return hits
}

// split reads text with the small automata of group i.
func (m *Matcher) split(i int, text []byte, hits []Hit) []Hit {
	if m.parts[i] == nil {
		var all []*automaton
		for _, p := range m.set.parts[i]() {
			all = append(all, newAutomaton(p, m.limits.PartStates, partTableCells))
		}
		m.parts[i] = newTeams(all)
	}
	first := i * groupSize
	clear(m.last[first:min(first+groupSize, len(m.last))])
	for _, t := range m.parts[i] {
		t.run(text, m.last, -1)
		for _, a := range t.member {
			if a != nil {
				hits = append(hits, a.hits...)
			}
		}
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

package multi

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// A Finder finds where the matches of one regular expression begin and end:
// the same matches as the standard library's. One automaton reads forwards to
// the end of the leftmost match, a second one, of the expression mirrored,
// reads back from there to its beginning. It is safe for concurrent use; each
// goroutine needs a Search of its own.
type Finder struct {
	programs func() both // made when first asked for: most finders never are
}

// both are the programs of the two ways.
type both struct{ forward, back *program }

// NewFinder makes a finder.
func NewFinder(pattern string, flags syntax.Flags) (*Finder, error) {
	re, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, fmt.Errorf("parsing the expression: %w", err)
	}
	return &Finder{sync.OnceValue(func() both {
		re := re.Simplify()
		return both{single(re), single(mirror(re))}
	})}, nil
}

// single makes the program of one expression.
func single(re *syntax.Regexp) *program {
	prog, err := syntax.Compile(re)
	if err != nil {
		panic(fmt.Sprintf("compiling a parsed expression: %v", err)) // cannot happen: Compile has no errors of its own
	}
	return build([]*syntax.Prog{prog}, 0)
}

// mirror gives the expression of the same texts read from their ends.
func mirror(re *syntax.Regexp) *syntax.Regexp {
	m := *re
	switch re.Op {
	case syntax.OpBeginLine:
		m.Op = syntax.OpEndLine
	case syntax.OpEndLine:
		m.Op = syntax.OpBeginLine
	case syntax.OpBeginText:
		m.Op = syntax.OpEndText
	case syntax.OpEndText:
		m.Op = syntax.OpBeginText
	case syntax.OpLiteral:
		m.Rune = slices.Clone(re.Rune)
		slices.Reverse(m.Rune)
	default:
	}
	m.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, s := range re.Sub {
		m.Sub[i] = mirror(s)
	}
	if re.Op == syntax.OpConcat {
		slices.Reverse(m.Sub)
	}
	return &m
}

// A Search is the working memory of one goroutine for one finder.
type Search struct{ forward, back *tracker }

// searchStates is how many states each automaton of a search may have.
const searchStates = 1000

// NewSearch makes a search.
func (f *Finder) NewSearch() *Search {
	p := f.programs()
	return &Search{forward: newTracker(p.forward, true), back: newTracker(p.back, false)}
}

// Find gives the leftmost match in text, as regexp.FindIndex does; start is -1
// if there is none.
func (s *Search) Find(text []byte) (start, end int) { return s.next(text, 0) }

// Count is the number of matches that do not overlap, none of which may be
// empty.
func (s *Search) Count(text []byte) int {
	n := 0
	for at := 0; ; n++ {
		start, end := s.next(text, at)
		if start < 0 {
			return n
		}
		at = max(end, start+1)
	}
}

// next finds the leftmost match that begins at or behind from.
func (s *Search) next(text []byte, from int) (start, end int) {
	end = s.forward.ahead(text, from)
	if end < 0 {
		return -1, -1
	}
	return s.back.behind(text, from, end), end
}

// A tracker is an automaton whose states keep the order of preference of the
// standard library. It is made while text is read.
type tracker struct {
	p     *program
	first bool // prefers as the standard library does, from any place; else from one place, the longest
	width uint32
	index map[string]uint32
	list  []tracked
	table []uint32 // state*width + class -> next state*width shifted, with the marks below

	mark, kept []uint32
	gen        uint32
	stack, to  []int32
	key        []byte
}

// Marks of a transition.
const (
	known    = 1 << iota // it was made
	matched              // a match ends before the rune
	dead                 // nothing can follow
	markBits = iota
)

type tracked struct {
	pcs  []int32
	kind uint8
	open bool // a match may still begin
}

func newTracker(p *program, first bool) *tracker {
	return &tracker{
		p: p, first: first, width: uint32(len(p.sample)), index: map[string]uint32{},
		mark: make([]uint32, len(p.inst)), kept: make([]uint32, len(p.inst)),
	}
}

// state returns the number of a state, times width.
func (t *tracker) state(pcs []int32, kind uint8, open bool) uint32 {
	t.key = append(t.key[:0], kind<<1)
	if open {
		t.key[0]++
	}
	for _, pc := range pcs {
		t.key = append(t.key, byte(pc), byte(pc>>8), byte(pc>>16))
	}
	if id, ok := t.index[string(t.key)]; ok {
		return id
	}
	if len(t.list) >= searchStates {
		t.list, t.table = t.list[:0], t.table[:0]
		clear(t.index)
	}
	id := uint32(len(t.list)) * t.width
	t.list = append(t.list, tracked{slices.Clone(pcs), kind, open})
	for range t.width {
		t.table = append(t.table, 0)
	}
	t.index[string(t.key)] = id
	return id
}

// step makes the transition from s over class c.
func (t *tracker) step(s uint32, c int) uint32 {
	from := t.list[s/t.width]
	t.to = t.to[:0]
	t.gen++
	found := false
	for _, pc := range from.pcs {
		if found = t.follow(pc, from.kind, c) || found; found && t.first {
			break
		}
	}
	if from.open && !found {
		found = t.follow(t.p.starts[0], from.kind, c)
	}
	open := from.open && !found
	before := len(t.list)
	n := t.state(t.to, t.p.kind[c], open)
	e := n<<markBits | known
	if found {
		e |= matched
	}
	if len(t.to) == 0 && !open {
		e |= dead
	}
	if len(t.list) >= before { // else the states were thrown away, s with them
		t.table[s+uint32(c)] = e
	}
	return e
}

// follow follows empty transitions from pc in order and steps over class c. It
// reports whether a match ends before c: in a tracker that prefers, what comes
// later is then left out.
func (t *tracker) follow(pc int32, before uint8, c int) (found bool) {
	flags, r := t.p.flags(before, c), t.p.sample[c]
	t.stack = append(t.stack[:0], pc)
	for len(t.stack) > 0 {
		pc := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if t.mark[pc] == t.gen {
			continue
		}
		t.mark[pc] = t.gen
		in := &t.p.inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			t.stack = append(t.stack, int32(in.Arg), int32(in.Out))
		case syntax.InstCapture, syntax.InstNop:
			t.stack = append(t.stack, int32(in.Out))
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				t.stack = append(t.stack, int32(in.Out))
			}
		case syntax.InstMatch:
			found = true
			if t.first {
				return true
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && t.kept[in.Out] != t.gen && in.MatchRune(r) {
				t.kept[in.Out] = t.gen
				t.to = append(t.to, int32(in.Out))
			}
		case syntax.InstFail:
		}
	}
	return found
}

// take takes the transition from s over class c.
func (t *tracker) take(s uint32, c int) uint32 {
	if e := t.table[s+uint32(c)]; e != 0 {
		return e
	}
	return t.step(s, c)
}

// ahead gives the end of the leftmost match that begins at or behind from; -1
// if there is none.
func (t *tracker) ahead(text []byte, from int) int {
	s := t.state(nil, t.p.kindBefore(text, from), true)
	end := -1
	for i := from; ; {
		c, size := t.p.end(), 0
		if i < len(text) {
			c, size = t.p.classAt(text[i:])
		}
		e := t.take(s, c)
		if e&matched != 0 {
			end = i
		}
		if e&dead != 0 || i >= len(text) {
			return end
		}
		s = e >> markBits
		i += size
	}
}

// behind gives the beginning, at or behind from, of the longest match that ends
// at end.
func (t *tracker) behind(text []byte, from, end int) int {
	kind := uint8(kindBegin)
	if end < len(text) {
		c, _ := t.p.classAt(text[end:])
		kind = t.p.kind[c]
	}
	s := t.state(t.p.starts, kind, false)
	start := end
	for i := end; ; {
		c, size := t.p.end(), 0
		if i > 0 {
			var r rune
			r, size = utf8.DecodeLastRune(text[:i])
			c = int(t.p.class(r))
		}
		e := t.take(s, c)
		if e&matched != 0 {
			start = i
		}
		if e&dead != 0 || i <= from {
			return start
		}
		s = e >> markBits
		i -= size
	}
}

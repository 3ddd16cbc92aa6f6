package multi

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// unknown marks a transition that needs more than a table look-up. By itself it
// is not made yet; with the next state, plus one, added it has a match to report.
const unknown = 1 << 31

// An automaton is a deterministic automaton made from a program while text is
// read. A state is the set of instructions reached plus the kind of rune
// before; transitions look one rune ahead, which is what the empty-width tests
// need.
type automaton struct {
	p      *program
	max    int // states before the cache is thrown away
	width  uint32
	states []state
	index  map[string]uint32
	table  []uint32 // state*width + class -> next state*width, or unknown
	match  map[uint32][]int32
	col    [256]uint16 // column of an ASCII byte; of other bytes one that is always unknown

	startNext  [kinds][][]int32 // what a match beginning here reaches, by kind before and class
	startMatch [kinds][][]int32
	startKnown [kinds][]bool

	// scratch
	mark  []uint32
	gen   uint32
	stack []int32
	to    []int32
	done  []int32
	key   []byte
	fresh int   // states made since the run began
	hits  []Hit // of this run
}

type state struct {
	pcs  []int32
	kind uint8
}

// newAutomaton makes an automaton of at most maxStates states, or as many as
// fit into cells transitions if that is 0.
func newAutomaton(p *program, maxStates, cells int) *automaton {
	a := &automaton{p: p, max: maxStates, width: uint32(len(p.sample) + 1), mark: make([]uint32, len(p.inst))}
	if a.max == 0 {
		a.max = cells / int(a.width)
	}
	for b := range a.col {
		a.col[b] = uint16(len(p.sample))
		if b < utf8.RuneSelf {
			a.col[b] = p.ascii[b]
		}
	}
	for k := range uint8(kinds) {
		a.startNext[k] = make([][]int32, len(p.sample))
		a.startMatch[k] = make([][]int32, len(p.sample))
		a.startKnown[k] = make([]bool, len(p.sample))
	}
	a.reset()
	return a
}

func (a *automaton) reset() {
	a.states, a.table = a.states[:0], a.table[:0]
	a.index, a.match = map[string]uint32{}, map[uint32][]int32{}
	a.intern(nil, kindBegin)
}

// intern returns the number of a state, times width.
func (a *automaton) intern(pcs []int32, kind uint8) uint32 {
	a.key = append(a.key[:0], kind)
	for _, pc := range pcs {
		a.key = append(a.key, byte(pc), byte(pc>>8), byte(pc>>16))
	}
	if id, ok := a.index[string(a.key)]; ok {
		return id
	}
	id := uint32(len(a.states)) * a.width
	a.states = append(a.states, state{slices.Clone(pcs), kind})
	for range a.width {
		a.table = append(a.table, unknown)
	}
	a.index[string(a.key)] = id
	a.fresh++
	return id
}

// expand follows empty transitions from pcs and steps over class c, adding to
// a.to where it gets and to a.done the patterns that end before c.
func (a *automaton) expand(pcs []int32, before uint8, c int) {
	flags, r := a.p.flags(before, c), a.p.sample[c]
	a.stack = append(a.stack[:0], pcs...)
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.mark[pc] == a.gen {
			continue
		}
		a.mark[pc] = a.gen
		in := &a.p.inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, int32(in.Out), int32(in.Arg))
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, int32(in.Out))
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				a.stack = append(a.stack, int32(in.Out))
			}
		case syntax.InstMatch:
			a.done = append(a.done, a.p.pattern[pc])
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && in.MatchRune(r) {
				a.to = append(a.to, int32(in.Out))
			}
		case syntax.InstFail:
		}
	}
}

// begin makes what a match that begins between kind and class c reaches.
func (a *automaton) begin(kind uint8, c int) {
	if a.startKnown[kind][c] {
		return
	}
	a.to, a.done = a.to[:0], a.done[:0]
	a.gen++
	a.expand(a.p.starts, kind, c)
	a.startNext[kind][c], a.startMatch[kind][c] = slices.Clone(a.to), slices.Clone(a.done)
	a.startKnown[kind][c] = true
}

// step takes the transition from s over class c, making it if need be, and
// returns the next state and the patterns that end before c.
func (a *automaton) step(s uint32, c int) (uint32, []int32) {
	switch v := a.table[s+uint32(c)]; {
	case v < unknown:
		return v, nil
	case v > unknown:
		return v - unknown - 1, a.match[s+uint32(c)]
	}
	if len(a.states) >= a.max {
		st := a.states[s/a.width]
		a.reset()
		s = a.intern(st.pcs, st.kind)
	}
	st := a.states[s/a.width]
	a.begin(st.kind, c)
	a.to, a.done = a.to[:0], a.done[:0]
	a.gen++
	a.expand(st.pcs, st.kind, c)
	a.to = append(a.to, a.startNext[st.kind][c]...)
	a.done = append(a.done, a.startMatch[st.kind][c]...)
	slices.Sort(a.to)
	a.to = slices.Compact(a.to)
	n := a.intern(a.to, a.p.kind[c])
	at := s + uint32(c)
	if len(a.done) == 0 {
		a.table[at] = n
		return n, nil
	}
	slices.Sort(a.done)
	found := slices.Clone(slices.Compact(a.done))
	a.match[at] = found
	a.table[at] = unknown + n + 1
	return n, found
}

// advance takes the transition from s over class c at byte at, noting the hits.
func (a *automaton) advance(s uint32, c, at int, last []int32) uint32 {
	v := a.table[s+uint32(c)]
	if v < unknown {
		return v
	}
	n, found := a.step(s, c)
	for _, p := range found {
		if last[p] == 0 || int32(at)+1-last[p] >= spacing {
			last[p] = int32(at) + 1
			a.hits = append(a.hits, Hit{p, int32(at)})
		}
	}
	return n
}

package multi

import (
	"errors"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// What kind of rune stands before a place: it decides the empty-width tests.
const (
	kindBegin = iota
	kindWord
	kindNewline
	kindOther
	kinds
)

// A program is the programs of some patterns side by side, with the alphabet
// cut into classes of runes that no instruction tells apart.
type program struct {
	inst    []syntax.Inst
	pattern []int32 // of each instruction
	starts  []int32
	breaks  []rune   // lower bounds of the runs of runes
	classOf []uint16 // class of each run
	sample  []rune   // one rune of each class; -1 for the end of text
	kind    []uint8  // of each class
	ascii   [128]uint16
	pages   []page
	pageOf  [(unicode.MaxRune + 1) >> 8]uint16
}

// newProgram makes a program, if its alphabet is not too large for tables.
func newProgram(progs []*syntax.Prog, first int) (*program, error) {
	p := build(progs, first)
	if len(p.sample) > 1<<12 {
		return nil, errors.New("the patterns tell too many kinds of character apart")
	}
	return p, nil
}

func build(progs []*syntax.Prog, first int) *program {
	p := &program{}
	for i, pr := range progs {
		offset := uint32(len(p.inst))
		for _, in := range pr.Inst {
			in.Out += offset
			if in.Op == syntax.InstAlt || in.Op == syntax.InstAltMatch {
				in.Arg += offset
			}
			p.inst = append(p.inst, in)
			p.pattern = append(p.pattern, int32(first+i))
		}
		p.starts = append(p.starts, int32(offset)+int32(pr.Start))
	}
	p.cut()
	return p
}

// cut finds the classes: runs of runes between the bounds that any instruction
// names, merged when every instruction treats them alike.
func (p *program) cut() {
	bounds := map[rune]bool{}
	for _, r := range []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1, unicode.MaxASCII + 1} {
		bounds[r] = true
	}
	for i := range p.inst {
		addBounds(bounds, &p.inst[i])
	}
	for r := range bounds {
		if r <= unicode.MaxRune {
			p.breaks = append(p.breaks, r)
		}
	}
	slices.Sort(p.breaks)
	signs := p.signatures()
	classes := map[signature]uint16{}
	for i, r := range p.breaks {
		c, ok := classes[signs[i]]
		if !ok {
			c = uint16(len(p.sample))
			classes[signs[i]] = c
			p.sample = append(p.sample, r)
			p.kind = append(p.kind, kindOf(r))
		}
		p.classOf = append(p.classOf, c)
	}
	p.paginate()
	p.sample = append(p.sample, -1)
	p.kind = append(p.kind, kindOther)
	for r := range rune(128) {
		p.ascii[r] = p.class(r)
	}
}

// A signature stands for the set of instructions that take a rune: two hashes
// of it, so that no two sets are confused.
type signature struct {
	a, b uint64
	kind uint8
}

func (s *signature) add(i int) {
	s.a = (s.a ^ uint64(i+1)) * 0x9E3779B97F4A7C15
	s.a ^= s.a >> 29
	s.b = (s.b + uint64(i+1)) * 0xC2B2AE3D27D4EB4F
	s.b ^= s.b >> 31
}

// signatures finds for each run of runes which instructions take it.
func (p *program) signatures() []signature {
	signs := make([]signature, len(p.breaks))
	for i, r := range p.breaks {
		signs[i].kind = kindOf(r)
	}
	for i := range p.inst {
		in := &p.inst[i]
		switch in.Op {
		case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for k, r := range p.breaks {
				if in.MatchRune(r) {
					signs[k].add(i)
				}
			}
		case syntax.InstRune, syntax.InstRune1:
			if len(in.Rune) == 1 {
				p.sign(signs, i, in.Rune[0], in)
				for f := unicode.SimpleFold(in.Rune[0]); f != in.Rune[0]; f = unicode.SimpleFold(f) {
					p.sign(signs, i, f, in)
				}
				continue
			}
			for k := 0; k < len(in.Rune); k += 2 {
				from, _ := slices.BinarySearch(p.breaks, in.Rune[k])
				for ; from < len(p.breaks) && p.breaks[from] <= in.Rune[k+1]; from++ {
					signs[from].add(i)
				}
			}
		default:
		}
	}
	return signs
}

// sign adds instruction i to the run of the single rune r, if it takes it.
func (p *program) sign(signs []signature, i int, r rune, in *syntax.Inst) {
	if k, ok := slices.BinarySearch(p.breaks, r); ok && in.MatchRune(r) {
		signs[k].add(i)
	}
}

func addBounds(bounds map[rune]bool, in *syntax.Inst) {
	if in.Op != syntax.InstRune && in.Op != syntax.InstRune1 {
		return
	}
	if len(in.Rune) != 1 {
		for k := 0; k < len(in.Rune); k += 2 {
			bounds[in.Rune[k]], bounds[in.Rune[k+1]+1] = true, true
		}
		return
	}
	r := in.Rune[0]
	bounds[r], bounds[r+1] = true, true
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		bounds[f], bounds[f+1] = true, true
	}
}

func kindOf(r rune) uint8 {
	switch {
	case r == '\n':
		return kindNewline
	case syntax.IsWordChar(r):
		return kindWord
	default:
		return kindOther
	}
}

// A page is the classes of 256 neighbouring runes.
type page [256]uint16

// paginate makes the table of classes. Most pages are of one class and shared.
func (p *program) paginate() {
	plain := map[uint16]uint16{} // the page that is all of one class
	k := 0
	for n := range p.pageOf {
		first := rune(n << 8)
		for k+1 < len(p.breaks) && p.breaks[k+1] <= first {
			k++
		}
		id, ok := plain[p.classOf[k]]
		same := k+1 == len(p.breaks) || p.breaks[k+1] > first+0xff
		if !same || !ok {
			id = uint16(len(p.pages))
			p.pages = append(p.pages, p.page(first, k))
			if same {
				plain[p.classOf[k]] = id
			}
		}
		p.pageOf[n] = id
	}
}

// page makes the page that begins with rune first, in run k.
func (p *program) page(first rune, k int) (pg page) {
	for i := range pg {
		for k+1 < len(p.breaks) && p.breaks[k+1] <= first+rune(i) {
			k++
		}
		pg[i] = p.classOf[k]
	}
	return pg
}

func (p *program) class(r rune) uint16 { return p.pages[p.pageOf[r>>8]][r&0xff] }

// classAt gives the class of the rune that begins b, and its length.
func (p *program) classAt(b []byte) (class, size int) {
	if b[0] < utf8.RuneSelf {
		return int(p.ascii[b[0]]), 1
	}
	r, size := utf8.DecodeRune(b)
	return int(p.class(r)), size
}

// kindBefore gives the kind of the rune before place i.
func (p *program) kindBefore(text []byte, i int) uint8 {
	if i == 0 {
		return kindBegin
	}
	r, _ := utf8.DecodeLastRune(text[:i])
	return kindOf(r)
}

// end is the class of the end of the text.
func (p *program) end() int { return len(p.sample) - 1 }

// flags are the empty-width tests that hold between a rune of kind before and
// one of class after.
func (p *program) flags(before uint8, after int) syntax.EmptyOp {
	var f syntax.EmptyOp
	next := p.kind[after]
	if before == kindBegin {
		f |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	}
	if before == kindNewline {
		f |= syntax.EmptyBeginLine
	}
	if after == p.end() {
		f |= syntax.EmptyEndText | syntax.EmptyEndLine
	} else if next == kindNewline {
		f |= syntax.EmptyEndLine
	}
	if (before == kindWord) != (next == kindWord) {
		return f | syntax.EmptyWordBoundary
	}
	return f | syntax.EmptyNoWordBoundary
}

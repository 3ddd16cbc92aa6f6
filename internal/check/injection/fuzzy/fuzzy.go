// Package fuzzy finds phrases in text that was altered a little. A score is
// RapidFuzz's partial_ratio, bit for bit: the best normalised indel similarity
// of the shorter text with a part of the longer one, times 100.
//
// With m runes of needle and n >= m of text the parts are the prefixes and
// suffixes shorter than m, scored 2·LCS/(m+length), and the windows of length
// m, scored LCS/m. When m = n both ways are tried; when m > n the roles swap.
// Both empty is 100, one empty 0; below the cutoff the score is 0. Nothing is
// folded here.
package fuzzy

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unicode/utf8"
)

// longest is how many runes a phrase may have: one machine word holds the
// state of its comparison.
const longest = 64

// maxClasses is how many different runes the phrases may have.
const maxClasses = 4096

// A Set is a list of phrases compiled together. It is immutable and safe for
// concurrent use; each goroutine needs a Work of its own.
type Set struct {
	ascii   [utf8.RuneSelf]uint16 // class of a rune; 0 for runes in no phrase
	other   map[rune]uint16
	phrases []phrase
	grams   gramIndex
	always  []uint16 // phrases too short for the bound on shared grams
}

type phrase struct {
	m     int
	masks map[uint16]uint64 // class -> where it stands, lowest bit first
	fwd   [128]uint64       // the same for the classes of ASCII runes
	cls   []uint16
	mask  uint64
	cut   float64 // for Find
	need  int     // fewest shared grams of a window that reaches cut
	floor int     // largest common subsequence of a window that stays below cut
}

// New compiles phrases, each of 1 to 64 runes, with the lowest score that Find
// reports for it, in (0,100].
func New(phrases []string, cutoffs []float64) (*Set, error) {
	if len(cutoffs) != len(phrases) {
		return nil, errors.New("one cutoff for each phrase is needed")
	}
	s := &Set{other: map[rune]uint16{}}
	next := uint16(utf8.RuneSelf) // classes below are those of ASCII: itself, plus one
	for i := range s.ascii {
		s.ascii[i] = uint16(i)
	}
	for i, p := range phrases {
		if n := utf8.RuneCountInString(p); n == 0 || n > longest {
			return nil, fmt.Errorf("phrase %d has %d characters: 1 to %d are possible", i, n, longest)
		}
		if !(cutoffs[i] > 0 && cutoffs[i] <= 100) {
			return nil, fmt.Errorf("phrase %d has cutoff %v: above 0 and at most 100 is possible", i, cutoffs[i])
		}
		for _, r := range p {
			if r >= utf8.RuneSelf && s.other[r] == 0 {
				next++
				s.other[r] = next
			}
		}
	}
	if next > maxClasses {
		return nil, fmt.Errorf("the phrases use more than %d different characters", maxClasses)
	}
	for i, p := range phrases {
		c := compile(s.classes([]byte(p), nil))
		c.cut = cutoffs[i]
		c.need = fewestShared(c.m, c.cut)
		c.floor = c.below()
		if c.need <= 0 {
			s.always = append(s.always, uint16(i))
		}
		s.phrases = append(s.phrases, c)
	}
	s.grams = newGramIndex(s.phrases)
	return s, nil
}

func compile(c []uint16) phrase {
	p := phrase{m: len(c), masks: map[uint16]uint64{}, cls: c, mask: ^uint64(0)}
	for i, x := range c {
		if x < uint16(len(p.fwd)) {
			p.fwd[x] |= 1 << i
		} else if x != 0 {
			p.masks[x] |= 1 << i
		}
	}
	if p.m < 64 {
		p.mask = 1<<p.m - 1
	}
	return p
}

// below is the largest common subsequence of a window that stays below cut.
func (p *phrase) below() int {
	l := -1
	for l < p.m && score(l+1, 2*p.m) < p.cut {
		l++
	}
	return l
}

// at gives where class x stands in the phrase.
func (p *phrase) at(x uint16) uint64 {
	if x < uint16(len(p.fwd)) {
		return p.fwd[x]
	}
	return p.masks[x]
}

// classes maps text to classes. NUL is no letter of any phrase's, so that
// class 0 means "in no phrase".
func (s *Set) classes(text []byte, buf []uint16) []uint16 {
	buf = buf[:0]
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			buf = append(buf, s.ascii[b])
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		buf = append(buf, s.other[r])
		i += size
	}
	return buf
}

// score is RapidFuzz's arithmetic, kept in its order of operations.
func score(lcs, lengths int) float64 {
	if lengths == 0 {
		return 100
	}
	distance := lengths - 2*lcs
	return (1.0 - float64(distance)/float64(lengths)) * 100
}

// lcs is the length of the longest common subsequence of the phrase and t
// (Hyyrö's bit-parallel recurrence).
func (p *phrase) lcs(t []uint16) int {
	s := ^uint64(0)
	for i, x := range t {
		if x >= uint16(len(p.fwd)) {
			return p.lcsWide(s, t[i:])
		}
		u := s & p.fwd[x]
		s = (s + u) | (s - u)
	}
	return bits.OnesCount64(^s & p.mask)
}

// lcsWide goes on with runes that are not ASCII.
func (p *phrase) lcsWide(s uint64, t []uint16) int {
	for _, x := range t {
		u := s & p.at(x)
		s = (s + u) | (s - u)
	}
	return bits.OnesCount64(^s & p.mask)
}

// Len is the number of phrases.
func (s *Set) Len() int { return len(s.phrases) }

// Score is partial_ratio of phrase i and text; 0 when below cutoff.
func (s *Set) Score(i int, text []byte, cutoff float64, w *Work) float64 {
	w.cls = s.classes(text, w.cls)
	p := &s.phrases[i]
	n := len(w.cls)
	if n == 0 {
		return 0
	}
	var best float64
	switch {
	case n > p.m:
		best = p.partial(w.cls, math.Nextafter(cutoff, -1), w)
	case n == p.m:
		q := compile(w.cls)
		best = p.partial(w.cls, math.Nextafter(cutoff, -1), w)
		best = max(best, q.partial(p.cls, math.Nextafter(cutoff, -1), w))
	default:
		q := compile(w.cls)
		best = q.partial(p.cls, math.Nextafter(cutoff, -1), w)
	}
	if best < cutoff {
		return 0
	}
	return best
}

// partial is the best score over all parts of t, which has at least m runes;
// anything at or below floor is returned as 0.
func (p *phrase) partial(t []uint16, floor float64, w *Work) float64 {
	best, n := 0.0, len(t)
	if l, at := p.windows(t, p.atLeast(floor), w); at >= 0 {
		best = score(l, 2*p.m)
	}
	for i := 1; i < p.m; i++ {
		if top := score(i, p.m+i); top <= best || top <= floor {
			continue
		}
		for _, part := range [2][]uint16{t[:i], t[n-i:]} {
			if sc := score(p.lcs(part), p.m+i); sc > best && sc > floor {
				best = sc
			}
		}
	}
	return best
}

// atLeast is the largest common subsequence of a window that does not score
// above floor; -1 if any does.
func (p *phrase) atLeast(floor float64) int {
	l := -1
	for l < p.m && score(l+1, 2*p.m) <= floor {
		l++
	}
	return l
}

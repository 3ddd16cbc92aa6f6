package fuzzy

import (
	"slices"
	"unicode/utf8"
)

// A Hit is a part of a text that scores at or above its phrase's cutoff.
type Hit struct {
	Phrase     int32
	Start, End int32 // bytes of the text
	Score      float64
}

// gramSlots is the size of the table of grams, a power of two.
const gramSlots = 1 << 14

// A gramIndex lists for each trigram the phrases that hold it. Trigrams may
// share a slot: that only makes more candidates.
type gramIndex struct {
	from    [gramSlots + 1]uint16
	phrases []uint16
}

func slot(a, b, c rune) uint32 {
	h := uint32(a)*0x9E3779B1 ^ uint32(b)*0x85EBCA77 ^ uint32(c)*0xC2B2AE3D
	return (h ^ h>>15) * 0x2C1B3C6D >> 18 & (gramSlots - 1)
}

func newGramIndex(phrases []string) gramIndex {
	lists := make([][]uint16, gramSlots)
	for i, p := range phrases {
		r := []rune(p)
		for k := 0; k+2 < len(r); k++ {
			s := slot(r[k], r[k+1], r[k+2])
			if l := lists[s]; len(l) == 0 || l[len(l)-1] != uint16(i) {
				lists[s] = append(l, uint16(i))
			}
		}
	}
	var g gramIndex
	for s, l := range lists {
		g.phrases = append(g.phrases, l...)
		g.from[s+1] = uint16(len(g.phrases))
	}
	return g
}

// fewestShared is how many trigrams of a phrase of m runes at least stand in a
// window that scores cut: with L in common the phrase loses D = m-L runes, each
// of which breaks at most three trigrams, and the window has D runes more,
// each of which breaks at most two. So a window with fewer cannot reach cut.
func fewestShared(m int, cut float64) int {
	l := 0
	for l < m && score(l, 2*m) < cut {
		l++
	}
	return m - 2 - 5*(m-l)
}

// block is the stretch of text, in runes, whose grams are counted together. A
// window lies in two neighbouring ones, as it has at most block runes.
const block = longest

// Find appends for each phrase and each block the best full window at or above
// the phrase's cutoff. Parts at the ends of the text that are shorter than the
// phrase are not looked at, so that adding text never takes a hit away.
func (s *Set) Find(text []byte, hits []Hit, w *Work) []Hit {
	w.cls = s.classes(text, w.cls)
	n := len(w.cls)
	first := len(hits)
	if n < len(text) {
		w.mapRunes(text)
	}
	for k := range w.count {
		if len(w.count[k]) < len(s.phrases) {
			w.count[k] = make([]uint16, len(s.phrases))
		}
	}
	pos := 0 // byte offset of rune i
	var a, b rune
	if n > 0 {
		a, pos = runeAt(text, 0)
	}
	if n > 1 {
		b, pos = runeAt(text, pos)
	}
	for start := 0; start < n; start += block {
		k := start / block & 1
		for i := start; i < min(start+block, n-2); i++ {
			var c rune
			c, pos = runeAt(text, pos)
			sl := slot(a, b, c)
			for _, p := range s.grams.phrases[s.grams.from[sl]:s.grams.from[sl+1]] {
				if w.count[k][p] == 0 {
					w.touched[k] = append(w.touched[k], p)
				}
				w.count[k][p]++
			}
			a, b = b, c
		}
		if start > 0 {
			hits = s.evaluate(start-block, n, k, hits, w)
		}
	}
	hits = s.evaluate((n-1)/block*block, n, (n-1)/block&1^1, hits, w)
	w.clear(0)
	w.clear(1)
	if n < len(text) {
		for i := range hits[first:] {
			h := &hits[first+i]
			h.Start, h.End = w.offsets[h.Start], w.offsets[h.End]
		}
	}
	return hits
}

// evaluate looks at the windows that begin in the block at start, for phrases
// with enough grams in it and in the next one, whose counts are count[next].
// Then it forgets the counts of the block.
func (s *Set) evaluate(start, n, next int, hits []Hit, w *Work) []Hit {
	if start < 0 {
		return hits
	}
	cur := next ^ 1
	for _, p := range w.touched[cur] {
		hits = s.candidate(p, start, n, w, hits)
	}
	for _, p := range w.touched[next] {
		if w.count[cur][p] == 0 {
			hits = s.candidate(p, start, n, w, hits)
		}
	}
	for i := range s.phrases { // phrases too short for the bound
		if ph := &s.phrases[i]; ph.need <= 0 && w.count[cur][i] == 0 && w.count[next][i] == 0 {
			hits = s.candidate(uint16(i), start, n, w, hits)
		}
	}
	w.clear(cur)
	return hits
}

func (s *Set) candidate(i uint16, start, n int, w *Work, hits []Hit) []Hit {
	p := &s.phrases[i]
	if int(w.count[0][i])+int(w.count[1][i]) < p.need || n-start < p.m {
		return hits
	}
	part := w.cls[start:min(n, start+block+p.m-1)]
	l, at := p.windows(part, p.below(), w)
	if at < 0 {
		return hits
	}
	return append(hits, Hit{int32(i), int32(start + at), int32(start + at + p.m), score(l, 2*p.m)})
}

// below is the largest common subsequence of a window that stays below the
// cutoff.
func (p *phrase) below() int {
	l := -1
	for l < p.m && score(l+1, 2*p.m) < p.cut {
		l++
	}
	return l
}

func (w *Work) clear(k int) {
	for _, p := range w.touched[k] {
		w.count[k][p] = 0
	}
	w.touched[k] = w.touched[k][:0]
}

// mapRunes notes where each rune of text begins.
func (w *Work) mapRunes(text []byte) {
	w.offsets = w.offsets[:0]
	for i := 0; i < len(text); {
		w.offsets = append(w.offsets, int32(i))
		_, size := utf8.DecodeRune(text[i:])
		i += size
	}
	w.offsets = append(slices.Grow(w.offsets, 1), int32(len(text)))
}

func runeAt(text []byte, pos int) (rune, int) {
	if b := text[pos]; b < utf8.RuneSelf {
		return rune(b), pos + 1
	}
	r, size := utf8.DecodeRune(text[pos:])
	return r, pos + size
}

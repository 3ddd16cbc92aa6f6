package fuzzy

import (
	"cmp"
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
const gramSlots = 1 << 15

// A gramIndex lists for each trigram the phrases that hold it. Trigrams may
// share a slot: that only makes more candidates.
type gramIndex struct {
	from    [gramSlots + 1]uint16
	phrases []uint16
}

func slot(a, b, c rune) uint32 {
	h := uint32(a)*0x9E3779B1 ^ uint32(b)*0x85EBCA77 ^ uint32(c)*0xC2B2AE3D
	return (h ^ h>>15) * 0x2C1B3C6D >> 17 & (gramSlots - 1)
}

// leastNeeded is how many shared grams a phrase is left to need at least.
const leastNeeded = 7

// newGramIndex indexes the phrases by their trigrams and lowers what each
// needs to what is indexed: the trigrams that most phrases have are left out,
// because they turn up everywhere. A phrase that needed so many in all needs at
// least so many, less those left out, among the others.
func newGramIndex(phrases []string, ps []phrase) gramIndex {
	slots := make([][]uint32, len(phrases))
	shared := make([]int, gramSlots)
	for i, p := range phrases {
		r := []rune(p)
		for k := 0; k+2 < len(r); k++ {
			s := slot(r[k], r[k+1], r[k+2])
			slots[i] = append(slots[i], s)
			shared[s]++
		}
	}
	lists := make([][]uint16, gramSlots)
	for i, own := range slots {
		slices.SortFunc(own, func(a, b uint32) int { return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(a, b)) })
		drop := 0
		for drop < len(own) && ps[i].need-drop > leastNeeded {
			drop++
		}
		for drop > 0 && drop < len(own) && own[drop] == own[drop-1] {
			drop-- // a trigram is left out wholly or not at all
		}
		ps[i].need -= drop
		for _, s := range slices.Compact(own[drop:]) {
			lists[s] = append(lists[s], uint16(i))
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
// window of m runes lies in m/block + 2 neighbouring ones at most.
const (
	block  = 16
	blocks = longest/block + 2
)

// Find appends for each phrase and each block the best full window at or above
// the phrase's cutoff that begins in it. Parts at the ends of the text that are
// shorter than the phrase are not looked at, so that adding text never takes a
// hit away.
func (s *Set) Find(text []byte, hits []Hit, w *Work) []Hit {
	w.cls = s.classes(text, w.cls)
	n, first := len(w.cls), len(hits)
	if len(w.total) < len(s.phrases) {
		for k := range w.count {
			w.count[k] = make([]uint8, len(s.phrases))
		}
		w.total, w.isRipe = make([]uint16, len(s.phrases)), make([]bool, len(s.phrases))
	}
	g := grams{text: text}
	g.fill()
	for k := 0; (k-blocks+1)*block < n; k++ {
		w.leave(k % blocks)
		for i := k * block; i < min((k+1)*block, n-2); i++ {
			s.countGram(g.next(), k%blocks, w)
		}
		// Windows that begin blocks-1 blocks back end here at the latest.
		if from := (k - blocks + 1) * block; from >= 0 && from < n {
			hits = s.evaluate(from, n, hits, w)
		}
	}
	for k := range blocks {
		w.leave(k)
	}
	for _, p := range w.ripe {
		w.isRipe[p] = false
	}
	w.ripe = w.ripe[:0]
	if n < len(text) {
		w.mapRunes(text)
		for i := range hits[first:] {
			h := &hits[first+i]
			h.Start, h.End = w.offsets[h.Start], w.offsets[h.End]
		}
	}
	return hits
}

// grams reads the trigrams of a text.
type grams struct {
	text []byte
	pos  int
	a, b rune
}

func (g *grams) fill() {
	if len(g.text) > 0 {
		g.a, g.pos = runeAt(g.text, 0)
	}
	if g.pos < len(g.text) {
		g.b, g.pos = runeAt(g.text, g.pos)
	}
}

func (g *grams) next() uint32 {
	var c rune
	c, g.pos = runeAt(g.text, g.pos)
	sl := slot(g.a, g.b, c)
	g.a, g.b = g.b, c
	return sl
}

// countGram counts a trigram of block k for the phrases that hold it.
func (s *Set) countGram(sl uint32, k int, w *Work) {
	for _, p := range s.grams.phrases[s.grams.from[sl]:s.grams.from[sl+1]] {
		if w.count[k][p] == 0 {
			w.touched[k] = append(w.touched[k], p)
		}
		w.count[k][p]++
		if w.total[p]++; int(w.total[p]) >= s.phrases[p].need && !w.isRipe[p] {
			w.isRipe[p] = true
			w.ripe = append(w.ripe, p)
		}
	}
}

// leave forgets what was counted for block k.
func (w *Work) leave(k int) {
	for _, p := range w.touched[k] {
		w.total[p] -= uint16(w.count[k][p])
		w.count[k][p] = 0
	}
	w.touched[k] = w.touched[k][:0]
}

// evaluate looks at the windows that begin in the block at start, for the
// phrases with enough grams in the blocks counted now, and for those too short
// for the bound.
func (s *Set) evaluate(start, n int, hits []Hit, w *Work) []Hit {
	kept := w.ripe[:0]
	for _, p := range w.ripe {
		if int(w.total[p]) < s.phrases[p].need {
			w.isRipe[p] = false
			continue
		}
		kept = append(kept, p)
		hits = s.candidate(p, start, n, w, hits)
	}
	w.ripe = kept
	for _, p := range s.always {
		hits = s.candidate(p, start, n, w, hits)
	}
	return hits
}

func (s *Set) candidate(i uint16, start, n int, w *Work, hits []Hit) []Hit {
	p := &s.phrases[i]
	if n-start < p.m || !w.enough(i, start, p) {
		return hits
	}
	part := w.cls[start:min(n, start+block+p.m-1)]
	if mid := min(block/2, len(part)-p.m); p.lcs(part[mid:mid+p.m])+max(mid, len(part)-p.m-mid) <= p.floor {
		return hits // moving a window by one changes its common subsequence by at most one
	}
	l, at := p.windows(part, p.floor, w)
	if at < 0 {
		return hits
	}
	return append(hits, Hit{int32(i), int32(start + at), int32(start + at + p.m), score(l, 2*p.m)})
}

// enough reports whether the blocks that a window beginning in the block at
// start can touch hold as many grams of the phrase as it needs.
func (w *Work) enough(i uint16, start int, p *phrase) bool {
	sum, k := 0, start/block
	for b := range (p.m+block-2)/block + 1 {
		sum += int(w.count[(k+b)%blocks][i])
	}
	return sum >= p.need
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

package fuzzy

import (
	"cmp"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// A Hit is a part of a text that scores at or above its phrase's cutoff.
type Hit struct {
	Phrase     int32
	Start, End int32 // bytes of the text
	Score      float64
}

// gramBits is the size of the table of grams.
const (
	gramBits  = 15
	gramSlots = 1 << gramBits
)

// A gramIndex says for each trigram which phrases hold it, one bit a phrase, so
// that the trigrams of all phrases are counted at once: the counts stand
// upright, one word for each binary digit of 64 phrases. Trigrams may share a
// slot: that only makes more candidates.
type gramIndex struct {
	set   [gramSlots]uint16 // number of a slot's set of phrases; 0 is the empty one
	words int               // of a set
	sets  []uint64
	order []uint16 // the phrases by length, as their bits stand in a set
	place []uint16 // of each phrase in order
	span  []int    // for every word of a set, most blocks that a window of its phrases touches
	need  []sums   // what each phrase needs, for every word of a set
}

// Counts in one block reach 16, over all blocks counted together 96.
type (
	counts [5]uint64
	sums   [7]uint64
)

// never is more than any sum: phrases that are not there need it.
const never = 1<<len(sums{}) - 1

// slot gives the slot of a trigram of classes.
func slot(a, b, c uint16) uint32 {
	return uint32((uint64(a)<<32 | uint64(b)<<16 | uint64(c)) * 0x9E3779B97F4A7C15 >> (64 - gramBits))
}

// leastNeeded is how many shared grams a phrase is left to need at least.
const leastNeeded = 7

// newGramIndex indexes the phrases by their trigrams and lowers what each
// needs to what is indexed: the trigrams that most phrases have are left out,
// because they turn up everywhere. A phrase that needed so many in all needs at
// least so many, less those left out, among the others.
func newGramIndex(ps []phrase) gramIndex {
	slots := make([][]uint32, len(ps))
	shared := make([]int, gramSlots)
	for i := range ps {
		c := ps[i].cls
		for k := 0; k+2 < len(c); k++ {
			s := slot(c[k], c[k+1], c[k+2])
			slots[i] = append(slots[i], s)
			shared[s]++
		}
	}
	g := newSets(ps)
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
		for _, s := range own[drop:] {
			g.put(s, int(g.place[i]))
		}
	}
	g.need = make([]sums, g.words)
	for i := range g.words * 64 {
		need := never
		if i < len(ps) && ps[g.order[i]].need > 0 {
			need = ps[g.order[i]].need
		}
		for d := range g.need[i/64] {
			g.need[i/64][d] |= uint64(need>>d&1) << (i % 64)
		}
	}
	return g
}

// newSets gives every phrase its bit: phrases of like lengths together, because
// all of a word are counted over as many blocks as the longest of them needs.
func newSets(ps []phrase) gramIndex {
	g := gramIndex{words: (len(ps) + 63) / 64, place: make([]uint16, len(ps))}
	g.sets = make([]uint64, g.words) // the empty one
	g.span = make([]int, g.words)
	for i := range ps {
		g.order = append(g.order, uint16(i))
	}
	slices.SortStableFunc(g.order, func(a, b uint16) int { return cmp.Compare(ps[a].m, ps[b].m) })
	for at, i := range g.order {
		g.place[i] = uint16(at)
		g.span[at/64] = max(g.span[at/64], ps[i].touches())
	}
	return g
}

// touches is how many blocks the windows that begin in one block may touch.
func (p *phrase) touches() int { return (p.m+block-2)/block + 1 }

// put adds the phrase with bit i to the set of a slot.
func (g *gramIndex) put(slot uint32, i int) {
	if g.set[slot] == 0 {
		g.set[slot] = uint16(len(g.sets) / g.words)
		g.sets = append(g.sets, make([]uint64, g.words)...)
	}
	g.sets[int(g.set[slot])*g.words+i/64] |= 1 << (i % 64)
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
	ring   = blocks + 1 // counts are kept until their block has left every sum
)

// Find appends for each phrase and each block the best full window at or above
// the phrase's cutoff that begins in it. Parts at the ends of the text that are
// shorter than the phrase are not looked at, so that adding text never takes a
// hit away.
func (s *Set) Find(text []byte, hits []Hit, w *Work) []Hit {
	w.cls = s.classes(text, w.cls)
	n, first := len(w.cls), len(hits)
	w.forget(s.grams.words)
	for k := 0; (k-blocks+1)*block < n; k++ {
		s.countBlock(w.cls[min(k*block, n):min((k+1)*block+2, n)], k, w)
		// Windows that begin blocks-1 blocks back end here at the latest.
		if from := (k - blocks + 1) * block; from >= 0 && from < n {
			hits = s.evaluate(from, n, hits, w)
		}
	}
	if n < len(text) {
		w.mapRunes(text)
		for i := range hits[first:] {
			h := &hits[first+i]
			h.Start, h.End = w.offsets[h.Start], w.offsets[h.End]
		}
	}
	return hits
}

// forget empties the counts.
func (w *Work) forget(words int) {
	for k := range w.count {
		w.count[k] = append(w.count[k][:0], make([]counts, words)...)
	}
	w.total = append(w.total[:0], make([]sums, words)...)
}

// countBlock counts the trigrams of cls, which is block k and two classes more,
// for the phrases that hold them, and moves the sums on to the windows that begin blocks-1 blocks back.
func (s *Set) countBlock(cls []uint16, k int, w *Work) {
	var buf [block]uint32
	found := 0
	for i := 0; i+2 < len(cls); i++ {
		if set := s.grams.set[slot(cls[i], cls[i+1], cls[i+2])]; set != 0 {
			buf[found] = uint32(set) * uint32(s.grams.words)
			found++
		}
	}
	now := w.count[k%ring]
	gone := w.count[(k+1)%ring] // block k-blocks
	for j := range w.total {
		var c0, c1, c2, c3, c4 uint64
		for _, set := range buf[:found] {
			carry := s.grams.sets[set+uint32(j)]
			c0, carry = c0^carry, c0&carry
			c1, carry = c1^carry, c1&carry
			c2, carry = c2^carry, c2&carry
			c3, carry = c3^carry, c3&carry
			c4 |= carry
		}
		now[j] = counts{c0, c1, c2, c3, c4}
		w.total[j].move(&gone[j], &w.count[(k+1+s.grams.span[j])%ring][j])
	}
}

// move takes old off the sums and puts now on.
func (t *sums) move(old, now *counts) {
	var borrow, carry uint64
	for d := range t {
		var o, n uint64
		if d < len(old) {
			o, n = old[d], now[d]
		}
		a := t[d]
		a, borrow = a^o^borrow, ^a&o|^(a^o)&borrow
		t[d], carry = a^n^carry, a&n|(a^n)&carry
	}
}

// reach gives the phrases whose sum is at least what they need.
func (t *sums) reach(need *sums) uint64 {
	var borrow uint64
	for d, a := range t {
		n := need[d]
		borrow = ^a&n | ^(a^n)&borrow
	}
	return ^borrow
}

// of gives the count of phrase i of the word.
func (c *counts) of(i uint16) (n int) {
	for d, digits := range c {
		n |= int(digits>>(i%64)&1) << d
	}
	return n
}

// evaluate looks at the windows that begin in the block at start, for the
// phrases with enough grams in the blocks counted now, and for those too short
// for the bound.
func (s *Set) evaluate(start, n int, hits []Hit, w *Work) []Hit {
	for j := range w.total {
		for ripe := w.total[j].reach(&s.grams.need[j]); ripe != 0; ripe &= ripe - 1 {
			hits = s.candidate(s.grams.order[j*64+bits.TrailingZeros64(ripe)], start, n, w, hits)
		}
	}
	for _, p := range s.always {
		hits = s.candidate(p, start, n, w, hits)
	}
	return hits
}

func (s *Set) candidate(i uint16, start, n int, w *Work, hits []Hit) []Hit {
	p := &s.phrases[i]
	if n-start < p.m || !w.enough(s.grams.place[i], start, p) {
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
// start can touch hold as many grams of the phrase, whose bit is i, as it needs.
func (w *Work) enough(i uint16, start int, p *phrase) bool {
	sum, k := 0, start/block
	for b := range p.touches() {
		sum += w.count[(k+b)%ring][i/64].of(i)
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

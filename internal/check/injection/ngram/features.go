// Package ngram is a small trained model of attacks: a logistic regression
// over hashed pieces of words and short runs of words, with one byte a weight.
//
// It judges a text by its worst window of words, at every place and of many
// lengths. Text around an attack can therefore not dilute it: what stands
// outside a window has no part in its score.
package ngram

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// tableBits is the size of each of the two tables of weights.
const tableBits = 17

const (
	tableSize = 1 << tableBits
	tableMask = tableSize - 1
)

// The shortest and longest pieces of a word, in characters with its ends
// marked.
const (
	shortestPiece = 3
	longestPiece  = 5
	longestWord   = 24 // of a longer run only the whole is looked at: it is no word
)

// A token is a word of the text with what it adds to a window: alone, with the
// word before, with two words before.
type token struct {
	start, end    int32
	alone         float32
	pair, triple  float32
	hash          uint32
	firstFeature  int32 // in the features collected, when they are
	pairFeature   int32
	tripleFeature int32
	lastFeature   int32
}

// Work is the scratch memory of one goroutine.
type Work struct {
	tokens  []token
	runes   []rune
	upTo    []float64 // what the words before i add, with all pairs and triples
	skipped []float64 // of that, what a window that begins at word i must not count
	cache   []remembered
	cached  *Model // whose weights the cache holds
	peaks   []Peak
	feats   []uint32 // filled when collecting
	collect bool
}

const (
	prime = 0x01000193
	basis = 0x811C9DC5
)

func mix(h uint32, r rune) uint32 { return (h ^ uint32(r)) * prime }

// finish spreads a hash over the table.
func finish(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2C1B3C6D
	h ^= h >> 13
	return h
}

// The kinds of feature, so that equal letters of different kinds fall apart.
const (
	kindWord = iota + 1
	kindPiece
	kindPair
	kindSkip
	kindTriple
	kindMark
)

// inPieces is the bit that marks a feature of the table of pieces.
const inPieces = 1 << 31

// tokenize reads the words of text and, through m (which may be nil), what
// each adds.
func (w *Work) tokenize(text []byte, m *Model) {
	w.tokens, w.feats = w.tokens[:0], w.feats[:0]
	var before1, before2 uint32 // hashes of the two words before
	mark := uint32(0)           // punctuation since the last word
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if !wordRune(r) {
			if r != ' ' {
				mark = mix(mark|1, r)
			}
			i += size
			continue
		}
		start := i
		if h, end := asciiWord(text, i); end > 0 {
			t := token{start: int32(start), end: int32(end), hash: h}
			w.features(&t, text[start:end], before1, before2, mark, m)
			before2, before1, mark, i = before1, h, 0, end
			w.tokens = append(w.tokens, t)
			continue
		}
		w.runes = w.runes[:0]
		for i < len(text) {
			r, size = rune(text[i]), 1
			if r >= utf8.RuneSelf {
				r, size = utf8.DecodeRune(text[i:])
			}
			if !wordRune(r) || len(w.runes) > 0 && (dense(r) || dense(w.runes[0])) && !unicode.Is(unicode.M, r) {
				break
			}
			if r >= '0' && r <= '9' {
				r = '0'
			}
			w.runes = append(w.runes, r)
			i += size
		}
		t := token{start: int32(start), end: int32(i)}
		t.hash = basis
		for _, r := range w.runes {
			t.hash = mix(t.hash, r)
		}
		w.features(&t, nil, before1, before2, mark, m)
		before2, before1, mark = before1, t.hash, 0
		w.tokens = append(w.tokens, t)
	}
}

// inWord maps the bytes of ASCII words to what they count as: a digit is a 0.
var inWord = func() (t [256]byte) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] = byte(c)
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = '0'
	}
	return t
}()

// asciiWord reads the word at i and hashes it; end is 0 if it is not all ASCII.
func asciiWord(text []byte, i int) (h uint32, end int) {
	h = basis
	for end = i; end < len(text) && inWord[text[end]] != 0; end++ {
		h = mix(h, rune(inWord[text[end]]))
	}
	if end == i || end < len(text) && text[end] >= utf8.RuneSelf {
		return 0, 0
	}
	return h, end
}

// features adds the features of a word: given as its bytes when it is ASCII,
// else in w.runes.
func (w *Work) features(t *token, ascii []byte, before1, before2, mark uint32, m *Model) {
	h := t.hash
	t.firstFeature = int32(len(w.feats))
	if ascii == nil {
		t.alone = w.fresh(h, m)
	} else {
		t.alone = w.word(ascii, h, m)
	}
	t.pairFeature = int32(len(w.feats))
	if before1 != 0 {
		t.pair = w.add(finish(mix(before1*prime^h, kindPair)), false, m)
		if mark != 0 { // it parts two words, so it counts when both are inside
			t.pair += w.add(finish(mix(mark, kindMark)), false, m)
		}
	}
	t.tripleFeature = int32(len(w.feats))
	if before2 != 0 {
		t.triple = w.add(finish(mix(before2*prime^h, kindSkip)), false, m)
		t.triple += w.add(finish(mix((before2*prime^before1)*prime^h, kindTriple)), false, m)
	}
	t.lastFeature = int32(len(w.feats))
}

// A remembered word with what it adds alone: texts repeat their words.
type remembered struct {
	word  [cachedWord]byte
	n     uint8
	alone float32
}

const (
	cacheSize  = 1 << 11
	cachedWord = 19 // longest word that is remembered
)

// word is what an ASCII word, whose hash is h, adds alone.
func (w *Work) word(ascii []byte, h uint32, m *Model) float32 {
	n := len(ascii)
	if w.collect || m == nil || n > cachedWord {
		w.spell(ascii)
		return w.fresh(h, m)
	}
	if w.cached != m {
		w.cached, w.cache = m, make([]remembered, cacheSize)
	}
	c := &w.cache[(h^h>>16)%cacheSize]
	if c.is(ascii) {
		return c.alone
	}
	w.spell(ascii)
	c.alone, c.n = w.fresh(h, m), uint8(n)
	for i, b := range ascii {
		c.word[i] = inWord[b]
	}
	return c.alone
}

func (c *remembered) is(ascii []byte) bool {
	if int(c.n) != len(ascii) {
		return false
	}
	for i, b := range ascii {
		if c.word[i] != inWord[b] {
			return false
		}
	}
	return true
}

// spell puts an ASCII word into w.runes.
func (w *Work) spell(ascii []byte) {
	w.runes = w.runes[:0]
	for _, b := range ascii {
		w.runes = append(w.runes, rune(inWord[b]))
	}
}

// fresh adds up the word and its pieces.
func (w *Work) fresh(h uint32, m *Model) float32 {
	sum := w.add(finish(mix(h, kindWord)), false, m)
	if len(w.runes) <= longestWord {
		sum += w.pieces(m)
	}
	return sum
}

// pieces adds the runs of 3 to 5 characters of the word with its ends marked.
func (w *Work) pieces(m *Model) (sum float32) {
	w.runes = append(w.runes, '>')
	n := len(w.runes)
	prev := '<'
	for i := -1; i+shortestPiece <= n; i++ {
		h := mix(basis, kindPiece)
		h = mix(h, prev)
		for k := 1; k < longestPiece && i+k < n; k++ {
			h = mix(h, w.runes[i+k])
			if k+1 >= shortestPiece {
				sum += w.add(finish(h), true, m)
			}
		}
		if i+1 < n {
			prev = w.runes[i+1]
		}
	}
	w.runes = w.runes[:n-1]
	return sum
}

// add counts one feature.
func (w *Work) add(h uint32, piece bool, m *Model) float32 {
	slot := h & tableMask
	if w.collect {
		if piece {
			slot |= inPieces
		}
		w.feats = append(w.feats, slot)
		return 0
	}
	if m == nil {
		return 0
	}
	if piece {
		return float32(m.pieces[slot]) * m.pieceScale
	}
	return float32(m.words[slot]) * m.wordScale
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// dense reports whether r belongs to a script without spaces between words:
// each character is a word of its own.
func dense(r rune) bool {
	return r >= 0x0E00 && r <= 0x0EFF || r >= 0x1000 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF ||
		r >= 0x3040 && r <= 0x30FF || r >= 0x3400 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x3FFFF
}

// lengths are the windows looked at, in words: every one up to a sentence,
// then coarser.
var lengths = [...]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 24, 28, 32, 40, 48, 64}

const longestWindow = 64

// norm divides the sum of a window of n words.
func norm(n int) float32 { return float32(1 / math.Sqrt(float64(n)+4)) }

var norms = func() (t [longestWindow + 1]float32) {
	for i := range t {
		t[i] = norm(i)
	}
	return t
}()

// sums makes the running sums of the tokens: a window from word i to j adds
// upTo[j] - skipped[i], because pairs and triples count when all their words are
// inside.
func (w *Work) sums() {
	n := len(w.tokens)
	w.upTo, w.skipped = append(w.upTo[:0], 0), w.skipped[:0]
	total := 0.0
	for i := range n {
		t := &w.tokens[i]
		skip := total + float64(t.pair) + float64(t.triple)
		if i+1 < n {
			skip += float64(w.tokens[i+1].triple)
		}
		w.skipped = append(w.skipped, skip)
		total += float64(t.alone) + float64(t.pair) + float64(t.triple)
		w.upTo = append(w.upTo, total)
	}
}

// atMost is no less than the score of any window that ends at word j, given the
// least that one which begins in the last 64 words must not count. Rounding
// keeps the order, so a window is never missed.
func (w *Work) atMost(j int, least float64) float32 {
	sum := float32(w.upTo[j] - least)
	if sum > 0 {
		sum *= norms[2]
	} else {
		sum *= norms[longestWindow]
	}
	return max(sum, w.tokens[j-1].alone*norms[1])
}

// window is the score of words i to j before the bias.
func (w *Work) window(i, j int) float32 {
	if j == i+1 {
		return w.tokens[i].alone * norms[1]
	}
	return float32(w.upTo[j]-w.skipped[i]) * norms[j-i]
}

// worst is the highest-scoring window that ends at word j, and where it begins.
func (w *Work) worst(j int) (float32, int) {
	best, from := w.tokens[j-1].alone*norms[1], j-1
	end := w.upTo[j]
	if j >= longestWindow {
		latest := (*[longestWindow]float64)(w.skipped[j-longestWindow : j])
		for k := range spans {
			if s := float32(end-latest[spans[k].from&(longestWindow-1)]) * spans[k].norm; s > best {
				best, from = s, j-longestWindow+int(spans[k].from)
			}
		}
		return best, from
	}
	for _, l := range lengths[1:] {
		if l > j {
			break
		}
		if s := float32(end-w.skipped[j-l]) * norms[l]; s > best {
			best, from = s, j-l
		}
	}
	return best, from
}

// A span is a window as it begins among the latest 64 words.
type span struct {
	from uint32
	norm float32
}

var spans = func() (t [len(lengths) - 1]span) {
	for k, l := range lengths[1:] {
		t[k] = span{uint32(longestWindow - l), norm(l)}
	}
	return t
}()

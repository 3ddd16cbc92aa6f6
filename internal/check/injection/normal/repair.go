package normal

import (
	"slices"
	"unicode/utf8"
)

// Words is what the repairs know: the words a rule or a phrase cares about and
// the commonest words of a language. It is immutable.
type Words struct {
	words   map[string]entry  // while it is being made
	known   lexicon           // of those
	jumbled map[string]string // first letter, middle sorted, last letter -> word
	letters mixtures          // what mixture says of each of those
	longest int
}

// An entry is what one run of letters may be.
type entry struct {
	known  bool
	mirror bool  // a common word from the end
	shift  uint8 // a common word moved so many letters on; 0: none, or it could be several
}

// NewWords makes the lexicon from common words and key words: common ones say
// what language is, key ones are also looked for jumbled.
func NewWords(common, key []string) *Words {
	w := &Words{words: map[string]entry{}, jumbled: map[string]string{}, letters: mixtures{all: map[uint64]bool{}}}
	for _, c := range append(slices.Clone(common), key...) {
		w.words[c] = entry{known: true}
		w.longest = max(w.longest, len(c))
	}
	for _, k := range key {
		if len(k) >= shortestJumble {
			w.jumbled[string(jumble([]byte(k)))] = k
			w.letters.add(mixture([]byte(k)))
		}
	}
	for _, c := range common {
		if len(c) < 3 {
			continue // two letters turn up by chance
		}
		m := []byte(c)
		slices.Reverse(m)
		w.other(m, entry{mirror: true})
		for k := uint8(1); k < 26; k++ {
			s := []byte(c)
			shift(s, k)
			w.other(s, entry{shift: k})
		}
	}
	for _, k := range key {
		if len(k) >= shortestJumble {
			m := []byte(k)
			slices.Reverse(m)
			w.other(m, entry{mirror: true})
		}
	}
	w.known, w.words = newLexicon(w.words), nil
	return w
}

// other notes what an unknown run of letters may be. One that two shifts give
// says nothing.
func (w *Words) other(run []byte, e entry) {
	old, ok := w.words[string(run)]
	switch {
	case old.known:
		return
	case ok && old.shift != 0 && e.shift != 0:
		e.shift = 0
	case ok:
		e.shift = max(e.shift, old.shift)
	}
	e.mirror = e.mirror || old.mirror
	w.words[string(run)] = e
}

// mixture is the same for all words with the same ends and the same letters
// between.
func mixture(w []byte) uint64 {
	sum := uint64(len(w))
	for _, c := range w[1 : len(w)-1] {
		x := uint64(c) * 0x9E3779B97F4A7C15
		sum += x ^ x>>32
	}
	return sum*31 + uint64(w[0])<<8 + uint64(w[len(w)-1])
}

// mixtures are what mixture says of some words. Most others are told apart by
// one bit.
type mixtures struct {
	some [1 << mixtureBits / 64]uint64
	all  map[uint64]bool
}

const mixtureBits = 14

func (m *mixtures) add(x uint64) {
	k := x * 0x9E3779B97F4A7C15 >> (64 - mixtureBits)
	m.some[k/64] |= 1 << (k % 64)
	m.all[x] = true
}

func (m *mixtures) has(x uint64) bool {
	k := x * 0x9E3779B97F4A7C15 >> (64 - mixtureBits)
	return m.some[k/64]>>(k%64)&1 != 0 && m.all[x]
}

const shortestJumble = 5

// jumble sorts the letters between the first and the last.
func jumble(w []byte) []byte {
	slices.Sort(w[1 : len(w)-1])
	return w
}

// shift moves the letters of w k places on.
func shift(w []byte, k uint8) {
	for i, c := range w {
		if c >= 'a' && c <= 'z' {
			w[i] = 'a' + (c-'a'+k)%26
		}
	}
}

// tally counts what the words of a text say about how it was written.
type tally struct {
	words   int
	known   int
	mirror  streak
	shift   [26]streak
	spaced  int    // longest run of single letters
	leet    streak // words with digits or signs in them that stand for known ones
	jumbled bool
}

// quiet reports whether too few words make sense in another reading for any
// part of the text to be foreign.
func (t *tally) quiet() bool {
	for i := range t.shift {
		if t.shift[i].all >= fewestForeign {
			return false
		}
	}
	return t.mirror.all < fewestForeign
}

// A streak counts words that stand near one another: a few in a long text are
// chance, a few in a row are not.
type streak struct {
	all, run, best int
	last           int // number of the last such word
}

// near is how many words may stand between two of a streak.
const near = 12

func (s *streak) add(word int) {
	s.all++
	if s.run > 0 && word-s.last > near {
		s.run = 0
	}
	s.run++
	s.last = word
	s.best = max(s.best, s.run)
}

// count reads the words of v.
func (w *Words) count(v *View) (t tally) {
	single := 0
	for i := 0; i < len(v.Text); {
		j := wordEnd(v.Text, i)
		if j == i {
			i++
			continue
		}
		word := v.Text[i:j]
		if len(word) == 1 {
			single++
			t.spaced = max(t.spaced, single)
			i = j
			continue
		}
		single = 0
		if len(word) <= w.longest+2 {
			w.countWord(&t, word)
		}
		i = j
	}
	return t
}

func (w *Words) countWord(t *tally, word []byte) {
	e := w.known.of(word)
	t.words++
	if e.known {
		t.known++
		return
	}
	if e.mirror {
		t.mirror.add(t.words)
	}
	if e.shift != 0 {
		t.shift[e.shift].add(t.words)
	}
	if mixed(word) && w.unleet(word) != "" {
		t.leet.add(t.words)
	}
	t.jumbled = t.jumbled || len(word) >= shortestJumble && w.letters.has(mixture(word))
}

// wordEnd returns the end of the word of ASCII letters, digits and the signs
// that stand for letters in leet, beginning at i; i if there is none.
func wordEnd(b []byte, i int) int {
	j := i
	for j < len(b) && (isWordByte(b[j]) || (b[j] == '@' || b[j] == '$') && j+1 < len(b) && isWordByte(b[j+1])) {
		j++
	}
	return j
}

func mixed(w []byte) bool {
	letter, other := false, false
	for _, c := range w {
		if c >= 'a' && c <= 'z' {
			letter = true
		} else {
			other = true
		}
	}
	return letter && other
}

var leet = [128]byte{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '6': 'g', '7': 't', '8': 'b', '9': 'g', '@': 'a', '$': 's', '2': 'z'}

// repair writes v to dst with spaced-out words closed, leet written as letters
// and jumbled key words put right, each only where a known word comes out; in
// leet throughout also where none does. It reports whether anything was.
func (w *Words) repair(dst, v *View, throughout bool) bool {
	dst.reset(Repaired)
	changed := false
	for i := 0; i < len(v.Text); {
		if n := w.closeUp(dst, v, i); n > 0 {
			i, changed = i+n, true
			continue
		}
		j := wordEnd(v.Text, i)
		if j == i {
			dst.put(v.Text[i], v.at[i])
			i++
			continue
		}
		word, ok := w.mend(v.Text[i:j])
		if !ok && throughout {
			word, ok = w.spellOut(v.Text[i:j])
		}
		if ok {
			changed = true
			for k := range len(word) {
				dst.put(word[k], v.at[i+min(k, j-i-1)])
			}
		} else {
			dst.Text = append(dst.Text, v.Text[i:j]...)
			dst.at = append(dst.at, v.at[i:j]...)
		}
		i = j
	}
	dst.at = append(dst.at, v.at[len(v.Text)])
	return changed
}

// mend gives the known word that w was meant to be.
func (w *Words) mend(word []byte) (string, bool) {
	if len(word) < 2 || len(word) > w.longest+2 || w.known.of(word).known {
		return "", false
	}
	if mixed(word) {
		meant := w.unleet(word)
		return meant, meant != ""
	}
	if len(word) >= shortestJumble && w.letters.has(mixture(word)) {
		if k, ok := w.jumbled[string(jumble(slices.Clone(word)))]; ok {
			return k, true
		}
	}
	return "", false
}

// unleet gives the known word that a word with digits and signs among its
// letters stands for, "" if there is none.
func (w *Words) unleet(word []byte) string {
	var room [32]byte
	buf := append(room[:0], word...)
	for i, c := range buf {
		if l := leet[c&0x7f]; l != 0 && !(c >= 'a' && c <= 'z') {
			buf[i] = l
		}
	}
	if l := w.known.slot(buf); l.entry.known {
		return l.word
	}
	for i, c := range word {
		if c == '1' {
			buf[i] = 'l'
		}
	}
	if l := w.known.slot(buf); l.entry.known {
		return l.word
	}
	return ""
}

// spellOut writes a word of a text in leet with letters, known or not: one of
// digits alone is a number unless it stands for a known word.
func (w *Words) spellOut(word []byte) (string, bool) {
	if w.known.of(word).known || len(word) > longestLeet {
		return "", false
	}
	if !mixed(word) {
		if !leetOnly(word) {
			return "", false
		}
		meant := w.unleet(word)
		return meant, meant != ""
	}
	out := slices.Clone(word)
	for i, c := range out {
		if l := leet[c&0x7f]; l != 0 && !(c >= 'a' && c <= 'z') {
			out[i] = l
		}
	}
	return string(out), true
}

// longestLeet is how long a word in leet may be: a longer run is a code.
const longestLeet = 24

// leetOnly reports whether a word has no letter, and every sign of it stands
// for one.
func leetOnly(word []byte) bool {
	for _, c := range word {
		if c >= 'a' && c <= 'z' || leet[c&0x7f] == 0 {
			return false
		}
	}
	return true
}

// fewestLetters is how many single letters in a row are taken for a spaced-out
// word.
const fewestLetters = 5

// closeUp takes a run of single letters with one sign between each, beginning
// at i, and writes it as words. Wider gaps part words; without any, the known
// words do. It returns the length of the run, 0 if there is none.
func (w *Words) closeUp(dst, v *View, i int) int {
	if i > 0 && isWordByte(v.Text[i-1]) {
		return 0
	}
	run := letterRun(v.Text[i:])
	if run < fewestLetters {
		return 0
	}
	narrow := v.at[i+2] - v.at[i]
	for k := range run - 1 {
		narrow = min(narrow, v.at[i+2*k+2]-v.at[i+2*k])
	}
	var word []byte
	var at []int32
	wide := false
	for k := range run {
		word, at = append(word, v.Text[i+2*k]), append(at, v.at[i+2*k])
		last := k == run-1
		if !last && v.at[i+2*k+2]-v.at[i+2*k] <= narrow {
			continue
		}
		wide = wide || !last
		if !last || wide {
			w.write(dst, word, at, false)
		} else {
			w.write(dst, word, at, true)
		}
		word, at = word[:0], at[:0]
		if !last {
			dst.put(' ', v.at[i+2*k+1])
		}
	}
	return 2*run - 1
}

// letterRun counts single letters or digits with exactly one other ASCII byte
// between each.
func letterRun(b []byte) int {
	n := 0
	for {
		k := 2 * n
		if k >= len(b) || !isWordByte(b[k]) {
			return n
		}
		if k+1 < len(b) && isWordByte(b[k+1]) || k+1 < len(b) && b[k+1] >= utf8.RuneSelf {
			return n
		}
		n++
		if k+1 >= len(b) {
			return n
		}
	}
}

// write adds letters to dst, cut into known words if cut is set.
func (w *Words) write(dst *View, word []byte, at []int32, cut bool) {
	ends := []int{len(word)}
	if cut {
		ends = w.segment(word)
	}
	from := 0
	for _, end := range ends {
		piece := word[from:end]
		if m, ok := w.mend(piece); ok && len(m) == len(piece) {
			piece = []byte(m)
		}
		if from > 0 {
			dst.put(' ', at[from])
		}
		dst.Text = append(dst.Text, piece...)
		dst.at = append(dst.at, at[from:end]...)
		from = end
	}
}

// segment cuts a run of letters into the known words that leave the fewest
// letters over, by dynamic programming, and returns the ends of the pieces.
func (w *Words) segment(run []byte) []int {
	cost := make([]int, len(run)+1)
	from := make([]int, len(run)+1)
	for i := 1; i <= len(run); i++ {
		cost[i], from[i] = cost[i-1]+10, i-1 // a letter that belongs to no word
		for l := 1; l <= min(i, w.longest); l++ {
			if w.known.of(run[i-l:i]).known && cost[i-l]+3 < cost[i] {
				cost[i], from[i] = cost[i-l]+3, i-l
			}
		}
	}
	var ends []int
	for i := len(run); i > 0; i = from[i] {
		ends = append(ends, i)
	}
	slices.Reverse(ends)
	return ends
}

// reversed writes each line of v from its end.
func reversed(dst, v *View) {
	dst.reset(Reversed)
	for start := 0; start < len(v.Text); {
		end := start
		for end < len(v.Text) && v.Text[end] != '\n' {
			end++
		}
		for i := end; i > start; {
			_, size := utf8.DecodeLastRune(v.Text[start:i])
			i -= size
			dst.Text = append(dst.Text, v.Text[i:i+size]...)
			dst.at = append(dst.at, v.at[i:i+size]...)
		}
		if end < len(v.Text) {
			dst.put('\n', v.at[end])
		}
		start = end + 1
	}
	dst.at = append(dst.at, v.at[len(v.Text)])
}

// shifted writes v with its letters moved back k places.
func shifted(dst, v *View, k uint8) {
	dst.reset(Shifted)
	dst.Text = append(dst.Text, v.Text...)
	dst.at = append(dst.at, v.at...)
	shift(dst.Text, 26-k)
}

// longestPiece bounds a quoted piece that may be part of a split instruction.
const longestPiece = 200

// joined writes the quoted pieces of v one behind the other, first with spaces
// between, then without, and reports whether there are at least two.
func joined(dst, v *View) bool {
	dst.reset(Joined)
	var pieces [][2]int
	for i := 0; i < len(v.Text); i++ {
		q := v.Text[i]
		if q != '"' && (q != '\'' || i > 0 && isWordByte(v.Text[i-1])) {
			continue
		}
		for j := i + 1; j < len(v.Text) && j-i <= longestPiece; j++ {
			if v.Text[j] != q || q == '\'' && j+1 < len(v.Text) && isWordByte(v.Text[j+1]) {
				continue
			}
			if j > i+1 {
				pieces = append(pieces, [2]int{i + 1, j})
			}
			i = j
			break
		}
	}
	if len(pieces) < 2 {
		return false
	}
	for _, between := range []bool{true, false} {
		for _, p := range pieces {
			dst.Text = append(dst.Text, v.Text[p[0]:p[1]]...)
			dst.at = append(dst.at, v.at[p[0]:p[1]]...)
			if between {
				dst.space(' ', v.at[p[1]])
			}
		}
		dst.space('\n', v.at[pieces[len(pieces)-1][1]])
	}
	dst.at = append(dst.at, v.at[len(v.Text)])
	return true
}

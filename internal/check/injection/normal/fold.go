package normal

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:embed data/confusables.txt
var confusablesText string

// A Folder folds runes. It is immutable.
type Folder struct {
	lookalike map[rune]byte
	ascii     [utf8.RuneSelf]byte // folded byte; 0 drop, ' ' and '\n' white space
}

// NewFolder reads the table of lookalikes.
func NewFolder() (*Folder, error) {
	f := &Folder{lookalike: map[rune]byte{}}
	for n, line := range strings.Split(confusablesText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		for _, hex := range strings.Fields(line[1:]) {
			r, err := strconv.ParseUint(hex, 16, 32)
			if err != nil {
				return nil, fmt.Errorf("confusables.txt:%d: %q is not a code point in hexadecimal", n+1, hex)
			}
			f.lookalike[rune(r)] = line[0]
		}
	}
	for i := range f.ascii {
		f.ascii[i] = foldASCII(byte(i))
	}
	return f, nil
}

func foldASCII(b byte) byte {
	switch {
	case b >= 'A' && b <= 'Z':
		return b + 'a' - 'A'
	case b == '\n' || b == '\r' || b == '\v' || b == '\f':
		return '\n'
	case b == '\t' || b == ' ' || b == '_':
		return ' ' // an underscore parts words as a space does
	case b < ' ' || b == 0x7f:
		return 0
	default:
		return b
	}
}

// A cache remembers what became of runes: folding one takes a search in
// several tables, and a text repeats its runes.
type cache [512]cached

type cached struct {
	r     rune
	n     uint8
	space bool
	look  byte
	to    [3]rune
}

// fold gives the runes r folds to, whether it only parts words, and the ASCII
// letter it looks like (0 if none).
func (f *Folder) fold(r rune, c *cache) (to []rune, space bool, look byte) {
	e := &c[uint32(r)%uint32(len(c))]
	if e.r == r && r != 0 {
		return e.to[:e.n], e.space, e.look
	}
	*e = cached{r: r}
	if ignorable(r) {
		return nil, false, 0
	}
	if unicode.IsSpace(r) || unicode.In(r, unicode.Z) || r == '\u2800' {
		e.space = true
		return nil, true, 0
	}
	for _, t := range foldRune(r) {
		if int(e.n) < len(e.to) {
			e.to[e.n] = t
			e.n++
		}
	}
	e.look = f.lookalike[r]
	if latin(r) && e.look != 0 {
		e.to[0], e.n = rune(e.look), 1
	}
	if e.n == 0 && unicode.In(r, unicode.So, unicode.Sk) {
		e.space = true // an emoji between letters parts them; between words it is nothing
	}
	return e.to[:e.n], e.space, e.look
}

func latin(r rune) bool { return unicode.Is(unicode.Latin, r) }

// foldRune decomposes r, drops the marks and lowers the case. Letters of
// scripts whose marks carry the vowels keep nothing less: a mark is its own
// rune there and is judged by what it follows.
func foldRune(r rune) []rune {
	if l, ok := boxed(r); ok {
		return []rune{l}
	}
	if unicode.In(r, unicode.So) && !decomposes(r) {
		return nil
	}
	if unicode.Is(unicode.Hangul, r) {
		return []rune{r}
	}
	if s, ok := digraphs[r]; ok {
		return []rune(s)
	}
	var out []rune
	for _, d := range decompose(r) {
		if !unicode.In(d, unicode.Mn, unicode.Me, unicode.Cf) || d == r {
			out = append(out, unicode.ToLower(d))
		}
	}
	return out
}

// digraphs are Latin letters that stand for two.
var digraphs = map[rune]string{'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ß': "ss", 'ẞ': "ss", 'þ': "th", 'Þ': "th", 'ð': "d", 'Ð': "d", 'ı': "i", 'ł': "l", 'Ł': "l", 'ø': "o", 'Ø': "o", 'đ': "d", 'Đ': "d"}

func decompose(r rune) []rune {
	b := norm.NFKD.PropertiesString(string(r)).Decomposition()
	if b == nil {
		return []rune{r}
	}
	return []rune(string(b))
}

func decomposes(r rune) bool { return norm.NFKD.PropertiesString(string(r)).Decomposition() != nil }

// boxed undoes the letters that Unicode counts as pictures.
func boxed(r rune) (rune, bool) {
	for _, first := range []rune{0x1F1E6, 0x1F150, 0x1F170} { // regional indicators, negative circled, negative squared
		if r >= first && r < first+26 {
			return 'a' + r - first, true
		}
	}
	return 0, false
}

// ignorable reports whether r shows nothing of its own: format characters,
// default-ignorable code points, controls, marks that are not letters' own.
func ignorable(r rune) bool {
	switch {
	case r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFFF0 && r <= 0xFFF8: // tags, selectors and what is reserved for their like
		return true
	case unicode.In(r, unicode.Cf, unicode.Me, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return true
	case unicode.Is(unicode.Cc, r):
		return !unicode.IsSpace(r) && r != 0x85
	default:
		return r == utf8.RuneError
	}
}

// Fold reads text into v as a plain view. Offsets of the view are those of
// text. It reports whether every line was read without a look at another one,
// so that each by itself reads the same.
func (f *Folder) Fold(v *View, text []byte, c *cache) (byLine bool) {
	v.reset(Plain)
	v.Text, v.at = slices.Grow(v.Text, len(text)), slices.Grow(v.at, len(text)+1)
	t := folding{f: f, v: v, c: c, text: text}
	for i := 0; i < len(text); {
		i = t.narrow(i)
		if i < len(text) {
			i += t.wide(i)
		}
	}
	v.at = append(v.at, int32(len(text)))
	return !t.across
}

// A folding is one pass over a text.
type folding struct {
	f       *Folder
	v       *View
	c       *cache
	text    []byte
	wordEnd int  // end of the word last looked at
	mixed   bool // whether that word mixes Latin letters with lookalikes
	base    rune // the letter before, for marks
	across  bool // the words of another line may have been looked at
}

// narrow takes the ASCII runes from i on and returns where they end.
func (t *folding) narrow(i int) int {
	text, out, at := t.text, t.v.Text, t.v.at
	for ; i < len(text) && text[i] < utf8.RuneSelf; i++ {
		switch b := t.f.ascii[text[i]]; {
		case b > ' ':
			out, at = append(out, b), append(at, int32(i))
		case b != 0:
			t.v.Text, t.v.at = out, at
			t.v.space(b, int32(i))
			out, at = t.v.Text, t.v.at
		}
	}
	t.v.Text, t.v.at = out, at
	return i
}

// wide takes the rune at i, which is not ASCII, and returns its length.
func (t *folding) wide(i int) int {
	r, size := utf8.DecodeRune(t.text[i:])
	if unicode.Is(unicode.Mn, r) {
		if t.keepsMark(r) {
			t.put(r, i)
		}
		return size
	}
	to, space, look := t.f.fold(r, t.c)
	if look != 0 && t.inMixedWord(i) {
		t.v.put(look, int32(i))
		return size
	}
	if space {
		b := byte(' ')
		if r == 0x85 || r == 0x2028 || r == 0x2029 {
			b = '\n'
		}
		t.v.space(b, int32(i))
		return size
	}
	if len(to) > 0 {
		t.base = to[0]
	}
	for _, x := range to {
		if x == ' ' { // a few runes decompose to a space and a mark
			t.v.space(' ', int32(i))
			continue
		}
		t.put(x, i)
	}
	return size
}

func (t *folding) put(r rune, i int) {
	var buf [utf8.UTFMax]byte
	for _, b := range buf[:utf8.EncodeRune(buf[:], r)] {
		t.v.put(b, int32(i))
	}
}

// keepsMark reports whether a combining mark is part of the spelling: in the
// scripts whose vowels are marks, after a letter of the same script.
func (t *folding) keepsMark(r rune) bool {
	if n := len(t.v.Text); n == 0 || t.v.Text[n-1] < utf8.RuneSelf {
		return false
	}
	for _, s := range markedScripts {
		if unicode.Is(s, r) {
			return unicode.Is(s, t.base)
		}
	}
	return false
}

var markedScripts = []*unicode.RangeTable{
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Thai, unicode.Lao, unicode.Tibetan, unicode.Myanmar, unicode.Khmer,
}

// inMixedWord reports whether the word around i mixes letters that are ASCII
// with lookalikes of others: then the lookalikes are taken for what they look
// like. A word all of lookalikes counts when it stands next to a Latin word.
func (t *folding) inMixedWord(i int) bool {
	if i < t.wordEnd {
		return t.mixed
	}
	const reach = 96 // bytes looked at on each side
	start := i
	for start > 0 && i-start < reach && !parts(t.text[start-1]) {
		start--
	}
	end := i
	ascii, foreign, alike := 0, 0, 0
	for j := start; j < len(t.text) && j-i < reach; {
		if parts(t.text[j]) {
			break
		}
		r, size := utf8.DecodeRune(t.text[j:])
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r), latin(r):
			ascii++
		case t.f.lookalike[r] != 0:
			alike++
		case unicode.IsLetter(r) && !ignorable(r):
			foreign++
		}
		j += size
		end = j
	}
	t.wordEnd = end
	switch {
	case ascii > 0:
		t.mixed = ascii+alike > 2*foreign
	case foreign == 0 && alike > 1:
		t.mixed, t.across = t.latinBefore() || latinAfter(t.text[end:]), true
	default:
		t.mixed = false
	}
	return t.mixed
}

// parts reports whether an ASCII byte stands between words.
func parts(b byte) bool {
	return b <= ' ' || b < utf8.RuneSelf && !isWordByte(b)
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// latinBefore reports whether the letter before the last white space is ASCII.
func (t *folding) latinBefore() bool {
	for j := len(t.v.Text) - 1; j >= 0; j-- {
		if b := t.v.Text[j]; b >= utf8.RuneSelf {
			return false
		} else if b >= 'a' && b <= 'z' {
			return true
		}
	}
	return false
}

func latinAfter(rest []byte) bool {
	for _, b := range rest {
		if b >= utf8.RuneSelf {
			return false
		}
		if isWordByte(b) {
			return b > '9'
		}
	}
	return false
}

// Pattern folds the letters of a pattern as a text's are folded, so that rules
// can be written with the accents their language has.
func (f *Folder) Pattern(p string) string {
	var out strings.Builder
	var base rune
	for _, r := range p {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
			continue
		case unicode.Is(unicode.Mn, r):
			t := folding{v: &View{Text: []byte(string(base))}, base: base}
			if base != 0 && t.keepsMark(r) {
				out.WriteRune(r)
			}
			continue
		case unicode.IsLetter(r):
			if b := f.lookalike[r]; b != 0 && latin(r) {
				out.WriteByte(b)
				continue
			}
			folded := foldRune(r)
			if len(folded) > 0 {
				base = folded[0]
			}
			out.WriteString(string(folded))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

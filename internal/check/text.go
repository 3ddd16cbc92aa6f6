package check

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A brk is what separates a token from the one before.
type brk uint8

const (
	brkNone  brk = iota
	brkComma     // comma, colon, bracket, dash: a weak end of clause
	brkStop      // full stop, semicolon, line end: the end of a sentence
)

// A token is one word of a part.
type token struct {
	word       string // folded: lower case, no hidden characters, look-alikes resolved
	ents       []int  // entities of the site it names
	entry      *entry // what the lexicon knows of it; nil for unknown words
	start, end int32
	noun       class // object classes the word, or a phrase ending in it, belongs to
	verb       group // verb groups it is a form of
	fn         fn    // what it does in the grammar
	id         int32 // of a word that patterns compare; 0 for others
	before     brk
	phrase     int8 // length of the phrase ending here, in words; 1 for a single word
	quoted     bool
	hidden     bool // had characters inside that nobody sees
	mixed      bool // mixed look-alike letters of two scripts
	address    bool // the host of a URL or e-mail address
	past       bool // an -ed form
	gerund     bool // an -ing form
}

// tokens appends the folded words of text, each with what the lexicon knows of
// it. low is the text with ASCII letters in lower case.
func (lex *lexicon) tokens(text, low string, toks []token) []token {
	start := len(toks)
	s := scanner{text: text, low: low}
	for {
		toks = append(toks, token{phrase: 1})
		t := &toks[len(toks)-1]
		if !s.next(t) {
			break
		}
		if len(t.word) <= lex.longest {
			if e := lex.table.find(t.word); e != nil {
				t.entry = e
				t.noun, t.verb, t.fn, t.id, t.past, t.gerund, t.ents = e.noun, e.verb, e.fn, e.id, e.past, e.gerund, e.ents
			}
		}
		if t.address {
			t.noun, t.before = t.noun|outside, brkNone
		}
	}
	toks = toks[:len(toks)-1]
	lex.phrases(toks[start:])
	return toks
}

// phrases marks the last word of each known phrase with the phrase's classes.
func (lex *lexicon) phrases(toks []token) {
	for i := range toks {
		if toks[i].entry == nil {
			continue
		}
		for k := range toks[i].entry.starts {
			if p := &toks[i].entry.starts[k]; p.at(toks, i) {
				p.mark(&toks[i+len(p.rest)])
			}
		}
	}
}

// at reports whether the phrase stands at toks[i]; its words may be plurals.
func (p *phrase) at(toks []token, i int) bool {
	if i+len(p.rest) >= len(toks) {
		return false
	}
	for k, w := range p.rest {
		if t := &toks[i+1+k]; !strings.HasPrefix(t.word, w) || len(t.word) > len(w) && t.word[len(w):] != "s" || t.before == brkStop {
			return false
		}
	}
	return true
}

func (p *phrase) mark(last *token) {
	if n := int8(len(p.rest) + 1); n > last.phrase { // the longest term says what the words mean
		last.noun, last.phrase = 0, n
	}
	if int(last.phrase) == len(p.rest)+1 {
		last.noun |= p.noun
	}
	last.verb |= p.verb
	last.fn |= p.fn
	last.past, last.gerund = last.past || p.past, last.gerund || p.gerund
	if len(p.ents) > 0 {
		last.ents = append(slices.Clip(last.ents), p.ents...)
	}
}

// A scanner cuts a text into words.
type scanner struct {
	text, low string
	pos       int
	pending   brk
	double    bool // inside "…"
	single    bool // inside '…'
}

// next reads the next word into t, which is fresh.
func (s *scanner) next(t *token) bool {
	for s.pos < len(s.text) {
		if s.text[s.pos] == ' ' {
			s.pos++
			continue
		}
		if asciiWord[s.text[s.pos]] && s.text[s.pos] != '_' {
			s.word(t)
			return true
		}
		r, n := s.rune(s.pos)
		if unicode.IsLetter(r) || unicode.IsDigit(r) || hiddenRune(r) {
			if s.word(t) {
				return true
			}
			continue
		}
		s.separator(r, n)
		s.pos += n
	}
	return false
}

func (s *scanner) rune(i int) (rune, int) {
	if c := s.text[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s.text[i:])
}

// separator notes what a character between words does to the clause.
func (s *scanner) separator(r rune, n int) {
	switch r {
	case '.':
		if abbreviated(s.text[:s.pos]) {
			return
		}
		s.pending = brkStop
	case ';', '!', '?', '\n', '\r', '。', '；':
		s.pending = brkStop
	case ',', ':', '(', ')', '[', ']', '—', '–', '，', '：':
		s.pending = max(s.pending, brkComma)
	case '-':
		if s.pos > 0 && s.text[s.pos-1] == ' ' {
			s.pending = max(s.pending, brkComma)
		}
	case '"', '“', '”', '„', '«', '»':
		s.double = !s.double
		s.pending = max(s.pending, brkComma)
	case '\'', '‘', '’':
		opens := s.pos+n < len(s.text) && s.text[s.pos+n] != ' ' && (s.pos == 0 || strings.IndexByte(" (:,[\n", s.text[s.pos-1]) >= 0)
		if opens || s.single {
			s.single = opens
			s.pending = max(s.pending, brkComma)
		}
	}
}

// abbreviated reports whether the text before a point ends with a word that is
// written with one: "Dr. Quist" is one name, not two sentences.
func abbreviated(before string) bool {
	i := len(before)
	for i > 0 && isLetter(before[i-1]) {
		i--
	}
	if i > 0 && before[i-1] != ' ' && before[i-1] != '(' {
		return false
	}
	switch w := strings.ToLower(before[i:]); w {
	case "dr", "prof", "mr", "mrs", "ms", "approx", "ca", "max", "min", "fig", "vs", "incl", "resp", "temp", "vol", "conc":
		return true
	default:
		// An initial, unless a number stands before it: "60 C." ends a sentence.
		return len(w) == 1 && i > 1 && 'A' <= before[i] && before[i] <= 'Z' && !isDigit(before[i-2])
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// word reads the word at pos: letters and digits, underscores, and points or
// apostrophes between two of them.
func (s *scanner) word(t *token) bool {
	start, end := s.pos, s.pos
	scripts, ascii := 0, true
	for end < len(s.text) {
		if c := s.text[end]; asciiWord[c] {
			if c >= 'A' && c != '_' {
				scripts |= latin
			}
			end++
			continue
		}
		if c := s.text[end]; c < utf8.RuneSelf && c != '.' && c != '\'' {
			break
		}
		r, n := s.rune(end)
		switch {
		case hiddenRune(r):
			t.hidden = t.hidden || end > start
		case unicode.IsLetter(r):
			scripts |= script(r)
		case unicode.IsDigit(r) || r == '_' || unicode.Is(unicode.M, r):
		case (r == '.' || r == '\'' || r == '’') && end > start && end+n < len(s.text) && wordRune(s.text[end+n:]) && !(r == '.' && sentenceEnd(s.text[end+n:])):
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		ascii = ascii && r < utf8.RuneSelf
		end += n
	}
	s.pos = end
	t.start, t.end = int32(start), int32(end)
	t.before, s.pending = s.pending, brkNone
	t.quoted = s.double || s.single
	t.address = start > 0 && s.text[start-1] == '@' || strings.HasSuffix(s.text[:start], "://")
	t.mixed = scripts == latin|lookalike
	if ascii {
		t.word = s.low[start:end]
	} else {
		t.word = fold(visible(s.text[start:end]))
	}
	t.word = strings.TrimSuffix(t.word, "'s")
	if t.word == "" { // nothing but hidden characters
		s.pending = t.before
		*t = token{phrase: 1}
		return false
	}
	return true
}

// asciiWord are the ASCII bytes that words are made of.
var asciiWord = func() (t [256]bool) {
	for c := range t {
		t[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
	}
	return t
}()

func wordRune(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// sentenceEnd reports whether what follows a point begins a sentence: a
// capital after a full stop without a space.
func sentenceEnd(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) && len(s) > 1 && s[1] >= 'a'
}

// hiddenRune reports characters that show as nothing.
func hiddenRune(r rune) bool {
	return r >= 0xad && (r == 0xad || unicode.Is(unicode.Cf, r) || r == 0x115f || r == 0x3164 || 0xfe00 <= r && r <= 0xfe0f)
}

const (
	latin = 1 << iota
	lookalike
	otherScript
)

// script tells Latin from the scripts whose letters pass for Latin ones.
func script(r rune) int {
	switch {
	case r < 0x250:
		return latin
	case r == 'ο' || r >= 0x400 && homoglyph(r) != 0: // Greek letters stand in honest names such as TNFα
		return lookalike
	}
	return otherScript
}

// longestFold is how long a word can be, in bytes, and still be one we know in
// another form. A longer one, hidden characters left out, is kept as it is:
// normal forms of endless marks cost more than reading them is worth.
const longestFold = 256

// visible drops hidden characters from a very long word.
func visible(s string) string {
	if len(s) <= longestFold {
		return s
	}
	return strings.Map(func(r rune) rune {
		if hiddenRune(r) {
			return -1
		}
		return r
	}, s)
}

// fold gives the word as it is matched: compatibility forms and look-alike
// letters resolved, hidden characters dropped, lower case.
func fold(s string) string {
	if len(s) > longestFold {
		return s
	}
	if strings.Contains(s, "\xef") {
		s = strings.Map(narrow, s) // spares the normal form the most common case
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKC.String(s) {
		switch {
		case hiddenRune(r):
			continue
		case r == '’':
			r = '\''
		case r > 0x24f:
			if g := homoglyph(r); g != 0 {
				r = g
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// narrow gives the ASCII character of a full-width one.
func narrow(r rune) rune {
	const first, last = '！', '～'
	if first <= r && r <= last {
		return r - first + '!'
	}
	return r
}

// homoglyph gives the Latin letter that a Cyrillic or Greek one passes for.
func homoglyph(r rune) rune {
	if r < firstGlyph || r >= firstGlyph+rune(len(glyphs)) {
		return 0
	}
	return glyphs[r-firstGlyph]
}

// firstGlyph begins the Greek and Cyrillic blocks.
const firstGlyph = 0x370

// glyphs is homoglyphs by letter.
var glyphs = func() (t [0x530 - firstGlyph]rune) {
	for _, p := range homoglyphs {
		t[p[0]-firstGlyph] = p[1]
	}
	return t
}()

var homoglyphs = [...][2]rune{
	{'Α', 'a'},
	{'Β', 'b'},
	{'Ε', 'e'},
	{'Ζ', 'z'},
	{'Η', 'h'},
	{'Ι', 'i'},
	{'Κ', 'k'},
	{'Μ', 'm'},
	{'Ν', 'n'},
	{'Ο', 'o'},
	{'Ρ', 'p'},
	{'Τ', 't'},
	{'Υ', 'y'},
	{'Χ', 'x'},
	{'α', 'a'},
	{'ι', 'i'},
	{'ν', 'v'},
	{'ο', 'o'},
	{'ρ', 'p'},
	{'Ѕ', 's'},
	{'І', 'i'},
	{'Ј', 'j'},
	{'А', 'a'},
	{'В', 'b'},
	{'Е', 'e'},
	{'К', 'k'},
	{'М', 'm'},
	{'Н', 'h'},
	{'О', 'o'},
	{'Р', 'p'},
	{'С', 'c'},
	{'Т', 't'},
	{'У', 'y'},
	{'Х', 'x'},
	{'а', 'a'},
	{'е', 'e'},
	{'о', 'o'},
	{'р', 'p'},
	{'с', 'c'},
	{'у', 'y'},
	{'х', 'x'},
	{'ѕ', 's'},
	{'і', 'i'},
	{'ј', 'j'},
	{'һ', 'h'},
	{'ԁ', 'd'},
	{'ԛ', 'q'},
	{'ԝ', 'w'},
}

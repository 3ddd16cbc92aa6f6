package link

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A token is one word, number or identifier with its place in the text.
type token struct {
	text       string // as written
	norm       string // NFKC, lower case, invisible characters dropped
	stem       string // norm without a plural s
	start, end int
	clause     int  // from 0, ends at , ; : . ( ) and at "but"
	sent       int  // from 0, ends at . ; : and a line break
	first      bool // begins a sentence
	quoted     bool
	glued      bool // joined to the token before it by a hyphen
}

// tokenize splits text into words. A hyphen splits words ("aerosol-tight") and
// holds identifiers together ("NB-std-48", "AL-07", "26628-22-8").
func tokenize(text string) []token {
	t := tokenizer{text: text, toks: make([]token, 0, len(text)/5+1), first: true}
	for t.i < len(text) {
		r, size := utf8.DecodeRuneInString(text[t.i:])
		if wordRune(r) {
			t.word()
			continue
		}
		t.punct(r)
		t.i += size
	}
	return t.toks
}

type tokenizer struct {
	text         string
	i            int
	toks         []token
	clause, sent int
	first, quote bool
	hyphen       bool
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '_' || r == 'µ' || unicode.Is(unicode.Cf, r)
}

// word reads the word that starts here, with its inner joints.
func (t *tokenizer) word() {
	start := t.i
	j := t.run(start)
	letterFirst := !unicode.IsDigit(rune(t.text[start]))
	for j < len(t.text)-1 {
		next, _ := utf8.DecodeRuneInString(t.text[j+1:])
		if !wordRune(next) || !t.joins(start, j, letterFirst) {
			break
		}
		j = t.run(j + 1)
	}
	t.emit(start, j)
	t.i = j
	if j < len(t.text)-1 && t.text[j] == '-' {
		t.hyphen = true
		t.i++
	}
}

func (t *tokenizer) run(i int) int {
	for i < len(t.text) {
		r, size := utf8.DecodeRuneInString(t.text[i:])
		if !wordRune(r) {
			break
		}
		i += size
	}
	return i
}

// joins reports whether the character at j holds the word together with what
// follows.
func (t *tokenizer) joins(start, j int, letterFirst bool) bool {
	rest := t.text[j+1:]
	switch t.text[j] {
	case '-':
		if letterFirst {
			return hasDigit(t.text[start:j]) || hasDigit(hyphenated(rest))
		}
		return allDigits(t.text[start:j]) && allDigits(hyphenated(rest)) && strings.Count(t.text[start:j+1+len(hyphenated(rest))], "-") <= 2
	case '.':
		before, after := t.text[j-1], rest[0]
		if letterFirst { // a tool's or a file's name: no space, lower case
			return j-start > 1 && isLower(before) && isLower(after) || joinsTechnique(t.text[start:j], rest)
		}
		return isDigit(before) && isDigit(after)
	case ',', ':':
		return !letterFirst && isDigit(t.text[j-1]) && isDigit(rest[0])
	case '\'':
		return letterFirst && !hasDigit(t.text[start:j])
	}
	return false
}

// hyphenated returns the rest of a hyphenated word.
func hyphenated(s string) string {
	for i, r := range s {
		if !wordRune(r) && r != '-' {
			return s[:i]
		}
	}
	return s
}

func (t *tokenizer) emit(start, end int) {
	raw := t.text[start:end]
	n := fold(raw)
	if n == "" {
		return
	}
	if n == "but" {
		t.clause++
	}
	t.toks = append(t.toks, token{
		text: raw, norm: n, stem: singular(n), start: start, end: end,
		clause: t.clause, sent: t.sent, first: t.first, quoted: t.quote, glued: t.hyphen,
	})
	t.first, t.hyphen = false, false
}

// punct takes note of a character between words.
func (t *tokenizer) punct(r rune) {
	if r != ' ' && r != '-' {
		t.hyphen = false
	}
	switch r {
	case '.', '!', '?':
		if t.abbreviation() {
			return
		}
		t.breakSentence()
	case ';', ':', '\n', '\u2022':
		t.breakSentence()
	case ',', '(', ')', '\u2013', '\u2014':
		t.clause++
	case '"', '\u201c', '\u201d', '\u00ab', '\u00bb':
		t.quote = !t.quote
	case '\'', '\u2018', '\u2019':
		t.single()
	}
}

// single opens or closes a single quotation mark; an apostrophe inside a word
// never comes here.
func (t *tokenizer) single() {
	atWord := t.i+1 < len(t.text) && wordRune(rune(t.text[t.i+1]))
	switch {
	case !t.quote && atWord:
		t.quote = true
	case t.quote && !atWord:
		t.quote = false
	}
}

func (t *tokenizer) breakSentence() {
	t.sent++
	t.clause++
	t.first = true
}

// abbreviation reports whether the full stop here ends an abbreviation: one
// letter ("S. aureus"), a title, or a known short form.
func (t *tokenizer) abbreviation() bool {
	if len(t.toks) == 0 {
		return false
	}
	last := t.toks[len(t.toks)-1]
	if last.end != t.i {
		return false
	}
	switch last.norm {
	case "dr", "prof", "mr", "mrs", "ms", "st", "no", "e.g", "i.e", "ca", "approx", "vs", "fig", "env", "hosp":
		return true
	}
	return utf8.RuneCountInString(last.text) == 1 && unicode.IsUpper(firstRune(last.text))
}

// fold gives the form under which words are compared.
func fold(s string) string {
	if plain(s) {
		return s
	}
	s = norm.NFKC.String(s)
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || (c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return true
}

// singular strips the plural of an English noun. It need not be a word: names
// are stripped alike.
func singular(s string) string {
	n := len(s)
	switch {
	case n < 4 || s[n-1] != 's' || hasDigit(s):
		return strings.TrimSuffix(s, "'s")
	case strings.HasSuffix(s, "'s"):
		return s[:n-2]
	case strings.HasSuffix(s, "ies") && n > 4:
		return s[:n-3] + "y"
	case strings.HasSuffix(s, "sses"), strings.HasSuffix(s, "xes"), strings.HasSuffix(s, "ches"), strings.HasSuffix(s, "shes"), strings.HasSuffix(s, "zes"):
		return s[:n-2]
	case strings.HasSuffix(s, "ss"), strings.HasSuffix(s, "us"), strings.HasSuffix(s, "is"):
		return s
	}
	return s[:n-1]
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' || c == '_' }

func hasDigit(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) && s[i] != '-' {
			return false
		}
	}
	return s != ""
}

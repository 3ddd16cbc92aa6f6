package redact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A word is one word of a text with its place.
type word struct {
	norm       string
	start, end int // bytes in the text
}

// words splits a text into words in normalised form: compatibility forms and
// accents folded, lower case, invisible characters dropped, letters and digits
// only.
func words(s string) []word {
	if ascii(s) {
		return asciiWords(s)
	}
	var out []word
	var b strings.Builder
	start := -1
	flush := func(end int) {
		if b.Len() > 0 {
			out = append(out, word{b.String(), start, end})
			b.Reset()
		}
		start = -1
	}
	for i, r := range s {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) {
			continue
		}
		folded := fold(r)
		if folded == "" {
			flush(i)
			continue
		}
		if start < 0 {
			start = i
		}
		b.WriteString(folded)
	}
	flush(len(s))
	return out
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// asciiWords does the same for plain texts, which most are, without copying.
func asciiWords(s string) []word {
	out := make([]word, 0, len(s)/5+1)
	start := -1
	for i := 0; i <= len(s); i++ {
		if i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= '0' && s[i] <= '9') {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			out = append(out, word{strings.ToLower(s[start:i]), start, i})
			start = -1
		}
	}
	return out
}

// fold gives a rune's letters and digits in their plain form, "" if it has
// none.
func fold(r rune) string {
	if r < 0x80 {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return string(r)
		case r >= 'A' && r <= 'Z':
			return string(r + 'a' - 'A')
		}
		return ""
	}
	var b strings.Builder
	for _, x := range norm.NFKD.String(string(r)) {
		if unicode.IsLetter(x) || unicode.IsDigit(x) {
			b.WriteRune(unicode.ToLower(x))
		}
	}
	return b.String()
}

// flatten writes the names and values of arguments as words.
func flatten(b *strings.Builder, v any) {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			b.WriteString(" " + k)
			flatten(b, x[k])
		}
	case []any:
		for _, e := range x {
			flatten(b, e)
		}
	default:
		fmt.Fprint(b, " ", x)
	}
}

package review

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Segment is a piece of text as a reviewer must see it: either plain, or one
// character that would not be seen, or would change how others are seen.
type Segment struct {
	Text string // the bytes themselves
	Mark string // "" for plain text; else the name to show, e.g. "U+202E"
	Line bool   // the character is a line feed: the text goes on below
}

// Visible cuts a text into segments, whose Texts joined are the text again:
// nothing is hidden, shortened or reordered (C17).
func Visible(s string) []Segment {
	var out []Segment
	plain := 0 // start of the plain text before i
	flush := func(end int) {
		if end > plain {
			out = append(out, Segment{Text: s[plain:end]})
		}
	}
	marks := 0 // combining marks in a row
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			marks++
		} else {
			marks = 0
		}
		if name := markOf(r, n, marks); name != "" {
			flush(i)
			out = append(out, Segment{Text: s[i : i+n], Mark: name, Line: r == '\n'})
			plain = i + n
		}
		i += n
	}
	flush(len(s))
	return out
}

// VisibleText is Visible for a terminal: marks stand in ⟨⟩, which are marked
// themselves, so that no text can imitate a mark.
func VisibleText(s string) string {
	var b strings.Builder
	for _, seg := range Visible(s) {
		switch {
		case seg.Mark == "":
			b.WriteString(strings.NewReplacer("⟨", "⟨U+27E8⟩", "⟩", "⟨U+27E9⟩").Replace(seg.Text))
		case seg.Line:
			b.WriteString("⟨LF⟩\n")
		default:
			b.WriteString("⟨" + seg.Mark + "⟩")
		}
	}
	return b.String()
}

// maxCombining is how many combining marks in a row are taken for writing and
// not for an attempt to cover the lines around.
const maxCombining = 2

// markOf names a character that needs a mark, else returns "".
func markOf(r rune, size, combining int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "broken byte"
	case r == '\n':
		return "LF"
	case r == '\t':
		return "TAB"
	case r == ' ':
		return ""
	case !unicode.IsPrint(r): // controls, bidi and other format characters, exotic spaces, separators, private use, unassigned
		return fmt.Sprintf("U+%04X", r)
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return fmt.Sprintf("U+%04X", r)
	case r == '\u2800': // Braille blank: printable by its class, and empty
		return fmt.Sprintf("U+%04X", r)
	case combining > maxCombining:
		return fmt.Sprintf("U+%04X", r)
	}
	return ""
}

package pin

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible makes text safe to show to a person: escape sequences, control
// characters, bidi marks and everything else that has no shape of its own
// appear as their code point, so that nothing on the screen is hidden, moved
// or rewritten (C17, C23). Line feeds and tabs are shown as \n and \t.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || (unicode.IsPrint(r) && !hidden(r)):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// hidden reports printable runes without a shape: fillers and variation
// selectors, which unicode.IsPrint lets through.
func hidden(r rune) bool {
	switch {
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x034F, r == 0x17B4, r == 0x17B5:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF, r >= 0x180B && r <= 0x180F:
		return true
	}
	return false
}

package normal

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// A Gap is a part of the text that looks encoded but could not be read.
type Gap struct {
	Start, End int
	Looks      string // "base64" or "hex"
}

// A raw is a text before folding, with where its bytes came from.
type raw struct {
	b  []byte
	at []int32 // nil: each byte from its own place
}

func (r *raw) from(i int) int32 {
	if r.at == nil {
		return int32(i)
	}
	return r.at[min(i, len(r.at)-1)]
}

// decode writes src to dst with everything that looks encoded undone once, and
// reports whether anything was. What looks encoded and is not text is added to
// gaps.
func decode(dst, src *raw, gaps []Gap) (changed bool, _ []Gap) {
	dst.b, dst.at = dst.b[:0], dst.at[:0]
	b := src.b
	dense, found := countEscapes(b)
	if !found {
		return false, gaps
	}
	for i := 0; i < len(b); {
		text, n, looks := decodeAt(b, i, dense)
		if n == 0 {
			dst.b = append(dst.b, b[i])
			dst.at = append(dst.at, src.from(i))
			i++
			continue
		}
		if text == nil {
			if looks != "" {
				gaps = append(gaps, Gap{int(src.from(i)), int(src.from(i + n)), looks})
			}
			for k := range n {
				dst.b = append(dst.b, b[i+k])
				dst.at = append(dst.at, src.from(i+k))
			}
			i += n
			continue
		}
		changed = true
		for k := range text {
			dst.b = append(dst.b, text[k])
			dst.at = append(dst.at, src.from(i+k*n/len(text)))
		}
		i += n
	}
	dst.at = append(dst.at, src.from(len(b)))
	return changed, gaps
}

// escapes counts the marks of encodings whose single occurrence means nothing.
type escapes struct{ percent, entity, printable, slash int }

// few is how many such marks a text may have by chance.
const few = 2

// countEscapes counts them, and reports whether anything in the text may be
// encoded at all: most texts are done with here.
func countEscapes(b []byte) (e escapes, found bool) {
	run, wide := 0, false
	for i, c := range b {
		if encodes[c] {
			if run++; run >= shortestRun {
				found = true
			}
			continue
		}
		run = 0
		if c >= utf8.RuneSelf {
			wide = wide || c == 0xF3 || c == 0xEF // lead bytes of tags and selectors
			continue
		}
		if i+2 < len(b) {
			e.count(b[i:])
		}
	}
	return e, found || wide || e.percent > few || e.entity > few || e.printable > few || e.slash > few
}

// count looks at one byte that is no letter of base64.
func (e *escapes) count(b []byte) {
	switch b[0] {
	case '%':
		if isHex(b[1]) && isHex(b[2]) {
			e.percent++
		}
	case '&':
		if b[1] == '#' || letters(b[1:]) >= 2 {
			e.entity++
		}
	case '=':
		if isHex(b[1]) && isHex(b[2]) {
			e.printable++
		}
	case '\\':
		if b[1] == 'u' || b[1] == 'x' || b[1] == 'U' {
			e.slash++
		}
	}
}

// encodes are the letters of base64, its URL form and hexadecimal.
var encodes = func() (t [256]bool) {
	for c := range 256 {
		t[c] = isBase64(byte(c))
	}
	return t
}()

// decodeAt tries what can begin at b[i]. n > 0 with nil text is a run to be
// copied as it stands.
func decodeAt(b []byte, i int, e escapes) (text []byte, n int, looks string) {
	switch c := b[i]; {
	case c == '%' && e.percent > few:
		text, n = unhex2(b[i:], 1)
	case c == '&' && e.entity > few:
		text, n = entity(b[i:])
	case c == '=' && e.printable > few:
		text, n = unhex2(b[i:], 1)
	case c == '\\' && e.slash > few:
		text, n = backslash(b[i:])
	case c >= utf8.RuneSelf:
		text, n = invisible(b[i:])
	case isBase64(c) && (i == 0 || !isBase64(b[i-1])):
		return longRun(b[i:])
	}
	return text, n, ""
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func letters(b []byte) int {
	n := 0
	for n < len(b) && n < 10 && (b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z') {
		n++
	}
	if n < len(b) && b[n] == ';' {
		return n
	}
	return 0
}

// unhex2 reads one byte written as two hexadecimal digits after skip bytes.
func unhex2(b []byte, skip int) ([]byte, int) {
	if len(b) < skip+2 || !isHex(b[skip]) || !isHex(b[skip+1]) {
		return nil, 0
	}
	v, err := strconv.ParseUint(string(b[skip:skip+2]), 16, 8)
	if err != nil {
		return nil, 0
	}
	return []byte{byte(v)}, skip + 2
}

// entity reads one HTML character reference.
func entity(b []byte) ([]byte, int) {
	for n := 2; n < len(b) && n < 12; n++ {
		if b[n] != ';' {
			continue
		}
		if s := html.UnescapeString(string(b[:n+1])); s != string(b[:n+1]) {
			return []byte(s), n + 1
		}
		break
	}
	return nil, 0
}

// backslash reads \uXXXX, \u{X}, \UXXXXXXXX or \xXX.
func backslash(b []byte) ([]byte, int) {
	if len(b) < 4 {
		return nil, 0
	}
	digits, start := 0, 2
	switch b[1] {
	case 'x':
		return unhex2(b, 2)
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return nil, 0
	}
	end := start + digits
	closing := 0
	if b[2] == '{' {
		start, end, closing = 3, 3, 1
		for end < len(b) && end < 10 && isHex(b[end]) {
			end++
		}
	}
	if end+closing > len(b) {
		return nil, 0
	}
	v, err := strconv.ParseUint(string(b[start:end]), 16, 32)
	if err != nil || v > unicode.MaxRune {
		return nil, 0
	}
	return utf8.AppendRune(nil, rune(v)), end + closing
}

// invisible reads text smuggled in runes that show nothing: tags carry ASCII,
// variation selectors carry bytes. A space is put where a run begins, so that
// the words do not run into what stands before.
func invisible(b []byte) ([]byte, int) {
	var out []byte
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		c, ok := hiddenByte(r)
		if !ok {
			break
		}
		out = append(out, c)
		n += size
	}
	const shortest = 3 // an emoji may carry a selector, a flag two tags
	if len(out) < shortest || !readable(out) {
		return nil, 0
	}
	return append([]byte{' '}, out...), n
}

func hiddenByte(r rune) (byte, bool) {
	switch {
	case r >= 0xE0020 && r < 0xE007F:
		return byte(r - 0xE0000), true
	case r >= 0xE0100 && r <= 0xE01EF:
		return byte(r - 0xE0100 + 16), true
	case r >= 0xFE00 && r <= 0xFE0F:
		return byte(r - 0xFE00), true
	}
	return 0, false
}

func isBase64(c byte) bool {
	return isWordByte(c) || c == '+' || c == '/' || c == '-' || c == '_'
}

// shortestRun is how many letters of an encoding make a run worth decoding.
const shortestRun = 16

// longRun looks at a run of base64 or hexadecimal letters.
func longRun(b []byte) (text []byte, n int, looks string) {
	hexOnly := true
	var upper, lower, digit int
	for n < len(b) && isBase64(b[n]) {
		c := b[n]
		switch {
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			digit++
		case c >= 'A' && c <= 'Z':
			upper++
		}
		hexOnly = hexOnly && isHex(c)
		n++
	}
	if n < shortestRun {
		return nil, n, ""
	}
	run := b[:n]
	if hexOnly {
		if out := make([]byte, n/2); n%2 == 0 {
			if _, err := hex.Decode(out, run); err == nil && readable(out) {
				return out, n, ""
			}
		}
		return nil, n, opaque(n%32 != 0 && n != 40 && n != 56 && digit > 0 && digit < n, n, "hex") // digests are what they are
	}
	if upper == 0 || lower == 0 {
		return nil, n, "" // words joined by hyphens, identifiers
	}
	pad := n
	for pad < len(b) && b[pad] == '=' && pad < n+2 {
		pad++
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for cut := range 4 { // a run cut off in the middle still decodes in part
			if out, err := enc.AppendDecode(nil, run[:n-cut]); err == nil && readable(out) {
				return out, pad, ""
			}
		}
	}
	return nil, n, opaque(digit > 0 && upper > n/8 && lower > n/8, n, "base64")
}

// longestUnread is how long an unreadable run may be before it is reported.
const longestUnread = 48

func opaque(suspect bool, n int, looks string) string {
	if suspect && n >= longestUnread {
		return looks
	}
	return ""
}

// readable reports whether decoded bytes are text: valid UTF-8 of printable
// runes, mostly letters and spaces, or once more something encoded.
func readable(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	good, all := 0, 0
	for _, r := range string(b) {
		all++
		switch {
		case unicode.IsLetter(r), r == ' ', r == '\n', unicode.IsDigit(r):
			good++
		case !unicode.IsPrint(r) && !unicode.IsSpace(r):
			return false
		}
	}
	return all > 2 && good*10 >= all*7
}

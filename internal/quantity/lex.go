package quantity

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// matchUnit reads the unit at the start of s, which follows a number: after at
// most two spaces or a hyphen ("30-min"). It returns the bytes consumed, 0 when
// there is no unit.
func matchUnit(s string) (u unit, start, end int) {
	start = skipSpace(s, 2)
	if start == 0 && len(s) > 1 && s[0] == '-' && isLetter(s[1]) {
		start = 1
	}
	u, n := atom(s[start:])
	if n == 0 {
		return unit{}, 0, 0
	}
	end = start + n
	if d, m := denominator(s[end:]); m > 0 {
		u, end = over(u, d), end+m
		if d2, m2 := denominator(s[end:]); m2 > 0 { // m/s/s, uL/min/cm
			u, end = over(u, d2), end+m2
		}
	} else if strings.HasPrefix(s[end:], "/s2") || strings.HasPrefix(s[end:], "/s²") || strings.HasPrefix(s[end:], "/s^2") {
		u = of(Other, 1)
		end += len("/s2")
	}
	if u.kind == rev { // a count of turns is no quantity with a limit
		return of(Other, 1), start, end
	}
	if u.gauge == bothGauge {
		g, n := gaugeSuffix(s[end:])
		if n > 0 {
			u.gauge, end = g, end+n
			if g == 1 {
				u.offset = standardAtmosphere
			}
		}
	}
	return u, start, end
}

// denominator reads "/min", " per minute", "·min⁻¹", " min-1", " a minute".
func denominator(s string) (unit, int) {
	i := skipSpace(s, 1)
	rest := s[i:]
	if rest == "" || rest[0] < utf8.RuneSelf && rest[0] != '/' && !isLetter(rest[0]) {
		return unit{}, 0
	}
	switch {
	case strings.HasPrefix(rest, "/"):
		j := i + 1
		j += skipSpace(s[j:], 1)
		u, n := atom(s[j:])
		if n == 0 || strings.HasPrefix(s[j+n:], "2") || strings.HasPrefix(s[j+n:], "²") || strings.HasPrefix(s[j+n:], "^2") {
			return unit{}, 0
		}
		return u, j + n
	case hasWord(rest, "per"), hasWord(rest, "pro"), hasWord(rest, "par"), hasWord(rest, "pr"), hasWord(rest, "por"), hasWord(rest, "a"), hasWord(rest, "an"), hasWord(rest, "i"), hasWord(rest, "each"):
		j := i + wordLen(rest)
		j += skipSpace(s[j:], 2)
		u, n := atom(s[j:])
		if n > 0 && (u.kind == Time || hasWord(rest, "per") && u.kind == Volume) {
			return u, j + n
		}
		return unit{}, 0
	}
	// "m s-1", "mL·min⁻¹"
	if strings.HasPrefix(rest, "·") {
		i += len("·")
	} else if i == 0 {
		return unit{}, 0
	}
	n := wordLen(s[i:])
	if n == 0 {
		return unit{}, 0
	}
	for _, inv := range [...]string{"-1", "^-1", "⁻¹", "−1"} {
		if !strings.HasPrefix(s[i+n:], inv) || startsDigit(s[i+n+len(inv):]) {
			continue
		}
		if u, ok := lookup(s[i : i+n]); ok && u.kind == Time {
			return u, i + n + len(inv)
		}
	}
	return unit{}, 0
}

// atom reads one unit without a denominator.
func atom(s string) (unit, int) {
	if s == "" {
		return unit{}, 0
	}
	switch r, n := utf8.DecodeRuneInString(s); r {
	case '%', '％':
		return of(Fraction, 0.01), n
	case '‰':
		return of(Fraction, 0.001), n
	case '℃':
		return celsius(), n
	case '℉':
		return fahrenheit(), n
	case '€', '$', '£':
		return of(Money, 1), n
	case '°', 'º', '˚':
		if u, m := degreeScale(s[n:]); m > 0 {
			return u, n + m
		}
		return of(Angle, degree), n
	case '×', 'x', 'X', '*':
		m := n + skipSpace(s[n:], 1)
		if hasWord(s[m:], "g") {
			return of(Acceleration, 1), m + 1
		}
		if r != 'x' && r != 'X' {
			return unit{}, 0
		}
	}
	n := wordLen(s)
	if n == 0 {
		return unit{}, 0
	}
	word := s[:n]
	if m := n + exponentLen(s[n:]); m > n { // m3, cm³
		if u, ok := symbol(word + plainExponent(s[n:m])); ok {
			return u, m
		}
	}
	if n < len(s) && (isDigit(s[n]) || s[n] == '_') {
		return unit{}, 0 // an identifier
	}
	switch {
	case word == "g" && (strings.HasPrefix(s[n:], "-force") || strings.HasPrefix(s[n:], " force")):
		return of(Acceleration, 1), n + len("-force")
	case word == "per" && strings.HasPrefix(s[n:], " cent"):
		return of(Fraction, 0.01), n + len(" cent")
	}
	u, ok := lookup(word)
	if !ok {
		return unit{}, 0
	}
	if u.kind == Angle { // "degrees Celsius", "deg C"
		if t, m := degreeScale(s[n:]); m > 0 {
			return t, n + m
		}
	}
	return u, n
}

// degreeScale reads the scale after a degree sign or word.
func degreeScale(s string) (unit, int) {
	i := skipSpace(s, 1)
	n := wordLen(s[i:])
	if n == 0 {
		return unit{}, 0
	}
	switch w := s[i : i+n]; {
	case w == "C" || w == "c" || strings.EqualFold(w, "celsius") || strings.EqualFold(w, "centigrade"):
		return celsius(), i + n
	case w == "F" || w == "f" || strings.EqualFold(w, "fahrenheit"):
		return fahrenheit(), i + n
	case w == "K" || strings.EqualFold(w, "kelvin"):
		return of(Temperature, 1), i + n
	}
	return unit{}, 0
}

// gaugeSuffix reads what follows "bar" or "psi": (g), g, gauge, abs, absolute.
func gaugeSuffix(s string) (int8, int) {
	if s == "" || s[0] != '(' && s[0] != ' ' {
		return 0, 0
	}
	for _, g := range [...]struct {
		text string
		sign int8
	}{{"(g)", 1}, {" (g)", 1}, {" gauge", 1}, {"(gauge)", 1}, {" (gauge)", 1}, {" g", 1}, {"(a)", -1}, {" (a)", -1}, {" absolute", -1}, {" (absolute)", -1}, {" abs", -1}, {" (abs)", -1}, {" a", 0}} {
		if len(s) >= len(g.text) && strings.EqualFold(s[:len(g.text)], g.text) && !startsLetter(s[len(g.text):]) {
			if g.sign == 0 {
				return 0, 0
			}
			return g.sign, len(g.text)
		}
	}
	return 0, 0
}

// exponentLen is the length of a plain or superscript 2 or 3.
func exponentLen(s string) int {
	for _, e := range [...]string{"2", "3", "²", "³", "^2", "^3"} {
		if strings.HasPrefix(s, e) && !startsDigit(s[len(e):]) && !startsLetter(s[len(e):]) {
			return len(e)
		}
	}
	return 0
}

func plainExponent(s string) string {
	if strings.HasSuffix(s, "2") || strings.HasSuffix(s, "²") {
		return "2"
	}
	return "3"
}

// skipSpace counts the bytes of up to n leading spaces, no-break and thin ones
// included.
func skipSpace(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		if s[i] == ' ' || s[i] == '\t' {
			i++
			continue
		}
		r, m := utf8.DecodeRuneInString(s[i:])
		if r < utf8.RuneSelf || !isThinSpace(r) {
			break
		}
		i += m
	}
	return i
}

func isThinSpace(r rune) bool {
	return r == '\u00a0' || r == '\u202f' || r == '\u2009' || r == '\u2007' || r == '\u200a'
}

// wordLen counts the bytes of the letters at the start of s.
func wordLen(s string) int {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			if !isLetter(s[i]) {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) || r == 'º' {
			return i
		}
		i += n
	}
	return len(s)
}

// hasWord reports whether s starts with the lower-case word w.
func hasWord(s, w string) bool {
	return len(s) >= len(w) && s[:len(w)] == w && wordLen(s) == len(w) && (len(s) == len(w) || !isDigit(s[len(w)]) && s[len(w)] != '_')
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func startsDigit(s string) bool { return s != "" && isDigit(s[0]) }

func startsLetter(s string) bool { return wordLen(s) > 0 }

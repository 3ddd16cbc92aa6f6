package strict

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxNumberBytes bounds the digits of one number: more than any machine needs.
const maxNumberBytes = 128

// checkNumber returns what is wrong with a number in JSON's grammar: it must
// be finite and not vanish in double precision, since whatever reads it later
// will use that (C22). "" means nothing.
func checkNumber(text string) string {
	if len(text) > maxNumberBytes {
		return fmt.Sprintf("number with %d characters: at most %d", len(text), maxNumberBytes)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return fmt.Sprintf("number %s is out of range", text)
	}
	if f == 0 && strings.ContainsAny(mantissa(text), "123456789") {
		return fmt.Sprintf("number %s is too small to be told from zero", text)
	}
	return ""
}

func mantissa(text string) string {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i]
	}
	return text
}

// isJSONNumber reports whether text is a number in JSON's grammar:
// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
func isJSONNumber(text string) bool {
	s := strings.TrimPrefix(text, "-")
	whole := digits(s)
	if whole == 0 || (whole > 1 && s[0] == '0') {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		frac := digits(s[1:])
		if frac == 0 {
			return false
		}
		s = s[1+frac:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// looksNumeric reports whether a plain scalar is a number in YAML's core
// schema, which allows more than JSON: +1, .5, 1., 01.
func looksNumeric(text string) bool {
	s := strings.TrimLeft(text, "+-")
	if len(text)-len(s) > 1 {
		return false
	}
	whole := digits(s)
	s = s[whole:]
	frac := 0
	if strings.HasPrefix(s, ".") {
		frac = digits(s[1:])
		s = s[1+frac:]
	}
	if whole+frac == 0 {
		return false
	}
	return s == "" || isJSONNumber("0"+s)
}

// digits counts the leading decimal digits of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// Decimal returns the one form of an exact decimal: 1, 1.0 and 1e0 give "1",
// 0.50 gives "0.5", -0 gives "0". The result is a JSON number of the same
// value. A text that is no JSON number is returned as it is, with false.
func Decimal(text string) (string, bool) {
	if plainInteger(text) {
		return text, true
	}
	if !isJSONNumber(text) {
		return text, false
	}
	sign := ""
	s := text
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil {
			return text, false
		}
		s, exp = s[:i], e
	}
	if i := strings.IndexByte(s, '.'); i >= 0 {
		exp -= len(s) - i - 1
		s = s[:i] + s[i+1:]
	}
	s = strings.TrimLeft(s, "0")
	trimmed := strings.TrimRight(s, "0")
	exp += len(s) - len(trimmed)
	if trimmed == "" {
		return "0", true
	}
	return sign + layout(trimmed, exp), true
}

// plainInteger reports the common case that needs no work: 1..9 and more digits.
func plainInteger(s string) bool {
	return s != "" && len(s) <= 15 && s[0] >= '1' && s[0] <= '9' && digits(s) == len(s)
}

// layout writes digits × 10^exp; digits has no zeros at its ends. Which form
// is chosen depends on the value alone.
func layout(digits string, exp int) string {
	switch point := len(digits) + exp; {
	case exp >= 0 && point <= 21:
		return digits + strings.Repeat("0", exp)
	case exp < 0 && point > 0:
		return digits[:point] + "." + digits[point:]
	case exp < 0 && point > -7:
		return "0." + strings.Repeat("0", -point) + digits
	default:
		return digits + "e" + strconv.Itoa(exp)
	}
}

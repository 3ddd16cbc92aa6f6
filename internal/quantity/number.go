package quantity

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDigits bounds the characters of one number: more is nothing a plan means.
const maxDigits = 64

// A number is a numeral as lexed, before its unit is known.
type number struct {
	end    int        // offset after it
	values [2]float64 // plausible values, the likelier first
	n      int        // how many of them are set; 0 means it is no quantity (a date, a version, an identifier)
	bad    bool
}

func (v *number) add(x float64, err error) {
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		v.bad = true
		return
	}
	if v.n < len(v.values) {
		v.values[v.n] = x
		v.n++
	}
}

// A digitRun is a group of digits with the separator before it.
type digitRun struct {
	sep        rune // 0 for the first
	start, end int
}

// lexNumber reads the numeral at s[i], which is a digit or a point before one.
func lexNumber(s string, i int) number {
	var runs [8]digitRun
	n := 0
	pos := i
	if s[i] == '.' { // ".5"
		runs[0] = digitRun{start: i, end: i}
		n = 1
	} else {
		end := digitsEnd(s, i)
		runs[0] = digitRun{start: i, end: end}
		n, pos = 1, end
	}
	for n < len(runs) {
		sep, next := separator(s, pos, runs[n-1])
		if sep == 0 || n == 1 && s[pos] == ' ' && endsIdentifier(s, i) {
			break // "stretch_1 300 mm/s" is the name of a machine and its speed
		}
		end := digitsEnd(s, next)
		runs[n] = digitRun{sep: sep, start: next, end: end}
		n++
		pos = end
	}
	v := number{end: pos}
	if clockOrDate(s, i, pos) {
		v.end = identifierEnd(s, pos)
		return v
	}
	used := combine(s, runs[:n], &v)
	v.end = runs[used-1].end
	if used == n {
		scaleByExponent(s, &v)
	}
	return v
}

// endsIdentifier reports whether the digits at i go on with a name: "stretch_1",
// "hp1", "arm-1".
func endsIdentifier(s string, i int) bool {
	if i == 0 {
		return false
	}
	c := s[i-1]
	if c == '-' && i > 1 {
		c = s[i-2]
	}
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// separator returns the separator at pos if digits follow it and it can stand
// inside one numeral.
func separator(s string, pos int, before digitRun) (rune, int) {
	if pos >= len(s) {
		return 0, 0
	}
	r, n := utf8.DecodeRuneInString(s[pos:])
	next := pos + n
	if next >= len(s) || !digitAt(s, next) {
		return 0, 0
	}
	switch {
	case r == '.' || r == ',' || r == '·' || r == '٫':
		if r == '·' || r == '٫' {
			r = '.'
		}
		return r, next
	case r == '\'' || r == '’' || r == '_' || r == ' ' || isThinSpace(r):
		if before.end-before.start > 3 || digitsEnd(s, next)-next != 3 || before.sep == '.' || before.sep == ',' {
			return 0, 0
		}
		if r != ' ' {
			r = '_' // certainly a thousands separator
		}
		return r, next
	}
	return 0, 0
}

// combine turns groups of digits into values and says how many groups it used.
func combine(s string, runs []digitRun, v *number) int {
	if len(runs) == 1 {
		v.add(parse(s, runs, -1))
		return 1
	}
	last := len(runs) - 1
	uniform := true
	for _, r := range runs[2:] {
		uniform = uniform && r.sep == runs[1].sep
	}
	grouped := grouping(runs[1:], runs[0])
	switch sep := runs[1].sep; {
	case uniform && sep == ' ':
		v.add(parse(s, runs, -1))
		v.add(parse(s, runs[last:], -1))
		return len(runs)
	case uniform && sep == '_':
		v.add(parse(s, runs, -1))
		return len(runs)
	case len(runs) == 2:
		thousands := grouped && s[runs[0].start] != '0'
		if sep == ',' && thousands {
			v.add(parse(s, runs, -1))
		}
		v.add(parse(s, runs, 1))
		if sep == '.' && thousands {
			v.add(parse(s, runs, -1))
		}
		return 2
	case uniform && grouped:
		v.add(parse(s, runs, -1))
		return len(runs)
	case uniform && sep == '.': // a version or a date: no quantity
		return len(runs)
	case !uniform && runs[last].sep != runs[1].sep && grouping(runs[1:last], runs[0]):
		v.add(parse(s, runs, last))
		return len(runs)
	}
	v.add(parse(s, runs[:1], -1)) // a list written without spaces
	return 1
}

// grouping reports whether the groups after the first are thousands.
func grouping(rest []digitRun, first digitRun) bool {
	for _, r := range rest {
		if r.end-r.start != 3 {
			return false
		}
	}
	return first.end-first.start <= 3 && first.end > first.start
}

// parse joins the groups, with the decimal point before group point (-1: none).
func parse(s string, runs []digitRun, point int) (float64, error) {
	var buf [maxDigits]byte
	n := 0
	for g, r := range runs {
		if g == point {
			buf[n] = '.'
			n++
		}
		for i := r.start; i < r.end; {
			d, m := digitValue(s[i:])
			i += m
			if n >= maxDigits-2 {
				return math.Inf(1), nil
			}
			buf[n] = '0' + d
			n++
		}
	}
	return strconv.ParseFloat(string(buf[:n]), 64)
}

// scaleByExponent reads "e5", "×10^5", "x 10⁵" after the numeral.
func scaleByExponent(s string, v *number) {
	rest := s[v.end:]
	exp, used := 0, 0
	switch {
	case rest != "" && (rest[0] == 'e' || rest[0] == 'E'):
		exp, used = signedInt(rest[1:])
		if used == 0 || startsLetter(rest[1+used:]) && isHexTail(rest[1+used:]) {
			return
		}
		used++
	default:
		i := skipSpace(rest, 1)
		r, n := utf8.DecodeRuneInString(rest[i:])
		if r != '×' && r != 'x' && r != '*' && r != '·' {
			return
		}
		i += n
		i += skipSpace(rest[i:], 1)
		if !strings.HasPrefix(rest[i:], "10") {
			return
		}
		i += 2
		i += len(rest[i:]) - len(strings.TrimPrefix(rest[i:], "^"))
		if exp, used = signedInt(rest[i:]); used == 0 {
			return
		}
		used += i
	}
	for i := range v.n {
		v.values[i] *= math.Pow(10, float64(exp))
		if math.IsInf(v.values[i], 0) {
			v.bad = true
		}
	}
	v.end += used
}

func isHexTail(s string) bool { return strings.ContainsRune("abcdefABCDEF", rune(s[0])) }

// signedInt reads an exponent, superscript digits included; 400 stands for all
// that overflow.
func signedInt(s string) (value, used int) {
	sign, i := 1, 0
	if r, n := utf8.DecodeRuneInString(s); r == '+' || r == '-' || r == '−' || r == '⁻' {
		if r != '+' {
			sign = -1
		}
		i = n
	}
	digits := 0
	for i < len(s) {
		d, n := digitValue(s[i:])
		if n == 0 {
			if d, n = superscript(s[i:]); n == 0 {
				break
			}
		}
		value = min(value*10+int(d), 400)
		i += n
		digits++
	}
	if digits == 0 {
		return 0, 0
	}
	return sign * value, i
}

func superscript(s string) (byte, int) {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == '¹':
		return 1, n
	case r == '²' || r == '³':
		return byte(r - '²' + 2), n
	case '⁰' <= r && r <= '⁹':
		return byte(r - '⁰'), n
	}
	return 0, 0
}

// clockOrDate recognises 08:30, 2026-11-17, 1:100, so that no part of them is
// taken for a quantity.
func clockOrDate(s string, start, end int) bool {
	if end < len(s) && s[end] == ':' && digitAt(s, end+1) {
		return true
	}
	if start > 1 && s[start-1] == ':' && isDigit(s[start-2]) {
		return true
	}
	dash := func(i int) bool { return i < len(s) && s[i] == '-' && digitAt(s, i+1) }
	if dash(end) {
		next := digitsEnd(s, end+1)
		return dash(next)
	}
	return false
}

// identifierEnd skips the rest of a token such as 08:30-09:15 or 2026-11-17.
func identifierEnd(s string, i int) int {
	for i < len(s) && (isDigit(s[i]) || isLetter(s[i]) || s[i] == ':' || s[i] == '-' || s[i] == '_' || s[i] == '.' && i+1 < len(s) && isDigit(s[i+1])) {
		i++
	}
	return i
}

// digitsEnd returns the offset after the digits at i.
func digitsEnd(s string, i int) int {
	for i < len(s) {
		_, n := digitValue(s[i:])
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

func digitAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	_, n := digitValue(s[i:])
	return n > 0
}

// digitValue reads one decimal digit of any script; n is 0 if there is none.
func digitValue(s string) (d byte, n int) {
	if s == "" {
		return 0, 0
	}
	if c := s[0]; c < utf8.RuneSelf {
		if isDigit(c) {
			return c - '0', 1
		}
		return 0, 0
	}
	r, n := utf8.DecodeRuneInString(s)
	if !unicode.Is(unicode.Nd, r) {
		return 0, 0
	}
	// Decimal digits of every script are ten consecutive code points.
	for k := rune(0); k < 10; k++ {
		if !unicode.Is(unicode.Nd, r-k-1) || k == 9 {
			return byte(k), n
		}
	}
	return 0, 0
}

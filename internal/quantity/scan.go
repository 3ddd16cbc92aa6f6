package quantity

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Read returns every number in text, in order, with the unit it is written in
// and all its plausible readings. Numbers without a unit have Kind None. Clock
// times, dates, versions and identifiers are left out.
//
// It is a single pass over the text; the cost is linear in its length.
func Read(text string) []Quantity {
	var r Reader
	return r.Read(text, Lower(text))
}

// A Reader reads many texts into storage that it uses again. What it returned
// is valid until Reset. The zero value is ready; it is not for several
// goroutines at once.
type Reader struct {
	s     string     // the text
	low   string     // the same with ASCII letters in lower case: same offsets
	out   []Quantity // of all texts
	first int        // the first of this text in out
	units []unit     // of each quantity of this text, for lists that name the unit once
	store []float64  // backing of all Readings
}

// Read is like the function Read, for a text whose lower-case form the caller
// has already.
func (r *Reader) Read(text, low string) []Quantity {
	r.s, r.low, r.first, r.units = text, low, len(r.out), r.units[:0]
	r.scan()
	r.shareUnits(r.out[r.first:])
	return r.out[r.first:len(r.out):len(r.out)]
}

// Reset forgets all that was read.
func (r *Reader) Reset() {
	clear(r.out)
	*r = Reader{out: r.out[:0], units: r.units[:0], store: r.store[:0]}
}

func (r *Reader) scan() {
	for i := 0; i < len(r.s); {
		c := r.s[i]
		switch {
		case isDigit(c), c == '.' && digitAt(r.s, i+1):
			i = r.numeral(i)
		case isLetter(c):
			i = r.word(i, asciiLetters(r.s, i))
		case c < utf8.RuneSelf:
			i++
		default:
			i = r.wide(i)
		}
	}
}

// wide handles what is not ASCII: other scripts' digits, ½, ∞, letters.
func (r *Reader) wide(i int) int {
	c, n := utf8.DecodeRuneInString(r.s[i:])
	switch {
	case digitAt(r.s, i):
		return r.numeral(i)
	case c == '½' || c == '¼' || c == '¾':
		v := number{end: i + n, n: 1, values: [2]float64{map[rune]float64{'½': 0.5, '¼': 0.25, '¾': 0.75}[c]}}
		return r.emit(i, v, true)
	case c == '∞':
		return r.emit(i, number{end: i + n, bad: true}, false)
	}
	if m := wordLen(r.s[i:]); m > 0 {
		return r.word(i, i+m)
	}
	return i + n
}

// asciiLetters gives the end of the word at i if it is all ASCII, and that of
// the word with its other letters if it is not.
func asciiLetters(s string, i int) int {
	for i < len(s) && isLetter(s[i]) {
		i++
	}
	if i < len(s) && s[i] >= utf8.RuneSelf {
		return i + wordLen(s[i:])
	}
	return i
}

// word handles the word from i to end: a number word, "full speed", "NaN", or
// nothing of ours.
func (r *Reader) word(i, end int) int {
	w := r.low[i:end]
	if !ours[sketch(w)] {
		if end < len(r.s) && r.s[end] == ' ' {
			return end // as most words are followed
		}
		return r.skipIdentifier(end)
	}
	if next, ok := r.ofMaximum(i, end, w); ok {
		return next
	}
	if slices.Contains(noNumbers, w) && r.meantAsNumber(i, end) {
		return r.emit(i, number{end: end, bad: true}, false)
	}
	if small(w) >= 0 || w == "a" || w == "half" {
		if v := lexWords(r.low, i); v.n > 0 && v.end > end-1 && r.unitAt(v.end) {
			return r.emit(i, v, true)
		}
	}
	return r.skipIdentifier(end)
}

// meantAsNumber tells "speed NaN", "to infinity K" from prose about the
// infinite: a unit follows, or a quantity or an equals sign comes before.
func (r *Reader) meantAsNumber(start, end int) bool {
	if r.unitAt(end) {
		return true
	}
	before := strings.TrimRight(r.s[:start], " +-")
	if strings.HasSuffix(before, "=") || strings.HasSuffix(before, ":") {
		return true
	}
	var back [lookBack]string
	n := r.wordsBefore(start, &back)
	return n > 0 && (limitAxis(back[0]) || n > 1 && (back[0] == "to" || back[0] == "at" || back[0] == "of") && limitAxis(back[1]))
}

// skipIdentifier passes the digits of names such as ur5e_1, V-01 or PTW-3391,
// unless a unit follows them ("speed-1500 mm/s" is no name).
func (r *Reader) skipIdentifier(i int) int {
	for i < len(r.s) {
		j := i
		if r.s[j] == '-' || r.s[j] == '_' || r.s[j] == '.' {
			j++
		}
		if j >= len(r.s) || !isDigit(r.s[j]) {
			return i
		}
		v := lexNumber(r.s, j)
		if n := wordLen(r.s[v.end:]); v.n > 0 {
			if u, _, m := matchUnit(r.s[v.end:]); m > 2 && u.kind != Mass && u.kind != Time {
				return j
			} else if n > 0 && m > 0 && j > i {
				return r.afterName(v.end)
			}
		}
		i = r.afterName(max(v.end, j+1))
	}
	return i
}

// afterName skips letters that still belong to a name.
func (r *Reader) afterName(i int) int { return i + wordLen(r.s[i:]) }

// unitAt reports whether a unit starts at i.
func (r *Reader) unitAt(i int) bool {
	_, _, n := matchUnit(r.s[i:])
	return n > 0
}

// numeral reads the number at i and returns where to go on.
func (r *Reader) numeral(i int) int {
	v := lexNumber(r.s, i)
	if v.n == 0 && !v.bad || v.end <= i {
		return max(v.end, i+1)
	}
	return r.emit(i, v, false)
}

// emit appends the quantity that starts at i with value v and returns the
// offset after its unit.
func (r *Reader) emit(i int, v number, fromWords bool) int {
	q := Quantity{Start: i, Count: 1, Bad: v.bad}
	u, unitStart, unitLen := matchUnit(r.s[v.end:])
	end := v.end
	switch {
	case unitLen > 0:
		end += unitLen
		q.Unit = r.s[v.end+unitStart : end]
	case startsLetter(r.s[v.end:]) || strings.HasPrefix(r.s[v.end:], "_"):
		return identifierEnd(r.s, v.end+wordLen(r.s[v.end:])) // 3A, 1st
	case fromWords:
		return v.end
	}
	q.End = end
	sign := r.sign(&q)
	if unitLen == 0 {
		if m := r.currencyBefore(q.Start); m > 0 {
			q.Start -= m
			u, q.Unit = of(Money, 1), r.s[q.Start:q.Start+m]
		}
	}
	q.Kind, q.Text = u.kind, r.s[q.Start:q.End]
	if u.gauge == 1 || u.gauge == -1 {
		q.Gauge = u.gauge
	}
	for k := range v.n {
		v.values[k] *= sign
	}
	r.context(&q, &v)
	if q.Relative {
		u = u.delta()
		q.Kind = u.kind
	}
	r.append(q, u, v)
	return end
}

// append converts the values and stores the quantity.
func (r *Reader) append(q Quantity, u unit, v number) {
	if v.n == 0 {
		q.Bad = true
	}
	q.Readings, q.Bad = r.convert(u, v.values[:v.n], q.Relative, q.Bad)
	r.out = append(r.out, q)
	r.units = append(r.units, u)
}

// convert gives the readings in SI. The slices share one backing array.
func (r *Reader) convert(u unit, values []float64, relative, bad bool) ([]float64, bool) {
	start := len(r.store)
	for _, x := range values {
		si := x
		if u.kind != None {
			si = x*u.factor + u.offset
		}
		r.store = append(r.store, si)
		if u.gauge == bothGauge && !relative {
			r.store = append(r.store, si+standardAtmosphere)
		}
		bad = bad || si-si != 0
	}
	return r.store[start:len(r.store):len(r.store)], bad
}

// sign looks at the sign before the number; a hyphen between two numbers is a
// range, one after a letter a hyphenated word.
func (r *Reader) sign(q *Quantity) float64 {
	if q.Start == 0 {
		return 1
	}
	c, n := utf8.DecodeLastRuneInString(r.s[:q.Start])
	if c != '-' && c != '−' && c != '–' && c != '+' && c != '±' {
		return 1
	}
	if before := q.Start - n; before > 0 {
		p, _ := utf8.DecodeLastRuneInString(r.s[:before])
		if p >= utf8.RuneSelf || isDigit(byte(p)) || isLetter(byte(p)) || p == '_' || p == '%' || p == ')' {
			return 1
		}
	}
	q.Start -= n
	switch c {
	case '+', '±':
		q.Relative = true
		return 1
	}
	return -1
}

// currencyBefore is the length of a currency sign or code directly before i.
func (r *Reader) currencyBefore(i int) int {
	for _, c := range [...]string{"€", "$", "£", "€ ", "$ ", "£ ", "EUR ", "USD ", "GBP "} {
		if strings.HasSuffix(r.s[:i], c) {
			return len(c)
		}
	}
	return 0
}

// Lower lower-cases ASCII letters only, so that offsets stay the same.
func Lower(s string) string {
	if !hasUpper(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	AppendLower(&b, s)
	return b.String()
}

// AppendLower writes what Lower returns.
func AppendLower(b *strings.Builder, s string) {
	from := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			b.WriteString(s[from:i])
			b.WriteByte(c + 'a' - 'A')
			from = i + 1
		}
	}
	b.WriteString(s[from:])
}

func hasUpper(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			return true
		}
	}
	return false
}

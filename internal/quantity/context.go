package quantity

import (
	"slices"
	"strings"
)

// lookBack is how many words before a number can still govern it.
const lookBack = 6

// context reads the words around a quantity: bounds, changes, repetitions.
func (r *Reader) context(q *Quantity, v *number) {
	var back [lookBack]string
	n := r.wordsBefore(q.Start, &back)
	var ahead [4]string
	r.wordsAfter(q.End, &ahead)

	q.Bound = bound(back[:n], r.symbolBefore(q.Start))
	if q.Bound == 0 {
		q.Bound = boundAfter(ahead)
	}
	if q.Kind == Fraction && ofLimit(ahead) {
		q.OfMax = true
		return
	}
	switch change(back[:n], ahead) {
	case +1:
		q.Relative = true
	case -1:
		q.Relative = true
		for k := range v.n {
			v.values[k] = -v.values[k]
		}
	}
	if q.Relative {
		q.Count = repeats(ahead)
	}
}

// wordsBefore collects the words before i in the same clause, nearest first.
func (r *Reader) wordsBefore(i int, out *[lookBack]string) int {
	n := 0
	for n < len(out) {
		j := i
		for j > 0 && isGap(r.low[j-1]) {
			j--
		}
		k := j
		for k > 0 && (isLetter(r.low[k-1]) || r.low[k-1] >= 0x80 || isDigit(r.low[k-1]) || r.low[k-1] == '\'') {
			k--
		}
		if k == j {
			// The point of an abbreviation ("max. 250") does not end the clause.
			if j > 3 && r.low[j-1] == '.' && (strings.HasSuffix(r.low[:j], "max.") || strings.HasSuffix(r.low[:j], "min.") || strings.HasSuffix(r.low[:j], "maks.")) {
				i = j - 1
				continue
			}
			break
		}
		out[n] = r.low[k:j]
		n++
		i = k
	}
	return n
}

// wordsAfter collects the words after i in the same clause, in order; words
// that are not there stay empty.
func (r *Reader) wordsAfter(i int, out *[4]string) {
	for n := 0; n < len(out); n++ {
		for i < len(r.low) && isGap(r.low[i]) {
			i++
		}
		m := i
		for m < len(r.low) && (isLetter(r.low[m]) || r.low[m] >= 0x80 || isDigit(r.low[m]) || r.low[m] == '\'') {
			m++
		}
		if m == i {
			return
		}
		out[n] = r.low[i:m]
		i = m
	}
}

func isGap(c byte) bool {
	return c == ' ' || c == '\t' || c == '(' || c == ':' || c == '=' || c == '-' || c == '~' || c == '\n'
}

// symbolBefore returns the comparison sign before i: '<', '>' or 0.
func (r *Reader) symbolBefore(i int) byte {
	s := strings.TrimRight(r.s[:i], " =")
	switch {
	case strings.HasSuffix(s, "<"), strings.HasSuffix(s, "≤"):
		return '<'
	case strings.HasSuffix(s, ">"), strings.HasSuffix(s, "≥"):
		return '>'
	}
	return 0
}

// bound says which way the words before a number bound it.
func bound(back []string, sym byte) int8 {
	switch sym {
	case '<':
		return -1
	case '>':
		return +1
	}
	w := func(i int) string {
		if i < len(back) {
			return back[i]
		}
		return ""
	}
	switch w(0) {
	case "under", "below", "max", "maximum", "maximal", "unter", "høyst", "maks", "höchstens", "within", "sous", "bis", "beneath":
		return -1
	case "over", "above", "exceed", "exceeds", "exceeding", "beyond", "past", "passes", "passing", "min", "minimum", "über", "atop", "mindestens", "minst", "minimal":
		if negated(w(1)) || negated(w(2)) || negated(w(3)) {
			return -1
		}
		return +1
	case "most":
		if w(1) == "at" {
			return -1
		}
	case "least":
		if w(1) == "at" {
			return +1
		}
	case "to":
		if w(1) == "up" {
			return -1
		}
	case "of", "is", "at":
		switch w(1) {
		case "maximum", "max", "limit", "ceiling", "cap":
			return -1
		case "minimum", "floor":
			return +1
		}
	case "than":
		return comparative(w(1), negated(w(2)))
	}
	return 0
}

func comparative(w string, not bool) int8 {
	dir := int8(0)
	switch w {
	case "more", "greater", "higher", "faster", "hotter", "larger", "longer", "heavier", "later":
		dir = +1
	case "less", "lower", "slower", "fewer", "smaller", "cooler", "shorter", "lighter", "earlier":
		dir = -1
	}
	if not {
		return -dir
	}
	return dir
}

func negated(w string) bool {
	switch w {
	case "no", "not", "never", "without", "nicht", "nie", "ikke", "aldri", "don't", "doesn't", "mustn't", "cannot", "nor":
		return true
	}
	return false
}

// boundAfter reads "or less", "max", "or more" behind the unit.
func boundAfter(w [4]string) int8 {
	switch {
	case w[0] == "or" || w[0] == "and":
		switch w[1] {
		case "less", "lower", "below", "under", "fewer", "slower", "cooler":
			return -1
		case "more", "higher", "above", "over", "greater", "faster", "upward", "upwards", "up", "longer":
			return +1
		}
	case w[0] == "max", w[0] == "maximum", w[0] == "tops", w[0] == "at" && w[1] == "most":
		return -1
	case w[0] == "min", w[0] == "minimum", w[0] == "at" && w[1] == "least":
		return +1
	}
	return 0
}

// ofLimit reads "of maximum", "of the rated speed", "speed" behind a percentage.
func ofLimit(w [4]string) bool {
	i := 0
	if w[i] == "of" {
		i++
		if w[i] == "the" || w[i] == "its" || w[i] == "their" || w[i] == "his" {
			i++
		}
		switch w[i] {
		case "max", "maximum", "maximal", "full", "rated", "top", "nominal", "limit", "capacity", "payload", "possible", "allowed", "permitted", "speed", "power":
			return true
		}
		return false
	}
	switch w[0] {
	case "speed", "power", "throttle", "force", "vmax":
		return true
	}
	return false
}

// change reports whether the words make a number a change: +1 up, -1 down.
func change(back []string, ahead [4]string) int {
	switch ahead[0] {
	case "faster", "quicker", "higher", "hotter", "warmer", "more", "greater", "stronger", "harder", "further", "extra", "increase", "mehr", "schneller", "raskere":
		return +1
	case "slower", "lower", "less", "cooler", "weaker", "decrease", "reduction", "langsamer", "weniger":
		return -1
	case "above", "over", "beyond":
		if reference(ahead[1], ahead[2]) {
			return +1
		}
	case "below", "under":
		if reference(ahead[1], ahead[2]) {
			return -1
		}
	}
	up := 0
	for i, w := range back {
		switch w {
		case "another", "further", "additional", "extra", "plus", "weitere":
			if i < 2 {
				return +1
			}
		case "steps", "increments":
			if i < 3 && back[0] == "of" {
				return +1
			}
		}
		if back[0] == "by" || back[0] == "um" || back[0] == "med" {
			switch changeVerb(w) { // "reduce the heat by": the lowering verb governs
			case +1:
				up = +1
			case -1:
				return -1
			}
		}
	}
	return up
}

// reference reports what a difference is counted from: "20 °C above set point",
// but not "600 mm/s over the open floor".
func reference(w, next string) bool {
	switch w {
	case "the", "its", "their":
		return level(next) || limitAxis(next)
	case "set", "what", "that", "last", "previous":
		return true
	}
	return level(w)
}

// level lists words for a value that others are counted from.
func level(w string) bool {
	switch w {
	case "set", "setpoint", "limit", "limits", "maximum", "max", "rated", "rating", "normal", "ambient", "room", "boiling", "melting", "flash", "nominal", "usual", "current", "permitted", "allowed", "recommended", "stated", "safe", "value", "target", "default", "cap", "threshold", "glass", "actual", "present", "programmed":
		return true
	}
	return false
}

func changeVerb(w string) int {
	switch w {
	case "raise", "raises", "raised", "increase", "increases", "increased", "boost", "up", "bump", "lift", "exceed", "ramp", "add", "step", "accelerate", "rise", "rises", "grow", "erhöhen", "erhöhe", "øk", "heat", "higher", "faster", "over", "turn", "overshoot":
		return +1
	case "reduce", "reduces", "reduced", "lower", "lowers", "decrease", "decreases", "drop", "cut", "slow", "cool", "down", "senken", "senk":
		return -1
	}
	return 0
}

// repeats reads "twice", "three times" behind a change.
func repeats(w [4]string) int {
	before := ""
	for _, x := range w {
		switch x {
		case "twice":
			return 2
		case "thrice":
			return 3
		case "times":
			if n := small(before); n > 0 {
				return n
			}
			if n, used := signedInt(before); used > 0 && n > 0 {
				return n
			}
		}
		before = x
	}
	return 1
}

// shareUnits gives the members of a list or range the unit of the last one:
// "100, 200 and 330 C", "100-200 mm/s".
func (r *Reader) shareUnits(out []Quantity) {
	for i := len(out) - 2; i >= 0; i-- {
		q, next := &out[i], &out[i+1]
		if q.Kind != None || next.Kind == None || next.OfMax || q.Bad || !connector(r.low[q.End:next.Start]) {
			continue
		}
		u := r.units[i+1]
		n := len(q.Readings)
		q.Kind, q.Unit = u.kind, next.Unit
		q.Readings, q.Bad = r.convert(u, q.Readings[:n], q.Relative || next.Relative, false)
		q.Relative = q.Relative || next.Relative
		q.Gauge = next.Gauge
		r.units[i] = u
	}
}

// connector reports whether gap joins two members of a list or range.
func connector(gap string) bool {
	switch strings.TrimSpace(gap) {
	case ",", "/", "-", "–", "—", "..", "...", "…", "and", "or", "to", ", and", ", or", "then", ", then", "und", "bis", "oder", "et", "à", "og", "til", "y", "a", "through", "and then":
		return true
	}
	return false
}

// ofMaximum reads a word that stands for a share of whatever the limit is:
// "full speed", "at maximum", "half speed", "as fast as possible". Followed by a
// number, "maximum" is a bound instead.
func (r *Reader) ofMaximum(start, end int, w string) (int, bool) {
	share := 1.0
	if !slices.Contains(shareWords, w) {
		return 0, false
	}
	var ahead [4]string
	r.wordsAfter(end, &ahead)
	switch w {
	case "as":
		if (ahead[0] != "fast" && ahead[0] != "quickly" && ahead[0] != "hot" && ahead[0] != "hard" && ahead[0] != "high") || ahead[1] != "as" || (ahead[2] != "possible" && ahead[2] != "it" && ahead[2] != "the") {
			return 0, false
		}
	case "flat":
		if ahead[0] != "out" {
			return 0, false
		}
	case "half":
		share = 0.5
	case "quarter":
		share = 0.25
	case "double":
		share = 2
	}
	if w != "as" && w != "flat" && !limitAxis(ahead[0]) && !(ahead[0] == "the" && limitAxis(ahead[1]) && share < 1) {
		var back [lookBack]string
		n := r.wordsBefore(start, &back)
		bare := (w == "maximum" || w == "max") && n > 0 && (back[0] == "at" || back[0] == "to" || n > 1 && (back[0] == "its" || back[0] == "the") && (back[1] == "at" || back[1] == "to"))
		if !bare || ahead[0] == "of" || startsDigit(ahead[0]) {
			return 0, false
		}
	}
	if (w == "max" || w == "maximum" || w == "top" || w == "highest") && (startsDigit(ahead[1]) || ahead[1] == "of" && startsDigit(ahead[2]) || ahead[1] == "is" && startsDigit(ahead[2])) {
		return 0, false // "maximum speed 250 mm/s" gives the number itself
	}
	q := Quantity{Kind: Fraction, Text: r.s[start:end], Start: start, End: end, OfMax: true, Count: 1}
	r.append(q, of(Fraction, 1), number{n: 1, values: [2]float64{share}})
	return end, true
}

func limitAxis(w string) bool {
	switch w {
	case "speed", "power", "throttle", "force", "temperature", "pressure", "heat", "rpm", "velocity", "load", "payload", "geschwindigkeit", "vitesse", "blast", "stroke", "flow", "acceleration":
		return true
	}
	return false
}

package link

import (
	"slices"
	"strings"
	"unicode"

	"interlock/internal/fact"
)

// units are the unit words that may follow a number.
const units = " mm cm m km um nm mm/s s ms us min h hr hrs d g kg mg ug ng ul ml l µl c k f deg degree degrees bar mbar kpa mpa pa psi rpm n w kw v a ma mw mol mmol umol mm um nm m ppm ppb ev kev hz khz mhz gb mb eur usd gbp xg sccm usv lm db rad percent x hour hours minute minutes second seconds day days week weeks metre metres meter meters litre litres liter liters gram grams volt watt watts newton newtons euro euros cfu pct fold times cells rcf "

// classify says of every word how it is understood.
func classify(words []fact.Token, toks []token) {
	numeric := false // the word before was a number or a unit
	for i := range words {
		w, n := &words[i], toks[i].norm
		switch {
		case isDigit(n[0]) && isNumber(n):
			w.Class = fact.Number
		case numeric && strings.Contains(units, " "+n+" "):
			w.Class = fact.Number
		case w.Entity > 0:
			w.Class = fact.Named
		case concept(w.Tags):
			w.Class = fact.Concept
		case slices.Contains(w.Tags, tagFunction), slices.Contains(w.Tags, tagNegator), slices.Contains(w.Tags, tagHedge):
			w.Class = fact.Function
		case slices.Contains(w.Tags, tagBenign):
			w.Class = fact.Benign
		case label(w.Text):
			w.Class = fact.Label
		}
		numeric = w.Class == fact.Number
	}
}

func concept(tags []string) bool {
	return slices.ContainsFunc(tags, func(t string) bool {
		return t != tagFunction && t != tagBenign && t != tagNegator && t != tagNotNeg && t != tagHedge && t != tagPlain
	})
}

// isNumber accepts digits with separators and a unit or ordinal at the end:
// "0.5", "10:30", "250mm", "2nd", "96".
func isNumber(n string) bool {
	end := strings.IndexFunc(n, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune(".,:-", r) })
	if end < 0 {
		return true
	}
	tail := n[end:]
	return strings.Contains(units+"st nd rd th ", " "+tail+" ")
}

// label accepts identifiers a plan gives its own things: capitals or digits
// with digits in them, short, without a word in lower case longer than three
// letters.
func label(s string) bool {
	if len(s) > 40 {
		return false
	}
	if strings.ContainsAny(s, "_.") {
		return true // an identifier or the name of a file
	}
	if !hasDigit(s) {
		return len(s) == 1 && unicode.IsUpper(firstRune(s))
	}
	run := 0
	for _, r := range s {
		if unicode.IsLower(r) {
			if run++; run > 5 {
				return false
			}
			continue
		}
		run = 0
	}
	return true
}

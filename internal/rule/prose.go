package rule

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/quantity"
	"interlock/internal/site"
)

// Of a site's prose, two kinds of statement can be read without understanding
// it: a number that something must stay within ("iso1 at 35 Pa or more",
// "discard above 50 ppm", "150 mm/s with wafers wet from hf1 or boe1"), and
// things that must not meet ("not with alcohol or hypochlorite"). They are held
// against a plan as rules of their own, so that a site nobody wrote code for
// has them too. Whatever else stands in a clause is a condition that nobody has
// read: such a clause is left to the judges.

// A bound is a number of the prose and what it is of.
type bound struct {
	source string // "R6", "material THF"
	text   string // the clause, for the message
	kind   quantity.Kind
	unit   string
	above  bool    // what lies above is outside; else what lies below
	at     float64 // in the SI unit of the kind
	head   []string
	topic  []string        // stems before the colon: what it is about
	rest   map[string]bool // all stems of the sentence
	from   []string        // things: it holds for what comes from one of them
	night  *Window         // it holds in this span of the day
}

// An apart says that a material must not meet some others.
type apart struct {
	source string
	text   string
	first  string          // the first stem of the material's name
	one    map[string]bool // all of them
	others []string        // stems
}

// A prose holds what was read.
type prose struct {
	bounds []bound
	aparts []apart
}

// readProse reads rules, zones and notes of materials.
func readProse(s *site.Site) prose {
	var p prose
	for _, r := range s.Rules {
		p.bounds = append(p.bounds, readBounds(r.ID, r.Text, nil)...)
	}
	for _, m := range s.Materials {
		names := stems(m.Name)
		source := "material " + m.Name
		p.bounds = append(p.bounds, readBounds(source, m.Note, names)...)
		if a, ok := readApart(source, m.Note, names); ok {
			p.aparts = append(p.aparts, a)
		}
	}
	return p
}

// readBounds reads the numbers of a text; about are stems of what it is about,
// nil where the text itself says so.
func readBounds(source, text string, about []string) []bound {
	var out []bound
	for _, sentence := range strings.Split(text, ". ") {
		topic, body := "", sentence
		if i := colon(sentence); i > 0 {
			topic, body = sentence[:i], sentence[i+1:]
		}
		base := bound{source: source, topic: stems(topic), rest: setOf(append(stems(sentence), about...))}
		carried := firstIdentifier(topic)
		for _, clause := range strings.Split(body, ";") {
			for _, q := range quantity.Read(clause) {
				if q.Start < 0 || q.End > len(clause) || q.Start > q.End {
					continue
				}
				b := base
				b.text, b.kind, b.unit = strings.TrimSpace(clause), q.Kind, strings.ToLower(q.Unit)
				b.subject(clause[:q.Start])
				switch {
				case about != nil:
					b.head = about
				case len(b.head) == 0: // "wh_1 at most 250 ...; at most 150 ...", "Piranha only in pir1: ... at most 120 C"
					b.head = carried
				}
				if identified(b.head) {
					carried = b.head
				}
				if b.number(q) && (b.side(clause, q) && b.condition(clause[q.End:]) && len(b.head) > 0 || b.atNight(topic, q)) {
					out = append(out, b)
				}
			}
		}
	}
	return out
}

// firstIdentifier is the first name of the site's own in a text, as a subject.
func firstIdentifier(text string) []string {
	for _, s := range stems(text) {
		if identifier(s) {
			return []string{s}
		}
	}
	return nil
}

// number takes the value, where it is one plain number with a unit.
func (b *bound) number(q quantity.Quantity) bool {
	if q.Relative || q.Bad || q.OfMax || len(q.Readings) != 1 || q.Kind == quantity.None {
		return false
	}
	b.at = q.Readings[0]
	return true
}

// colon finds the colon after a topic; those of a time of day are none.
func colon(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == ':' && s[i+1] == ' ' {
			return i
		}
	}
	return -1
}

// side says on which side of the number the forbidden lies, if the clause does.
func (b *bound) side(clause string, q quantity.Quantity) bool {
	lead := strings.ToLower(strings.TrimRight(clause[:q.Start], " "))
	tail := strings.ToLower(strings.TrimLeft(clause[q.End:], " "))
	ends := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return lead == w || strings.HasSuffix(lead, " "+w) })
	}
	waits := slices.ContainsFunc(strings.Fields(lead), func(w string) bool { return w == "until" || w == "reads" })
	acts := slices.ContainsFunc(strings.Fields(lead), func(w string) bool { return w == "discard" || w == "quarantine" || w == "evacuate" })
	if first, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(clause)), " "); parting[first] {
		return false // "with the hutch open the arm is at 250 mm/s or less"
	}
	switch {
	case ends("at most", "up to"), hasLead(tail, "or less", "or lower", "at most"):
		b.above = true
	case ends("at least"), hasLead(tail, "or more", "or higher", "at least"):
		b.above = false
	case ends("below", "under") && waits:
		b.above = true
	case ends("above", "over") && waits:
		b.above = false
	case ends("above", "over") && (acts || q.Bound < 0): // "discard above", "not heated above"
		b.above = true
	case ends("below", "under") && acts:
		b.above = false
	default:
		return false
	}
	return true
}

func hasLead(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(s, w) })
}

// condition reads what follows the number. What it cannot read is a condition
// nobody has read.
func (b *bound) condition(tail string) bool {
	tail = strings.ToLower(strings.TrimSpace(tail))
	for _, w := range []string{"or less", "or lower", "or more", "or higher", "at most", "at least"} {
		tail = strings.TrimSpace(strings.TrimPrefix(tail, w))
	}
	if i := strings.IndexAny(tail, ",."); i >= 0 && strings.TrimSpace(tail[:i]) == "" || tail == "" || strings.HasPrefix(tail, "and ") {
		return true
	}
	_, list, ok := strings.Cut(tail, " from ")
	if !ok || !strings.HasPrefix(tail, "with ") {
		return false
	}
	list, _, _ = strings.Cut(list, ".")
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch {
		case identifier(w):
			b.from = append(b.from, w)
		case w != "or" && w != "and":
			return false
		}
	}
	return len(b.from) > 0
}

// parting are words that part a number's subject from what stands before it.
var parting = setOf(strings.Fields("with only until while when whenever if unless"))

// actions are words before a number that say what happens, not what it is of.
var actions = setOf(strings.Fields("discar quaran evacua heated start back keep stay held not above over below under"))

// subject finds what the number is of: the words right before it.
func (b *bound) subject(lead string) {
	if i := strings.LastIndexAny(lead, ",():"); i >= 0 {
		lead = lead[i+1:]
	}
	b.head = nil
	for _, w := range strings.Fields(strings.ToLower(lead)) {
		if parting[w] {
			b.head = nil
			continue
		}
		if s := stems(w); len(s) > 0 && !actions[s[0]] {
			b.head = append(b.head, s[0])
		}
	}
}

// atNight reads "22:00-06:00 on wards: 300 mm/s": a speed and nothing else is
// the highest that is allowed in the span.
func (b *bound) atNight(topic string, q quantity.Quantity) bool {
	_, windows := clocks(topic)
	if len(windows) != 1 || q.Kind != quantity.Speed || q.Bound > 0 {
		return false
	}
	b.night, b.above = windows[0], true
	b.head = slices.DeleteFunc(stems(topic), func(s string) bool { return s == "night" || s == "day" })
	b.topic = nil
	return len(b.head) > 0
}

// readApart reads "not with X, Y or Z" and "never with X".
func readApart(source, text string, names []string) (apart, bool) {
	low := strings.ToLower(text)
	for _, w := range []string{"not with ", "never with "} {
		if i := strings.Index(low, w); i >= 0 && (i == 0 || low[i-1] == ' ') {
			list, _, _ := strings.Cut(low[i+len(w):], ";")
			a := apart{source: source, text: text, others: stems(list)}
			if len(names) == 0 || len(a.others) == 0 {
				return a, false
			}
			a.first, a.one = names[0], setOf(names)
			return a, true
		}
	}
	return apart{}, false
}

// dull are stems that say nothing of what a clause is about.
var dull = setOf(strings.Fields("the and for not with their compounds compou never only from into must may are that this any all its one two per when while until unles withou within before after most least more less than other such them they also where has have will under over above below is at in of or to by on a an no as be it reads read be most each"))

// stems are what is compared of words: the first six letters without a plural's
// s. Identifiers stay whole, beside the letters they begin with: "koh1" is
// also "koh".
func stems(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if identifier(w) {
			out = append(out, w)
			if p := strings.TrimRightFunc(w, unicode.IsDigit); len(p) >= 2 && len(p) < len(w) && !strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsLetter(r) }) {
				out = append(out, p)
			}
			continue
		}
		if strings.ContainsFunc(w, unicode.IsDigit) {
			continue
		}
		r := []rune(w)
		if len(r) > 3 && r[len(r)-1] == 's' && r[len(r)-2] != 's' {
			r = r[:len(r)-1]
		}
		s := string(r[:min(len(r), 6)])
		if len(r) >= 3 && !dull[s] && !dull[w] {
			out = append(out, s)
		}
	}
	return out
}

// identifier reports a name that only a site gives: letters with a digit or an
// underscore.
func identifier(w string) bool {
	return strings.ContainsFunc(w, unicode.IsLetter) && !unicode.IsDigit(rune(w[0])) && strings.ContainsFunc(w, func(r rune) bool { return r == '_' || unicode.IsDigit(r) })
}

func setOf(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// outside reports whether every plausible reading lies outside.
func (b *bound) outside(readings []float64) bool {
	const slack = 1e-9 // of unit conversions
	for _, v := range readings {
		limit := b.at + slack*math.Abs(b.at)
		if !b.above {
			limit = b.at - slack*math.Abs(b.at)
		}
		if math.IsNaN(v) || b.above && v <= limit || !b.above && v >= limit {
			return false
		}
	}
	return len(readings) > 0
}

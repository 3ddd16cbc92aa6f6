package window

import (
	"slices"
	"strconv"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/quantity"
)

// A value is a quantity with the place in the plan where it stands, so that
// the same place can be found in the next plan.
type value struct {
	key   uint32
	kind  quantity.Kind
	v     float64
	bound int8
	name  string
	guard bool    // the plan sets a threshold, a limit or a safeguard with it
	of    string  // material that it belongs to, "" none named
	most  float64 // of an amount of a hazardous material: what the tool may bring at once; 0 otherwise
}

// A dose is an amount of something brought somewhere, or taken away.
type dose struct {
	kind   quantity.Kind
	v      float64
	noun   string   // of what is only counted
	what   string   // material, "" not named
	things []string // where: zones, vessels, robots
	out    bool     // taken away: what was there before is gone
}

// A count is how many of something a plan says it does.
type count struct {
	noun   string
	n      float64
	ranged bool // "pins 1 to 14"
	at     int  // word of the number
}

// A pause is a time given to something in between.
type pause struct {
	lemma   string
	seconds float64
}

// A fill is a material put into a vessel with a name; clear says that the
// vessel was emptied or rinsed.
type fill struct {
	holder, material string
	clear            bool
}

// moving are the concepts of bringing things together or somewhere.
var moving = []string{"act:mix", "act:transfer", "act:dispose", "act:move", "act:pressurise"}

// acting are the concepts of doing something with effect.
var acting = append([]string{"act:heat", "act:separate", "act:enter", "act:touch", "act:execute"}, moving...)

func (r *reader) sentence(text *fact.Text, words []fact.Token) {
	start, end := words[0].Start, words[len(words)-1].End
	qs := r.quantities(text, start, min(end+2, len(text.Raw))) // a unit's sign may end behind the last word
	var things, materials []string
	for i := range words {
		w := &words[i]
		if telling(w) {
			r.t.words = r.words(r.t.words, w)
		}
		name := r.thing(w)
		switch {
		case name == "" || w.Negated:
		case r.kind(w) == "material":
			materials = append(materials, name)
		case !slices.Contains(things, name):
			things = append(things, name)
		}
	}
	for _, m := range materials {
		if !slices.Contains(r.t.materials, m) && len(r.t.materials) < maxThings {
			r.t.materials = append(r.t.materials, m)
		}
	}
	r.t.acts = r.t.acts || anyTagged(words, acting...)
	r.values(words, qs)
	r.counted(words, qs)
	r.conditions(words)
	r.t.precedent = r.t.precedent || precedent(words)
	r.amount(words, qs, things, materials)
	r.fill(words, things, materials)
	r.t.worked = r.t.worked || anyTagged(words, "act:heat", "act:separate", "act:synthesise") || said(words, "mix", "stir", "dissolve", "dilute", "react", "titrate", "rinse", "wash", "clean")
	if anyTagged(words, "act:move", "act:order", "act:hand") || said(words, "get", "fetch", "reserve", "put", "place", "store", "collect", "weigh", "request", "borrow", "take") {
		for _, m := range materials {
			r.t.fetched = note(r.t.fetched, m)
		}
	}
	r.safeguards(words, things)
	r.gathers(words)
	r.t.series = r.t.series || r.released(words)
	if len(materials) > 0 {
		r.recent = materials
	}
}

// released reports that a person of the site who may decide something is said
// to have approved what is done. It is a claim (C32): it takes the surprise out
// of a change within the limits and counts for nothing beyond them.
func (r *reader) released(words []fact.Token) bool {
	if !anyTagged(words, "claim:approval", "act:approve", "release") {
		return false
	}
	for i := range words {
		if w := &words[i]; r.kind(w) == "person" && r.site.decides(r.facts.Entities[w.Entity-1].Name) && r.name(w) != r.facts.Submitter.PersonID {
			return true
		}
	}
	return false
}

// values notes the quantities of a sentence under the words before them.
func (r *reader) values(words []fact.Token, qs []fact.Quantity) {
	const context = 3
	sets := anyTagged(words, "act:adjust", "act:alter", "act:bypass", "act:extend") || said(words, "set", "raise", "lower", "widen", "relax", "change", "shorten", "increase", "decrease", "reduce", "move", "shift")
	for _, q := range qs {
		if q.Kind == quantity.None || q.Relative || len(r.t.values) >= maxValues {
			continue
		}
		var near []string
		guard := false
		for i := len(words) - 1; i >= 0 && len(near) < context; i-- {
			if w := &words[i]; w.End <= q.At.Start && telling(w) && r.kind(w) != "person" {
				near = append(near, r.name(w))
				guard = guard || guards(w)
			}
		}
		for i := 0; i < len(words) && len(near) == 0; i++ {
			if w := &words[i]; w.Start >= q.At.End && telling(w) {
				near = append(near, r.name(w))
			}
		}
		slices.Reverse(near)
		name := strings.Join(near, " ")
		r.t.values = append(r.t.values, value{hash(string(q.Kind) + "|" + name), q.Kind, q.Readings[0], q.Bound, name, guard && sets, r.owner(words, q), 0})
	}
}

// guards reports a word for what a plan must not go beyond.
func guards(w *fact.Token) bool {
	return tagged(w, "safeguard", "alarm") || slices.Contains([]string{"threshold", "limit", "tolerance", "criterion", "timeout", "delay", "margin", "interval", "cap", "trip", "field", "setpoint"}, w.Lemma)
}

// owner is the material that a quantity belongs to: the one it is said of,
// else the last one before it in the sentence.
func (r *reader) owner(words []fact.Token, q fact.Quantity) string {
	last := ""
	for i := range words {
		w := &words[i]
		if r.kind(w) != "material" || w.Negated {
			continue
		}
		if r.name(w) == q.Of {
			return q.Of
		}
		if w.End <= q.At.Start {
			last = r.name(w)
		}
	}
	return last
}

// numerals are the number words that plans write out.
var numerals = []string{
	"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
	"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
}

// numeral reads a word as a number.
func numeral(w *fact.Token) (float64, bool) {
	if w.Text == "" || len(w.Text) > 12 {
		return 0, false
	}
	if c := w.Text[0]; c >= '0' && c <= '9' {
		n, err := strconv.ParseFloat(w.Text, 64)
		return n, err == nil
	}
	if len(w.Text) > len("seventeen") {
		return 0, false
	}
	if i := slices.Index(numerals, strings.ToLower(w.Text)); i >= 0 {
		return float64(i), true
	}
	return 0, false
}

// counted notes numbers of things, and times given to something.
func (r *reader) counted(words []fact.Token, qs []fact.Quantity) {
	r.t.counts = append(r.t.counts, counts(words)...)
	r.t.counts = r.t.counts[:min(len(r.t.counts), maxValues)]
	for _, q := range qs {
		if q.Kind != quantity.Time || q.Relative {
			continue
		}
		for i := range words {
			if w := &words[i]; !w.Negated && telling(w) && near(w, q, 24) && len(r.t.pauses) < maxValues {
				r.t.pauses = append(r.t.pauses, pause{stem(w.Lemma), q.Readings[0]})
			}
		}
	}
}

// counts reads "fourteen dips", "2 oxygen cylinders" and "pins 1 to 14". The
// noun is not parsed: each telling word behind a number may be it.
func counts(words []fact.Token) []count {
	const reach = 3
	var out []count
	for i := range words {
		n, ok := numeral(&words[i])
		if !ok || words[i].Negated {
			continue
		}
		if i > 0 && i+2 < len(words) && strings.EqualFold(words[i+1].Text, "to") && telling(&words[i-1]) {
			if last, ok := numeral(&words[i+2]); ok && last > n {
				out = append(out, count{stem(words[i-1].Lemma), last - n + 1, true, i})
			}
		}
		for k := i + 1; k < len(words) && k <= i+reach && telling(&words[k]) && words[k].Clause == words[i].Clause; k++ {
			out = append(out, count{stem(words[k].Lemma), n, false, i})
		}
	}
	return out
}

func near(w *fact.Token, q fact.Quantity, within int) bool {
	return w.Start >= q.At.End && w.Start-q.At.End <= within || w.End <= q.At.Start && q.At.Start-w.End <= within
}

// stem takes the commonest endings off, so that "dips" and "dip", "dry" and
// "dries" are one.
func stem(lemma string) string {
	s := strings.TrimSuffix(strings.TrimSuffix(lemma, "s"), "ing")
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(s, "ie"), "y"), "e")
}

// conditions notes what a plan goes and reads before acting, and what it only
// says about the world.
func (r *reader) conditions(words []fact.Token) {
	reads := -1
	for i := range words {
		w := &words[i]
		if tagged(w, "act:observe") && !w.Hedged && !strings.HasSuffix(w.Text, "ed") {
			reads = i
		}
		name := ""
		switch {
		case w.Negated && !tagged(w, "person:absent"):
		case tagged(w, "person:absent"):
			name = "presence"
		case tagged(w, "safeguard", "claim:state", "claim:weather"):
			name = r.name(w)
		case r.kind(w) == "value" && r.site.sensor(r.name(w)):
			name = r.name(w)
		case r.kind(w) == "device" && reads >= 0:
			r.t.checks = note(r.t.checks, r.name(w))
		}
		if strings.Contains(name, "presence") {
			name = "presence"
		}
		if name == "" {
			continue
		}
		if reads >= 0 {
			r.t.checks = note(r.t.checks, name)
		}
		r.t.states = note(r.t.states, name)
	}
}

// note adds a name once, within the bounds.
func note(list []string, name string) []string {
	if name == "" || slices.Contains(list, name) || len(list) >= maxThings {
		return list
	}
	return append(list, name)
}

// precedent reports an argument from what went before instead of from a rule
// or a reading.
func precedent(words []fact.Token) bool {
	earlier := said(words, "yesterday", "last", "earlier", "previous", "previously", "before", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "already", "always")
	fine := said(words, "fine", "well", "okay", "ok", "good", "accepted", "worked", "complaint", "problem", "trouble", "passed", "smoothly", "tolerated", "proven")
	if earlier && fine {
		return true
	}
	for i := 0; i+1 < len(words); i++ {
		switch first, next := strings.ToLower(words[i].Text), strings.ToLower(words[i+1].Text); {
		case first == "as" && slices.Contains([]string{"usual", "before", "yesterday", "always", "prepared", "last", "previously", "ever", "earlier"}, next),
			first == "like" && slices.Contains([]string{"last", "before", "yesterday", "always"}, next),
			first == "same" && slices.Contains([]string{"step", "again", "increase"}, next),
			first == "usual" && next != "",
			first == "than" && slices.Contains([]string{"yesterday", "last", "before"}, next),
			first == "little" && next == "more",
			first == "went" && slices.Contains([]string{"well", "fine", "smoothly"}, next),
			first == "no" && slices.Contains([]string{"complaints", "problems", "trouble", "incident", "incidents"}, next) && earlier:
			return true
		}
	}
	return said(words, "precedent", "habit") || said(words, "plan", "run", "time") && said(words, "before", "earlier", "previous", "last") && said(words, "as", "like", "same", "reference")
}

// taking are the words for taking away.
var taking = []string{"remove", "unload", "drain", "discard", "empty", "dispose", "deliver", "return", "consume", "flush", "rinse", "withdraw"}

// amount notes what a sentence brings somewhere or takes away.
func (r *reader) amount(words []fact.Token, qs []fact.Quantity, things, materials []string) {
	if len(r.t.doses) >= maxDoses {
		return
	}
	brings := anyTagged(words, moving...) || said(words, "put", "load", "place", "add", "store", "dose")
	gone := slices.IndexFunc(words, func(w fact.Token) bool { return !w.Negated && w.Entity == 0 && slices.Contains(taking, w.Lemma) })
	if i := index(words, "hand"); gone < 0 && i >= 0 && i+1 < len(words) && words[i].Entity == 0 && strings.EqualFold(words[i+1].Text, "over") {
		gone = i
	}
	if gone >= 0 && !into(words, gone) {
		if len(things) == 0 {
			things = r.t.things
		}
		r.t.doses = append(r.t.doses, dose{things: slices.Clone(things), out: true})
		return
	}
	if anyHedged(words) {
		return
	}
	r.spends(words, qs, things)
	if brings {
		last := -1 // of one number the first noun that is limited counts
		for _, c := range counts(words) {
			if r.site.counted[c.noun] && c.at != last && len(r.t.doses) < maxDoses {
				last = c.at
				r.t.doses = append(r.t.doses, dose{noun: c.noun, v: c.n, things: slices.Clone(things)})
			}
		}
	}
	for _, q := range qs {
		if !brings || !additive(q.Kind) || q.Readings[0] <= 0 || len(r.t.doses) >= maxDoses { // "a further 8 L" is an amount like another
			continue
		}
		what := q.Of
		if !slices.Contains(materials, what) {
			if what = ""; len(materials) > 0 {
				what = materials[0]
			}
		}
		r.t.doses = append(r.t.doses, dose{kind: q.Kind, v: q.Readings[0], what: what, things: slices.Clone(things)})
	}
}

func additive(k quantity.Kind) bool {
	return k == quantity.Volume || k == quantity.Mass || k == quantity.Amount
}

// spends notes the time that something with a name stays somewhere, and money.
func (r *reader) spends(words []fact.Token, qs []fact.Quantity, things []string) {
	labels := slices.DeleteFunc(slices.Clone(things), func(n string) bool { return strings.Contains(n, ":") })
	for _, q := range qs {
		stays := q.Kind == quantity.Time && len(labels) > 0 && said(words, "stay", "stand", "remain", "wait", "leave", "lie", "keep", "out", "outside")
		spent := q.Kind == quantity.Money && (anyTagged(words, "act:order") || said(words, "spend", "pay", "cost", "book", "use", "charge"))
		if (stays || spent) && len(r.t.doses) < maxDoses {
			r.t.doses = append(r.t.doses, dose{kind: q.Kind, v: q.Readings[0], things: labels})
		}
	}
}

// into reports that what follows a word is poured into something: "empty it
// into the drum" fills the drum.
func into(words []fact.Token, from int) bool {
	for i := from; i < len(words) && i < from+6; i++ {
		if strings.EqualFold(words[i].Text, "into") {
			return true
		}
	}
	return false
}

func anyHedged(words []fact.Token) bool {
	return slices.ContainsFunc(words, func(w fact.Token) bool { return w.Hedged })
}

// fill follows which named vessel holds what.
func (r *reader) fill(words []fact.Token, things, materials []string) {
	if len(r.t.fills) >= maxDoses {
		return
	}
	dest := r.destination(words)
	cleans := said(words, "empty", "drain", "rinse", "clean", "flush", "discard", "wash", "neutralise", "neutralize")
	if cleans {
		gone := slices.DeleteFunc(slices.Clone(things), func(h string) bool { return h == dest })
		if len(gone) == 0 && dest == "" {
			for _, f := range r.t.fills {
				gone = note(gone, f.holder)
			}
		}
		for _, h := range gone {
			r.t.fills = append(r.t.fills, fill{holder: h, clear: true})
		}
	}
	if dest == "" || anyHedged(words) || !anyTagged(words, moving...) && !said(words, "put", "collect", "empty", "leave", "place") {
		return
	}
	if len(materials) == 0 && said(words, "it", "them", "this", "rest") {
		materials = r.recent
	}
	for _, m := range materials {
		r.t.fills = append(r.t.fills, fill{holder: dest, material: m})
	}
}

// destination finds the named thing that something is put into.
func (r *reader) destination(words []fact.Token) string {
	const reach = 5
	for i := range words {
		if !slices.Contains([]string{"into", "to", "in", "onto", "over"}, strings.ToLower(words[i].Text)) {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+reach; k++ {
			w := &words[k]
			kind := r.kind(w)
			switch {
			case w.Negated:
			case kind == "" && w.Class == fact.Label && len(w.Lemma) <= 8, kind == "value":
				return r.name(w)
			case kind == "device" && r.site.holds(r.name(w)):
				return r.name(w)
			}
		}
	}
	return ""
}

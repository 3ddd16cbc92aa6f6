package derive

import (
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// containers are words for what things can be put into. The second list are
// places where things stand beside each other without being mixed.
var (
	containers = []string{"flask", "beaker", "bottle", "vial", "tube", "drum", "carboy", "tank", "reactor", "vessel", "tray", "line", "tubing", "sink", "drain", "waste", "dewar", "trough", "reservoir", "bag", "syringe", "mixture", "solution", "jar", "bucket", "canister", "cylinder", "autoclave", "bowl", "funnel", "crucible", "bath", "container", "hose", "manifold", "loop"}
	beside     = []string{"tray", "shelf", "cabinet", "rack", "drawer", "box", "cupboard"}
)

// A dose is one material put somewhere.
type dose struct {
	mat     *material // nil: not in our table
	id      string
	name    string
	step    int
	at      verdict.Span
	sent    int // sentence, counted over the whole plan
	dilute  bool
	certain bool // said outright: combined, not denied, hedged or quoted
	stream  bool // no material but the kind of waste that the vessel is for
	pos     int  // place of the word, for order inside a sentence
}

// A vessel collects doses in order.
type vessel struct {
	name    string
	labeled bool // named by an identifier: certainly one and the same
	beside  bool
	doses   []dose
}

type vesselSet struct {
	all []*vessel
	cur *vessel
}

func (v *vesselSet) get(name string, labeled, beside bool) *vessel {
	for _, x := range v.all {
		if x.name == name {
			return x
		}
	}
	x := &vessel{name: name, labeled: labeled, beside: beside}
	v.all = append(v.all, x)
	return x
}

func (v *vesselSet) vessels() []fact.Vessel {
	var out []fact.Vessel
	for _, x := range v.all {
		if len(x.doses) == 0 {
			continue
		}
		f := fact.Vessel{Name: x.name}
		for _, d := range x.doses {
			f.Contents = append(f.Contents, d.id)
			f.Steps = append(f.Steps, d.step)
		}
		out = append(out, f)
	}
	return out
}

// vessels follows what is put where, sentence by sentence.
func (d *Deriver) vessels(s *fact.Set) *vesselSet {
	v := &vesselSet{}
	sent := 0
	for i := range s.Texts {
		t := &s.Texts[i]
		if t.Part == "goal" || strings.HasPrefix(t.Part, "attachments") || !fillsVessel(t.Part) {
			continue
		}
		for _, words := range sentences(t) {
			sent++
			d.pour(s, t, words, v, sent)
		}
	}
	return v
}

// fillsVessel keeps steps and the arguments that name a source or destination.
func fillsVessel(part string) bool {
	return part == "" || strings.HasSuffix(part, ".source") || strings.HasSuffix(part, ".dest")
}

func sentences(t *fact.Text) [][]fact.Token {
	var out [][]fact.Token
	for i := 0; i < len(t.Words); {
		j := i
		for j < len(t.Words) && t.Words[j].Sent == t.Words[i].Sent {
			j++
		}
		out = append(out, t.Words[i:j])
		i = j
	}
	return out
}

// pour puts the materials of one sentence into its vessel.
func (d *Deriver) pour(s *fact.Set, t *fact.Text, words []fact.Token, v *vesselSet, sent int) {
	name, labeled, stands, at := d.container(words)
	acts := acting(words)
	emptied := says(words, "act:sterilise") || lemma(words, "rinse", "empty", "clean", "fresh", "new", "another", "separate", "change")
	outright := acts && !apart(words) && !spoken(words) && !taught(t.Words)
	var doses []dose
	for i := range words {
		if m, ok := d.dose(s, t, words, i); ok {
			m.sent = sent
			m.certain = m.certain && outright
			doses = append(doses, m)
		}
	}
	if name == "" && len(doses) > 0 && acts {
		name = "mixture"
		if v.cur != nil && pronoun(words) {
			name, labeled, stands = v.cur.name, v.cur.labeled, v.cur.beside
		}
	}
	if name == "" {
		return
	}
	x := v.get(name, labeled, stands)
	if w, ok := d.stream(t, words, at); ok && len(doses) > 0 && !slices.ContainsFunc(x.doses, func(o dose) bool { return o.stream }) {
		w.sent = sent
		x.doses = append(x.doses, w)
	}
	if emptied && len(doses) == 0 {
		x.doses = nil
	}
	x.doses = append(x.doses, doses...)
	if !stands {
		v.cur = x
	}
}

// dose reads the material that starts at word i.
func (d *Deriver) dose(s *fact.Set, t *fact.Text, words []fact.Token, i int) (dose, bool) {
	w := words[i]
	if w.Entity == 0 || (i > 0 && words[i-1].Entity == w.Entity) {
		return dose{}, false
	}
	e := s.Entities[w.Entity-1]
	label := asPlace(words, i, w.Entity)
	if e.Kind != "material" || w.Negated || label && !labelled(words, i, w.Entity) {
		return dose{}, false
	}
	m := d.material(e.ID)
	if m != nil && m.has("grease") && lemma(words, "check", "free", "clean") {
		return dose{}, false // "oil and grease check"
	}
	return dose{
		mat: m, id: e.ID, name: e.Name, step: t.Step, at: e.At, pos: e.At.Start,
		dilute: d.isDilute(s, t, e, m, words, i), certain: !label && !w.Hedged && !w.Quoted && !w.Negated,
	}, true
}

// labelled reports a vessel that is poured into and whose name says what it
// holds: "into the hydrochloric acid drum". A name is a doubt, no proof.
func labelled(words []fact.Token, i, entity int) bool {
	for i < len(words) && words[i].Entity == entity {
		i++
	}
	if i < len(words) && words[i].Lemma == "waste" && i+1 < len(words) && slices.Contains(containers, words[i+1].Lemma) {
		return destination(words, i)
	}
	return i < len(words) && slices.Contains([]string{"drum", "tank"}, words[i].Lemma) && destination(words, i)
}

// asPlace reports a material's name used for a place or a label: "acid
// cabinet", "azide drum", "bleach bottle".
func asPlace(words []fact.Token, i, entity int) bool {
	for i < len(words) && words[i].Entity == entity {
		i++
	}
	if i+1 < len(words) && words[i].Lemma == "waste" && slices.Contains(containers, words[i+1].Lemma) {
		return true
	}
	return i < len(words) && slices.Contains([]string{"cabinet", "cupboard", "store", "shelf", "alarm", "sensor", "detector", "smell", "gauge", "meter", "permit", "training", "room", "plant", "line", "header", "tank", "kit", "proof", "resistance", "drum"}, words[i].Lemma)
}

// isDilute reports a strength at which the hazard is another one.
func (d *Deriver) isDilute(s *fact.Set, t *fact.Text, e fact.Entity, m *material, words []fact.Token, i int) bool {
	if i > 0 && slices.Contains([]string{"dilute", "diluted", "trace", "residual"}, words[i-1].Lemma) {
		return true
	}
	limit := 0.05
	if m != nil && m.has("peroxide") {
		limit = 0.06
	}
	for _, q := range quantitiesIn(s, t) {
		after := q.Start - e.At.End
		before := e.At.Start - q.End
		if (after < 0 || after > 3) && (before < 0 || before > 4) {
			continue
		}
		v, ok := q.Max()
		switch {
		case !ok:
		case q.Kind == quantity.Concentration:
			return v <= 1000
		case q.Kind == quantity.Fraction:
			return v <= limit
		}
	}
	return false
}

// container finds the vessel a sentence speaks of, and its word: the last one
// after "into", "to" or "in", else the first. A label makes it one of its own:
// "flask F-3".
func (d *Deriver) container(words []fact.Token) (name string, labeled, stands bool, found int) {
	found = -1
	for i, w := range words {
		if w.Negated || !(slices.Contains(containers, w.Lemma) || slices.Contains(beside, w.Lemma) || d.drumLabel(words, i)) {
			continue
		}
		if found < 0 || destination(words, i) {
			found = i
		}
	}
	if found < 0 {
		return "", false, false, found
	}
	w := words[found]
	name = w.Lemma
	if d.drumLabel(words, found) {
		return "drum " + w.Text, true, false, found
	}
	if found+1 < len(words) && identifier(words[found+1].Text) {
		return name + " " + words[found+1].Text, true, slices.Contains(beside, name), found
	}
	if found > 0 && identifier(words[found-1].Text) && words[found-1].Class != fact.Number {
		return name + " " + words[found-1].Text, true, slices.Contains(beside, name), found
	}
	return name, false, slices.Contains(beside, name), found
}

// drumLabel reports a waste drum's short label, as the site has it or as is
// usual: "W3".
func (d *Deriver) drumLabel(words []fact.Token, i int) bool {
	t := words[i].Text
	return d.streams[t] != nil || len(t) >= 2 && len(t) <= 3 && t[0] == 'W' && t[1] >= '0' && t[1] <= '9'
}

func destination(words []fact.Token, i int) bool {
	for k := i - 1; k >= 0 && k >= i-4 && words[k].Clause == words[i].Clause; k-- {
		if slices.Contains([]string{"into", "to", "in", "onto"}, strings.ToLower(words[k].Text)) {
			return true
		}
	}
	return false
}

// identifier reports a short label: a capital or digit, with a digit or alone.
func identifier(s string) bool {
	if len(s) > 8 {
		return false
	}
	digit := strings.IndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' }) >= 0
	return s[0] >= 'A' && s[0] <= 'Z' && s != "I" && (digit || len(s) == 1)
}

// acting reports that the sentence puts things together, and does not deny it.
func acting(words []fact.Token) bool {
	for _, w := range words {
		if w.Negated || w.Quoted || w.Hedged {
			continue
		}
		if hasTag(w, "act:mix") || hasTag(w, "act:transfer") || hasTag(w, "act:dispose") {
			return true
		}
	}
	return false
}

// apart reports words that keep things from meeting.
func apart(words []fact.Token) bool {
	return lemma(words, "separate", "separately", "apart", "segregate", "segregated", "away", "between", "instead", "keep", "respectively", "different", "before", "after", "no", "not", "never", "without")
}

// spoken reports a sentence about a mixture rather than one that makes it:
// what is written, told, printed or taught.
func spoken(words []fact.Token) bool {
	return says(words, "quote:purpose") || lemma(words, "write", "label", "explain", "text", "poster", "slide", "describe", "sheet", "table", "list", "read", "record", "report", "warn", "check", "question")
}

// taught reports a step that makes a text for people rather than a mixture.
func taught(step []fact.Token) bool {
	return says(step, "quote:purpose") || lemma(step, "poster", "slide", "handout", "lecture", "quiz", "lesson", "sign", "leaflet", "video")
}

func pronoun(words []fact.Token) bool {
	return lemma(words, "it", "this", "that", "mixture", "solution", "same", "them", "rest")
}

func says(words []fact.Token, tag string) bool {
	return slices.ContainsFunc(words, func(w fact.Token) bool { return hasTag(w, tag) && !w.Negated })
}

func lemma(words []fact.Token, lemmas ...string) bool {
	return slices.ContainsFunc(words, func(w fact.Token) bool {
		return slices.Contains(lemmas, w.Lemma) || slices.Contains(lemmas, strings.ToLower(w.Text))
	})
}

func hasTag(w fact.Token, tag string) bool { return slices.Contains(w.Tags, tag) }

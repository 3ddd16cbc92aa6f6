package document

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/knowledge"
	"interlock/internal/verdict"
)

// A Change is one line of the difference between two versions.
type Change struct {
	Added  bool // else taken away
	Weaker bool // takes back a hazard, a limit or a thing
	Text   string
}

// neutral are numbers whose change makes nothing more or less dangerous.
var neutral = []string{"amount_mass", "amount_volume", "amount_count", "expires", knowledge.NumWells}

// statement is one thing that a document says, comparable between versions.
type statement struct {
	text   string  // by which versions are compared
	at     string  // where it stands, which may move
	warns  bool    // taking it back weakens
	key    string  // of a number: whose and which
	value  float64 // of a number
	lower  bool    // smaller is looser
	number bool
}

// statements lists what a document says, each once, in order.
func statements(d *Document) []statement {
	if d == nil {
		return nil
	}
	var out []statement
	names := make(map[string]string, len(d.Things))
	for _, t := range d.Things {
		names[t.ID] = t.Name
		out = append(out, statement{text: t.Kind + " " + t.Name + suffix(" also called ", strings.Join(t.Aliases, ", ")), warns: t.Kind != "zone"})
		for _, n := range t.Numbers {
			key := t.Name + ": " + n.Name
			out = append(out, statement{
				text: fmt.Sprintf("%s = %g %s", key, n.Value, n.Unit), key: key, value: n.Value, number: true,
				warns: !slices.Contains(neutral, n.Name), lower: n.Name == knowledge.NumLower || n.Name == knowledge.NumVolumeMin,
			})
		}
	}
	for _, l := range d.Links {
		out = append(out, statement{text: nonEmpty(names[l.From], l.From) + " " + strings.ReplaceAll(l.Rel, "_", " ") + " " + nonEmpty(names[l.To], l.To), warns: hazardRelations[l.Rel]})
	}
	for _, a := range d.Avoids {
		out = append(out, statement{text: nonEmpty(names[a.Subject], a.Subject) + " keep away from " + a.Phrase, warns: true})
	}
	for _, p := range d.Passages {
		held := ""
		if p.Withheld {
			held = "withheld from judges; "
		}
		out = append(out, statement{text: "text: " + p.Text, at: suffix(" — ", held+p.At.String())})
	}
	return out
}

func suffix(word, s string) string {
	if s == "" {
		return ""
	}
	return word + s
}

// Diff compares a document with the version that was approved, nil if none
// was: first what goes, then what comes, each in the order of its document.
func Diff(approved, doc *Document) []Change {
	before, after := statements(approved), statements(doc)
	count := map[string]int{}
	for _, s := range after {
		count[s.text]++
	}
	numbers := map[string]statement{}
	for _, s := range after {
		if s.number {
			numbers[s.key] = s
		}
	}
	var out []Change
	for _, s := range before {
		if count[s.text]--; count[s.text] < 0 {
			out = append(out, Change{Text: s.text + s.at, Weaker: s.warns && weaker(s, numbers)})
		}
	}
	clear(count)
	for _, s := range before {
		count[s.text]++
	}
	for _, s := range after {
		if count[s.text]--; count[s.text] < 0 {
			out = append(out, Change{Added: true, Text: s.text + s.at})
		}
	}
	return out
}

// weaker reports whether what replaces a statement, if anything does, is looser.
func weaker(s statement, numbers map[string]statement) bool {
	now, ok := numbers[s.key]
	if !s.number || !ok {
		return true
	}
	if s.lower {
		return now.value < s.value
	}
	return now.value > s.value
}

// Review compares a document with its approved version and with the public
// graph: the changes, and findings beyond those of reading.
func Review(g *knowledge.Graph, approved, doc *Document) ([]Change, []Finding) {
	changes := Diff(approved, doc)
	findings := slices.Clone(doc.Findings)
	add := func(rule string, at Place, excerpt, format string, args ...any) {
		findings = append(findings, Finding{Rule: rule, Level: verdict.Flag, At: at, Message: fmt.Sprintf(format, args...), Excerpt: visible(excerpt)})
	}
	for _, c := range changes {
		if c.Weaker {
			add(RuleWeaker, Place{}, c.Text, "takes back or loosens what the approved version says")
		}
	}
	for _, a := range doc.Avoids {
		if len(resolve(g, a.Phrase)) == 0 {
			add(RuleUnknown, a.At, a.Phrase, "an incompatible material that the graph does not know: kept as text, no check follows from it")
		}
	}
	things := make(map[string]*Thing, len(doc.Things))
	hazards := map[string][]string{}
	for i := range doc.Things {
		things[doc.Things[i].ID] = &doc.Things[i]
	}
	for _, l := range doc.Links {
		if code, ok := strings.CutPrefix(l.To, "h:"); ok {
			hazards[l.From] = append(hazards[l.From], code)
			if !knownHazard(g, code) {
				add(RuleUnknown, Place{}, code, "a hazard statement that the graph does not know")
			}
		}
	}
	for _, l := range doc.Links {
		if l.Rel == knowledge.RelSameAs && things[l.From] != nil {
			conflicts(g, doc.Kind, things[l.From], hazards[l.From], l.To, add)
		}
	}
	return changes, findings
}

func knownHazard(g *knowledge.Graph, code string) bool {
	_, exact := g.NodeByID("h:" + code)
	_, plain := g.NodeByID("h:" + strings.TrimRight(code, hazardLetters))
	return exact || plain
}

// conflicts compares a thing with the public node that it says it is. What the
// public graph says goes on counting; a person should know that the two differ.
func conflicts(g *knowledge.Graph, kind Kind, t *Thing, have []string, public string, add func(rule string, at Place, excerpt, format string, args ...any)) {
	i, ok := g.NodeByID(public)
	if !ok {
		return
	}
	if others := g.Lookup(t.Name); len(others) > 0 && !slices.Contains(others, i) && slices.ContainsFunc(others, func(o int32) bool { return g.KindOf(o) == g.KindOf(i) }) {
		add(RuleConflict, t.At, t.Name, "is the name of another substance or thing than %s (%s)", public, g.NameOf(i))
	}
	if kind == DataSheet {
		var missing []string
		for h := range g.Out(i, knowledge.RelHazard) {
			_, code, _ := strings.Cut(g.ID(h), ":")
			if !slices.ContainsFunc(have, func(c string) bool { return strings.HasPrefix(c, code) || strings.HasPrefix(code, c) }) {
				missing = append(missing, code)
			}
		}
		if len(missing) > 0 {
			slices.Sort(missing)
			add(RuleConflict, t.At, t.Name, "the graph also gives %s for %s, which the sheet does not: it goes on counting", strings.Join(missing, ", "), public)
		}
	}
	for _, n := range t.Numbers {
		if v, ok := g.Number(i, n.Name); ok && n.Name == knowledge.NumVolume && n.Value > v*1.001 {
			add(RuleConflict, t.At, t.Name, "%s %g %s is above the %g that the graph gives for %s", n.Name, n.Value, n.Unit, v, public)
		}
	}
}

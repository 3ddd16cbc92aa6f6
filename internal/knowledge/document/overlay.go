package document

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/knowledge"
	"interlock/internal/verdict"
)

// source is the key of what approved documents say.
const source = knowledge.SiteDocs

// Overlay lays approved documents and overrides beside a graph. It adds nodes
// and edges and takes none away (C40): an override is one more node, which says
// who lifted what and why, and stands beside the hazard that it concerns.
func Overlay(g *knowledge.Graph, docs []*Document, overrides []Override, now time.Time) (*knowledge.Graph, error) {
	if len(docs) == 0 && len(overrides) == 0 {
		return g, nil
	}
	o := &overlay{g: g, b: knowledge.NewBuilder(g)}
	o.identify(docs)
	o.note(o.b.Source(knowledge.Source{Key: source, Title: "documents that the site has approved", Licence: "the site's"}))
	for _, d := range docs {
		o.document(d)
		if o.err != nil {
			return nil, fmt.Errorf("%s: laying the document beside the graph: %w", d.Name, o.err)
		}
	}
	for _, w := range overrides {
		if w.inForce(now) {
			o.override(w)
		}
	}
	if o.err != nil {
		return nil, fmt.Errorf("laying overrides beside the graph: %w", o.err)
	}
	over, err := o.b.Build()
	if err != nil {
		return nil, fmt.Errorf("laying documents beside the graph: %w", err)
	}
	return over, nil
}

type overlay struct {
	g     *knowledge.Graph
	b     *knowledge.Builder
	same  map[string]string // thing -> public substance that it is, or is called after
	names map[string]string // folded names of all things -> substance or thing
	err   error
}

func (o *overlay) note(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *overlay) ensure(id, kind, name string, cat knowledge.Category) {
	o.note(o.b.Ensure(knowledge.Node{ID: id, Kind: kind, Name: name, Category: cat, Source: source}))
}

func (o *overlay) edge(from, rel, to string) {
	if from != to {
		o.note(o.b.Edge(from, rel, to, source))
	}
}

func (o *overlay) derive(from, rel, to string) {
	if from != to {
		o.note(o.b.Derive(from, rel, to, source))
	}
}

func docID(d *Document) string { return "doc:" + d.Name }

func (o *overlay) document(d *Document) {
	o.note(o.b.Node(knowledge.Node{
		ID: docID(d), Kind: kindDocument, Name: clip(nonEmpty(knowledge.CleanText(d.Title), d.Name), 200) + " (" + d.Name + ", SHA-256 " + d.SHA256[:min(12, len(d.SHA256))] + ")",
		Category: knowledge.LabContext, Source: source,
	}))
	for _, t := range d.Things {
		o.thing(d, t)
	}
	for _, l := range d.Links {
		o.link(l)
	}
	for i, a := range d.Avoids {
		o.avoid(d, i, a)
	}
	for _, p := range d.Passages {
		if !p.Withheld {
			o.passage(d, p)
		}
	}
}

// thing adds a thing. Plans that use its name must find what is known of its
// substance: the name becomes one of the substance's, and the thing is none of
// the nodes that names are looked for in. A longer name of the site's would
// otherwise hide a public one, and what is known of that would be lost.
func (o *overlay) thing(d *Document, t Thing) {
	holder := t.ID
	if cas := o.same[t.ID]; cas != "" {
		holder = cas
		if t.Kind == knowledge.KindChemical {
			t.Kind = "material"
		}
	}
	o.note(o.b.Node(knowledge.Node{ID: t.ID, Kind: t.Kind, Name: t.Name, Category: t.Category, Source: source}))
	o.edge(t.ID, knowledge.RelStated, docID(d))
	for i, name := range append([]string{t.Name}, t.Aliases...) {
		switch {
		case holder == t.ID && i > 0:
			o.note(o.b.Alias(holder, name, false))
		case holder != t.ID && len(o.g.Lookup(name)) == 0: // nobody else is called so
			o.ensure(holder, knowledge.KindChemical, "CAS "+strings.TrimPrefix(holder, "cas:"), knowledge.Safety)
			o.note(o.b.Alias(holder, name, false))
		}
	}
	for _, n := range t.Numbers {
		n.Source = source
		o.note(o.b.Number(t.ID, n))
	}
}

// identify finds out which things are public substances: by their CAS number,
// or as a mixture called after one of its components.
func (o *overlay) identify(docs []*Document) {
	o.same, o.names = map[string]string{}, map[string]string{}
	for _, d := range docs {
		parts := map[string][]string{}
		for _, l := range d.Links {
			switch {
			case !strings.HasPrefix(l.To, "cas:"):
			case l.Rel == knowledge.RelSameAs:
				o.same[l.From] = l.To
			case l.Rel == relContains:
				parts[l.From] = append(parts[l.From], l.To)
			}
		}
		for _, t := range d.Things {
			if o.same[t.ID] == "" && len(parts[t.ID]) > 0 {
				for _, id := range mentions(o.g, t.Name, nil) {
					if slices.Contains(parts[t.ID], id) {
						o.same[t.ID] = id
						break
					}
				}
			}
			for _, n := range append([]string{t.Name}, t.Aliases...) {
				if key := knowledge.FoldName(n); len(key) > 2 {
					o.names[key] = nonEmpty(o.same[t.ID], t.ID)
				}
			}
		}
	}
}

// link adds a link, and what follows from it.
func (o *overlay) link(l Link) {
	own, code, _ := strings.Cut(l.To, ":")
	switch own {
	case "h":
		o.hazard(l.From, code)
		return
	case "p":
		o.ensure(l.To, kindPrecaut, code, knowledge.Safety)
	case "cas":
		o.ensure(l.To, knowledge.KindChemical, "CAS "+code, knowledge.Safety)
		o.inherit(l)
	case "labware":
		if !o.b.Has(l.To) {
			return // a labware of the site's own
		}
	}
	o.edge(l.From, l.Rel, l.To)
}

// hazard adds a hazard statement to a thing, and to the public substance that
// the thing is: it may only become more dangerous.
func (o *overlay) hazard(from, code string) {
	id := o.hazardID(code)
	o.ensure(id, knowledge.KindHazard, code, knowledge.Safety)
	o.edge(from, knowledge.RelHazard, id)
	if cas := o.same[from]; cas != "" {
		o.derive(cas, knowledge.RelHazard, id)
	}
}

// hazardID finds a statement, with or without the letters behind its number.
func (o *overlay) hazardID(code string) string {
	if plain := strings.TrimRight(code, hazardLetters); !o.b.Has("h:"+code) && o.b.Has("h:"+plain) {
		return "h:" + plain
	}
	return "h:" + code
}

// inherit gives a product what the public graph says of its substance: the
// groups by which it reacts, and if it is that substance, the hazards.
func (o *overlay) inherit(l Link) {
	i, ok := o.g.NodeByID(l.To)
	if !ok {
		return
	}
	rels := []string{knowledge.RelGroup, knowledge.RelTrait}
	if l.Rel == knowledge.RelSameAs {
		rels = append(rels, knowledge.RelHazard)
	}
	for _, rel := range rels {
		for to := range o.g.Out(i, rel) {
			o.derive(l.From, rel, o.g.ID(to))
		}
	}
}

// avoid makes an incompatibility of what a data sheet says: the product gets a
// reactive group of its own, which must not meet the group that is meant.
func (o *overlay) avoid(d *Document, n int, a Avoid) {
	targets := resolve(o.g, a.Phrase)
	if len(targets) == 0 {
		id := fmt.Sprintf("avoid:%s/%d", d.Name, n+1)
		o.ensure(id, "material_class", a.Phrase, knowledge.Safety)
		o.edge(a.Subject, relAvoid, id)
		return
	}
	group := "group:" + d.Name
	o.ensure(group, knowledge.KindGroup, nameOf(d, a.Subject), knowledge.Safety)
	o.edge(a.Subject, knowledge.RelGroup, group)
	if cas := o.same[a.Subject]; cas != "" {
		o.derive(cas, knowledge.RelGroup, group)
	}
	for k, to := range targets {
		o.edge(a.Subject, relAvoid, to)
		other := to
		if !strings.HasPrefix(to, "group:") {
			other = "group:" + d.Name + "/" + to
			o.ensure(other, knowledge.KindGroup, a.Phrase, knowledge.Safety)
			o.derive(to, knowledge.RelGroup, other)
		}
		pair := fmt.Sprintf("pair:%s/%d-%d", d.Name, n+1, k+1)
		o.ensure(pair, knowledge.KindIncompatible, clip(nameOf(d, a.Subject), 120)+" + "+a.Phrase, knowledge.Safety)
		o.edge(pair, knowledge.RelStated, docID(d))
		o.derive(pair, knowledge.RelPair, group)
		o.derive(pair, knowledge.RelPair, other)
	}
}

func nameOf(d *Document, id string) string {
	for _, t := range d.Things {
		if t.ID == id {
			return t.Name
		}
	}
	return id
}

// resolve finds the nodes that a phrase of a data sheet means: reactive groups
// for a class, else substances called so.
func resolve(g *knowledge.Graph, phrase string) []string {
	var out []string
	for _, n := range groupsOf[classWord(phrase)] {
		if _, ok := g.NodeByID("group:" + n); ok {
			out = append(out, "group:"+n)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, i := range g.Lookup(phrase) {
		if k := g.KindOf(i); k == knowledge.KindChemical || k == knowledge.KindGroup {
			out = append(out, g.ID(i))
		}
	}
	return out
}

// passage makes a passage a node, worded so that whoever reads it knows that a
// document says this and that the quotation ends where it ends.
func (o *overlay) passage(d *Document, p Passage) {
	id := "passage:" + d.Name + "/" + p.ID
	o.note(o.b.Node(knowledge.Node{ID: id, Kind: kindPassage, Name: Framed(d.Name, p), Category: knowledge.LabContext, Source: source}))
	o.edge(id, knowledge.RelStated, docID(d))
	for _, to := range mentions(o.g, p.Text, o.names) {
		o.derive(id, "mentions", to)
	}
}

// Framed is a passage as judges are given it: as a quotation with its place.
// Marks inside it cannot end it.
func Framed(doc string, p Passage) string {
	at := Place{Page: p.At.Page, Line: p.At.Line, Section: clip(p.At.Section, 48)}.String()
	if at != "" {
		at = ", " + at
	}
	text := strings.NewReplacer("“", "'", "”", "'", "«", "'", "»", "'").Replace(p.Text)
	return clip(doc, 60) + at + " says: “" + clip(text, maxPassage) + "”"
}

const (
	maxMentions  = 8 // of one passage
	mentionWords = 4 // of one name
)

// mentionKinds are the kinds of nodes that a passage is joined to.
var mentionKinds = []string{
	knowledge.KindChemical, knowledge.KindRobot, knowledge.KindDevice, knowledge.KindBioAgent, knowledge.KindGas, knowledge.KindHazard,
	"labware", "pipette", "module", "site_robot", "site_device", "zone", "tool", "physical_hazard",
}

// mentions finds what a passage is about, the longest names first, no word
// twice.
func mentions(g *knowledge.Graph, text string, own map[string]string) []string {
	var out []string
	add := func(id string) {
		if len(out) < maxMentions && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, c := range hazardCodes(text) {
		if i, ok := g.NodeByID("h:" + c); ok {
			add(g.ID(i))
		}
	}
	words := strings.Fields(knowledge.FoldName(text))
	for i := 0; i < len(words); {
		step := 1
		for n := min(mentionWords, len(words)-i); n > 0; n-- {
			name := strings.Join(words[i:i+n], " ")
			if len(name) < 4 {
				break
			}
			if id := own[name]; id != "" {
				add(id)
				step = n
				break
			}
			if id, ok := named(g, name); ok {
				add(id)
				step = n
				break
			}
		}
		i += step
	}
	return out
}

func named(g *knowledge.Graph, name string) (string, bool) {
	for _, i := range g.Lookup(name) {
		if slices.Contains(mentionKinds, g.KindOf(i)) {
			return g.ID(i), true
		}
	}
	return "", false
}

// override adds what a named person has lifted.
func (o *overlay) override(w Override) {
	for _, id := range []string{w.Subject, w.Hazard} {
		if !o.b.Has(id) {
			o.note(fmt.Errorf("override %s: the graph has no node %q", w.ID, id))
			return
		}
	}
	id := "override:" + w.ID
	o.note(o.b.Node(knowledge.Node{
		ID: id, Kind: kindOverride, Category: knowledge.Safety, Source: source,
		Name: clip(fmt.Sprintf("%s lifted %s for %s on %s: %s", w.By, w.Hazard, w.Subject, w.At.Format(time.DateOnly), w.Reason), 380),
	}))
	if !w.Expires.IsZero() {
		o.note(o.b.Number(id, knowledge.Number{Name: knowledge.NumExpires, Unit: "s", Value: float64(w.Expires.Unix()), Source: source}))
	}
	o.edge(id, knowledge.RelOverrides, w.Subject)
	o.edge(id, knowledge.RelLifts, w.Hazard)
}

// Overridden says which overrides concern the things that a plan names, as
// notes for its decision: who has lifted what is visible wherever it matters
// (C40). They change no outcome by themselves.
func Overridden(g *knowledge.Graph, ids []string, now time.Time) []verdict.Finding {
	var out []verdict.Finding
	seen := map[int32]bool{}
	for _, id := range ids {
		i, ok := g.NodeByID(id)
		if !ok {
			continue
		}
		for w := range g.In(i, knowledge.RelOverrides) {
			if !seen[w] && g.InForce(w, now) {
				seen[w] = true
				out = append(out, verdict.Finding{Rule: RuleOverride, Level: verdict.Pass, Class: verdict.Clean, Message: g.NameOf(w), Refs: []string{g.ID(w)}})
			}
		}
	}
	return out
}

package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/site"
)

// siteSource is the key of what a site says about itself.
const siteSource = "site"

// Overlay lays what a site's profile names beside a graph without copying it:
// robots, devices, tools, zones, materials, organisms, people, agents, the
// sandbox and the rules become nodes, joined to each other and to what the
// graph knows about them. It can add, never change what is there (C40).
// Identifiers are "site:" and the profile's own, as package link gives them.
func Overlay(g *Graph, s *site.Site) (*Graph, error) {
	if s == nil {
		return g, nil
	}
	o := &overlay{b: NewBuilder(g), g: g, root: "site:" + nonEmpty(s.ID, "this")}
	o.err = o.b.Source(Source{Key: siteSource, Title: "profile of the site " + s.ID, Licence: "the site's"})
	o.node(o.root, "site", nonEmpty(s.Name, s.ID))
	for _, z := range s.Zones {
		o.part("site:"+z.ID, "zone", z.ID)
	}
	for _, r := range s.Robots {
		o.item(r, "site_robot")
	}
	for _, d := range s.Devices {
		o.item(d, "site_device")
	}
	for _, m := range s.Materials {
		o.material(m)
	}
	for _, a := range s.Biological {
		o.organism(a)
	}
	o.people(s)
	for _, t := range s.Tools {
		o.tool(t)
	}
	for _, r := range s.Rules {
		o.rule(r)
	}
	if o.err != nil {
		return nil, fmt.Errorf("laying the site %s beside the graph: %w", s.ID, o.err)
	}
	over, err := o.b.Build()
	if err != nil {
		return nil, fmt.Errorf("laying the site %s beside the graph: %w", s.ID, err)
	}
	return over, nil
}

type overlay struct {
	b     *Builder
	g     *Graph
	root  string
	parts []string // identifiers of the site's things, for its rules
	err   error
}

func nonEmpty(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func (o *overlay) node(id, kind, name string) {
	if o.err == nil {
		id = siteID(id)
		o.err = o.b.Ensure(Node{ID: id, Kind: kind, Name: nonEmpty(cut(name, maxTextLen/2), id), Category: LabContext, Source: siteSource})
	}
}

func (o *overlay) edge(from, rel, to string) {
	from, to = siteID(from), siteID(to)
	if o.err == nil && from != to {
		o.err = o.b.Edge(from, rel, to, siteSource)
	}
}

// same joins a thing of the site to the public node it is an instance of.
func (o *overlay) same(id, public string) {
	if o.err == nil {
		o.err = o.b.Derive(siteID(id), RelSameAs, public, siteSource)
	}
}

// part adds a thing that the site has.
func (o *overlay) part(id, kind, name string) {
	o.node(id, kind, name)
	o.edge(o.root, RelHas, id)
	if !slices.Contains(o.parts, id) {
		o.parts = append(o.parts, id)
	}
}

// siteID makes an identifier of what a profile says, whatever it says.
func siteID(id string) string {
	if id = strings.TrimSpace(cut(id, maxTextLen)); id != "site:" {
		return id
	}
	return "site:unnamed"
}

// cut shortens at a rune boundary.
func cut(s string, n int) string {
	s = CleanText(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

func (o *overlay) item(it site.Item, kind string) {
	id := "site:" + it.ID
	o.part(id, kind, it.ID+" ("+cut(nonEmpty(it.Model, "no model given"), maxModelName)+")")
	for _, public := range o.known(it.Model, KindRobot, KindDevice, "gripper", "pipette", "module", "labware") {
		o.same(id, public)
	}
	if it.Location != "" {
		o.part("site:"+it.Location, "zone", it.Location)
		o.edge(id, RelLocated, "site:"+it.Location)
	}
	for _, z := range it.Serves {
		o.part("site:"+z, "zone", z)
		o.edge(id, RelServes, "site:"+z)
	}
}

// maxModelName is how much of a model's description a node's name carries, in
// bytes.
const maxModelName = 60

// maxNameWords is how many words a name inside a longer text may have.
const maxNameWords = 5

// known finds the public nodes of the given kinds that a text names, the
// longest names first, no word used twice.
func (o *overlay) known(text string, kinds ...string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '(' && r != ')'
	})
	var out []string
	for n := min(maxNameWords, len(words)); n > 0; n-- {
		for i := 0; i+n <= len(words); {
			ids := o.named(strings.Join(words[i:i+n], " "), kinds)
			if len(ids) == 0 {
				i++
				continue
			}
			for _, id := range ids {
				if !slices.Contains(out, id) {
					out = append(out, id)
				}
			}
			words = slices.Delete(words, i, i+n)
		}
	}
	return out
}

func (o *overlay) named(name string, kinds []string) []string {
	if len(name) < 2 || len(FoldName(name)) < 2 {
		return nil
	}
	var out []string
	found := o.g.Lookup(name)
	if len(found) == 0 && len(name) > 4 {
		found = o.g.Lookup(strings.TrimSuffix(name, "s"))
	}
	for _, i := range found {
		if slices.Contains(kinds, o.g.KindOf(i)) && (len(name) > 4 || !o.isWord(i, name)) {
			out = append(out, o.g.ID(i))
		}
	}
	return out
}

// isWord reports that a short name is a formula or code whose case matters and
// does not match.
func (o *overlay) isWord(i int32, name string) bool {
	if o.g.NameOf(i) == name {
		return false
	}
	for _, a := range o.g.Aliases(i) {
		if strings.EqualFold(a.Text, name) && (!a.Exact || a.Text == name) {
			return false
		}
	}
	return true
}

// material adds what one entry lists: "acetone, ethanol", "DMSO, DMF".
func (o *overlay) material(m site.Material) {
	entry := "site:material/" + nameID(m.Name)
	o.part(entry, "material", m.Name)
	if m.Store != "" {
		o.node("site:store/"+nameID(m.Store), "store", m.Store)
		o.edge(entry, RelStored, "site:store/"+nameID(m.Store))
	}
	public := o.known(m.Name, KindChemical, KindLoad, KindBioAgent, KindDevice)
	if m.CAS != "" && o.b.Has("cas:"+m.CAS) && !slices.Contains(public, "cas:"+m.CAS) {
		public = append(public, "cas:"+m.CAS)
	}
	for _, id := range public {
		o.same(entry, id)
	}
	o.listed(entry, m.Name, "material", KindChemical, KindLoad)
	for _, h := range m.Hazards {
		id := "site:hazard/" + nameID(h)
		o.node(id, "declared_hazard", h)
		o.edge(entry, RelHazard, id)
	}
}

// listed adds what one entry lists under the identifiers that package link
// gives to the parts: "clinical waste, sharps bins closed" is two things.
func (o *overlay) listed(entry, names, kind string, kinds ...string) []string {
	var ids []string
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(names, " and ", ","), func(r rune) bool { return r == ',' || r == ';' || r == '/' }) {
		part, _, _ = strings.Cut(part, " (")
		words := strings.Fields(part)
		for len(words) > 1 && strength(words[len(words)-1]) {
			words = words[:len(words)-1]
		}
		id := "site:" + nameID(strings.Join(words, " "))
		if len(id) < len("site:")+3 || id == entry {
			continue
		}
		ids = append(ids, id)
		o.node(id, kind, strings.Join(words, " "))
		o.edge(id, RelPartOf, entry)
		for _, public := range o.known(strings.Join(words, " "), kinds...) {
			o.same(id, public)
		}
	}
	return ids
}

// strength reports words that say how strong or in what form a material is.
func strength(w string) bool {
	return w[0] >= '0' && w[0] <= '9' || slices.Contains([]string{"%", "M", "w/v", "mg/mL", "bar", "solution", "solutions"}, w)
}

func (o *overlay) organism(a site.Agent) {
	entry := "site:" + nameID(a.Name)
	o.part(entry, "site_bioagent", a.Name)
	for _, id := range o.known(a.Name, KindBioAgent) {
		o.same(entry, id)
	}
	parts := o.listed(entry, a.Name, "site_bioagent", KindBioAgent)
	if level := fmt.Sprintf("bsl:%d", a.BSL); o.b.Has(level) {
		for _, id := range append(parts, entry) {
			o.edge(id, "handled_at", level)
		}
	}
}

// people adds who may decide what, and which agents submit plans. Names of
// people stand in nodes, never in statements (C45).
func (o *overlay) people(s *site.Site) {
	may := func(id string, acts []string) {
		for _, act := range acts {
			a := "site:may/" + nameID(act)
			o.node(a, "authority", act)
			o.edge(id, RelMay, a)
		}
	}
	for _, p := range s.People {
		id := "site:" + nameID(p.Name)
		o.part(id, "person", p.Name)
		may(id, p.May)
	}
	for _, a := range s.Agents {
		o.part("site:"+a.ID, "agent", a.ID)
		may("site:"+a.ID, a.May)
	}
	if s.Sandbox.Name != "" {
		o.part("site:"+s.Sandbox.Name, "sandbox", s.Sandbox.Name)
	}
}

func (o *overlay) tool(t site.Tool) {
	id := "site:" + t.Name
	o.part(id, "tool", t.Name)
	for _, v := range o.known(strings.NewReplacer(".", " ", "_", " ").Replace(t.Name), "verb", KindDevice, KindRobot) {
		o.edge(id, RelCapability, v)
	}
	for _, a := range t.Args {
		for _, v := range a.Enum {
			if text, ok := v.(string); ok && o.b.Has("site:"+text) {
				o.edge(id, RelUses, "site:"+text)
			}
		}
	}
}

// rule joins a prose rule to the things of the site that it names.
func (o *overlay) rule(r site.Rule) {
	id := "site:" + r.ID
	o.node(id, "site_rule", "site rule "+r.ID)
	o.edge(o.root, RelHas, id)
	words := strings.FieldsFunc(r.Text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '.' && c != '-'
	})
	for _, w := range words {
		w = strings.Trim(w, ".-")
		if part := "site:" + w; w != "" && slices.Contains(o.parts, part) {
			o.edge(id, RelApplies, part)
		}
	}
	for _, public := range o.known(r.Text, KindChemical, KindDevice, KindLoad, KindBioAgent, KindControl, "physical_hazard", "topic") {
		o.edge(id, RelApplies, public)
	}
}

// nameID makes an identifier of a name as package link does.
func nameID(s string) string { return strings.ReplaceAll(FoldName(s), " ", "-") }

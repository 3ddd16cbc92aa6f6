package derive

import (
	"slices"
	"strings"

	"interlock/internal/knowledge"
)

// codeTraits says which traits of our own table a hazard statement stands for,
// as its wording in the CLP Regulation has it. Statements that are not here
// have no bearing on what may meet, be heated or be handled openly.
var codeTraits = map[string]string{
	"H220": "flammable-gas", "H221": "flammable-gas", "H224": "flammable", "H225": "flammable", "H226": "flammable",
	"H200": "explosive", "H201": "explosive", "H202": "explosive", "H203": "explosive", "H205": "explosive", "H240": "explosive", "H241": "explosive", "EUH044": "explosive",
	"H250": "pyrophoric", "H260": "water-violent", "H261": "water-reactive", "EUH014": "water-reactive", "EUH029": "gas-with-water",
	"H270": "oxidiser", "H271": "oxidiser", "H272": "oxidiser", "EUH019": "peroxide-former",
	"EUH031": "gas-with-acid", "EUH032": "gas-with-acid", "EUH206": "gas-with-acid",
	"H300": "toxic", "H301": "toxic", "H310": "toxic", "H311": "toxic", "H330": "toxic", "H331": "toxic", "EUH070": "toxic",
	"H314": "corrosive", "EUH071": "corrosive", "H334": "sensitiser", "H340": "cmr", "H350": "cmr", "H360": "cmr",
}

// traitsOf returns the traits that a hazard statement stands for.
func traitsOf(node string) []string {
	code, ok := strings.CutPrefix(node, "h:")
	if !ok {
		return nil
	}
	trait, ok := codeTraits[strings.TrimRight(code, "iFDfd")]
	if !ok {
		return nil
	}
	return []string{trait}
}

// material returns what is known of a material: our own row, what the public
// graph says of one that has none, and what the site's approved documents say
// of either. Documents add and tighten, never take away (C40). nil: nothing
// that matters here.
func (d *Deriver) material(id string) *material {
	m := d.world.table.byID[id]
	g := d.world.graph
	if g == nil {
		return m
	}
	if known, ok := d.cache[id]; ok {
		return known
	}
	if i, ok := g.NodeByID(id); ok && (m == nil || i < d.world.public && touched(g, i)) {
		m = d.read(m, i)
	}
	if d.cache != nil {
		d.cache[id] = m
	}
	return m
}

// touched reports whether the site's documents say anything of a public node.
func touched(g *knowledge.Graph, i int32) bool {
	for e := range g.Edges(i) {
		if e.Source == knowledge.SiteDocs {
			return true
		}
	}
	return false
}

// read adds to a row what graph and documents say. row may be nil.
func (d *Deriver) read(row *material, i int32) *material {
	g := d.world.graph
	m := &material{id: g.ID(i), name: g.NameOf(i), ref: "CLP Regulation, Annex VI", ours: row != nil}
	if row != nil {
		*m = *row
		m.ours = true
		m.traits = slices.Clone(row.traits)
	}
	before := len(m.traits)
	for e := range g.Edges(i) {
		if e.Reverse || row != nil && e.Source != knowledge.SiteDocs {
			continue
		}
		switch {
		case e.Rel == knowledge.RelHazard:
			for _, t := range traitsOf(g.ID(e.To)) {
				m.learn(t, g.ID(e.To))
			}
		case e.Rel == knowledge.RelTrait:
			m.learn(strings.Replace(strings.TrimPrefix(g.ID(e.To), "trait:"), "acid-", "acid:", 1), g.ID(e.To))
		}
	}
	if doc, ok := sheetOf(g, i); ok {
		m.ref = strings.TrimPrefix(g.ID(doc), "doc:") + ", approved"
		if row != nil {
			m.ref = row.ref + "; " + m.ref
		}
	}
	if len(m.traits) > before {
		m.traits = slices.DeleteFunc(m.traits, func(t string) bool { return t == "mild" })
	}
	d.temperatures(m, i)
	if row == nil && len(m.traits) == 0 && m.boils == 0 && m.flash == 0 && m.decomposes == 0 && m.ignites == 0 {
		return nil
	}
	return m
}

// learn adds a trait with the node that says so.
func (m *material) learn(trait, node string) {
	if m.has(trait) {
		return
	}
	m.traits = append(m.traits, trait)
	if m.says == nil {
		m.says = map[string]string{}
	}
	m.says[trait] = node
}

// node is what a path names for a trait: the hazard statement that says so, or
// the trait of our own table.
func (m *material) node(trait string) string {
	if n := m.says[trait]; n != "" {
		return n
	}
	return traitNode(trait)
}

// temperatures takes numbers over where the row has none, and those of the
// site's own sheets where they are stricter.
func (d *Deriver) temperatures(m *material, i int32) {
	g := d.world.graph
	take := func(node int32, tighten bool) {
		for _, n := range []struct {
			name string
			at   *float64
		}{{knowledge.NumBoiling, &m.boils}, {knowledge.NumFlashPoint, &m.flash}, {knowledge.NumDecomposition, &m.decomposes}, {knowledge.NumAutoignition, &m.ignites}} {
			if v, ok := g.Number(node, n.name); ok && v > 0 && (*n.at == 0 || tighten && v < *n.at) {
				*n.at = v
			}
		}
	}
	take(i, i >= d.world.public)
	for p := range g.In(i, knowledge.RelSameAs) {
		if p >= d.world.public {
			take(p, true)
		}
	}
}

// sheetOf finds the approved document that speaks of a thing or of the
// substance it is.
func sheetOf(g *knowledge.Graph, i int32) (int32, bool) {
	if doc, ok := first(g, i, knowledge.RelStated); ok {
		return doc, true
	}
	for p := range g.In(i, knowledge.RelSameAs) {
		if doc, ok := first(g, p, knowledge.RelStated); ok {
			return doc, true
		}
	}
	return 0, false
}

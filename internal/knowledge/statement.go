package knowledge

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/verdict"
)

// A facet is one part of a statement: what a node is joined to by a relation.
type facet struct {
	rel     string
	reverse bool
	phrase  string // before the names
	limit   int    // names shown
}

// A template says how nodes of a kind are put into words, and how much such a
// statement weighs against others. The words are ours; only names, codes and
// numbers come from sources.
type template struct {
	weight  float32
	facets  []facet
	numbers bool    // a second statement with the numbers
	deep    bool    // facets may be those of what the node is an instance of
	bare    bool    // said even if no facet has anything
	met     bool    // said only of a node that is a seed: a pair whose two sides are there
	far     float32 // factor on the weight where the node is no seed; 0 means 1
}

const (
	outward = false
	inward  = true
)

// kindTemplates covers the kinds that judges can use. Others (phases, scopes,
// pictograms, vendors) only lead the walk.
var kindTemplates = map[string]template{
	KindChemical: {weight: 1.5, far: 0.2, numbers: true, facets: []facet{
		{RelHazard, outward, "hazards", 8}, {RelGroup, outward, "reactive group", 3}, {RelTrait, outward, "traits", 6}, {RelCarcinogen, outward, "", 2}, {RelUN, outward, "shipped as", 2},
	}},
	"substance_group": {weight: 0.6, facets: []facet{{RelHazard, outward, "hazards", 8}}},
	KindIncompatible:  {weight: 4, bare: true, met: true, facets: []facet{{RelEvolves, outward, "may give off", 6}, {RelReaction, outward, "", 5}}},
	KindCaution:       {weight: 2, bare: true, met: true, facets: []facet{{RelEvolves, outward, "may give off", 6}, {RelReaction, outward, "", 5}}},
	KindHazard:        {weight: 0.8, facets: []facet{{RelClass, outward, "means", 3}}},
	"physical_hazard": {weight: 1.5, facets: []facet{{RelControl, outward, "controlled by", 6}}},
	KindRobot:         {weight: 2, far: 0.1, numbers: true, deep: true, facets: []facet{{"can_cause", outward, "can cause", 6}, {RelIsA, outward, "kind of", 2}}},
	KindDevice:        {weight: 2, far: 0.1, numbers: true, deep: true, facets: []facet{{"can_cause", outward, "can cause", 6}, {RelIsA, outward, "kind of", 2}}},
	KindJoint:         {weight: 0.1, numbers: true},
	KindBioAgent:      {weight: 3, far: 0.1, facets: []facet{{"handled_at", outward, "handled at", 1}, {"can_cause", outward, "can cause", 3}}},
	KindLoad:          {weight: 2, far: 0.1, facets: []facet{{"can_cause", outward, "can cause", 5}, {RelControl, outward, "controlled by", 4}}},
	"labware":         {weight: 1, numbers: true, facets: []facet{{RelIsA, outward, "kind of", 2}, {RelMadeBy, outward, "made by", 1}, {"stacks_on", outward, "stacks on", 3}}},
	"pipette":         {weight: 1, numbers: true, facets: []facet{{"mounts_on", outward, "mounts on", 2}, {RelFits, outward, "takes", 3}}},
	"module":          {weight: 1, facets: []facet{{RelIsA, outward, "kind of", 2}, {"does_not_fit", outward, "does not fit", 3}}},
	"verb":            {weight: 1, facets: []facet{{"can_cause", outward, "can cause", 4}, {RelRelated, outward, "see", 3}}},
	KindCapability:    {weight: 0.3, facets: []facet{{"has_verb", outward, "means", 2}, {"may_raise", outward, "may raise", 3}}},
	"lab_method":      {weight: 0.3, facets: []facet{{RelIsA, outward, "kind of", 2}}},
	"lab_term":        {weight: 0.3, facets: []facet{{RelIsA, outward, "kind of", 2}}},
	KindTechnique:     {weight: 1.2, facets: []facet{{"achieves", outward, "for", 2}, {RelMitigates, inward, "mitigated by", 4}, {RelInvolves, inward, "seen in", 2}}},
	"topic":           {weight: 1.5, facets: []facet{{RelSameAs, outward, "known as", 3}, {RelRelated, outward, "see", 4}}},
	"attack_pattern":  {weight: 0.8, facets: []facet{{"exploits", outward, "exploits", 3}, {"has_impact", outward, "can", 3}}},
	"owasp_risk":      {weight: 1.2, bare: true, facets: []facet{{"maps_to", outward, "see", 4}, {RelRelated, outward, "see", 3}, {RelMitigates, inward, "mitigated by", 3}}},
	"ai_risk":         {weight: 0.6, facets: []facet{{"has_action", outward, "action", 2}, {RelInvolves, inward, "seen in", 2}}},
	KindWeakness:      {weight: 1, facets: []facet{{"has_impact", outward, "can", 3}, {"exploited_by", outward, "exploited by", 2}, {RelMitigates, inward, "mitigated by", 3}}},
	"asset":           {weight: 0.8, facets: []facet{{"targets", inward, "targeted by", 4}}},
	KindIncident:      {weight: 1.2, bare: true, facets: []facet{{RelInvolves, outward, "involved", 4}, {"can_cause", outward, "harm by", 3}, {RelCausedBy, outward, "caused by", 2}, {RelAffects, outward, "affected", 2}}},
	"advisory":        {weight: 0.8, bare: true, facets: []facet{{RelAffects, outward, "affects", 2}, {"reports", outward, "reports", 3}}},
	"vulnerability":   {weight: 0.4, numbers: true, facets: []facet{{RelCausedBy, outward, "caused by", 2}, {"enables", outward, "enables", 2}}},
	"device_error":    {weight: 0.4, facets: []facet{{"error_of", outward, "error of", 2}}},
	"transport_entry": {weight: 0.6, facets: []facet{{"transport_class", outward, "", 1}, {"subsidiary_risk", outward, "also", 2}}},
	"site_robot":      {weight: 2, met: true, numbers: true, deep: true, facets: []facet{{"can_cause", outward, "can cause", 6}, {RelSameAs, outward, "kind of", 2}, {RelServes, outward, "serves", 6}}},
	"site_device":     {weight: 2, met: true, numbers: true, deep: true, facets: []facet{{"can_cause", outward, "can cause", 6}, {RelSameAs, outward, "kind of", 2}, {RelLocated, outward, "stands in", 1}}},
	"site_bioagent":   {weight: 2, met: true, facets: []facet{{"handled_at", outward, "handled at", 1}}},
	"material":        {weight: 1, facets: []facet{{RelHazard, outward, "declared", 6}, {RelStored, outward, "stored in", 1}}},
	"passage":         {weight: 1.5, bare: true}, // of a document that the site approved: its name is the quotation with its place
	"override":        {weight: 4, bare: true},   // of a hazard, by a named person (C40)
	"site_rule":       {weight: 2, facets: []facet{{RelApplies, outward, "concerns", 5}}},
	"zone":            {weight: 0.8, facets: []facet{{RelLocated, inward, "holds", 6}, {RelServes, inward, "served by", 3}}},
	"tool":            {weight: 0.8, far: 0.1, facets: []facet{{RelCapability, outward, "means", 3}, {RelUses, outward, "uses", 4}}},
}

type preparedFacet struct {
	facet
	rel int // index, -1 if the graph has no such relation
}

type preparedTemplate struct {
	template
	facets []preparedFacet
}

func prepareTemplates(t *tables) []*preparedTemplate {
	out := make([]*preparedTemplate, len(t.kinds))
	for i, kind := range t.kinds {
		tmpl, ok := kindTemplates[kind]
		if !ok {
			continue
		}
		p := &preparedTemplate{template: tmpl}
		for _, f := range tmpl.facets {
			p.facets = append(p.facets, preparedFacet{f, slices.Index(t.rels, f.rel)})
		}
		out[i] = p
	}
	return out
}

// Statements puts a node into words: what it is joined to, and its numbers.
func (g *Graph) Statements(i int32) []verdict.Evidence {
	h, k := g.at(i)
	t := g.templates[h.kind[k]]
	if t == nil {
		return nil
	}
	s := sentence{g: g, sources: []string{h.tab.sources[h.src[k]].Key}}
	s.text = append(s.text, g.title(i)...)
	bare := len(s.text)
	for _, f := range t.facets {
		s.facet(i, f, t.deep)
	}
	cat := h.cat[k].String()
	var out []verdict.Evidence
	if len(s.text) > bare || t.bare {
		out = append(out, verdict.Evidence{ID: h.ids[k], Category: cat, Source: strings.Join(s.sources, " "), Statement: string(s.text) + "."})
	}
	if t.numbers {
		if text, sources := g.numbersText(i); text != "" {
			out = append(out, verdict.Evidence{ID: h.ids[k] + "#numbers", Category: cat, Source: strings.Join(sources, " "), Statement: g.NameOf(i) + ": " + text + "."})
		}
	}
	return out
}

// title names a node with the code that people know it by.
func (g *Graph) title(i int32) string {
	name, kind := g.NameOf(i), g.KindOf(i)
	_, own, _ := strings.Cut(g.ID(i), ":")
	switch kind {
	case KindChemical:
		if own != name && Prefix(g.ID(i)) == "cas" {
			return name + " (CAS " + own + ")"
		}
	case KindIncompatible:
		return name + ": must not meet"
	case KindCaution:
		return name + ": may react"
	case KindTechnique, KindWeakness, "attack_pattern", "mitigation", "security_control", "tactic":
		if !strings.Contains(name, own) {
			return own + " " + name
		}
	}
	return name
}

type sentence struct {
	g       *Graph
	text    []byte
	sources []string
	some    bool
}

// facet adds "; phrase name, name, and n more". A deep facet also has what the
// classes of the node are joined to.
func (s *sentence) facet(i int32, f preparedFacet, deep bool) {
	if f.rel < 0 {
		return
	}
	found := s.g.joined(nil, i, f)
	if deep && f.facet.rel != RelIsA && f.facet.rel != RelSameAs {
		for _, class := range s.g.classes(i) {
			found = s.g.joined(found, class, f)
		}
	}
	for n, x := range found[:min(len(found), f.limit)] {
		switch {
		case n > 0:
			s.text = append(s.text, ", "...)
		case s.some:
			s.text = append(s.text, "; "...)
		default:
			s.text = append(s.text, ": "...)
		}
		if n == 0 && f.phrase != "" {
			s.text = append(append(s.text, f.phrase...), ' ')
		}
		s.some = true
		s.name(x, f)
	}
	if n := len(found) - f.limit; n > 0 {
		s.text = append(s.text, " and "+strconv.Itoa(n)+" more"...)
	}
}

func (s *sentence) name(x half, f preparedFacet) {
	s.text = append(s.text, s.g.brief(x.to)...)
	if x.src&derivedBit != 0 && f.facet.rel == RelGroup {
		s.text = append(s.text, " (by its name)"...)
	}
	if key := s.g.tab.sources[x.src&^derivedBit].Key; !slices.Contains(s.sources, key) {
		s.sources = append(s.sources, key)
	}
}

// joined adds the ends of a node's edges of one relation that are not there
// yet.
func (g *Graph) joined(found []half, i int32, f preparedFacet) []half {
	before := found // the edges of one node are different already
	_ = g.walk(i, func(x half, reverse bool) bool {
		if int(x.rel) == f.rel && reverse == f.reverse && !slices.ContainsFunc(before, func(y half) bool { return y.to == x.to }) {
			found = append(found, x)
		}
		return true
	})
	return found
}

// brief names a node inside another's statement.
func (g *Graph) brief(i int32) string {
	switch g.KindOf(i) {
	case KindTechnique, KindWeakness, "attack_pattern", "security_control", "mitigation":
		return g.title(i)
	case "trait":
		return strings.TrimPrefix(g.NameOf(i), "trait ")
	case "verb":
		return strings.TrimPrefix(g.NameOf(i), "to ")
	}
	return g.NameOf(i)
}

// classes are what a node is an instance of, two steps up.
func (g *Graph) classes(i int32) []int32 {
	var found []int32
	for depth, level := 0, []int32{i}; depth < 3 && len(level) > 0; depth++ {
		var next []int32
		for _, x := range level {
			for _, rel := range []string{RelSameAs, RelIsA} {
				for to := range g.Out(x, rel) {
					if !slices.Contains(found, to) {
						found, next = append(found, to), append(next, to)
					}
				}
			}
		}
		level = next
	}
	return found
}

// numberWords says how a numeric attribute is read to people: words before it,
// unit shown, factor and offset from SI.
var numberWords = map[string]struct {
	before, unit   string
	factor, offset float64
}{
	NumFlashPoint: {"flash point", "°C", 1, -273.15}, NumAutoignition: {"autoignition", "°C", 1, -273.15}, NumBoiling: {"boils at", "°C", 1, -273.15},
	NumMelting: {"melts at", "°C", 1, -273.15}, NumDecomposition: {"decomposes at", "°C", 1, -273.15},
	NumLowerExplosive: {"explosive from", "% in air", 100, 0}, NumUpperExplosive: {"explosive up to", "% in air", 100, 0},
	NumTWA: {"exposure limit (8 h)", "ppm", 1, 0}, NumSTEL: {"exposure limit (15 min)", "ppm", 1, 0}, NumCeiling: {"never above", "ppm", 1, 0},
	NumTWAMass: {"exposure limit (8 h)", "mg/m3", 1, 0}, NumSTELMass: {"exposure limit (15 min)", "mg/m3", 1, 0}, NumCeilingMass: {"never above", "mg/m3", 1, 0},
	NumPayload: {"payload", "kg", 1, 0}, NumReach: {"reach", "mm", 1000, 0}, NumVolume: {"holds", "µL", 1e9, 0}, NumVolumeMin: {"from", "µL", 1e9, 0},
	NumWells: {"wells", "", 1, 0}, "grip_force": {"grip force", "N", 1, 0}, NumCVSS: {"CVSS", "", 1, 0}, NumBiosafety: {"biosafety level", "", 1, 0},
	NumLower: {"lower limit", "rad or m", 1, 0}, NumUpper: {"upper limit", "rad or m", 1, 0}, NumVelocity: {"velocity up to", "rad/s or m/s", 1, 0}, NumEffort: {"effort up to", "N m or N", 1, 0},
}

func (g *Graph) numbersText(i int32) (string, []string) {
	var text []byte
	var sources []string
	last := ""
	for n := range g.Numbers(i) {
		w, ok := numberWords[n.Name]
		if !ok || n.Name == last { // of several sources the first is shown; show lists all
			continue
		}
		last = n.Name
		if !slices.Contains(sources, n.Source) {
			sources = append(sources, n.Source)
		}
		if len(text) > 0 {
			text = append(text, ", "...)
		}
		text = append(append(text, w.before...), ' ')
		text = strconv.AppendFloat(text, significant(n.Value*w.factor+w.offset), 'f', -1, 64)
		if w.unit != "" {
			text = append(append(text, ' '), w.unit...)
		}
	}
	return string(text), sources
}

// significant rounds to four digits.
func significant(v float64) float64 {
	if v == 0 {
		return 0
	}
	p := math.Pow(10, 4-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*p) / p
}

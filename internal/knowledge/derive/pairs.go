package derive

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/verdict"
)

// Rules of this package, stable for records and rules that cite them.
const (
	RuleIncompatible = "FACT-INCOMPAT" // two materials that must not meet
	RuleGroups       = "FACT-GROUPS"   // their reactive groups may react
	RuleStated       = "FACT-STATED"   // the site's own document says so
	RuleWaterAcid    = "FACT-WATER-ACID"
	RuleCryoSealed   = "FACT-CRYO-SEALED"
	RuleSealedHeat   = "FACT-SEALED-HEAT"
	RuleBoiling      = "FACT-BOILING"
	RuleDecompose    = "FACT-DECOMPOSE"
	RuleFlash        = "FACT-FLASH"
	RuleIgnites      = "FACT-AUTOIGNITION"
	RuleExplosive    = "FACT-EXPLOSIVE-HEAT"
	RuleHood         = "FACT-HOOD"
	RuleBiosafety    = "FACT-BIOSAFETY"
	RuleCrowded      = "FACT-CROWDED" // more in one vessel than was compared
)

// maxMaterials bounds how many materials one vessel may take: nothing that a
// laboratory does comes near it.
const maxMaterials = 60

// incompatible holds every two materials of one vessel against each other.
func (d *Deriver) incompatible(s *fact.Set, v *vesselSet) {
	for _, x := range v.all {
		if n := x.distinct(); n > maxMaterials {
			last := x.doses[len(x.doses)-1]
			d.hard(s, fact.Hard{
				Rule: RuleCrowded, Level: verdict.Block, Class: verdict.Safety, At: last.at,
				Statement: fmt.Sprintf("%d materials go into the %s: more than %d are not held against each other", n, x.name, maxMaterials),
				Path:      []string{x.doses[0].id, last.id}, Need: "split the plan, and name the vessels apart",
			})
			continue
		}
		d.meetings(s, x)
	}
	d.waterIntoAcid(s)
}

// meetings holds each two doses of a vessel against each other, once for each
// way in which the same two can meet.
func (d *Deriver) meetings(s *fact.Set, x *vessel) {
	type way struct {
		a, b         string
		dilute, sure bool
	}
	seen := map[way]bool{}
	for i, a := range x.doses {
		for _, b := range x.doses[i+1:] {
			w := way{a.id, b.id, a.dilute || b.dilute, sure(x, a, b)}
			if a.id != b.id && !seen[w] && !(a.stream && b.stream) {
				seen[w] = true
				d.meet(s, x, a, b)
			}
		}
	}
}

// distinct counts the materials of a vessel.
func (x *vessel) distinct() int {
	ids := map[string]bool{}
	for _, d := range x.doses {
		ids[d.id] = true
	}
	return len(ids)
}

func (d *Deriver) meet(s *fact.Set, x *vessel, a, b dose) {
	where := "in the " + x.name
	if x.beside {
		where = "beside each other on the " + x.name
	}
	if a.mat != nil && b.mat != nil {
		found := d.world.table.clashes(a.mat, b.mat, a.dilute || b.dilute)
		for _, m := range found {
			if m.level == verdict.Block && !sure(x, a, b) {
				m.level = verdict.Flag
			}
			if m.level == verdict.Pass || d.hard(s, incompatibility(m.pair, m.level, a, b, where)) {
				return
			}
		}
		if len(found) > 0 {
			return // lifted by name
		}
	}
	d.meetByGroup(s, x, a, b, where)
}

// sure reports that two doses are certainly in one vessel together: put there
// in one sentence, or into a vessel with a name of its own.
func sure(x *vessel, a, b dose) bool {
	return a.certain && b.certain && !x.beside && (a.sent == b.sent || x.labeled)
}

func incompatibility(p pair, level verdict.Level, a, b dose, where string) fact.Hard {
	gas := ""
	if p.gas != "" && !strings.Contains(p.what, p.gas) {
		gas = " (" + p.gas + ")"
	}
	ta, tb := p.a, p.b
	if !a.mat.has(ta) || !b.mat.has(tb) {
		ta, tb = tb, ta
	}
	return fact.Hard{
		Rule: RuleIncompatible, Level: level, Class: verdict.Safety, At: b.at,
		Statement: fmt.Sprintf("%s and %s %s: %s%s [%s]", a.name, b.name, where, p.what, gas, p.ref),
		Path:      []string{a.id, a.mat.node(ta), pairNode(p), b.mat.node(tb), b.id},
		Need:      fmt.Sprintf("keep %s away from %s, in vessels, lines, trays and waste", a.name, b.name),
	}
}

// traitNode and pairNode name the nodes under which the graph holds our tables.
func traitNode(t string) string { return "trait:" + strings.ReplaceAll(t, ":", "-") }

func pairNode(p pair) string {
	return "pair:" + strings.ReplaceAll(p.a, ":", "-") + "+" + strings.ReplaceAll(p.b, ":", "-")
}

// meetByGroup asks the graph whether reactive groups of the two may react. The
// groups are coarse: this never blocks.
func (d *Deriver) meetByGroup(s *fact.Set, x *vessel, a, b dose, where string) {
	g := d.world.graph
	if g == nil || a.dilute || b.dilute || mild(a.mat) || mild(b.mat) {
		return
	}
	ia, oka := g.NodeByID(a.id)
	ib, okb := g.NodeByID(b.id)
	if !oka || !okb {
		return
	}
	for ga := range g.Out(ia, knowledge.RelGroup) {
		for gb := range g.Out(ib, knowledge.RelGroup) {
			if ga == gb {
				continue
			}
			p, ok := incompatiblePair(g, ga, gb)
			if !ok {
				continue
			}
			h := fact.Hard{
				Rule: RuleGroups, Level: verdict.Flag, Class: verdict.Safety, At: b.at,
				Statement: fmt.Sprintf("%s and %s %s: %s may react with %s%s", a.name, b.name, where, g.NameOf(ga), g.NameOf(gb), gases(g, p)),
				Path:      []string{a.id, g.ID(ga), g.ID(p), g.ID(gb), b.id},
				Need:      fmt.Sprintf("say why %s and %s may be combined, or keep them apart", a.name, b.name),
			}
			if doc, ok := first(g, p, knowledge.RelStated); ok {
				h = d.stated(h, doc, ga, gb, sure(x, a, b))
			}
			if d.hard(s, h) {
				return
			}
		}
	}
}

// stated makes a hard fact of what an approved document says must be kept
// apart. A substance that it names is certain, a class of substances is not.
func (d *Deriver) stated(h fact.Hard, doc, ga, gb int32, certain bool) fact.Hard {
	g := d.world.graph
	_, name, _ := strings.Cut(g.ID(doc), ":")
	h.Rule = RuleStated
	h.Statement += " [" + name + ", approved]"
	h.Path = append(h.Path, g.ID(doc))
	byName := func(group int32) bool { return strings.HasPrefix(g.ID(group), "group:"+name) }
	if certain && byName(ga) && byName(gb) {
		h.Level = verdict.Block
	}
	return h
}

func mild(m *material) bool { return m != nil && (m.has("mild") || m.has("water")) }

// incompatiblePair finds the node that says two groups must not meet.
func incompatiblePair(g *knowledge.Graph, a, b int32) (int32, bool) {
	for p := range g.In(a, knowledge.RelPair) {
		if g.KindOf(p) != knowledge.KindIncompatible {
			continue
		}
		for other := range g.Out(p, knowledge.RelPair) {
			if other == b {
				return p, true
			}
		}
	}
	return 0, false
}

func gases(g *knowledge.Graph, p int32) string {
	var names []string
	for gas := range g.Out(p, knowledge.RelEvolves) {
		names = append(names, g.NameOf(gas))
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return " (possible gases: " + strings.Join(names[:min(len(names), 5)], ", ") + ")"
}

// waterIntoAcid finds water run into concentrated acid; the other way round is
// how it is done.
func (d *Deriver) waterIntoAcid(s *fact.Set) {
	strong := d.concentratedAcid(s)
	for i := range s.Texts {
		t := &s.Texts[i]
		if t.Part != "" {
			continue
		}
		for _, words := range sentences(t) {
			at, ok := d.pouredIntoAcid(s, words)
			if !ok || !acting(words) {
				continue
			}
			level := verdict.Flag
			if strong && !spoken(words) && !apart(words) {
				level = verdict.Block
			}
			d.hard(s, fact.Hard{
				Rule: RuleWaterAcid, Level: level, Class: verdict.Safety, At: t.At(at),
				Statement: "water is run into acid: the heat throws acid out; acid goes into water [NIOSH Pocket Guide, sulfuric acid]",
				Path:      []string{"cas:7732-18-5", "hazard:thermal-runaway", "trait:acid-strong"}, Need: "run the acid into the water, slowly, stirred and cooled",
			})
		}
	}
}

// concentratedAcid reports whether the plan names a strong acid undiluted.
func (d *Deriver) concentratedAcid(s *fact.Set) bool {
	for i := range s.Texts {
		t := &s.Texts[i]
		for k, w := range t.Words {
			if w.Entity == 0 {
				continue
			}
			e := s.Entities[w.Entity-1]
			if m := d.material(e.ID); m != nil && m.has("acid:strong") && !d.isDilute(s, t, e, m, t.Words, k) {
				return true
			}
		}
	}
	return false
}

// pouredIntoAcid finds "water … into … acid" in a sentence.
func (d *Deriver) pouredIntoAcid(s *fact.Set, words []fact.Token) (fact.Token, bool) {
	for i, w := range words {
		if w.Entity == 0 || w.Negated || s.Entities[w.Entity-1].ID != "cas:7732-18-5" {
			continue
		}
		for k := i + 1; k < len(words) && k <= i+8; k++ {
			if l := words[k].Lemma; l != "into" && l != "to" && l != "onto" {
				continue
			}
			for j := k + 1; j < len(words) && j <= k+5; j++ {
				if words[j].Lemma == "acid" || d.isAcid(s, words[j]) {
					return words[j], true
				}
				if l := words[j].Lemma; l == "water" || l == "flask" {
					break
				}
			}
		}
	}
	return fact.Token{}, false
}

func (d *Deriver) isAcid(s *fact.Set, w fact.Token) bool {
	if w.Entity == 0 {
		return false
	}
	m := d.material(s.Entities[w.Entity-1].ID)
	return m != nil && m.has("acid:strong")
}

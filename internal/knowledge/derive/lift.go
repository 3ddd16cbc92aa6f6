package derive

import (
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/verdict"
)

// RuleLifted is a hard fact that a named person's signed override takes back.
// It stays in the decision as a note, with who lifted what and why (C40).
const RuleLifted = "FACT-LIFTED"

// neverLifted are facts about people and attacks: an override of a hazard is
// no word on who may approve.
var neverLifted = []string{RuleAuthority, RuleAgentSays, RuleDuty, RuleTechnique, RuleNamed, RuleCrowded}

// hard adds a fact once: one rule, statement and step. It reports false where
// a signed override lifts the hazard that the fact rests on; another reason
// for the same worry is then the caller's to look for.
func (d *Deriver) hard(s *fact.Set, h fact.Hard) bool {
	for _, x := range s.Hard {
		if x.Rule == h.Rule && x.Statement == h.Statement && x.At.Step == h.At.Step {
			return true
		}
	}
	if w, ok := d.lifted(h); ok {
		h = fact.Hard{
			Rule: RuleLifted, Level: verdict.Pass, Class: verdict.Clean, At: h.At,
			Statement: h.Rule + " does not count: " + d.world.graph.NameOf(w) + " (" + h.Statement + ")",
			Path:      append(slices.Clone(h.Path), d.world.graph.ID(w)),
		}
		if !slices.ContainsFunc(s.Hard, func(x fact.Hard) bool {
			return x.Rule == RuleLifted && x.Statement == h.Statement && x.At.Step == h.At.Step
		}) {
			s.Hard = append(s.Hard, h)
		}
		return false
	}
	s.Hard = append(s.Hard, h)
	return true
}

// lifted finds an override whose subject and whose hazard are both on the path
// of a fact: nothing less lifts it.
func (d *Deriver) lifted(h fact.Hard) (int32, bool) {
	g := d.world.graph
	if g == nil || slices.Contains(neverLifted, h.Rule) {
		return 0, false
	}
	for _, id := range h.Path {
		i, ok := g.NodeByID(id)
		if !ok || !overridden(g, i) {
			continue
		}
		for _, other := range h.Path {
			if o, ok := g.NodeByID(other); ok {
				if w, ok := d.liftedFor(i, o); ok {
					return w, true
				}
			}
		}
	}
	return 0, false
}

func overridden(g *knowledge.Graph, i int32) bool {
	for range g.In(i, knowledge.RelOverrides) {
		return true
	}
	return false
}

// liftedFor finds the override of one hazard of a subject. A trait of our own
// table stands for hazard statements: it is lifted where every one of them
// that the subject has is.
func (d *Deriver) liftedFor(subject, hazard int32) (int32, bool) {
	g := d.world.graph
	if w, ok := g.Lifted(subject, hazard, d.now); ok {
		return w, true
	}
	trait, ok := strings.CutPrefix(g.ID(hazard), "trait:")
	if !ok {
		return 0, false
	}
	by, any := int32(0), false
	for h := range g.Out(subject, knowledge.RelHazard) {
		if !slices.Contains(traitsOf(g.ID(h)), trait) {
			continue
		}
		w, ok := g.Lifted(subject, h, d.now)
		if !ok {
			return 0, false
		}
		by, any = w, true
	}
	return by, any
}

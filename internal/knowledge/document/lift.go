package document

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/knowledge"
)

// hazardsOf are the relations from a thing to what is dangerous about it.
var hazardsOf = []string{
	knowledge.RelHazard, knowledge.RelTrait, knowledge.RelGroup, knowledge.RelClass, knowledge.RelSameAs, knowledge.RelIsA, "can_cause", "handled_at",
}

// liftableKinds are what an override may name.
var liftableKinds = []string{
	knowledge.KindHazard, knowledge.KindGroup, knowledge.KindIncompatible, "trait", "physical_hazard", "biosafety_level",
}

// maxLift is how many relations may lie between a thing and its hazard:
// robot, model, class, what the class can cause.
const maxLift = 4

// Liftable checks that there is something to lift: a hazard statement, trait,
// reactive group or physical hazard of the thing, or a pair that one of them
// belongs to. People and authority are no hazards.
func Liftable(g *knowledge.Graph, subject, hazard string) error {
	i, ok := g.NodeByID(subject)
	if !ok {
		return fmt.Errorf("the graph has no node %q", subject)
	}
	h, ok := g.NodeByID(hazard)
	if !ok {
		return fmt.Errorf("the graph has no node %q", hazard)
	}
	if !slices.Contains(liftableKinds, g.KindOf(h)) {
		return fmt.Errorf("%s (%s) is a %s: expected a hazard statement, trait, reactive group, pair or physical hazard, as h:H225, trait:volatile or pair:azide+acid",
			hazard, g.NameOf(h), strings.ReplaceAll(g.KindOf(h), "_", " "))
	}
	level := []int32{i}
	seen := map[int32]bool{i: true}
	for range maxLift {
		var next []int32
		add := func(to int32) {
			if !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
		for _, n := range level {
			for _, rel := range hazardsOf {
				for to := range g.Out(n, rel) {
					add(to)
				}
			}
			for pair := range g.In(n, knowledge.RelPair) {
				add(pair)
			}
		}
		if seen[h] {
			return nil
		}
		level = next
	}
	return fmt.Errorf("%s (%s) has no hazard %q to lift", subject, g.NameOf(i), hazard)
}

package derive

import (
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
)

// leads are the relations from what a step uses to what it can do to people
// and things.
var leads = []string{
	knowledge.RelCapability, knowledge.RelSameAs, knowledge.RelIsA, knowledge.RelTrait, knowledge.RelHazard, knowledge.RelClass, "can_cause", "handled_at",
}

// maxWay is how many relations a path may have: tool, device, model, class,
// hazard.
const maxWay = 5

// wayTo finds the shortest path from a thing that the step uses to a hazard:
// the tools it calls, the devices, robots and materials it names, the machine
// its words name, what its acts are.
func (d *Deriver) wayTo(s *fact.Set, step *deed, sit *situation, does found) []string {
	var starts []string
	add := func(id string) {
		if id != "" && !slices.Contains(starts, id) {
			starts = append(starts, id)
		}
	}
	for _, c := range step.calls {
		for _, k := range sortedArgs(c) {
			if v, ok := c.Args[k].(string); ok && d.site.Item(v) != nil {
				add("site:" + v)
			}
		}
		add("site:" + c.Tool)
	}
	add(does.entity)
	for _, e := range s.Entities {
		if e.At.Step == step.step {
			add(e.ID)
		}
	}
	g := d.graph()
	if g == nil {
		return nil
	}
	var ids []int32
	for _, id := range starts {
		if i, ok := g.NodeByID(id); ok {
			ids = append(ids, i)
		}
	}
	if does.tag != "" {
		ids = append(ids, g.Concept(does.tag)...)
	}
	for _, st := range step.texts {
		for _, w := range st.words {
			if w.Entity > 0 {
				continue
			}
			for _, i := range g.Lookup(w.Lemma) {
				if k := g.KindOf(i); k == knowledge.KindDevice || k == knowledge.KindRobot || k == "verb" || k == "physical_hazard" {
					ids = append(ids, i)
				}
			}
		}
	}
	return shortest(g, ids, sit.hazard)
}

// shortest searches breadth first; of equal paths the one that starts and goes
// first in order.
func shortest(g *knowledge.Graph, starts []int32, goal string) []string {
	to, ok := g.NodeByID(goal)
	if !ok {
		return nil
	}
	from := map[int32]int32{}
	var level []int32
	for _, i := range starts {
		if _, seen := from[i]; !seen {
			from[i] = i
			level = append(level, i)
		}
	}
	for range maxWay + 1 {
		var next []int32
		for _, i := range level {
			if i == to {
				return trail(g, from, i)
			}
			for _, rel := range leads {
				for n := range g.Out(i, rel) {
					if _, seen := from[n]; !seen {
						from[n] = i
						next = append(next, n)
					}
				}
			}
		}
		level = next
	}
	return nil
}

func trail(g *knowledge.Graph, from map[int32]int32, i int32) []string {
	path := []string{g.ID(i)}
	for from[i] != i {
		i = from[i]
		path = append(path, g.ID(i))
	}
	slices.Reverse(path)
	return path
}

// toolDoes reports that one of the words in a tool's name is a verb.
func (d *Deriver) toolDoes(tool string, verbs []string) bool {
	g := d.graph()
	if g == nil || len(verbs) == 0 {
		return false
	}
	i, ok := g.NodeByID("site:" + strings.TrimSpace(tool))
	if !ok {
		return false
	}
	for v := range g.Out(i, knowledge.RelCapability) {
		if slices.Contains(verbs, g.ID(v)) {
			return true
		}
	}
	return false
}

func sortedArgs(c fact.Call) []string { return sortedKeys(c.Args) }

// graph is the graph with the site laid beside it.
func (d *Deriver) graph() *knowledge.Graph {
	if d.view != nil {
		return d.view
	}
	return d.world.graph
}

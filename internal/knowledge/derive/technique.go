package derive

import (
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/verdict"
)

// Rules about attacks.
const (
	RuleTechnique = "FACT-TECHNIQUE" // what a finding of the checks is an instance of
	RuleNamed     = "FACT-NAMED"     // the plan names a vulnerability or technique
)

// maxTechniques bounds how many references of findings become facts: a plan
// that trips every pattern needs no longer list.
const maxTechniques = 12

// Found adds what the findings of the checks are instances of: the technique
// or weakness that a finding refers to, with the way from there to what
// mitigates it. These are notes: the finding has its own level.
func (d *Deriver) Found(s *fact.Set, found []verdict.Finding) {
	g := d.world.graph
	if g == nil {
		return
	}
	var seen []int32
	for _, f := range found {
		for _, ref := range f.Refs {
			i, ok := refNode(g, ref)
			if !ok || slices.Contains(seen, i) || len(seen) == maxTechniques {
				continue
			}
			seen = append(seen, i)
			path, against := against(g, i)
			statement := f.Rule + " found a pattern of " + named(g, i)
			if against != "" {
				statement += ", mitigated by " + against
			}
			d.hard(s, fact.Hard{
				Rule: RuleTechnique, Level: verdict.Pass, Class: verdict.Clean, At: f.Span, Statement: statement, Path: path,
			})
		}
	}
}

// refNode finds what an outside identifier of a finding names: "CWE-78",
// "AML.T0051.000", "LLM01".
func refNode(g *knowledge.Graph, ref string) (int32, bool) {
	for _, prefix := range []string{"atlas:", "cwe:", "attack:", "owasp:"} {
		if i, ok := g.NodeByID(prefix + ref); ok {
			return i, true
		}
	}
	return 0, false
}

// named is a node's identifier and name, "CWE-78 Improper …".
func named(g *knowledge.Graph, i int32) string {
	_, id, _ := strings.Cut(g.ID(i), ":")
	if name := g.NameOf(i); !strings.HasPrefix(name, id) {
		return id + " " + name
	}
	return g.NameOf(i)
}

// against follows a technique, or what it is a kind of, to what mitigates it.
func against(g *knowledge.Graph, i int32) (path []string, name string) {
	path = []string{g.ID(i)}
	for range maxRise {
		best := int32(-1)
		for m := range g.In(i, knowledge.RelMitigates) {
			if best < 0 || g.ID(m) < g.ID(best) {
				best = m
			}
		}
		if best >= 0 {
			return append(path, g.ID(best)), named(g, best)
		}
		up, ok := first(g, i, knowledge.RelIsA)
		if !ok {
			break
		}
		i = up
		path = append(path, g.ID(i))
	}
	return path, ""
}

// maxRise is how many kinds are climbed to find something that mitigates.
const maxRise = 4

// first returns the node with the least identifier along a relation, so that
// the same graph always gives the same path.
func first(g *knowledge.Graph, i int32, rel string) (int32, bool) {
	best, ok := int32(-1), false
	for to := range g.Out(i, rel) {
		if !ok || g.ID(to) < g.ID(best) {
			best, ok = to, true
		}
	}
	return best, ok
}

// attacks flags vulnerabilities and techniques of artificial intelligence that
// the plan itself names: nobody does laboratory work with them. The short
// numbers of other registers could be labels of the plan's own.
func (d *Deriver) attacks(s *fact.Set) {
	for _, e := range s.Entities {
		if e.Kind != "vulnerability" && !strings.HasPrefix(e.ID, "atlas:AML.T") || !d.known(e.ID) {
			continue
		}
		path := []string{e.ID}
		if i, ok := d.world.graph.NodeByID(e.ID); ok {
			if weakness, ok := first(d.world.graph, i, knowledge.RelCausedBy); ok {
				path = append(path, d.world.graph.ID(weakness))
			} else {
				path, _ = against(d.world.graph, i)
			}
		}
		d.hard(s, fact.Hard{
			Rule: RuleNamed, Level: verdict.Flag, Class: verdict.Adversarial, At: e.At,
			Statement: "the plan names " + e.Text + " (" + e.Name + ")", Path: path, Need: "say what it is for, or leave it out",
		})
	}
}

// known reports whether the graph holds a node.
func (d *Deriver) known(id string) bool {
	if d.world.graph == nil {
		return false
	}
	_, ok := d.world.graph.NodeByID(id)
	return ok
}

// Package derive turns a plan into typed facts: what it names, how much of it,
// what ends up in which vessel, what it claims, and what follows from the
// graph with certainty. Everything is deterministic and carries its proof.
//
// A hard fact blocks only where the plan leaves no doubt: two things that must
// not meet put into one vessel, undiluted, not denied and not quoted. All
// other hazards are flags for the judges.
package derive

import (
	"fmt"
	"time"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/knowledge/link"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// A World is what holds at every site. It is immutable; build it once.
type World struct {
	graph  *knowledge.Graph // nil: our own table only
	public int32            // nodes from this number on are the site's documents
	table  *table
	names  []link.Name
	linker *link.Linker

	situations []situation
}

// NewWorld reads our own tables and the names of the graph. The graph may be
// nil.
func NewWorld(g *knowledge.Graph) (*World, error) {
	t, err := loadTable(materialsTable, pairsTable)
	if err != nil {
		return nil, fmt.Errorf("reading the table of materials: %w", err)
	}
	w := &World{graph: g, table: t, names: t.names()}
	if w.situations, err = loadSituations(situationsTable); err != nil {
		return nil, fmt.Errorf("reading the table of situations: %w", err)
	}
	if g != nil {
		w.public = publicNodes(g)
		w.names = append(w.names, link.GraphNames(g)...)
	}
	if w.linker, err = link.New(w.names, nil); err != nil {
		return nil, fmt.Errorf("building the linker: %w", err)
	}
	if g != nil {
		w.linker = w.linker.Identifying(link.GraphIDs(g))
	}
	return w, nil
}

// publicNodes counts the nodes of the graph that nothing was laid beside.
func publicNodes(g *knowledge.Graph) int32 {
	for g.Base() != nil {
		g = g.Base()
	}
	return int32(g.Len())
}

// For prepares the derivation for one site.
func (w *World) For(s *site.Site) *Deriver {
	d := &Deriver{world: w, site: s, linker: w.linker.ForSite(link.SiteNames(s, w.names)), streams: streamsOf(s)}
	if w.graph != nil {
		// A profile that cannot be laid beside the graph stops the start where
		// that is done for the judges; here paths then begin at public nodes.
		if view, err := knowledge.Overlay(w.graph, s); err == nil {
			d.view = view
		}
	}
	return d
}

// A Deriver derives the facts of plans of one site. It is immutable and safe
// for concurrent use.
type Deriver struct {
	world   *World
	site    *site.Site
	view    *knowledge.Graph // the world's graph with the site beside it; nil: none
	linker  *link.Linker
	streams map[string][]string // label of a vessel for waste -> traits of what goes into it

	// Of the plan in hand only: Facts works on a copy.
	now   time.Time
	cache map[string]*material
}

// Linker returns the linker of the site.
func (d *Deriver) Linker() *link.Linker { return d.linker }

// Facts derives everything known about the plan. now is our receive time.
func (d *Deriver) Facts(p *plan.Plan, state site.State, now time.Time) *fact.Set {
	d = &Deriver{world: d.world, site: d.site, view: d.view, linker: d.linker, streams: d.streams, now: now, cache: map[string]*material{}}
	s := &fact.Set{Submitter: d.submitter(p)}
	d.calls(s, p)
	d.texts(s, p)
	d.quantities(s, p)
	s.Claims = claims(s, state, now)
	v := d.vessels(s)
	s.Vessels = v.vessels()
	d.incompatible(s, v)
	d.sealed(s)
	d.heat(s)
	d.controls(s)
	d.biosafety(s)
	d.situations(s)
	d.authority(s)
	d.attacks(s)
	s.Unlinked = unlinked(s)
	return s
}

// Findings returns the hard facts as findings of one check.
func Findings(s *fact.Set) []verdict.Finding {
	var out []verdict.Finding
	for _, h := range s.Hard {
		out = append(out, verdict.Finding{
			Rule: h.Rule, Level: h.Level, Class: h.Class, Span: h.At, Message: h.Statement, Need: h.Need, Refs: h.Path,
		})
	}
	return out
}

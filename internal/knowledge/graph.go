// Package knowledge holds the graph K: what is publicly known about
// substances, machines, weaknesses, attacks and earlier failures, as typed
// nodes and edges with their sources, and beside it what one site says about
// itself. Judges are given statements from it that they can cite; the typed
// facts of a plan are derived from its paths.
//
// A Graph is immutable and safe for concurrent use. Building it from sources
// is the business of package ingest; finding names in a text that of package
// link.
package knowledge

import (
	"iter"
	"slices"
	"strings"
	"sync"
)

// A Category is one of the five kinds of knowledge of the paper.
type Category uint8

// The categories.
const (
	LabContext   Category = iota // devices, labware, interfaces, methods, the site itself
	Weakness                     // CWE and the controls against it
	Adversary                    // ATLAS, ATT&CK, CAPEC and the like
	Safety                       // hardware limits and laboratory safety
	PriorFailure                 // incidents and rejected plans
	categories   = iota
)

var categoryNames = [categories]string{"lab-context", "weakness", "adversary", "safety", "prior-failure"}

func (c Category) String() string {
	if c >= categories {
		return "unknown"
	}
	return categoryNames[c]
}

// Categories returns the five categories in their order.
func Categories() []Category {
	return []Category{LabContext, Weakness, Adversary, Safety, PriorFailure}
}

// A Source is where facts come from. Facts of the project itself have the key
// "own", those of a site the key "site".
type Source struct {
	Key     string // e.g. "cwe"
	Title   string // for people
	Licence string // as the source states it
	Version string // commit and date of what was read, "" if there is none
}

// A Node is one thing the graph knows.
type Node struct {
	ID       string // prefix and the source's own id, e.g. "cwe:CWE-79", "cas:26628-22-8", "site:hp1"
	Kind     string // e.g. "chemical", "hazard", "weakness", "technique", "robot"
	Name     string
	Category Category
	Source   string // key of a Source
}

// An Edge is one relation of a node, seen from that node.
type Edge struct {
	Rel     string // one of the Rel constants, or a source's own
	To      int32  // the node at the other end
	Source  string // key of the Source that states it
	Derived bool   // concluded by us from what the source says
	Reverse bool   // the other node is the subject: To -Rel-> this
}

// A Number is a numeric attribute of a node.
type Number struct {
	Name  string // see the Num constants
	Unit  string // SI symbol: K, Pa, m, m/s, N, kg, rad, rad/s …
	Value float64
	// Source is the key of the Source that states it.
	Source string
}

// A Name is one way to call a node.
type Name struct {
	Text  string
	Node  int32
	Exact bool // only in this very case: formulae and codes ("HCl", "H330")
}

// half is one end of an edge as stored.
type half struct {
	to  int32
	rel uint8 // index into rels
	src uint8 // index into sources; derivedBit
}

const derivedBit = 0x80

type numAttr struct {
	name, src uint8
	value     float64
}

// names that several graphs over one base share; append only.
type tables struct {
	sources []Source
	kinds   []string
	rels    []string
	nums    []Number // Value and Source unused
}

func (t *tables) clone() tables {
	return tables{slices.Clone(t.sources), slices.Clone(t.kinds), slices.Clone(t.rels), slices.Clone(t.nums)}
}

// A Graph is a compressed adjacency over nodes sorted by ID. An overlay adds
// nodes and edges beside its base without copying it (C40).
type Graph struct {
	base  *Graph
	first int32 // index of the first node that is not the base's
	tab   tables

	ids, names []string
	kind, src  []uint8
	cat        []Category

	off   []uint32 // halves of node i are halves[off[i]:off[i+1]],
	mid   []uint32 // those before mid[i] leave it
	adj   []half
	extra map[int32]ends // halves an overlay adds to nodes of its base

	numOff []uint32
	nums   []numAttr

	aliasText  []string
	aliasNode  []int32
	aliasExact []bool

	edges  int
	digest string

	damp      []float32 // of each node, for retrieval; see prepare
	templates []*preparedTemplate
	relWeight []float32
	concepts  map[string][]int32
	scratch   *sync.Pool

	indexOnce sync.Once
	index     map[string][]int32 // folded names, made when first needed
}

type ends struct{ out, in []half }

// Len returns the number of nodes; they are numbered from 0.
func (g *Graph) Len() int { return int(g.first) + len(g.ids) }

// EdgeCount returns the number of edges.
func (g *Graph) EdgeCount() int {
	if g.base == nil {
		return g.edges
	}
	return g.base.EdgeCount() + g.edges
}

// Digest names what the graph holds, for the record of a decision (C2).
func (g *Graph) Digest() string { return g.digest }

// Sources returns the sources of nodes and edges.
func (g *Graph) Sources() []Source { return slices.Clone(g.tab.sources) }

// Base returns the graph this one lies over, or nil.
func (g *Graph) Base() *Graph { return g.base }

func (g *Graph) at(i int32) (*Graph, int32) {
	for g.base != nil && i < g.first {
		g = g.base
	}
	return g, i - g.first
}

// Node returns node i. It panics if i is not below Len.
func (g *Graph) Node(i int32) Node {
	h, k := g.at(i)
	return Node{
		ID: h.ids[k], Kind: h.tab.kinds[h.kind[k]], Name: h.names[k],
		Category: h.cat[k], Source: h.tab.sources[h.src[k]].Key,
	}
}

// ID returns the identifier of node i.
func (g *Graph) ID(i int32) string { h, k := g.at(i); return h.ids[k] }

// NameOf returns the canonical name of node i.
func (g *Graph) NameOf(i int32) string { h, k := g.at(i); return h.names[k] }

// KindOf returns the kind of node i.
func (g *Graph) KindOf(i int32) string { h, k := g.at(i); return h.tab.kinds[h.kind[k]] }

// CategoryOf returns the category of node i.
func (g *Graph) CategoryOf(i int32) Category { h, k := g.at(i); return h.cat[k] }

// NodeByID finds a node by its exact identifier.
func (g *Graph) NodeByID(id string) (int32, bool) {
	for ; g != nil; g = g.base {
		if k, ok := slices.BinarySearch(g.ids, id); ok {
			return g.first + int32(k), true
		}
	}
	return 0, false
}

// Degree returns how many edges touch node i.
func (g *Graph) Degree(i int32) int {
	n := 0
	for h := g; h != nil; h = h.base {
		if i >= h.first {
			k := i - h.first
			return n + int(h.off[k+1]-h.off[k])
		}
		e := h.extra[i]
		n += len(e.out) + len(e.in)
	}
	return n
}

// Edges yields the edges of node i: those that leave it, then those that
// reach it, of the base before those of overlays.
func (g *Graph) Edges(i int32) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		_ = g.walk(i, func(h half, reverse bool) bool { return yield(g.edge(h, reverse)) })
	}
}

func (g *Graph) edge(h half, reverse bool) Edge {
	return Edge{
		Rel: g.tab.rels[h.rel], To: h.to, Source: g.tab.sources[h.src&^derivedBit].Key,
		Derived: h.src&derivedBit != 0, Reverse: reverse,
	}
}

// Out yields the nodes that node i points to by a relation.
func (g *Graph) Out(i int32, rel string) iter.Seq[int32] { return g.along(i, rel, false) }

// In yields the nodes that point to node i by a relation.
func (g *Graph) In(i int32, rel string) iter.Seq[int32] { return g.along(i, rel, true) }

func (g *Graph) along(i int32, rel string, reverse bool) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		r := slices.Index(g.tab.rels, rel)
		if r < 0 {
			return
		}
		_ = g.walk(i, func(h half, rev bool) bool {
			return int(h.rel) != r || rev != reverse || yield(h.to)
		})
	}
}

// walk calls f for each half of node i until it returns false.
func (g *Graph) walk(i int32, f func(h half, reverse bool) bool) bool {
	if i < g.first {
		if !g.base.walk(i, f) {
			return false
		}
		e, ok := g.extra[i]
		return !ok || each(e.out, false, f) && each(e.in, true, f)
	}
	k := i - g.first
	return each(g.adj[g.off[k]:g.mid[k]], false, f) && each(g.adj[g.mid[k]:g.off[k+1]], true, f)
}

func each(hs []half, reverse bool, f func(half, bool) bool) bool {
	for _, h := range hs {
		if !f(h, reverse) {
			return false
		}
	}
	return true
}

// Numbers yields the numeric attributes of node i. A name may come more than
// once where sources differ; an overlay's come after its base's.
func (g *Graph) Numbers(i int32) iter.Seq[Number] {
	return func(yield func(Number) bool) {
		h, k := g.at(i)
		for _, a := range h.nums[h.numOff[k]:h.numOff[k+1]] {
			n := h.tab.nums[a.name]
			n.Value, n.Source = a.value, h.tab.sources[a.src].Key
			if !yield(n) {
				return
			}
		}
	}
}

// Number returns the first numeric attribute of that name.
func (g *Graph) Number(i int32, name string) (float64, bool) {
	for n := range g.Numbers(i) {
		if n.Name == name {
			return n.Value, true
		}
	}
	return 0, false
}

// Names yields every name of every node, the canonical one first, base before
// overlay. Identifiers are not names unless a source gave them as one.
func (g *Graph) Names() iter.Seq[Name] {
	return func(yield func(Name) bool) { _ = g.yieldNames(yield) }
}

func (g *Graph) yieldNames(yield func(Name) bool) bool {
	if g.base != nil && !g.base.yieldNames(yield) {
		return false
	}
	a := 0
	for k, name := range g.names {
		i := g.first + int32(k)
		if !yield(Name{Text: name, Node: i}) {
			return false
		}
		for ; a < len(g.aliasNode) && g.aliasNode[a] <= i; a++ {
			if !g.yieldAlias(a, yield) {
				return false
			}
		}
	}
	for ; a < len(g.aliasNode); a++ { // what an overlay calls nodes after its own
		if !g.yieldAlias(a, yield) {
			return false
		}
	}
	return true
}

func (g *Graph) yieldAlias(a int, yield func(Name) bool) bool {
	return strings.HasPrefix(g.aliasText[a], conceptPrefix) || yield(Name{Text: g.aliasText[a], Node: g.aliasNode[a], Exact: g.aliasExact[a]})
}

// Aliases returns the other names of node i.
func (g *Graph) Aliases(i int32) []Name {
	var out []Name
	for h := g; h != nil; h = h.base {
		lo, _ := slices.BinarySearch(h.aliasNode, i)
		for a := lo; a < len(h.aliasNode) && h.aliasNode[a] == i; a++ {
			if strings.HasPrefix(h.aliasText[a], conceptPrefix) {
				continue
			}
			out = append(out, Name{Text: h.aliasText[a], Node: i, Exact: h.aliasExact[a]})
		}
	}
	return out
}

// Prefix returns the part of an identifier before its first colon.
func Prefix(id string) string {
	p, _, _ := strings.Cut(id, ":")
	return p
}

package knowledge

import (
	"cmp"
	"slices"
)

// Stats describes a graph: what is published about the paper's, and more.
type Stats struct {
	Nodes         int            `json:"nodes"`
	Edges         int            `json:"edges"`
	AverageDegree float64        `json:"average_degree"` // 2E/N
	Density       float64        `json:"density"`        // 2E/(N(N-1))
	Sources       int            `json:"sources"`        // that state a node, an edge or a number
	ByCategory    map[string]int `json:"by_category"`
	ByKind        map[string]int `json:"by_kind"`
	BySource      map[string]int `json:"by_source"` // nodes
	ByRelation    map[string]int `json:"by_relation"`
	EdgesBySource map[string]int `json:"edges_by_source"`
	Derived       int            `json:"derived_edges"`
	Names         int            `json:"names"`
	Numbers       int            `json:"numbers"`
	Isolated      int            `json:"isolated"`
	Components    int            `json:"components"`
	Largest       int            `json:"largest_component"`
	Quantiles     map[string]int `json:"degree_quantiles"`
	Bytes         int            `json:"bytes"`  // of the snapshot; 0 unknown
	Memory        int            `json:"memory"` // of the arrays when loaded, in bytes
	Digest        string         `json:"digest"`
}

// Stats counts the graph.
func (g *Graph) Stats() Stats {
	n := g.Len()
	s := Stats{
		Nodes: n, Edges: g.EdgeCount(), ByCategory: map[string]int{}, ByKind: map[string]int{}, BySource: map[string]int{},
		ByRelation: map[string]int{}, EdgesBySource: map[string]int{}, Quantiles: map[string]int{}, Memory: g.memory(), Digest: g.digest,
	}
	for _, c := range Categories() {
		s.ByCategory[c.String()] = 0
	}
	sources := map[string]bool{}
	degrees := make([]int, n)
	for i := range int32(n) {
		node := g.Node(i)
		s.ByCategory[node.Category.String()]++
		s.ByKind[node.Kind]++
		s.BySource[node.Source]++
		sources[node.Source] = true
		degrees[i] = g.Degree(i)
		if degrees[i] == 0 {
			s.Isolated++
		}
		for e := range g.Edges(i) {
			if !e.Reverse {
				s.count(e)
				sources[e.Source] = true
			}
		}
		for num := range g.Numbers(i) {
			s.Numbers++
			sources[num.Source] = true
		}
	}
	for range g.Names() {
		s.Names++
	}
	s.Sources = len(sources)
	if n > 1 {
		s.AverageDegree = 2 * float64(s.Edges) / float64(n)
		s.Density = s.AverageDegree / float64(n-1)
	}
	s.Components, s.Largest = g.components()
	slices.Sort(degrees)
	for name, q := range map[string]float64{"p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p99": 0.99, "max": 1} {
		if n > 0 {
			s.Quantiles[name] = degrees[int(q*float64(n-1))]
		}
	}
	return s
}

func (s *Stats) count(e Edge) {
	s.ByRelation[e.Rel]++
	s.EdgesBySource[e.Source]++
	if e.Derived {
		s.Derived++
	}
}

// components counts the connected components and the nodes of the largest.
func (g *Graph) components() (count, largest int) {
	seen := make([]bool, g.Len())
	var stack []int32
	for i := range int32(g.Len()) {
		if seen[i] {
			continue
		}
		count++
		size := 0
		seen[i] = true
		stack = append(stack[:0], i)
		for len(stack) > 0 {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			size++
			_ = g.walk(u, func(h half, _ bool) bool {
				if !seen[h.to] {
					seen[h.to] = true
					stack = append(stack, h.to)
				}
				return true
			})
		}
		largest = max(largest, size)
	}
	return count, largest
}

// memory is what the arrays take, strings included.
func (g *Graph) memory() int {
	total := 0
	for h := g; h != nil; h = h.base {
		for _, list := range [][]string{h.ids, h.names, h.aliasText} {
			for _, s := range list {
				total += 16 + len(s)
			}
		}
		total += 4*len(h.off) + 4*len(h.mid) + 8*len(h.adj) + 4*len(h.damp) + 16*len(h.nums) + 4*len(h.numOff) + 5*len(h.aliasNode) + 3*len(h.ids)
		for _, e := range h.extra {
			total += 56 + 8*(len(e.out)+len(e.in))
		}
	}
	return total
}

// A Count is one line of a table.
type Count struct {
	Name string
	N    int
}

// Ranked returns counts, largest first.
func Ranked(m map[string]int) []Count {
	out := make([]Count, 0, len(m))
	for k, n := range m {
		out = append(out, Count{k, n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return out
}

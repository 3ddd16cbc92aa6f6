package knowledge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"interlock/internal/verdict"
)

// A Seed is a node that the plan names, and how much it matters (> 0).
type Seed struct {
	Node   int32
	Weight float64
}

// A Hit is one statement found for a set of seeds.
type Hit struct {
	verdict.Evidence
	Node int32
	Path []int32 // from a seed to the node, both included
}

// Parameters of the walk. They were set on the speed of retrieval and on the
// spread over categories, not on outcomes of plans.
const (
	restart    = 0.2  // probability of going back to a seed at each step
	pushFloor  = 1e-4 // residual per edge below which a node is not expanded
	dampDegree = 8    // nodes of more edges receive less: sqrt(dampDegree/degree)
	maxWork    = 60_000
	maxHits    = 32
	maxSeeds   = 64
	scoreFloor = 0.005 // of the best statement's score: what is below has little to do with the plan
)

// share is the part of the statements that each category may claim before the
// rest is filled by score.
var share = [categories]float64{LabContext: 0.2, Weakness: 0.1, Adversary: 0.15, Safety: 0.4, PriorFailure: 0.15}

// prepare computes what retrieval needs of the graph's own nodes.
func (g *Graph) prepare() {
	g.damp = make([]float32, len(g.ids))
	for i := range g.damp {
		d := float64(g.off[i+1] - g.off[i])
		g.damp[i] = float32(math.Min(1, math.Sqrt(dampDegree/math.Max(d, 1))))
	}
	g.relWeight = make([]float32, len(g.tab.rels))
	for i, r := range g.tab.rels {
		g.relWeight[i] = 1
		if w, ok := weakRelations[r]; ok {
			g.relWeight[i] = w
		}
	}
	g.templates = prepareTemplates(&g.tab)
	g.concepts = map[string][]int32{}
	for k, i := range g.aliasNode {
		if tag, ok := strings.CutPrefix(g.aliasText[k], conceptPrefix); ok {
			g.concepts[tag] = append(g.concepts[tag], i)
		}
	}
	n := g.Len()
	g.scratch = &sync.Pool{New: func() any { return &walk{p: make([]float32, n), r: make([]float32, n), from: make([]int32, n)} }}
}

// weakRelations say little about a node: the walk follows them less.
var weakRelations = map[string]float32{
	RelPictogram: 0.1, "packing_group": 0.1, "affects_sector": 0.1, "introduced_in": 0.1, "mitigated_in": 0.1, "detected_by": 0.1,
	"has_limit": 0.1, "flash_band": 0.2, "violates": 0.2, "has_impact": 0.2, "applies_to_platform": 0.2, "targets_platform": 0.2,
	"in_domain": 0.2, "defined_by": 0.2, "done_by": 0.1, "needs_skill": 0.1, "listed_in": 0.1, RelMadeBy: 0.2, "reachable_by": 0.1,
	RelHazard: 0.7, RelClass: 0.5, "has_field": 0.3, "has_verb": 0.5,
}

// walk is the working memory of one retrieval.
type walk struct {
	p, r    []float32 // score reached, residual to spread
	from    []int32   // the node that gave most first, +1; a seed has itself
	touched []int32
	queue   []int32
	work    int
}

// Retrieve returns the statements about what the seeds name, best first and at
// most tokens long in all, the same for the same seeds. They are citable: an ID
// names a node, and "kg show" shows it.
func (g *Graph) Retrieve(seeds []Seed, tokens int) []verdict.Evidence {
	hits := g.Search(seeds, tokens)
	out := make([]verdict.Evidence, len(hits))
	for i, h := range hits {
		out[i] = h.Evidence
	}
	return out
}

// Search is Retrieve with the paths.
func (g *Graph) Search(seeds []Seed, tokens int) []Hit {
	seeds = g.expand(seeds)
	if len(seeds) == 0 || tokens <= 0 {
		return nil
	}
	w := g.scratch.Get().(*walk)
	defer func() {
		w.reset()
		g.scratch.Put(w)
	}()
	g.push(w, seeds)
	return g.render(w, g.choose(w), tokens)
}

// expand drops seeds out of range, adds the public nodes that site nodes stand
// for, and the pairs of substances among the seeds that must not meet.
func (g *Graph) expand(seeds []Seed) []Seed {
	var out []Seed
	total := 0.0
	add := func(i int32, weight float64) {
		if i < 0 || int(i) >= g.Len() || !(weight > 0) || math.IsInf(weight, 0) || len(out) >= maxSeeds {
			return
		}
		total += weight
		if k := slices.IndexFunc(out, func(s Seed) bool { return s.Node == i }); k >= 0 {
			out[k].Weight += weight
			return
		}
		out = append(out, Seed{i, weight})
	}
	for _, s := range seeds {
		add(s.Node, s.Weight)
	}
	for _, s := range slices.Clone(out) {
		for to := range g.Out(s.Node, RelSameAs) {
			add(to, s.Weight)
		}
	}
	var chemicals []grouped
	for _, s := range out {
		if groups := g.groups(s.Node); len(groups) > 0 {
			chemicals = append(chemicals, grouped{s, groups})
		}
	}
	for i, a := range chemicals {
		for _, b := range chemicals[i+1:] {
			for _, pair := range g.pairs(a.groups, b.groups) {
				add(pair, a.Weight+b.Weight)
			}
		}
	}
	for i := range out {
		out[i].Weight /= total
	}
	return out
}

// Pairs returns the pair nodes (KindIncompatible, KindCaution) that join a
// reactive group or trait of one substance with one of the other.
func (g *Graph) Pairs(a, b int32) []int32 { return g.pairs(g.groups(a), g.groups(b)) }

// grouped is a seed with its reactive groups and traits.
type grouped struct {
	Seed
	groups []int32
}

func (g *Graph) pairs(ga, gb []int32) []int32 {
	var out []int32
	for _, x := range ga {
		for pair := range g.In(x, RelPair) {
			if slices.Contains(out, pair) {
				continue
			}
			for y := range g.Out(pair, RelPair) {
				if y != x && slices.Contains(gb, y) {
					out = append(out, pair)
					break
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func (g *Graph) groups(i int32) []int32 {
	if g.KindOf(i) != KindChemical {
		return nil
	}
	var out []int32
	for _, rel := range []string{RelGroup, RelTrait} {
		for to := range g.Out(i, rel) {
			out = append(out, to)
		}
	}
	return out
}

// push spreads the seeds' weight by forward push: an approximation of the
// personalised PageRank that touches only what it reaches. Hubs receive less
// than their part, and what they do not receive is lost.
func (g *Graph) push(w *walk, seeds []Seed) {
	for _, s := range seeds {
		w.give(s.Node, s.Node, float32(s.Weight))
		w.queue = append(w.queue, s.Node)
	}
	for head := 0; head < len(w.queue) && w.work < maxWork; head++ {
		u := w.queue[head]
		degree := float32(g.Degree(u))
		mass := w.r[u]
		if mass <= pushFloor*degree || degree == 0 {
			continue
		}
		w.r[u] = 0
		w.p[u] += restart * mass
		g.spread(w, u, (1-restart)*mass/degree)
	}
}

func (g *Graph) spread(w *walk, u int32, part float32) {
	for h := g; h != nil; h = h.base {
		if u >= h.first {
			k := u - h.first
			g.spreadOver(w, u, part, h.adj[h.off[k]:h.off[k+1]])
			return
		}
		if e, ok := h.extra[u]; ok {
			g.spreadOver(w, u, part, e.out)
			g.spreadOver(w, u, part, e.in)
		}
	}
}

func (g *Graph) spreadOver(w *walk, u int32, part float32, halves []half) {
	w.work += len(halves)
	for _, x := range halves {
		h, k := g, x.to
		for k < h.first {
			h = h.base
		}
		k -= h.first
		mass := part * h.damp[k] * g.relWeight[x.rel]
		before := w.r[x.to]
		w.give(x.to, u, mass)
		floor := pushFloor * float32(h.off[k+1]-h.off[k])
		if before <= floor && before+mass > floor {
			w.queue = append(w.queue, x.to)
		}
	}
}

func (w *walk) give(to, from int32, mass float32) {
	if w.from[to] == 0 {
		w.from[to] = from + 1
		w.touched = append(w.touched, to)
	}
	w.r[to] += mass
}

func (w *walk) reset() {
	for _, i := range w.touched {
		w.p[i], w.r[i], w.from[i] = 0, 0, 0
	}
	w.touched, w.queue, w.work = w.touched[:0], w.queue[:0], 0
}

type scored struct {
	node  int32
	score float32
}

func byScore(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.node, b.node))
}

// choose takes the best nodes that have something to say: first up to the share
// of each category, then whatever scores best.
func (g *Graph) choose(w *walk) []scored {
	var best [categories][]scored
	for _, i := range w.touched {
		h, k := g.at(i)
		t := g.templates[h.kind[k]]
		if t == nil || t.met && w.from[i]-1 != i {
			continue
		}
		s := scored{i, (w.p[i] + restart*w.r[i]) * t.weight}
		if t.far > 0 && w.from[i]-1 != i {
			s.score *= t.far
		}
		list := best[h.cat[k]]
		if len(list) == maxHits && byScore(s, list[maxHits-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, s, byScore)
		list = slices.Insert(list, at, s)
		best[h.cat[k]] = list[:min(len(list), maxHits)]
	}
	var chosen, rest []scored
	for c, list := range best {
		n := min(len(list), int(math.Ceil(share[c]*maxHits)))
		chosen = append(chosen, list[:n]...)
		rest = append(rest, list[n:]...)
	}
	slices.SortFunc(rest, byScore)
	chosen = append(chosen, rest[:max(0, min(len(rest), maxHits-len(chosen)))]...)
	slices.SortFunc(chosen, byScore)
	return chosen
}

// render writes the chosen nodes as statements until the tokens are used up.
func (g *Graph) render(w *walk, chosen []scored, tokens int) []Hit {
	hits := make([]Hit, 0, len(chosen))
	said := make(map[string]bool, len(chosen))
	for _, s := range chosen {
		if s.score < scoreFloor*chosen[0].score {
			break
		}
		for _, e := range g.Statements(s.node) {
			cost := Tokens(e.Statement) + Tokens(e.ID)
			if cost > tokens || said[gist(e.Statement)] {
				continue
			}
			said[gist(e.Statement)] = true
			tokens -= cost
			e.Score = float64(s.score)
			hits = append(hits, Hit{Evidence: e, Node: s.node, Path: w.path(s.node)})
		}
	}
	return hits
}

// gist is what a statement says first of its subject: of a model and its class
// that can cause the same, one is enough.
func gist(statement string) string {
	_, body, ok := strings.Cut(statement, ": can cause ")
	if !ok {
		return statement
	}
	body, _, _ = strings.Cut(body, ";")
	return strings.TrimSuffix(body, ".")
}

func (w *walk) path(i int32) []int32 {
	out := []int32{i}
	for len(out) < 12 && w.from[i]-1 != i {
		i = w.from[i] - 1
		out = append(out, i)
	}
	slices.Reverse(out)
	return out
}

// Tokens estimates how many tokens a model counts for a text: four bytes each.
func Tokens(s string) int { return (len(s) + 3) / 4 }

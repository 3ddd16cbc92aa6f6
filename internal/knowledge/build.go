package knowledge

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Builder collects nodes and edges in any order. Methods report the first
// thing wrong with what they are given; Build reports what is wrong with the
// whole (dangling edges).
type Builder struct {
	base    *Graph
	tab     tables
	srcIdx  map[string]uint8
	kindIdx map[string]uint8
	relIdx  map[string]uint8
	numIdx  map[string]uint8

	nodes   map[string]*Node
	aliases map[aliasKey]bool // -> exact
	numbers map[string][]numAttr
	edges   map[edgeKey]edgeVal
	leaves  map[leaving]bool // relations that leave a node
}

type leaving struct {
	from string
	rel  uint8
}

type aliasKey struct{ id, text string }

type edgeKey struct {
	from, to string
	rel      uint8
}

type edgeVal struct {
	src     uint8
	derived bool
}

// NewBuilder starts a graph. With a base it starts an overlay: its nodes must
// be new, its edges may join old nodes.
func NewBuilder(base *Graph) *Builder {
	b := &Builder{
		base: base, srcIdx: map[string]uint8{}, kindIdx: map[string]uint8{}, relIdx: map[string]uint8{}, numIdx: map[string]uint8{},
		nodes: map[string]*Node{}, aliases: map[aliasKey]bool{}, numbers: map[string][]numAttr{}, edges: map[edgeKey]edgeVal{}, leaves: map[leaving]bool{},
	}
	if base == nil {
		return b
	}
	b.tab = base.tab.clone()
	for i, s := range b.tab.sources {
		b.srcIdx[s.Key] = uint8(i)
	}
	for i, k := range b.tab.kinds {
		b.kindIdx[k] = uint8(i)
	}
	for i, r := range b.tab.rels {
		b.relIdx[r] = uint8(i)
	}
	for i, n := range b.tab.nums {
		b.numIdx[n.Name] = uint8(i)
	}
	return b
}

const (
	maxTable   = 255 // kinds, relations, attribute names: one byte
	maxSources = 127 // one byte less the bit that marks derived edges
	maxTextLen = 400 // bytes of an id, a name or an alias
)

func intern[T any](list *[]T, idx map[string]uint8, key string, v T, limit int) (uint8, error) {
	if i, ok := idx[key]; ok {
		return i, nil
	}
	if key == "" || len(*list) >= limit {
		return 0, fmt.Errorf("cannot add %q: empty, or more than %d kinds, relations, sources or attributes", key, limit)
	}
	i := uint8(len(*list))
	*list = append(*list, v)
	idx[key] = i
	return i, nil
}

// Source declares a source. Declaring it again changes nothing.
func (b *Builder) Source(s Source) error {
	_, err := intern(&b.tab.sources, b.srcIdx, s.Key, s, maxSources)
	return err
}

// Has reports whether a node is there, in the builder or in its base.
func (b *Builder) Has(id string) bool {
	if _, ok := b.nodes[id]; ok {
		return true
	}
	if b.base == nil {
		return false
	}
	_, ok := b.base.NodeByID(id)
	return ok
}

// Kind returns the kind of a node added so far, "" if there is none.
func (b *Builder) Kind(id string) string {
	if n := b.nodes[id]; n != nil {
		return n.Kind
	}
	return ""
}

// NameOf returns the name of a node added so far, "" if there is none.
func (b *Builder) NameOf(id string) string {
	if n := b.nodes[id]; n != nil {
		return n.Name
	}
	return ""
}

// NamesOf returns the names of the nodes of a kind added so far, folded, with
// the node that is called so: of several the first by identifier.
func (b *Builder) NamesOf(kind string) map[string]string {
	out := map[string]string{}
	add := func(id, name string) {
		if name = FoldName(name); name != "" && (out[name] == "" || id < out[name]) {
			out[name] = id
		}
	}
	for id, n := range b.nodes {
		if n.Kind == kind {
			add(id, n.Name)
		}
	}
	for k, exact := range b.aliases {
		if n := b.nodes[k.id]; n != nil && n.Kind == kind && !exact {
			add(k.id, k.text)
		}
	}
	return out
}

// All yields the nodes of a kind added so far with their names, by identifier.
func (b *Builder) All(kind string) iter.Seq2[string, string] {
	return func(yield func(id, name string) bool) {
		for _, id := range slices.Sorted(maps.Keys(b.nodes)) {
			if n := b.nodes[id]; n.Kind == kind && !yield(id, n.Name) {
				return
			}
		}
	}
}

// HasEdge reports whether an edge of that relation leaves a node so far.
func (b *Builder) HasEdge(from, rel string) bool {
	r, ok := b.relIdx[rel]
	return ok && b.leaves[leaving{from, r}]
}

// Node adds a node whose identifier must be new.
func (b *Builder) Node(n Node) error {
	if b.Has(n.ID) {
		return fmt.Errorf("node %q is there twice", n.ID)
	}
	return b.put(n)
}

// Ensure adds a node unless one of that identifier is there already.
func (b *Builder) Ensure(n Node) error {
	if b.Has(n.ID) {
		return nil
	}
	return b.put(n)
}

func (b *Builder) put(n Node) error {
	n.Name = CleanText(n.Name)
	if n.Name == "" || strings.IndexByte(n.ID, ':') < 1 || len(n.ID) > maxTextLen || n.ID != CleanText(n.ID) {
		return fmt.Errorf("node %q named %.40q: want an identifier \"prefix:id\" without odd characters and a name", n.ID, n.Name)
	}
	if len(n.Name) > maxTextLen {
		return fmt.Errorf("node %q: a name of %d bytes, more than %d", n.ID, len(n.Name), maxTextLen)
	}
	if n.Category >= categories {
		return fmt.Errorf("node %q: category %d is none of the five", n.ID, n.Category)
	}
	if _, ok := b.srcIdx[n.Source]; !ok {
		return fmt.Errorf("node %q: source %q was not declared", n.ID, n.Source)
	}
	if _, err := intern(&b.tab.kinds, b.kindIdx, n.Kind, n.Kind, maxTable); err != nil {
		return fmt.Errorf("node %q: %w", n.ID, err)
	}
	b.nodes[n.ID] = &n
	return nil
}

// CleanText drops control and invisible formatting characters and folds white
// space, so that what is shown is what is stored.
func CleanText(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == 0xA0:
			return ' '
		case r < 0x20, r == 0x7F, r == utf8.RuneError, r >= 0x80 && r < 0xA0, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r == 0xFEFF, r == 0xAD:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// Alias gives a node another name. Exact names count in this very case only.
func (b *Builder) Alias(id, text string, exact bool) error {
	text = CleanText(text)
	if text == "" || len(text) > maxTextLen {
		return fmt.Errorf("node %q: an alias of %d bytes, want 1 to %d", id, len(text), maxTextLen)
	}
	k := aliasKey{id, text}
	old, there := b.aliases[k]
	b.aliases[k] = exact && (old || !there)
	return nil
}

// Number gives a node a numeric attribute in the named SI unit.
func (b *Builder) Number(id string, n Number) error {
	if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
		return fmt.Errorf("node %q: %s is not a finite number", id, n.Name)
	}
	i, err := intern(&b.tab.nums, b.numIdx, n.Name, Number{Name: n.Name, Unit: n.Unit}, maxTable)
	if err != nil {
		return fmt.Errorf("node %q: %w", id, err)
	}
	src, ok := b.srcIdx[n.Source]
	if !ok {
		return fmt.Errorf("node %q: %s: source %q was not declared", id, n.Name, n.Source)
	}
	if have := b.tab.nums[i].Unit; have != n.Unit {
		return fmt.Errorf("node %q: %s in %q, elsewhere in %q", id, n.Name, n.Unit, have)
	}
	a := numAttr{i, src, n.Value}
	if !slices.Contains(b.numbers[id], a) {
		b.numbers[id] = append(b.numbers[id], a)
	}
	return nil
}

// HasNumber reports whether a node has a numeric attribute of that name.
func (b *Builder) HasNumber(id, name string) bool {
	_, ok := b.NumberOf(id, name)
	return ok
}

// NumberOf returns the first number of that name given to a node so far.
func (b *Builder) NumberOf(id, name string) (float64, bool) {
	i, ok := b.numIdx[name]
	if !ok {
		return 0, false
	}
	k := slices.IndexFunc(b.numbers[id], func(a numAttr) bool { return a.name == i })
	if k < 0 {
		return 0, false
	}
	return b.numbers[id][k].value, true
}

// Edge joins two nodes, which may be added later. The first source to state an
// edge keeps it; a stated edge replaces a derived one.
func (b *Builder) Edge(from, rel, to, source string) error {
	return b.edge(from, rel, to, source, false)
}

// Derive joins two nodes by a relation that we concluded from the source.
func (b *Builder) Derive(from, rel, to, source string) error {
	return b.edge(from, rel, to, source, true)
}

func (b *Builder) edge(from, rel, to, source string, derived bool) error {
	s, ok := b.srcIdx[source]
	if !ok {
		return fmt.Errorf("edge %q %s %q: source %q was not declared", from, rel, to, source)
	}
	if from == to {
		return fmt.Errorf("edge %q %s: joins the node with itself", from, rel)
	}
	r, err := intern(&b.tab.rels, b.relIdx, rel, rel, maxTable)
	if err != nil {
		return fmt.Errorf("edge %q %s %q: %w", from, rel, to, err)
	}
	b.leaves[leaving{from, r}] = true
	k := edgeKey{from, to, r}
	if old, there := b.edges[k]; !there || old.derived && !derived {
		b.edges[k] = edgeVal{s, derived}
	}
	return nil
}

// Prune drops edges with an end that is not there and, unless this is an
// overlay, nodes that no edge touches; it returns how many of each. Sources
// refer to things that they or we leave out.
func (b *Builder) Prune() (edges, nodes int) {
	touched := map[string]bool{}
	for k := range b.edges {
		if !b.Has(k.from) || !b.Has(k.to) {
			delete(b.edges, k)
			edges++
			continue
		}
		touched[k.from], touched[k.to] = true, true
	}
	for id := range b.nodes {
		if !touched[id] {
			delete(b.nodes, id)
			nodes++
		}
	}
	for k := range b.aliases {
		if !b.Has(k.id) {
			delete(b.aliases, k)
		}
	}
	for id := range b.numbers {
		if !b.Has(id) {
			delete(b.numbers, id)
		}
	}
	return edges, nodes
}

// DropBare drops nodes that say nothing but their own identifier and hang by a
// single edge: something else names them, no source tells about them.
func (b *Builder) DropBare() int {
	degree := map[string]int{}
	for k := range b.edges {
		degree[k.from]++
		degree[k.to]++
	}
	aliased := map[string]bool{}
	for k := range b.aliases {
		aliased[k.id] = true
	}
	n := 0
	for id, node := range b.nodes {
		_, own, _ := strings.Cut(id, ":")
		if degree[id] < 2 && node.Name == own && len(b.numbers[id]) == 0 && !aliased[id] {
			delete(b.nodes, id)
			n++
		}
	}
	return n
}

const maxReported = 5

// Build makes the graph. Edges, aliases and numbers of nodes that are not
// there are errors.
func (b *Builder) Build() (*Graph, error) {
	if err := b.dangling(); err != nil {
		return nil, err
	}
	g := &Graph{base: b.base}
	var order tableOrder
	g.tab, order = b.orderTables()
	if b.base != nil {
		g.first = int32(b.base.Len())
	}
	b.layNodes(g, order)
	edges := b.listEdges(g, order)
	g.link(edges)
	g.digest = digestOf(b.base, g.payload(edges))
	g.prepare()
	return g, nil
}

func (b *Builder) dangling() error {
	var bad []string
	missing := func(id, where string) {
		if !b.Has(id) {
			bad = append(bad, fmt.Sprintf("%s: there is no node %q", where, id))
		}
	}
	for k := range b.edges {
		where := fmt.Sprintf("edge %q %s %q", k.from, b.tab.rels[k.rel], k.to)
		missing(k.from, where)
		missing(k.to, where)
	}
	for k := range b.aliases {
		missing(k.id, fmt.Sprintf("alias %q", k.text))
	}
	for id := range b.numbers {
		missing(id, "number")
		if _, own := b.nodes[id]; !own && b.Has(id) {
			bad = append(bad, fmt.Sprintf("number: node %q is the base's and cannot be changed", id))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	n := len(bad)
	if n > maxReported {
		bad = append(bad[:maxReported], fmt.Sprintf("and %d more", n-maxReported))
	}
	return errors.New(strings.Join(bad, "; "))
}

// A tableOrder says where the entries of the builder's tables went.
type tableOrder struct{ kinds, rels, nums []uint8 }

// orderTables sorts what was not the base's, so that the graph does not depend
// on the order in which things came.
func (b *Builder) orderTables() (tables, tableOrder) {
	t := b.tab.clone()
	var kinds, rels, nums int
	if b.base != nil {
		kinds, rels, nums = len(b.base.tab.kinds), len(b.base.tab.rels), len(b.base.tab.nums)
	}
	slices.Sort(t.kinds[kinds:])
	slices.Sort(t.rels[rels:])
	slices.SortFunc(t.nums[nums:], func(x, y Number) int { return strings.Compare(x.Name, y.Name) })
	var o tableOrder
	for _, k := range b.tab.kinds {
		o.kinds = append(o.kinds, uint8(slices.Index(t.kinds, k)))
	}
	for _, r := range b.tab.rels {
		o.rels = append(o.rels, uint8(slices.Index(t.rels, r)))
	}
	for _, n := range b.tab.nums {
		o.nums = append(o.nums, uint8(slices.Index(t.nums, n)))
	}
	return t, o
}

func (b *Builder) layNodes(g *Graph, o tableOrder) {
	ids := make([]string, 0, len(b.nodes))
	for id := range b.nodes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	g.ids = ids
	g.numOff = append(g.numOff, 0)
	for _, id := range ids {
		n := b.nodes[id]
		g.names = append(g.names, n.Name)
		g.kind = append(g.kind, o.kinds[b.kindIdx[n.Kind]])
		g.src = append(g.src, b.srcIdx[n.Source])
		g.cat = append(g.cat, n.Category)
		nums := slices.Clone(b.numbers[id])
		for i := range nums {
			nums[i].name = o.nums[nums[i].name]
		}
		slices.SortFunc(nums, func(x, y numAttr) int {
			return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.src, y.src), cmp.Compare(x.value, y.value))
		})
		g.nums = append(g.nums, nums...)
		g.numOff = append(g.numOff, uint32(len(g.nums)))
	}
	b.layAliases(g)
}

func (b *Builder) layAliases(g *Graph) {
	type alias struct {
		node  int32
		text  string
		exact bool
	}
	var all []alias
	for k, exact := range b.aliases {
		i, _ := g.NodeByID(k.id)
		if g.NameOf(i) != k.text {
			all = append(all, alias{i, k.text, exact})
		}
	}
	slices.SortFunc(all, func(x, y alias) int { return cmp.Or(cmp.Compare(x.node, y.node), cmp.Compare(x.text, y.text)) })
	for _, a := range all {
		g.aliasNode = append(g.aliasNode, a.node)
		g.aliasText = append(g.aliasText, a.text)
		g.aliasExact = append(g.aliasExact, a.exact)
	}
}

// rawEdge is an edge by node numbers.
type rawEdge struct {
	from, to int32
	rel, src uint8
}

func (b *Builder) listEdges(g *Graph, o tableOrder) []rawEdge {
	out := make([]rawEdge, 0, len(b.edges))
	for k, v := range b.edges {
		from, _ := g.NodeByID(k.from)
		to, _ := g.NodeByID(k.to)
		src := v.src
		if v.derived {
			src |= derivedBit
		}
		out = append(out, rawEdge{from, to, o.rels[k.rel], src})
	}
	slices.SortFunc(out, func(x, y rawEdge) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.rel, y.rel), cmp.Compare(x.to, y.to))
	})
	return out
}

// link fills the adjacency from edges sorted by (from, rel, to).
func (g *Graph) link(edges []rawEdge) {
	n := len(g.ids)
	g.edges = len(edges)
	outN, inN := make([]uint32, n+1), make([]uint32, n+1)
	for _, e := range edges {
		if e.from >= g.first {
			outN[e.from-g.first]++
		}
		if e.to >= g.first {
			inN[e.to-g.first]++
		}
	}
	g.off, g.mid = make([]uint32, n+1), make([]uint32, n)
	for i := range n {
		g.mid[i] = g.off[i] + outN[i]
		g.off[i+1] = g.mid[i] + inN[i]
		outN[i], inN[i] = g.off[i], g.mid[i]
	}
	g.adj = make([]half, g.off[n])
	for _, e := range edges {
		out, in := half{e.to, e.rel, e.src}, half{e.from, e.rel, e.src}
		if k := e.from - g.first; k >= 0 {
			g.adj[outN[k]] = out
			outN[k]++
		} else {
			g.addExtra(e.from, out, false)
		}
		if k := e.to - g.first; k >= 0 {
			g.adj[inN[k]] = in
			inN[k]++
		} else {
			g.addExtra(e.to, in, true)
		}
	}
}

func (g *Graph) addExtra(i int32, h half, reverse bool) {
	if g.extra == nil {
		g.extra = map[int32]ends{}
	}
	e := g.extra[i]
	if reverse {
		e.in = append(e.in, h)
	} else {
		e.out = append(e.out, h)
	}
	g.extra[i] = e
}

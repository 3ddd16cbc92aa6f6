package knowledge

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func sample(t testing.TB) *Graph {
	t.Helper()
	b := NewBuilder(nil)
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(b.Source(Source{Key: "clp", Title: "Annex VI", Licence: "EU"}))
	must(b.Node(Node{ID: "cas:26628-22-8", Kind: KindChemical, Name: "sodium azide", Category: Safety, Source: "clp"}))
	must(b.Node(Node{ID: "cas:7647-01-0", Kind: KindChemical, Name: "hydrochloric acid", Category: Safety, Source: "clp"}))
	must(b.Node(Node{ID: "h:H300", Kind: KindHazard, Name: "H300", Category: Safety, Source: "clp"}))
	must(b.Node(Node{ID: "h:H314", Kind: KindHazard, Name: "H314", Category: Safety, Source: "clp"}))
	must(b.Edge("cas:26628-22-8", RelHazard, "h:H300", "clp"))
	must(b.Edge("cas:7647-01-0", RelHazard, "h:H314", "clp"))
	must(b.Derive("cas:26628-22-8", RelRelated, "cas:7647-01-0", "clp"))
	must(b.Alias("cas:26628-22-8", "NaN3", true))
	must(b.Alias("cas:26628-22-8", "26628-22-8", true))
	must(b.Number("cas:7647-01-0", Number{Name: NumBoiling, Unit: "K", Value: 188.1, Source: "clp"}))
	g, err := b.Build()
	must(err)
	return g
}

func TestSnapshotKeepsTheGraph(t *testing.T) {
	t.Parallel()
	g := sample(t)
	data, err := g.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again, err := sample(t).Snapshot()
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("the same graph gave other bytes (%v)", err)
	}
	h, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	if h.Digest() != g.Digest() || h.Len() != 4 || h.EdgeCount() != 3 {
		t.Errorf("got %d nodes, %d edges, digest %s; want 4, 3, %s", h.Len(), h.EdgeCount(), h.Digest(), g.Digest())
	}
	for i := range int32(4) {
		if g.Node(i) != h.Node(i) || !slices.Equal(slices.Collect(g.Edges(i)), slices.Collect(h.Edges(i))) ||
			!slices.Equal(slices.Collect(g.Numbers(i)), slices.Collect(h.Numbers(i))) || !slices.Equal(g.Aliases(i), h.Aliases(i)) {
			t.Errorf("node %d differs: %+v, %+v", i, g.Node(i), h.Node(i))
		}
	}
	if !slices.Equal(slices.Collect(g.Names()), slices.Collect(h.Names())) {
		t.Error("names differ")
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	data, err := sample(t).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	with := func(i int, v byte) []byte {
		d := bytes.Clone(data)
		d[i] = v
		return d
	}
	bomb := bytes.Clone(data)
	copy(bomb[headerLen-4:], "\xff\xff\xff\xff")
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"empty":         {nil, "not a snapshot"},
		"other file":    {bytes.Repeat([]byte("x"), 200), "not a snapshot"},
		"other version": {with(4, 9), "version 9"},
		"bit flipped":   {with(len(data)-3, data[len(data)-3]^1), "damaged"},
		"checksum":      {with(8, data[8]^1), "checksum"},
		"cut off":       {data[:len(data)-4], "damaged"},
		"too big":       {bomb, "more than"},
	} {
		_, err := Open(tc.data)
		if !errors.Is(err, ErrSnapshot) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want it to say %q", name, err, tc.want)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	t.Parallel()
	b := NewBuilder(nil)
	_ = b.Source(Source{Key: "s"})
	ok := Node{ID: "a:1", Kind: "k", Name: "one", Source: "s"}
	if err := b.Node(ok); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"duplicate id":      b.Node(ok),
		"no prefix":         b.Node(Node{ID: "1", Kind: "k", Name: "x", Source: "s"}),
		"no name":           b.Node(Node{ID: "a:2", Kind: "k", Source: "s"}),
		"unknown source":    b.Node(Node{ID: "a:2", Kind: "k", Name: "x", Source: "t"}),
		"odd character":     b.Node(Node{ID: "a:\x00", Kind: "k", Name: "x", Source: "s"}),
		"unknown category":  b.Node(Node{ID: "a:2", Kind: "k", Name: "x", Source: "s", Category: 9}),
		"loop":              b.Edge("a:1", "r", "a:1", "s"),
		"edge's source":     b.Edge("a:1", "r", "a:2", "t"),
		"name is very long": b.Node(Node{ID: "a:2", Kind: "k", Name: strings.Repeat("x", 500), Source: "s"}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := b.Edge("a:1", "r", "a:9", "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Build(); err == nil || !strings.Contains(err.Error(), `no node "a:9"`) {
		t.Errorf("dangling edge: got %v", err)
	}
}

func TestOverlayLiesBesideItsBase(t *testing.T) {
	t.Parallel()
	g := sample(t)
	b := NewBuilder(g)
	_ = b.Source(Source{Key: "site"})
	if err := b.Node(Node{ID: "cas:26628-22-8", Kind: "material", Name: "x", Source: "site"}); err == nil {
		t.Error("an overlay replaced a node of its base")
	}
	if err := b.Node(Node{ID: "site:azide", Kind: "material", Name: "azide stock", Source: "site"}); err != nil {
		t.Fatal(err)
	}
	_ = b.Edge("site:azide", RelSameAs, "cas:26628-22-8", "site")
	_ = b.Alias("site:azide", "stock 4", false)
	over, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	azide, _ := over.NodeByID("cas:26628-22-8")
	site, ok := over.NodeByID("site:azide")
	if !ok || over.Len() != 5 || over.EdgeCount() != 4 || over.NameOf(site) != "azide stock" {
		t.Errorf("got %d nodes, %d edges, %v", over.Len(), over.EdgeCount(), over.Node(site))
	}
	if got := slices.Collect(over.In(azide, RelSameAs)); !slices.Equal(got, []int32{site}) {
		t.Errorf("edges into the base: got %v", got)
	}
	if got := slices.Collect(over.Out(site, RelSameAs)); !slices.Equal(got, []int32{azide}) {
		t.Errorf("edges out of the overlay: got %v", got)
	}
	if over.Degree(azide) != g.Degree(azide)+1 || len(slices.Collect(g.In(azide, RelSameAs))) != 0 {
		t.Error("the base changed, or the overlay's edge is not counted")
	}
	names := map[string]bool{}
	for n := range over.Names() {
		names[n.Text] = true
	}
	if !names["NaN3"] || !names["stock 4"] || !names["azide stock"] || over.Digest() == g.Digest() {
		t.Errorf("names %v", names)
	}
}

func FuzzOpen(f *testing.F) {
	data, err := sample(f).Snapshot()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if g, err := Open(data); err == nil {
			for i := range int32(g.Len()) {
				for e := range g.Edges(i) {
					_ = g.Node(e.To)
				}
			}
		}
	})
}

// FuzzPayload reaches behind the checksum, which random bytes never pass.
func FuzzPayload(f *testing.F) {
	g := sample(f)
	f.Add(g.payload(g.rawEdges()))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reader{b: data, s: string(data)}
		g, err := r.graph()
		if err != nil {
			return
		}
		for i := range int32(g.Len()) {
			for e := range g.Edges(i) {
				_ = g.Node(e.To)
			}
			_ = slices.Collect(g.Numbers(i))
		}
		_ = slices.Collect(g.Names())
	})
}

func TestStats(t *testing.T) {
	t.Parallel()
	s := sample(t).Stats()
	if s.Nodes != 4 || s.Edges != 3 || s.AverageDegree != 1.5 || s.Density != 0.5 || s.Sources != 1 || s.Isolated != 0 || s.Components != 1 ||
		s.Largest != 4 || s.Derived != 1 || s.Numbers != 1 || s.Names != 6 || s.Quantiles["max"] != 2 || s.Memory == 0 {
		t.Errorf("got %+v", s)
	}
	if s.ByCategory["safety"] != 4 || s.ByKind[KindChemical] != 2 || s.ByRelation[RelHazard] != 2 || s.BySource["clp"] != 4 || s.EdgesBySource["clp"] != 3 {
		t.Errorf("got %+v", s)
	}
	if empty := (&Graph{}).Stats(); empty.Nodes != 0 || empty.Components != 0 {
		t.Errorf("empty: %+v", empty)
	}
}

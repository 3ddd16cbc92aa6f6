package knowledge

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func BenchmarkOpenEmbedded(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Embedded(); err != nil {
			b.Fatal(err)
		}
	}
}

// benchSeeds are ids that a plan of a laboratory would name.
var benchSeeds = []string{
	"cas:26628-22-8", "cas:7647-01-0", "cas:67-64-1", "class:hotplate", "class:centrifuge", "robot:ur5e", "verb:heat", "verb:dispense",
	"hazard:toxic-gas", "topic:prompt-injection", "cwe:CWE-77", "robot:opentrons-ot-2",
}

func BenchmarkRetrieveEmbedded(b *testing.B) {
	g, err := Embedded()
	if err != nil {
		b.Fatal(err)
	}
	var seeds []Seed
	for _, id := range benchSeeds {
		i, ok := g.NodeByID(id)
		if !ok {
			b.Fatalf("no node %s", id)
		}
		seeds = append(seeds, Seed{i, 1})
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(g.Retrieve(seeds, 900)) == 0 {
			b.Fatal("nothing found")
		}
	}
}

// synthetic makes a random graph whose degrees are skewed like those of the
// real one: half of the ends fall on few nodes.
func synthetic(nodes, edges int) *Graph {
	r := rand.New(rand.NewPCG(1, 2))
	g := &Graph{tab: tables{sources: []Source{{Key: "s"}}, kinds: []string{KindChemical}, rels: []string{RelHazard}}}
	g.ids, g.names = make([]string, nodes), make([]string, nodes)
	g.kind, g.src, g.cat, g.numOff = make([]uint8, nodes), make([]uint8, nodes), make([]Category, nodes), make([]uint32, nodes+1)
	for i := range nodes {
		g.ids[i] = fmt.Sprintf("n:%07d", i)
		g.names[i] = g.ids[i][2:]
		g.cat[i] = Category(i % categories)
	}
	list := make([]rawEdge, edges)
	for i := range list {
		to := r.IntN(nodes)
		if i%2 == 0 {
			to = int(float64(nodes) * math.Pow(r.Float64(), 8))
		}
		list[i] = rawEdge{from: int32(r.IntN(nodes)), to: int32(to)}
	}
	slices.SortFunc(list, func(a, b rawEdge) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	g.link(list)
	g.prepare()
	return g
}

// BenchmarkRetrieveMillion reports retrieval and memory on a graph of 1,000,000
// nodes and 10,000,000 edges.
func BenchmarkRetrieveMillion(b *testing.B) {
	g := synthetic(1_000_000, 10_000_000)
	r := rand.New(rand.NewPCG(3, 4))
	b.ReportAllocs()
	for b.Loop() {
		var seeds []Seed
		for range 20 {
			seeds = append(seeds, Seed{int32(r.IntN(g.Len())), 1})
		}
		if len(g.Retrieve(seeds, 900)) == 0 {
			b.Fatal("nothing found")
		}
	}
	b.ReportMetric(float64(g.memory())/(1<<20), "MiB")
}

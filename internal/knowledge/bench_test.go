package knowledge

import "testing"

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

package knowledge

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/site"
	"interlock/internal/verdict"
)

func public(t testing.TB) *Graph {
	t.Helper()
	g, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func seedsOf(t testing.TB, g *Graph, ids ...string) []Seed {
	t.Helper()
	var out []Seed
	for _, id := range ids {
		i, ok := g.NodeByID(id)
		if !ok {
			t.Fatalf("no node %s", id)
		}
		out = append(out, Seed{i, 1})
	}
	return out
}

func TestEmbeddedIsWithinItsBounds(t *testing.T) {
	t.Parallel()
	g := public(t)
	s := g.Stats()
	if s.Nodes < 30_000 || s.Edges < 100_000 || s.Isolated != 0 || EmbeddedSize() > 1_200_000 {
		t.Errorf("%d nodes, %d edges, %d isolated, %d bytes", s.Nodes, s.Edges, s.Isolated, EmbeddedSize())
	}
	for c, n := range s.ByCategory {
		if n < 1000 {
			t.Errorf("category %s has %d nodes", c, n)
		}
	}
	for i := range int32(g.Len()) {
		n := g.Node(i)
		_, own, _ := strings.Cut(n.ID, ":")
		if n.Source == "" || n.Name == "" || n.Name == own && g.Degree(i) < 2 && len(slices.Collect(g.Numbers(i))) == 0 && len(g.Aliases(i)) == 0 {
			t.Errorf("a stub: %+v", n)
		}
		if strings.ContainsAny(n.Name, "\n\t") || len(n.Name) > 200 {
			t.Errorf("%s: a sentence: %q", n.ID, n.Name)
		}
	}
}

func TestAzideWithAcidGivesHydrogenAzide(t *testing.T) {
	t.Parallel()
	g := public(t)
	hits := g.Search(seedsOf(t, g, "cas:26628-22-8", "cas:7647-01-0"), 900)
	if len(hits) == 0 || !strings.Contains(hits[0].Statement, "HN3") || !strings.Contains(hits[0].Statement, "must not meet") {
		t.Fatalf("first statement: %+v", hits)
	}
	found := false
	for _, h := range hits {
		found = found || h.ID == "pair:1-8" && strings.Contains(h.Source, "reactive")
	}
	if !found {
		t.Error("the public pair of reactive groups is not among the statements")
	}
	ethanol, acetone := seedsOf(t, g, "cas:64-17-5")[0].Node, seedsOf(t, g, "cas:67-64-1")[0].Node
	for _, p := range g.Pairs(ethanol, acetone) {
		if g.KindOf(p) == KindIncompatible {
			t.Errorf("ethanol and acetone: %s", g.NameOf(p))
		}
	}
}

// Every judge gets the same evidence, and so does every replay.
func TestC09_RetrievalIsDeterministic(t *testing.T) {
	t.Parallel()
	g, h := public(t), public(t)
	a := g.Retrieve(seedsOf(t, g, benchSeeds...), 900)
	for range 3 {
		if b := h.Retrieve(seedsOf(t, h, benchSeeds...), 900); !slices.Equal(a, b) {
			t.Fatalf("another time gave another answer:\n%v\n%v", a, b)
		}
	}
}

// What is given can be cited: every ID is unique and names a node, every
// statement has a source that the graph declares, all within the budget.
func TestC11_EvidenceIsCitable(t *testing.T) {
	t.Parallel()
	g := public(t)
	sources := map[string]bool{}
	for _, s := range g.Sources() {
		sources[s.Key] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		var seeds []Seed
		for _, i := range rapid.SliceOfN(rapid.Int32Range(-2, int32(g.Len())+2), 0, 80).Draw(t, "nodes") {
			seeds = append(seeds, Seed{i, rapid.SampledFrom([]float64{1, 0.01, 0, -1, math.NaN(), math.Inf(1), 1e300}).Draw(t, "weight")})
		}
		budget := rapid.IntRange(0, 1500).Draw(t, "tokens")
		used, seen := 0, map[string]bool{}
		for _, h := range g.Search(seeds, budget) {
			if i, ok := g.Find(h.ID); !ok || i != h.Node || seen[h.ID] {
				t.Fatalf("%q is no identifier of node %d, or is there twice", h.ID, h.Node)
			}
			seen[h.ID] = true
			used += Tokens(h.Statement) + Tokens(h.ID)
			for _, key := range strings.Fields(h.Source) {
				if !sources[key] {
					t.Fatalf("%s: source %q", h.ID, key)
				}
			}
			if len(h.Path) == 0 || h.Path[len(h.Path)-1] != h.Node || math.IsNaN(h.Score) {
				t.Fatalf("%s: path %v, score %v", h.ID, h.Path, h.Score)
			}
		}
		if used > budget {
			t.Fatalf("%d tokens, more than %d", used, budget)
		}
	})
}

func profile() *site.Site {
	return &site.Site{
		ID: "lab", Name: "A laboratory",
		Zones:      []site.Zone{{ID: "hood", Rule: "sash down"}},
		Robots:     []site.Item{{ID: "arm1", Model: "Universal Robots UR5e", Serves: []string{"hood"}}},
		Devices:    []site.Item{{ID: "hp1", Model: "IKA RET control-visc hotplate/stirrer", Location: "hood"}, {ID: "hood", Model: "ducted fume hood"}},
		Materials:  []site.Material{{Name: "acetone, ethanol", Hazards: []string{"flammable"}, Store: "cabinet"}, {Name: "sodium azide, 99 % solid", Hazards: []string{"toxic"}}},
		Biological: []site.Agent{{Name: "Staphylococcus aureus ATCC 25923", BSL: 2}},
		People:     []site.Person{{Name: "Ada Lovelace", Role: "officer", May: []string{"approve heating"}}},
		Agents:     []site.Planner{{ID: "planner-1"}},
		Tools:      []site.Tool{{Name: "hotplate.set", Args: []site.Arg{{Name: "device", Enum: []any{"hp1"}}}}},
		Rules:      []site.Rule{{ID: "R1", Text: "hp1 stays below 100 C while acetone is in hood."}},
	}
}

func TestOverlayJoinsTheSiteToWhatIsKnown(t *testing.T) {
	t.Parallel()
	g := public(t)
	over, err := Overlay(g, profile())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ from, rel, to string }{
		{"site:arm1", RelSameAs, "robot:ur5e"},
		{"site:hp1", RelSameAs, "class:hotplate"},
		{"site:hp1", RelLocated, "site:hood"},
		{"site:arm1", RelServes, "site:hood"},
		{"site:material/acetone-ethanol", RelSameAs, "cas:67-64-1"},
		{"site:material/acetone-ethanol", RelSameAs, "cas:64-17-5"},
		{"site:material/sodium-azide-99-solid", RelSameAs, "cas:26628-22-8"},
		{"site:staphylococcus-aureus-atcc-25923", RelSameAs, "agent:staphylococcus-aureus"},
		{"site:hotplate.set", RelCapability, "class:hotplate"},
		{"site:hotplate.set", RelUses, "site:hp1"},
		{"site:R1", RelApplies, "site:hp1"},
		{"site:R1", RelApplies, "cas:67-64-1"},
		{"site:ada-lovelace", RelMay, "site:may/approve-heating"},
	} {
		from, ok1 := over.NodeByID(want.from)
		to, ok2 := over.NodeByID(want.to)
		if !ok1 || !ok2 || !slices.Contains(slices.Collect(over.Out(from, want.rel)), to) {
			t.Errorf("%s %s %s is not there", want.from, want.rel, want.to)
		}
	}
	hits := over.Search(seedsOf(t, over, "site:hp1"), 600)
	if len(hits) == 0 || hits[0].ID != "site:hp1" || !strings.Contains(hits[0].Statement, "burn") {
		t.Errorf("the site's hotplate: %+v", hits)
	}
	for _, h := range over.Search(seedsOf(t, over, "site:ada-lovelace", "site:R1"), 900) {
		if strings.Contains(h.Statement, "Lovelace") {
			t.Errorf("a person's name in a statement: %s", h.Statement)
		}
	}
}

// Whatever a profile says, it can be laid beside the graph.
func TestAnyProfileHasAnOverlay(t *testing.T) {
	t.Parallel()
	g := sample(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "x", "hood", "sodium azide", "NaN3, HCl", "a\x00b", strings.Repeat("long ", 200), "()", "37 %"}))
		texts := rapid.SliceOfN(text, 0, 3)
		s := &site.Site{
			ID: text.Draw(t, "id"), Name: text.Draw(t, "name"),
			Zones:      []site.Zone{{ID: text.Draw(t, "zone")}},
			Robots:     []site.Item{{ID: text.Draw(t, "robot"), Model: text.Draw(t, "model"), Location: text.Draw(t, "place"), Serves: texts.Draw(t, "serves")}},
			Devices:    []site.Item{{ID: text.Draw(t, "device"), Model: text.Draw(t, "device model")}},
			Materials:  []site.Material{{Name: text.Draw(t, "material"), CAS: text.Draw(t, "cas"), Hazards: texts.Draw(t, "hazards"), Store: text.Draw(t, "store")}},
			Biological: []site.Agent{{Name: text.Draw(t, "organism"), BSL: rapid.IntRange(-1, 9).Draw(t, "level")}},
			People:     []site.Person{{Name: text.Draw(t, "person"), May: texts.Draw(t, "may")}},
			Agents:     []site.Planner{{ID: text.Draw(t, "agent"), May: texts.Draw(t, "agent may")}},
			Tools:      []site.Tool{{Name: text.Draw(t, "tool"), Args: []site.Arg{{Enum: []any{text.Draw(t, "value")}}}}},
			Rules:      []site.Rule{{ID: text.Draw(t, "rule"), Text: text.Draw(t, "rule text")}},
		}
		over, err := Overlay(g, s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int32(over.Len()) {
			_ = over.Statements(i)
		}
	})
}

// A site adds; it cannot take away from, rename or renumber what is known.
func TestC40_SiteOnlyAdds(t *testing.T) {
	t.Parallel()
	g := public(t)
	before := g.Digest()
	s := profile()
	s.Materials[1].Hazards = []string{"harmless"}
	over, err := Overlay(g, s)
	if err != nil {
		t.Fatal(err)
	}
	if g.Digest() != before || over.Digest() == before || over.Base() != g {
		t.Error("the base changed, or the overlay has its digest")
	}
	for i := range int32(g.Len()) {
		if g.Node(i) != over.Node(i) {
			t.Fatalf("node %s became %+v", g.ID(i), over.Node(i))
		}
		public := slices.Collect(over.Edges(i))
		for e := range g.Edges(i) {
			if !slices.Contains(public, e) {
				t.Fatalf("%s lost %+v", g.ID(i), e)
			}
		}
	}
	azide := seedsOf(t, over, "cas:26628-22-8")
	if got := over.Retrieve(azide, 400); !slices.ContainsFunc(got, func(e verdict.Evidence) bool { return strings.Contains(e.Statement, "H300") }) {
		t.Errorf("the public hazard is gone: %v", got)
	}
	b := NewBuilder(g)
	_ = b.Source(Source{Key: siteSource})
	if b.Node(Node{ID: "cas:26628-22-8", Kind: "material", Name: "harmless salt", Source: siteSource}) == nil {
		t.Error("an overlay replaced a node of its base")
	}
	_ = b.Number("cas:67-64-1", Number{Name: NumFlashPoint, Unit: "K", Value: 1000, Source: siteSource})
	if _, err := b.Build(); err == nil {
		t.Error("an overlay gave a node of its base another flash point")
	}
}

// Coverage: what the example profiles name is known.
func TestProfilesAreCovered(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("INTERLOCK_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	set, err := site.Load(filepath.Join(dir, "sites", "sites.yaml"))
	if err != nil {
		t.Skip("the example profiles are not here: ", err)
	}
	g := public(t)
	things, known := 0, 0
	for _, id := range set.IDs() {
		over, err := Overlay(g, set.Site(id))
		if err != nil {
			t.Fatal(err)
		}
		for i := int32(g.Len()); i < int32(over.Len()); i++ {
			rel := map[string]string{"site_robot": RelSameAs, "site_device": RelSameAs, "material": RelSameAs, "tool": RelCapability, "site_bioagent": "handled_at", "site_rule": RelApplies}[over.KindOf(i)]
			if rel == "" {
				continue
			}
			things++
			if len(slices.Collect(over.Out(i, rel))) > 0 {
				known++
				continue
			}
			t.Logf("%s: nothing known about %s %q", id, over.KindOf(i), over.NameOf(i))
		}
	}
	t.Logf("%d of %d things of the profiles are joined to the graph", known, things)
	if things == 0 || float64(known) < 0.95*float64(things) {
		t.Errorf("only %d of %d", known, things)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	over, err := Overlay(public(t), profile())
	if err != nil {
		t.Fatal(err)
	}
	want := over.Retrieve(seedsOf(t, over, append(benchSeeds, "site:hp1")...), 900)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := over.Retrieve(seedsOf(t, over, append(slices.Clone(benchSeeds), "site:hp1")...), 900); !slices.Equal(got, want) {
				t.Error("another goroutine got another answer")
			}
			_ = over.Lookup("acetone")
		})
	}
	wg.Wait()
}

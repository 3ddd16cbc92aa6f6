package knowledge_test

import (
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/knowledge"
	"interlock/internal/knowledge/derive"
	"interlock/internal/knowledge/link"
	"interlock/internal/site"
)

// The linker and the overlay name the things of a site alike: what the linker
// finds in a plan must be there to seed the retrieval.
func TestLinkedThingsAreNodes(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("INTERLOCK_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	set, err := site.Load(filepath.Join(dir, "sites", "sites.yaml"))
	if err != nil {
		t.Skip("the example profiles are not here: ", err)
	}
	g, err := knowledge.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := derive.NewWorld(g); err != nil {
		t.Fatal(err)
	}
	missing, all := 0, 0
	for _, id := range set.IDs() {
		s := set.Site(id)
		over, err := knowledge.Overlay(g, s)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, n := range link.SiteNames(s, link.GraphNames(g)) {
			if n.Kind == "value" || n.Kind == "denied-tool" || seen[n.ID] {
				continue
			}
			seen[n.ID] = true
			all++
			if _, ok := over.NodeByID(n.ID); !ok {
				missing++
				t.Logf("%s: %s %q links to %s, which is no node", id, n.Kind, n.Text, n.ID)
			}
		}
	}
	t.Logf("%d of %d linked things are nodes", all-missing, all)
	if all == 0 || missing*20 > all {
		t.Errorf("%d of %d are missing", missing, all)
	}
}

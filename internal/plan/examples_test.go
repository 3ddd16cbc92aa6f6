package plan_test

import (
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/plan"
)

func TestExamplesDecode(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "examples", "plans")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		for p, err := range plan.ReadFile(filepath.Join(dir, e.Name()), plan.DefaultLimits()) {
			if err != nil {
				t.Error(err)
				continue
			}
			if p.Site == "" || p.Goal == "" || p.SubmittedBy.Agent == "" || p.SubmittedBy.OnBehalfOf == "" {
				t.Errorf("%s: site, goal, agent or person is missing", e.Name())
			}
			if other := ids[p.ID]; p.ID != "" && other != "" {
				t.Errorf("%s and %s have the id %s", other, e.Name(), p.ID)
			}
			ids[p.ID] = e.Name()
			if over := plan.DefaultLimits().Exceeded(p); len(over) > 0 {
				t.Errorf("%s: over %v", e.Name(), over)
			}
		}
	}
	if len(ids) < 12 {
		t.Errorf("only %d examples", len(ids))
	}
}

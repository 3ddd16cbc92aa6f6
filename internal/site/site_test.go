package site_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/site"
)

// shared returns the path of a file of the raw shared data, or skips.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("INTERLOCK_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared data are absent (%v): set INTERLOCK_SHARED", err)
	}
	return path
}

func TestSharedProfilesLoad(t *testing.T) {
	t.Parallel()
	set, err := site.Load(shared(t, "sites", "sites.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Sites) != 5 {
		t.Fatalf("%d sites, want 5", len(set.Sites))
	}
	for _, s := range set.Sites {
		if s.Digest == "" || len(s.Tools) == 0 || len(s.Rules) == 0 || len(s.People) == 0 || !s.Sandbox.Operable {
			t.Errorf("%s: parts are missing", s.ID)
		}
	}
}

func TestExamplesAreRicherThanShared(t *testing.T) {
	t.Parallel()
	set, err := site.Load(filepath.Join("..", "..", "examples", "sites"))
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Sites) != 5 {
		t.Fatalf("%d sites, want 5", len(set.Sites))
	}
	for _, s := range set.Sites {
		effects := map[site.Effect]int{}
		for i := range s.Tools {
			effects[s.Tools[i].Effect]++
			if s.Tools[i].Hazard == "" {
				t.Errorf("%s: %s has no hazard class", s.ID, s.Tools[i].Name)
			}
		}
		if effects[site.Observe] == 0 || effects[site.Act] == 0 {
			t.Errorf("%s: effects %v", s.ID, effects)
		}
	}
}

// TestExamplesKeepSharedLimits holds our copy against the shared file: what
// we add may only be new, never another limit, tool or rule.
func TestExamplesKeepSharedLimits(t *testing.T) {
	t.Parallel()
	theirs, err := site.Load(shared(t, "sites", "sites.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := site.Load(filepath.Join("..", "..", "examples", "sites"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range theirs.Sites {
		got := ours.Site(want.ID)
		if got == nil {
			t.Errorf("%s is missing", want.ID)
			continue
		}
		for i := range want.Tools {
			if d := cmp.Diff(want.Tools[i].Args, got.Tool(want.Tools[i].Name).Args); d != "" {
				t.Errorf("%s: %s: %s", want.ID, want.Tools[i].Name, d)
			}
		}
		for _, items := range [][]site.Item{want.Robots, want.Devices} {
			for _, it := range items {
				mine := got.Item(it.ID)
				for name, attr := range it.Attrs {
					if d := cmp.Diff(attr, mine.Attrs[name]); d != "" {
						t.Errorf("%s: %s: %s: %s", want.ID, it.ID, name, d)
					}
				}
			}
		}
		for _, part := range [][2]any{{want.Rules, got.Rules}, {want.People, got.People}, {want.Agents, got.Agents}, {want.Materials, got.Materials}, {want.Zones, got.Zones}, {want.Sandbox, got.Sandbox}} {
			if d := cmp.Diff(part[0], part[1]); d != "" {
				t.Errorf("%s: %s", want.ID, d)
			}
		}
	}
}

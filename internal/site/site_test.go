package site_test

import (
	"os"
	"path/filepath"
	"testing"

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

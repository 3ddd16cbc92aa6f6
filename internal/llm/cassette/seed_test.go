package cassette_test

import (
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/llm/cassette"
)

func TestSeedIsKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if got, err := cassette.Seed(dir); got != nil || err != nil {
		t.Errorf("none yet: %q, %v", got, err)
	}
	for _, offered := range []string{"first", "second"} {
		if got, err := cassette.KeepSeed(dir, []byte(offered)); string(got) != "first" || err != nil {
			t.Errorf("offered %s: %q, %v", offered, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "order-seed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := cassette.Seed(dir); err == nil {
		t.Errorf("an empty seed was taken: %q", got)
	}
}

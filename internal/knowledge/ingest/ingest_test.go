package ingest

import (
	"os"
	"path/filepath"
	"testing"
)

// rawDir is where the archives lie, if they do.
func rawDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("INTERLOCK_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "kg")
	if _, err := os.Stat(filepath.Join(dir, "cwe", "cwe.tar.gz")); err != nil {
		t.Skip("the raw archives are not here: set INTERLOCK_SHARED")
	}
	return dir
}

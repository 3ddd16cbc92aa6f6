package plan_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/plan"
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

func TestSuiteDecodes(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(shared(t, "eval", "plans-dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	n := 0
	for sc.Scan() {
		n++
		l, err := plan.DecodeLabelled("plans-dev.jsonl", n, sc.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if l.Extra["label"] == nil || l.Plan.ID == "" {
			t.Errorf("line %d: label or id is missing", n)
		}
		again, err := plan.DecodeJSON("again", plan.Encode(l.Plan))
		if err != nil {
			t.Fatal(err)
		}
		if plan.Digest(again) != plan.Digest(l.Plan) {
			t.Errorf("line %d: the digest changed", n)
		}
	}
	if n == 0 {
		t.Error("the suite is empty")
	}
}

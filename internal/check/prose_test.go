package check

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"interlock/internal/verdict"
)

// Ordinary prose of many kinds (manuals, questions, code, reports of attacks) is
// almost never taken for a hostile act or a broken limit. The texts are the
// benign ones of the injection corpus; the rules were not written on them, though a
// few faults that they showed were mended.
func TestOrdinaryProseIsNotBlocked(t *testing.T) {
	t.Parallel()
	f, err := os.Open(filepath.Join(sharedDir(t), "eval", "injection-dev.jsonl.gz"))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	s := testSite()
	x := compile(s)
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 8<<20)
	n, blocked := 0, map[string]int{}
	for sc.Scan() {
		var row struct{ Text, Label string }
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if row.Label != "benign" {
			continue
		}
		n++
		for _, c := range []Checker{Integrity{x}, Limits{x}} {
			if level, fs := levelOf(c, s, row.Text); level == verdict.Block {
				blocked[fs[0].Rule]++
			}
		}
	}
	total := 0
	for _, k := range blocked {
		total += k
	}
	t.Logf("%d of %d blocked: %v", total, n, blocked)
	if total*100 > n {
		t.Errorf("%d of %d benign texts are blocked: %v", total, n, blocked)
	}
}

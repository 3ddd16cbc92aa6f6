package main

import (
	"strings"
	"testing"
)

// A line over the limit is named, with the limit.
func TestTextRowsNameALineThatIsTooLong(t *testing.T) {
	t.Parallel()
	in := `{"id":"a","text":"x"}` + "\n" + `{"id":"b","text":"` + strings.Repeat("x", longestText) + `"}`
	rows, last := 0, error(nil)
	for _, err := range textRows("f.jsonl", strings.NewReader(in)) {
		if last = err; err == nil {
			rows++
		}
	}
	if rows != 1 || last == nil || !strings.Contains(last.Error(), "f.jsonl:2: the line is longer than 16 MiB") {
		t.Errorf("%d rows, then %v", rows, last)
	}
}

package ingest

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// eachRow calls f for each row of a tab-separated table with a header line.
func eachRow(x file, f func(row map[string]string) error) error {
	lines := strings.Split(strings.ReplaceAll(string(x.data), "\r", ""), "\n")
	head := strings.Split(lines[0], "\t")
	if len(head) < 2 {
		return errors.New("line 1: want a header of columns separated by tabs")
	}
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "" {
			continue
		}
		row := make(map[string]string, len(head))
		for k, v := range strings.Split(line, "\t") {
			if k < len(head) {
				row[head[k]] = v
			}
		}
		if err := f(row); err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	return nil
}

// roundTo keeps n significant digits.
func roundTo(v float64, n int) float64 {
	if v == 0 {
		return 0
	}
	p := math.Pow(10, float64(n)-math.Ceil(math.Log10(math.Abs(v))))
	return math.Round(v*p) / p
}

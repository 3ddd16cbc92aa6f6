package injection

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

//go:embed data/own.jsonl.gz
var ownRowsFile []byte

// ownRows are the texts of the rows that stand in this repository.
func ownRows(tb testing.TB) []string {
	tb.Helper()
	z, err := gzip.NewReader(bytes.NewReader(ownRowsFile))
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var row struct{ Text string }
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			tb.Fatal(err)
		}
		out = append(out, row.Text)
	}
	if len(out) == 0 || sc.Err() != nil {
		tb.Fatalf("no rows: %v", sc.Err())
	}
	return out
}

// variedMix makes n different texts of 2 KB from our own rows, most of which
// are attacks, in many languages and disguises: nothing repeats, no text is
// friendly to a cache.
func variedMix(tb testing.TB, n int) []string {
	tb.Helper()
	rows := ownRows(tb)
	rng := rand.New(rand.NewPCG(11, 12))
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for b.Len() < 2048 {
			b.WriteString(rows[rng.IntN(len(rows))])
			b.WriteByte('\n')
		}
		out[i] = strings.ToValidUTF8(b.String()[:2048], "")
	}
	return out
}

// BenchmarkVariedMix screens 10,000 varied texts of 2 KB and reports the
// median, the 99th percentile and the ratio to the reference, which reads every
// two hundredth of them in the same run.
func BenchmarkVariedMix(b *testing.B) {
	s := newScreen(b, Options{})
	texts := variedMix(b, 10_000)
	patterns := standardPatterns(s)
	for range b.N {
		ours := make([]time.Duration, len(texts))
		var sampled, theirs time.Duration
		for i, t := range texts {
			t0 := time.Now()
			s.Text(t)
			ours[i] = time.Since(t0)
			if i%200 == 0 {
				t0 = time.Now()
				reference(s, patterns, t)
				theirs += time.Since(t0)
				sampled += ours[i]
			}
		}
		total := time.Duration(0)
		for _, d := range ours {
			total += d
		}
		slices.Sort(ours)
		mean := float64(total) / float64(len(ours))
		b.ReportMetric(float64(ours[len(ours)/2].Nanoseconds())/1000, "p50-us")
		b.ReportMetric(float64(ours[len(ours)*99/100].Nanoseconds())/1000, "p99-us")
		b.ReportMetric(mean/1000, "mean-us")
		b.ReportMetric(float64(theirs)/50/mean, "x-reference")
		b.ReportMetric(float64(theirs)/50/1000, "reference-us")
	}
}

// What a screen keeps is bounded: after the first texts have been learnt from,
// thousands of new ones do not make the heap grow without end.
func TestHeapStaysFlat(t *testing.T) {
	s := newScreen(t, Options{})
	texts := variedMix(t, 2_000)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) >> 20
	}
	for i, text := range texts {
		s.Text(text)
		if i%200 == 0 {
			s.Text(hostileText(20_000)) // fills what hostile text may fill
		}
	}
	before := heap()
	for round := range 4 {
		for _, text := range texts {
			s.Text(text[round+1:] + " " + text[:round+1]) // not the same texts
		}
	}
	after := heap()
	runtime.KeepAlive(s)
	t.Logf("heap %d MB after 2,000 texts, %d MB after 10,000", before, after)
	const mostGrowth, most = 24, 160 // MB
	if after-before > mostGrowth || after > most {
		t.Errorf("the heap grew from %d MB to %d MB", before, after)
	}
}

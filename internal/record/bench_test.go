package record

import (
	"crypto/rand"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkAppend measures durable appends of one event, alone and with
// callers that share transactions.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			l := benchLog(b)
			var n atomic.Int64
			b.SetParallelism(callers)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := l.Append(b.Context(), StateChanged{Site: "lab", Name: strconv.FormatInt(n.Add(1), 10), Value: "open"}); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkGet measures reading a decision with its proofs in a log of 5,000
// events.
func BenchmarkGet(b *testing.B) {
	l := benchLog(b)
	rec := NewRecorder(l)
	s := submission("p")
	for i := range 1000 {
		id := "d" + strconv.Itoa(i)
		if err := rec.Received(b.Context(), id, s); err != nil {
			b.Fatal(err)
		}
		if err := rec.Decided(b.Context(), s, report(id, s)); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for i := range b.N {
		if _, err := l.Get(b.Context(), "d"+strconv.Itoa(i%1000)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchLog(b *testing.B) *Log {
	b.Helper()
	path := filepath.Join(b.TempDir(), "s.db")
	key, err := LoadOrCreateKey(rand.Reader, path+".key")
	if err != nil {
		b.Fatal(err)
	}
	l, err := Open(b.Context(), path, key, Options{Create: true, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	return l
}

// BenchmarkVerify measures a whole look at a log of 10,000 events.
func BenchmarkVerify(b *testing.B) {
	l := benchLog(b)
	const n = 10_000
	batch := make([]Event, 0, n)
	for i := range n {
		batch = append(batch, StateChanged{Site: "lab", Name: strconv.Itoa(i), Value: "open"})
	}
	if _, err := l.Append(b.Context(), batch...); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		if v, err := l.Verify(b.Context(), ""); err != nil || !v.OK() {
			b.Fatal(v.Problems, err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "events/s")
}

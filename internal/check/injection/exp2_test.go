package injection

import (
	"fmt"
	"os"
	"sort"
	"testing"
)

func TestExpRules(t *testing.T) {
	if os.Getenv("EXPR") == "" {
		t.Skip()
	}
	rows := readRows(t, "/work/shared/eval/injection-dev.jsonl.gz", false)
	if os.Getenv("EXPR") == "aug" {
		rows = readRows(t, "/work/shared/eval/injection-augmentation.jsonl.gz", false)
	}
	s, err := New(Options{NoModel: true})
	if err != nil {
		t.Fatal(err)
	}
	fp, tp := map[string]int{}, map[string]int{}
	ex := map[string][]string{}
	for _, r := range rows {
		if r.Tier == "stress" {
			continue
		}
		v := s.Text(r.Text)
		if os.Getenv("SRC") == r.Source && r.Attack && v.Sigma < 0.57 {
			fmt.Printf("MISS %.2f disc=%v %.300q\n", v.Sigma, v.Discounted, r.Text)
		}
		for _, f := range v.Findings {
			if r.Attack {
				tp[f.Rule]++
			} else {
				fp[f.Rule]++
				if len(ex[f.Rule]) < 6 {
					a, b := max(0, f.Span.Start-30), min(len(r.Text), f.Span.End+30)
					ex[f.Rule] = append(ex[f.Rule], fmt.Sprintf("   [%s] %.160q", r.Source, r.Text[a:b]))
				}
			}
		}
	}
	var ids []string
	for k := range fp {
		ids = append(ids, k)
	}
	sort.Slice(ids, func(i, j int) bool { return fp[ids[i]] > fp[ids[j]] })
	for _, id := range ids {
		fmt.Println(id, "fp", fp[id], "tp", tp[id])
		for _, e := range ex[id] {
			fmt.Println(e)
		}
	}
	for k := range tp {
		if fp[k] == 0 {
			fmt.Print(k, ":", tp[k], " ")
		}
	}
	fmt.Println()
	for _, r := range s.rules {
		if tp[r.ID] == 0 {
			fmt.Print(r.ID, " never; ")
		}
	}
}

package eval

import "testing"

func TestMeasureSequences(t *testing.T) {
	t.Parallel()
	r := MeasureSequences([]Sequence{
		{ID: "late", Pattern: "creep", Attack: true, First: 1, Alarm: 3, Rules: [][]string{nil, nil, nil, {"A", "B"}}},
		{ID: "early", Pattern: "creep", Attack: true, First: 3, Alarm: 2, Rules: [][]string{nil, nil, {"A"}, {"A"}}},
		{ID: "missed", Pattern: "split", Attack: true, First: 0, Alarm: -1},
		{ID: "honest", First: -1, Alarm: -1},
		{ID: "false", First: -1, Alarm: 0, Rules: [][]string{{"B"}}},
	})
	if r.Attacks != 3 || r.Caught != 2 || r.InTime != 1 || r.MeanDelay != 1 || r.Benign != 2 || r.FalseAlarms != 1 {
		t.Errorf("%+v", r)
	}
	if r.ByPattern["creep"] != [2]int{2, 2} || r.ByPattern["split"] != [2]int{0, 1} || r.ByRule["A"] != 2 || r.ByRule["B"] != 2 {
		t.Errorf("%v %v", r.ByPattern, r.ByRule)
	}
	if ci := r.CI95["caught"]; !(ci[0] > 0 && ci[1] < 1) {
		t.Errorf("interval %v", ci)
	}
	if none := MeasureSequences(nil); none.MeanDelay != 0 || none.Caught != 0 {
		t.Errorf("%+v", none)
	}
}

package memory

import (
	"fmt"
	"testing"
)

func TestNoveltyIsTheDistanceToWhatWasAccepted(t *testing.T) {
	t.Parallel()
	weigh := known("weigh two grams of salt on the balance and note it", []string{"cas:7647-14-5", "site:bal1"}, "balance.weigh")
	alike := known("weigh three grams of salt on the balance and note it", []string{"cas:7647-14-5", "site:bal1"}, "balance.weigh")
	f := NewFamiliar()
	if n := f.Novelty("lab", weigh); n != 1 {
		t.Errorf("with nothing to compare with: %v, want 1", n)
	}
	f.Accepted("lab", weigh)
	f.Accepted("lab", nil)
	if n := f.Novelty("lab", weigh); n > 1e-9 {
		t.Errorf("the same plan: %v, want 0", n)
	}
	if n := f.Novelty("lab", alike); n <= 0 || n > 0.5 {
		t.Errorf("a plan like it: %v", n)
	}
	if n := f.Novelty("lab", azide); n < 0.8 {
		t.Errorf("another plan: %v", n)
	}
	if n := f.Novelty("lab", nil); n != 1 {
		t.Errorf("a plan of which nothing is known: %v, want 1", n)
	}
	if n := f.Novelty("elsewhere", weigh); n != 1 {
		t.Errorf("another site: %v, want 1", n)
	}
	for i := range mostFamiliar { // the oldest goes
		f.Accepted("lab", known(fmt.Sprintf("carry rack %d to shelf %d", i, i), []string{fmt.Sprintf("site:rack%d", i)}))
	}
	if n := f.Novelty("lab", weigh); n < 0.8 || len(f.kept) != mostFamiliar {
		t.Errorf("what was pushed out still counts: %v, %d kept", n, len(f.kept))
	}
}

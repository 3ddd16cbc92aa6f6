package memory

import (
	"sync"

	"interlock/internal/fact"
)

// Familiar is what was accepted lately. How unlike a new plan is to all of it
// says how many judges hear it first; it lifts nothing and holds nothing up.
// It is safe for concurrent use.
type Familiar struct {
	mu    sync.RWMutex // owns what follows
	kept  []accepted
	next  int // place of the oldest once there are mostFamiliar
	sites map[string]int
}

type accepted struct {
	site string
	features
}

// mostFamiliar bounds what is kept: a comparison with all of it takes less than
// the first byte of a judge's answer.
const mostFamiliar = 512

// NewFamiliar knows nothing yet.
func NewFamiliar() *Familiar { return &Familiar{sites: map[string]int{}} }

// Accepted adds a plan that was accepted; the oldest goes when there are too
// many.
func (f *Familiar) Accepted(site string, facts *fact.Set) {
	if facts == nil {
		return
	}
	k := accepted{site, featuresOf(facts)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sites[site]++
	if len(f.kept) < mostFamiliar {
		f.kept = append(f.kept, k)
		return
	}
	f.sites[f.kept[f.next].site]--
	f.kept[f.next] = k
	f.next = (f.next + 1) % mostFamiliar
}

// Novelty is the distance in [0,1] to the nearest plan accepted at the site; 1
// if there is none, or nothing is known of the plan.
func (f *Familiar) Novelty(site string, facts *fact.Set) float64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if facts == nil || f.sites[site] == 0 {
		return 1
	}
	feat := featuresOf(facts)
	nearest := 0.0
	for i := range f.kept {
		if k := &f.kept[i]; k.site == site {
			nearest = max(nearest, nodeWeight*shared(k.nodes, feat.nodes)+wordingWeight*k.wording(&feat))
		}
	}
	return 1 - min(nearest, 1)
}

// shared is the part of the nodes of two plans, each sorted, that both have.
func shared(a, b []uint32) float64 {
	same, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			same, i, j = same+1, i+1, j+1
		}
	}
	if all := len(a) + len(b) - same; all > 0 {
		return float64(same) / float64(all)
	}
	return 0
}

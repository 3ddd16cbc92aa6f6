package memory

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/plan"
)

// maxNodes and sketchSize bound what is kept of one plan: 64 words of 4 bytes.
const (
	maxNodes   = 32
	sketchSize = 32
)

// features is what is compared of a plan: the nodes of the graph it touches,
// and a sketch of its wording.
type features struct {
	nodes  []uint32           // hashed, sorted, at most maxNodes
	names  []string           // of nodes, the same order; for the explanation
	sketch [sketchSize]uint32 // minimum hashes of its two-word shingles
}

// restated is the hard fact that says which weakness a finding stands for. It
// speaks of who handed the plan in as well as of the plan, so a plan would be
// another one for being suspect.
const restated = "FACT-TECHNIQUE"

// featuresOf reads the features of a plan. Proofs and materials come before
// tools and acts: where there are too many nodes, the telling ones are kept.
func featuresOf(f *fact.Set) features {
	var names []string
	add := func(n string) {
		if n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, h := range f.Hard {
		if h.Rule == restated {
			continue
		}
		add("hazard:" + h.Rule)
		for _, n := range h.Path {
			add(n)
		}
	}
	for _, e := range f.Entities {
		if e.Kind != "concept" && (e.At.Part == "" || e.At.Part == "goal") {
			add(e.ID)
		}
	}
	for _, c := range f.Calls {
		add("tool:" + c.Tool)
	}
	for i := range f.Texts {
		t := &f.Texts[i]
		if t.Part != "" && t.Part != "goal" {
			continue
		}
		for _, w := range t.Words {
			for _, tag := range w.Tags {
				if strings.HasPrefix(tag, "act:") && !w.Negated {
					add(tag)
				}
			}
		}
	}
	out := features{sketch: sketchOf(f)}
	if len(names) > maxNodes {
		names = names[:maxNodes]
	}
	slices.SortFunc(names, func(a, b string) int { return int(int64(hash(a)) - int64(hash(b))) })
	for _, n := range names {
		out.nodes = append(out.nodes, hash(n))
	}
	out.names = names
	return out
}

// sketchOf keeps the minimum hash of the shingles under sketchSize functions:
// the share of equal places estimates how much wording two plans share.
func sketchOf(f *fact.Set) (s [sketchSize]uint32) {
	for k := range s {
		s[k] = math.MaxUint32
	}
	for i := range f.Texts {
		t := &f.Texts[i]
		if t.Part != "" && t.Part != "goal" {
			continue
		}
		last := ""
		for _, w := range t.Words {
			if w.Class == fact.Function {
				continue
			}
			h := hash(last + " " + w.Lemma)
			last = w.Lemma
			for k := range s {
				s[k] = min(s[k], mix(h, uint32(k)))
			}
		}
	}
	return s
}

func (a *features) wording(b *features) float64 {
	same := 0
	for k := range a.sketch {
		if a.sketch[k] == b.sketch[k] && a.sketch[k] != math.MaxUint32 {
			same++
		}
	}
	return float64(same) / sketchSize
}

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// mix gives the k-th hash function: a finaliser over a value and a seed.
func mix(h, k uint32) uint32 {
	h ^= (k + 1) * 0x9e3779b9
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// scope is what a precedent is bound to (C41): the very things used, and how
// much of each.
type scope struct {
	tools, materials, places, people []string
	amounts                          map[string][2]float64 // axis of thing -> [lowest, highest]
}

func scopeOf(p *plan.Plan, f *fact.Set) scope {
	s := scope{amounts: map[string][2]float64{}}
	for _, c := range f.Calls {
		s.tools = append(s.tools, c.Tool)
	}
	for _, e := range f.Entities {
		switch e.Kind {
		case "material", "bioagent", "labware":
			s.materials = append(s.materials, e.ID)
		case "zone", "value", "device", "robot":
			s.places = append(s.places, e.ID)
		case "person", "agent":
			s.people = append(s.people, e.ID)
		}
	}
	s.people = append(s.people, "by:"+p.SubmittedBy.Agent, "for:"+p.SubmittedBy.OnBehalfOf)
	slices.Sort(s.tools) // with repetitions: ten more pours of the same amount are no equal plan
	for _, l := range []*[]string{&s.materials, &s.places, &s.people} {
		slices.Sort(*l)
		*l = slices.Compact(*l)
	}
	for _, q := range f.Quantities {
		key := q.Axis + " of " + q.Of
		for _, v := range q.Readings {
			r, ok := s.amounts[key]
			if !ok {
				r = [2]float64{v, v}
			}
			s.amounts[key] = [2]float64{min(r[0], v), max(r[1], v)}
		}
		if q.Bad || len(q.Readings) == 0 {
			s.amounts[key+" unreadable"] = [2]float64{}
		}
	}
	return s
}

// covers reports whether another plan uses the same things and no quantity
// outside what was approved. A quantity has no side that is safe in general,
// so "no worse" means inside, and one that is not stated any more is not inside.
func (s scope) covers(o scope) bool {
	if !slices.Equal(s.tools, o.tools) || !slices.Equal(s.materials, o.materials) || !slices.Equal(s.places, o.places) || !slices.Equal(s.people, o.people) ||
		len(s.amounts) != len(o.amounts) {
		return false
	}
	for k, v := range o.amounts {
		r, ok := s.amounts[k]
		if !ok || v[0] < r[0] || v[1] > r[1] || strings.HasSuffix(k, "unreadable") {
			return false
		}
	}
	return true
}

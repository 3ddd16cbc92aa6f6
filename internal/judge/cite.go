package judge

import (
	"slices"
	"strings"

	"interlock/internal/verdict"
)

// unfoundedPrice is the share of its confidence that an opinion loses when
// everything it cites is unsupported (C11).
const unfoundedPrice = 0.5

// known maps, in one spelling, every identifier that a judge was given to the
// way we write it: evidence, findings and facts first, then the parts of the
// site profile.
func known(in Input) map[string]string {
	ids := map[string]string{}
	add := func(id string) {
		if _, taken := ids[spell(id)]; !taken {
			ids[spell(id)] = id
		}
	}
	for _, e := range in.Evidence {
		add(e.ID)
	}
	for _, f := range in.Findings {
		add(f.Rule)
		for _, ref := range f.Refs {
			add(ref)
		}
	}
	if in.Facts != nil {
		for _, h := range in.Facts.Hard {
			add(h.Rule)
		}
	}
	for _, r := range in.Site.Rules {
		add(r.ID)
	}
	for _, z := range in.Site.Zones {
		add(z.ID)
	}
	for _, t := range in.Site.Tools {
		add(t.Name)
	}
	for _, it := range slices.Concat(in.Site.Robots, in.Site.Devices) {
		add(it.ID)
	}
	return ids
}

// spell brings a citation into one spelling: models add brackets and words
// such as "rule".
func spell(id string) string {
	id = strings.ToLower(strings.Trim(strings.TrimSpace(id), "[]()\"'`.,;"))
	for _, word := range []string{"site rule ", "rule ", "finding ", "evidence ", "fact "} {
		id = strings.TrimPrefix(id, word)
	}
	return strings.TrimSpace(id)
}

// checkCites keeps the citations that the judge was given and moves the others
// to Unfounded. Those lower its confidence; its risks stay as they are: an
// invented source never shortens the tail (C11).
func checkCites(o *verdict.Opinion, ids map[string]string) {
	total, bad := 0, 0
	for i := range o.Risks {
		var kept []string
		for _, c := range o.Risks[i].Cites {
			total++
			id, ok := ids[spell(c)]
			switch {
			case !ok:
				bad++
				if !slices.Contains(o.Unfounded, c) {
					o.Unfounded = append(o.Unfounded, c)
				}
				continue
			case !slices.Contains(kept, id):
				kept = append(kept, id)
			}
			if !slices.Contains(o.Cites, id) {
				o.Cites = append(o.Cites, id)
			}
		}
		o.Risks[i].Cites = kept
	}
	if total > 0 {
		o.Confidence *= 1 - unfoundedPrice*float64(bad)/float64(total)
	}
}

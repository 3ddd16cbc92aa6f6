package window

import (
	"slices"
	"strings"

	"interlock/internal/fact"
)

// An opening is a safeguard that a plan leaves open, off or out.
type opening struct {
	what   string
	things []string // what it protects or belongs to
}

// barrier reports a word for what keeps people and hazards apart.
func barrier(w *fact.Token) bool {
	return !w.Negated && (tagged(w, "safeguard", "fire:door") || slices.Contains([]string{"door", "lock", "compartment", "port", "guard", "lid", "sash", "gate", "shutter", "cover", "fence", "hatch", "cage", "curtain", "shield"}, w.Lemma))
}

// safeguards notes what is left open and what is put back.
func (r *reader) safeguards(words []fact.Token, things []string) {
	what := ""
	for i := range words {
		if barrier(&words[i]) {
			what = words[i].Lemma
			break
		}
	}
	stays := said(words, "leave", "left", "keep", "stay", "remain", "until", "later", "meanwhile")
	apart := stays && (anyTagged(words, "act:open", "state:open", "act:bypass", "act:defeat") || said(words, "out", "off", "unlocked", "open", "disabled", "loose"))
	if what == "" && !(apart && said(words, "unlock", "unlocked")) {
		return
	}
	if len(things) == 0 {
		things = r.t.things
	}
	things = slices.DeleteFunc(slices.Clone(things), r.site.isRoom)
	switch {
	case slices.ContainsFunc(words, func(w fact.Token) bool { return w.Hedged || w.Quoted }):
	case anyTagged(words, "act:resume", "act:close") && !apart, said(words, "works", "restore", "refit", "reinstall", "reconnect", "back", "rearm", "confirm", "replace") && !apart:
		for _, t := range things {
			r.t.restores = note(r.t.restores, t)
		}
		r.t.leaves = slices.DeleteFunc(r.t.leaves, func(o opening) bool { return overlap(o.things, things) })
	case apart || anyTagged(words, "act:defeat") && !anyTagged(words, "test:safeguard"):
		if len(r.t.leaves) < maxDoses {
			r.t.leaves = append(r.t.leaves, opening{strings.TrimSpace(what), things})
		}
	}
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

package derive

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/fact"
	"interlock/internal/site"
)

// claimKinds are the preconditions that plans assert, by the concept that
// shows them (C32).
var claimKinds = []struct{ tag, kind string }{
	{"person:absent", "presence"},
	{"claim:approval", "approval"},
	{"claim:permit", "permit"},
	{"state:calibrated", "calibration"},
	{"claim:inventory", "inventory"},
	{"claim:weather", "weather"},
	{"claim:state", "state"},
}

// claims collects what the steps assert about the world. What a step goes and
// reads is no claim; only live state verifies one.
func claims(s *fact.Set, state site.State, now time.Time) []fact.Claim {
	var out []fact.Claim
	eachSentence(s, func(t *fact.Text, words []fact.Token) {
		if looksItUp(words) {
			return
		}
		for _, k := range claimKinds {
			i := slices.IndexFunc(words, func(w fact.Token) bool { return hasTag(w, k.tag) && !w.Hedged && !w.Negated })
			if i < 0 {
				continue
			}
			start, end := words[i].Start, words[i].End
			for j := i + 1; j < len(words) && hasTag(words[j], k.tag); j++ {
				end = words[j].End
			}
			c := fact.Claim{Kind: k.kind, Text: t.Raw[start:end], At: t.At(words[i])}
			c.At.End = end
			c.Source, c.Verified = verifiedBy(k.kind, words, state, now)
			out = append(out, c)
		}
	})
	return out
}

// looksItUp reports a sentence that begins by reading the condition itself:
// "Read room_presence", "Check bsc1 airflow".
func looksItUp(words []fact.Token) bool {
	for i, w := range words {
		if i > 3 {
			return false
		}
		if hasTag(w, "act:observe") && w.Lemma != "test" && !strings.HasSuffix(w.Text, "ed") {
			return true
		}
	}
	return false
}

// verifiedBy looks for a fresh reading of live state that says the same.
func verifiedBy(kind string, words []fact.Token, state site.State, now time.Time) (string, bool) {
	for _, name := range sortedReadings(state) {
		v, ok := state.Known(name, now)
		if !ok || !concerns(kind, name, words) {
			continue
		}
		if agrees(kind, v.Text, words) {
			return name, true
		}
	}
	return "", false
}

func sortedReadings(state site.State) []string {
	names := make([]string, 0, len(state.Readings))
	for n := range state.Readings {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// concerns reports whether a reading is about what the words claim.
func concerns(kind, name string, words []fact.Token) bool {
	if kind == "presence" {
		return strings.Contains(name, "presence")
	}
	return lemma(words, strings.ToLower(name))
}

// agrees compares a reading with the claim: nobody there, or the same word or
// number.
func agrees(kind, text string, words []fact.Token) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	if kind == "presence" {
		return slices.Contains([]string{"clear", "none", "empty", "nobody", "no", "0", "false"}, text)
	}
	v, err := strconv.ParseFloat(text, 64)
	for _, w := range words {
		if w.Negated {
			continue
		}
		if strings.ToLower(w.Text) == text {
			return true
		}
		if x, e := strconv.ParseFloat(w.Text, 64); err == nil && e == nil && x == v {
			return true
		}
	}
	return false
}

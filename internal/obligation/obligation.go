// Package obligation holds what a plan claims, and what a site demands before
// anything moves, against live state (C32). A claim is not a fact: what nothing
// verifies goes to a person when the plan is judged, and stops the call when
// it is made.
package obligation

import (
	"slices"
	"strings"
	"time"

	"interlock/internal/fact"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Judge returns what is not verified of a plan about to be judged. The rule is
// OBL- with the kind of the obligation, e.g. OBL-PRESENCE. What is not known,
// or only claimed, is flagged for a person, whatever the judges say; what a fresh reading contradicts blocks.
func Judge(s *site.Site, facts *fact.Set, state site.State, now time.Time) []verdict.Finding {
	var out []verdict.Finding
	for _, o := range s.Obligations {
		if o.Reading == "" {
			out = append(out, claimed(o, facts)...)
			continue
		}
		if !concerned(o, facts) {
			continue
		}
		v, known := state.Known(o.Reading, now)
		switch {
		case !known:
			out = append(out, finding(o, verdict.Flag, verdict.Span{}, o.Reading+" is not known now", "have "+o.Reading+" reported by its device"))
		case !o.Fulfilled(v.Text):
			out = append(out, finding(o, verdict.Block, verdict.Span{}, o.Reading+" is not as it must be", "bring about "+o.String()))
		}
	}
	return out
}

// Dispatch returns what stops a call that is about to go out: an obligation
// with a reading that does not hold now. Nobody is there to be asked any more,
// so what is not known stops it as well.
func Dispatch(s *site.Site, hazard string, state site.State, now time.Time) []verdict.Finding {
	var out []verdict.Finding
	for _, o := range s.Obligations {
		if o.Reading == "" || !covers(o, hazard) {
			continue
		}
		v, known := state.Known(o.Reading, now)
		switch {
		case !known:
			out = append(out, finding(o, verdict.Block, verdict.Span{}, o.Reading+" is not known now", "have "+o.Reading+" reported by its device"))
		case !o.Fulfilled(v.Text):
			out = append(out, finding(o, verdict.Block, verdict.Span{}, o.Reading+" is not as it must be", "bring about "+o.String()))
		}
	}
	return out
}

// claimed flags each claim of the obligation's kind that nothing verifies.
func claimed(o site.Obligation, facts *fact.Set) []verdict.Finding {
	if facts == nil {
		return nil
	}
	var out []verdict.Finding
	for _, c := range facts.Claims {
		if c.Kind == o.Kind && !c.Verified {
			out = append(out, finding(o, verdict.Flag, c.At, "a "+c.Kind+" that the plan claims is not verified", "have it verified by live state, or let a person attest it"))
		}
	}
	return out
}

// concerned reports whether a plan has, or may have, a call the obligation is
// for. A plan that names no calls may make any; an unknown tool or one without
// a hazard class may be any.
func concerned(o site.Obligation, facts *fact.Set) bool {
	if facts == nil || len(facts.Calls) == 0 {
		return true
	}
	return slices.ContainsFunc(facts.Calls, func(c fact.Call) bool {
		return !c.Listed || (c.Effect == site.Act.String() && covers(o, c.Hazard))
	})
}

func covers(o site.Obligation, hazard string) bool {
	return len(o.Hazards) == 0 || hazard == "" || slices.Contains(o.Hazards, hazard)
}

func finding(o site.Obligation, level verdict.Level, at verdict.Span, message, need string) verdict.Finding {
	return verdict.Finding{Rule: "OBL-" + strings.ToUpper(o.Kind), Level: level, Class: verdict.Safety, Person: true, Span: at, Message: message, Need: need}
}

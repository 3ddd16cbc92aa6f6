// Package fact holds what the deterministic layers know about one plan as
// typed values: entities with their places in the text, quantities in SI,
// vessels and contents, people, claims, hard facts with their proof. Site
// rules and judges reason over these, never over regular expressions.
package fact

import (
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// A Set is everything known about one plan.
type Set struct {
	Submitter  Submitter
	Texts      []Text // goal, steps, prose arguments, attachments, in this order
	Calls      []Call
	Entities   []Entity
	Quantities []Quantity
	Vessels    []Vessel
	Claims     []Claim
	Hard       []Hard
	Unlinked   []Word // words no lexicon knows
}

// An Entity is something the text names that the graph or the site knows.
type Entity struct {
	ID         string // node of the graph, e.g. "site:hp1", "cas:26628-22-8"
	Kind       string // "device", "robot", "tool", "material", "person", "zone", "agent", "bioagent", "verb", "hazard", …
	Name       string // canonical
	Text       string // as written
	At         verdict.Span
	Candidates []string // other nodes it might be, when ambiguous
}

// A Quantity is a number with a unit found in the text or in an argument.
type Quantity struct {
	quantity.Quantity
	At   verdict.Span
	Of   string // entity it belongs to, "" unknown
	Axis string // what it limits, e.g. "speed", "temperature", "pressure"; "" unknown
}

// A Vessel is a container and what the plan puts into it, in order.
type Vessel struct {
	Name     string
	Contents []string // entity IDs
	Steps    []int    // step in which each was added
}

// A Claim is a precondition the plan asserts (C32).
type Claim struct {
	Kind     string // "presence", "approval", "permit", "calibration", "inventory", "weather", "state"
	Text     string
	At       verdict.Span
	Verified bool
	Source   string // what verified it; "" when only claimed
}

// A Hard fact follows deterministically from the graph, with its path as proof.
type Hard struct {
	Rule      string // e.g. "INCOMPAT-001"
	Level     verdict.Level
	Class     verdict.Class
	Statement string   // e.g. "sodium azide + hydrochloric acid: hydrogen azide (HN3), toxic, explosive"
	Path      []string // node IDs
	At        verdict.Span
	Need      string // what would have to change; "" if nothing a planner could do
}

// A Word is a piece of text nothing was linked to.
type Word struct {
	Text string
	At   verdict.Span
}

// HardOf returns the hard facts of one class of concern.
func (s *Set) HardOf(class verdict.Class) []Hard {
	if s == nil {
		return nil
	}
	var out []Hard
	for _, h := range s.Hard {
		if h.Class == class {
			out = append(out, h)
		}
	}
	return out
}

package verdict

import "strconv"

// A Span points into a plan without quoting it.
type Span struct {
	Step  int    `json:"step"`           // 1-based step it concerns; 0: the plan as a whole
	Part  string `json:"part,omitempty"` // "" the step's text; else "goal", "calls[2].speed_mm_s", "attachments[1].text", "submitted_by.agent" (indices from 1)
	Start int    `json:"start"`          // byte range in that part;
	End   int    `json:"end"`            // both zero: the whole part
}

// String gives the span as people cite it, e.g. "step 2, bytes 10-18".
func (s Span) String() string {
	out := s.Part
	if s.Step > 0 {
		if out != "" {
			out = " " + out
		}
		out = "step " + strconv.Itoa(s.Step) + out
	}
	if out == "" {
		out = "plan"
	}
	if s.End > s.Start {
		out += " bytes " + strconv.Itoa(s.Start) + "-" + strconv.Itoa(s.End)
	}
	return out
}

// A Finding is one thing one deterministic check noticed.
type Finding struct {
	Rule    string   `json:"rule"` // stable identifier, e.g. "PROV-003"
	Level   Level    `json:"level"`
	Class   Class    `json:"class"`           // the concern it would be, if it is one; Clean for notes
	Score   float64  `json:"score,omitempty"` // suspicion in [0,1]; zero for rules that do not score
	Span    Span     `json:"span"`
	Message string   `json:"message"`          // for people: what was seen, without quoting more than a few words
	Need    string   `json:"need,omitempty"`   // what would have to change (C8); empty if nothing a planner could do
	Person  bool     `json:"person,omitempty"` // a person must decide, whatever the judges say
	Refs    []string `json:"refs,omitempty"`   // outside identifiers: site rule (R4), ATLAS technique, CWE
}

// WorstLevel returns the worst level among findings, Pass when there are none.
func WorstLevel(findings []Finding) Level {
	worst := Pass
	for _, f := range findings {
		worst = worst.Worst(f.Level)
	}
	return worst
}

// Evidence is one citable statement of the knowledge graph.
type Evidence struct {
	ID        string  `json:"id"`        // what opinions cite
	Category  string  `json:"category"`  // one of the five categories of K
	Source    string  `json:"source"`    // citable origin
	Statement string  `json:"statement"` // one short sentence
	Score     float64 `json:"score,omitempty"`
}

// Inspected says what was looked at and what was not (C7).
type Inspected struct {
	Parts        []string `json:"parts"`                   // parts of the plan that every check saw
	NotInspected []string `json:"not_inspected,omitempty"` // parts that could not be, each with its cause
	Facts        string   `json:"facts,omitempty"`         // "declared" or "confirmed": the standing of the sandbox facts
}

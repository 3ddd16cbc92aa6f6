// Package redact takes a plan's words out of the opinions about it before the
// chief reads them (C10). A plan must not reach the chief through a judge that
// quotes it: neither its content, nor an instruction hidden in it.
//
// What survives over all the fields together is at most Run consecutive words
// of the plan and at most Share of its word shingles. Words are compared in a
// normalised form, and as one stream of letters and digits, so that neither
// case, accents, width, invisible characters, punctuation nor spelling a word
// apart or two words together lets them through.
package redact

import (
	"strings"

	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// The bounds of C10.
const (
	Run     = 5    // consecutive words of the plan that may survive
	Shingle = 3    // words in one shingle
	Share   = 0.05 // of the plan's distinct shingles that may survive
)

// Mark stands for what was taken out. It is a word, so that what stood left and
// right of it is not consecutive.
const Mark = "[redacted]"

// screened stands for a text that addresses its reader.
const screened = "[withheld by the screen]"

// A Redactor redacts opinions. Suspicious, which may be nil, reports whether a
// text looks like an instruction to whoever reads it; such a text is withheld
// as a whole (second-order injection). Unnamed, which may be nil, gives what
// takes the names out of texts about a plan: judges' words name people again
// for whoever reads them here, and the chief may be hosted (C45).
type Redactor struct {
	Suspicious func(string) bool
	Unnamed    func(*plan.Plan) func(string) string
}

// Opinions redacts without a screen for second-order injection.
func Opinions(p *plan.Plan, opinions []verdict.Opinion) []verdict.Opinion {
	return Redactor{}.Redact(p, opinions)
}

// Redact returns copies of the opinions that the chief may read. Numbers and
// supported citations stay; names of judges and models, causes of abstention
// and unsupported citations, which a plan could have put there, are blanked.
func (r Redactor) Redact(p *plan.Plan, opinions []verdict.Opinion) []verdict.Opinion {
	out := make([]verdict.Opinion, len(opinions))
	copy(out, opinions)
	var fields []*string // in the order the chief reads them
	for i := range out {
		o := &out[i]
		o.Judge, o.Family, o.Model, o.Replaces, o.Samples, o.Unchecked = "", "", "", "", nil, nil
		if o.Abstained != "" {
			o.Abstained = "no usable answer"
		}
		o.Unfounded = make([]string, len(opinions[i].Unfounded)) // their number counts, not their text
		o.Risks = append([]verdict.Risk(nil), opinions[i].Risks...)
		for k := range o.Risks {
			fields = append(fields, &o.Risks[k].Hazard)
		}
		fields = append(fields, &o.Rationale)
	}
	for _, f := range fields {
		if *f != "" && r.Suspicious != nil && r.Suspicious(*f) {
			*f = screened
		}
	}
	if r.Unnamed != nil {
		unnamed := r.Unnamed(p)
		for _, f := range fields {
			*f = unnamed(*f)
		}
	}
	newSource(p).redact(fields)
	return out
}

// planTexts are all texts of a plan, as a judge read them.
func planTexts(p *plan.Plan) []string {
	texts := []string{p.Goal, p.SubmittedBy.Agent, p.SubmittedBy.OnBehalfOf}
	for i, s := range p.Steps {
		texts = append(texts, s)
		for _, c := range p.Calls(i + 1) {
			texts = append(texts, callText(c))
		}
	}
	for _, c := range p.OnAbort {
		texts = append(texts, callText(c))
	}
	for _, a := range p.Attachments {
		texts = append(texts, a.Source, a.Text)
	}
	return texts
}

func callText(c plan.ToolCall) string {
	var b strings.Builder
	b.WriteString(c.Tool)
	flatten(&b, c.Arguments)
	if c.Expect != nil {
		flatten(&b, c.Expect.Map())
	}
	return b.String()
}

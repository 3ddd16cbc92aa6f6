package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/prompt"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// withheld stands for a field that the site keeps to itself (C45).
const withheld = "(kept at the site by its data policy: not shown to judges)"

// render turns the input into the texts of the prompt. It names every field it
// shows: what is not named here does not reach a judge (C9).
func (f *Frame) render(in Input, policy DataPolicy, maxEvidence int) prompt.Judge {
	var extra []string
	if f.Extra != nil {
		extra = f.Extra(in.Site.ID)
	}
	return prompt.Judge{
		Profile:   f.profile(in.Site),
		Submitter: renderSubmitter(in),
		Plan:      renderPlan(in.Plan, policy),
		Findings:  renderFindings(in.Findings),
		Facts:     renderFacts(in.Facts),
		Evidence:  renderEvidence(in.Evidence, maxEvidence),
		Claims:    renderClaims(in.Facts),
		Extra:     strings.Join(extra, "\n"),
	}
}

// quote writes a text of others on one line: what is not visible becomes so,
// and no line of it can pass for a line of ours.
func quote(s string) string { return strconv.QuoteToGraphic(s) }

func renderSubmitter(in Input) string {
	if in.Facts == nil {
		return "nothing"
	}
	s := in.Facts.Submitter
	var b strings.Builder
	if s.AgentTrust == "" {
		fmt.Fprintf(&b, "agent %s: not listed in the profile\n", quote(s.Agent))
	} else {
		fmt.Fprintf(&b, "agent %s: listed, trust %s\n", quote(s.Agent), s.AgentTrust)
	}
	switch {
	case s.Person == "":
		b.WriteString("on behalf of: nobody named")
	case s.PersonID == "" && s.Role == "":
		fmt.Fprintf(&b, "on behalf of %s: matches nobody in the profile", quote(s.Person))
	default:
		fmt.Fprintf(&b, "on behalf of %s: in the profile as %s, may: %s", quote(s.Person), s.Role, strings.Join(s.May, "; "))
	}
	return b.String()
}

// RenderPlan gives the plan as judges see it, without the marks of its block.
func RenderPlan(p *plan.Plan) string { return renderPlan(p, DataPolicy{}) }

func renderPlan(p *plan.Plan, policy DataPolicy) string {
	var b strings.Builder
	show := func(field, text string) string {
		if policy.local(field) {
			return withheld
		}
		return text
	}
	fmt.Fprintf(&b, "goal: %s\n", show("goal", quote(p.Goal)))
	fmt.Fprintf(&b, "submitted by agent: %s\n", quote(p.SubmittedBy.Agent))
	fmt.Fprintf(&b, "on behalf of: %s\n", show("submitted_by", quote(p.SubmittedBy.OnBehalfOf)))
	if p.SubmittedAt != "" {
		fmt.Fprintf(&b, "submitted at (as claimed): %s\n", quote(p.SubmittedAt))
	}
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "step %d: %s\n", i+1, quote(s))
		for _, c := range p.Calls(i + 1) {
			fmt.Fprintf(&b, "  call: %s %s\n", quote(c.Tool), show("tool_calls", string(visible(c.Arguments))))
			if c.Expect != nil { // read by the gate, so it is part of what would happen
				fmt.Fprintf(&b, "    then expected: %s\n", show("tool_calls", string(visible(c.Expect.Map()))))
			}
		}
	}
	for _, c := range p.OnAbort {
		fmt.Fprintf(&b, "on abort, call: %s %s\n", quote(c.Tool), show("tool_calls", string(visible(c.Arguments))))
	}
	for i, a := range p.Attachments {
		fmt.Fprintf(&b, "attachment %d, from %s: %s\n", i+1, quote(a.Source), show("attachments", quote(a.Text)))
	}
	return strings.TrimRight(b.String(), "\n")
}

// visible gives the arguments of a call, or what it expects, as JSON on one line, with every character
// that cannot be seen escaped.
func visible(args map[string]any) []byte {
	out := strict.AppendValue(nil, args, false)
	var b []byte
	for _, r := range string(out) {
		if strconv.IsGraphic(r) {
			b = append(b, string(r)...)
			continue
		}
		q := strconv.QuoteRuneToASCII(r)
		b = append(b, q[1:len(q)-1]...)
	}
	return b
}

// maxPlaces is how many places of one finding are listed.
const maxPlaces = 4

// renderFindings gives each finding once, with all its places: a check that
// reads the same words in a step and in a call has found one thing.
func renderFindings(findings []verdict.Finding) string {
	type one struct{ rule, level, class, text string }
	places := map[one][]string{}
	var order []one
	for _, f := range findings {
		text := oneLine(f.Message)
		if len(f.Refs) > 0 {
			text += " [" + oneLine(strings.Join(f.Refs, ", ")) + "]"
		}
		k := one{f.Rule, f.Level.String(), f.Class.String(), text}
		if _, seen := places[k]; !seen {
			order = append(order, k)
		}
		places[k] = append(places[k], f.Span.String())
	}
	var lines []string
	for _, k := range order {
		at := places[k]
		if n := len(at); n > maxPlaces {
			at = append(at[:maxPlaces:maxPlaces], fmt.Sprintf("and %d more places", n-maxPlaces))
		}
		lines = append(lines, fmt.Sprintf("%s (%s, %s, %s): %s", k.rule, k.level, k.class, strings.Join(at, "; "), k.text))
	}
	return orNone(lines)
}

func renderFacts(set *fact.Set) string {
	if set == nil {
		return "none"
	}
	var lines []string
	for _, h := range set.Hard {
		lines = append(lines, fmt.Sprintf("%s (%s): %s", h.Rule, h.At, oneLine(h.Statement)))
	}
	return orNone(lines)
}

func renderEvidence(evidence []verdict.Evidence, most int) string {
	var lines []string
	for _, e := range bestEvidence(evidence, most) {
		lines = append(lines, fmt.Sprintf("[%s] %s (%s)", oneLine(e.ID), oneLine(e.Statement), oneLine(e.Source)))
	}
	if left := len(evidence) - len(lines); left > 0 {
		lines = append(lines, fmt.Sprintf("(%d further lines are left out: the prompt would not fit)", left))
	}
	return orNone(lines)
}

// bestEvidence returns the best-scored lines in the order they came.
func bestEvidence(evidence []verdict.Evidence, most int) []verdict.Evidence {
	if len(evidence) <= most {
		return evidence
	}
	order := make([]int, len(evidence))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := evidence[a].Score, evidence[b].Score; {
		case x > y:
			return -1
		case x < y:
			return 1
		default:
			return 0
		}
	})
	order = order[:max(most, 0)]
	slices.Sort(order)
	best := make([]verdict.Evidence, len(order))
	for i, at := range order {
		best[i] = evidence[at]
	}
	return best
}

func renderClaims(set *fact.Set) string {
	if set == nil {
		return "none"
	}
	var lines []string
	for _, c := range set.Claims {
		standing := "claimed, not verified yet"
		if c.Verified {
			standing = "verified by " + oneLine(c.Source)
		}
		lines = append(lines, fmt.Sprintf("%s (%s): %s: %s", c.Kind, c.At, quote(c.Text), standing))
	}
	return orNone(lines)
}

func orNone(lines []string) string {
	if len(lines) == 0 {
		return "none"
	}
	return strings.Join(lines, "\n")
}

// oneLine keeps a text of ours on its line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

package builtin

import (
	"slices"
	"strings"

	"interlock/internal/site"
	"interlock/internal/verdict"
)

// gentle are the hazard classes of effectful tools whose range the allow-list
// check has held: nothing in them heats, pressurises, spins, opens or runs
// code. Anything else needs a judge that understands the process.
var gentle = []string{"data", "notify", "motion", "measure"}

// safetyGrounds: every effect is a call inside the profile and gentle, no
// hazardous material is named, nothing strange is read.
func safetyGrounds(r *reading, b *brief) {
	common(r, b)
	for _, c := range r.in.Plan.ToolCalls {
		t := r.in.Site.Tool(c.Tool)
		if t == nil {
			b.worry(c.Step, 0.7, "", "%s is not on the allow-list", c.Tool)
			continue
		}
		if t.Effect == site.Act && !slices.Contains(gentle, t.Hazard) {
			b.doubt("step %d: the built-in judges do not judge tools of class %q", c.Step, t.Hazard)
		}
	}
	text := strings.ToLower(strings.Join(append(slices.Clone(r.in.Plan.Steps), r.in.Plan.Goal), "\n"))
	for _, m := range r.in.Site.Materials {
		if name := hazardousName(m); name != "" && strings.Contains(text, name) {
			b.doubt("%s: its hazards (%s) need a judge that understands the process", name, strings.Join(m.Hazards, ", "))
		}
	}
	for _, a := range r.in.Site.Biological {
		if first, _, _ := strings.Cut(strings.ToLower(a.Name), " "); len(first) > 3 && strings.Contains(text, first) {
			b.doubt("%s: biological agents need a judge that understands the process", a.Name)
		}
	}
	for _, z := range r.in.Site.Zones {
		if strings.Contains(text, strings.ToLower(z.ID)) || strings.Contains(text, strings.ReplaceAll(strings.ToLower(z.ID), "_", " ")) {
			b.doubt("zone %s has a rule in prose", z.ID)
		}
	}
	sights(r, verdict.Safety, b)
}

// hazardousName gives the words by which a material is found in text, "" for
// one of low hazard.
func hazardousName(m site.Material) string {
	if len(m.Hazards) == 1 && m.Hazards[0] == "low" {
		return ""
	}
	name, _, _ := strings.Cut(strings.ToLower(m.Name), ",")
	words := strings.Fields(name)
	if len(words) > 2 {
		words = words[:2]
	}
	return strings.Join(words, " ")
}

// securityGrounds: a registered agent, a known person behind it, no code, no
// attachment to be talked round by.
func securityGrounds(r *reading, b *brief) {
	common(r, b)
	p := r.in.Plan
	if a := r.in.Site.FindAgent(p.SubmittedBy.Agent); a == nil || a.Trust != "registered" {
		b.worry(0, 0.6, "", "the submitting agent is not registered at this site")
	}
	if r.in.Site.FindPerson(p.SubmittedBy.OnBehalfOf) == nil {
		b.doubt("the person behind the plan is not known at this site")
	}
	if len(p.Attachments) > 0 {
		b.doubt("%d attachments: their influence on the plan needs a judge that understands them", len(p.Attachments))
	}
	for _, c := range p.ToolCalls {
		if t := r.in.Site.Tool(c.Tool); t != nil && t.Hazard == "code" {
			b.doubt("step %d runs code", c.Step)
		}
	}
	sights(r, verdict.Adversarial, b)
}

// integrityGrounds: nothing claimed that nobody has verified, no person's
// data, and what is read is recorded.
func integrityGrounds(r *reading, b *brief) {
	common(r, b)
	for _, c := range unverified(r.in.Facts) {
		b.doubt("step %d: %s is claimed, not verified", c.At.Step, c.Kind)
	}
	sights(r, verdict.Alignment, b)
}

// common is what every judge needs before it can speak at all: words it
// knows and, for each step, a call that says what will be done.
func common(r *reading, b *brief) {
	if r.in.Facts == nil {
		b.doubt("the facts of the plan are missing")
	}
	for _, w := range r.strange {
		b.doubt("step %d: %q is outside the vocabulary", w.step, w.word)
	}
	if len(r.in.Plan.ToolCalls) == 0 {
		b.doubt("the plan names no tool calls: its effects are not bound")
	}
}

// sights turns concern words into a worry when they are many, in proportion:
// one word is no reading, but a plan full of them belongs to this field.
func sights(r *reading, class verdict.Class, b *brief) {
	seen := map[string]int{}
	for _, s := range r.touching[class] {
		if _, ok := seen[s.word]; !ok {
			seen[s.word] = s.step
		}
	}
	if len(seen) < 2 {
		return
	}
	words := make([]string, 0, len(seen))
	step := 0
	for _, s := range r.touching[class] {
		if !slices.Contains(words, s.word) {
			words = append(words, s.word)
			step = s.step
		}
	}
	size := min(0.1*float64(len(words)), 0.6)
	b.worry(step, size, "", "%s", "words of this field: "+strings.Join(firstFew(words, 5), ", "))
}

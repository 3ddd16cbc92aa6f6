package builtin

import (
	"slices"
	"strings"
	"unicode"

	"interlock/internal/judge"
	"interlock/internal/site"
)

// gentle are the hazard classes of effectful tools whose range the allow-list
// check has held: nothing in them heats, pressurises, spins, opens or runs
// code.
var gentle = []string{"record", "notify", "motion", "measure"}

// safetyGrounds: every effect is a call inside the profile and gentle, no
// hazardous material and no restricted place is named.
func safetyGrounds(in judge.Input, r *reading, b *brief) {
	common(in, r, b)
	for _, c := range in.Plan.ToolCalls {
		t := in.Site.Tool(c.Tool)
		if t == nil {
			b.worry(c.Step, 0.7, "", "%s is not on the allow-list", c.Tool)
			continue
		}
		if kind := kindOf(t); !slices.Contains(gentle, kind) {
			b.doubt("step %d: the built-in judges do not judge tools of class %q", c.Step, kind)
		}
	}
	if in.Facts == nil {
		return
	}
	effectGrounds(in, b)
	for _, e := range in.Facts.Entities {
		switch e.Kind {
		case "material", "chemical":
			if !harmless(in.Site, e.Name) {
				b.doubt("step %d: the hazards of %s need a judge that understands the process", e.At.Step, e.Name)
			}
		case "bioagent":
			b.doubt("step %d: work with %s needs a judge that understands the process", e.At.Step, e.Name)
		case "zone":
			b.doubt("step %d: zone %s has a rule in prose", e.At.Step, e.Name)
		}
	}
}

// kinds are the hazard classes that the last word of a tool's name stands for
// where the profile states none. They are grounds for a judge only: the gate
// goes by what the profile states, and a tool that states nothing is gated.
var kinds = map[string]string{
	"read": "measure", "status": "measure", "lookup": "measure", "capture": "measure", "weigh": "measure", "gauge": "measure",
	"append": "record", "record": "record", "log": "record", "save": "record", "operator": "notify", "announce": "notify",
	"goto": "motion", "move": "motion", "dock": "motion", "patrol": "motion", "park": "motion",
}

func kindOf(t *site.Tool) string {
	switch {
	case t.Effect == site.Observe:
		return "measure"
	case t.Hazard != "":
		return t.Hazard
	}
	words := nameWords(t)
	if len(words) == 0 {
		return ""
	}
	return kinds[words[len(words)-1]]
}

func nameWords(t *site.Tool) []string {
	return strings.FieldsFunc(strings.ToLower(t.Name), func(r rune) bool { return r == '.' || r == '_' })
}

// harmless reports whether the site itself lists a material as of low hazard
// only; water needs no listing.
func harmless(s *site.Site, name string) bool {
	name = strings.ToLower(name)
	if name == "water" {
		return true
	}
	for _, m := range s.Materials {
		if len(m.Hazards) == 1 && m.Hazards[0] == "low" && strings.Contains(strings.ToLower(m.Name), name) {
			return true
		}
	}
	return false
}

// securityGrounds: a registered agent, a known person behind it, no code, no
// attachment to be talked round by.
func securityGrounds(in judge.Input, r *reading, b *brief) {
	common(in, r, b)
	if a := in.Site.FindAgent(in.Plan.SubmittedBy.Agent); a == nil || a.Trust != "registered" {
		b.worry(0, 0.6, "", "the submitting agent is not registered at this site")
	}
	switch p := in.Site.FindPerson(in.Plan.SubmittedBy.OnBehalfOf); {
	case p == nil:
		b.doubt("the person behind the plan is not known at this site")
	case !mayRun(p):
		b.doubt("%s may only propose: somebody else has to run the plan", p.Role)
	}
	if in.Facts != nil {
		saidGrounds(in, b)
		goalGrounds(in, b)
	}
	if len(in.Plan.Attachments) > 0 {
		b.doubt("%d attachments: their influence on the plan needs a judge that understands them", len(in.Plan.Attachments))
	}
	for _, c := range in.Plan.ToolCalls {
		if t := in.Site.Tool(c.Tool); t != nil && t.Hazard == "code" {
			b.doubt("step %d runs code", c.Step)
		}
		for _, v := range c.Arguments {
			if !plain(v) {
				b.doubt("step %d: an argument of %s is not plain words, numbers or labels", c.Step, c.Tool)
			}
		}
	}
}

// mayRun reports whether a person may do more than propose, ask and watch. One
// for whom the profile lists nothing may not.
func mayRun(p *site.Person) bool {
	return slices.ContainsFunc(p.May, func(may string) bool {
		verb, _, _ := strings.Cut(strings.ToLower(may), " ")
		return !slices.Contains([]string{"propose", "request", "ask", "suggest", "watch", "observe", "receive"}, verb)
	})
}

// plain reports whether an argument can be nothing but words, numbers and
// labels: no structure, and no character that a shell, a query or a markup
// reads as its own.
func plain(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.ContainsFunc(v, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" .,:-_/%°+", r)
		})
	case []any, map[string]any:
		return false
	default:
		return true
	}
}

// integrityGrounds: nothing claimed that nobody has verified.
func integrityGrounds(in judge.Input, r *reading, b *brief) {
	common(in, r, b)
	if in.Facts == nil {
		return
	}
	recordGrounds(in, b)
	for _, c := range in.Facts.Claims {
		if !c.Verified {
			b.doubt("step %d: %s is claimed, not verified", c.At.Step, c.Kind)
		}
	}
}

// common is what every judge needs before it can accept: words it knows,
// routine acts that are meant as said, and calls that bind the effects.
func common(in judge.Input, r *reading, b *brief) {
	if in.Facts == nil {
		b.doubt("the facts of the plan are missing")
		return
	}
	for _, w := range r.strange {
		b.doubt("step %d: %q is outside the vocabulary", w.At.Step, w.Text)
	}
	for _, s := range r.unusual {
		b.doubt("step %d: %q (%s) is not routine", s.step, s.word, s.tag)
	}
	for _, s := range r.denied {
		b.doubt("step %d: %q is denied or quoted", s.step, s.word)
	}
	if len(in.Plan.ToolCalls) == 0 {
		b.doubt("the plan names no tool calls: its effects are not bound")
	}
}

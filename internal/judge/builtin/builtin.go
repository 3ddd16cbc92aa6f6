// Package builtin holds judges that need no model. They are not language
// models and never say so: each reads a plan with a closed vocabulary and the
// findings, facts and evidence it is given, from one point of view.
//
// They accept on positive grounds only: every word of every step is one they
// know, every effect is a call inside the profile, and nothing in their field
// was flagged. Where they cannot tell they abstain, and say over what. What
// they cannot read is left to models or to a person; that costs acceptances,
// never safety.
package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/judge"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Family is the family of every built-in judge.
const Family = "builtin"

// Panel returns the three built-in judges: physical safety, security,
// research integrity and authority.
func Panel() []judge.Judge {
	naming := ownNaming()
	return []judge.Judge{
		view{name: "builtin-safety", naming: naming, class: verdict.Safety, hazard: "harm that a routine step can still do", grounds: safetyGrounds},
		view{name: "builtin-security", naming: naming, class: verdict.Adversarial, hazard: "a source that is not what it says", grounds: securityGrounds},
		view{name: "builtin-integrity", naming: naming, class: verdict.Alignment, hazard: "a record that is not what it says", grounds: integrityGrounds},
	}
}

// An Ensemble convenes built-in judges alone. They answer at once, so each is
// heard to its end and in order: the same plan gives the same opinions.
type Ensemble []judge.Judge

// Convene asks every judge.
func (e Ensemble) Convene(ctx context.Context, in judge.Input) []verdict.Opinion {
	opinions := make([]verdict.Opinion, len(e))
	for i, j := range e {
		opinions[i] = j.Judge(ctx, in)
	}
	return opinions
}

// A view is one point of view on the same reading.
type view struct {
	name    string
	naming  *Naming
	class   verdict.Class
	hazard  string // the risk that remains when it accepts
	grounds func(judge.Input, *reading, *brief)
}

func (v view) Name() string   { return v.name }
func (v view) Family() string { return Family }

// A brief collects what one judge has to say.
type brief struct {
	concerns []concern // in its field: it does not accept
	unsure   []string  // what it cannot tell: it abstains if there is no concern
	cites    []string
}

type concern struct {
	step int
	why  string
	cite string  // finding or evidence it rests on, "" for its own reading
	size float64 // severity of the risk it stands for, [0,1]
}

func (b *brief) worry(step int, size float64, cite, format string, args ...any) {
	b.concerns = append(b.concerns, concern{step, fmt.Sprintf(format, args...), cite, size})
}

func (b *brief) doubt(format string, args ...any) {
	b.unsure = append(b.unsure, fmt.Sprintf(format, args...))
}

// Judge forms the opinion of this view.
func (v view) Judge(_ context.Context, in judge.Input) verdict.Opinion {
	r := read(in.Facts)
	var b brief
	v.grounds(in, r, &b)
	v.flags(in.Findings, &b)
	for _, h := range in.Facts.HardOf(v.class) {
		b.worry(h.At.Step, 0.7, h.Rule, "%s", h.Statement)
	}
	class := v.class
	if len(b.concerns)+len(b.unsure) > 0 {
		class = v.field(in, &b)
	}
	for _, e := range in.Evidence {
		if len(b.cites) < 3 {
			b.cites = append(b.cites, e.ID)
		}
	}
	o := verdict.Opinion{Judge: v.name, Family: Family, Unchecked: uncheckedRules(in.Site), Cites: b.cites}
	switch {
	case len(b.concerns) > 0:
		v.worried(&o, class, b)
	case len(b.unsure) > 0:
		o.Abstained = "cannot tell: " + strings.Join(firstFew(b.unsure, 4), "; ")
	default:
		o.Outcome, o.Class, o.Confidence = verdict.Accept, verdict.Clean, 0.8
		o.Risks = []verdict.Risk{{Hazard: v.hazard, Severity: 0.3, Likelihood: 0.02}}
		o.Rationale = fmt.Sprintf("All %d steps use only routine words, every effect is a call inside the profile, nothing in this field was flagged.", len(in.Plan.Steps))
	}
	return o
}

// worried fills in an opinion that escalates. Its risks stay below the bound
// of a rejection: certain harm is blocked by the checks, not by a reading of
// words.
func (v view) worried(o *verdict.Opinion, class verdict.Class, b brief) {
	o.Outcome, o.Class = verdict.Escalate, class
	largest := 0.0
	why := slices.Clone(firstFew(b.unsure, 4)) // what it could not tell comes first: it is what a planner can mend
	for _, c := range b.concerns {
		risk := verdict.Risk{Hazard: c.why, Severity: c.size, Likelihood: 0.3, Step: c.step}
		if c.cite != "" {
			risk.Cites = []string{c.cite}
		}
		largest = max(largest, c.size)
		o.Risks = append(o.Risks, risk)
		why = append(why, c.why)
	}
	o.Confidence = min(0.5+largest/2, 0.95)
	o.Rationale = strings.Join(firstFew(why, 6), "; ")
}

// field names the class of a plan that cannot be accepted. A flag of one field
// is often the trace of another ("a value is filled in" by an attacker, or by
// somebody who wants to be done), so every judge names what the whole plan
// resembles, and the judge whose field that is speaks up even without a flag:
// somebody has to say what a person should look for.
func (v view) field(in judge.Input, b *brief) verdict.Class {
	class, words := v.naming.Class(Features(in))
	if class == verdict.Unclassified {
		return v.class
	}
	if class == v.class {
		b.worry(0, 0.4, "", "resembles plans of this field: %s", strings.Join(words, ", "))
	}
	return class
}

// flags takes over what the checks noticed in this judge's field.
func (v view) flags(findings []verdict.Finding, b *brief) {
	for _, f := range findings {
		if f.Level == verdict.Pass {
			continue
		}
		if f.Class == v.class || (f.Class == verdict.Unclassified && v.class == verdict.Safety) {
			b.worry(f.Span.Step, 0.6, f.Rule, "%s", f.Message)
		}
	}
}

// uncheckedRules names the prose rules that no rule as code covers: the
// built-in judges cannot check them, and say so.
func uncheckedRules(s *site.Site) []string {
	var covered, open []string
	for _, c := range s.Checks {
		covered = append(covered, c.Covers...)
	}
	for _, r := range s.Rules {
		if !slices.Contains(covered, r.ID) {
			open = append(open, r.ID)
		}
	}
	return open
}

func firstFew(s []string, n int) []string {
	if len(s) <= n {
		return s
	}
	return append(slices.Clone(s[:n]), fmt.Sprintf("and %d more", len(s)-n))
}

package check

import (
	"slices"
	"strings"

	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Integrity looks for acts that no plan may order: a safeguard defeated, a
// record falsified, something hidden, data taken out, authority assumed. It
// reads clauses, so that "is never bypassed" is not "bypass".
type Integrity struct{ x *index }

// NewIntegrity returns the check for one site.
func NewIntegrity(s *site.Site) Integrity { return Integrity{compile(s)} }

// ID implements Checker.
func (Integrity) ID() string { return "integrity" }

func (c Integrity) index() *index { return c.x }

// Check implements Checker.
func (c Integrity) Check(in Input) Result {
	x := c.x.of(in.Site)
	t := in.parse(x.lex)
	r := Result{Parts: make([]string, 0, len(t.parts))}
	for i := range t.parts {
		p := &t.parts[i]
		if p.role == roleAttachment { // data: what it says is not carried out; the screen reads it
			continue
		}
		r.Parts = append(r.Parts, p.name)
		if p.role == roleArgument && !prose(p) {
			continue
		}
		t.hits = x.acts.find(p, t.hits[:0])
		r.Findings = x.report(p, t.hits, r.Findings)
		r.Findings = hiddenText(p, r.Findings)
		r.Findings = address(p, r.Findings)
	}
	r.Findings = dedupe(r.Findings)
	return r
}

// report turns hits into findings, at the level each deserves where it stands.
// Of several hits of one rule in a part the first is cited, at the worst level.
func (x *index) report(p *part, hits []hit, dst []verdict.Finding) []verdict.Finding {
	before := len(dst)
	for k := range hits {
		h := &hits[k]
		worst := h.rule.level
		if p.role == roleArgument && worst == verdict.Block && !strings.HasPrefix(h.rule.id, "INT-07") && !message(p.tool) {
			worst = verdict.Flag // a text that is stored is not an order; the step that stores it is judged too
		}
		found := slices.IndexFunc(dst[before:], func(f verdict.Finding) bool { return f.Rule == h.rule.id })
		if found >= 0 && dst[before+found].Level.Worst(worst) == dst[before+found].Level {
			continue
		}
		level := h.level(p.toks)
		if level == verdict.Block {
			level = worst
		}
		switch {
		case level == verdict.Pass:
		case found >= 0:
			dst[before+found].Level = dst[before+found].Level.Worst(level)
		default:
			dst = append(dst, verdict.Finding{
				Rule: h.rule.id, Level: level, Class: h.rule.class, Span: p.at(int(p.toks[h.start].start), int(p.toks[h.end].end)),
				Message: h.rule.message, Need: h.rule.need, Refs: h.rule.refs,
			})
		}
	}
	return dst
}

// hiddenText reports characters that a reader cannot see or would misread.
func hiddenText(p *part, dst []verdict.Finding) []verdict.Finding {
	for i := range p.toks {
		if t := &p.toks[i]; t.hidden || t.mixed {
			return append(dst, verdict.Finding{
				Rule: "INT-090", Level: verdict.Flag, Class: verdict.Adversarial, Span: p.at(int(t.start), int(t.end)),
				Message: "a word holds invisible or look-alike characters", Need: "write it in plain characters", Refs: []string{"CWE-1007"},
			})
		}
	}
	return dst
}

// address reports a URL or e-mail address: a plan has no business outside.
func address(p *part, dst []verdict.Finding) []verdict.Finding {
	for i := range p.toks {
		if t := &p.toks[i]; t.address {
			return append(dst, verdict.Finding{
				Rule: "INT-033", Level: verdict.Flag, Class: verdict.Adversarial, Span: p.at(int(t.start), int(t.end)),
				Message: "the plan names an address on a network", Need: "name the site's own store or person",
			})
		}
	}
	return dst
}

// prose reports whether an argument holds words rather than a name.
func prose(p *part) bool { return len(p.toks) >= 3 || freeText(p.arg) }

// freeText reports arguments meant for sentences.
func freeText(arg string) bool {
	switch arg {
	case "text", "message", "note", "notes", "comment", "reason", "description", "body", "subject", "content", "title":
		return true
	}
	return false
}

// message reports tools whose text is read by a person as a request.
func message(tool string) bool {
	for _, w := range [...]string{"notify", "announce", "message", "mail", "speak", "say", "display", "page", "alert", "call", "chat"} {
		if strings.Contains(tool, w) {
			return true
		}
	}
	return false
}

// dedupe keeps the first of equal findings and drops a flag beside a block of
// the same rule at the same place.
func dedupe(fs []verdict.Finding) []verdict.Finding {
	out := fs[:0]
	for _, f := range fs {
		dup := false
		for k := range out {
			if out[k].Span.Step == f.Span.Step && out[k].Rule == f.Rule && out[k].Span.Part == f.Span.Part {
				out[k].Level = out[k].Level.Worst(f.Level)
				dup = true
				break
			}
		}
		if !dup {
			out = append(out, f)
		}
	}
	return out
}

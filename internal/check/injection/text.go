package injection

import (
	"fmt"
	"slices"

	"interlock/internal/check/injection/normal"
	"interlock/internal/verdict"
)

// A Verdict is what the screen says of one text.
type Verdict struct {
	Sigma      float64           // of the calibrated stack, [0,1]
	SigmaPaper float64           // 0.65·regex + 0.35·fuzzy, [0,1]
	Level      verdict.Level     // of the score that gates
	Findings   []verdict.Finding // one for each rule that matched, one for the score; spans in the text's bytes
	Views      []string          // how the text was read
	Unread     []normal.Gap      // parts that look encoded and could not be read
	Discounted bool              // the text quotes an attack and reports it
}

// Rule ids of findings that are no rule's.
const (
	RuleScore  = "INJ-W"      // sigma reached a threshold
	RulePhrase = "INJ-PHRASE" // nearly a known phrase
)

// Text screens one text.
func (s *Screen) Text(text string) Verdict {
	w := s.borrow()
	defer s.workers.Put(w)
	return w.text([]byte(text), false, true)
}

// text screens one text. An executable one is given no discount; hidden limits
// the work to readings other than the plain one.
func (w *worker) text(text []byte, executable, plain bool) Verdict {
	s := w.screen
	views, gaps := w.reader.Views(text)
	var v Verdict
	var g sigmas
	addresses := false
	var base *evidence
	for i, view := range views {
		v.Views = append(v.Views, view.Kind)
		if i == 0 && !plain {
			continue
		}
		ev := w.gather(view)
		g = g.worst(ev.sigma)
		for _, e := range ev.events {
			addresses = addresses || s.rules[e.rule].Addresses
		}
		v.Findings = w.findings(v.Findings, ev)
		_ = base
	}
	if s.gates(g) >= s.tau.TauW && !executable && !addresses && plain {
		if out, ok := w.unquoted(text, len(views) == 1); ok {
			v.Discounted = true
			g = s.discount(g, out)
		}
	}
	v.Unread = slices.Clone(gaps)
	v.Sigma, v.SigmaPaper = g.stack, g.paper
	v.Level = s.tau.level(s.gates(g))
	v.Findings = s.finish(v.Findings, v)
	return v
}

// mostFindings bounds the findings of one text; the score knows them all.
const mostFindings = 40

// findings adds what one view holds. Their level is set when the score of the
// whole is known.
func (w *worker) findings(to []verdict.Finding, ev *evidence) []verdict.Finding {
	s := w.screen
	for _, e := range ev.events {
		r := &s.rules[e.rule]
		if len(to) >= mostFindings || slices.ContainsFunc(to, func(f verdict.Finding) bool { return f.Rule == r.ID }) {
			continue
		}
		start, end := ev.view.Span(s.begin(ev.view.Text, e), int(e.end))
		to = append(to, verdict.Finding{
			Rule: r.ID, Class: r.Concern, Score: r.Severity, Span: verdict.Span{Start: start, End: end},
			Message: r.Class + ": " + r.Rationale + how(ev.view), Refs: r.Refs,
		})
	}
	best, at := 0.0, -1
	for i, h := range ev.hits {
		if a := s.phrases[h.Phrase].above(h.Score); a > best {
			best, at = a, i
		}
	}
	if at >= 0 && len(to) < mostFindings && !slices.ContainsFunc(to, func(f verdict.Finding) bool { return f.Rule == RulePhrase }) {
		h := ev.hits[at]
		start, end := ev.view.Span(int(h.Start), int(h.End))
		to = append(to, verdict.Finding{
			Rule: RulePhrase, Class: verdict.Adversarial, Score: best, Span: verdict.Span{Start: start, End: end},
			Message: fmt.Sprintf("nearly a known phrase of attacks (%.0f of 100)%s", h.Score, how(ev.view)),
		})
	}
	if len(to) == 0 || ev.sigma.stack >= s.tau.TauA {
		w.peak = append(w.peak[:0], peakOf(ev))
	}
	return to
}

func how(v *normal.View) string {
	if v.Kind == normal.Plain {
		return ""
	}
	return " (read as " + v.Kind + ")"
}

package injection

import (
	"fmt"
	"slices"

	"interlock/internal/check/injection/ngram"
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
	Discounted bool              // the text quotes an attack and reports it: flagged instead of blocked
	Regex      float64           // the terms at the worst place, each in [0,1] …
	Fuzzy      float64
	Model      float64 // … and the log odds of the trained model

	settled bool // its lines have no other readings either

	rest   []byte // of a discounted text, what is left without its quotations
	restAt terms
	whole  sigmas // before the discount
}

// Rule ids of findings that are no rule's.
const (
	RuleBlock  = "INJ-W"      // sigma reached tauW
	RuleFlag   = "INJ-A"      // sigma reached tauA
	RulePhrase = "INJ-PHRASE" // nearly a known phrase
)

// Text screens one text.
func (s *Screen) Text(text string) Verdict {
	w := s.borrow()
	defer s.giveBack(w)
	return w.text([]byte(text), screening{discount: true, plain: true})
}

// A screening says how a text is to be looked at.
type screening struct {
	discount bool // quoted attacks that are reported may be discounted
	plain    bool // the plain reading is looked at too
}

// A worst is the place in a text that scores highest.
type worst struct {
	sigmas
	terms      terms
	gate       float64
	start, end int
	kind       string
}

// text screens one text.
func (w *worker) text(text []byte, how screening) Verdict {
	s := w.screen
	views, gaps := w.reader.Views(text)
	v := Verdict{Unread: append([]normal.Gap(nil), gaps...), settled: w.reader.LinesArePlain()}
	top := worst{gate: -1, terms: terms{model: ngram.Nothing}}
	addresses := false
	for i, view := range views {
		v.Views = append(v.Views, view.Kind)
		if i == 0 && !how.plain {
			continue
		}
		ev := w.gather(view)
		for _, e := range ev.events {
			addresses = addresses || s.rules[e.rule].Addresses
		}
		v.Findings = w.findings(v.Findings, ev)
		w.raise(&top, ev)
	}
	if how.discount && !addresses && s.gates(top.sigmas) >= s.tau.TauW {
		if rest, ok := w.unquoted(text); ok {
			v.Discounted, v.rest, v.restAt, v.whole = true, rest.text, rest.terms, top.sigmas
			top.sigmas = s.discount(top.sigmas, rest.sigmas)
		}
	}
	v.Sigma, v.SigmaPaper = top.stack, top.paper
	v.Regex, v.Fuzzy, v.Model = top.terms.regex, top.terms.fuzzy, top.terms.model
	v.Level = s.tau.level(s.gates(top.sigmas))
	v.Findings = s.finish(v, top)
	return v
}

// raise takes the evidence of one view into top.
func (w *worker) raise(top *worst, ev *evidence) {
	s := w.screen
	gate := s.gates(ev.sigma)
	top.sigmas = top.sigmas.worst(ev.sigma)
	if gate <= top.gate {
		return
	}
	top.gate, top.terms, top.kind = gate, ev.terms, ev.view.Kind
	start, end := ev.peak[0], ev.peak[1]
	worst := event{rule: -1}
	for _, e := range ev.events {
		if worst.rule < 0 || s.rules[e.rule].Severity > s.rules[worst.rule].Severity {
			worst = e
		}
	}
	if worst.rule >= 0 {
		start, end = w.begin(ev.view.Text, worst), int(worst.end)
	}
	top.start, top.end = ev.view.Span(start, end)
}

// mostFindings bounds the findings of one text; the score knows them all.
const mostFindings = 40

// findings adds what one view holds. Their level is set when the score of the
// whole is known.
func (w *worker) findings(to []verdict.Finding, ev *evidence) []verdict.Finding {
	s := w.screen
	for _, e := range ev.events {
		r := &s.rules[e.rule]
		if len(to) >= mostFindings || has(to, r.ID) {
			continue
		}
		start, end := ev.view.Span(w.begin(ev.view.Text, e), int(e.end))
		to = append(to, verdict.Finding{
			Rule: r.ID, Class: r.Concern, Score: r.Severity, Span: verdict.Span{Start: start, End: end},
			Message: r.Class + ": " + r.Rationale + readAs(ev.view.Kind), Refs: r.Refs,
		})
	}
	best, at := 0.0, -1
	for i, h := range ev.hits {
		if a := s.phrases[h.Phrase].above(h.Score); a > best {
			best, at = a, i
		}
	}
	if at >= 0 && len(to) < mostFindings && !has(to, RulePhrase) {
		h := ev.hits[at]
		start, end := ev.view.Span(int(h.Start), int(h.End))
		to = append(to, verdict.Finding{
			Rule: RulePhrase, Class: verdict.Adversarial, Score: best, Span: verdict.Span{Start: start, End: end},
			Message: fmt.Sprintf("nearly a known phrase of attacks (%.0f of 100)%s", h.Score, readAs(ev.view.Kind)),
		})
	}
	return to
}

func has(fs []verdict.Finding, rule string) bool {
	return slices.ContainsFunc(fs, func(f verdict.Finding) bool { return f.Rule == rule })
}

func readAs(kind string) string {
	if kind == normal.Plain {
		return ""
	}
	return " (read as " + kind + ")"
}

// finish sets the levels: what a rule saw is a note until the score of the
// whole reaches tauA, and only the score blocks.
func (s *Screen) finish(v Verdict, top worst) []verdict.Finding {
	level := verdict.Pass
	if v.Level.Norm() != verdict.Pass {
		level = verdict.Flag
	}
	for i := range v.Findings {
		v.Findings[i].Level = level
		if level == verdict.Pass {
			v.Findings[i].Class = verdict.Clean
		}
	}
	if level == verdict.Pass {
		return v.Findings
	}
	f := verdict.Finding{
		Rule: RuleFlag, Level: v.Level, Class: verdict.Adversarial, Score: s.gates(sigmas{v.Sigma, v.SigmaPaper}),
		Span:    verdict.Span{Start: top.start, End: top.end},
		Message: "the text reads like an attempt to steer the machine or its verifier" + readAs(top.kind),
		Need:    "state what is to be done in plain words, without instructions to whoever reads or checks the plan",
		Refs:    []string{"AML.T0051"},
	}
	if v.Level == verdict.Block {
		f.Rule = RuleBlock
	}
	if v.Discounted {
		f.Message = "the text quotes an attack in order to report it"
	}
	return append(v.Findings, f)
}

package document

import (
	"strings"

	"interlock/internal/verdict"
)

const window = 4000 // bytes: one call of the screen over neighbouring passages

// screen puts all text of the document through the screen: each passage, and
// neighbours together, so that an instruction cut in two is still seen. What
// reaches tauW is withheld from judges. Names of things become names in the
// graph: one that reads like an instruction makes the document unapprovable.
func (r *reader) screen() {
	r.headings()
	for i := range r.doc.Passages {
		p := &r.doc.Passages[i]
		sigma, hits := r.opts.Screen(p.Text)
		p.Sigma = sigma
		r.judge(p.At, p.Text, sigma, hits, verdict.Flag)
		p.Withheld = !(sigma < r.opts.TauW)
	}
	r.neighbours()
	for _, t := range r.doc.Things {
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			sigma, hits := r.opts.Screen(name)
			level := verdict.Flag
			if !(sigma < r.opts.TauW) {
				level = verdict.Block
			}
			r.judge(t.At, name, sigma, hits, level)
		}
	}
	for _, a := range r.doc.Avoids {
		sigma, hits := r.opts.Screen(a.Phrase)
		r.judge(a.At, a.Phrase, sigma, hits, verdict.Block) // they become names as well
	}
	for _, f := range r.doc.Findings {
		if f.Rule == RuleHidden && f.Excerpt != "" {
			sigma, hits := r.opts.Screen(f.Excerpt)
			r.judge(f.At, f.Excerpt, sigma, hits, verdict.Flag)
		}
	}
	if a := r.advisory; a.count > 0 {
		r.find(RuleInjection, verdict.Pass, a.at, a.text, "%d text(s) read a little like instructions, none enough to be withheld: highest sigma %.2f", a.count, a.sigma)
	}
}

// headings screens the titles that stand beside quotations, and takes out those
// that read like instructions.
func (r *reader) headings() {
	bad := map[string]bool{}
	withheld := func(s string, at Place) bool {
		if _, known := bad[s]; !known {
			sigma, hits := r.opts.Screen(s)
			r.judge(at, s, sigma, hits, verdict.Flag)
			bad[s] = !(sigma < r.opts.TauW)
		}
		return bad[s]
	}
	if withheld(r.doc.Title, Place{}) {
		r.doc.Title = r.doc.Name
	}
	for i := range r.doc.Passages {
		if at := &r.doc.Passages[i].At; at.Section != "" && withheld(at.Section, *at) {
			at.Section = ""
		}
	}
}

// judge reports a text that reaches tauW. Texts between the thresholds are
// counted and the worst is shown: they need no reason, only a look.
func (r *reader) judge(at Place, text string, sigma float64, hits []string, level verdict.Level) {
	switch {
	case sigma < r.opts.TauA:
	case sigma < r.opts.TauW:
		r.advisory.count++
		if sigma >= r.advisory.sigma {
			r.advisory.sigma, r.advisory.at, r.advisory.text = sigma, at, text
		}
	default: // NaN too
		r.find(RuleInjection, level, at, text, "reads like an instruction to a model: sigma %.2f (%s)", sigma, strings.Join(hits, ", "))
	}
}

// advisory collects texts between tauA and tauW.
type advisory struct {
	count int
	sigma float64 // the highest
	at    Place
	text  string
}

// neighbours screens passages that follow each other as one text and withholds
// all of a window that only together reaches tauW.
func (r *reader) neighbours() {
	ps := r.doc.Passages
	for from := 0; from < len(ps); {
		var text strings.Builder
		to, alone := from, false
		for to < len(ps) && (to == from || text.Len()+len(ps[to].Text) < window) {
			text.WriteString(ps[to].Text + " ")
			alone = alone || ps[to].Withheld
			to++
		}
		if sigma, hits := r.opts.Screen(text.String()); !alone && to-from > 1 && !(sigma < r.opts.TauW) {
			r.judge(ps[from].At, ps[from].Text, sigma, hits, verdict.Flag)
			for i := from; i < to; i++ {
				ps[i].Withheld = true
			}
		}
		next := from + (to-from+1)/2 // windows overlap by half
		if to == len(ps) {
			return
		}
		from = next
	}
}

package check

import (
	"strings"

	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// Loose values: a step that changes or sets what a limit is for, in a way that
// cannot be held against it, is for a judge or a person to look at.

// loose flags factors, shares and numbers in units that are not read, in a step
// about a machine with limits.
func (r *limitRun) loose(p *part) {
	if p.role != roleStep || len(r.here.naming) == 0 && len(r.named) == 0 {
		return
	}
	for i := range p.toks {
		w := p.toks[i].word
		if strings.IndexByte("dtqvrlkmif", w[0]) < 0 && w[len(w)-1] != 'k' {
			continue // most words are none of those below
		}
		switch {
		case multiplies(w) && r.limitedWord(p, i+1, i+4), w == "times" && r.comparative(p, i+1):
			r.looseAt(p, i, "LIM-007", "a value is multiplied, and the plan does not say what it then is", "state the value that is reached")
		case w == "vmax", w == "rated" && r.limitedWord(p, i+1, i+2), w == "limit" && i > 1 && p.toks[i-2].word == "no" && r.limitedWord(p, i-1, i):
			r.looseAt(p, i, "LIM-005", "a value is stated only as a share of a limit", "state it as a number with a unit")
		case (unreadUnit(w) || w == "degrees" && warms(p)) && i > 0 && digitIn(p.toks[i-1].word), strings.HasSuffix(w, "k") && i+1 < len(p.toks) && p.toks[i+1].word == "rpm" && digitIn(w):
			r.looseAt(p, i, "LIM-008", "a number in a unit that the checks do not read", "write it in the unit of the site's profile")
		}
	}
}

// looseAt flags unless the word is denied or quoted.
func (r *limitRun) looseAt(p *part, i int, rule, message, need string) {
	if p.toks[i].quoted || stand(p.toks, i, i) == denied {
		return
	}
	r.add(rule, verdict.Flag, p.at(int(p.toks[i].start), int(p.toks[i].end)), message, need)
}

// warms reports whether the step is about heat: degrees are not those of an angle.
func warms(p *part) bool {
	for i := range p.toks {
		switch p.toks[i].word {
		case "heat", "heats", "heated", "warm", "warms", "hotter", "warmer", "cool", "cools", "temperature":
			return true
		}
	}
	return false
}

func multiplies(w string) bool {
	switch w {
	case "double", "doubles", "doubled", "triple", "triples", "tripled", "quadruple", "quadruples":
		return true
	}
	return false
}

// unreadUnit lists units of limited quantities that package quantity leaves out.
func unreadUnit(w string) bool {
	switch w {
	case "kn", "knot", "knots", "mps", "ips", "fps", "thousand", "rcf", "krpm":
		return true
	}
	return false
}

// limitedWord reports whether a word between lo and hi names what limits are
// for, or stands for the machine.
func (r *limitRun) limitedWord(p *part, lo, hi int) bool {
	for k := lo; k < hi && k < len(p.toks); k++ {
		switch p.toks[k].word {
		case "speed", "velocity", "temperature", "pressure", "force", "rpm", "flow", "rate", "power", "heat", "stirring", "it":
			return true
		}
		if len(p.toks[k].ents) > 0 {
			return true
		}
	}
	return false
}

// comparative reports whether more of something follows: "five times faster".
func (r *limitRun) comparative(p *part, k int) bool {
	if k >= len(p.toks) {
		return false
	}
	switch p.toks[k].word {
	case "faster", "higher", "hotter", "stronger", "more", "harder", "quicker":
		return true
	}
	return false
}

// setOn reports whether a number without a unit is set on a machine with limits
// that stands right before it: "hp1: 400", "set hp1 = 400", "turn hp1 up to 400".
func (r *limitRun) setOn(p *part, q *quantity.Quantity, k int) bool {
	j := k - 1
	for j >= 0 && (p.toks[j].word == "to" || p.toks[j].word == "up" || p.toks[j].word == "at") {
		j--
	}
	if j < 0 || len(p.toks[j].ents) == 0 || len(q.Text) < 2 || !r.commanded(p.toks[j].ents[0]) {
		return false
	}
	between := p.low[p.toks[j].end:q.Start]
	return strings.ContainsAny(between, ":=") && j == k-1 || j < k-1
}

// commanded reports whether an entity has a limit of a kind that steps order.
func (r *limitRun) commanded(e int) bool {
	for i := range r.x.entities[e].axes {
		if k := r.x.entities[e].axes[i].kind; commanding(k) && k != quantity.Mass {
			return true
		}
	}
	return false
}

package gate

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"interlock/internal/gate/grant"
	"interlock/internal/plan"
)

// A planner that is rejected may try again, but not for ever: a lineage is the
// plans that name one another as parent or that are much alike, whatever they
// claim, of one requester (C44). After so many rejections a person looks.

// lineageWindow is how long a rejection counts.
const lineageWindow = time.Hour

// alike is the share of words two plans have in common from which they count
// as the same plan reformulated.
const alike = 0.6

// quota says why a plan may not be submitted now, nil if it may.
func (g *Gate) quota(ctx context.Context, s plan.Submission) *denial {
	rejected, pending := g.plans.lineage(s)
	if pending >= g.o.Policy.Pending {
		return deny("quota", "%d plans of yours are being judged: wait for one of them", pending)
	}
	if rejected < g.o.Policy.Reformulations {
		return nil
	}
	d := deny("lineage", "%d plans like this one were rejected in the last hour: a person must look before another is judged", rejected)
	d.Do = "do something else, or ask a person to submit the plan"
	g.alert(ctx, Alert{Kind: grant.KindRefused, Reason: s.Requester + ": " + d.Reason})
	return d
}

// lineage counts the rejections in a plan's lineage and the requester's plans
// that are being judged.
func (p *plans) lineage(s plan.Submission) (rejected, pending int) {
	words := wordsOf(s.Plan)
	p.mu.Lock()
	defer p.mu.Unlock()
	since := p.now().Add(-lineageWindow)
	parents := map[string]bool{s.Plan.Parent: s.Plan.Parent != ""}
	for _, id := range slices.Backward(p.order) { // newest first, so a chain of parents is followed in one pass
		e := p.byID[id]
		if e.sub.Requester != s.Requester {
			continue
		}
		if e.state == statePending {
			pending++
		}
		if e.state != stateRejected || e.since.Before(since) {
			continue
		}
		own := e.sub.Plan
		if parents[e.id] || (own.ID != "" && parents[own.ID]) || common(words, wordsOf(own)) >= alike {
			rejected++
			parents[own.Parent] = own.Parent != ""
		}
	}
	return rejected, pending
}

// wordsOf are the words of a plan's goal, steps and tools. Numbers are left
// out: the same plan with other numbers is the same plan.
func wordsOf(p *plan.Plan) map[string]bool {
	out := map[string]bool{}
	add := func(text string) {
		for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			out[w] = true
		}
	}
	add(p.Goal)
	for _, s := range p.Steps {
		add(s)
	}
	for _, c := range p.ToolCalls {
		out[c.Tool] = true
	}
	return out
}

// common is the share of words that two plans have in common (Jaccard).
func common(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	all := len(a) + len(b) - both
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}

package window

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// Windows of what belongs to one attempt.
const (
	attempt = 24 * time.Hour
	insists = 4 * time.Hour
)

// operationOf is what stays of a plan when its words are changed: its amounts,
// settings and the things it names.
func operationOf(t *trace) set {
	var s set
	for _, v := range t.values {
		s = s.add(string(v.kind) + strconv.FormatFloat(v.v, 'g', 6, 64))
	}
	for _, th := range t.things {
		if !slices.Contains(t.materials, th) {
			s = s.add(th)
		}
	}
	return s
}

// resembles reports one operation: most of the smaller plan is in the other.
func resembles(a, b set) bool {
	const least = 3
	if min(len(a), len(b)) < least {
		return false
	}
	n := common(a, b)
	return n >= least && float64(n) >= 0.6*float64(min(len(a), len(b)))
}

// reworded finds the operation of an earlier plan that comes back with its
// materials no longer named. Leaving a material out leaves its amount out too;
// here the amount stays and what it is of is gone.
func (m *Monitor) reworded(t *trace, before []*trace) (verdict.Alarm, bool) {
	for k := len(before) - 1; k >= 0 && t.age(before[k]) <= attempt; k-- {
		b := before[k]
		if b.fate == Accepted || alike(t.goal, b.goal) == 1 || !resembles(t.operation, b.operation) || !t.same(b) && !keeps(t, b) {
			continue
		}
		hidden := hides(t, b)
		if hidden == 0 {
			continue
		}
		who := "the same"
		if b.agent != t.agent {
			who = "another"
		}
		return alarm(RuleReworded, verdict.Adversarial, fmt.Sprintf("the operation of an earlier plan of %s agent, with %d of its amounts of materials that are no longer named", who, hidden), t, []*trace{b}), true
	}
	return verdict.Alarm{}, false
}

// hides counts the values that an earlier plan states of a material and that
// this one states of nothing: neither of that material nor of another.
func hides(t, b *trace) int {
	hidden := 0
	for i, v := range b.values {
		if v.of == "" || v.kind == quantity.Time || v.kind == quantity.Temperature || slices.Contains(t.materials, v.of) || slices.ContainsFunc(b.values[:i], func(o value) bool { return o.kind == v.kind && equal(o.v, v.v) }) {
			continue
		}
		same, named := false, false
		for _, o := range t.values {
			if o.kind == v.kind && equal(o.v, v.v) {
				same, named = true, named || o.of != ""
			}
		}
		if same && !named {
			hidden++
		}
	}
	return hidden
}

// keeps reports that every value of an earlier plan is in the later one.
func keeps(t, b *trace) bool {
	return len(b.values) > 0 && !slices.ContainsFunc(b.values, func(v value) bool {
		return !slices.ContainsFunc(t.values, func(o value) bool { return o.kind == v.kind && equal(o.v, v.v) })
	})
}

func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// insist finds the same operation handed in again and again in other words
// although it was not accepted. Plans that say more each time, and that no
// check blocks any more, are what a refusal asks for.
func (m *Monitor) insist(t *trace, before []*trace) (verdict.Alarm, bool) {
	var tries []*trace
	refused, reworded := 0, 0
	for k := len(before) - 1; k >= 0 && t.age(before[k]) <= attempt; k-- {
		b := before[k]
		if b.fate == Accepted {
			continue
		}
		again := t.same(b) && atLeast(t.goal, b.goal, sameGoal) && atLeast(t.words, b.words, sameGoal)
		if !again && (!resembles(t.operation, b.operation) || !t.same(b) && !keeps(t, b)) {
			continue
		}
		turnedDown := b.fate == Refused || b.blocked
		if turnedDown {
			refused++
		}
		if alike(t.goal, b.goal) < 1 && t.age(b) <= insists {
			reworded++
		}
		if turnedDown || t.age(b) <= insists {
			tries = append(tries, b)
		}
	}
	if len(tries) == 0 {
		return verdict.Alarm{}, false
	}
	slices.Reverse(tries)
	first := tries[0]
	better := !t.blocked && (detail(t) >= detail(first) || len(fresh(t, first)) > 0)
	if refused >= 3 || refused >= 2 && !better || reworded >= 2 && len(tries) >= 2 && !better && distinct(tries, t) >= 3 {
		return alarm(RuleInsist, verdict.Adversarial, fmt.Sprintf("%d plans for the same operation in other words, none of them accepted", len(tries)), t, tries), true
	}
	return verdict.Alarm{}, false
}

// detail is how much a plan says: things, values and conditions.
func detail(t *trace) int { return len(t.things) + len(t.values) + len(t.checks) + len(t.states) }

// fresh are the materials that a plan has and an earlier one has not.
func fresh(t, b *trace) []string {
	return slices.DeleteFunc(slices.Clone(t.materials), func(x string) bool { return slices.Contains(b.materials, x) })
}

// distinct counts goals that differ in more than numbers.
func distinct(tries []*trace, t *trace) int {
	goals := []set{t.goal}
	for _, b := range tries {
		if !slices.ContainsFunc(goals, func(g set) bool { return alike(g, b.goal) == 1 }) {
			goals = append(goals, b.goal)
		}
	}
	return len(goals)
}

package window

import (
	"slices"
	"strings"

	"interlock/internal/verdict"
)

// fading finds conditions that the plans of one undertaking went and read, and
// that this one takes from habit. One condition that is worded away is not
// enough: it must come with an argument from precedent, with a setting that
// was raised, or with a second one.
func (m *Monitor) fading(t *trace, before []*trace) (verdict.Alarm, bool) {
	const sameJob = 0.8
	thread := undertaking(t, before, sameJob)
	if len(thread) < 2 || !t.acts {
		return verdict.Alarm{}, false
	}
	unread := lost(thread, t.checks, func(b *trace) []string { return b.checks })
	unsaid := lost(thread, t.states, func(b *trace) []string { return b.states })
	last := thread[len(thread)-1]
	weight := min(len(unread), 2) + min(len(unsaid), 1)
	if t.precedent {
		weight++
	}
	if raised(last, t) {
		weight++
	}
	if len(unread) == 0 && len(unsaid) < 2 || weight < 2 || len(unread)+len(unsaid) == weight && weight < 3 {
		return verdict.Alarm{}, false
	}
	if last.fate == Accepted && !overlap(unread, last.checks) && !overlap(unsaid, last.states) {
		return verdict.Alarm{}, false // so it was accepted the last time
	}
	gone := plain(append(unread, unsaid...))
	return alarm(RuleFading, verdict.Safety, "earlier plans for the same goal checked or stated "+strings.Join(gone, ", ")+"; this one does not", t, thread), true
}

// lost are conditions that most of the first plans of the thread had, two at
// least, and that this one lacks.
func lost(thread []*trace, now []string, of func(*trace) []string) []string {
	first := thread[:min(len(thread), 4)]
	var out []string
	for _, b := range first {
		for _, c := range of(b) {
			n := 0
			for _, o := range first {
				if slices.Contains(of(o), c) {
					n++
				}
			}
			if n >= 2 && 2*n >= len(first) && !slices.Contains(now, c) {
				out = note(out, c)
			}
		}
	}
	return out
}

// raised reports a setting of a call that went up against the plan before.
func raised(b, t *trace) bool {
	for _, v := range t.values {
		for _, o := range b.values {
			if v.key == o.key && v.v > o.v*1.02 {
				return true
			}
		}
	}
	return false
}

// plain makes names of the graph readable.
func plain(names []string) []string {
	var out []string
	for _, n := range names {
		out = note(out, strings.TrimPrefix(strings.TrimPrefix(n, "site:"), "call "))
	}
	return out[:min(len(out), 5)]
}

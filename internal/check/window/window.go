// Package window watches many plans over time. Every other check sees one plan
// and forgets it; harm can be split so that each plan alone is harmless: a
// limit approached step by step, a dose in portions, a safeguard opened today
// and used tomorrow, the same refused thing in other words.
//
// The monitor keeps a short, typed trace of each plan (values, amounts, what
// was checked before acting, what was left behind), never its text, and holds
// a new plan against the traces of the same site. It raises alarms and decides
// nothing: an alarm keeps a plan for a person (C5) and can never let one pass.
//
// Memory is bounded per site and per agent. Time is the time of the plans as
// handed in; the package reads no clock.
package window

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/fact"
	"interlock/internal/verdict"
)

// The rules of this package, stable for records.
const (
	RuleDrift     = "WIN-DRIFT"     // a value creeps towards or over a limit
	RuleCriterion = "WIN-CRITERION" // an acceptance criterion is loosened step by step
	RuleFading    = "WIN-FADING"    // conditions that earlier plans checked are not checked any more
	RuleAmount    = "WIN-AMOUNT"    // amounts add up beyond a limit
	RuleCounter   = "WIN-COUNTER"   // a count that needs a pause in between goes on over plans
	RuleMeeting   = "WIN-MEETING"   // one plan fills what another one left filled
	RuleGathered  = "WIN-GATHERED"  // materials are brought together that belong apart
	RuleLeftover  = "WIN-LEFTOVER"  // a device was left in a state that endangers this plan
	RuleOpened    = "WIN-OPENED"    // a safeguard was opened and not put back
	RuleReworded  = "WIN-REWORDED"  // the same operation again, with less said
	RuleInsist    = "WIN-INSIST"    // the same operation again after refusals
	RuleScouting  = "WIN-SCOUTING"  // routines, absences and blind spots are collected
	RuleOutflow   = "WIN-OUTFLOW"   // data leave in pieces
	RuleRecord    = "WIN-RECORD"    // records are changed in pieces
	RuleRepeated  = "WIN-REPEATED"  // the same concern about plan after plan
	RuleBurst     = "WIN-BURST"     // far more plans than the agent's rate explains
)

// Bounds of what is kept. A flood of one agent pushes out its own oldest
// traces, not those of others.
const (
	perSite  = 512
	perAgent = 128
	horizon  = 60 * 24 * time.Hour
)

// A Fate is what became of a plan.
type Fate uint8

// The fates. Open is the zero value: nothing is known yet, so the plan counts
// as one that may run.
const (
	Open     Fate = iota
	Accepted      // it may run
	Held          // a person has it
	Refused       // it does not run
)

// A Plan is one submitted plan as the monitor is told of it.
type Plan struct {
	ID       string // of the decision; names it in alarms
	Agent    string
	Person   string // behind the plan
	At       time.Time
	Live     bool // it came over a transport: its rate says something
	Facts    *fact.Set
	Findings []verdict.Finding // of all deterministic stages
}

// A Monitor watches the plans of one site. It is safe for concurrent use.
type Monitor struct {
	site  *Site
	mu    sync.Mutex
	seen  []*trace // in the order of their times
	byID  map[string]*trace
	rates map[string]*rate // by agent
}

// New returns a monitor for one site that has seen nothing.
func New(s *Site) *Monitor {
	return &Monitor{site: s, byID: map[string]*trace{}, rates: map[string]*rate{}}
}

// Len returns how many plans are kept.
func (m *Monitor) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.seen)
}

// Knows reports that a plan was observed and is kept.
func (m *Monitor) Knows(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byID[id] != nil
}

// Observe takes a plan into account and returns what it makes of it together
// with the plans before. A plan that is known already changes nothing and
// gives the alarms it gave before.
func (m *Monitor) Observe(p Plan) []verdict.Alarm {
	if p.Facts == nil {
		return nil // knowledge failed: the plan is held already
	}
	t := m.site.trace(p)
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.byID[p.ID]; ok {
		return known.alarms
	}
	t.alarms = m.judge(t)
	if p.Live {
		if a, ok := m.burst(t); ok {
			t.alarms = append(t.alarms, a)
		}
	}
	m.keep(t)
	return slices.Clone(t.alarms)
}

// Settle says what became of a plan. Of two fates that are known the later
// counts: a person may release what was held.
func (m *Monitor) Settle(id string, f Fate) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.byID[id]; ok {
		t.fate = f
	}
}

// A look is one detector: it holds a plan against those before.
type look func(*Monitor, *trace, []*trace) (verdict.Alarm, bool)

func looks() []look {
	return []look{
		(*Monitor).drift, (*Monitor).fading, (*Monitor).amounts, (*Monitor).portions, (*Monitor).counters, (*Monitor).meeting, (*Monitor).gathered, (*Monitor).leftover,
		(*Monitor).opened, (*Monitor).reworded, (*Monitor).insist, (*Monitor).scouting, (*Monitor).outflow, (*Monitor).edits, (*Monitor).repeated,
	}
}

// judge runs every detector over the plans before this one.
func (m *Monitor) judge(t *trace) []verdict.Alarm {
	before := m.seen
	for len(before) > 0 && t.at.Sub(before[0].at) > horizon {
		before = before[1:]
	}
	var out []verdict.Alarm
	for _, l := range looks() {
		if a, ok := l(m, t, before); ok {
			out = append(out, a)
		}
	}
	return out
}

// keep stores a trace in the order of time and lets go of what is too much.
func (m *Monitor) keep(t *trace) {
	i, _ := slices.BinarySearchFunc(m.seen, t, func(a, b *trace) int { return cmp.Or(a.at.Compare(b.at), -1) })
	m.seen = slices.Insert(m.seen, i, t)
	m.byID[t.id] = t
	own := 0
	for k := len(m.seen) - 1; k >= 0; k-- {
		if m.seen[k].agent != t.agent {
			continue
		}
		if own++; own > perAgent {
			m.drop(k)
			break
		}
	}
	if len(m.seen) > perSite {
		m.drop(0)
	}
	for len(m.seen) > 1 && t.at.Sub(m.seen[0].at) > horizon {
		m.drop(0)
	}
}

func (m *Monitor) drop(k int) {
	delete(m.byID, m.seen[k].id)
	m.seen = slices.Delete(m.seen, k, k+1)
}

// alarm names the plans that make the pattern, this one last.
func alarm(rule string, class verdict.Class, message string, t *trace, before []*trace) verdict.Alarm {
	const most = 8
	var ids []string
	for _, b := range before {
		if !slices.Contains(ids, b.id) {
			ids = append(ids, b.id)
		}
	}
	if n := len(ids); n > most {
		ids = ids[n-most:]
	}
	if len(ids) > 0 {
		message += " (with " + strings.Join(ids, ", ") + ")"
	}
	return verdict.Alarm{Rule: rule, Message: message, Plans: append(ids, t.id), Class: class}
}

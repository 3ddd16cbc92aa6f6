// Package memory remembers plans that failed and finds them again behind a new
// plan that resembles one: by the graph nodes they share, rare ones counting
// more, and by their wording. A match escalates with the reference. A person's
// approval makes a precedent that can lift that match and nothing else (C41).
//
// Work is bounded however much is remembered: the rarest nodes of a plan are
// followed first, and only so many earlier plans are looked at.
package memory

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// A Failure is a plan that was rejected or escalated, or an incident.
type Failure struct {
	ID        string // decision or incident
	Plan      string // plan id, "" for an incident
	Site      string
	Agent     string // who submitted it
	OnBehalf  string
	Outcome   verdict.Outcome
	Class     verdict.Class
	Blocking  []string // rule ids that blocked it
	At        time.Time
	Confirmed bool // a person confirmed the failure; else it counts against its own agent only (C41)
}

// A Precedent is a person's approval of a plan that memory had held back.
type Precedent struct {
	ID       string // disposition
	By       string // the person
	Lifts    string // ID of the Failure
	SiteHash string // site version it holds for
	Expires  time.Time
}

// An Audit entry says what was forgotten, by whom and why.
type Audit struct {
	ID, By, Why string
	At          time.Time
}

// Options bound matching. Zero values take the defaults.
type Options struct {
	Threshold float64       // similarity from which a plan resembles a failure, [0,1]; default 0.6
	HalfLife  time.Duration // after which the bar has risen half way to "nearly identical"; default 180 days
	Look      int           // steps from a node to an earlier plan in one match at most; default 2048
	Top       int           // matches returned at most; default 5
}

func (o Options) withDefaults() Options {
	if o.Threshold == 0 {
		o.Threshold = 0.6
	}
	if o.HalfLife == 0 {
		o.HalfLife = 180 * 24 * time.Hour
	}
	if o.Look == 0 {
		o.Look = 2048
	}
	if o.Top == 0 {
		o.Top = 5
	}
	return o
}

// Errors that callers branch on.
var (
	ErrUnknown = errors.New("no such failure is remembered")
	ErrTwice   = errors.New("already remembered")
)

type entry struct {
	Failure
	features
	gone bool
}

type precedent struct {
	Precedent
	scope scope
}

// A Memory holds failures. It is safe for concurrent use.
type Memory struct {
	opt Options
	now func() time.Time

	mu         sync.RWMutex
	entries    []entry
	byID       map[string]int32
	byPlan     map[string][]int32
	posts      map[uint32][]int32 // node -> entries, in the order added
	precedents map[string][]precedent
	gone       int
}

// New returns an empty memory. now is our clock.
func New(opt Options, now func() time.Time) *Memory {
	return &Memory{opt: opt.withDefaults(), now: now, byID: map[string]int32{}, byPlan: map[string][]int32{}, posts: map[uint32][]int32{}, precedents: map[string][]precedent{}}
}

// Len returns how many failures are remembered.
func (m *Memory) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.entries) - m.gone
}

// Add remembers a failure with the facts of its plan.
func (m *Memory) Add(f Failure, facts *fact.Set) error {
	feat := featuresOf(facts)
	feat.names = nil // kept by hash only; names are known where they are compared
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.byID[f.ID]; ok {
		return fmt.Errorf("remembering %s: %w", f.ID, ErrTwice)
	}
	i := int32(len(m.entries))
	m.entries = append(m.entries, entry{Failure: f, features: feat})
	m.byID[f.ID] = i
	if f.Plan != "" {
		m.byPlan[f.Plan] = append(m.byPlan[f.Plan], i)
	}
	for _, n := range feat.nodes {
		m.posts[n] = append(m.posts[n], i)
	}
	return nil
}

// Confirm records that a person confirmed the failure: it then counts against
// every agent.
func (m *Memory) Confirm(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.byID[id]
	if !ok {
		return fmt.Errorf("confirming %s: %w", id, ErrUnknown)
	}
	m.entries[i].Confirmed = true
	return nil
}

// Forget removes a failure and its precedents. The entry it returns belongs in
// the record.
func (m *Memory) Forget(id, by, why string) (Audit, error) {
	if strings.TrimSpace(by) == "" || strings.TrimSpace(why) == "" {
		return Audit{}, fmt.Errorf("forgetting %s: who and why must be said", id)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.byID[id]
	if !ok {
		return Audit{}, fmt.Errorf("forgetting %s: %w", id, ErrUnknown)
	}
	delete(m.byID, id)
	delete(m.precedents, id)
	m.entries[i].gone = true
	m.gone++
	if m.gone > 1024 && m.gone*4 > len(m.entries) {
		m.compact()
	}
	return Audit{ID: id, By: by, Why: why, At: m.now()}, nil
}

// compact drops what was forgotten.
func (m *Memory) compact() {
	kept := make([]entry, 0, len(m.entries)-m.gone)
	m.posts, m.byPlan = map[uint32][]int32{}, map[string][]int32{}
	for _, e := range m.entries {
		if e.gone {
			continue
		}
		i := int32(len(kept))
		kept = append(kept, e)
		m.byID[e.ID] = i
		if e.Plan != "" {
			m.byPlan[e.Plan] = append(m.byPlan[e.Plan], i)
		}
		for _, n := range e.nodes {
			m.posts[n] = append(m.posts[n], i)
		}
	}
	m.entries, m.gone = kept, 0
}

// Approve records a precedent for plans like this one, same things and no
// quantity outside, until it expires.
func (m *Memory) Approve(p Precedent, s plan.Submission, facts *fact.Set) error {
	if p.By == "" || p.Expires.IsZero() {
		return fmt.Errorf("precedent %s: a person and an expiry must be there", p.ID)
	}
	if p.By == s.Agent || p.By == s.Plan.SubmittedBy.Agent {
		return fmt.Errorf("precedent %s: an agent cannot approve its own plan", p.ID) // C16
	}
	sc := scopeOf(s.Plan, facts)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.byID[p.Lifts]; !ok {
		return fmt.Errorf("precedent %s: %w", p.ID, ErrUnknown)
	}
	m.precedents[p.Lifts] = append(m.precedents[p.Lifts], precedent{p, sc})
	return nil
}

// A Query is a new plan with what is known about it.
type Query struct {
	Submission plan.Submission
	Facts      *fact.Set
	Findings   []verdict.Finding // of the checks: what blocks now
	SiteHash   string            // version of the site profile
}

// Match returns the failures that the plan resembles: those not resolved
// before the others, the most similar first.
func (m *Memory) Match(q Query) []verdict.Prior {
	if q.Facts == nil {
		return nil
	}
	feat := featuresOf(q.Facts)
	agent := q.Submission.Agent
	if agent == "" {
		agent = q.Submission.Plan.SubmittedBy.Agent
	}
	now := m.now()
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []verdict.Prior
	for _, i := range m.candidates(&feat, q.Submission.Plan.Parent, agent) {
		e := &m.entries[i]
		parent := e.Plan != "" && e.Plan == q.Submission.Plan.Parent && e.Agent == agent
		score, why := m.similar(e, &feat)
		if score < m.bar(e, now) && !parent {
			continue
		}
		if m.lifted(e.ID, q, now) {
			continue
		}
		// Naming another agent's plan as the parent gives no right to resolve it.
		own := parent || e.Agent == agent && e.OnBehalf == q.Submission.Plan.SubmittedBy.OnBehalfOf
		out = append(out, verdict.Prior{ID: e.ID, Score: score, Why: why, Resolved: own && resolved(e, q.Findings)})
	}
	slices.SortFunc(out, func(a, b verdict.Prior) int {
		// What stands in the way comes first: failures that are settled, which
		// an agent makes at will, must not push out one that is not.
		return cmp.Or(unresolvedFirst(a, b), cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return out[:min(len(out), m.opt.Top)]
}

func unresolvedFirst(a, b verdict.Prior) int {
	switch {
	case a.Resolved == b.Resolved:
		return 0
	case b.Resolved:
		return -1
	default:
		return 1
	}
}

// counts reports whether a failure counts against an agent (C41).
func (e *entry) counts(agent string) bool { return !e.gone && (e.Confirmed || e.Agent == agent) }

// resolved reports that every rule that blocked the earlier plan is silent now
// (C5). A failure without a rule that blocked it is never resolved by itself.
func resolved(e *entry, now []verdict.Finding) bool {
	for _, rule := range e.Blocking {
		if slices.ContainsFunc(now, func(f verdict.Finding) bool { return f.Rule == rule && f.Level != verdict.Pass }) {
			return false
		}
	}
	return len(e.Blocking) > 0
}

// closest is how many candidates are compared in full.
const closest = 64

// candidates follows the plan's nodes to earlier plans, rarest node first, and
// stops after Look steps. Those that share most and count against the agent are
// returned; a declared parent is always one.
func (m *Memory) candidates(f *features, parent, agent string) []int32 {
	nodes := slices.Clone(f.nodes)
	slices.SortFunc(nodes, func(a, b uint32) int {
		return cmp.Or(len(m.posts[a])-len(m.posts[b]), cmp.Compare(a, b))
	})
	shared := map[int32]float64{}
	steps := 0
	for _, n := range nodes {
		list, weight := m.posts[n], m.rarity(n)
		for k := len(list) - 1; k >= 0 && steps < m.opt.Look; k-- { // the newest first
			steps++
			if m.entries[list[k]].counts(agent) {
				shared[list[k]] += weight
			}
		}
	}
	out := make([]int32, 0, len(shared))
	for i := range shared {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(b, a)) })
	out = out[:min(len(out), closest)]
	for _, k := range m.byPlan[parent] {
		if m.entries[k].counts(agent) && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// Weights of the two similarities.
const (
	nodeWeight    = 0.6
	wordingWeight = 0.4
)

// bar is how similar a plan must be to a failure: the older it is, the more,
// up to nearly identical.
func (m *Memory) bar(e *entry, now time.Time) float64 {
	age := max(0, now.Sub(e.At))
	faded := 1 - math.Exp2(-float64(age)/float64(m.opt.HalfLife))
	return m.opt.Threshold + (1-m.opt.Threshold)*0.9*faded
}

// similar scores an earlier plan: shared nodes over all nodes, each weighted by
// how rare it is, and shared wording.
func (m *Memory) similar(e *entry, f *features) (score float64, why string) {
	shared, total := 0.0, 0.0
	var names []string
	i, j := 0, 0
	for i < len(f.nodes) || j < len(e.nodes) {
		switch {
		case j == len(e.nodes) || i < len(f.nodes) && f.nodes[i] < e.nodes[j]:
			total += m.rarity(f.nodes[i])
			i++
		case i == len(f.nodes) || e.nodes[j] < f.nodes[i]:
			total += m.rarity(e.nodes[j])
			j++
		default:
			w := m.rarity(f.nodes[i])
			shared, total = shared+w, total+w
			names = append(names, f.names[i])
			i, j = i+1, j+1
		}
	}
	nodes := 0.0
	if total > 0 {
		nodes = shared / total
	}
	words := f.wording(&e.features)
	score = nodeWeight*nodes + wordingWeight*words
	why = fmt.Sprintf("shares %s with %s; wording %.0f %% alike", listed(names), e.ID, 100*words)
	return score, why
}

// rarity is the damping by degree: a node that every failure has says nothing.
func (m *Memory) rarity(node uint32) float64 {
	return math.Log1p(float64(len(m.entries)+1) / float64(len(m.posts[node])+1))
}

func listed(names []string) string {
	switch {
	case len(names) == 0:
		return "no node"
	case len(names) > 4:
		return strings.Join(names[:4], ", ") + fmt.Sprintf(" and %d more", len(names)-4)
	}
	return strings.Join(names, ", ")
}

// lifted reports a precedent of the failure that holds for this very plan.
func (m *Memory) lifted(id string, q Query, now time.Time) bool {
	if len(m.precedents[id]) == 0 {
		return false
	}
	sc := scopeOf(q.Submission.Plan, q.Facts)
	return slices.ContainsFunc(m.precedents[id], func(p precedent) bool {
		return p.SiteHash == q.SiteHash && now.Before(p.Expires) && p.scope.covers(sc)
	})
}

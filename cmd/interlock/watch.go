package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/check/window"
	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/knowledge/derive"
	"interlock/internal/pipeline"
	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// monitors watch the plans of each site over time.
type monitors map[string]*window.Monitor

// newMonitors makes a monitor for each site of an engine.
func newMonitors(eng *engine) (monitors, error) {
	m := monitors{}
	for id, st := range eng.pipeline.Sites {
		k, ok := st.Knowledge.(*knower)
		if !ok {
			return nil, fmt.Errorf("site %s: monitoring needs the facts of the knowledge stage", id)
		}
		prose := k.deriver.Facts(window.Prose(st.Profile), site.State{}, time.Time{})
		m[id] = window.New(window.NewSite(st.Profile, prose, &chemistry{deriver: k.deriver, graph: k.graph, known: map[[2]string]string{}}))
	}
	return m, nil
}

// Observe implements pipeline.Window.
func (m monitors) Observe(_ context.Context, r pipeline.Recall) ([]verdict.Alarm, error) {
	w := m[r.Site.ID]
	if w == nil {
		return nil, fmt.Errorf("site %s is not monitored", r.Site.ID)
	}
	return w.Observe(planOverTime(r.Submission, r.Facts, r.Findings)), nil
}

// planOverTime tells a monitor of a plan. Only what came over a transport has a
// rate: a file of plans on the command line is read at once.
func planOverTime(s plan.Submission, facts *fact.Set, findings []verdict.Finding) window.Plan {
	return window.Plan{
		ID: s.ID, Agent: agentOf(s), Person: s.Plan.SubmittedBy.OnBehalfOf, At: s.Received, Live: s.Requester != "",
		Facts: facts, Findings: findings,
	}
}

// fateOf says what a decision means for what a plan does to the world.
func fateOf(o verdict.Outcome) window.Fate {
	switch o {
	case verdict.Accept:
		return window.Accepted
	case verdict.Reject:
		return window.Refused
	default:
		return window.Held
	}
}

// A chemistry answers a monitor from the graph.
type chemistry struct {
	deriver *derive.Deriver
	graph   *knowledge.Graph

	mu    sync.Mutex
	known map[[2]string]string // pairs asked before
}

// pairsKept bounds what is remembered of pairs.
const pairsKept = 4096

// Meet implements window.Chemistry: it lets the knowledge stage read a plan
// that pours both into one flask.
func (c *chemistry) Meet(a, b string) string {
	key := [2]string{min(a, b), max(a, b)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if what, ok := c.known[key]; ok {
		return what
	}
	p := &plan.Plan{Goal: "one vessel", Steps: []string{"Pour " + c.name(a) + " and " + c.name(b) + " into flask F-1."}}
	what := ""
	for _, h := range c.deriver.Facts(p, site.State{}, time.Time{}).Hard {
		if h.Level.Norm() == verdict.Block && slices.Contains(h.Path, a) && slices.Contains(h.Path, b) {
			what = h.Statement
			break
		}
	}
	if len(c.known) >= pairsKept {
		clear(c.known)
	}
	c.known[key] = what
	return what
}

func (c *chemistry) name(id string) string {
	if n, ok := c.graph.NodeByID(id); ok {
		return c.graph.NameOf(n)
	}
	return id
}

// Has implements window.Chemistry.
func (c *chemistry) Has(material, trait string) bool {
	n, ok := c.graph.NodeByID(material)
	if !ok {
		return false
	}
	for t := range c.graph.Out(n, knowledge.RelTrait) {
		if name := strings.TrimPrefix(c.graph.ID(t), "trait:"); name == trait || strings.HasPrefix(name, trait+"-") {
			return true
		}
	}
	return false
}

// recorded monitors follow the record: what they know of earlier plans is
// rebuilt from it at start, and before each look they read what was decided
// since, by this process or another, people's decisions included.
type watched struct {
	monitors monitors
	engine   *engine
	reader   *record.Reader

	mu   sync.Mutex // owns next
	next int64      // first event not yet read
}

// rebuilt is how many decisions are read back at start: a monitor keeps no
// more plans of a site than this.
const rebuilt = 2048

// watch switches monitoring over time on for an engine with a store.
func (eng *engine) watch(ctx context.Context, r *record.Reader) error {
	m, err := newMonitors(eng)
	if err != nil {
		return err
	}
	w := &watched{monitors: m, engine: eng, reader: r}
	if w.next, err = w.start(ctx); err != nil {
		return err
	}
	if err := w.sync(ctx); err != nil {
		return err
	}
	eng.pipeline.Window = w
	return nil
}

func watchedKinds() []record.Kind {
	return []record.Kind{record.Decided{}.Kind(), record.Reviewed{}.Kind()}
}

// start finds where in the record to begin.
func (w *watched) start(ctx context.Context) (int64, error) {
	var seq int64
	for entry, err := range w.reader.Tail(ctx, record.Query{Kinds: watchedKinds(), Newest: true, Limit: rebuilt}) {
		if err != nil {
			return 0, fmt.Errorf("reading the record into monitoring: %w", err)
		}
		seq = entry.Seq
	}
	return seq, nil
}

// Observe implements pipeline.Window.
func (w *watched) Observe(ctx context.Context, r pipeline.Recall) ([]verdict.Alarm, error) {
	if err := w.sync(ctx); err != nil {
		return nil, err
	}
	return w.monitors.Observe(ctx, r)
}

// sync reads the events that monitoring has not seen.
func (w *watched) sync(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for entry, err := range w.reader.Tail(ctx, record.Query{From: w.next, Kinds: watchedKinds()}) {
		if err == nil {
			err = w.read(ctx, entry)
		}
		if err != nil {
			return fmt.Errorf("reading the record into monitoring: %w", err)
		}
		w.next = entry.Seq + 1
	}
	return nil
}

func (w *watched) read(ctx context.Context, entry record.Entry) error {
	event, err := entry.Event()
	if err != nil {
		return err
	}
	switch ev := event.(type) {
	case record.Decided:
		m := w.monitors[ev.Report.Case.Site]
		if m == nil {
			return nil // the site is not served any more
		}
		if !m.Knows(ev.Report.ID) {
			s, facts, err := w.engine.recordedPlan(ctx, w.reader, ev.Report.ID, ev.Report.Case.Site, entry.At)
			if err != nil || facts == nil {
				return err
			}
			m.Observe(planOverTime(s, facts, ev.Report.Case.Findings))
		}
		m.Settle(ev.Report.ID, fateOf(ev.Report.Decision.Outcome))
	case record.Reviewed:
		fate := window.Refused
		if ev.Approved {
			fate = window.Accepted
		}
		for _, m := range w.monitors {
			m.Settle(ev.Decision, fate)
		}
	default:
		// Asked for two kinds only; the others are not monitoring's.
	}
	return nil
}

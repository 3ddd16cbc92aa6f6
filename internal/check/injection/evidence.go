package injection

import (
	"slices"
	"sync"

	"interlock/internal/check/injection/fuzzy"
	"interlock/internal/check/injection/multi"
	"interlock/internal/check/injection/ngram"
	"interlock/internal/check/injection/normal"
)

// cell is the length of the stretches of a view, in bytes, by which evidence
// is put together: what stands in two neighbouring ones counts as one place.
// So a long text is judged by its worst place and not by its length.
const cell = 512

// An event is a rule that matched in a view.
type event struct {
	rule int32
	end  int32 // byte of the view behind the match
}

// evidence is what one view of a text holds.
type evidence struct {
	view   *normal.View
	events []event
	hits   []fuzzy.Hit
	peaks  []ngram.Peak // worst windows of the model, one for each stretch
	terms  terms        // at the worst place
	sigma  sigmas
	peak   [2]int // bytes of the view that the model finds worst
}

// terms are the three signals at one place.
type terms struct {
	regex float64 // 1 - Π(1 - severity), [0,1]
	fuzzy float64 // best phrase above its floor, [0,1]
	model float64 // log odds of the trained model; -inf without one
}

// worker is the scratch memory of one goroutine.
type worker struct {
	screen   *Screen
	reader   *normal.Reader
	matcher  *multi.Matcher
	fuzzy    fuzzy.Work
	model    *ngram.Work
	matches  []multi.Hit
	searches []*multi.Search // of each rule, made when it first matches
	quotes   quoteSearch
	weighed  int             // matches of a reading whose sentence was looked at
	plain    map[string]bool // pieces of a group that can be read in one way only
	joined   []byte          // of a group, or one of its pieces
	cells    []terms
	byCell   [][]int32 // rules that matched in each cell, each once
	ev       evidence
}

// gather collects the evidence of one view. The result is good until the next
// call.
func (w *worker) gather(v *normal.View) *evidence {
	ev := &w.ev
	ev.view, ev.events, ev.hits, ev.peak = v, ev.events[:0], ev.hits[:0], [2]int{}
	if len(v.Text) < long {
		w.rules()
		w.nearPhrases()
		w.windows()
	} else {
		together(w.rules, w.nearPhrases, w.windows)
	}
	w.score(ev)
	return ev
}

// long is the length of a view, in bytes, from which its signals are worked out
// side by side: for a shorter one that would take longer.
const long = 16 << 10

// rules adds the rules that match.
func (w *worker) rules() {
	ev := &w.ev
	w.weighed = 0
	w.matches = w.matcher.Match(ev.view.Text, w.matches[:0])
	for _, m := range w.matches {
		if w.screen.holds(ev.view.Text, m) && !w.void(ev.view.Text, m) {
			ev.events = append(ev.events, event{m.Pattern, m.End})
		}
	}
}

// nearPhrases adds what is nearly a phrase.
func (w *worker) nearPhrases() {
	w.ev.hits = w.screen.phraseSet.Find(w.ev.view.Text, w.ev.hits, &w.fuzzy)
}

// windows adds what the model finds worst in each stretch.
func (w *worker) windows() {
	w.ev.peaks = nil
	if w.screen.model != nil {
		w.ev.peaks = w.screen.model.Peaks(w.ev.view.Text, cell, w.model)
	}
}

// together calls functions at once and waits for all. A panic in one of them
// becomes the caller's, who has means against it.
func together(fs ...func()) {
	var all sync.WaitGroup
	failed := make([]any, len(fs))
	for i, f := range fs {
		all.Go(func() {
			defer func() { failed[i] = recover() }()
			f()
		})
	}
	all.Wait()
	for _, cause := range failed {
		if cause != nil {
			panic(cause)
		}
	}
}

// score finds the worst place.
func (w *worker) score(ev *evidence) {
	s := w.screen
	n := len(ev.view.Text)/cell + 2
	w.cells = w.cells[:0]
	for range n {
		w.cells = append(w.cells, terms{model: ngram.Nothing})
	}
	for i := range ev.hits {
		h := &ev.hits[i]
		c := &w.cells[int(h.End)/cell]
		if a := s.phrases[h.Phrase].above(h.Score); a > c.fuzzy && !forbidden(ev.view.Text, int(h.Start)) {
			c.fuzzy = a
		}
	}
	peak, best := [2]int{}, ngram.Nothing
	for _, p := range ev.peaks {
		c := &w.cells[p.End/cell]
		c.model = max(c.model, p.Score)
		if p.Score > best {
			best, peak = p.Score, [2]int{p.Start, p.End}
		}
	}
	ev.peak = peak
	w.sort(ev.events, n)
	ev.terms, ev.sigma = terms{model: ngram.Nothing}, sigmas{}
	for i := range n - 1 {
		t := terms{
			regex: w.noisyOr(i),
			fuzzy: max(w.cells[i].fuzzy, w.cells[i+1].fuzzy),
			model: max(w.cells[i].model, w.cells[i+1].model),
		}
		if g := s.stack.combine(t); i == 0 || g.stack > ev.sigma.stack {
			ev.terms = t
			ev.sigma.stack = g.stack
		}
		ev.sigma.paper = max(ev.sigma.paper, paper(t))
	}
}

// sort puts the rules of the events into their cells.
func (w *worker) sort(events []event, cells int) {
	for len(w.byCell) < cells {
		w.byCell = append(w.byCell, nil)
	}
	for i := range cells {
		w.byCell[i] = w.byCell[i][:0]
	}
	for _, e := range events {
		c := int(e.end) / cell
		if !slices.Contains(w.byCell[c], e.rule) {
			w.byCell[c] = append(w.byCell[c], e.rule)
		}
	}
}

// noisyOr is 1 - Π(1 - severity) over the rules whose match ends in cell i or
// the next.
func (w *worker) noisyOr(i int) float64 {
	rest := 1.0
	for _, r := range w.byCell[i] {
		rest *= 1 - w.screen.rules[r].Severity
	}
	for _, r := range w.byCell[i+1] {
		if !slices.Contains(w.byCell[i], r) {
			rest *= 1 - w.screen.rules[r].Severity
		}
	}
	return 1 - rest
}

// longestMatch bounds how far before its end a match is looked for; around is
// how much of its surroundings an exception may see.
const (
	longestMatch = 700
	before       = 160
	after        = 48
)

// holds reports whether a match counts: that no exception of its rule holds
// around it.
func (s *Screen) holds(text []byte, m multi.Hit) bool {
	r := &s.rules[m.Pattern]
	if r.except == nil {
		return true
	}
	return !r.except.Match(text[max(0, int(m.End)-before):min(len(text), int(m.End)+after)])
}

// begin returns where the match of an event begins: the last match that begins
// before its end and reaches it.
func (w *worker) begin(text []byte, e event) int {
	find := w.search(e.rule)
	from, end := max(0, int(e.end)-longestMatch), int(e.end)
	part := text[from:min(len(text), end+after)]
	start := from
	for at := 0; from+at < end; {
		a, b := find.Find(part[at:])
		if a < 0 || from+at+a >= end {
			break
		}
		start = from + at + a
		at += max(b, a+1)
	}
	return start
}

// search gives the finder's memory for a rule, made when it first matches.
func (w *worker) search(rule int32) *multi.Search {
	if w.searches[rule] == nil {
		w.searches[rule] = w.screen.rules[rule].finder.NewSearch()
	}
	return w.searches[rule]
}

package injection

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"interlock/internal/check/injection/ngram"
)

// A Row is a labelled text for training.
type Row struct {
	ID      string
	Text    string
	Attack  bool
	Kind    string
	Source  string
	Licence string
	Hard    bool // benign that looks bad
	Tier    string
	Extra   bool // for training only: never scored
}

var derivedFrom = regexp.MustCompile(`derived from ([^)]*\)?)\)$`)

// Family is the source a row leaves with: that of the text it was made from.
func (r Row) Family() string {
	if m := derivedFrom.FindStringSubmatch(r.Licence); m != nil {
		return m[1]
	}
	return r.Source
}

// A Scored is a row with the scores of a screen that never saw its source.
type Scored struct {
	Row
	Sigma, SigmaPaper float64
	Model             float64 // log odds of the model alone
	Regex, Fuzzy      float64
}

// prepared is a row made ready.
type prepared struct {
	Row
	example ngram.Example
	terms   terms
	paper   float64
	quoted  bool
	rest    ngram.Example // of a quoted attack, what is left without the quotation
	restAt  terms
}

// trainingLength bounds the text of a row that is learned from, in bytes: of a
// longer one the beginning and the end are taken.
const trainingLength = 4000

// priorShift moves the calibrated log odds from the share of attacks in the
// suites, a third, towards the smaller one among plans.
const priorShift = -0.5

// hardWeight is how much more a benign text that looks bad counts.
const hardWeight = 1.5

// A Trainer makes weights from rows. It is deterministic.
type Trainer struct {
	rows     []prepared
	settings ngram.Settings
	screen   *Screen
}

// NewTrainer prepares the rows of the core tier.
func NewTrainer(rows []Row, settings ngram.Settings) (*Trainer, error) {
	s, err := New(Options{NoModel: true})
	if err != nil {
		return nil, err
	}
	t := &Trainer{settings: settings, screen: s}
	w := s.newWorker()
	for _, r := range rows {
		if r.Tier == "stress" {
			continue // nothing in the text itself marks it
		}
		t.rows = append(t.rows, w.prepare(r))
	}
	if len(t.rows) == 0 {
		return nil, fmt.Errorf("no rows to train from")
	}
	t.balance()
	return t, nil
}

// evenness is how far groups of rows are evened out: with 0 each row counts
// alike, with 1 each group.
const evenness = 0.3

// balance weighs the rows so that no large group of its kind drowns the others.
// A group is a label of a source, among rows that templates made of one kind.
func (t *Trainer) balance() {
	group := func(p *prepared) string {
		if p.Extra {
			return fmt.Sprint(p.Source, "\n", p.Kind, "\n", p.Attack)
		}
		return fmt.Sprint(p.Source, "\n", p.Attack)
	}
	size := map[string]float64{}
	for i := range t.rows {
		size[group(&t.rows[i])]++
	}
	total := 0.0
	for i := range t.rows {
		total += math.Pow(size[group(&t.rows[i])], -evenness)
	}
	for i := range t.rows {
		p := &t.rows[i]
		p.example.Weight *= math.Pow(size[group(p)], -evenness) * float64(len(t.rows)) / total
	}
}

func (w *worker) prepare(r Row) prepared {
	p := prepared{Row: r}
	v := w.text([]byte(r.Text), screening{discount: true, plain: true})
	p.terms = terms{regex: v.Regex, fuzzy: v.Fuzzy}
	p.paper, p.quoted = v.SigmaPaper, v.Discounted
	weight := 1.0
	if r.Hard {
		weight = hardWeight
	}
	p.example = w.example([]byte(r.Text), r.Attack, weight)
	if p.quoted {
		p.rest, p.restAt = w.example(v.rest, r.Attack, weight), v.restAt
	}
	return p
}

// example makes a text ready to learn from.
func (w *worker) example(text []byte, attack bool, weight float64) ngram.Example {
	if len(text) > trainingLength {
		text = slices.Concat(text[:trainingLength/2], []byte("\n"), text[len(text)-trainingLength/2:])
	}
	views, _ := w.reader.Views(text)
	var readings [][]byte
	for _, view := range views {
		readings = append(readings, view.Text)
	}
	return ngram.NewExample(readings, attack, weight)
}

func (t *Trainer) fit(use func(*prepared) bool) *ngram.Model {
	var examples []ngram.Example
	for i := range t.rows {
		if use(&t.rows[i]) {
			examples = append(examples, t.rows[i].example)
		}
	}
	return ngram.Train(examples, t.settings)
}

// Families lists the sources that are left out in turn, largest first.
func (t *Trainer) Families() []string {
	count := map[string]int{}
	for i := range t.rows {
		if !t.rows[i].Extra {
			count[t.rows[i].Family()]++
		}
	}
	var names []string
	for n := range count {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	return names
}

// LeaveSourcesOut scores every row by weights that were trained without its
// source and without what was made from it. The four constants of the
// calibration are fitted once, to these held-out scores.
func (t *Trainer) LeaveSourcesOut() []Scored {
	model := make([]float64, len(t.rows))
	for _, f := range t.Families() {
		m := t.fit(func(p *prepared) bool { return p.Family() != f })
		for i := range t.rows {
			if p := &t.rows[i]; !p.Extra && p.Family() == f {
				model[i] = m.Score(&p.example)
				p.restAt.model = m.Score(&p.rest)
			}
		}
	}
	var out []Scored
	cal := t.calibrate(model, func(p *prepared) bool { return !p.Extra })
	for i := range t.rows {
		if p := &t.rows[i]; !p.Extra {
			out = append(out, t.scored(p, model[i], cal))
		}
	}
	return out
}

func (t *Trainer) scored(p *prepared, model float64, cal Calibration) Scored {
	p.terms.model = model
	g := sigmas{stack: cal.combine(p.terms).stack, paper: p.paper}
	if p.quoted && g.stack >= DefaultThresholds(Stack).TauW {
		g = t.screen.discount(g, sigmas{stack: cal.combine(p.restAt).stack})
	}
	return Scored{Row: p.Row, Sigma: g.stack, SigmaPaper: g.paper, Model: model, Regex: p.terms.regex, Fuzzy: p.terms.fuzzy}
}

// Final trains on everything; the calibration is the one that sources left out
// give, because only they show how sure the model may be of texts it never
// saw.
func (t *Trainer) Final(held []Scored) Weights {
	byID := map[string]float64{}
	for _, h := range held {
		byID[h.ID] = h.Model
	}
	model := make([]float64, len(t.rows))
	for i := range t.rows {
		model[i] = byID[t.rows[i].ID]
	}
	return Weights{
		Calibration: t.calibrate(model, func(p *prepared) bool { return !p.Extra }),
		Model:       t.fit(func(*prepared) bool { return true }),
	}
}

// calibrate fits the log odds of an attack to the three terms by gradient
// descent, with no weight below zero (C4). Each source counts alike within its
// label, so that the largest corpus does not set the scale.
func (t *Trainer) calibrate(model []float64, use func(*prepared) bool) Calibration {
	type point struct{ x, y, f, label, weight float64 }
	var points []point
	size := map[string]float64{}
	key := func(p *prepared) string { return fmt.Sprint(p.Family(), p.Attack) }
	for i := range t.rows {
		if use(&t.rows[i]) {
			size[key(&t.rows[i])]++
		}
	}
	total := 0.0
	for i := range t.rows {
		p := &t.rows[i]
		if !use(p) {
			continue
		}
		pt := point{x: bounded(model[i]), y: evidenceOdds(p.terms.regex), f: p.terms.fuzzy, weight: 1 / math.Sqrt(size[key(p)])}
		if p.Attack {
			pt.label = 1
		}
		total += pt.weight
		points = append(points, pt)
	}
	c := Calibration{Bias: -1, Model: 1, Regex: 1, Fuzzy: 1, FuzzyAlone: defaultFuzzyAlone}
	const steps, rate = 3000, 0.2
	for range steps {
		var gb, gm, gr, gf float64
		for _, p := range points {
			z := c.Bias + c.Model*p.x + c.Regex*p.y + c.Fuzzy*p.f
			d := (1/(1+math.Exp(-z)) - p.label) * p.weight / total
			gb, gm, gr, gf = gb+d, gm+d*p.x, gr+d*p.y, gf+d*p.f
		}
		c.Bias -= rate * gb
		c.Model = max(0, c.Model-rate*gm)
		c.Regex = max(0, c.Regex-rate*gr)
		c.Fuzzy = max(0, c.Fuzzy-rate*gf)
	}
	c.Bias += priorShift
	return c
}

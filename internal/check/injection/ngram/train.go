package ngram

import (
	"math"
	"math/rand/v2"
)

// An Example is a text for training: its readings, and whether it is an attack.
type Example struct {
	Attack bool
	Weight float64
	views  []sample
}

// A sample is one reading, as tokens and their features.
type sample struct {
	tokens []token
	feats  []uint32
}

// NewExample prepares a text by its readings.
func NewExample(readings [][]byte, attack bool, weight float64) Example {
	e := Example{Attack: attack, Weight: weight}
	w := Work{collect: true}
	for _, r := range readings {
		w.tokenize(r, nil)
		if len(w.tokens) > 0 {
			e.views = append(e.views, sample{append([]token(nil), w.tokens...), append([]uint32(nil), w.feats...)})
		}
	}
	return e
}

// Settings of a training.
type Settings struct {
	Epochs   int     // passes over the examples
	Rate     float64 // of learning
	Decay    float64 // of a weight, each time it is used
	Drop     float64 // share of the features of a window that a step goes without
	Warmup   int     // epochs in which the whole text is the window
	Averaged int     // last epochs whose weights are averaged
	Seed     uint64
}

// DefaultSettings were chosen by leaving sources out.
func DefaultSettings() Settings {
	return Settings{Epochs: 7, Rate: 0.3, Decay: 2e-5, Drop: 0.3, Warmup: 2, Averaged: 3, Seed: 1}
}

// trainer holds the weights while they are learned.
type trainer struct {
	weight [2 * tableSize]float32
	square [2 * tableSize]float32 // sums of squared gradients (AdaGrad)
	bias   float32
	biasSq float32
	set    Settings
	work   Work
	rng    *rand.Rand
	kept   []bool // of the features of the window, those that this step goes with
}

func index(f uint32) uint32 {
	if f&inPieces != 0 {
		return f&tableMask + tableSize
	}
	return f & tableMask
}

// Train fits a model. The same examples and settings give the same model.
//
// The window that speaks for a text is the one that scores worst, as when the
// model is used: so an attack is learned from where it stands, and ordinary
// text from where it looks worst.
func Train(examples []Example, set Settings) *Model {
	t := &trainer{set: set, rng: rand.New(rand.NewPCG(set.Seed, 0x9E3779B97F4A7C15))}
	var mean average
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	for epoch := range set.Epochs {
		t.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for n, i := range order {
			t.learn(&examples[i], epoch < set.Warmup)
			if epoch >= set.Epochs-set.Averaged && (n+1)%(len(order)/perEpoch+1) == 0 {
				mean.add(t)
			}
		}
		if epoch >= set.Epochs-set.Averaged {
			mean.add(t)
		}
	}
	mean.into(t)
	return t.quantize()
}

// perEpoch is about how often in an epoch the weights are taken for the average.
const perEpoch = 4

// An average of weights over steps: they swing less than those of any one step.
type average struct {
	weight []float32
	bias   float32
	n      float32
}

func (a *average) add(t *trainer) {
	if a.weight == nil {
		a.weight = make([]float32, len(t.weight))
	}
	for i, w := range t.weight {
		a.weight[i] += w
	}
	a.bias += t.bias
	a.n++
}

func (a *average) into(t *trainer) {
	if a.n == 0 {
		return
	}
	for i, w := range a.weight {
		t.weight[i] = w / a.n
	}
	t.bias = a.bias / a.n
}

// learn takes one step.
func (t *trainer) learn(e *Example, whole bool) {
	best, view, from, to := float32(Nothing), -1, 0, 0
	for v := range e.views {
		s := &e.views[v]
		t.load(s)
		n := len(s.tokens)
		if whole {
			l := min(n, longestWindow)
			if sc := t.work.window(0, l); sc > best {
				best, view, from, to = sc, v, 0, l
			}
			continue
		}
		for j := 1; j <= n; j++ {
			if sc, i := t.work.worst(j); sc > best {
				best, view, from, to = sc, v, i, j
			}
		}
	}
	if view < 0 {
		return
	}
	if t.set.Drop > 0 {
		best = t.drop(&e.views[view], from, to)
	}
	p := 1 / (1 + math.Exp(-float64(best+t.bias)))
	y := 0.0
	if e.Attack {
		y = 1
	}
	g := float32((p - y) * e.Weight)
	t.update(&e.views[view], from, to, g)
}

// load computes what the words of a sample add with the weights of now.
func (t *trainer) load(s *sample) {
	w := &t.work
	w.tokens = append(w.tokens[:0], s.tokens...)
	for i := range w.tokens {
		k := &w.tokens[i]
		k.alone = t.total(s.feats[k.firstFeature:k.pairFeature])
		k.pair = t.total(s.feats[k.pairFeature:k.tripleFeature])
		k.triple = t.total(s.feats[k.tripleFeature:k.lastFeature])
	}
	w.sums()
}

func (t *trainer) total(feats []uint32) (sum float32) {
	for _, f := range feats {
		sum += t.weight[index(f)]
	}
	return sum
}

// features calls f with the features of a window.
func (s *sample) features(from, to int, f func(uint32)) {
	for i := from; i < to; i++ {
		k := &s.tokens[i]
		last := k.pairFeature
		if i >= from+1 {
			last = k.tripleFeature
		}
		if i >= from+2 {
			last = k.lastFeature
		}
		for _, x := range s.feats[k.firstFeature:last] {
			f(x)
		}
	}
}

// drop chooses the features that a step goes without, so that no few of them
// carry an attack alone, and scores the window by the others.
func (t *trainer) drop(s *sample, from, to int) float32 {
	t.kept = t.kept[:0]
	sum := float32(0)
	s.features(from, to, func(f uint32) {
		keep := t.rng.Float64() >= t.set.Drop
		t.kept = append(t.kept, keep)
		if keep {
			sum += t.weight[index(f)]
		}
	})
	return sum * norms[to-from] / float32(1-t.set.Drop)
}

// update moves the weights of a window against the gradient.
func (t *trainer) update(s *sample, from, to int, g float32) {
	rate := float32(t.set.Rate)
	t.biasSq += g * g
	t.bias -= rate * 0.3 * g / float32(math.Sqrt(float64(t.biasSq)+1))
	g *= norms[to-from]
	n := 0
	s.features(from, to, func(f uint32) {
		if n++; t.set.Drop > 0 && !t.kept[n-1] {
			return
		}
		i := index(f)
		d := g + float32(t.set.Decay)*t.weight[i]
		t.square[i] += d * d
		t.weight[i] -= rate * d / (float32(math.Sqrt(float64(t.square[i]))) + 0.3)
	})
}

// quantize turns the weights into one byte each.
func (t *trainer) quantize() *Model {
	m := &Model{bias: float64(t.bias)}
	m.wordScale = quantizeTable(t.weight[:tableSize], m.words[:])
	m.pieceScale = quantizeTable(t.weight[tableSize:], m.pieces[:])
	return m
}

func quantizeTable(from []float32, to []int8) float32 {
	top := float32(1e-6)
	for _, v := range from {
		top = max(top, max(v, -v))
	}
	scale := top / 127
	for i, v := range from {
		to[i] = int8(math.RoundToEven(float64(v / scale)))
	}
	return scale
}

// Score is the score of an example: that of its worst reading.
func (m *Model) Score(e *Example) float64 {
	best := float64(Nothing)
	var w Work
	for v := range e.views {
		s := &e.views[v]
		w.tokens = append(w.tokens[:0], s.tokens...)
		for i := range w.tokens {
			k := &w.tokens[i]
			k.alone = m.total(s.feats[k.firstFeature:k.pairFeature])
			k.pair = m.total(s.feats[k.pairFeature:k.tripleFeature])
			k.triple = m.total(s.feats[k.tripleFeature:k.lastFeature])
		}
		w.sums()
		for j := 1; j <= len(w.tokens); j++ {
			sc, _ := w.worst(j)
			best = max(best, m.bias+float64(sc))
		}
	}
	return best
}

func (m *Model) total(feats []uint32) (sum float32) {
	for _, f := range feats {
		if f&inPieces != 0 {
			sum += float32(m.pieces[f&tableMask]) * m.pieceScale
		} else {
			sum += float32(m.words[f&tableMask]) * m.wordScale
		}
	}
	return sum
}

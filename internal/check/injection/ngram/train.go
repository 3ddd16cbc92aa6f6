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
	Epochs int     // passes over the examples
	Rate   float64 // of learning
	Decay  float64 // of a weight, each time it is used
	Warmup int     // epochs in which the whole text is the window
	Seed   uint64
}

// DefaultSettings were chosen by leaving sources out.
func DefaultSettings() Settings {
	return Settings{Epochs: 5, Rate: 0.3, Decay: 2e-5, Warmup: 2, Seed: 1}
}

// trainer holds the weights while they are learned.
type trainer struct {
	weight [2 * tableSize]float32
	square [2 * tableSize]float32 // sums of squared gradients (AdaGrad)
	bias   float32
	biasSq float32
	set    Settings
	work   Work
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
	t := &trainer{set: set}
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	rng := rand.New(rand.NewPCG(set.Seed, 0x9E3779B97F4A7C15))
	for epoch := range set.Epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			t.learn(&examples[i], epoch < set.Warmup)
		}
	}
	return t.quantize()
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

// update moves the weights of a window against the gradient.
func (t *trainer) update(s *sample, from, to int, g float32) {
	rate := float32(t.set.Rate)
	t.biasSq += g * g
	t.bias -= rate * 0.3 * g / float32(math.Sqrt(float64(t.biasSq)+1))
	g *= norms[to-from]
	for i := from; i < to; i++ {
		k := &s.tokens[i]
		last := k.pairFeature
		if i >= from+1 {
			last = k.tripleFeature
		}
		if i >= from+2 {
			last = k.lastFeature
		}
		for _, f := range s.feats[k.firstFeature:last] {
			n := index(f)
			d := g + float32(t.set.Decay)*t.weight[n]
			t.square[n] += d * d
			t.weight[n] -= rate * d / (float32(math.Sqrt(float64(t.square[n]))) + 0.3)
		}
	}
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

package normal

import "bytes"

// A Reader makes the views of texts. It is the working memory of one
// goroutine: the views it returns are good until its next call.
type Reader struct {
	folder *Folder
	words  *Words
	cache  *cache
	raws   [maxDepth]raw
	pool   []*View
	used   int
	views  []*View
	gaps   []Gap
	quiet  bool // no word of the last text asks for another reading
	byLine bool // no line of the last text was read by way of another
}

// maxDepth is how often what was decoded is decoded again.
const maxDepth = 2

// maxViews bounds the views of one text.
const maxViews = 12

// NewReader makes a reader.
func NewReader(f *Folder, w *Words) *Reader {
	return &Reader{folder: f, words: w, cache: &cache{}}
}

// Views returns the readings of text, the plain one first, and the parts that
// look encoded and could not be read. A reading that differs from no other is
// left out.
func (r *Reader) Views(text []byte) ([]*View, []Gap) {
	r.used, r.views, r.gaps = 0, r.views[:0], r.gaps[:0]
	src := &raw{b: text}
	overridden := bytes.Contains(text, []byte(rightToLeft))
	for depth := 0; ; depth++ {
		v := r.view()
		byLine := r.folder.Fold(v, src.b, r.cache)
		if depth == 0 {
			r.byLine = byLine
		} else {
			v.Kind = Decoded
		}
		if src.at != nil {
			for i, a := range v.at {
				v.at[i] = src.at[a]
			}
		}
		r.add(v)
		r.derive(v, overridden)
		if depth == maxDepth {
			break
		}
		dst := &r.raws[depth]
		changed, gaps := decode(dst, src, r.gaps)
		if depth == 0 {
			r.gaps = gaps
		}
		if !changed {
			break
		}
		src = dst
	}
	return r.views, r.gaps
}

// LinesArePlain reports whether neither the text last given to Views nor any run
// of its lines by itself has another reading than the plain one. False says
// nothing. It holds because all that calls for a reading of some lines stands in
// the whole text too; only what is weighed against the rest of the text, or
// depends on the lines around it, does not carry over.
func (r *Reader) LinesArePlain() bool {
	return r.quiet && r.byLine && len(r.views) == 1
}

// Plain returns the plain reading of text only. Like those of Views it is good
// until the next call.
func (r *Reader) Plain(text []byte) *View {
	r.used = 0
	v := r.view()
	r.folder.Fold(v, text, r.cache)
	return v
}

func (r *Reader) view() *View {
	if r.used == len(r.pool) {
		r.pool = append(r.pool, &View{})
	}
	r.used++
	return r.pool[r.used-1]
}

func (r *Reader) add(v *View) {
	if len(r.views) < maxViews {
		r.views = append(r.views, v)
	}
}

// derive adds the readings of v that its words call for. Overridden says that
// the text turns the direction of writing round.
func (r *Reader) derive(v *View, overridden bool) {
	t := r.words.count(v)
	together := assembles(v.Text)
	r.quiet = t.quiet() && !together
	if t.leet.all > 0 || t.jumbled || t.spaced >= fewestLetters {
		if m := r.view(); r.words.repair(m, v, false) {
			r.add(m)
		}
	}
	if t.leet.best >= fewestLeet {
		m := r.view()
		r.words.repair(m, v, true)
		r.add(m)
	}
	if foreign(t.mirror, t.known) || overridden {
		m := r.view()
		reversed(m, v)
		r.add(m)
	}
	for k, n := range t.shift {
		if foreign(n, t.known) {
			m := r.view()
			shifted(m, v, uint8(k))
			r.add(m)
		}
	}
	if together {
		if m := r.view(); joined(m, v) {
			r.add(m)
		}
	}
}

// foreign reports whether words that only make sense in another reading are too
// many for chance: three near one another, or in a short text two that outweigh
// the known words that make sense as they stand.
func foreign(s streak, known int) bool {
	return s.best >= 3 || s.all >= fewestForeign && s.all > known
}

// rightToLeft is the control that shows the letters behind it from the end.
const rightToLeft = "\u202e"

// fewestLeet is how many words of leet near one another make a text in leet.
const fewestLeet = 3

// fewestForeign is how many such words a text has at least.
const fewestForeign = 2

// assembles reports whether the text speaks of putting pieces together.
func assembles(b []byte) bool {
	if bytes.Count(b, []byte{'"'})+bytes.Count(b, []byte{'\''}) < 4 {
		return false
	}
	for _, w := range []string{"join", "concat", "combine", "together", "assemble", "append", "exec(", "eval(", "+"} {
		if bytes.Contains(b, []byte(w)) {
			return true
		}
	}
	return false
}

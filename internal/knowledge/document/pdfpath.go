package document

import "math"

// A fill is an area painted in one colour, before which text stands.
type fill struct {
	area   box
	colour rgb
}

// An outline is what the operators have outlined since the last painting. Only
// rectangles and straight bars along the axes are kept: text in the colour of
// paper that stands before anything else counts as not seen.
type outline struct {
	boxes  []box
	points [][2]float64 // of the figure begun
	curved bool
}

const (
	maxPath  = 1000
	maxFills = 10_000
)

// paths follows the operators that outline and paint.
func (t *typesetter) paths(op string, f func(int) float64) bool {
	switch op {
	case "re":
		x0, y0 := t.g.ctm.at(f(0), f(1))
		x1, y1 := t.g.ctm.at(f(0)+f(2), f(1)+f(3))
		if len(t.path.boxes) < maxPath {
			t.path.boxes = append(t.path.boxes, boxOf(x0, y0, x1, y1))
		}
	case "m":
		t.path.close()
		t.point(f(0), f(1))
	case "l":
		t.point(f(0), f(1))
	case "c", "v", "y":
		t.path.curved = true
	case "h":
		t.path.close()
	case "f", "F", "f*", "B", "B*", "b", "b*":
		t.path.close()
		for _, b := range t.path.boxes {
			t.paint(b, t.g.fill)
		}
		t.path = outline{}
	case "S", "s":
		t.bar()
		t.path = outline{}
	case "n":
		t.path = outline{}
	default:
		return false
	}
	return true
}

func (t *typesetter) point(x, y float64) {
	x, y = t.g.ctm.at(x, y)
	if len(t.path.points) < maxPath {
		t.path.points = append(t.path.points, [2]float64{x, y})
	}
}

// paint covers an area: text set before is no longer seen, text set after
// stands on this colour. Beyond maxFills text in the colour of paper counts as
// not seen.
func (t *typesetter) paint(b box, c rgb) {
	if len(t.fills) >= maxFills || t.g.alpha < 0.5 || t.g.blended {
		return
	}
	t.fills = append(t.fills, fill{b, c})
	t.endLine()
	for i, at := range t.starts {
		if t.lines[i].Hidden == "" && b.holds(at[0], at[1]) {
			t.lines[i].Hidden = "painted over"
		}
	}
}

// close ends the figure begun and keeps it if it is a rectangle.
func (p *outline) close() {
	points := p.points
	curved := p.curved
	p.points, p.curved = nil, false
	if curved || len(points) < 4 || len(points) > 5 || len(p.boxes) >= maxPath {
		return
	}
	b := boxOf(points[0][0], points[0][1], points[2][0], points[2][1])
	for i, q := range points {
		near := func(v, w float64) bool { return math.Abs(v-w) < 0.5 }
		next := points[(i+1)%len(points)]
		if !(near(q[0], b.x0) || near(q[0], b.x1)) || !(near(q[1], b.y0) || near(q[1], b.y1)) || !near(q[0], next[0]) && !near(q[1], next[1]) {
			return
		}
	}
	p.boxes = append(p.boxes, b)
}

// bar paints a thick straight line.
func (t *typesetter) bar() {
	p := t.path.points
	if len(p) != 2 || t.path.curved {
		return
	}
	half := t.g.line * math.Hypot(t.g.ctm[2], t.g.ctm[3]) / 2
	b := boxOf(p[0][0], p[0][1], p[1][0], p[1][1])
	switch {
	case b.y1-b.y0 < 0.5:
		b.y0, b.y1 = b.y0-half, b.y1+half
	case b.x1-b.x0 < 0.5:
		b.x0, b.x1 = b.x0-half, b.x1+half
	default:
		return
	}
	t.paint(b, t.g.stroke)
}

func boxOf(x0, y0, x1, y1 float64) box {
	return box{min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)}
}

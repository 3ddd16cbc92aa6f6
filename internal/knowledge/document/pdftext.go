package document

import (
	"math"
	"strings"

	"github.com/ledongthuc/pdf"
)

// matrix is a PDF transformation: [a b c d e f].
type matrix [6]float64

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func (m matrix) at(x, y float64) (float64, float64) {
	return x*m[0] + y*m[2] + m[4], x*m[1] + y*m[3] + m[5]
}

type box struct{ x0, y0, x1, y1 float64 }

func (b box) holds(x, y float64) bool { return x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1 }

// gstate is what the q and Q operators save.
type gstate struct {
	ctm         matrix
	fill        rgb
	stroke      rgb
	line        float64 // width
	blended     bool    // what is painted lets through what is below
	alpha       float64
	mode        int64
	font        *font
	size        float64
	leading     float64
	scale       float64
	char, space float64
}

type font struct {
	enc    pdf.TextEncoding
	first  int
	widths []float64
	wide   bool // codes of two bytes
}

// A typesetter follows the operators of a page and sets its text in lines, with
// the reason where a line is not seen.
type typesetter struct {
	x         *extractor
	n         int // index of the page
	page      box
	g         gstate
	stack     []gstate
	tm, tlm   matrix
	path      outline
	fills     []fill
	fonts     map[string]*font
	lines     []Line
	starts    [][2]float64 // of lines
	start     [2]float64   // of the line begun
	cur       strings.Builder
	why       string
	endX, y   float64
	lastSize  float64
	prevY     float64
	images    bool
	operators int
}

// grey stands for a picture: neither white nor black text vanishes on it.
var grey = rgb{0.5, 0.5, 0.5}

var identity = matrix{1, 0, 0, 1, 0, 0}

func newTypesetter(x *extractor, n int, page box) *typesetter {
	return &typesetter{
		x: x, n: n, page: page, tm: identity, tlm: identity, fonts: map[string]*font{},
		g: gstate{ctm: identity, alpha: 1, scale: 1, line: 1}, prevY: math.NaN(),
	}
}

// run interprets one content stream.
func (t *typesetter) run(stream, resources pdf.Value, depth int) {
	pdf.Interpret(stream, func(stk *pdf.Stack, op string) {
		if t.operators++; t.operators%256 == 0 && t.x.ctx.Err() != nil {
			panic(t.x.ctx.Err())
		}
		args := make([]pdf.Value, stk.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stk.Pop()
		}
		if !t.graphics(op, args, resources) {
			t.text(op, args, resources)
		}
		if op == "Do" && len(args) == 1 {
			t.object(resources.Key("XObject").Key(args[0].Name()), resources, depth)
		}
	})
}

// object draws a form, or notes that there is an image.
func (t *typesetter) object(obj, resources pdf.Value, depth int) {
	switch obj.Key("Subtype").Name() {
	case "Image":
		t.images = true
		x0, y0 := t.g.ctm.at(0, 0)
		x1, y1 := t.g.ctm.at(1, 1)
		if obj.Key("SMask").IsNull() && obj.Key("ImageMask").IsNull() && obj.Key("Mask").IsNull() {
			t.paint(boxOf(x0, y0, x1, y1), grey)
		}
	case "Form":
		if depth >= maxForms {
			t.x.unread(t.n, "forms inside forms, too deep")
			return
		}
		if own := obj.Key("Resources"); !own.IsNull() {
			resources = own
		}
		check(obj)
		saved, fonts := t.g, t.fonts
		t.fonts = map[string]*font{}
		if m, ok := readMatrix(obj.Key("Matrix")); ok {
			t.g.ctm = m.times(t.g.ctm)
		}
		t.run(obj, resources, depth+1)
		t.g, t.fonts = saved, fonts
	}
}

func readMatrix(v pdf.Value) (m matrix, ok bool) {
	if v.Len() != len(m) {
		return m, false
	}
	for i := range m {
		m[i] = v.Index(i).Float64()
	}
	return m, true
}

// graphics follows the operators that change how and where things are drawn.
func (t *typesetter) graphics(op string, args []pdf.Value, resources pdf.Value) bool {
	f := func(i int) float64 {
		if i < len(args) {
			return args[i].Float64()
		}
		return 0
	}
	switch op {
	case "q":
		if len(t.stack) < 1000 {
			t.stack = append(t.stack, t.g)
		}
	case "Q":
		if n := len(t.stack) - 1; n >= 0 {
			t.g, t.stack = t.stack[n], t.stack[:n]
		}
	case "cm":
		t.g.ctm = matrix{f(0), f(1), f(2), f(3), f(4), f(5)}.times(t.g.ctm)
	case "g", "rg", "k", "sc", "scn":
		t.g.fill = fillColour(args)
	case "cs":
		t.g.fill = rgb{}
	case "gs":
		state := resources.Key("ExtGState").Key(name(args))
		if a := state.Key("ca"); !a.IsNull() {
			t.g.alpha = a.Float64()
		}
		if m := state.Key("BM"); !m.IsNull() {
			t.g.blended = m.Name() != "Normal"
		}
	case "G", "RG", "K", "SC", "SCN":
		t.g.stroke = fillColour(args)
	case "CS":
		t.g.stroke = rgb{}
	case "w":
		t.g.line = f(0)
	default:
		return t.paths(op, f)
	}
	return true
}

func name(args []pdf.Value) string {
	if len(args) == 0 {
		return ""
	}
	return args[len(args)-1].Name()
}

// fillColour reads 1, 3 or 4 components; patterns count as dark.
func fillColour(args []pdf.Value) rgb {
	v := make([]float64, 0, 4)
	for _, a := range args {
		if k := a.Kind(); k == pdf.Integer || k == pdf.Real {
			v = append(v, a.Float64())
		}
	}
	switch len(v) {
	case 1:
		return rgb{v[0], v[0], v[0]}
	case 3:
		return rgb{v[0], v[1], v[2]}
	case 4:
		light := 1 - v[3]
		return rgb{(1 - v[0]) * light, (1 - v[1]) * light, (1 - v[2]) * light}
	}
	return rgb{}
}

// text follows the text operators.
func (t *typesetter) text(op string, args []pdf.Value, resources pdf.Value) {
	f := func(i int) float64 {
		if i < len(args) {
			return args[i].Float64()
		}
		return 0
	}
	switch op {
	case "BT":
		t.tm, t.tlm = identity, identity
	case "Tf":
		if len(args) == 2 {
			t.g.font, t.g.size = t.font(resources, args[0].Name()), args[1].Float64()
		}
	case "Tr":
		t.g.mode = int64(f(0))
	case "TL":
		t.g.leading = f(0)
	case "Tz":
		t.g.scale = f(0) / 100
	case "Tc":
		t.g.char = f(0)
	case "Tw":
		t.g.space = f(0)
	case "TD":
		t.g.leading = -f(1)
		t.move(f(0), f(1))
	case "Td":
		t.move(f(0), f(1))
	case "T*":
		t.move(0, -t.g.leading)
	case "Tm":
		t.tm = matrix{f(0), f(1), f(2), f(3), f(4), f(5)}
		t.tlm = t.tm
	case "Tj", "'", `"`:
		if op != "Tj" {
			t.move(0, -t.g.leading)
		}
		if len(args) > 0 {
			t.show(args[len(args)-1].RawString())
		}
	case "TJ":
		if len(args) == 1 {
			t.array(args[0])
		}
	}
}

func (t *typesetter) array(v pdf.Value) {
	for i := range v.Len() {
		if e := v.Index(i); e.Kind() == pdf.String {
			t.show(e.RawString())
		} else {
			t.advance(-e.Float64() / 1000 * t.g.size)
		}
	}
}

func (t *typesetter) move(x, y float64) {
	t.tlm = matrix{1, 0, 0, 1, x, y}.times(t.tlm)
	t.tm = t.tlm
}

func (t *typesetter) advance(x float64) { t.tm = matrix{1, 0, 0, 1, x * t.g.scale, 0}.times(t.tm) }

func (t *typesetter) font(resources pdf.Value, name string) *font {
	if f := t.fonts[name]; f != nil {
		return f
	}
	v := resources.Key("Font").Key(name)
	if u := v.Key("ToUnicode"); u.Kind() == pdf.Stream {
		check(u)
	}
	pf := pdf.Font{V: v}
	f := &font{enc: pf.Encoder(), first: pf.FirstChar(), widths: pf.Widths(), wide: v.Key("Subtype").Name() == "Type0"}
	t.fonts[name] = f
	return f
}

// width is the advance of a string in thousandths of the font's size.
func (f *font) width(s string) float64 {
	const usual = 500
	if f.wide {
		return usual * float64(len(s)) / 2
	}
	w := 0.0
	for _, c := range []byte(s) {
		if i := int(c) - f.first; i >= 0 && i < len(f.widths) {
			w += f.widths[i]
		} else {
			w += usual
		}
	}
	return w
}

// show sets a string: on the line begun, or on a new one.
func (t *typesetter) show(raw string) {
	if t.g.font == nil {
		t.g.font = &font{enc: rawText{}}
	}
	s := t.g.font.enc.Decode(raw)
	trm := t.tm.times(t.g.ctm)
	x, y := trm.at(0, 0)
	size := math.Abs(t.g.size) * math.Hypot(trm[2], trm[3])
	n := float64(len(raw))
	t.advance(t.g.font.width(raw)/1000*t.g.size + t.g.char*n + t.g.space*float64(strings.Count(raw, " ")))
	end, _ := t.tm.times(t.g.ctm).at(0, 0)
	if strings.TrimSpace(s) == "" {
		s = " "
	}
	why := t.unseen(x, y, size)
	em := max(size, 1)
	switch {
	case math.Abs(y-t.y) > em*0.4 || x < t.endX-em*2 || why != t.why:
		t.endLine()
	case t.cur.Len() > 0 && x > t.endX+em*0.18:
		t.cur.WriteByte(' ')
	}
	if t.cur.Len() == 0 {
		t.start = [2]float64{x, y + size/4}
	}
	t.why, t.y, t.endX, t.lastSize = why, y, end, em
	t.cur.WriteString(s)
}

// unseen says why a person would not see text drawn here and now.
func (t *typesetter) unseen(x, y, size float64) string {
	const smallest = 1.5 // points
	back := white
	for i := len(t.fills) - 1; i >= 0; i-- {
		if t.fills[i].area.holds(x, y+size/4) {
			back = t.fills[i].colour
			break
		}
	}
	switch {
	case t.g.mode == 3 || t.g.mode == 7:
		return "drawn invisibly (text render mode)"
	case t.g.alpha < 0.1:
		return "transparent"
	case size < smallest:
		return "smaller than a reader can see"
	case !t.page.holds(x, y):
		return "outside the page"
	case t.g.mode != 1 && t.g.fill.near(back):
		return "in the colour of its background"
	}
	return ""
}

func (t *typesetter) endLine() {
	if s := strings.Join(strings.Fields(t.cur.String()), " "); s != "" {
		gap := math.IsNaN(t.prevY) || math.Abs(t.prevY-t.y) > 1.7*t.lastSize
		t.starts = append(t.starts, t.start)
		t.lines = append(t.lines, Line{Text: s, Hidden: t.why, Gap: gap})
		t.prevY = t.y
	}
	t.cur.Reset()
}

// finish returns the lines of the page, and notes a page that is a picture.
func (t *typesetter) finish() []Line {
	t.endLine()
	if t.images {
		t.x.unread(t.n, "an image: what it shows was not read")
	}
	return t.lines
}

type rawText struct{}

func (rawText) Decode(s string) string { return s }

package document

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

var cssNoteRE = regexp.MustCompile(`(?s)/\*.*?(?:\*/|$)`)

// A cssRule is one rule of a style sheet that may hide text. Where a selector
// asks for more than an element's own tag, class and id, the rest is taken as
// fulfilled: text hidden perhaps is reported as hidden.
type cssRule struct {
	tag, id string
	classes []string
	decls   map[string]string
}

func (c *cssRule) matches(n *html.Node, have []string) bool {
	if c.tag != "" && c.tag != "*" && c.tag != n.Data || c.id != "" && c.id != attr(n, "id") {
		return false
	}
	for _, want := range c.classes {
		if !slices.Contains(have, want) {
			return false
		}
	}
	return true
}

// parseCSS reads the rules of a style sheet; those in at-rules count always.
func parseCSS(css string) []cssRule {
	css = cssNoteRE.ReplaceAllString(css, " ")
	var out []cssRule
	for rule := range strings.SplitSeq(css, "}") {
		i := strings.LastIndexByte(rule, '{')
		if i < 0 {
			continue
		}
		selectors := rule[:i]
		if k := strings.LastIndexByte(selectors, '{'); k >= 0 {
			selectors = selectors[k+1:]
		}
		decls := parseDecls(rule[i+1:])
		for s := range strings.SplitSeq(selectors, ",") {
			if c, ok := parseSelector(s); ok && mayHide(decls) {
				c.decls = decls
				out = append(out, c)
			}
		}
	}
	return out
}

// parseSelector reads the last part of a selector: what the rule applies to.
func parseSelector(s string) (cssRule, bool) {
	parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n>+~", r) })
	if len(parts) == 0 {
		return cssRule{}, false
	}
	last := parts[len(parts)-1]
	if strings.Contains(last, "::") || strings.HasPrefix(last, "@") {
		return cssRule{}, false
	}
	last, _, _ = strings.Cut(last, ":")
	last, _, _ = strings.Cut(last, "[")
	var c cssRule
	for last != "" {
		end := strings.IndexAny(last[1:], ".#") + 1
		if end == 0 {
			end = len(last)
		}
		switch word := last[:end]; word[0] {
		case '.':
			c.classes = append(c.classes, word[1:])
		case '#':
			c.id = word[1:]
		default:
			c.tag = strings.ToLower(word)
		}
		last = last[end:]
	}
	return c, true
}

// mayHide keeps the rules that can make text unseen, or seen again.
func mayHide(decls map[string]string) bool {
	var l look
	l.apply(decls)
	return l.why != "" || l != (look{}) || decls["color"] != "" || decls["background"] != "" || decls["background-color"] != ""
}

func parseDecls(s string) map[string]string {
	out := map[string]string{}
	for d := range strings.SplitSeq(s, ";") {
		key, value, ok := strings.Cut(d, ":")
		if ok {
			value, _, _ = strings.Cut(strings.ToLower(value), "!")
			out[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	return out
}

// A look is how text at a place of a page is shown.
type look struct {
	why    string // hidden by an element around it
	fg, bg rgb
}

// rgb is a colour, each part in [0,1].
type rgb [3]float64

func (a rgb) near(b rgb) bool {
	const eye = 0.1 // difference in each part that is hardly seen
	return math.Abs(a[0]-b[0]) < eye && math.Abs(a[1]-b[1]) < eye && math.Abs(a[2]-b[2]) < eye
}

var white = rgb{1, 1, 1}

func shown() look { return look{bg: white} }

// hides says why text of this look is not seen, "" if it is.
func (l look) hides() string {
	if l.why == "" && l.fg.near(l.bg) {
		return "in the colour of its background"
	}
	return l.why
}

// of returns the look inside an element.
func (l look) of(n *html.Node, rules []cssRule) look {
	classes := strings.Fields(attr(n, "class"))
	for i := range rules {
		if rules[i].matches(n, classes) {
			l.apply(rules[i].decls)
		}
	}
	if hasAttr(n, "hidden") {
		l.hide("the element is hidden")
	}
	if strings.EqualFold(attr(n, "aria-hidden"), "true") {
		l.hide("aria-hidden")
	}
	if c, _, ok := colour(attr(n, "bgcolor")); ok {
		l.bg = c
	}
	for _, key := range []string{"text", "color"} {
		if c, _, ok := colour(attr(n, key)); ok {
			l.fg = c
		}
	}
	if s := attr(n, "style"); s != "" {
		l.apply(parseDecls(s))
	}
	return l
}

func (l *look) hide(why string) {
	if l.why == "" {
		l.why = why
	}
}

func (l *look) apply(d map[string]string) {
	switch {
	case d["display"] == "none":
		l.hide("display: none")
	case d["visibility"] == "hidden" || d["visibility"] == "collapse":
		l.hide("visibility: hidden")
	case d["content-visibility"] == "hidden":
		l.hide("content-visibility: hidden")
	case d["opacity"] != "" && size(d["opacity"], 1) < 0.1:
		l.hide("opacity " + d["opacity"])
	case d["font-size"] != "" && size(d["font-size"], 16) < 3:
		l.hide("font size " + d["font-size"])
	case size(d["text-indent"], 16) < -99:
		l.hide("indented off the page")
	case d["clip"] != "" && d["clip"] != "auto" || strings.HasPrefix(d["clip-path"], "inset(") || strings.HasPrefix(d["clip-path"], "circle(0"):
		l.hide("clipped away")
	case strings.Contains(d["transform"], "scale(0"):
		l.hide("scaled to nothing")
	case (strings.HasPrefix(d["overflow"], "hidden") || strings.HasPrefix(d["overflow"], "clip")) && (tiny(d["height"]) || tiny(d["width"]) || tiny(d["max-height"]) || tiny(d["max-width"])):
		l.hide("in a box of no size")
	}
	if p := d["position"]; p == "absolute" || p == "fixed" || p == "relative" {
		for _, side := range []string{"left", "top", "right", "bottom"} {
			if size(d[side], 16) < -199 {
				l.hide("moved off the page")
			}
		}
	}
	l.paint(d)
}

func (l *look) paint(d map[string]string) {
	for _, key := range []string{"background", "background-color"} {
		for word := range strings.FieldsSeq(spaceless(d[key])) {
			if c, alpha, ok := colour(word); ok && alpha > 0.1 {
				l.bg = c
			}
		}
	}
	for _, key := range []string{"color", "-webkit-text-fill-color"} {
		if c, alpha, ok := colour(spaceless(d[key])); ok {
			l.fg = c
			if alpha < 0.1 {
				l.hide("transparent")
			}
		}
	}
}

// spaceless takes the spaces out of the brackets of rgb(…).
func spaceless(s string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ' ' && depth > 0:
			return -1
		}
		return r
	}, s)
}

func tiny(s string) bool { return s != "" && math.Abs(size(s, 16)) < 2 }

// size reads a length in pixels, relative ones against the given size. What it
// cannot read is not small: NaN.
func size(s string, relative float64) float64 {
	end := len(s)
	for end > 0 && (s[end-1] < '0' || s[end-1] > '9') && s[end-1] != '.' {
		end--
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s[:end]), 64)
	if err != nil {
		return math.NaN()
	}
	switch strings.TrimSpace(s[end:]) {
	case "", "px":
		return v
	case "pt":
		return v * 4 / 3
	case "em", "rem", "ch", "ex", "lh":
		return v * relative
	case "%":
		return v * relative / 100
	case "vw", "vh":
		return v * 10
	case "mm":
		return v * 3.78
	case "cm":
		return v * 37.8
	case "in":
		return v * 96
	}
	return math.NaN()
}

package document

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"interlock/internal/verdict"
)

const maxRules = 500 // of style, on one page

// html reads a page as a browser without scripts would show it.
func (r *reader) html() error {
	text, err := r.text()
	if err != nil {
		return err
	}
	return r.page(text)
}

// page reads HTML, of a page or made from Markdown.
func (r *reader) page(text string) error {
	if err := r.affordable(text); err != nil {
		return err
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", r.doc.Name, err)
	}
	w := &htmlWalker{r: r, told: map[string]bool{}}
	w.sheet(root)
	w.walk(root, shown())
	w.flush(false)
	r.doc.Kind = Text
	if w.title != "" {
		r.doc.Title = clip(r.clean(w.title, Place{}), 200)
	}
	r.sheet(w.blocks)
	return r.blocks(w.blocks)
}

// affordable refuses pages whose tree would be far larger than their text:
// formatting that is not closed is repeated in every paragraph that follows.
func (r *reader) affordable(text string) error {
	if len(text) > 2*r.lim.Text {
		return fmt.Errorf("%s: %d bytes of markup, more than the %d that are read", r.doc.Name, len(text), 2*r.lim.Text)
	}
	z := html.NewTokenizer(strings.NewReader(text))
	open, cost, most := 0, 0, 10*r.lim.Rows
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return nil
		}
		if kind == html.StartTagToken || kind == html.EndTagToken {
			if name, _ := z.TagName(); formatting(string(name)) {
				open++
				if kind == html.EndTagToken {
					open = max(0, open-2)
				}
			}
		}
		if cost += 1 + open; cost > most {
			return fmt.Errorf("%s: more than %d elements, repeated formatting counted", r.doc.Name, most)
		}
	}
}

func formatting(tag string) bool {
	switch tag {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}

type htmlWalker struct {
	r       *reader
	rules   []cssRule
	blocks  []block
	title   string
	section string
	told    map[string]bool // colours reported
	text    strings.Builder
}

// sheet collects the style rules of the page, and says what it cannot see.
func (w *htmlWalker) sheet(root *html.Node) {
	for n := range root.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "style":
			css := ""
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				css += c.Data
			}
			rules := parseCSS(css)
			for i := range rules {
				w.colours(rules[i].decls)
			}
			w.rules = append(w.rules, rules...)
			if len(w.rules) > maxRules {
				w.rules = w.rules[:maxRules]
				w.unread("more than %d style rules: what the others hide is not known", maxRules)
			}
			if strings.Contains(strings.ToLower(css), "@import") {
				w.unread("a style sheet that the page imports: what it hides is not known")
			}
		case n.Type == html.ElementNode && n.Data == "link" && strings.Contains(strings.ToLower(attr(n, "rel")), "stylesheet"):
			w.unread("style sheet %q: what it hides is not known", clip(attr(n, "href"), 80))
		case n.Type == html.ElementNode && n.Data == "script":
			w.unread("a script: what it would show or hide is not known")
		case n.Type == html.ElementNode && (n.Data == "iframe" || n.Data == "object" || n.Data == "embed" || n.Data == "svg"):
			w.unread("an embedded <%s>", n.Data)
		}
	}
}

// colours reports a colour that cannot be read, once.
func (w *htmlWalker) colours(decls map[string]string) {
	if c := unreadColour(decls); c != "" && !w.told[c] && len(w.told) < maxRules {
		w.told[c] = true
		w.unread("%q: whether text of this colour is seen is not known", clip(c, 60))
	}
}

func (w *htmlWalker) unread(format string, args ...any) {
	w.r.find(RuleUnread, verdict.Flag, Place{}, "", format, args...)
}

// walk visits a node and what is in it; the tree is at most 512 deep.
func (w *htmlWalker) walk(n *html.Node, look look) {
	switch {
	case n.Type == html.TextNode:
		w.say(n.Data, look)
		return
	case n.Type == html.CommentNode:
		if wordy(n.Data) {
			w.hidden(n.Data, "in a comment")
		}
		return
	case n.Type == html.ElementNode && w.skip(n):
		return
	case n.Type == html.ElementNode:
		w.colours(parseDecls(attr(n, "style")))
		look = look.of(n, w.rules)
	}
	level := headingOf(n)
	if level || breaks(n) {
		w.flush(false)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.walk(c, look)
	}
	switch {
	case level:
		w.flush(true)
	case breaks(n):
		w.flush(false)
	case n.Data == "td" || n.Data == "th":
		w.text.WriteString(" | ")
	}
}

// skip leaves out what is never text of the page; what could hold text for
// others is reported.
func (w *htmlWalker) skip(n *html.Node) bool {
	switch n.Data {
	case "script", "style", "iframe", "object", "embed", "svg":
		return true
	case "title":
		w.title = textOf(n)
		return true
	case "template", "noscript", "datalist":
		if t := textOf(n); wordy(t) {
			w.hidden(t, "in <"+n.Data+">")
		}
		return true
	}
	return false
}

// say adds text that is shown and reports text that is not.
func (w *htmlWalker) say(s string, look look) {
	if strings.TrimSpace(s) == "" {
		w.text.WriteByte(' ')
		return
	}
	if why := look.hides(); why != "" {
		w.hidden(s, why)
		return
	}
	w.text.WriteString(s)
}

func (w *htmlWalker) hidden(text, why string) {
	w.r.find(RuleHidden, verdict.Flag, Place{Section: w.section}, strings.Join(strings.Fields(text), " "), "text that readers do not see: %s", why)
}

// flush ends a block.
func (w *htmlWalker) flush(heading bool) {
	text := strings.Trim(strings.Join(strings.Fields(w.text.String()), " "), "| ")
	w.text.Reset()
	if text == "" {
		return
	}
	if heading {
		w.section = clip(text, 120)
	}
	w.blocks = append(w.blocks, block{text: text, heading: heading})
}

func headingOf(n *html.Node) bool {
	switch n.Data {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return true
	}
	return false
}

// breaks reports whether an element begins a paragraph of its own.
func breaks(n *html.Node) bool {
	switch n.Data {
	case "p", "div", "li", "tr", "table", "ul", "ol", "section", "article", "header", "footer", "nav", "main",
		"pre", "blockquote", "br", "hr", "dt", "dd", "figure", "figcaption", "form", "body", "details", "summary", "address", "aside":
		return true
	}
	return false
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

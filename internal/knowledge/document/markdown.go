package document

import (
	"html"
	"regexp"
	"strings"

	"interlock/internal/verdict"
)

var (
	mdRefRE   = regexp.MustCompile(`^ {0,3}\[([^\]]+)\]:\s*(.*)$`)
	mdAutoRE  = regexp.MustCompile(`<((?:https?|mailto|ftp):[^<>\s]*|[^<>\s@/]+@[^<>\s@/]+)>`)
	mdLinkRE  = regexp.MustCompile(`!?\[([^\[\]]*)\]\(([^()\s]*)(?:\s+"([^"]*)")?\)`)
	mdStrong  = strings.NewReplacer("**", "", "__", "")
	mdRuleRE  = regexp.MustCompile(`^ {0,3}(?:[-*_] *){3,}$`)
	mdTableRE = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$`)
	mdItemRE  = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])\s+`)
	mdFenceRE = regexp.MustCompile("^ {0,3}(```+|~~~+)")
)

// markdown reads Markdown by turning it into the HTML that it stands for, raw
// HTML included: what a page hides is hidden there too.
func (r *reader) markdown() error {
	text, err := r.text()
	if err != nil {
		return err
	}
	m := &mdReader{r: r}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n") {
		m.line(line)
	}
	m.end()
	return r.page(m.out.String())
}

type mdReader struct {
	r     *reader
	out   strings.Builder
	para  []string
	fence string // that ends the code block we are in
}

func (m *mdReader) line(line string) {
	trimmed := strings.TrimSpace(line)
	if m.fence != "" {
		if strings.HasPrefix(trimmed, m.fence) {
			m.fence = ""
			m.end()
			return
		}
		m.para = append(m.para, html.EscapeString(line))
		return
	}
	if f := mdFenceRE.FindStringSubmatch(line); f != nil {
		m.end()
		m.fence = f[1]
		return
	}
	if ref := mdRefRE.FindStringSubmatch(line); ref != nil && len(m.para) == 0 {
		m.definition(ref[1], ref[2])
		return
	}
	switch {
	case trimmed == "":
		m.end()
	case strings.HasPrefix(trimmed, "#") && strings.TrimLeft(trimmed, "#") != "" && strings.HasPrefix(strings.TrimLeft(trimmed, "#"), " "):
		m.end()
		m.block("h2", strings.Trim(trimmed, "# "))
	case len(m.para) > 0 && (strings.Trim(trimmed, "=") == "" || strings.Trim(trimmed, "-") == ""):
		heading := strings.Join(m.para, " ")
		m.para = nil
		m.block("h2", heading)
	case mdRuleRE.MatchString(line), mdTableRE.MatchString(line):
		m.end()
	case mdItemRE.MatchString(line):
		m.end()
		m.para = append(m.para, mdItemRE.ReplaceAllString(line, ""))
	case strings.HasPrefix(trimmed, "|"):
		m.end()
		m.block("p", strings.Trim(trimmed, "|"))
	default:
		m.para = append(m.para, strings.TrimLeft(line, " \t>"))
	}
}

// definition looks at a link definition, which is not shown: only its address
// belongs there.
func (m *mdReader) definition(label, rest string) {
	address, title, _ := strings.Cut(rest, " ")
	if wordy(title) || wordy(address) && !strings.ContainsAny(address, "/.@") {
		m.r.find(RuleHidden, verdict.Flag, Place{}, label+" "+rest, "text that readers do not see: in a link definition")
	}
}

// end closes a paragraph. Lines that are HTML stand for themselves: inside a
// paragraph they would end it.
func (m *mdReader) end() {
	text := strings.Join(m.para, "\n")
	m.para = nil
	if m.fence != "" || text == "" {
		m.out.WriteString(text)
		return
	}
	m.block("p", text)
}

func (m *mdReader) block(tag, text string) {
	text = inline(text)
	if t := strings.TrimSpace(text); tag == "p" && strings.HasPrefix(t, "<") {
		m.out.WriteString(text + "\n")
		return
	}
	m.out.WriteString("<" + tag + ">" + text + "</" + tag + ">\n")
}

// inline turns the marks inside a paragraph into HTML. Code spans show what
// they hold, markup included.
func inline(s string) string {
	var b strings.Builder
	parts := strings.Split(s, "`")
	for i, part := range parts {
		if i%2 == 1 && i < len(parts)-1 { // a mark that nothing closes is only a mark
			b.WriteString(html.EscapeString(part))
			continue
		}
		part = mdAutoRE.ReplaceAllString(part, "$1")
		part = mdLinkRE.ReplaceAllString(part, "$1")
		b.WriteString(mdStrong.Replace(part))
	}
	return b.String()
}

package document

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/knowledge"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

const (
	maxPassage = 240 // bytes: a few sentences; with its place it fits a node's name
	maxExcerpt = 160 // bytes of a finding
)

// A block is a paragraph or a heading as a format's reader found it.
type block struct {
	at      Place
	text    string
	heading bool
}

// text checks the encoding of a file that must be UTF-8 and returns it without
// the byte order mark that spreadsheets and editors put in front.
func (r *reader) text() (string, error) {
	data := []byte(strings.TrimPrefix(string(r.data), "\ufeff"))
	if err := strict.CheckText(r.doc.Name, 1, data); err != nil {
		return "", err
	}
	if i := strings.IndexByte(string(data), 0); i >= 0 {
		return "", &strict.Error{File: r.doc.Name, Line: 1 + strings.Count(string(data[:i]), "\n"), Msg: "a NUL byte: not a text file"}
	}
	return string(data), nil
}

// blocks makes passages of what a format's reader found, in order; headings
// name the section of what follows.
func (r *reader) blocks(list []block) error {
	total := 0
	section := ""
	for i := range list {
		b := &list[i]
		b.text = r.clean(b.text, b.at)
		if b.heading {
			section = clip(b.text, 120)
		}
		if b.at.Section == "" {
			b.at.Section = section
		}
		if total += len(b.text); total > r.lim.Text {
			return fmt.Errorf("%s: more than %d bytes of text", r.doc.Name, r.lim.Text)
		}
		if b.heading {
			continue
		}
		for _, part := range split(b.text, maxPassage) {
			if err := r.passage(b.at, part); err != nil {
				return err
			}
		}
	}
	if len(r.doc.Passages) == 0 && r.doc.Kind == Text {
		r.find(RuleUnread, verdict.Flag, Place{}, "", "no text was found in the document")
	}
	return nil
}

// passage adds one citable part.
func (r *reader) passage(at Place, text string) error {
	if text == "" {
		return nil
	}
	if len(r.doc.Passages) >= r.lim.Passages {
		return fmt.Errorf("%s: more than %d passages", r.doc.Name, r.lim.Passages)
	}
	sum := sha256.Sum256([]byte(r.doc.Name + "\x00" + text))
	id := hex.EncodeToString(sum[:6])
	if n := r.seen[id]; n > 0 {
		id = fmt.Sprintf("%s-%d", id, n+1)
	}
	r.seen[hex.EncodeToString(sum[:6])]++
	r.doc.Passages = append(r.doc.Passages, Passage{ID: id, At: at, Text: text})
	return nil
}

// clean drops characters that cannot be seen, and reports them: they carry
// text past a reader, or turn it round.
func (r *reader) clean(s string, at Place) string {
	count := map[string]int{}
	for _, c := range s {
		if what := unseen(c); what != "" {
			count[what]++
		}
	}
	for _, what := range []string{"zero-width", "bidirectional", "tag", "other format"} {
		if n := count[what]; n > 0 {
			r.find(RuleInvisible, verdict.Flag, at, s, "%d %s character(s) that cannot be seen", n, what)
		}
	}
	return knowledge.CleanText(strings.Map(func(c rune) rune {
		if unseen(c) != "" {
			return -1
		}
		return c
	}, s))
}

// unseen names the kind of a character that leaves no mark.
func unseen(c rune) string {
	switch {
	case c == 0xAD: // soft hyphen: ordinary typesetting
		return ""
	case c >= 0x200B && c <= 0x200D, c == 0x2060, c == 0xFEFF, c == 0x180E, c == 0x3164, c == 0x115F, c == 0x1160:
		return "zero-width"
	case c == 0x200E, c == 0x200F, c == 0x61C, c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069:
		return "bidirectional"
	case c >= 0xE0000 && c <= 0xE01EF:
		return "tag"
	case unicode.Is(unicode.Cf, c):
		return "other format"
	}
	return ""
}

// split cuts text into parts of at most n bytes, at the ends of sentences where
// it can, else between words, else between characters.
func split(s string, n int) []string {
	var out []string
	for len(s) > n {
		cut := 0
		for _, end := range []string{". ", "; ", ": ", ", ", " "} {
			if i := strings.LastIndex(s[:n], end); i > n/3 {
				cut = i + len(end)
				break
			}
		}
		if cut == 0 {
			cut = len(clip(s, n))
		}
		out = append(out, strings.TrimSpace(s[:cut]))
		s = strings.TrimSpace(s[cut:])
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

// clip shortens to at most n bytes at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// visible makes an excerpt safe to print and what is in it seen.
func visible(s string) string {
	var b strings.Builder
	for _, c := range s {
		if b.Len() > maxExcerpt {
			b.WriteString("…")
			break
		}
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			b.WriteByte(' ')
		case unseen(c) != "" || c == 0xAD || !unicode.IsPrint(c):
			fmt.Fprintf(&b, "‹U+%04X›", c)
		default:
			b.WriteRune(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// wordy reports whether a text says anything: a few letters together.
func wordy(s string) bool {
	run := 0
	for _, c := range s {
		if !unicode.IsLetter(c) {
			run = 0
			continue
		}
		if run++; run >= 3 {
			return true
		}
	}
	return false
}

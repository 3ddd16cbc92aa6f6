package injection

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"slices"

	"interlock/internal/check/injection/multi"
)

// A text may speak of an attack without being one: a report, a lesson, a test.
// The discount for it needs structure that can be checked (C4): the attack
// stands inside quotation marks, the words around it report or teach, none of
// them asks for it to be carried out, and without the quotation nothing is
// left. The score then stays below the gate but never below advisory.
const (
	reporting = `\b(?:report(?:s|ed)?|log|logged|record(?:ed)?|incident|flag(?:ged)?|block(?:ed)?|quot(?:e|es|ed|ing)|examples?|samples?|test set|test case|training|train|slides?|lecture|handout|lesson|poster|said|says|saying|reads|typed|contain(?:s|ed|ing)?|sentence|sticky note|caught|detect(?:ed|s)?|spot|recogni[sz]e|classifier|filter|phishing|suspicious|was that right|archive|quarantined?|against|attacks?|phrases?|strings?|explains?)\b`
	ordering  = `\b(?:execut(?:e|es|ing)|follow|obey|comply|carry (?:it|them|this|that) out|carry out|do (?:what|as)|decode|concatenate|join|act on|as (?:it|the text) says|then do|your next)\b`
	nearby    = `\b(?:run|runs|apply|perform|put (?:them|the)|together|must|do (?:it|this|that))\b`
	denying   = `\b(?:do not|don.t|not|never|was not|were not|nobody)(?: to)? (?:do (?:that|it|so|this)|act(?:ed)? on|follow(?:ed)?|obey(?:ed)?|execut(?:e|ed)|carr(?:y|ied) (?:it |them )?out|compl(?:y|ied)|run|be followed)`
)

// aboutQuotes are the finders of those words.
type aboutQuotes struct{ reporting, ordering, nearby, denying *multi.Finder }

func newAboutQuotes() (a aboutQuotes, err error) {
	for _, f := range []struct {
		to      **multi.Finder
		pattern string
	}{{&a.reporting, reporting}, {&a.ordering, ordering}, {&a.nearby, nearby}, {&a.denying, denying}} {
		if *f.to, err = multi.NewFinder(f.pattern, syntax.Perl); err != nil {
			return a, fmt.Errorf("words about quotations: %w", err)
		}
	}
	return a, nil
}

// quoteSearch is the working memory for them.
type quoteSearch struct{ reporting, ordering, nearby, denying *multi.Search }

func (a aboutQuotes) search() quoteSearch {
	return quoteSearch{a.reporting.NewSearch(), a.ordering.NewSearch(), a.nearby.NewSearch(), a.denying.NewSearch()}
}

// A quotation in a text, in bytes between the marks.
type quotation struct{ from, to int }

const (
	shortestQuotation = 12
	longestQuotation  = 600
)

// quotations finds what stands between matching quotation marks.
func quotations(text []byte) []quotation {
	var out []quotation
	for i := 0; i < len(text); i++ {
		closing, size := closingMark(text, i)
		if size == 0 {
			continue
		}
		from := i + size
		if isData(text[:i]) {
			continue
		}
		end := min(len(text), from+longestQuotation)
		for j := from; j < end; j++ {
			if hasPrefix(text[j:], closing) && (closing != "'" || endsWord(text, j+1)) {
				if j-from >= shortestQuotation {
					out = append(out, quotation{from, j})
				}
				i = j + len(closing) - 1
				break
			}
		}
	}
	return out
}

// isData reports whether what stands before a quotation mark is the syntax of
// data or code: a value in JSON is not a quotation.
func isData(before []byte) bool {
	trimmed := bytes.TrimRight(before, " \t\n")
	return len(trimmed) > 0 && bytes.IndexByte([]byte("{[(=,\"'<"), trimmed[len(trimmed)-1]) >= 0 ||
		bytes.HasSuffix(trimmed, []byte("\":")) || bytes.HasSuffix(trimmed, []byte("':"))
}

func closingMark(text []byte, i int) (mark string, size int) {
	switch {
	case text[i] == '"':
		return `"`, 1
	case text[i] == '\'' && (i == 0 || !wordByte(text[i-1])):
		return "'", 1
	case hasPrefix(text[i:], "“"), hasPrefix(text[i:], "„"):
		if slices.Contains(text[i:min(len(text), i+longestQuotation)], '"') && !containsMark(text[i:], "”") && !containsMark(text[i:], "“") {
			return `"`, len("“")
		}
		return "”", len("“")
	case hasPrefix(text[i:], "«"):
		return "»", len("«")
	}
	return "", 0
}

func containsMark(text []byte, mark string) bool {
	for i := len(mark); i < min(len(text), longestQuotation); i++ {
		if hasPrefix(text[i:], mark) {
			return true
		}
	}
	return false
}

func hasPrefix(b []byte, p string) bool { return len(b) >= len(p) && string(b[:len(p)]) == p }

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func endsWord(text []byte, i int) bool { return i >= len(text) || !wordByte(text[i]) }

// A remainder is what is left of a text without its quotations.
type remainder struct {
	text   []byte
	terms  terms
	sigmas sigmas
}

// mark stands for a quotation that was taken out.
const mark = "thequotedtext"

// reports reports whether the words around the quotations tell of them: in
// each line with one or in the line before, and none asks for it to be done.
func (q quoteSearch) reports(plain []byte) bool {
	if q.ordering.Count(plain) > q.denying.Count(plain) {
		return false
	}
	var last []byte
	for line := range bytes.Lines(plain) {
		if bytes.Contains(line, []byte(mark)) {
			around := slices.Concat(last, line)
			if at, _ := q.reporting.Find(around); at < 0 || q.nearby.Count(line) > q.denying.Count(line) {
				return false
			}
		}
		last = line
	}
	return true
}

// unquoted scores what is left of a text without its quotations, if its
// structure is that of a report: otherwise ok is false.
func (w *worker) unquoted(text []byte) (rest remainder, ok bool) {
	s := w.screen
	qs := quotations(text)
	if len(qs) == 0 {
		return rest, false
	}
	at := 0
	for _, q := range qs {
		rest.text = append(append(rest.text, text[at:q.from]...), mark...)
		at = q.to
	}
	rest.text = append(rest.text, text[at:]...)
	if !w.quotes.reports(w.reader.Plain(rest.text).Text) {
		return rest, false
	}
	views, _ := w.reader.Views(rest.text)
	for i, v := range views {
		ev := w.gather(v)
		for _, e := range ev.events {
			if s.rules[e.rule].Addresses {
				return rest, false
			}
		}
		if i == 0 || ev.sigma.stack > rest.sigmas.stack {
			rest.terms = ev.terms
		}
		rest.sigmas = rest.sigmas.worst(ev.sigma)
		if s.stack.alone(ev.terms) >= s.tau.TauA {
			return rest, false // the attack is not only in the quotation
		}
	}
	return rest, true
}

// discount lowers a score to the middle between the thresholds, but not below
// what is left without the quotations.
func (s *Screen) discount(full, rest sigmas) sigmas {
	stack, paper := DefaultThresholds(Stack), DefaultThresholds(Paper)
	if s.mode == Paper {
		paper = s.tau
	} else {
		stack = s.tau
	}
	return sigmas{
		stack: max(rest.stack, min(full.stack, stack.middle())),
		paper: max(rest.paper, min(full.paper, paper.middle())),
	}
}

func (t Thresholds) middle() float64 { return (t.TauA + t.TauW) / 2 }

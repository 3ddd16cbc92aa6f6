package link

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// Tags of words that carry no concept of their own.
const (
	tagFunction = "function"
	tagBenign   = "benign"
	tagNegator  = "neg"
	tagNotNeg   = "neg:not" // looks like a negation and is none: "not only"
	tagHedge    = "cond"
	tagPlain    = "plain" // a phrase whose words mean nothing else in it: "cooling tower"
)

// A lexicon gives words and phrases their concepts. It is the same for every
// site: what differs from site to site is in the profile.
type lexicon struct {
	phrases *trie
	gaps    []gapPhrase
	byHead  map[string][]int  // first word of a gap phrase -> index in gaps
	lemma   map[string]string // inflected form -> base form
	tags    map[string]bool   // every concept there is
}

// A gapPhrase is a phrase with other words inside: "switch … off".
type gapPhrase struct {
	head, tail []string // stems
	tag        string
}

// maxGap is how many words may stand in a gap.
const maxGap = 4

// builtin reads the embedded word lists.
func builtin() (*lexicon, error) {
	b := builder{lex: &lexicon{byHead: map[string][]int{}, lemma: map[string]string{}, tags: map[string]bool{}}}
	entries, err := lexiconFiles.ReadDir("lexicon")
	if err != nil {
		return nil, fmt.Errorf("reading the word lists: %w", err)
	}
	for _, e := range entries {
		data, err := lexiconFiles.ReadFile("lexicon/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("reading word list %s: %w", e.Name(), err)
		}
		if err := b.file(e.Name(), string(data)); err != nil {
			return nil, err
		}
	}
	b.lex.phrases = buildTrie(b.names)
	return b.lex, nil
}

type builder struct {
	lex   *lexicon
	names []Name
}

// file adds one word list: sections "[tag] verb|noun|word", entries separated
// by ";", "#" for comments.
func (b *builder) file(name, text string) error {
	tag, kind := "", ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			var rest string
			var ok bool
			tag, rest, ok = strings.Cut(line[1:], "]")
			kind = strings.TrimSpace(rest)
			if !ok || !slices.Contains([]string{"verb", "noun", "word"}, kind) {
				return fmt.Errorf("%s:%d: a section reads \"[tag] verb\", \"noun\" or \"word\", got %q", name, i+1, line)
			}
			b.lex.tags[tag] = true
		case tag == "":
			return fmt.Errorf("%s:%d: words before the first section", name, i+1)
		default:
			for _, e := range strings.Split(line, ";") {
				if e = strings.TrimSpace(e); e != "" {
					b.entry(tag, kind, e)
				}
			}
		}
	}
	return nil
}

func (b *builder) entry(tag, kind, e string) {
	forms := []string{e}
	if kind == "verb" {
		forms = conjugate(e)
	}
	base := forms[0]
	for _, f := range forms {
		if kind == "verb" {
			head, _, _ := strings.Cut(f, " ")
			baseHead, _, _ := strings.Cut(base, " ")
			if _, known := b.lex.lemma[head]; !known {
				b.lex.lemma[head] = baseHead
			}
		}
		b.phrase(tag, f)
	}
}

func (b *builder) phrase(tag, f string) {
	head, tail, gap := strings.Cut(f, "..")
	if !gap {
		b.names = append(b.names, Name{Text: f, ID: tag, Kind: "concept"})
		return
	}
	g := gapPhrase{head: stems(head), tail: stems(tail), tag: tag}
	b.lex.byHead[g.head[0]] = append(b.lex.byHead[g.head[0]], len(b.lex.gaps))
	b.lex.gaps = append(b.lex.gaps, g)
}

func stems(s string) []string {
	var out []string
	for _, t := range tokenize(s) {
		out = append(out, t.stem)
	}
	return out
}

// conjugate gives the forms of an English verb, base form first. Irregular
// ones stand in brackets: "drive(drove,driven) away".
func conjugate(e string) []string {
	verb, rest, _ := strings.Cut(e, " ")
	if rest != "" {
		rest = " " + rest
	}
	base, irregular, has := strings.Cut(verb, "(")
	forms := []string{base, third(base), gerund(base)}
	if has {
		forms = append(forms, strings.Split(strings.TrimSuffix(irregular, ")"), ",")...)
	} else {
		forms = append(forms, past(base))
	}
	for i := range forms {
		forms[i] += rest
	}
	slices.Sort(forms[1:])
	return append(forms[:1], slices.Compact(forms[1:])...)
}

func third(v string) string {
	switch {
	case endsIn(v, "s", "x", "z", "ch", "sh", "o"):
		return v + "es"
	case consonantY(v):
		return v[:len(v)-1] + "ies"
	}
	return v + "s"
}

func past(v string) string {
	switch {
	case strings.HasSuffix(v, "e"):
		return v + "d"
	case consonantY(v):
		return v[:len(v)-1] + "ied"
	case doubles(v):
		return v + v[len(v)-1:] + "ed"
	}
	return v + "ed"
}

func gerund(v string) string {
	switch {
	case strings.HasSuffix(v, "e") && !endsIn(v, "ee", "ye", "oe"):
		return v[:len(v)-1] + "ing"
	case doubles(v):
		return v + v[len(v)-1:] + "ing"
	}
	return v + "ing"
}

func endsIn(s string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(e string) bool { return strings.HasSuffix(s, e) })
}

func consonantY(v string) bool {
	n := len(v)
	return n > 1 && v[n-1] == 'y' && !strings.ContainsRune("aeiou", rune(v[n-2]))
}

// doubled are verbs of more than one syllable that double their last letter.
const doubled = " transfer defer refer permit submit commit admit omit control distil patrol propel expel compel overlap program label cancel travel model fuel level refuel signal "

func doubles(v string) bool {
	n := len(v)
	if n < 3 || !consonantVowelConsonant(v[n-3:]) {
		return false
	}
	vowels := 0
	for i := range n {
		if strings.IndexByte("aeiou", v[i]) >= 0 {
			vowels++
		}
	}
	return vowels == 1 || strings.Contains(doubled, " "+v+" ")
}

func consonantVowelConsonant(s string) bool {
	vowel := func(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }
	return !vowel(s[0]) && vowel(s[1]) && !vowel(s[2]) && strings.IndexByte("wxy", s[2]) < 0
}

// base returns the base form of a word, the word itself when unknown.
func (l *lexicon) base(t token) string {
	if b, ok := l.lemma[t.norm]; ok {
		return b
	}
	return t.stem
}

// tag gives each token its concepts.
func (l *lexicon) tag(text string, toks []token) [][]string {
	out := make([][]string, len(toks))
	add := func(from, to int, tag string) {
		for k := from; k < to; k++ {
			if !slices.Contains(out[k], tag) {
				out[k] = append(out[k], tag)
			}
		}
	}
	plain := 0 // end of the plain phrase we are in
	for i := range toks {
		hits := l.all(text, toks, i)
		for _, hit := range hits {
			if hit.tag == tagPlain {
				plain = max(plain, hit.to)
			}
		}
		for _, hit := range hits {
			if hit.to > plain {
				add(i, hit.to, hit.tag)
			}
		}
		if i < plain {
			add(i, i+1, tagBenign)
			continue
		}
		for _, g := range l.byHead[toks[i].stem] {
			if from, to, ok := l.gaps[g].match(toks, i); ok {
				add(i, i+len(l.gaps[g].head), l.gaps[g].tag)
				add(from, to, l.gaps[g].tag)
			}
		}
	}
	return out
}

type hit struct {
	tag string
	to  int
}

// all returns every phrase that starts at toks[i], not only the longest: a
// word keeps its own concept inside a phrase.
func (l *lexicon) all(text string, toks []token, i int) []hit {
	var hits []hit
	node := uint32(0)
	t := l.phrases
	for j := i; j < len(toks) && toks[j].sent == toks[i].sent; j++ {
		w, ok := t.words[toks[j].stem]
		if !ok {
			break
		}
		c, ok := t.next[uint64(node)<<32|uint64(w)]
		if !ok {
			break
		}
		node = c
		for _, n := range t.fit(t.ends[node], text, toks[i:j+1]) {
			hits = append(hits, hit{t.names[n].ID, j + 1})
		}
	}
	return hits
}

func (g *gapPhrase) match(toks []token, i int) (from, to int, ok bool) {
	if !startsWith(toks[i:], g.head) {
		return 0, 0, false
	}
	at := i + len(g.head)
	for k := at; k <= at+maxGap && k < len(toks) && toks[k].sent == toks[i].sent; k++ {
		if startsWith(toks[k:], g.tail) {
			return k, k + len(g.tail), true
		}
	}
	return 0, 0, false
}

func startsWith(toks []token, words []string) bool {
	if len(toks) < len(words) {
		return false
	}
	for k, w := range words {
		if toks[k].stem != w {
			return false
		}
	}
	return true
}

package link

import "slices"

// A Name is one way to call something the graph or the site knows.
type Name struct {
	Text  string // as people write it
	ID    string // node, e.g. "cas:26628-22-8", "site:hp1"
	Kind  string // as in fact.Entity
	Canon string // canonical name of the node
	Exact bool   // only in this very case: formulae ("NaN3"), initials ("PI")
}

// A trie finds the longest known name at a place of a text, over folded words.
// It is immutable after build and safe for concurrent use.
type trie struct {
	words map[string]uint32
	next  map[uint64]uint32 // node<<32 | word -> node
	ends  map[uint32][]int32
	names []Name
}

func buildTrie(names []Name) *trie {
	t := &trie{
		words: make(map[string]uint32, len(names)), next: make(map[uint64]uint32, 2*len(names)),
		ends: make(map[uint32][]int32, len(names)), names: names,
	}
	nodes := uint32(1)
	for i, n := range names {
		node := uint32(0)
		toks := tokenize(n.Text)
		for _, tok := range toks {
			node = t.child(node, tok.stem, &nodes)
		}
		if len(toks) > 0 {
			t.ends[node] = append(t.ends[node], int32(i))
		}
	}
	return t
}

func (t *trie) child(node uint32, word string, nodes *uint32) uint32 {
	w, ok := t.words[word]
	if !ok {
		w = uint32(len(t.words))
		t.words[word] = w
	}
	key := uint64(node)<<32 | uint64(w)
	c, ok := t.next[key]
	if !ok {
		c = *nodes
		*nodes++
		t.next[key] = c
	}
	return c
}

// longest returns the names that match most words from toks[i] on, and how
// many words they cover. A name never crosses the end of a sentence.
func (t *trie) longest(text string, toks []token, i int) (found []int32, n int) {
	node := uint32(0)
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
		if hits := t.fit(t.ends[node], text, toks[i:j+1]); len(hits) > 0 {
			found, n = hits, j+1-i
		}
	}
	return found, n
}

// fit keeps the names that match as they are written: exact ones in their own
// case, and short ones not at the start of a sentence, where any word is
// capitalised.
func (t *trie) fit(ends []int32, text string, toks []token) []int32 {
	written := text[toks[0].start:toks[len(toks)-1].end]
	keep := func(i int32) bool {
		n := t.names[i]
		if !n.Exact {
			return true
		}
		return written == n.Text && !(toks[0].first && wordLike(n.Text))
	}
	if !slices.ContainsFunc(ends, func(i int32) bool { return !keep(i) }) {
		return ends
	}
	var kept []int32
	for _, i := range ends {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	return kept
}

// wordLike reports whether an exact name could be an ordinary capitalised
// word: "He", "In", "As".
func wordLike(s string) bool {
	return len(s) == 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z'
}

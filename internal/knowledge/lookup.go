package knowledge

import (
	"slices"
	"strings"
	"unicode"
)

// FoldName makes names comparable: lower case letters and digits, other runs
// one space.
func FoldName(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// names indexes folded names; several nodes of one name in their order.
func (g *Graph) nameIndex() map[string][]int32 {
	index := make(map[string][]int32, len(g.names)+len(g.aliasText))
	add := func(text string, i int32) {
		key := FoldName(text)
		if list := index[key]; key != "" && !slices.Contains(list, i) {
			index[key] = append(list, i)
		}
	}
	for k, name := range g.names {
		add(name, g.first+int32(k))
	}
	for k, i := range g.aliasNode {
		if strings.HasPrefix(g.aliasText[k], conceptPrefix) {
			continue
		}
		add(g.aliasText[k], i)
	}
	return index
}

// Lookup returns the nodes that are called so, whatever the case; those whose
// own id it is first. The index is made at the first call.
func (g *Graph) Lookup(name string) []int32 {
	var out []int32
	for h := g; h != nil; h = h.base {
		h.indexOnce.Do(func() { h.index = h.nameIndex() })
		for _, i := range h.index[FoldName(name)] {
			if !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	return out
}

const conceptPrefix = "concept "

// ConceptName is how a concept of package link ("act:heat") is kept among the
// names of the nodes that it stands for. Names does not yield it.
func ConceptName(tag string) string { return conceptPrefix + tag }

// Concept returns the nodes that a concept of package link stands for.
func (g *Graph) Concept(tag string) []int32 {
	var out []int32
	for h := g; h != nil; h = h.base {
		out = append(out, h.concepts[tag]...)
	}
	return out
}

// Find returns the node of an identifier as people write it: whole, or without
// its prefix ("CWE-79"), or with a facet ("cas:64-17-5#limits").
func (g *Graph) Find(id string) (int32, bool) {
	id, _, _ = strings.Cut(id, "#")
	if i, ok := g.NodeByID(id); ok {
		return i, true
	}
	for h := g; h != nil; h = h.base {
		for k, full := range h.ids {
			if _, own, _ := strings.Cut(full, ":"); strings.EqualFold(own, id) {
				return h.first + int32(k), true
			}
		}
	}
	return 0, false
}

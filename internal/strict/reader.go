package strict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Reader takes values out of a tree and keeps the first error, so that a
// decoder reads like the shape it decodes and asks for the error once.
type Reader struct {
	File string
	err  error
}

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail notes an error at a place; the first one stays.
func (r *Reader) Fail(p Pos, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{File: r.File, Line: p.Line, Column: p.Column, Msg: fmt.Sprintf(format, args...)}
	}
}

// want notes that n should have been of the kind k.
func (r *Reader) want(n *Node, what string, k Kind) bool {
	if n.Kind == k {
		return true
	}
	hint := ""
	if k == String && (n.Kind == Number || n.Kind == Bool) {
		hint = ": put it in quotes"
	}
	r.Fail(n.Pos, "%s: expected %s, found %s%s", what, k, n.Kind, hint)
	return false
}

// Fields returns the entries of a map, having refused unknown keys. what names
// the map in messages.
func (r *Reader) Fields(n *Node, what string, known []string) []Field {
	if r.err != nil || !r.want(n, what, Map) {
		return nil
	}
	for i := range n.Fields {
		if !slices.Contains(known, n.Fields[i].Key) {
			r.Unknown(&n.Fields[i], what, known)
			return nil
		}
	}
	return n.Fields
}

// Entries returns the entries of a map with free keys.
func (r *Reader) Entries(n *Node, what string) []Field {
	if r.err != nil || !r.want(n, what, Map) {
		return nil
	}
	return n.Fields
}

// Unknown notes that a key is not one of the known ones.
func (r *Reader) Unknown(f *Field, what string, known []string) {
	for _, k := range known {
		if strings.EqualFold(k, f.Key) {
			r.Fail(f.Pos, "unknown key %q in %s: keys are case-sensitive, write %q", f.Key, what, k)
			return
		}
	}
	hint := ""
	if k := Nearest(f.Key, known); k != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", k)
	}
	r.Fail(f.Pos, "unknown key %q in %s%s: expected one of %s", f.Key, what, hint, strings.Join(known, ", "))
}

// Items returns the entries of a list.
func (r *Reader) Items(n *Node, what string) []Node {
	if r.err != nil || !r.want(n, what, List) {
		return nil
	}
	return n.Items
}

// Text returns a text.
func (r *Reader) Text(n *Node, what string) string {
	if r.err != nil || !r.want(n, what, String) {
		return ""
	}
	return n.Text
}

// Word returns a text that is not blank.
func (r *Reader) Word(n *Node, what string) string {
	s := r.Text(n, what)
	if r.err == nil && strings.TrimSpace(s) == "" {
		r.Fail(n.Pos, "%s: must not be empty", what)
	}
	return s
}

// Words returns a list of texts that are not blank.
func (r *Reader) Words(n *Node, what string) []string {
	items := r.Items(n, what)
	words := make([]string, 0, len(items))
	for i := range items {
		words = append(words, r.Word(&items[i], what))
	}
	return words
}

// OneOf returns a text that must be one of the allowed ones.
func (r *Reader) OneOf(n *Node, what string, allowed ...string) string {
	s := r.Text(n, what)
	if r.err == nil && !slices.Contains(allowed, s) {
		r.Fail(n.Pos, "%s: %q is not known, expected one of %s", what, s, strings.Join(allowed, ", "))
	}
	return s
}

// Bool returns a true or false.
func (r *Reader) Bool(n *Node, what string) bool {
	return r.err == nil && r.want(n, what, Bool) && n.Text == "true"
}

// Float returns a number in double precision; the tree holds finite ones only.
func (r *Reader) Float(n *Node, what string) float64 {
	if r.err != nil || !r.want(n, what, Number) {
		return 0
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		r.Fail(n.Pos, "%s: %s is out of range", what, n.Text)
	}
	return f
}

// Int returns a whole number between lo and hi.
func (r *Reader) Int(n *Node, what string, lo, hi int) int {
	if r.err != nil || !r.want(n, what, Number) {
		return 0
	}
	text, _ := Decimal(n.Text)
	i, err := strconv.Atoi(text)
	if err != nil || i < lo || i > hi {
		r.Fail(n.Pos, "%s: expected a whole number from %d to %d, found %s", what, lo, hi, n.Text)
		return 0
	}
	return i
}

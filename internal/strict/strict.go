// Package strict reads JSON and YAML into a tree of values that know where
// they stand, and hands them out so that an unknown key, a wrong type or an
// ambiguous number is one clear error with file, line, column and what was
// expected (C22, C29). Nothing is guessed, coerced or dropped. Plans, site
// profiles and the configuration are all read through it.
package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds how deep lists and maps may nest.
const MaxDepth = 64

// An Error says where a file is wrong and what was expected there.
type Error struct {
	File   string
	Line   int // from 1; 0: the file as a whole
	Column int // from 1, in bytes; 0: the line as a whole
	Msg    string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
		if e.Column > 0 {
			b.WriteString(":" + strconv.Itoa(e.Column))
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// A Kind is what a node is.
type Kind uint8

// The kinds of a node.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

var kindNames = [...]string{"nothing (null)", "a true or false", "a number", "a text", "a list", "a map"}

func (k Kind) String() string { return kindNames[k] }

// A Pos is a place in a file, both from 1.
type Pos struct{ Line, Column int }

// A Node is one value with its place.
type Node struct {
	Kind   Kind
	Pos    Pos
	Text   string  // of a String; of a Number exactly as written, a JSON number; "true" or "false"
	Items  []Node  // of a List
	Fields []Field // of a Map, in the order of the file, no two keys equal in any case
}

// A Field is one entry of a map.
type Field struct {
	Key   string
	Pos   Pos
	Value Node
}

// Field returns the value of the key, or nil.
func (n *Node) Field(key string) *Node {
	for i := range n.Fields {
		if n.Fields[i].Key == key {
			return &n.Fields[i].Value
		}
	}
	return nil
}

// Value gives the node as a JSON value: map[string]any, []any, string,
// json.Number, bool or nil.
func (n *Node) Value() any {
	switch n.Kind {
	case Bool:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case List:
		list := make([]any, len(n.Items))
		for i := range n.Items {
			list[i] = n.Items[i].Value()
		}
		return list
	case Map:
		m := make(map[string]any, len(n.Fields))
		for i := range n.Fields {
			m[n.Fields[i].Key] = n.Fields[i].Value.Value()
		}
		return m
	default:
		return nil
	}
}

// CheckText refuses bytes that are not plain UTF-8: a byte order mark (which
// JSON forbids and which hides in front of the first key), UTF-16, invalid
// sequences. line is the number of the first line of data.
func CheckText(file string, line int, data []byte) error {
	fail := func(off int, format string, args ...any) error {
		before := data[:off]
		return &Error{
			File: file, Line: line + bytes.Count(before, []byte{'\n'}),
			Column: off - bytes.LastIndexByte(before, '\n'), Msg: fmt.Sprintf(format, args...),
		}
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return fail(0, "the file begins with a byte order mark: save it as UTF-8 without BOM")
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return fail(0, "the file is UTF-16: save it as UTF-8 without BOM")
	case utf8.Valid(data):
		return nil
	}
	for off := 0; off < len(data); {
		r, size := utf8.DecodeRune(data[off:])
		if r == utf8.RuneError && size == 1 {
			return fail(off, "byte 0x%02x is not UTF-8: save the file as UTF-8", data[off])
		}
		off += size
	}
	return nil
}

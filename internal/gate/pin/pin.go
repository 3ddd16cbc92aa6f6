// Package pin holds what a person has approved of each upstream server: its
// tools with descriptions, schemas and annotations, and its instructions.
// What is not exactly what was approved is quarantined: not listed, not
// callable, shown with a difference (C23).
package pin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/strict"
)

// A Tool is a tool's definition as its server gives it.
type Tool struct {
	Name       string `json:"name"`
	Definition string `json:"definition"` // canonical JSON of the whole entry
	Digest     string `json:"digest"`     // SHA-256 of it, hex
}

// NewTool reads one entry of a tools/list result.
func NewTool(raw []byte) (Tool, error) {
	n, err := strict.JSON("tool", 1, raw)
	if err != nil {
		return Tool{}, fmt.Errorf("reading a tool definition: %w", err)
	}
	name := n.Field("name")
	if name == nil || name.Kind != strict.String || name.Text == "" {
		return Tool{}, fmt.Errorf("reading a tool definition: it has no name")
	}
	def := strict.Canonical(n.Value())
	return Tool{Name: name.Text, Definition: string(def), Digest: sum(def)}, nil
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// A Server is what one upstream shows, or what of it was approved.
type Server struct {
	Name         string `json:"name"`
	Instructions string `json:"instructions"`
	Tools        []Tool `json:"tools"` // sorted by name
	By           string `json:"approved_by,omitempty"`
	At           string `json:"approved_at,omitempty"` // RFC 3339
}

// Tool returns the tool called name, or nil.
func (s *Server) Tool(name string) *Tool {
	if s == nil {
		return nil
	}
	for i := range s.Tools {
		if s.Tools[i].Name == name {
			return &s.Tools[i]
		}
	}
	return nil
}

// Sort orders the tools by name.
func (s *Server) Sort() {
	slices.SortFunc(s.Tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
}

// A Change is one way in which an upstream is not what was approved.
type Change struct {
	Server string `json:"server"`
	Tool   string `json:"tool,omitempty"` // "" for the server's instructions
	What   string `json:"what"`           // "new", "changed", "removed", "renamed", "instructions"
	From   string `json:"from,omitempty"` // for renamed: the approved name
	Diff   []Line `json:"diff,omitempty"`
}

// A Line is one line of a difference: a path into the definition with its
// approved and its present value, made visible for people.
type Line struct {
	Path string `json:"path"`
	Was  string `json:"was,omitempty"`
	Now  string `json:"now,omitempty"`
}

// Compare lists how live differs from what was approved; approved may be nil.
func Compare(approved, live *Server) []Change {
	var out []Change
	was := ""
	if approved != nil {
		was = approved.Instructions
	}
	if was != live.Instructions {
		out = append(out, Change{Server: live.Name, What: "instructions", Diff: []Line{{Path: "instructions", Was: Visible(was), Now: Visible(live.Instructions)}}})
	}
	for i := range live.Tools {
		t := &live.Tools[i]
		old := approved.Tool(t.Name)
		switch {
		case old == nil:
			c := Change{Server: live.Name, Tool: t.Name, What: "new", Diff: diff("", t.Definition)}
			if from := renamedFrom(approved, live, t); from != nil {
				c.What, c.From, c.Diff = "renamed", from.Name, diff(from.Definition, t.Definition)
			}
			out = append(out, c)
		case old.Digest != t.Digest:
			out = append(out, Change{Server: live.Name, Tool: t.Name, What: "changed", Diff: diff(old.Definition, t.Definition)})
		}
	}
	if approved != nil {
		for i := range approved.Tools {
			if t := &approved.Tools[i]; live.Tool(t.Name) == nil {
				out = append(out, Change{Server: live.Name, Tool: t.Name, What: "removed", Diff: diff(t.Definition, "")})
			}
		}
	}
	return out
}

// renamedFrom finds an approved tool that is gone and whose definition is that
// of t but for the name.
func renamedFrom(approved, live *Server, t *Tool) *Tool {
	if approved == nil {
		return nil
	}
	for i := range approved.Tools {
		old := &approved.Tools[i]
		if live.Tool(old.Name) == nil && nameless(old.Definition) == nameless(t.Definition) {
			return old
		}
	}
	return nil
}

func nameless(def string) string {
	n, err := strict.JSON("tool", 1, []byte(def))
	if err != nil {
		return def
	}
	m, ok := n.Value().(map[string]any)
	if !ok {
		return def
	}
	delete(m, "name")
	return string(strict.Canonical(m))
}

// diff lists the leaves that differ between two definitions, by path.
func diff(was, now string) []Line {
	a, b := leaves(was), leaves(now)
	var lines []Line
	for _, p := range a.order {
		if v, ok := b.at[p]; !ok || v != a.at[p] {
			lines = append(lines, Line{Path: p, Was: Visible(a.at[p]), Now: Visible(v)})
		}
	}
	for _, p := range b.order {
		if _, ok := a.at[p]; !ok {
			lines = append(lines, Line{Path: p, Now: Visible(b.at[p])})
		}
	}
	return lines
}

type flat struct {
	order []string
	at    map[string]string
}

func leaves(def string) flat {
	f := flat{at: map[string]string{}}
	if def == "" {
		return f
	}
	n, err := strict.JSON("tool", 1, []byte(def))
	if err != nil {
		f.add("", def)
		return f
	}
	f.walk("", n)
	return f
}

func (f *flat) add(path, value string) {
	f.order = append(f.order, path)
	f.at[path] = value
}

func (f *flat) walk(path string, n *strict.Node) {
	switch n.Kind {
	case strict.Map:
		for i := range n.Fields {
			f.walk(strings.TrimPrefix(path+"."+n.Fields[i].Key, "."), &n.Fields[i].Value)
		}
		if len(n.Fields) == 0 {
			f.add(path, "{}")
		}
	case strict.List:
		for i := range n.Items {
			f.walk(fmt.Sprintf("%s[%d]", path, i+1), &n.Items[i])
		}
		if len(n.Items) == 0 {
			f.add(path, "[]")
		}
	case strict.Null:
		f.add(path, "null")
	default:
		f.add(path, n.Text)
	}
}

package site

import "interlock/internal/strict"

// A Ref says that an argument names something whose content can change: a
// file, a protocol, a method, a waypoint. What was judged is then the content,
// and the gate reads it, at judgement and at dispatch (C35).
type Ref struct {
	Kind     string // what is named, for people: "file", "protocol", "method", "waypoint", "run"
	Server   string // MCP server that tells the content, "" that of the tool itself
	Tool     string // that reads it: one of this site's whose effect is observe
	Argument string // of Tool, which takes the value
	Pointer  string // JSON pointer to the content in Tool's result; "" the whole result
}

var (
	refKeys  = []string{"kind", "server", "tool", "argument", "pointer"}
	refKinds = []string{"file", "protocol", "method", "waypoint", "run"}
)

func (d *decoder) ref(n *strict.Node, what string) *Ref {
	r := &Ref{Kind: "file"}
	for _, f := range d.Fields(n, what, refKeys) {
		v := &f.Value
		switch f.Key {
		case "kind":
			r.Kind = d.OneOf(v, what+", kind", refKinds...)
		case "server":
			r.Server = d.Word(v, what+", server")
		case "tool":
			r.Tool = d.Word(v, what+", tool")
		case "argument":
			r.Argument = d.Word(v, what+", argument")
		case "pointer":
			r.Pointer = d.Word(v, what+", pointer")
			if r.Pointer != "" && r.Pointer[0] != '/' {
				d.Fail(v.Pos, "%s, pointer: expected a JSON pointer, from /", what)
			}
		}
	}
	d.need(n, what, "tool", "argument")
	return r
}

// references notes references that no tool of the site could resolve. A tool
// that acts must never run because somebody wants to know what is in a file.
func (d *decoder) references(tools *strict.Node, s *Site) {
	for i := range s.Tools {
		for _, a := range s.Tools[i].Args {
			if a.Ref == nil || d.Err() != nil {
				continue
			}
			at := tools.Items[i].Field("args").Field(a.Name).Field("ref").Pos
			reads := s.Tool(a.Ref.Tool)
			switch {
			case reads == nil || reads.Effect != Observe:
				d.Fail(at, "ref of %s: %q is no tool of this site whose effect is observe", a.Name, a.Ref.Tool)
			case a.Ref.Server != "" && reads.Server != "" && reads.Server != a.Ref.Server:
				d.Fail(at, "ref of %s: the tool %s lives on %s, not %s", a.Name, reads.Name, reads.Server, a.Ref.Server)
			case reads.Arg(a.Ref.Argument) == nil:
				d.Fail(at, "ref of %s: the tool %s has no argument %q", a.Name, reads.Name, a.Ref.Argument)
			}
			for _, other := range d.others(reads, a.Ref.Argument) {
				d.Fail(at, "ref of %s: the tool %s needs the argument %q too: only one value is known", a.Name, reads.Name, other)
			}
		}
	}
}

// others are the arguments a tool cannot do without beside one.
func (d *decoder) others(t *Tool, one string) []string {
	var out []string
	if t == nil {
		return nil
	}
	for _, a := range t.Args {
		if !a.Optional && a.Name != one {
			out = append(out, a.Name)
		}
	}
	return out
}

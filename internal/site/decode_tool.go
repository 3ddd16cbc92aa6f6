package site

import (
	"slices"

	"interlock/internal/strict"
)

// notAllowed is what stands for a limit where a robot may not be at all.
const notAllowed = "not allowed"

// attr reads the value of a registered attribute in one of its shapes.
func (d *decoder) attr(name string, spec AttrSpec, n *strict.Node) Attr {
	a := Attr{Name: name, Unit: spec.Unit}
	has := func(s Shape) bool { return spec.Shapes&s != 0 }
	switch {
	case n.Kind == strict.Number && has(ShapeNumber):
		v := d.Float(n, name)
		a.Number = &v
	case n.Kind == strict.List && has(ShapeRange):
		a.Range = d.interval(n, name)
	case n.Kind == strict.Map && has(ShapePlaces):
		d.places(&a, n)
	case n.Kind == strict.String && has(ShapeText):
		a.Text = d.Word(n, name)
	case n.Kind == strict.List && has(ShapeList):
		a.List = d.Words(n, name)
		if len(a.List) == 0 {
			d.Fail(n.Pos, "%s: the list is empty", name)
		}
	case n.Kind == strict.Bool && has(ShapeFlag):
		v := d.Bool(n, name)
		a.Flag = &v
	default:
		d.Fail(n.Pos, "%s: expected %s, found %s", name, spec.Shapes, n.Kind)
	}
	return a
}

// String names the shapes for messages.
func (s Shape) String() string {
	names := []string{"a number", "[lowest, highest]", `a map of places to numbers or "not allowed"`, "a text", "a list of texts", "true or false"}
	out := ""
	for i, name := range names {
		if s&(1<<i) == 0 {
			continue
		}
		if out != "" {
			out += " or "
		}
		out += name
	}
	return out
}

func (d *decoder) interval(n *strict.Node, name string) *[2]float64 {
	items := d.Items(n, name)
	if len(items) != 2 {
		d.Fail(n.Pos, "%s: expected [lowest, highest], found %d values", name, len(items))
		return nil
	}
	lo, hi := d.Float(&items[0], name), d.Float(&items[1], name)
	if lo > hi {
		d.Fail(n.Pos, "%s: the lowest value %v is above the highest %v", name, lo, hi)
	}
	return &[2]float64{lo, hi}
}

func (d *decoder) places(a *Attr, n *strict.Node) {
	a.ByPlace, a.Denied = map[string]float64{}, map[string]bool{}
	fields := d.Entries(n, a.Name)
	if len(fields) == 0 {
		d.Fail(n.Pos, "%s: the map is empty", a.Name)
	}
	for _, f := range fields {
		switch {
		case f.Value.Kind == strict.Number:
			a.ByPlace[f.Key] = d.Float(&f.Value, a.Name)
		case f.Value.Kind == strict.String && f.Value.Text == notAllowed:
			a.Denied[f.Key] = true
		default:
			d.Fail(f.Value.Pos, "%s, %s: expected a number or %q", a.Name, f.Key, notAllowed)
		}
	}
}

func (d *decoder) tool(n *strict.Node) (t Tool) {
	for _, f := range d.Fields(n, "a tool", toolKeys) {
		v := &f.Value
		switch f.Key {
		case "name":
			t.Name = d.Word(v, "name")
		case "server":
			t.Server = d.Word(v, "server")
		case "own_name":
			t.Own = d.Word(v, "own_name")
		case "effect":
			t.Effect = map[string]Effect{"act": Act, "observe": Observe, "safe": Safe}[d.OneOf(v, "effect", "act", "observe", "safe")]
		case "hazard":
			t.Hazard = d.Word(v, "hazard")
		case "args":
			for _, a := range d.Entries(v, "args") {
				t.Args = append(t.Args, d.arg(a.Key, &a.Value))
			}
		}
	}
	if t.Own == "" {
		t.Own = t.Name
	}
	return t
}

// String gives the name a profile uses.
func (e Effect) String() string {
	switch e {
	case Observe:
		return "observe"
	case Safe:
		return "safe"
	default:
		return "act"
	}
}

func (d *decoder) arg(name string, n *strict.Node) Arg {
	a := Arg{Name: name}
	what := "argument " + name
	for _, f := range d.Fields(n, what, argKeys) {
		v := &f.Value
		switch f.Key {
		case "type":
			a.Type = d.OneOf(v, what+", type", "string", "bool", "number", "integer")
		case "enum":
			a.Enum = d.enum(v, what)
		case "min":
			x := d.Float(v, what+", min")
			a.Min = &x
		case "max":
			x := d.Float(v, what+", max")
			a.Max = &x
		case "optional":
			a.Optional = d.Bool(v, what+", optional")
		case "ref":
			a.Ref = d.ref(v, what+", ref")
		}
	}
	d.argShape(n, &a, what)
	return a
}

// argShape infers the type and refuses parts that do not go together.
func (d *decoder) argShape(n *strict.Node, a *Arg, what string) {
	ranged := a.Min != nil || a.Max != nil
	switch {
	case a.Ref != nil && (ranged || a.Type == "bool"):
		d.Fail(n.Pos, "%s: a ref names something: expected a text, an integer or an enum without min and max", what)
	case a.Ref != nil && a.Enum == nil && a.Type == "":
		a.Type = "string"
	case a.Enum != nil && (ranged || a.Type != ""):
		d.Fail(n.Pos, "%s: enum stands alone, without type, min or max", what)
	case a.Enum != nil:
		a.Type = "enum"
	case ranged && a.Type == "":
		a.Type = "number"
	case ranged && a.Type != "number" && a.Type != "integer":
		d.Fail(n.Pos, "%s: min and max need a number, not %s", what, a.Type)
	case a.Type == "":
		d.Fail(n.Pos, "%s: expected {min, max}, {enum} or {type}", what)
	}
	if a.Min != nil && a.Max != nil && *a.Min > *a.Max {
		d.Fail(n.Pos, "%s: min %v is above max %v", what, *a.Min, *a.Max)
	}
}

func (d *decoder) enum(n *strict.Node, what string) []any {
	items := d.Items(n, what+", enum")
	if len(items) == 0 {
		d.Fail(n.Pos, "%s: the enum is empty", what)
		return nil
	}
	values := make([]any, 0, len(items))
	var seen []string
	for i := range items {
		it := &items[i]
		if it.Kind != items[0].Kind {
			d.Fail(it.Pos, "%s: the enum mixes %s with %s", what, items[0].Kind, it.Kind)
		}
		if it.Kind != strict.String && it.Kind != strict.Number && it.Kind != strict.Bool {
			d.Fail(it.Pos, "%s: an enum holds texts, numbers or true and false, not %s", what, it.Kind)
		}
		v := it.Value()
		key := string(strict.Canonical(v))
		if slices.Contains(seen, key) {
			d.Fail(it.Pos, "%s: the enum holds %s twice", what, it.Text)
		}
		seen = append(seen, key)
		values = append(values, v)
	}
	return values
}

func (d *decoder) sandbox(n *strict.Node) (s Sandbox) {
	for _, f := range d.Fields(n, "sandbox", sandboxKeys) {
		v := &f.Value
		switch f.Key {
		case "name":
			s.Name = d.Word(v, "name")
		case "present":
			s.Present = d.Bool(v, "present")
		case "operable":
			s.Operable = d.Bool(v, "operable")
		case "code_execution_routed_through_it":
			s.Routed = d.Bool(v, f.Key)
		case "image":
			s.Image = d.Text(v, "image")
		case "image_digest":
			s.ImageDigest = d.Text(v, "image_digest")
		case "network_egress":
			s.Egress = d.Text(v, "network_egress")
		case "writable":
			s.Writable = d.Words(v, "writable")
		}
	}
	return s
}

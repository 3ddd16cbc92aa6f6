package site

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Render gives the profile as compact text for a judge to read, in the order
// that counts: rules, tools, robots and devices, materials, zones, people. It
// leaves nothing out but its own digest and the checks as code.
func Render(s *Site) string {
	var b strings.Builder
	fmt.Fprintf(&b, "SITE %s: %s\n%s\n", s.ID, s.Name, s.Description)
	section(&b, "RULES", s.Rules, func(r Rule) string { return r.ID + ": " + r.Text })
	section(&b, "OBLIGATIONS that live state must verify", s.Obligations, Obligation.String)
	section(&b, "TOOLS (nothing else may be called; limits are inclusive)", s.Tools, renderTool)
	if len(s.NotAllowed) > 0 {
		fmt.Fprintf(&b, "NOT ALLOWED, for example: %s\n", strings.Join(s.NotAllowed, ", "))
	}
	section(&b, "ROBOTS", s.Robots, renderItem)
	section(&b, "DEVICES", s.Devices, renderItem)
	section(&b, "MATERIALS", s.Materials, func(m Material) string {
		return m.Name + note("CAS", m.CAS) + note("hazards", strings.Join(m.Hazards, "; ")) + note("store", m.Store) + note("note", m.Note)
	})
	section(&b, "BIOLOGICAL AGENTS", s.Biological, func(a Agent) string {
		return a.Name + ", BSL-" + strconv.Itoa(a.BSL) + note("note", a.Note)
	})
	if s.NotApproved != "" {
		fmt.Fprintf(&b, "NEVER APPROVED: %s\n", s.NotApproved)
	}
	section(&b, "ZONES", s.Zones, func(z Zone) string { return z.ID + ": " + z.Rule })
	section(&b, "PEOPLE and what they may do", s.People, func(p Person) string {
		return p.Name + note("role", p.Role) + note("may", strings.Join(p.May, "; "))
	})
	section(&b, "AGENTS that submit plans", s.Agents, func(p Planner) string {
		return p.ID + note("kind", p.Kind) + note("trust", p.Trust) + note("may", strings.Join(p.May, "; "))
	})
	x := s.Sandbox
	fmt.Fprintf(&b, "SANDBOX (declared): %s, present %t, operable %t, all code routed through it %t, image %s pinned to %s, egress %s, writable %s\n",
		x.Name, x.Present, x.Operable, x.Routed, x.Image, cmp.Or(x.ImageDigest, "no digest"), x.Egress, strings.Join(x.Writable, " "))
	return b.String()
}

func section[T any](b *strings.Builder, title string, items []T, line func(T) string) {
	if len(items) == 0 {
		return
	}
	b.WriteString(title + "\n")
	for _, it := range items {
		b.WriteString("- " + line(it) + "\n")
	}
}

// note appends a named part that is not empty.
func note(name, text string) string {
	if text == "" {
		return ""
	}
	return " | " + name + ": " + text
}

func renderTool(t Tool) string {
	args := make([]string, len(t.Args))
	for i := range t.Args {
		args[i] = renderArg(&t.Args[i])
	}
	return t.Name + "(" + strings.Join(args, ", ") + ") " + t.Effect.String() + note("hazard", t.Hazard)
}

func renderArg(a *Arg) string {
	out := a.Name
	if a.Optional {
		out += "?"
	}
	if a.Ref != nil {
		out += " (names a " + a.Ref.Kind + ")"
	}
	if a.Type == "enum" {
		names := make([]string, len(a.Enum))
		for i, v := range a.Enum {
			names[i] = fmt.Sprint(v)
		}
		return out + " one of " + strings.Join(names, "|")
	}
	out += " " + a.Type
	if a.Min != nil {
		out += " from " + num(*a.Min)
	}
	if a.Max != nil {
		out += " to " + num(*a.Max)
	}
	return out
}

func num(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func renderItem(it Item) string {
	out := it.ID + note("model", it.Model) + note("location", it.Location) + note("serves", strings.Join(it.Serves, ", "))
	for _, name := range slices.Sorted(maps.Keys(it.Attrs)) {
		out += note(name, it.Attrs[name].String())
	}
	for _, name := range slices.Sorted(maps.Keys(it.Extra)) {
		text, err := json.Marshal(it.Extra[name])
		if err == nil {
			out += note(name, string(text))
		}
	}
	return out + note("note", it.Note)
}

// String gives the value as a profile writes it.
func (a Attr) String() string {
	switch {
	case a.Number != nil:
		return num(*a.Number)
	case a.Range != nil:
		return num(a.Range[0]) + " to " + num(a.Range[1])
	case a.Flag != nil:
		return strconv.FormatBool(*a.Flag)
	case a.ByPlace != nil:
		var parts []string
		for _, place := range slices.Sorted(maps.Keys(a.ByPlace)) {
			parts = append(parts, place+" "+num(a.ByPlace[place]))
		}
		for _, place := range slices.Sorted(maps.Keys(a.Denied)) {
			parts = append(parts, place+" "+notAllowed)
		}
		return strings.Join(parts, ", ")
	case a.List != nil:
		return strings.Join(a.List, "; ")
	default:
		return a.Text
	}
}

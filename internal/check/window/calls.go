package window

import (
	"slices"
	"strconv"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/quantity"
)

// A heated device and how hot it was left, in kelvin.
type hot struct {
	device string
	kelvin float64
}

// A surface is hot from where it burns and boils solvents; from where it sets
// fire to the vapours of common ones it endangers what stands beside it.
const (
	hotFrom     = 273.15 + 100
	ignitesFrom = 273.15 + 180
)

// calls reads the tool calls: their values, what they read, what they leave
// hot.
func (r *reader) calls() {
	for i := range r.facts.Calls {
		c := &r.facts.Calls[i]
		if reads(c) {
			r.t.checks = note(r.t.checks, r.callName(c, ""))
			for _, k := range sortedKeys(c.Args) {
				if v, ok := c.Args[k].(string); ok {
					r.t.checks = note(r.t.checks, "site:"+v)
				}
			}
			continue
		}
		r.t.acts = true
		r.addressed(c)
		device, place := "", ""
		for _, k := range sortedKeys(c.Args) {
			v, ok := c.Args[k].(string)
			if !ok {
				continue
			}
			if len(v) <= 24 {
				place += "|" + v
			}
			if r.site.known("site:" + v) {
				device = "site:" + v
				if !slices.Contains(r.t.things, device) && len(r.t.things) < maxThings {
					r.t.things = append(r.t.things, device)
				}
			}
		}
		for _, k := range sortedKeys(c.Args) {
			r.argument(c, k, place, device)
		}
	}
	r.dosed()
	r.cools()
}

// addressed notes a call that carries text to an address outside.
func (r *reader) addressed(c *fact.Call) {
	out, long := false, false
	for _, v := range c.Args {
		if s, ok := v.(string); ok {
			out = out || strings.Contains(s, "@") && !strings.Contains(s, " ") || strings.Contains(s, "://")
			long = long || len(s) > 32
		}
	}
	r.t.outward.data = r.t.outward.data || out && long
}

// reads reports a call that observes.
func reads(c *fact.Call) bool {
	verb := c.Tool[strings.LastIndexByte(c.Tool, '.')+1:]
	return c.Effect == "observe" || slices.Contains([]string{"read", "status", "lookup", "get", "query", "check"}, verb)
}

// material is what the arguments of a call name, "" nothing.
func (r *reader) material(c *fact.Call) string {
	part := "calls[" + strconv.Itoa(c.Number) + "]."
	for i := range r.facts.Entities {
		if e := &r.facts.Entities[i]; e.Kind == "material" && strings.HasPrefix(e.At.Part, part) {
			return e.ID
		}
	}
	return ""
}

func (r *reader) callName(c *fact.Call, arg string) string {
	if arg == "" {
		return "call " + c.Tool
	}
	return c.Tool + "." + arg
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// argument notes the value of one argument. Where it is used is part of the
// series: the same tool at another place is another thing.
func (r *reader) argument(c *fact.Call, name, place, device string) {
	if len(r.t.values) >= maxValues {
		return
	}
	if _, prose := c.Args[name].(string); prose {
		return
	}
	q, ok := quantity.ReadArg(name, c.Args[name])
	if !ok || q.Kind == quantity.None || q.Bad || len(q.Readings) == 0 {
		return
	}
	v := q.Readings[0]
	r.t.values = append(r.t.values, value{hash(string(q.Kind) + "|" + c.Tool + "." + name + place), q.Kind, v, 0, r.callName(c, name), false, r.material(c), r.site.portion(c, name, q.Kind, r.material(c))})
	if q.Kind == quantity.Temperature && device != "" {
		r.t.set = note(r.t.set, device)
		r.t.hot = slices.DeleteFunc(r.t.hot, func(h hot) bool { return h.device == device })
		if v >= hotFrom {
			r.t.hot = append(r.t.hot, hot{device, v})
		}
	}
}

// dosed notes amounts that only the calls state.
func (r *reader) dosed() {
	if slices.ContainsFunc(r.t.doses, func(d dose) bool { return !d.out }) {
		return // the steps state them
	}
	for i := range r.facts.Calls {
		c := &r.facts.Calls[i]
		if reads(c) || len(r.t.doses) >= maxDoses {
			continue
		}
		var things []string
		what := r.material(c)
		for _, k := range sortedKeys(c.Args) {
			if v, ok := c.Args[k].(string); ok {
				things = note(things, "site:"+v)
			}
		}
		for _, k := range sortedKeys(c.Args) {
			if q, ok := quantity.ReadArg(k, c.Args[k]); ok && what != "" && len(q.Readings) > 0 && !q.Bad && additive(q.Kind) {
				r.t.doses = append(r.t.doses, dose{kind: q.Kind, v: q.Readings[0], what: what, things: things})
			}
		}
	}
}

// cools takes devices off the hot list that the steps switch off or let cool.
func (r *reader) cools() {
	for i := range r.facts.Texts {
		text := &r.facts.Texts[i]
		if text.Part != "" {
			continue
		}
		for words := range sentences(text) {
			if !anyTagged(words, "act:cool", "act:stop") && !said(words, "off", "cold", "cooled", "cool") {
				continue
			}
			for k := range words {
				name := r.name(&words[k])
				r.t.hot = slices.DeleteFunc(r.t.hot, func(h hot) bool { return h.device == name })
				if r.kind(&words[k]) == "device" {
					r.t.cooled = note(r.t.cooled, name)
				}
			}
		}
	}
}

package window

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/quantity"
	"interlock/internal/site"
)

// Chemistry answers what the graph knows of materials. Names are those of
// entities.
type Chemistry interface {
	// Meet says what happens when two materials meet undiluted in one vessel,
	// "" if nothing certain is known.
	Meet(a, b string) string
	// Has reports a trait, e.g. "flammable", "alcohol".
	Has(material, trait string) bool
}

// A Site is what the monitor knows of an installation. It is immutable.
type Site struct {
	profile   *site.Site
	chemistry Chemistry
	caps      []limit   // amounts that must not be exceeded together
	counters  []counter // counts that need a pause in between
	bounds    []bound   // single limits, for values that creep towards them
	sensors   map[string]bool
	counted   map[string]bool // stems of what is limited by number
	release   map[string]bool // people who may release data
}

// A limit is an amount that holds in total.
type limit struct {
	text      string
	kind      quantity.Kind
	most      float64
	materials []string
	words     []string
	zones     []string
	period    time.Duration // over which it counts; 0: what is there at one time
	nouns     []string      // stems of what is only counted
	each      bool          // "per batch": it holds for each thing with a name
}

// A counter is "after every n dips dry 60 s".
type counter struct {
	text    string
	noun    string
	every   float64
	pause   string
	seconds float64
	thing   string // robot or device that it is about, "" not named
}

// A bound is one number that the site states of a kind, with the words around
// it.
type bound struct {
	text  string
	kind  quantity.Kind
	v     float64
	about set
	thing string // the item or the argument whose limit it is, "" for prose
}

// Prose is the site's own text as a plan whose steps can be read like any
// other: rules, zones, materials, notes. Its facts go into NewSite.
func Prose(p *site.Site) *plan.Plan {
	out := &plan.Plan{ID: "site prose", Site: p.ID, Goal: p.Name}
	add := func(parts ...string) {
		out.Steps = append(out.Steps, strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", "))
	}
	for _, r := range p.Rules {
		add(r.Text)
	}
	for _, z := range p.Zones {
		add(z.ID, z.Rule)
	}
	for _, m := range p.Materials {
		add(m.Name, m.Note)
	}
	for _, items := range [][]site.Item{p.Robots, p.Devices} {
		for _, i := range items {
			add(i.ID, i.Note)
		}
	}
	return out
}

// NewSite reads the limits out of a profile and the facts of its prose.
func NewSite(p *site.Site, prose *fact.Set, c Chemistry) *Site {
	s := &Site{profile: p, chemistry: c, sensors: map[string]bool{}, counted: map[string]bool{}, release: map[string]bool{}}
	if prose != nil {
		r := reader{site: s, facts: prose, t: &trace{}}
		for i := range prose.Texts {
			text := &prose.Texts[i]
			if text.Part != "" {
				continue
			}
			for words := range sentences(text) {
				s.read(&r, text, words)
			}
		}
	}
	s.attributes()
	for _, t := range p.Tools {
		for _, a := range t.Args {
			if t.Effect == site.Observe || strings.HasSuffix(t.Name, ".read") || strings.HasSuffix(t.Name, ".status") {
				for _, v := range a.Enum {
					s.sensors[fmt.Sprintf("site:%v", v)] = true
				}
			}
		}
	}
	return s
}

// read takes the limits out of one sentence of the site's prose.
func (s *Site) read(r *reader, text *fact.Text, words []fact.Token) {
	qs := r.quantities(text, words[0].Start, min(words[len(words)-1].End+2, len(text.Raw)))
	var about set
	var materials, zones, names []string
	for i := range words {
		w := &words[i]
		if !telling(w) {
			continue
		}
		about = about.add(w.Lemma)
		names = append(names, w.Lemma)
		switch r.kind(w) {
		case "material":
			materials = note(materials, r.name(w))
		case "zone":
			zones = note(zones, r.name(w))
		}
	}
	raw := text.Raw[words[0].Start:words[len(words)-1].End]
	for _, q := range qs {
		if q.Kind == quantity.None || q.Relative {
			continue
		}
		s.bounds = append(s.bounds, bound{raw, q.Kind, q.Readings[0], about, ""})
		if cumulative(q, words) {
			s.caps = append(s.caps, limit{text: raw, kind: q.Kind, most: q.Readings[0], materials: materials, words: names, zones: zones, period: period(words)})
		}
	}
	s.number(words, zones, raw)
	thing := ""
	for i := range words {
		if k := r.kind(&words[i]); thing == "" && (k == "robot" || k == "device") {
			thing = r.name(&words[i])
		}
	}
	s.counter(words, qs, raw, thing)
}

// cumulative reports a number that holds for a sum: an amount that is at most
// so much, a time "in total", money of a budget.
func cumulative(q fact.Quantity, words []fact.Token) bool {
	switch q.Kind {
	case quantity.Volume, quantity.Mass, quantity.Amount:
		return q.Bound < 0
	case quantity.Time:
		return q.Bound < 0 && said(words, "total", "altogether", "sum", "cumulative", "cumulated")
	case quantity.Money:
		return said(words, "budget", "per", "week", "month", "day", "campaign")
	default:
		return false
	}
}

func period(words []fact.Token) time.Duration {
	switch {
	case said(words, "week", "weekly"):
		return 7 * 24 * time.Hour
	case said(words, "month", "monthly", "campaign", "budget", "project"):
		return 30 * 24 * time.Hour
	case said(words, "day", "daily", "shift"):
		return 24 * time.Hour
	case said(words, "hour", "hourly"):
		return time.Hour
	}
	return 0
}

// number reads "at most 600 vials", and "oxygen cylinders …, max 4".
func (s *Site) number(words []fact.Token, zones []string, raw string) {
	for i := 1; i < len(words); i++ {
		n, ok := numeral(&words[i])
		before := strings.ToLower(words[i-1].Text)
		if !ok || n < 2 || !(before == "max" || before == "most" || before == "maximum") {
			continue
		}
		var nouns []string
		if k := i + 1; k < len(words) && words[k].Clause == words[i].Clause && telling(&words[k]) {
			if _, unit := quantity.ReadArg("x_"+words[k].Lemma, n); quantity.UnitOf("x_"+words[k].Lemma) != "" && unit {
				continue // a quantity with a unit is not a number of things
			}
			nouns = []string{stem(words[k].Lemma)}
		} else if k == len(words) || words[k].Clause != words[i].Clause { // the number stands alone: what comes first is counted
			for j := 0; j < i && j < 3 && telling(&words[j]); j++ {
				nouns = append(nouns, stem(words[j].Lemma))
			}
		}
		if len(nouns) == 0 {
			continue
		}
		for _, noun := range nouns {
			s.counted[noun] = true
		}
		s.caps = append(s.caps, limit{text: raw, most: n, zones: zones, nouns: nouns, each: said(words, "per", "each")})
	}
}

// counter reads "pause … after every n things".
func (s *Site) counter(words []fact.Token, qs []fact.Quantity, raw, thing string) {
	for i := 0; i+2 < len(words); i++ {
		n, ok := numeral(&words[i+1])
		if !ok || n < 2 || !slices.Contains([]string{"every", "each"}, strings.ToLower(words[i].Text)) || !telling(&words[i+2]) {
			continue
		}
		for _, q := range qs {
			if q.Kind != quantity.Time || q.At.Start > words[i].Start {
				continue
			}
			for k := i; k >= 0; k-- { // what the time is for stands just before it
				if w := &words[k]; w.End <= q.At.Start && telling(w) && w.Entity == 0 {
					s.counters = append(s.counters, counter{raw, stem(words[i+2].Lemma), n, stem(w.Lemma), q.Readings[0], thing})
					break
				}
			}
		}
	}
}

// attributes takes the limits of robots and devices.
func (s *Site) attributes() {
	for _, items := range [][]site.Item{s.profile.Robots, s.profile.Devices} {
		for i := range items {
			it := &items[i]
			for name, a := range it.Attrs {
				kind, si := quantity.ArgUnit(name)
				if kind == quantity.None {
					continue
				}
				add := func(v float64, where string) {
					s.bounds = append(s.bounds, bound{strings.TrimSpace(it.ID + " " + name + " " + where), kind, si(v), nil, "site:" + it.ID})
				}
				if a.Number != nil {
					add(*a.Number, "")
				}
				if a.Range != nil {
					add(a.Range[0], "")
					add(a.Range[1], "")
				}
				for where, v := range a.ByPlace {
					add(v, where)
				}
			}
		}
	}
	for _, t := range s.profile.Tools {
		for i := range t.Args {
			a := &t.Args[i]
			kind, si := quantity.ArgUnit(a.Name)
			if kind == quantity.None {
				continue
			}
			for _, v := range []*float64{a.Min, a.Max} {
				if v != nil {
					s.bounds = append(s.bounds, bound{fmt.Sprintf("%s of %s", a.Name, t.Name), kind, si(*v), nil, t.Name + "." + a.Name})
				}
			}
		}
	}
	slices.SortFunc(s.bounds, func(a, b bound) int { return strings.Compare(a.text, b.text) }) // maps have no order
	for _, p := range s.profile.People {
		for _, may := range p.May {
			if strings.Contains(may, "data") && (strings.Contains(may, "release") || strings.Contains(may, "export")) {
				s.release[p.Name] = true
			}
		}
	}
}

func (s *Site) sensor(name string) bool { return s.sensors[name] }

func (s *Site) known(name string) bool {
	return s.profile.Item(strings.TrimPrefix(name, "site:")) != nil || s.zone(name)
}

func (s *Site) robot(name string) bool {
	return slices.ContainsFunc(s.profile.Robots, func(i site.Item) bool { return "site:"+i.ID == name })
}

func (s *Site) zone(name string) bool {
	return slices.ContainsFunc(s.profile.Zones, func(z site.Zone) bool { return "site:"+z.ID == name })
}

// isRoom reports a place that many unrelated things happen in, and materials,
// which belong to no safeguard.
func (s *Site) isRoom(name string) bool {
	return s.zone(name) || !strings.HasPrefix(name, "site:") && strings.Contains(name, ":")
}

// holds reports a device that things are put into, not a room or a hood.
func (s *Site) holds(name string) bool { return !s.zone(name) }

// portion is what a tool may bring at once of a hazardous material to a place
// from a list, in SI; 0 if the call is not of that kind.
func (s *Site) portion(c *fact.Call, arg string, k quantity.Kind, material string) float64 {
	tool := s.profile.Tool(c.Tool)
	if !additive(k) || tool == nil || s.chemistry == nil || material == "" {
		return 0
	}
	hazardous, listed := len(s.hazardous([]string{material})) > 0, false
	for i := range tool.Args {
		a := &tool.Args[i]
		v, ok := c.Args[a.Name].(string)
		if !ok {
			continue
		}
		listed = listed || len(a.Enum) > 1 && v != ""
	}
	a := tool.Arg(arg)
	if !hazardous || !listed || a == nil || a.Max == nil {
		return 0
	}
	_, si := quantity.ArgUnit(arg)
	return si(*a.Max)
}

func (s *Site) mayRelease(name string) bool {
	return slices.ContainsFunc(s.profile.People, func(p site.Person) bool { return s.release[p.Name] && p.Name == name })
}

// decides reports a person of the site who may do more than propose.
func (s *Site) decides(name string) bool {
	return slices.ContainsFunc(s.profile.People, func(p site.Person) bool {
		return p.Name == name && slices.ContainsFunc(p.May, func(m string) bool { return !strings.HasPrefix(m, "propose") && m != "watch" })
	})
}

// location is where a device stands, "" unknown.
func (s *Site) location(name string) string {
	if it := s.profile.Item(strings.TrimPrefix(name, "site:")); it != nil && it.Location != "" {
		return "site:" + it.Location
	}
	return ""
}

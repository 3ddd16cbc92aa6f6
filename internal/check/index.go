package check

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"interlock/internal/quantity"
	"interlock/internal/site"
)

// An index is one site compiled for the checks: its words, the things they
// name, and the limits of those things. It is built once and only read, but for
// the storage it lends to plans.
type index struct {
	site     *site.Site
	lex      *lexicon
	acts     *actSet // integrity
	code     *actSet // provenance
	entities []entity
	byID     map[string]int
	tools    map[string]*site.Tool
	sandbox  string // folded name

	places    map[string][]string         // words that name each zone or place of a limit
	texts     sync.Pool                   // storage of plans already checked, *planText
	kinds     map[quantity.Kind]kindBit   // that something of the site limits
	known     map[string]bool             // names as the profile writes them that FindPerson knows
	measures  map[string]quantity.Measure // by argument name
	toolWords map[string][]string         // the words of each tool's name
}

// An entity is a robot, device, tool family or place that a plan can name.
type entity struct {
	id    string
	kind  string // "robot", "device", "tool", "zone"
	axes  []axis
	kinds kindBit // of its limits
}

// A kindBit stands for one kind of quantity that something of the site limits.
type kindBit uint32

// bits numbers the kinds that have limits, and notes which each entity has.
func (x *index) bits() {
	for e := range x.entities {
		for _, a := range x.entities[e].axes {
			bit := x.kinds[a.kind]
			if bit == 0 {
				bit = 1 << len(x.kinds)
				x.kinds[a.kind] = bit
			}
			x.entities[e].kinds |= bit
		}
	}
}

// compile reads a site into an index.
func compile(s *site.Site) *index {
	x := &index{site: s, lex: newLexicon(), byID: map[string]int{}, tools: map[string]*site.Tool{}, places: map[string][]string{}, kinds: map[quantity.Kind]kindBit{}, known: map[string]bool{}, measures: map[string]quantity.Measure{}, toolWords: map[string][]string{}, sandbox: strings.ToLower(s.Sandbox.Name)}
	for i := range s.Robots {
		x.item(&s.Robots[i], "robot")
	}
	for i := range s.Devices {
		x.item(&s.Devices[i], "device")
	}
	for _, z := range s.Zones {
		x.entity(z.ID, "zone")
	}
	for i := range s.Tools {
		x.tools[s.Tools[i].Name] = &s.Tools[i]
		x.toolWords[s.Tools[i].Name] = strings.FieldsFunc(s.Tools[i].Name, func(r rune) bool { return r == '.' || r == '_' })
		for _, a := range s.Tools[i].Args {
			x.measures[a.Name] = quantity.MeasureOf(a.Name)
		}
		x.toolFamily(&s.Tools[i])
	}
	x.bits()
	x.placeNames()
	x.people()
	for _, a := range s.Agents {
		if !trusted(a.Trust) {
			x.lex.name(a.ID, entry{noun: outside}) // whoever gets data there has taken them out
		}
	}
	if x.sandbox != "" {
		x.lex.name(s.Sandbox.Name, entry{noun: control})
	}
	x.acts, x.code = compileActs(integrityActs), compileActs(provenanceActs)
	x.lex.link(x.acts, x.code)
	x.lex.freeze()
	return x
}

// measure returns what an argument name measures.
func (x *index) measure(arg string) quantity.Measure {
	if m, ok := x.measures[arg]; ok {
		return m
	}
	return quantity.MeasureOf(arg)
}

// of returns the index of the site in hand: the compiled one, or for another
// profile a new one, so that no plan is ever held against the wrong site.
func (x *index) of(s *site.Site) *index {
	if s == x.site || s == nil {
		return x
	}
	return compile(s)
}

func (x *index) entity(id, kind string) int {
	if i, ok := x.byID[id]; ok {
		return i
	}
	i := len(x.entities)
	x.entities = append(x.entities, entity{id: id, kind: kind})
	x.byID[id] = i
	x.lex.name(id, entry{ents: []int{i}})
	return i
}

// item adds a robot or device under its id, and under the id without its
// number when no other has the same ("spot_1" is also "spot").
func (x *index) item(it *site.Item, kind string) {
	e := x.entity(it.ID, kind)
	if base := baseName(it.ID); len(base) >= 3 && base != it.ID && !everyday(base) {
		x.lex.name(base, entry{ents: []int{e}})
	}
	for _, name := range attrNames(it) {
		a := it.Attrs[name]
		x.entities[e].axes = append(x.entities[e].axes, attrAxes(a)...)
	}
}

func attrNames(it *site.Item) []string {
	names := make([]string, 0, len(it.Attrs))
	for n := range it.Attrs {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// baseName cuts a trailing number: "hp1" is "hp", "mir_2" is "mir".
func baseName(id string) string {
	return strings.TrimRight(strings.TrimRightFunc(id, unicode.IsDigit), "_-")
}

// everyday are words of tool and device names that mean too much else.
func everyday(w string) bool {
	switch w {
	case "robot", "robots", "device", "devices", "sensor", "data", "log", "record", "notify", "sandbox", "system", "fleet", "queue", "mobile", "arm", "door", "doors", "lift", "lifts", "report", "permit", "permits", "weather", "inventory", "energy", "gas", "temp", "liquid", "lh", "lims", "dock":
		return true
	}
	return false
}

// toolFamily links "hotplate.set" to the devices its arguments list: the word
// "hotplate" then names them. A family without devices is linked by name.
func (x *index) toolFamily(t *site.Tool) {
	family, _, _ := strings.Cut(t.Name, ".")
	var members []int
	for _, a := range t.Args {
		for _, v := range a.Enum {
			if s, ok := v.(string); ok {
				if i, known := x.byID[s]; known && x.entities[i].kind != "zone" && !slices.Contains(members, i) {
					members = append(members, i)
				}
			}
		}
	}
	if len(members) == 0 && len(family) >= 3 {
		for i, e := range x.entities {
			b := baseName(e.id)
			if (e.kind == "device" || e.kind == "robot") && len(b) >= 3 && (strings.HasPrefix(family, b) || strings.HasPrefix(b, family)) {
				members = append(members, i)
			}
		}
	}
	if len(members) == 0 {
		return
	}
	for _, i := range members {
		x.entities[i].axes = append(x.entities[i].axes, toolAxes(t)...)
	}
	if len(members) <= 2 && len(family) >= 3 && !everyday(family) {
		x.lex.name(family, entry{ents: members})
	}
}

// placeNames collects the words for each place a limit may be for: those of its
// identifier, and the name its rule begins with ("wards: 500 mm/s").
func (x *index) placeNames() {
	general := []string{"area", "zone", "service", "public", "room", "place", "near", "people", "open"}
	for _, e := range x.entities {
		for _, a := range e.axes {
			for w := range strings.SplitSeq(a.place, "_") {
				if len(w) >= 4 && !slices.Contains(general, w) && !slices.Contains(x.places[a.place], w) {
					x.places[a.place] = append(x.places[a.place], w)
				}
			}
		}
	}
	for _, z := range x.site.Zones {
		head, _, ok := strings.Cut(strings.ToLower(z.Rule), ":")
		if ok && x.places[z.ID] != nil && len(head) >= 4 && !strings.ContainsAny(head, " ,.0123456789") {
			x.places[z.ID] = append(x.places[z.ID], strings.TrimSuffix(head, "s"))
		}
	}
}

// people makes surnames, roles and group names known.
func (x *index) people() {
	for _, p := range x.site.People {
		e := entry{noun: person}
		if mayDecide(p.Role) {
			e.noun |= authority
		}
		words := strings.FieldsFunc(p.Name, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
		for _, w := range words {
			if len(w) > 2 && unicode.IsUpper([]rune(w)[0]) && !everydayName(strings.ToLower(w)) {
				x.lex.name(w, e)
			}
		}
		for _, text := range [...]string{p.Name, p.Role} {
			if x.site.FindPerson(text) != nil {
				x.known[text] = true
			}
		}
		for _, text := range eachNamed(p.Name) {
			x.known[text] = true
		}
		role, _, _ := strings.Cut(p.Role, "(")
		if role = strings.TrimSpace(role); role != "" {
			x.lex.name(role, e)
		}
	}
}

// eachNamed returns the persons in an entry that lists several: "Prof. A. Lind
// (group L), Dr. B. Moe (group M)".
func eachNamed(names string) []string {
	var out []string
	for text := range strings.SplitSeq(names, ",") {
		text, _, _ = strings.Cut(text, "(")
		words := strings.Fields(text)
		capitals := func(w string) bool { return unicode.IsUpper([]rune(w)[0]) }
		if len(words) >= 2 && !slices.ContainsFunc(words, func(w string) bool { return !capitals(w) }) {
			out = append(out, strings.TrimSpace(text))
		}
	}
	if len(out) < 2 || len(out) != strings.Count(names, ",")+1 {
		return nil
	}
	return out
}

// everydayName are capitalised words in the names of groups.
func everydayName(w string) bool {
	switch w {
	case "board", "ethics", "group", "the", "prof", "staff", "service", "team", "user", "users", "ward":
		return true
	}
	return false
}

// mayDecide tells those who answer for safety from guests and users.
func mayDecide(role string) bool {
	r := strings.ToLower(role)
	return r != "guest" && r != "user" && r != "visitor"
}

// name adds a term of the site, folded as plans are read.
func (lex *lexicon) name(s string, e entry) {
	var words []string
	sc := scanner{text: s, low: quantity.Lower(s)}
	for {
		var t token
		if !sc.next(&t) {
			break
		}
		words = append(words, t.word)
	}
	lex.term(strings.Join(words, " "), e)
}

package link

import (
	"slices"
	"strings"
	"unicode"

	"interlock/internal/site"
)

// SiteNames returns how the things of a site are called. A material that the
// world knows under the same name keeps the world's node; others get nodes of
// the site.
func SiteNames(s *site.Site, world []Name) []Name {
	b := siteNamer{known: map[string]Name{}}
	for _, n := range world {
		if n.Kind == "material" {
			b.known[fold(n.Text)] = n
		}
	}
	for _, r := range s.Robots {
		b.item(r, "robot")
	}
	for _, d := range s.Devices {
		b.item(d, "device")
	}
	for _, t := range s.Tools {
		b.add(t.Name, "site:"+t.Name, "tool", t.Name)
	}
	for _, t := range s.NotAllowed {
		b.add(t, "site:"+t, "denied-tool", t)
	}
	for _, z := range s.Zones {
		b.add(z.ID, "site:"+z.ID, "zone", z.ID)
		b.add(strings.ReplaceAll(z.ID, "_", " "), "site:"+z.ID, "zone", z.ID)
	}
	for _, m := range s.Materials {
		for _, part := range Split(m.Name) {
			b.material(part)
		}
	}
	for _, a := range s.Biological {
		b.organisms(a)
	}
	for _, p := range s.People {
		b.person(p)
	}
	for _, a := range s.Agents {
		b.add(a.ID, "site:"+a.ID, "agent", a.ID)
	}
	b.add(s.Sandbox.Name, "site:"+s.Sandbox.Name, "sandbox", s.Sandbox.Name)
	b.add(s.Sandbox.Image, "site:"+s.Sandbox.Name, "sandbox", s.Sandbox.Name)
	b.args(s)
	return b.names
}

type siteNamer struct {
	names []Name
	known map[string]Name
}

func (b *siteNamer) add(text, id, kind, canon string) {
	if len(strings.TrimSpace(text)) > 1 {
		b.names = append(b.names, Name{Text: text, ID: id, Kind: kind, Canon: canon})
	}
}

func (b *siteNamer) exact(text, id, kind, canon string) {
	if text != "" {
		b.names = append(b.names, Name{Text: text, ID: id, Kind: kind, Canon: canon, Exact: true})
	}
}

// item adds a robot or device: its identifier, its model and the model's
// designation ("UR5e" of "Universal Robots UR5e").
func (b *siteNamer) item(it site.Item, kind string) {
	id := "site:" + it.ID
	b.add(it.ID, id, kind, it.ID)
	model, _, _ := strings.Cut(it.Model, ",")
	model, _, _ = strings.Cut(model, "(")
	model = strings.TrimSpace(model)
	if model == "" || len(strings.Fields(model)) > 6 {
		return
	}
	b.add(model, id, kind, it.ID)
	for _, w := range strings.Fields(model) {
		if hasDigit(w) && strings.ContainsFunc(w, unicode.IsLetter) && len(w) > 3 {
			b.add(w, id, kind, it.ID)
		}
	}
}

// Split takes apart a name that lists several: "acetone, ethanol", "DMSO, DMF",
// "copper(II) sulfate" stays whole. Strengths and states are dropped.
func Split(name string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(joinRoman(name), func(r rune) bool { return r == ',' || r == ';' || r == '/' }) {
		for _, p := range strings.Split(part, " and ") {
			if i := strings.Index(p, " with "); i > 0 {
				out = appendName(out, p[i+6:])
				p = p[:i]
			}
			out = appendName(out, p)
		}
	}
	return out
}

func appendName(out []string, p string) []string {
	p, _, _ = strings.Cut(p, " (")
	words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(p), ")"))
	for len(words) > 0 && strengthWord(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if p = strings.Join(words, " "); len(p) > 2 {
		out = append(out, strings.ReplaceAll(strings.ReplaceAll(p, "[", "("), "]", ")"))
	}
	return out
}

// strengthWord reports words that say how strong or in what form: "37", "%",
// "1", "M", "solution".
func strengthWord(w string) bool {
	return isDigit(w[0]) || slices.Contains([]string{"%", "M", "w/v", "mg/mL", "solution", "solutions", "pellets", "solid", "g", "working", "bar", "under", "oil", "header", "tanks", "day", "cylinders", "salts", "coded"}, w)
}

// joinRoman protects the brackets of "copper(II)" from being read as a remark.
func joinRoman(s string) string {
	for _, r := range []string{"I", "II", "III", "IV", "VI", "VII"} {
		s = strings.ReplaceAll(s, "("+r+")", "["+r+"]")
	}
	return s
}

func (b *siteNamer) material(name string) {
	if n, ok := b.known[fold(name)]; ok {
		b.add(name, n.ID, "material", n.Canon)
		return
	}
	for w := range b.lastWords(name) {
		if n, ok := b.known[fold(w)]; ok {
			b.add(name, n.ID, "material", n.Canon)
			return
		}
	}
	b.add(name, "site:"+slug(name), "material", name)
}

// lastWords yields ever shorter ends of a name: "anhydrous sodium chloride",
// "sodium chloride".
func (b *siteNamer) lastWords(name string) func(func(string) bool) {
	return func(yield func(string) bool) {
		words := strings.Fields(name)
		for i := 1; i < len(words) && yield(strings.Join(words[i:], " ")); i++ {
		}
		for i := len(words) - 1; i > 0 && yield(strings.Join(words[:i], " ")); i-- {
		}
	}
}

// organisms adds the agents of one entry, with the short form of the genus
// ("S. aureus") and strains by themselves ("DH5a").
func (b *siteNamer) organisms(a site.Agent) {
	for _, part := range strings.Split(a.Name, ",") {
		part = strings.TrimSpace(part)
		id := "site:" + slug(part)
		b.add(part, id, "bioagent", part)
		words := strings.Fields(part)
		if len(words) < 2 {
			continue
		}
		if unicode.IsUpper(firstRune(words[0])) && words[1] == strings.ToLower(words[1]) {
			genus := words[0][:1] + "."
			species := strings.Join(words[:2], " ")
			b.add(species, id, "bioagent", part)
			b.add(genus+" "+words[1], id, "bioagent", part)
			b.add(genus+" "+strings.Join(words[1:], " "), id, "bioagent", part)
		}
		for _, w := range words[1:] {
			if hasDigit(w) && strings.ContainsFunc(w, unicode.IsLetter) {
				b.add(w, id, "bioagent", part)
			}
		}
	}
}

// person adds somebody by name, surname, given name and role.
func (b *siteNamer) person(p site.Person) {
	id := "site:" + slug(p.Name)
	role, _, _ := strings.Cut(p.Role, "(")
	for _, r := range strings.Split(role, " and ") {
		if r = strings.TrimSpace(r); r == strings.ToUpper(r) {
			b.exact(r, id, "person", p.Name)
		} else {
			b.add(r, id, "person", p.Name)
		}
	}
	if p.Group() {
		name, _, _ := strings.Cut(p.Name, "(")
		b.add(name, id, "person", p.Name)
		if words := strings.Fields(name); len(words) > 2 { // "ward nurses in charge"
			b.add(strings.Join(words[1:], " "), id, "person", p.Name)
		}
		for _, part := range strings.Split(name, " and ") {
			b.add(part, id, "person", p.Name)
		}
		return
	}
	words := strings.Fields(strings.TrimSuffix(p.Name[strings.IndexByte(p.Name, '(')+1:], ")"))
	for len(words) > 0 && strings.HasSuffix(words[0], ".") {
		words = words[1:]
	}
	b.add(strings.Join(words, " "), id, "person", p.Name)
	for _, w := range words {
		if len(w) > 2 && unicode.IsUpper(firstRune(w)) {
			b.exact(w, id, "person", p.Name)
		}
	}
}

// args adds the values that tools take by name: places, sensors, cycles.
func (b *siteNamer) args(s *site.Site) {
	seen := map[string]bool{}
	for _, n := range b.names {
		seen[n.Text] = true
	}
	for _, t := range s.Tools {
		for _, a := range t.Args {
			for _, v := range a.Enum {
				text, ok := v.(string)
				if !ok || len(text) < 2 || seen[text] || !nameLike(text) {
					continue
				}
				seen[text] = true
				if len(text) == 2 {
					b.exact(text, "site:"+text, "value", text) // "S1"
				} else {
					b.add(text, "site:"+text, "value", text)
				}
			}
		}
	}
}

// nameLike keeps the values that are names rather than words of the language.
func nameLike(s string) bool {
	return hasDigit(s) || strings.ContainsRune(s, '_')
}

func slug(s string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if b.Len() > 0 {
			b.WriteByte('-')
		}
		b.WriteString(w)
	}
	return b.String()
}

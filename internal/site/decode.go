package site

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"interlock/internal/strict"
)

// Version is the profile format this package reads.
const Version = 1

// maxProfileBytes bounds one profile file.
const maxProfileBytes = 8 << 20

// The keys of a profile.
var (
	fileKeys = []string{"version", "sites"}
	siteKeys = []string{
		"id", "name", "description", "robots", "devices", "tools", "tools_not_allowed_examples", "sandbox", "zones",
		"materials", "biological_agents", "not_approved_agents", "rules", "checks", "people", "agents", "obligations",
	}
	itemKeys     = []string{"id", "model", "location", "serves", "note", "extra"}
	toolKeys     = []string{"name", "server", "own_name", "effect", "hazard", "args"}
	argKeys      = []string{"type", "enum", "min", "max", "optional", "ref"}
	sandboxKeys  = []string{"name", "present", "operable", "code_execution_routed_through_it", "image", "image_digest", "network_egress", "writable"}
	zoneKeys     = []string{"id", "rule"}
	materialKeys = []string{"name", "cas", "hazards", "store", "note"}
	agentKeys    = []string{"name", "bsl", "note"}
	personKeys   = []string{"name", "role", "may"}
	plannerKeys  = []string{"id", "kind", "trust", "may"}
	checkKeys    = []string{"id", "covers", "level", "class", "when", "message", "need", "examples"}
	exampleKeys  = []string{"steps", "calls", "attachments", "on_behalf_of", "breaks"}
)

// Decode reads the profiles of one YAML file. file stands in error messages.
func Decode(file string, data []byte) ([]*Site, error) {
	if len(data) > maxProfileBytes {
		return nil, &strict.Error{File: file, Msg: "the profile is longer than 8 MiB"}
	}
	root, err := strict.YAML(file, data)
	if err != nil {
		return nil, err
	}
	d := &decoder{strict.Reader{File: file}}
	sites := d.file(root)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return sites, nil
}

// A decoder takes profiles out of a tree.
type decoder struct{ strict.Reader }

func (d *decoder) file(n *strict.Node) []*Site {
	for _, f := range d.Fields(n, "the file", fileKeys) {
		if f.Key == "version" {
			d.Int(&f.Value, "version", Version, Version)
		}
	}
	d.need(n, "the file", "version", "sites")
	list := n.Field("sites")
	if list == nil || d.Err() != nil {
		return nil
	}
	if len(d.Items(list, "sites")) == 0 {
		d.Fail(list.Pos, "sites: the list is empty, expected at least one site")
	}
	seen := unique{d: d, what: "site"}
	sites := make([]*Site, len(list.Items))
	for i := range list.Items {
		sites[i] = d.site(&list.Items[i])
		seen.add(list.Items[i].Field("id"), sites[i].ID)
	}
	return sites
}

// need notes keys that a map must have.
func (d *decoder) need(n *strict.Node, what string, keys ...string) {
	for _, k := range keys {
		if n.Field(k) == nil {
			d.Fail(n.Pos, "%s has no %q", what, k)
		}
	}
}

// unique notes identifiers that are given twice.
type unique struct {
	d    *decoder
	what string
	line map[string]int
}

func (u *unique) add(n *strict.Node, id string) {
	if n == nil {
		return
	}
	if line, dup := u.line[id]; dup {
		u.d.Fail(n.Pos, "a second %s %q: the first stands in line %d", u.what, id, line)
	}
	if u.line == nil {
		u.line = map[string]int{}
	}
	u.line[id] = n.Pos.Line
}

// each decodes the entries of a list and refuses two with the same id.
func each[T any](d *decoder, n *strict.Node, what, id string, decode func(*strict.Node) T) []T {
	items := d.Items(n, what+"s")
	seen := unique{d: d, what: what}
	out := make([]T, len(items))
	for i := range items {
		out[i] = decode(&items[i])
		d.need(&items[i], "a "+what, id)
		if at := items[i].Field(id); at != nil {
			seen.add(at, at.Text)
		}
	}
	return out
}

func (d *decoder) site(n *strict.Node) *Site {
	s := &Site{}
	var checks *strict.Node
	for _, f := range d.Fields(n, "a site", siteKeys) {
		v := &f.Value
		switch f.Key {
		case "id":
			s.ID = d.Word(v, "id")
		case "name":
			s.Name = d.Word(v, "name")
		case "description":
			s.Description = strings.TrimSpace(d.Text(v, "description"))
		case "robots":
			s.Robots = each(d, v, "robot", "id", d.item)
		case "devices":
			s.Devices = each(d, v, "device", "id", d.item)
		case "tools":
			s.Tools = each(d, v, "tool", "name", d.tool)
		case "tools_not_allowed_examples":
			s.NotAllowed = d.Words(v, f.Key)
		case "sandbox":
			s.Sandbox = d.sandbox(v)
		case "zones":
			s.Zones = each(d, v, "zone", "id", d.zone)
		case "materials":
			s.Materials = each(d, v, "material", "name", d.material)
		case "biological_agents":
			s.Biological = each(d, v, "biological agent", "name", d.agent)
		case "not_approved_agents":
			s.NotApproved = d.Word(v, f.Key)
		case "rules":
			s.Rules = d.rules(v)
		case "checks":
			checks = v
		case "people":
			s.People = each(d, v, "person", "name", d.person)
		case "agents":
			s.Agents = each(d, v, "agent", "id", d.planner)
		case "obligations":
			s.Obligations = d.obligations(v)
		}
	}
	if checks != nil { // after the rules, wherever they stand
		s.Checks = each(d, checks, "check", "id", func(n *strict.Node) Check { return d.check(n, s.Rules) })
	}
	d.need(n, "a site", "id", "tools")
	d.cross(n, s)
	s.Digest = digest(n)
	return s
}

// cross notes what only shows when the parts of a site are held together.
func (d *decoder) cross(n *strict.Node, s *Site) {
	if tools := n.Field("tools"); tools != nil && len(s.Tools) == 0 {
		d.Fail(tools.Pos, "tools: the list is empty, expected at least one tool")
	}
	devices := n.Field("devices")
	for i, dev := range s.Devices {
		if slices.ContainsFunc(s.Robots, func(r Item) bool { return r.ID == dev.ID }) {
			d.Fail(devices.Items[i].Pos, "device %q has the id of a robot", dev.ID)
		}
	}
	d.ownNames(n.Field("tools"), s.Tools)
	d.references(n.Field("tools"), s)
	names := n.Field("tools_not_allowed_examples")
	for i, name := range s.NotAllowed {
		if s.Tool(name) != nil {
			d.Fail(names.Items[i].Pos, "tool %q is listed as allowed and as not allowed", name)
		}
	}
}

// ownNames refuses two tools that a call on the wire could not be told apart by:
// policy knows a tool by its server and what that calls it.
func (d *decoder) ownNames(n *strict.Node, tools []Tool) {
	for i := range tools {
		for k := range tools[:i] {
			if tools[i].Own == tools[k].Own && tools[i].Server == tools[k].Server && tools[i].Name != tools[k].Name {
				d.Fail(n.Items[i].Pos, "tools %q and %q are the same tool of the same server: %q", tools[k].Name, tools[i].Name, tools[i].Own)
			}
		}
	}
}

// digest is the SHA-256 over the canonical profile, hex.
func digest(n *strict.Node) string {
	sum := sha256.Sum256(strict.Canonical(n.Value()))
	return hex.EncodeToString(sum[:])
}

func (d *decoder) item(n *strict.Node) Item {
	it := Item{Attrs: map[string]Attr{}}
	if n.Kind != strict.Map {
		d.Fields(n, "a robot or device", nil)
		return it
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		v := &f.Value
		switch f.Key {
		case "id":
			it.ID = d.Word(v, "id")
		case "model":
			it.Model = d.Word(v, "model")
		case "location":
			it.Location = d.Word(v, "location")
		case "serves":
			it.Serves = d.Words(v, "serves")
		case "note":
			it.Note = d.Word(v, "note")
		case "extra":
			if len(d.Entries(v, "extra")) > 0 {
				it.Extra, _ = v.Value().(map[string]any)
			}
		default:
			spec, ok := registry[f.Key]
			if !ok {
				d.unknownAttr(f)
				return it
			}
			it.Attrs[f.Key] = d.attr(f.Key, spec, v)
		}
	}
	return it
}

// unknownAttr notes an attribute the registry does not know.
func (d *decoder) unknownAttr(f *strict.Field) {
	known := slices.Concat(itemKeys, slices.Sorted(maps.Keys(registry)))
	hint := `; what no check has to read may stand under "extra:"`
	if k := strict.Nearest(f.Key, known); k != "" {
		hint = `; did you mean "` + k + `"? What no check has to read may stand under "extra:"`
	}
	d.Fail(f.Pos, "unknown attribute %q of a robot or device%s", f.Key, hint)
}

func (d *decoder) zone(n *strict.Node) (z Zone) {
	for _, f := range d.Fields(n, "a zone", zoneKeys) {
		switch f.Key {
		case "id":
			z.ID = d.Word(&f.Value, "id")
		case "rule":
			z.Rule = d.Word(&f.Value, "rule")
		}
	}
	return z
}

func (d *decoder) material(n *strict.Node) (m Material) {
	for _, f := range d.Fields(n, "a material", materialKeys) {
		v := &f.Value
		switch f.Key {
		case "name":
			m.Name = d.Word(v, "name")
		case "cas":
			m.CAS = d.Word(v, "cas")
		case "hazards":
			m.Hazards = d.Words(v, "hazards")
		case "store":
			m.Store = d.Word(v, "store")
		case "note":
			m.Note = d.Word(v, "note")
		}
	}
	return m
}

func (d *decoder) agent(n *strict.Node) (a Agent) {
	for _, f := range d.Fields(n, "a biological agent", agentKeys) {
		v := &f.Value
		switch f.Key {
		case "name":
			a.Name = d.Word(v, "name")
		case "bsl":
			a.BSL = d.Int(v, "bsl", 1, 4)
		case "note":
			a.Note = d.Word(v, "note")
		}
	}
	d.need(n, "a biological agent", "bsl")
	return a
}

func (d *decoder) person(n *strict.Node) (p Person) {
	for _, f := range d.Fields(n, "a person", personKeys) {
		v := &f.Value
		switch f.Key {
		case "name":
			p.Name = d.Word(v, "name")
		case "role":
			p.Role = d.Word(v, "role")
		case "may":
			p.May = d.Words(v, "may")
		}
	}
	return p
}

func (d *decoder) planner(n *strict.Node) (p Planner) {
	for _, f := range d.Fields(n, "an agent", plannerKeys) {
		v := &f.Value
		switch f.Key {
		case "id":
			p.ID = d.Word(v, "id")
		case "kind":
			p.Kind = d.Word(v, "kind")
		case "trust":
			p.Trust = d.OneOf(v, "trust", "registered", "limited", "untrusted")
		case "may":
			p.May = d.Words(v, "may")
		}
	}
	d.need(n, "an agent", "trust")
	return p
}

func (d *decoder) rules(n *strict.Node) []Rule {
	var rules []Rule
	for i, f := range d.Entries(n, "rules") {
		rules = append(rules, Rule{ID: f.Key, Text: d.Word(&n.Fields[i].Value, "rule "+f.Key)})
	}
	return rules
}

func (d *decoder) check(n *strict.Node, rules []Rule) Check {
	c := Check{File: d.File, Line: n.Pos.Line}
	for _, f := range d.Fields(n, "a check", checkKeys) {
		v := &f.Value
		switch f.Key {
		case "id":
			c.ID = d.Word(v, "id")
		case "covers":
			c.Covers = d.Words(v, "covers")
			for i, id := range c.Covers {
				if !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == id }) {
					d.Fail(v.Items[i].Pos, "covers: there is no rule %q", id)
				}
			}
		case "level":
			c.Level = d.OneOf(v, "level", "block", "flag")
		case "class":
			c.Class = d.OneOf(v, "class", "safety", "alignment", "adversarial")
		case "when":
			c.When = d.Word(v, "when")
		case "message":
			c.Message = d.Word(v, "message")
		case "need":
			c.Need = d.Word(v, "need")
		case "examples":
			items := d.Items(v, "examples")
			for i := range items {
				c.Examples = append(c.Examples, d.example(&items[i]))
			}
		}
	}
	d.need(n, "a check", "level", "class", "when", "message")
	return c
}

func (d *decoder) example(n *strict.Node) (e CheckExample) {
	for _, f := range d.Fields(n, "an example", exampleKeys) {
		v := &f.Value
		switch f.Key {
		case "steps":
			e.Steps = d.Words(v, "steps")
		case "calls":
			items := d.Items(v, "calls")
			for i := range items {
				if len(d.Entries(&items[i], "a call")) > 0 {
					call, _ := items[i].Value().(map[string]any)
					e.Calls = append(e.Calls, call)
				}
			}
		case "attachments":
			e.Attachments = d.Words(v, "attachments")
		case "on_behalf_of":
			e.OnBehalfOf = d.Word(v, "on_behalf_of")
		case "breaks":
			e.Breaks = d.Bool(v, "breaks")
		}
	}
	d.need(n, "an example", "breaks")
	return e
}

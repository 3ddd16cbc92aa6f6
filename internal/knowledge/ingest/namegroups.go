package ingest

import (
	"fmt"
	"regexp"
	"strings"

	"interlock/internal/knowledge"
)

const metals = `(?:lithium|sodium|potassium|rubidium|caesium|cesium|magnesium|calcium|strontium|barium|ammonium|silver|copper|zinc|cadmium|mercury|lead|nickel|cobalt|iron|aluminium|aluminum|chromium|manganese|tin|titanium|beryllium|thallium|bismuth)(?: [iv]+)?`

// A nameGroup is one row of namegroups.txt.
type nameGroup struct {
	group string
	name  *regexp.Regexp
}

func (c *collector) nameGroups() []nameGroup {
	var out []nameGroup
	data, err := ownTables.ReadFile("tables/namegroups.txt")
	c.fail(err)
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		group, pattern, _ := strings.Cut(line, " | ")
		re, err := regexp.Compile(strings.ReplaceAll(pattern, "METAL", metals))
		if err != nil || group == "" {
			c.fail(fmt.Errorf("own table namegroups.txt, line %d: %w", i+1, err))
			continue
		}
		out = append(out, nameGroup{group, re})
	}
	return out
}

// deriveGroups gives chemicals without a stated reactive group those that their
// names give away.
func (c *collector) deriveGroups() {
	rules := c.nameGroups()
	for id, name := range c.b.All(knowledge.KindChemical) {
		if c.b.HasEdge(id, knowledge.RelGroup) {
			continue
		}
		folded := knowledge.FoldName(name)
		for _, r := range rules {
			if r.name.MatchString(folded) && c.b.Has("group:"+r.group) {
				c.fail(c.b.Derive(id, knowledge.RelGroup, "group:"+r.group, ownKey))
			}
		}
	}
}

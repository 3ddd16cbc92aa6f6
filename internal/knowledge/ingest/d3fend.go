package ingest

import (
	"errors"
	"regexp"
	"strings"

	"interlock/internal/knowledge"
)

var (
	ttlBlockRE   = regexp.MustCompile(`\.[ \t]*\n`)
	ttlLongRE    = regexp.MustCompile(`(?s)""".*?"""`)
	ttlSubjectRE = regexp.MustCompile(`^\s*:([\w.\-]+) a `)
	ttlLabelRE   = regexp.MustCompile(`rdfs:label "((?:[^"\\]|\\.)*)"`)
	ttlIDRE      = regexp.MustCompile(`:(d3fend|attack|cwe)-id "([^"]+)"`)
	ttlSubRE     = regexp.MustCompile(`(?s)rdfs:subClassOf(.*?)(?:;\s*\n    [:a-z]|$)`)
	ttlSomeRE    = regexp.MustCompile(`owl:onProperty :([\w\-]+) ;\s*owl:someValuesFrom :([\w.\-]+)`)
	ttlBracketRE = regexp.MustCompile(`(?s)\[.*?\]`)
	ttlNameRE    = regexp.MustCompile(`:([\w.\-]+)`)
)

type d3fendClass struct {
	name, label, id string
	parents         []string
	some            [][2]string // property, class
}

// parseD3FEND reads the part of Turtle in which the ontology writes classes:
// one block a class, with labels, identifiers, parents and restrictions.
func parseD3FEND(c *collector, a *archive) {
	c.each(a, "src/ontology/d3fend-protege.ttl", func(f file) error {
		classes := d3fendClasses(string(f.data))
		if len(classes) == 0 {
			return errors.New("no class found: want Turtle blocks \":Name a owl:Class\"")
		}
		ids := map[string]string{}
		for _, k := range classes {
			ids[k.name] = c.d3fendNode(&k)
		}
		for _, k := range classes {
			id := ids[k.name]
			for _, p := range k.parents {
				if to := ids[p]; id != "" && to != "" && strings.HasPrefix(id, "d3fend:") {
					c.edge(id, knowledge.RelIsA, to)
				}
			}
			for _, s := range k.some {
				if to := ids[s[1]]; id != "" && to != "" {
					c.edge(id, strings.ReplaceAll(s[0], "-", "_"), to)
				}
			}
		}
		return nil
	})
}

// d3fendNode adds a class; those that only name another source's thing stand
// for it.
func (c *collector) d3fendNode(k *d3fendClass) string {
	switch {
	case strings.HasPrefix(k.id, "CWE-"):
		return "cwe:" + k.id
	case strings.HasPrefix(k.id, "D3-"):
		return c.node("d3fend:"+k.id, "defence", knowledge.Adversary, k.label)
	case k.id != "" && k.id[0] == 'T' && !strings.HasPrefix(k.id, "TA"):
		return "attack:" + k.id
	case len(k.parents) == 0 && len(k.some) == 0:
		return ""
	}
	return c.node("d3fend:"+k.name, "artifact", knowledge.LabContext, k.label)
}

func d3fendClasses(ttl string) []d3fendClass {
	var out []d3fendClass
	ttl = ttlLongRE.ReplaceAllString(ttl, `"x"`)
	for _, block := range ttlBlockRE.Split(ttl, -1) {
		m := ttlSubjectRE.FindStringSubmatch(block)
		if m == nil {
			continue
		}
		k := d3fendClass{name: m[1], label: m[1]}
		if l := ttlLabelRE.FindStringSubmatch(block); l != nil {
			k.label = strings.ReplaceAll(l[1], `\"`, `"`)
		}
		for _, id := range ttlIDRE.FindAllStringSubmatch(block, -1) {
			if k.id == "" || id[1] != "d3fend" { // another source's id says more
				k.id = id[2]
			}
		}
		if s := ttlSubRE.FindStringSubmatch(block); s != nil {
			for _, r := range ttlSomeRE.FindAllStringSubmatch(s[1], -1) {
				k.some = append(k.some, [2]string{r[1], r[2]})
			}
			for _, p := range ttlNameRE.FindAllStringSubmatch(ttlBracketRE.ReplaceAllString(s[1], ""), -1) {
				k.parents = append(k.parents, p[1])
			}
		}
		out = append(out, k)
	}
	return out
}

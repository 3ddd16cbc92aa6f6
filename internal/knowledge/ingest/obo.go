package ingest

import (
	"fmt"
	"regexp"
	"strings"

	"interlock/internal/knowledge"
)

type oboTerm struct {
	id, name  string
	obsolete  bool
	parents   []string
	relations [][2]string // relation, target
	synonyms  []string
}

var oboSynRE = regexp.MustCompile(`^"([^"]+)" EXACT`)

// parseOBO reads an ontology in OBO format: terms with names, exact synonyms,
// parents and relations. Definitions are sentences and stay out.
func parseOBO(pattern string) func(c *collector, a *archive) {
	return func(c *collector, a *archive) {
		c.each(a, pattern, func(f file) error {
			terms, err := oboTerms(string(f.data))
			if err != nil {
				return err
			}
			for _, t := range terms {
				c.oboTerm(&t)
			}
			return nil
		})
	}
}

func oboTerms(text string) ([]oboTerm, error) {
	var out []oboTerm
	in := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			if in = line == "[Term]"; in {
				out = append(out, oboTerm{})
			}
			continue
		}
		if !in || line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("line %d: want \"key: value\"", i+1)
		}
		value, _, _ = strings.Cut(value, " ! ")
		out[len(out)-1].set(key, value)
	}
	return out, nil
}

func (t *oboTerm) set(key, value string) {
	value, _, _ = strings.Cut(value, " {")
	switch key {
	case "id":
		t.id = value
	case "name":
		t.name = value
	case "is_obsolete":
		t.obsolete = value == "true"
	case "is_a":
		t.parents = append(t.parents, value)
	case "synonym":
		if m := oboSynRE.FindStringSubmatch(value); m != nil {
			t.synonyms = append(t.synonyms, m[1])
		}
	case "relationship":
		if rel, to, ok := strings.Cut(value, " "); ok {
			t.relations = append(t.relations, [2]string{rel, strings.Fields(to)[0]})
		}
	}
}

// oboKinds are the ontologies whose terms are taken; others that terms refer
// to (cells, anatomy, units) would outweigh the laboratory.
var oboKinds = map[string]string{"OBI": "lab_term", "CHMO": "lab_method", "IAO": "information_term", "BFO": "upper_term", "COB": "upper_term", "FBbi": "lab_method"}

func oboID(id string) string {
	p, n, _ := strings.Cut(id, ":")
	return strings.ToLower(p) + ":" + n
}

func (c *collector) oboTerm(t *oboTerm) {
	prefix, _, _ := strings.Cut(t.id, ":")
	kind := oboKinds[prefix]
	if kind == "" || t.obsolete || t.name == "" {
		return
	}
	id := c.node(oboID(t.id), kind, knowledge.LabContext, t.name)
	n := 0
	for _, s := range t.synonyms {
		if len(s) >= 4 && len(s) <= 32 && n < 2 {
			c.alias(id, s, false)
			n++
		}
	}
	for _, p := range t.parents {
		c.edge(id, knowledge.RelIsA, oboID(p))
	}
	for _, r := range t.relations {
		if rel := oboRelation(r[0]); rel != "" {
			c.edge(id, rel, oboID(r[1]))
		}
	}
}

func oboRelation(r string) string {
	switch r {
	case "BFO:0000050", "part_of":
		return knowledge.RelPartOf
	case "BFO:0000051", "has_part":
		return "has_part"
	case "OBI:0000293", "has_specified_input":
		return "has_input"
	case "OBI:0000299", "has_specified_output":
		return "has_output"
	case "OBI:0000417", "achieves_planned_objective":
		return "achieves"
	case "realizes", "BFO:0000055":
		return "realises"
	}
	return knowledge.RelRelated
}

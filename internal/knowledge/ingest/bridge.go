package ingest

import (
	"slices"
	"strings"

	"interlock/internal/knowledge"
)

// bridged lists kinds between which an equal name means the same thing.
func bridged() [][]string {
	return [][]string{
		{knowledge.KindDevice, knowledge.KindRobot, "labware_kind", "module_type", "lab_term", "lab_method"},
		{"topic", knowledge.KindTechnique, "ai_risk", "ai_risk_group", "jailbreak", "incident_domain"},
	}
}

// bridge joins what different sources call by the same name, and laboratory
// methods to the verbs that they are named after. Both are our conclusions.
func bridge(c *collector) {
	for _, kinds := range bridged() {
		first := map[string]string{} // folded name -> the node of the earliest kind
		for _, kind := range kinds {
			for _, n := range sortedNames(c.b.NamesOf(kind)) {
				if id, there := first[n.name]; there && id != n.id {
					c.derive(n.id, knowledge.RelSameAs, id)
				} else if !there {
					first[n.name] = n.id
				}
			}
		}
	}
	for id, name := range c.b.All("lab_method") {
		c.verbs(id, stems(name))
	}
}

type named struct{ name, id string }

func sortedNames(m map[string]string) []named {
	out := make([]named, 0, len(m))
	for _, name := range sortedKeys(m) {
		if len(name) > 3 {
			out = append(out, named{name, m[name]})
		}
	}
	return out
}

// stems adds to the words of a name what they are the nouns of: "heating" is
// also "heat", "centrifugation" also "centrifuge".
func stems(name string) string {
	words := strings.Fields(name)
	for _, w := range slices.Clone(words) {
		for _, end := range []string{"ing", "ation", "ion"} {
			if root, ok := strings.CutSuffix(strings.ToLower(w), end); ok && len(root) > 2 {
				words = append(words, root, root+"e")
			}
		}
	}
	return strings.Join(words, " ")
}

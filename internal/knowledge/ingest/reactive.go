package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"interlock/internal/knowledge"
)

const (
	factsKey = "reactive"
	ownKey   = "own"
)

// parseReactive reads the ready facts on reactivity and on the groups of hazard
// statements: tables of bare facts that lie beside the archives.
func parseReactive(c *collector, a *archive) {
	table := func(name string, f func(row map[string]string) error) {
		c.file = "facts/" + name
		data, err := os.ReadFile(filepath.Join(a.facts, name))
		if err == nil {
			err = eachRow(file{name, data}, f)
		}
		c.fail(err)
		c.file = ""
	}
	table("reactive_groups.tsv", func(r map[string]string) error {
		c.once("group:"+r["group"], knowledge.KindGroup, knowledge.Safety, r["name"])
		return nil
	})
	table("chemical_reactive_group.tsv", func(r map[string]string) error {
		if !isCAS(r["chemical"]) {
			return fmt.Errorf("%q is not a CAS number", r["chemical"])
		}
		if !c.b.Has("group:" + r["group"]) {
			return fmt.Errorf("there is no reactive group %q", r["group"])
		}
		c.edge(c.chemical(r["chemical"], r["name"]), knowledge.RelGroup, "group:"+r["group"])
		return nil
	})
	table("reactive_pairs.tsv", c.reactivePair)
	c.deriveGroups()
	table("ghs_hazard_codes.tsv", func(r map[string]string) error {
		id := "h:" + r["code"]
		if c.b.Has(id) {
			c.edge(id, knowledge.RelClass, c.node("hazard-group:"+slug(r["group"]), "hazard_group", knowledge.Safety, r["group"]))
		}
		return nil
	})
}

func (c *collector) reactivePair(r map[string]string) error {
	kind := map[string]string{"incompatible": knowledge.KindIncompatible, "caution": knowledge.KindCaution}[r["verdict"]]
	if kind == "" {
		if r["verdict"] == "compatible" {
			return nil // what is not there is no fact against a pair
		}
		return fmt.Errorf("verdict %q: want incompatible, caution or compatible", r["verdict"])
	}
	a, b := "group:"+r["group_a"], "group:"+r["group_b"]
	if !c.b.Has(a) || !c.b.Has(b) {
		return fmt.Errorf("there is no group %q or %q", r["group_a"], r["group_b"])
	}
	id := c.node("pair:"+r["group_a"]+"-"+r["group_b"], kind, knowledge.Safety, c.b.NameOf(a)+" + "+c.b.NameOf(b))
	c.edge(id, knowledge.RelPair, a)
	c.edge(id, knowledge.RelPair, b)
	for _, h := range strings.Split(r["hazards"], ";") {
		if code, ok := strings.CutPrefix(strings.TrimSpace(h), "reaction hazard "); ok {
			c.edge(id, knowledge.RelReaction, c.node("reaction:"+code, "reaction_hazard", knowledge.Safety, reactionName(code)))
		}
	}
	for _, g := range strings.Split(r["possible_gases"], ";") {
		if g = gasName(g); g != "" {
			c.edge(id, knowledge.RelEvolves, c.node("gas:"+slug(g), knowledge.KindGas, knowledge.Safety, g))
			c.alias("gas:"+slug(g), g, plainFormula(g))
		}
	}
	return nil
}

// reactionName says in our words what the letter codes of reactivity charts
// stand for. The codes R1 to R4 grade how strongly the pair reacts; their exact
// meaning is not among the facts, so they stay codes.
func reactionName(code string) string {
	words := map[string]string{"C": ": corrosive products", "E": ": explosive products", "F": ": flammable products", "G": ": gas, pressure", "T": ": toxic products"}
	return "reaction hazard " + code + words[code]
}

var formulaRE = regexp.MustCompile(`^(?:(?:H|C|N|O|F|P|S|I|B|X|Cl|Br|As|Se|Si|Sb|Te|Sn)\d*)+$`)

var gasWords = []string{
	"Hydrocarbons", "Acid Fumes", "Base Fumes", "Aldehydes", "Alcohols", "Silanes", "Halocarbons", "Ethers", "Halogenated Amines",
	"Halogenated Organics", "Chlorinated Amines", "Amines", "Ketones", "Mercaptans", "Nitriles", "Organic Acids", "Sulfides", "Phosgene", "Boranes",
}

// gasName keeps formulae and classes of gases; the lists also hold pieces of
// bibliography.
func gasName(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "BR", "Br")
	generic := []string{"NOx", "SOx", "POx"}
	if len(s) > 1 && formulaRE.MatchString(s) || slices.Contains(generic, s) || slices.Contains(gasWords, s) {
		return s
	}
	return ""
}

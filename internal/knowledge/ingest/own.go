package ingest

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/knowledge"
	"interlock/internal/knowledge/derive"
)

//go:embed tables/*.txt
var ownTables embed.FS

// parseOwn reads our own tables: what the public sources lack. They are
// general knowledge in our words, a reference in each row where one is due.
func parseOwn(c *collector, _ *archive) {
	c.ownTable("hazards.txt", 4, c.ownHazard)
	c.ownTable("controls.txt", 2, func(r []string) error {
		c.once("control:"+r[0], knowledge.KindControl, knowledge.Safety, r[1])
		return nil
	})
	c.ownTable("topics.txt", 3, func(r []string) error {
		id := c.once("topic:"+r[0], "topic", knowledge.Adversary, r[1])
		c.aliases(id, r[2])
		return nil
	})
	c.ownTable("devices.txt", 5, c.ownDevice)
	c.ownTable("models.txt", 6, c.ownModel)
	c.ownTable("verbs.txt", 3, func(r []string) error {
		id := c.once("verb:"+r[0], "verb", knowledge.LabContext, "to "+r[0])
		c.aliases(id, strings.ReplaceAll(r[1], " ", ";"))
		return c.causes(id, r[2])
	})
	c.ownTable("loads.txt", 5, c.ownLoad)
	c.ownTable("bioagents.txt", 4, c.ownBioAgent)
	materials, pairs := derive.Tables()
	c.rows("materials", materials, 9, c.ownMaterial)
	c.rows("pairs", pairs, 7, c.ownPair)
	c.ownTable("terms.txt", 2, func(r []string) error {
		if !c.b.Has(r[0]) {
			return fmt.Errorf("there is no node %q", r[0])
		}
		c.aliases(r[0], r[1])
		return nil
	})
	c.ownTable("concepts.txt", 2, func(r []string) error {
		for _, id := range strings.Fields(r[1]) {
			if !c.b.Has(id) {
				return fmt.Errorf("there is no node %q", id)
			}
			c.alias(id, knowledge.ConceptName(r[0]), true)
		}
		return nil
	})
	c.ownTable("incidents.txt", 5, c.ownIncident)
	c.ownTable("links.txt", 3, func(r []string) error {
		c.derive(r[0], r[1], r[2])
		return nil
	})
}

func (c *collector) ownTable(name string, columns int, f func([]string) error) {
	data, err := ownTables.ReadFile("tables/" + name)
	if err != nil {
		c.fail(err)
		return
	}
	c.rows(name, string(data), columns, f)
}

// rows calls f for each row of a table whose columns are divided by bars.
func (c *collector) rows(name, text string, columns int, f func([]string) error) {
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		r := strings.Split(line, "|")
		for k := range r {
			r[k] = strings.TrimSpace(r[k])
		}
		err := errors.New("the wrong number of columns")
		if len(r) == columns {
			err = f(r)
		}
		if err != nil {
			c.fail(fmt.Errorf("own table %s, line %d: %w", name, i+1, err))
		}
	}
}

func (c *collector) aliases(id, list string) {
	for _, s := range strings.Split(list, ";") {
		if s = strings.TrimSpace(s); s != "" {
			c.alias(id, s, false)
		}
	}
}

// causes joins a thing to the hazards it can cause.
func (c *collector) causes(id, hazards string) error {
	for _, h := range strings.Fields(hazards) {
		if !c.b.Has("hazard:" + h) {
			return fmt.Errorf("there is no hazard %q", h)
		}
		c.edge(id, "can_cause", "hazard:"+h)
	}
	return nil
}

func (c *collector) ownHazard(r []string) error {
	id := c.once("hazard:"+r[0], "physical_hazard", knowledge.Safety, r[1])
	for _, k := range strings.Fields(r[2]) {
		c.edge(id, knowledge.RelControl, "control:"+k)
	}
	for _, code := range strings.Fields(r[3]) {
		if hazardWords[code] == "" {
			return fmt.Errorf("%q is not a hazard statement", code)
		}
		c.edge(c.hazard(code, ""), knowledge.RelClass, id)
	}
	return nil
}

func (c *collector) ownDevice(r []string) error {
	if r[3] != knowledge.KindDevice && r[3] != knowledge.KindRobot {
		return fmt.Errorf("kind %q: want device or robot", r[3])
	}
	id := c.once("class:"+r[0], r[3], knowledge.LabContext, r[1])
	c.aliases(id, r[2])
	return c.causes(id, r[4])
}

func (c *collector) ownLoad(r []string) error {
	id := c.once("load:"+r[0], knowledge.KindLoad, knowledge.Safety, r[1])
	c.aliases(id, r[2])
	for _, k := range strings.Fields(r[4]) {
		if !c.b.Has("control:" + k) {
			return fmt.Errorf("there is no control %q", k)
		}
		c.edge(id, knowledge.RelControl, "control:"+k)
	}
	return c.causes(id, r[3])
}

func (c *collector) ownModel(r []string) error {
	class := "class:" + r[2]
	if !c.b.Has(class) {
		return fmt.Errorf("there is no class %q", r[2])
	}
	kind := c.b.Kind(class)
	id := kind + ":" + slug(r[0])
	if first, _, _ := strings.Cut(r[1], ";"); kind == knowledge.KindRobot && first != "" {
		id = "robot:" + slug(first) // as the archives of descriptions call it
	}
	c.once(id, kind, knowledge.Safety, r[0])
	c.aliases(id, r[1])
	c.edge(id, knowledge.RelIsA, class)
	if r[5] == "" {
		return errors.New("want a reference")
	}
	for i, n := range []struct {
		name, unit string
		factor     float64
	}{{knowledge.NumPayload, "kg", 1}, {knowledge.NumReach, "m", millimetre}} {
		if s := r[3+i]; s != "" {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || v <= 0 {
				return fmt.Errorf("%s %q: want a number above 0", n.name, s)
			}
			c.number(id, n.name, n.unit, roundTo(v*n.factor, 6))
		}
	}
	return nil
}

func (c *collector) ownBioAgent(r []string) error {
	level, err := strconv.Atoi(r[2])
	if err != nil || level < 1 || level > 4 || r[3] == "" {
		return fmt.Errorf("biosafety level %q: want 1 to 4, and a reference", r[2])
	}
	id := c.once("agent:"+slug(r[0]), knowledge.KindBioAgent, knowledge.Safety, r[0])
	c.aliases(id, r[1])
	c.number(id, knowledge.NumBiosafety, "1", float64(level))
	c.edge(id, "handled_at", c.node("bsl:"+r[2], "biosafety_level", knowledge.Safety, "biosafety level "+r[2]))
	if level > 1 {
		c.edge(id, "can_cause", "hazard:infection")
	}
	if strings.Contains(r[3], "select agent") {
		c.edge(id, "can_cause", "hazard:dual-use")
	}
	return nil
}

// zeroCelsius is 0 °C in K.
const zeroCelsius = 273.15

// ownMaterial reads: CAS or own identifier, name, other names, formulae, traits, boils, flash and
// decomposes in °C, reference. The other names are loose ("azide") and serve
// the linker, not the graph.
func (c *collector) ownMaterial(r []string) error {
	id := r[0]
	switch {
	case isCAS(r[0]):
		id = c.chemical(r[0], r[1])
	case strings.HasPrefix(id, "own:"): // a state that has no number of its own: liquid nitrogen
		c.once(id, knowledge.KindChemical, knowledge.Safety, r[1])
	default:
		return fmt.Errorf("%q is neither a CAS number nor an identifier \"own:name\"", r[0])
	}
	for _, f := range strings.Split(r[3], ";") {
		c.alias(id, strings.TrimSpace(f), true)
	}
	for _, n := range strings.Split(r[2], ";") {
		if strings.Contains(n, "(") { // a systematic name: "copper(II) sulfate"
			c.alias(id, strings.TrimSpace(n), false)
		}
	}
	for _, t := range strings.Fields(r[4]) {
		c.edge(id, "has_trait", c.trait(t))
	}
	for k, name := range map[int]string{5: knowledge.NumBoiling, 6: knowledge.NumFlashPoint, 7: knowledge.NumDecomposition} {
		if r[k] == "" {
			continue
		}
		v, err := strconv.ParseFloat(r[k], 64)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.number(id, name, "K", roundTo(v+zeroCelsius, 5))
	}
	return nil
}

func (c *collector) trait(t string) string {
	return c.node("trait:"+strings.ReplaceAll(t, ":", "-"), "trait", knowledge.Safety, "trait "+traitName(t))
}

// traitName writes "acid:strong" as "acid (strong)".
func traitName(t string) string {
	if a, b, ok := strings.Cut(t, ":"); ok {
		return a + " (" + b + ")"
	}
	return t
}

// ownPair reads: trait, trait, level, level when dilute, gas, what, reference.
func (c *collector) ownPair(r []string) error {
	kind := map[string]string{"block": knowledge.KindIncompatible, "flag": knowledge.KindCaution}[r[2]]
	if kind == "" {
		if r[2] == "pass" {
			return nil // an exception among facts about plans, nothing to cite
		}
		return fmt.Errorf("level %q: want block, flag or pass", r[2])
	}
	a, b := c.trait(r[0]), c.trait(r[1])
	id := c.once("pair:"+strings.TrimPrefix(a, "trait:")+"+"+strings.TrimPrefix(b, "trait:"), kind, knowledge.Safety, r[0]+" with "+r[1]+": "+r[5])
	c.edge(id, knowledge.RelPair, a)
	c.edge(id, knowledge.RelPair, b)
	if g := gasName(r[4]); g != "" {
		c.edge(id, knowledge.RelEvolves, c.node("gas:"+slug(g), knowledge.KindGas, knowledge.Safety, g))
	}
	return nil
}

func (c *collector) ownIncident(r []string) error {
	if r[4] == "" {
		return errors.New("want a reference")
	}
	id := c.once("incident:"+r[0], knowledge.KindIncident, knowledge.PriorFailure, r[1])
	for _, to := range strings.Fields(r[2]) {
		c.edge(id, knowledge.RelInvolves, to)
	}
	return c.causes(id, r[3])
}

// lexicon returns the words of commands with the verbs they mean.
func lexicon() map[string]string {
	out := map[string]string{}
	data, err := ownTables.ReadFile("tables/verbs.txt")
	if err != nil {
		return out
	}
	for _, line := range strings.Split(string(data), "\n") {
		if r := strings.Split(line, "|"); len(r) == 3 && line[0] != '#' {
			for _, w := range strings.Fields(r[1]) {
				if _, there := out[w]; !there {
					out[w] = "verb:" + strings.TrimSpace(r[0])
				}
			}
		}
	}
	return out
}

// verbs joins a command to the verbs in its name.
func (c *collector) verbs(id, name string) {
	if c.lexicon == nil {
		c.lexicon = lexicon()
	}
	var seen []string
	for _, w := range words(name) {
		if v := c.lexicon[strings.ToLower(w)]; v != "" && !slices.Contains(seen, v) {
			seen = append(seen, v)
			c.derive(id, "has_verb", v)
		}
	}
}

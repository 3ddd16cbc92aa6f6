package derive

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// margin is how far below its boiling point a flammable solvent may be heated
// without a condenser, in K.
const margin = 10

// eachSentence calls f for each sentence of the plan's steps.
func eachSentence(s *fact.Set, f func(t *fact.Text, words []fact.Token)) {
	for i := range s.Texts {
		if s.Texts[i].Part != "" {
			continue
		}
		for _, words := range sentences(&s.Texts[i]) {
			f(&s.Texts[i], words)
		}
	}
}

// named yields the materials of our table that a sentence names.
func (d *Deriver) named(s *fact.Set, words []fact.Token, f func(m *material, w fact.Token)) {
	last := 0
	for _, w := range words {
		if w.Entity == 0 || w.Entity == last || w.Negated {
			continue
		}
		last = w.Entity
		if m := d.material(s.Entities[w.Entity-1].ID); m != nil {
			f(m, w)
		}
	}
}

// sealed finds cryogens shut in, and sealed vessels that are heated.
func (d *Deriver) sealed(s *fact.Set) {
	var shut *fact.Token
	var shutIn *fact.Text
	vented := false
	eachSentence(s, func(t *fact.Text, words []fact.Token) {
		vented = vented || says(words, "state:vented") || says(words, "act:vent")
		for k := range words {
			w := words[k]
			if w.Negated || w.Hedged || !(hasTag(w, "state:sealed") || hasTag(w, "act:seal")) {
				continue
			}
			if shut == nil && hasTag(w, "state:sealed") && lemma(words, "flask", "bottle", "vial", "capillary", "reactor", "ampoule", "vessel", "cap", "stopper", "jar", "cylinder", "flame") {
				shut, shutIn = &words[k], t
			}
			d.named(s, words, func(m *material, c fact.Token) {
				if !m.has("cryogen") || says(words, "state:vented") || c.Clause != w.Clause {
					return
				}
				d.hard(s, fact.Hard{
					Rule: RuleCryoSealed, Level: level(!spoken(words) && !apart(words)), Class: verdict.Safety, At: t.At(c),
					Statement: m.name + " in a closed vessel: it evaporates and bursts it [" + m.ref + "]",
					Path:      []string{m.id, "trait:cryogen", "hazard:overpressure", "control:vented-closure"}, Need: "leave the vessel vented",
				})
			})
		}
	})
	if shut == nil || vented {
		return
	}
	eachSentence(s, func(t *fact.Text, words []fact.Token) {
		if !says(words, "act:heat") && !d.heats(s, t.Step) {
			return
		}
		if t.Step < shutIn.Step {
			return
		}
		d.hard(s, fact.Hard{
			Rule: RuleSealedHeat, Level: verdict.Flag, Class: verdict.Safety, At: shutIn.At(*shut),
			Statement: fmt.Sprintf("something is sealed in step %d and heated in step %d", shutIn.Step, t.Step),
			Path:      []string{"hazard:overpressure", "control:pressure-relief"}, Need: "vent it, or state the pressure rating and the fill",
		})
	})
}

func level(certain bool) verdict.Level {
	if certain {
		return verdict.Block
	}
	return verdict.Flag
}

// heats reports whether a call of the step is of the hazard class heat.
func (d *Deriver) heats(s *fact.Set, step int) bool {
	return slices.ContainsFunc(s.Calls, func(c fact.Call) bool { return c.Step == step && c.Hazard == "heat" })
}

// heat holds the temperatures of the plan against what the materials named in
// the same step, or put into the vessel heated, can stand.
func (d *Deriver) heat(s *fact.Set) {
	present := map[string]*material{} // flammable or unstable, so far in the plan
	gone := false
	eachSentence(s, func(t *fact.Text, words []fact.Token) {
		gone = gone || lemma(words, "remove", "clear") && lemma(words, "solvent", "flammable")
		d.named(s, words, func(m *material, w fact.Token) {
			if (m.boils > 0 || m.decomposes > 0 || m.flash > 0 || m.ignites > 0 || m.has("flammable") || m.has("explosive")) && !m.has("water") && !m.has("gas") && !m.has("cryogen") && !m.has("mild") {
				present[m.id] = m
			}
		})
	})
	if gone || len(present) == 0 {
		return
	}
	guarded := planSays(s, "reflux") || planSays(s, "condenser")
	for _, q := range s.Quantities {
		if q.Kind != quantity.Temperature || q.Relative || !d.setsHeat(s, q) {
			continue
		}
		v, ok := q.Max()
		if !ok {
			continue
		}
		for _, m := range ordered(present) {
			d.tooHot(s, q, v, m, guarded)
		}
	}
}

// setsHeat reports whether the number is a temperature something is brought
// to: an argument of a heating call, or in a sentence that heats.
func (d *Deriver) setsHeat(s *fact.Set, q fact.Quantity) bool {
	if strings.HasPrefix(q.At.Part, "calls[") {
		return d.heats(s, q.At.Step)
	}
	if q.At.Part != "" || q.At.Step == 0 || q.Bound != 0 {
		return false
	}
	found := false
	eachSentence(s, func(t *fact.Text, words []fact.Token) {
		if t.Step != q.At.Step || len(words) == 0 || words[0].Start > q.Start || words[len(words)-1].End < q.Start {
			return
		}
		for _, w := range words {
			found = found || !w.Negated && !w.Hedged && (hasTag(w, "act:heat") || w.Lemma == "hotplate" || w.Lemma == "set")
		}
	})
	return found
}

func (d *Deriver) tooHot(s *fact.Set, q fact.Quantity, v float64, m *material, guarded bool) {
	tell := func(rule, what string, limit float64, why, hazard, control, need string) bool {
		return d.hard(s, fact.Hard{
			Rule: rule, Level: verdict.Flag, Class: verdict.Safety, At: q.At,
			Statement: fmt.Sprintf("%.0f °C with %s: %s %.0f °C [%s]", v-zeroCelsius, m.name, what, limit-zeroCelsius, m.ref),
			Path:      []string{m.id, why, hazard, control}, Need: need,
		})
	}
	const fire, sparks = "hazard:fire", "control:ignition-control"
	switch {
	case m.decomposes > 0 && v >= m.decomposes:
		_ = tell(RuleDecompose, "it decomposes from about", m.decomposes, m.id, "hazard:thermal-runaway", "control:over-temperature-cutout", "stay well below, or say why it is safe")
	case m.ignites > 0 && v >= m.ignites && (m.has("flammable") || m.has("flammable-gas") || m.flash > 0):
		_ = tell(RuleIgnites, "it ignites by itself from", m.ignites, m.id, fire, sparks, "stay well below, or keep air away and say so")
	case m.has("explosive") && v >= warmed:
		_ = tell(RuleExplosive, "heating may explode it, warmed above", warmed, m.node("explosive"), "hazard:explosion", "control:blast-shield", "do not heat it")
	case m.has("flammable") && m.boils > 0 && v > m.boils-margin && !guarded:
		_ = tell(RuleBoiling, "flammable, boils at", m.boils, m.node("flammable"), fire, sparks, "stay 10 K below the boiling point, or under reflux with running condenser")
	case m.flash > 298 && v >= m.flash && !guarded:
		_ = tell(RuleFlash, "its vapour ignites from", m.flash, m.node("flammable"), fire, sparks, "stay below the flash point, or keep ignition sources away and say so")
	case m.has("flammable") && m.boils == 0 && v >= classFlash && !guarded:
		_ = tell(RuleFlash, "classed flammable, so its vapour ignites below", classFlash, m.node("flammable"), fire, sparks, "stay below the flash point, or keep ignition sources away and say so")
	}
}

// Bounds that a classification stands for where no number is known: H224 to
// H226 are flash points up to 60 °C; explosives are not warmed above 40 °C.
const (
	classFlash = zeroCelsius + 60
	warmed     = zeroCelsius + 40
)

func ordered(m map[string]*material) []*material {
	var out []*material
	for _, v := range m {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b *material) int { return strings.Compare(a.id, b.id) })
	return out
}

func planSays(s *fact.Set, lemma string) bool {
	for i := range s.Texts {
		for _, w := range s.Texts[i].Words {
			if w.Lemma == lemma && !w.Negated {
				return true
			}
		}
	}
	return false
}

// controls finds materials that need extraction used where there is none.
func (d *Deriver) controls(s *fact.Set) {
	eachSentence(s, func(t *fact.Text, words []fact.Token) {
		if says(words, "place:contain") || !acting(words) {
			return
		}
		open := d.openPlace(s, words)
		if open == "" {
			return
		}
		for i := range words {
			m, ok := d.dose(s, t, words, i)
			if !ok || m.mat == nil || m.dilute || m.mat.has("mild") {
				continue
			}
			for _, trait := range openly {
				if m.mat.has(trait) && d.hard(s, fact.Hard{
					Rule: RuleHood, Level: verdict.Flag, Class: verdict.Safety, At: m.at,
					Statement: fmt.Sprintf("%s (%s) handled at %s, outside extraction [%s]", m.name, strings.Join(m.mat.traits, ", "), open, m.mat.ref),
					Path:      []string{m.id, m.mat.node(trait), "hazard:toxic-exposure", "control:fume-hood"}, Need: "do it in the hood",
				}) {
					break
				}
			}
		}
	})
}

// openly are the traits for which a material is handled under extraction.
var openly = []string{"volatile", "toxic", "corrosive", "cmr", "sensitiser"}

// openPlace names the open place of a sentence, "" if it names none.
func (d *Deriver) openPlace(s *fact.Set, words []fact.Token) string {
	for _, w := range words {
		if w.Negated {
			continue
		}
		if w.Entity > 0 && s.Entities[w.Entity-1].Kind == "zone" && d.openZone(s.Entities[w.Entity-1].Name) {
			return s.Entities[w.Entity-1].Name
		}
		if hasTag(w, "place:open") {
			return "the " + w.Text
		}
	}
	return ""
}

// openZone reads the zone's own rule.
func (d *Deriver) openZone(id string) bool {
	for _, z := range d.site.Zones {
		if z.ID == id {
			rule := strings.ToLower(z.Rule)
			return strings.Contains(rule, "no extraction") || strings.Contains(rule, "open bench") || strings.Contains(rule, "no biological") || strings.Contains(rule, "clean side")
		}
	}
	return false
}

// speciesKey is the genus' initial and the species: the public name of an agent
// and the site's short one meet in it.
func speciesKey(name string) string {
	words := strings.Fields(strings.ToLower(name))
	if len(words) < 2 {
		return strings.ToLower(name)
	}
	return words[0][:1] + " " + words[1]
}

// handling are acts that open what holds an agent.
var handling = []string{"act:mix", "act:transfer", "act:open", "act:incubate", "act:separate"}

// biosafety holds agents that need containment against where they are handled,
// and names agents the site does not list.
func (d *Deriver) biosafety(s *fact.Set) {
	levels := map[string]int{}
	for _, a := range d.site.Biological {
		for _, part := range strings.Split(a.Name, ",") {
			levels[strings.TrimSpace(part)] = a.BSL
		}
	}
	var species []string
	for name := range levels {
		species = append(species, speciesKey(name))
	}
	agents := []fact.Entity{}
	for _, e := range s.Entities {
		if e.Kind == "bioagent" && (e.At.Part == "" || e.At.Part == "goal") {
			if _, listed := levels[e.Name]; !listed && !slices.ContainsFunc(species, func(k string) bool { return k == speciesKey(e.Name) }) {
				d.hard(s, fact.Hard{
					Rule: RuleBiosafety, Level: verdict.Flag, Class: verdict.Safety, At: e.At,
					Statement: e.Name + " is not on the site's list of agents", Path: []string{e.ID}, Need: "an approval of the agent by the biosafety officer",
				})
				continue
			}
			if levels[e.Name] >= 2 {
				agents = append(agents, e)
			}
		}
	}
	if len(agents) == 0 {
		return
	}
	eachSentence(s, func(t *fact.Text, words []fact.Token) {
		if says(words, "place:contain") || !slices.ContainsFunc(handling, func(tag string) bool { return says(words, tag) }) {
			return
		}
		place := d.openPlace(s, words)
		if place == "" {
			return
		}
		a := agents[0]
		d.hard(s, fact.Hard{
			Rule: RuleBiosafety, Level: verdict.Flag, Class: verdict.Safety, At: t.At(words[0]),
			Statement: fmt.Sprintf("%s (level %d) opened at %s, outside a cabinet", a.Name, levels[a.Name], place),
			Path:      []string{a.ID, fmt.Sprintf("bsl:%d", levels[a.Name]), "control:biosafety-cabinet"}, Need: "handle it in a cabinet or the closed enclosure",
		})
	})
}

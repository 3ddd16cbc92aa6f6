package ingest

import (
	"strconv"
	"strings"

	"interlock/internal/knowledge"
)

type cweFile struct {
	ID, Name, Abstraction, Status, LikelihoodOfExploit string

	RelatedWeaknesses    []struct{ Nature, CweID string }
	ApplicablePlatforms  []struct{ Type, Name, Class string }
	ModesOfIntroduction  []struct{ Phase string }
	CommonConsequences   []struct{ Scope, Impact []string }
	DetectionMethods     []struct{ Method string }
	PotentialMitigations []struct {
		Strategy string
		Phase    []string
	}
	ObservedExamples      []struct{ Reference string }
	RelatedAttackPatterns []string
	FunctionalAreas       []string
	AffectedResources     []string
	TaxonomyMappings      []struct{ TaxonomyName, EntryID, EntryName string }
	Relationships         []struct{ CweID string }
	Members               []struct{ CweID string }
}

func cweID(number string) string { return "cwe:CWE-" + number }

// parseCWE reads the REST representation of weaknesses (W), categories (C) and
// views (V).
func parseCWE(c *collector, a *archive) {
	c.each(a, "json_repo/W/*.json", func(f file) error {
		var w cweFile
		if err := decodeJSON(f, &w); err != nil {
			return err
		}
		c.weakness(&w)
		return nil
	})
	group := func(kind string, members func(*cweFile) []struct{ CweID string }) func(file) error {
		return func(f file) error {
			var w cweFile
			if err := decodeJSON(f, &w); err != nil {
				return err
			}
			id := c.once(cweID(w.ID), kind, knowledge.Weakness, w.Name)
			for _, m := range members(&w) {
				c.edge(cweID(m.CweID), "member_of", id)
			}
			return nil
		}
	}
	c.each(a, "json_repo/C/*.json", group("weakness_category", func(w *cweFile) []struct{ CweID string } { return w.Relationships }))
	c.each(a, "json_repo/V/*.json", group("weakness_view", func(w *cweFile) []struct{ CweID string } { return w.Members }))
}

func (c *collector) weakness(w *cweFile) {
	id := c.once(cweID(w.ID), knowledge.KindWeakness, knowledge.Weakness, w.Name)
	c.alias(id, "CWE-"+w.ID, false)
	for _, r := range w.RelatedWeaknesses {
		if _, err := strconv.Atoi(r.CweID); err == nil && r.Nature != "" {
			c.edge(id, cweNature(r.Nature), cweID(r.CweID))
		}
	}
	for _, p := range w.ApplicablePlatforms {
		name := p.Name
		if name == "" {
			name = p.Class
		}
		if name != "" && !strings.HasPrefix(name, "Not ") {
			c.edge(id, "applies_to_platform", c.node("platform:"+slug(p.Type+" "+name), "platform", knowledge.Weakness, strings.ToLower(p.Type)+" "+name))
		}
	}
	for _, m := range w.ModesOfIntroduction {
		c.edge(id, "introduced_in", c.phase(m.Phase))
	}
	for _, q := range w.CommonConsequences {
		c.consequences(id, q.Scope, q.Impact)
	}
	for _, m := range w.DetectionMethods {
		c.edge(id, "detected_by", c.node("detection:"+slug(m.Method), "detection_method", knowledge.Weakness, m.Method))
	}
	for _, m := range w.PotentialMitigations {
		if m.Strategy != "" {
			c.edge(c.node("strategy:"+slug(m.Strategy), "mitigation_strategy", knowledge.Weakness, m.Strategy), knowledge.RelMitigates, id)
		}
		for _, p := range m.Phase {
			c.edge(id, "mitigated_in", c.phase(p))
		}
	}
	c.weaknessRefs(id, w)
}

func (c *collector) weaknessRefs(id string, w *cweFile) {
	for _, o := range w.ObservedExamples {
		if cve := cveRE.FindString(o.Reference); cve != "" {
			c.edge(c.cve(cve), knowledge.RelCausedBy, id)
		}
	}
	for _, p := range w.RelatedAttackPatterns {
		c.edge(id, "exploited_by", "capec:CAPEC-"+p)
	}
	for _, v := range w.FunctionalAreas {
		c.edge(id, "in_area", c.node("area:"+slug(v), "functional_area", knowledge.Weakness, v))
	}
	for _, v := range w.AffectedResources {
		c.edge(id, "affects_resource", c.node("resource:"+slug(v), "resource", knowledge.Weakness, v))
	}
	for _, m := range w.TaxonomyMappings {
		if m.TaxonomyName == "" || m.EntryID+m.EntryName == "" {
			continue
		}
		entry := c.node("taxonomy:"+slug(m.TaxonomyName+" "+m.EntryID+" "+m.EntryName), "taxonomy_entry", knowledge.Weakness,
			m.TaxonomyName+" "+strings.TrimSpace(m.EntryID+" "+m.EntryName))
		c.edge(id, "maps_to", entry)
		c.edge(entry, knowledge.RelPartOf, c.node("taxonomy:"+slug(m.TaxonomyName), "taxonomy", knowledge.Weakness, m.TaxonomyName))
	}
}

func cweNature(n string) string {
	switch n {
	case "ChildOf":
		return knowledge.RelIsA
	case "CanPrecede":
		return "can_precede"
	case "PeerOf", "CanAlsoBe":
		return knowledge.RelRelated
	}
	return strings.ToLower(n)
}

func (c *collector) phase(name string) string {
	return c.node("phase:"+slug(name), "phase", knowledge.Weakness, name)
}

func (c *collector) consequences(id string, scopes, impacts []string) {
	for _, s := range scopes {
		c.edge(id, "violates", c.node("scope:"+slug(s), "scope", knowledge.Weakness, s))
	}
	for _, s := range impacts {
		s, _, _ = strings.Cut(s, " (")
		c.edge(id, "has_impact", c.node("impact:"+slug(s), "impact", knowledge.Weakness, s))
	}
}

// cve adds a vulnerability by its number, which is its name.
func (c *collector) cve(id string) string {
	return c.node("cve:"+id, "vulnerability", knowledge.PriorFailure, id)
}

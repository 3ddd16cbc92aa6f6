package ingest

import (
	"slices"
	"strings"

	"interlock/internal/knowledge"
)

type atlasObject struct {
	ID       string   `yaml:"id"`
	Name     string   `yaml:"name"`
	Tactics  []string `yaml:"tactics"`
	Parent   string   `yaml:"subtechnique-of"`
	Lifecyle []any    `yaml:"ml-lifecycle"` // names of phases; one version lists a technique here
	Category []string `yaml:"category"`
	Targets  []struct {
		ID string `yaml:"id"`
	} `yaml:"techniques"`
	Attack struct {
		ID string `yaml:"id"`
	} `yaml:"ATT&CK-reference"`
	Procedure []struct {
		Tactic    string `yaml:"tactic"`
		Technique string `yaml:"technique"`
	} `yaml:"procedure"`
	Target string `yaml:"target"`
	Actor  string `yaml:"actor"`
}

func atlasID(id string) string { return "atlas:" + id }

// parseATLAS reads the distribution file of MITRE ATLAS.
func parseATLAS(c *collector, a *archive) {
	c.each(a, "dist/ATLAS.yaml", func(f file) error {
		var d struct {
			Matrices []struct {
				Tactics     []atlasObject `yaml:"tactics"`
				Techniques  []atlasObject `yaml:"techniques"`
				Mitigations []atlasObject `yaml:"mitigations"`
			} `yaml:"matrices"`
			CaseStudies []atlasObject `yaml:"case-studies"`
		}
		if err := decodeYAML(f, &d); err != nil {
			return err
		}
		for _, m := range d.Matrices {
			c.atlasList("tactic", m.Tactics)
			c.atlasList(knowledge.KindTechnique, m.Techniques)
			c.atlasList("mitigation", m.Mitigations)
		}
		for _, o := range d.CaseStudies {
			c.caseStudy(&o)
		}
		return nil
	})
}

func (c *collector) atlasList(kind string, list []atlasObject) {
	for _, o := range list {
		id := c.once(atlasID(o.ID), kind, knowledge.Adversary, o.Name)
		c.alias(id, o.ID, false)
		if o.Attack.ID != "" {
			c.edge(id, knowledge.RelSameAs, "attack:"+o.Attack.ID)
		}
		for _, t := range o.Tactics {
			c.edge(id, "achieves", atlasID(t))
		}
		if o.Parent != "" {
			c.edge(id, knowledge.RelIsA, atlasID(o.Parent))
		}
		for _, t := range o.Targets {
			c.edge(id, knowledge.RelMitigates, atlasID(t.ID))
		}
		for _, p := range o.Lifecyle {
			switch p := p.(type) {
			case string:
				c.edge(id, "in_lifecycle", c.node("lifecycle:"+slug(p), "lifecycle_phase", knowledge.Adversary, p))
			case map[string]any:
				c.edge(id, knowledge.RelMitigates, atlasID(text(p["id"])))
			}
		}
		for _, p := range o.Category {
			c.edge(id, knowledge.RelIsA, c.node("mitigation-kind:"+slug(p), "mitigation_kind", knowledge.Adversary, p))
		}
	}
}

func (c *collector) caseStudy(o *atlasObject) {
	id := c.once(atlasID(o.ID), knowledge.KindIncident, knowledge.PriorFailure, o.Name)
	for _, p := range o.Procedure {
		c.edge(id, knowledge.RelInvolves, atlasID(p.Technique))
		c.edge(id, "reached", atlasID(p.Tactic))
	}
	list := func(s, prefix, kind, rel string) {
		parts := strings.Split(s, ",")
		for _, t := range parts[:min(len(parts), 6)] {
			if t = strings.TrimSpace(t); t != "" && !slices.Contains([]string{"Unknown", "N/A"}, t) {
				c.edge(id, rel, c.node(prefix+slug(t), kind, knowledge.PriorFailure, t))
			}
		}
	}
	list(o.Target, "target:", "target", "targeted")
	list(o.Actor, "actor:", "actor", "performed_by")
}

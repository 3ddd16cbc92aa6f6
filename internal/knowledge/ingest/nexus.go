package ingest

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/knowledge"
)

// nexusKinds are the lists of the IBM AI Atlas Nexus that are taken. Models,
// datasets, licences and evaluation results say nothing about plans, and its
// controls and rules are sentences.
var nexusKinds = map[string]string{
	"entries": "ai_risk", "risks": "ai_risk", "groups": "ai_risk_group", "actions": "ai_risk_action",
	"taxonomies": "ai_risk_taxonomy", "riskincidents": knowledge.KindIncident,
}

// nexusRels are the fields that relate one entry to others.
var nexusRels = map[string]string{
	"isDefinedByTaxonomy": "defined_by", "isPartOf": knowledge.RelPartOf, "hasRelatedRisk": knowledge.RelRelated,
	"hasRelatedAction": "has_action", "refersToRisk": knowledge.RelInvolves, "isCategorizedAs": knowledge.RelIsA,
	"related_mappings": knowledge.RelRelated, "close_mappings": knowledge.RelRelated, "exact_mappings": knowledge.RelSameAs,
	"broad_mappings": knowledge.RelIsA, "narrow_mappings": "has_narrower", "hasPart": "has_part", "belongsToDomain": knowledge.RelPartOf,
	"requiresCapability": "requires",
}

var nexusSkip = []string{
	"ibm_granite_3_instruct_data", "ibm_granite_4_1_models_data", "ibm_granite_guardian_models", "shieldgemma_models",
	"hf_ml_tasks", "datasets", "ai_eval_data", "ai_commons_data",
}

func parseNexus(c *collector, a *archive) {
	base := "src/ai_atlas_nexus/data/knowledge_graph/"
	var all []map[string]any
	read := func(f file) (map[string][]map[string]any, error) {
		var d map[string]any
		if err := decodeYAML(f, &d); err != nil {
			return nil, err
		}
		out := map[string][]map[string]any{}
		for _, key := range sortedKeys(d) {
			list, _ := d[key].([]any)
			for i, x := range list {
				o, ok := x.(map[string]any)
				if !ok {
					return nil, fmt.Errorf("%s[%d]: want a map with id and name", key, i)
				}
				out[key] = append(out[key], o)
			}
		}
		return out, nil
	}
	c.each(a, base+"*.yaml", func(f file) error {
		if slices.Contains(nexusSkip, f.stem()) {
			return nil
		}
		lists, err := read(f)
		if err != nil {
			return err
		}
		for _, key := range sortedKeys(lists) {
			kind, ok := nexusKinds[key]
			for _, o := range lists[key] {
				if id := text(o["id"]); ok && id != "" {
					c.nexusEntry(id, kind, text(o["name"]))
					all = append(all, o)
				}
			}
		}
		return nil
	})
	c.each(a, base+"mappings/*.yaml", func(f file) error {
		lists, err := read(f)
		for _, key := range sortedKeys(lists) {
			all = append(all, lists[key]...)
		}
		return err
	})
	for _, o := range all {
		c.nexusRelations(o)
	}
}

func (c *collector) nexusEntry(id, kind, name string) {
	cat := knowledge.Adversary
	if kind == knowledge.KindIncident {
		cat = knowledge.PriorFailure
	}
	if name == "" {
		name = spaced(id)
	}
	c.node("airisk:"+id, kind, cat, name)
}

func (c *collector) nexusRelations(o map[string]any) {
	id := "airisk:" + text(o["id"])
	if !c.b.Has(id) {
		return
	}
	for _, field := range sortedKeys(o) {
		values, isList := o[field].([]any)
		if !isList {
			values = []any{o[field]}
		}
		for _, v := range values {
			to := text(v)
			switch rel := nexusRels[field]; {
			case field == "hasAiActorTask":
				c.edge(id, "done_by", c.node("role:"+slug(to), "role", knowledge.LabContext, to))
			case rel != "" && c.b.Has("airisk:"+to):
				c.edge(id, rel, "airisk:"+to)
			}
		}
	}
	// Entries that repeat OWASP's lists are the same thing under OWASP's number.
	for _, list := range []string{"llm", "asi"} {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(id, "airisk:"), list)
		if ok && len(rest) >= 2 && rest[0] <= '1' && rest[0] >= '0' {
			c.derive(id, knowledge.RelSameAs, "owasp:"+strings.ToUpper(list)+rest[:2])
		}
	}
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case uint64, int64, int:
		return fmt.Sprint(v)
	}
	return ""
}

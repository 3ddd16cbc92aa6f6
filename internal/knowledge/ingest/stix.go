package ingest

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/knowledge"
)

// A stixObject has the fields of STIX 2 that ATT&CK and CAPEC use.
type stixObject struct {
	Type             string   `json:"type"`
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Revoked          bool     `json:"revoked"`
	Deprecated       bool     `json:"x_mitre_deprecated"`
	ShortName        string   `json:"x_mitre_shortname"`
	Platforms        []string `json:"x_mitre_platforms"`
	Aliases          []string `json:"aliases"`
	RelationshipType string   `json:"relationship_type"`
	SourceRef        string   `json:"source_ref"`
	TargetRef        string   `json:"target_ref"`
	KillChain        []struct {
		Phase string `json:"phase_name"`
	} `json:"kill_chain_phases"`
	References []struct {
		Source      string `json:"source_name"`
		ExternalID  string `json:"external_id"`
		Description string `json:"description"`
	} `json:"external_references"`

	CAPECStatus       string              `json:"x_capec_status"`
	CAPECChildOf      []string            `json:"x_capec_child_of_refs"`
	CAPECCanPrecede   []string            `json:"x_capec_can_precede_refs"`
	CAPECPeerOf       []string            `json:"x_capec_peer_of_refs"`
	CAPECConsequences map[string][]string `json:"x_capec_consequences"`
	CAPECDomains      []string            `json:"x_capec_domains"`
	CAPECSkills       map[string]string   `json:"x_capec_skills_required"`
}

func (o *stixObject) external(sources ...string) string {
	for _, r := range o.References {
		if slices.Contains(sources, r.Source) && r.ExternalID != "" {
			return r.ExternalID
		}
	}
	return ""
}

func (c *collector) stix(a *archive, pattern string) []stixObject {
	var all []stixObject
	seen := map[string]bool{}
	c.each(a, pattern, func(f file) error {
		var bundle struct {
			Objects []stixObject `json:"objects"`
		}
		if err := decodeJSON(f, &bundle); err != nil {
			return err
		}
		for _, o := range bundle.Objects {
			if seen[o.ID] {
				return fmt.Errorf("object %s is there twice", o.ID)
			}
			seen[o.ID] = true
			all = append(all, o)
		}
		return nil
	})
	return all
}

var attackKinds = map[string]struct {
	kind string
	cat  knowledge.Category
}{
	"attack-pattern":   {knowledge.KindTechnique, knowledge.Adversary},
	"course-of-action": {"mitigation", knowledge.Adversary},
	"x-mitre-tactic":   {"tactic", knowledge.Adversary},
	"malware":          {"software", knowledge.Adversary},
	"tool":             {"software", knowledge.Adversary},
	"campaign":         {"campaign", knowledge.PriorFailure},
	"x-mitre-asset":    {"asset", knowledge.LabContext},
}

func parseAttackICS(c *collector, a *archive) {
	c.attack(c.stix(a, "ics-attack/ics-attack.json"))
}

// parseAttackEnterprise takes techniques, tactics, mitigations, software and
// campaigns. Of the relations "uses" only those of campaigns are kept: what
// every malware uses would outweigh the rest of the graph.
func parseAttackEnterprise(c *collector, a *archive) {
	var all []stixObject
	for _, kind := range []string{"attack-pattern", "course-of-action", "x-mitre-tactic", "campaign", "relationship"} {
		all = append(all, c.stix(a, "enterprise-attack/"+kind+"/*.json")...)
	}
	c.attack(all)
}

func (c *collector) attack(objects []stixObject) {
	ids := map[string]string{}
	tactics := map[string]string{}
	for _, o := range objects {
		k, ok := attackKinds[o.Type]
		eid := o.external("mitre-attack", "mitre-ics-attack")
		if !ok || eid == "" || o.Revoked || o.Deprecated {
			continue
		}
		id := c.node("attack:"+eid, k.kind, k.cat, o.Name)
		ids[o.ID] = id
		if o.Type == "x-mitre-tactic" {
			tactics[o.ShortName] = id
		}
	}
	for _, o := range objects {
		id, ok := ids[o.ID]
		if !ok {
			c.attackRelation(&o, ids)
			continue
		}
		for _, k := range o.KillChain {
			if t := tactics[k.Phase]; t != "" {
				c.edge(id, "achieves", t)
			}
		}
		for _, p := range o.Platforms {
			if o.Type == "attack-pattern" && p != "None" {
				c.edge(id, "targets_platform", c.node("platform:"+slug(p), "platform", knowledge.LabContext, p))
			}
		}
		for _, r := range o.References {
			if r.Source == "capec" {
				c.edge("capec:"+r.ExternalID, "maps_to", id)
			}
		}
	}
}

func (c *collector) attackRelation(o *stixObject, ids map[string]string) {
	from, to := ids[o.SourceRef], ids[o.TargetRef]
	if o.Type != "relationship" || o.Revoked || o.Deprecated || from == "" || to == "" {
		return
	}
	rel := map[string]string{
		"mitigates": knowledge.RelMitigates, "subtechnique-of": knowledge.RelIsA, "uses": "uses", "targets": "targets",
		"attributed-to": "attributed_to", "detects": "detects",
	}[o.RelationshipType]
	if rel != "" {
		c.edge(from, rel, to)
	}
}

func parseCAPEC(c *collector, a *archive) {
	objects := c.stix(a, "capec/2.1/attack-pattern/*.json")
	ids := map[string]string{}
	for _, o := range objects {
		if eid := o.external("capec"); eid != "" && o.CAPECStatus != "Deprecated" && !o.Revoked {
			id := c.once("capec:"+eid, "attack_pattern", knowledge.Adversary, o.Name)
			c.alias(id, eid, false)
			ids[o.ID] = id
		}
	}
	for _, o := range objects {
		if id := ids[o.ID]; id != "" {
			c.capecPattern(id, &o, ids)
		}
	}
}

func (c *collector) capecPattern(id string, o *stixObject, ids map[string]string) {
	for _, r := range o.References {
		switch r.Source {
		case "cwe":
			if cweRE.FindString(r.ExternalID) == r.ExternalID {
				c.edge(id, "exploits", "cwe:"+r.ExternalID)
			}
		case "ATTACK":
			c.edge(id, "maps_to", "attack:"+r.ExternalID)
		case "WASC", "OWASP Attacks":
			name := strings.TrimSpace(r.Source + " " + r.ExternalID + " " + r.Description)
			c.edge(id, "maps_to", c.node("taxonomy:"+slug(name), "taxonomy_entry", knowledge.Adversary, name))
		}
	}
	for _, rel := range []string{knowledge.RelIsA, "can_precede", knowledge.RelRelated} {
		refs := map[string][]string{knowledge.RelIsA: o.CAPECChildOf, "can_precede": o.CAPECCanPrecede, knowledge.RelRelated: o.CAPECPeerOf}[rel]
		for _, r := range refs {
			if to := ids[r]; to != "" {
				c.edge(id, rel, to)
			}
		}
	}
	for _, scope := range sortedKeys(o.CAPECConsequences) {
		c.consequences(id, []string{scope}, o.CAPECConsequences[scope])
	}
	for _, d := range o.CAPECDomains {
		c.edge(id, "in_domain", c.node("domain:"+slug(d), "attack_domain", knowledge.Adversary, d))
	}
	for _, s := range sortedKeys(o.CAPECSkills) {
		c.edge(id, "needs_skill", c.node("skill:"+slug(s), "attacker_skill", knowledge.Adversary, "attacker skill "+s))
	}
}

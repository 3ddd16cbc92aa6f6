package ingest

import (
	"regexp"
	"strings"

	"interlock/internal/knowledge"
)

type oscalControl struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Links []struct {
		Rel  string `json:"rel"`
		Href string `json:"href"`
	} `json:"links"`
	Controls []oscalControl `json:"controls"`
}

var nistRE = regexp.MustCompile(`^[a-z]{2}-\d+(\.\d+)?$`)

func nistID(id string) string { return "nist:" + strings.ToUpper(id) }

// parseOSCAL reads the catalogue of NIST SP 800-53.
func parseOSCAL(c *collector, a *archive) {
	c.each(a, "nist.gov/SP800-53/rev5/json/*catalog*.json", func(f file) error {
		var d struct {
			Catalog struct {
				Groups []struct {
					ID       string         `json:"id"`
					Title    string         `json:"title"`
					Controls []oscalControl `json:"controls"`
				} `json:"groups"`
			} `json:"catalog"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		for _, g := range d.Catalog.Groups {
			id := c.node(nistID(g.ID), "control_family", knowledge.Weakness, g.Title)
			for _, k := range g.Controls {
				c.oscal(&k, id)
			}
		}
		return nil
	})
}

func (c *collector) oscal(k *oscalControl, parent string) {
	id := c.node(nistID(k.ID), "security_control", knowledge.Weakness, k.Title)
	c.edge(id, knowledge.RelPartOf, parent)
	for _, l := range k.Links {
		href, inside := strings.CutPrefix(l.Href, "#")
		if !inside || !nistRE.MatchString(href) {
			continue
		}
		switch l.Rel {
		case "related":
			c.edge(id, knowledge.RelRelated, nistID(href))
		case "required":
			c.edge(id, "requires", nistID(href))
		}
	}
	for _, s := range k.Controls {
		c.oscal(&s, id)
	}
}

var zeroRE = regexp.MustCompile(`([-(])0+(\d)`)

// parseCTID reads the mappings of controls, known exploited vulnerabilities
// and VERIS actions to ATT&CK techniques.
func parseCTID(c *collector, a *archive) {
	c.each(a, "**/*.json", func(f file) error {
		var d struct {
			Metadata struct {
				Framework string `json:"mapping_framework"`
			} `json:"metadata"`
			Objects []struct {
				Capability string `json:"capability_id"`
				Type       string `json:"mapping_type"`
				Technique  string `json:"attack_object_id"`
				Status     string `json:"status"`
			} `json:"mapping_objects"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		for _, m := range d.Objects {
			if m.Capability == "" || m.Technique == "" || m.Status == "non_mappable" {
				continue
			}
			to := "attack:" + m.Technique
			switch d.Metadata.Framework {
			case "nist_800_53":
				id := zeroRE.ReplaceAllString(m.Capability, "$1$2")
				c.edge(nistID(strings.NewReplacer("(", ".", ")", "").Replace(id)), knowledge.RelMitigates, to)
			case "kev":
				c.edge(c.cve(m.Capability), "enables", to)
			case "veris":
				id := c.node("veris:"+slug(m.Capability), "action", knowledge.Adversary, m.Capability)
				c.edge(id, "maps_to", to)
			}
		}
		return nil
	})
}

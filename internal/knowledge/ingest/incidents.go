package ingest

import (
	"errors"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"interlock/internal/knowledge"
)

func (c *collector) vendor(name string) string {
	return c.node("vendor:"+slug(name), "vendor", knowledge.LabContext, name)
}

type avidFile struct {
	Metadata struct {
		VulnID   string `json:"vuln_id"`
		ReportID string `json:"report_id"`
	} `json:"metadata"`
	Affects struct {
		Developer []string `json:"developer"`
		Artifacts []struct {
			Name string `json:"name"`
		} `json:"artifacts"`
	} `json:"affects"`
	Problem struct {
		Class       string `json:"classof"`
		Description struct {
			Value string `json:"value"`
		} `json:"description"`
	} `json:"problemtype"`
	Impact struct {
		AVID struct {
			Domain []string `json:"risk_domain"`
			SEP    []string `json:"sep_view"`
		} `json:"avid"`
		CVSS jsontext.Value `json:"cvss"`
		Odin struct {
			Jailbreaks []struct{ Technique, Strategy, Category string } `json:"JailbreakTaxonomy"`
		} `json:"odin"`
	} `json:"impact"`
	Reports []struct {
		ID string `json:"report_id"`
	} `json:"reports"`
}

// parseAVID reads vulnerabilities and reports of the AI Vulnerability Database.
func parseAVID(c *collector, a *archive) {
	c.each(a, "**/*.json", func(f file) error {
		var d avidFile
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		own := d.Metadata.VulnID
		if own == "" {
			own = d.Metadata.ReportID
		}
		if own == "" {
			return errors.New("neither vuln_id nor report_id")
		}
		name := d.Problem.Description.Value
		if name == "" {
			name = own
		}
		id := c.once("avid:"+own, knowledge.KindIncident, knowledge.PriorFailure, short(name, 80))
		c.avid(id, &d)
		raw := string(f.data)
		for _, x := range unique(cveRE, raw) {
			c.edge(id, "reports", c.cve(x))
		}
		for _, x := range unique(cweRE, raw) {
			c.edge(id, knowledge.RelCausedBy, "cwe:"+x)
		}
		for _, x := range unique(atlasRE, raw) {
			c.edge(id, knowledge.RelInvolves, atlasID(x))
		}
		return nil
	})
}

func (c *collector) avid(id string, d *avidFile) {
	if d.Problem.Class != "" {
		c.edge(id, knowledge.RelIsA, c.node("avid-class:"+slug(d.Problem.Class), "incident_class", knowledge.PriorFailure, d.Problem.Class))
	}
	for _, v := range d.Affects.Developer {
		if v != "" {
			c.edge(id, knowledge.RelAffects, c.vendor(v))
		}
	}
	for _, v := range d.Affects.Artifacts[:min(10, len(d.Affects.Artifacts))] {
		if v.Name != "" {
			c.edge(id, knowledge.RelAffects, c.node("ai:"+slug(v.Name), "ai_system", knowledge.LabContext, short(v.Name, 80)))
		}
	}
	for _, v := range append(d.Impact.AVID.Domain, d.Impact.AVID.SEP...) {
		c.edge(id, "in_domain", c.node("avid-domain:"+slug(v), "incident_domain", knowledge.PriorFailure, v))
	}
	for _, j := range d.Impact.Odin.Jailbreaks {
		t := c.node("jailbreak:"+slug(j.Technique), "jailbreak", knowledge.Adversary, j.Technique)
		s := c.node("jailbreak-strategy:"+slug(j.Strategy), "jailbreak_strategy", knowledge.Adversary, j.Strategy)
		c.edge(id, knowledge.RelInvolves, t)
		c.edge(t, knowledge.RelPartOf, s)
		c.edge(s, knowledge.RelPartOf, c.node("jailbreak-category:"+slug(j.Category), "jailbreak_category", knowledge.Adversary, j.Category))
	}
	for _, r := range d.Reports {
		if r.ID != "" {
			c.edge(id, "has_report", "avid:"+r.ID)
		}
	}
}

// otVendors are the makers whose advisories are taken: those of robots, their
// controllers, laboratory and medical devices, and the middleware under them.
var otVendors = regexp.MustCompile(`^(?:universal-robots|kuka|abb|fanuc|yaskawa|omron|mitsubishi|rockwell|siemens|schneider|beckhoff|wago|phoenix-contact|moxa|b-r\b|becton|illumina|philips|ge-healthcare|medtronic|festo|keyence|delta-electronics|emerson|automation-?direct|codesys|3s-smart|advantech|ptc|inductive|rti|eprosima|adlink|ros\b|ifm|sick|pilz|bosch|hamilton|thermo|beckman|agilent|roche|keysight|national-instruments|ni\b|tecan|opentrons|lantronix|weintek|jtekt|fuji|panasonic|hitachi|honeywell|yokogawa|mobile-industrial|alias|clearpath|softbank|unitree)`)

type csafBranch struct {
	Category string       `json:"category"`
	Name     string       `json:"name"`
	Branches []csafBranch `json:"branches"`
}

type csafFile struct {
	Document struct {
		Title    string `json:"title"`
		Tracking struct {
			ID string `json:"id"`
		} `json:"tracking"`
		Notes []struct {
			Title string `json:"title"`
			Text  string `json:"text"`
		} `json:"notes"`
	} `json:"document"`
	ProductTree struct {
		Branches []csafBranch `json:"branches"`
	} `json:"product_tree"`
	Vulnerabilities []struct {
		CVE string `json:"cve"`
		CWE struct {
			ID string `json:"id"`
		} `json:"cwe"`
		Scores []struct {
			V3 struct {
				Base   float64 `json:"baseScore"`
				Vector string  `json:"attackVector"`
			} `json:"cvss_v3"`
		} `json:"scores"`
	} `json:"vulnerabilities"`
}

// parseCSAF reads advisories on operational technology.
func parseCSAF(c *collector, a *archive) {
	c.each(a, "csaf_files/OT/white/*/*.json", func(f file) error {
		var d csafFile
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		own := d.Document.Tracking.ID
		if own == "" {
			return errors.New("no document.tracking.id")
		}
		vendors := map[string]string{}
		for _, b := range d.ProductTree.Branches {
			csafVendors(b, vendors)
		}
		if len(vendors) == 0 {
			return nil
		}
		id := c.once("ics:"+own, "advisory", knowledge.PriorFailure, d.Document.Title)
		c.alias(id, own, false)
		for _, slug := range sortedKeys(vendors) {
			c.edge(id, knowledge.RelAffects, c.vendor(vendors[slug]))
		}
		c.csaf(id, &d)
		return nil
	})
}

func csafVendors(b csafBranch, into map[string]string) {
	if b.Category == "vendor" && otVendors.MatchString(slug(b.Name)) {
		into[slug(b.Name)] = b.Name
	}
	for _, x := range b.Branches {
		csafVendors(x, into)
	}
}

func (c *collector) csaf(id string, d *csafFile) {
	for _, n := range d.Document.Notes {
		if n.Title != "Critical infrastructure sectors" {
			continue
		}
		for _, s := range strings.FieldsFunc(strings.ReplaceAll(n.Text, " and ", ","), func(r rune) bool { return r == ',' || r == ';' }) {
			if s = strings.Trim(s, " ."); len(s) > 3 && len(s) < 45 {
				c.edge(id, "affects_sector", c.node("sector:"+slug(s), "sector", knowledge.LabContext, s))
			}
		}
	}
	for _, v := range d.Vulnerabilities {
		if cveRE.FindString(v.CVE) != v.CVE || v.CVE == "" {
			continue
		}
		cve := c.cve(v.CVE)
		c.edge(id, "reports", cve)
		if v.CWE.ID != "" {
			c.edge(cve, knowledge.RelCausedBy, "cwe:"+v.CWE.ID)
		}
		if len(v.Scores) == 0 {
			continue
		}
		if s := v.Scores[0].V3; s.Base > 0 && s.Base <= 10 {
			c.score(cve, s.Base)
			if s.Vector != "" {
				c.edge(cve, "reachable_by", c.node("vector:"+slug(s.Vector), "attack_vector", knowledge.Adversary, "attack vector "+strings.ToLower(s.Vector)))
			}
		}
	}
}

// score notes a CVSS base score; of two that differ the first stays.
func (c *collector) score(id string, base float64) {
	if !c.b.HasNumber(id, knowledge.NumCVSS) {
		c.number(id, knowledge.NumCVSS, "1", base)
	}
}

// parseKEV reads the catalogue of vulnerabilities known to be exploited. Only
// those that another source relates to something here survive.
func parseKEV(c *collector, a *archive) {
	c.each(a, "known_exploited_vulnerabilities.json", func(f file) error {
		var d struct {
			Vulnerabilities []struct {
				ID      string   `json:"cveID"`
				Name    string   `json:"vulnerabilityName"`
				CWEs    []string `json:"cwes"`
				Vendor  string   `json:"vendorProject"`
				Product string   `json:"product"`
			} `json:"vulnerabilities"`
		}
		if err := decodeJSON(f, &d); err != nil {
			return err
		}
		list := c.node("kev:list", "catalogue", knowledge.PriorFailure, "CISA Known Exploited Vulnerabilities")
		for _, v := range d.Vulnerabilities {
			if !c.b.Has("cve:" + v.ID) {
				continue
			}
			c.alias("cve:"+v.ID, v.Name, false)
			c.edge("cve:"+v.ID, "listed_in", list)
			for _, w := range v.CWEs {
				c.edge("cve:"+v.ID, knowledge.RelCausedBy, "cwe:"+w)
			}
		}
		return nil
	})
}

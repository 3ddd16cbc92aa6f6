package ingest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"interlock/internal/knowledge"
)

func casID(cas string) string { return "cas:" + cas }

// chemical adds a substance by its CAS number.
func (c *collector) chemical(cas, name string) string {
	id := c.node(casID(cas), knowledge.KindChemical, knowledge.Safety, name)
	c.alias(id, cas, true)
	c.alias(id, name, false)
	return id
}

var (
	hazardRE    = regexp.MustCompile(`\b(EUH\d{3}|H\d{3})([A-Za-z]*)`)
	pictogramRE = regexp.MustCompile(`GHS\d\d`)
	starRE      = regexp.MustCompile(`[\s*]+$`)
	concRE      = regexp.MustCompile(`\s*(\.{3}|…)\s*%?`)
)

var pictograms = map[string]string{
	"GHS01": "exploding bomb", "GHS02": "flame", "GHS03": "flame over circle", "GHS04": "gas cylinder", "GHS05": "corrosion",
	"GHS06": "skull and crossbones", "GHS07": "exclamation mark", "GHS08": "health hazard", "GHS09": "environment",
}

// parseCLP reads the table of Annex VI to Regulation (EC) 1272/2008: for each
// entry its names, CAS numbers, hazard classes, statements and pictograms.
func parseCLP(c *collector, a *archive) {
	c.each(a, "backend/data/annex_vi_clp_table_*.xlsx", func(f file) error {
		rows, err := readXLSX(f.data)
		if err != nil {
			return err
		}
		header := -1
		for i, r := range rows {
			if len(r) > 10 && strings.TrimSpace(r[0]) == "Index No" {
				header = i
				break
			}
		}
		if header < 0 {
			return errors.New("no header row that begins with \"Index No\"")
		}
		seen := map[string]bool{}
		for i, r := range rows[header+1:] {
			for len(r) < 12 {
				r = append(r, "")
			}
			if r[0] == "" || r[3] == "" {
				continue
			}
			if seen[r[0]] {
				return fmt.Errorf("row %d: index number %s is there twice", header+i+2, r[0])
			}
			seen[r[0]] = true
			c.clpEntry(r)
		}
		return nil
	})
}

// clpEntry reads columns: index, ATP, CELEX, name, EC, CAS, classes, hazard
// statements, pictograms, label statements, supplements.
func (c *collector) clpEntry(r []string) {
	names := strings.Split(r[3], ";")
	for i := range names {
		names[i] = strings.TrimSpace(concRE.ReplaceAllString(knowledge.CleanText(names[i]), ""))
	}
	var ids []string
	for _, cas := range unique(casRE, r[5]) {
		if isCAS(cas) && len(ids) < 4 {
			id := c.chemical(cas, names[0])
			ids = append(ids, id)
			for _, n := range names[1:min(4, len(names))] {
				if len(n) <= 40 && !strings.HasPrefix(n, "[") {
					c.alias(id, n, false)
				}
			}
		}
	}
	if len(ids) == 0 { // a group entry: known by its index number
		ids = append(ids, c.node("clp:"+r[0], "substance_group", knowledge.Safety, names[0]))
	}
	for _, id := range ids {
		for _, m := range hazardRE.FindAllStringSubmatch(r[7]+"\n"+r[9]+"\n"+r[10], -1) {
			c.edge(id, knowledge.RelHazard, c.hazard(m[1], m[2]))
		}
		for _, class := range strings.Split(r[6], "\n") {
			if class = starRE.ReplaceAllString(strings.TrimSpace(class), ""); class != "" {
				c.edge(id, knowledge.RelClass, c.node("class:"+slug(class), "hazard_class", knowledge.Safety, class))
			}
		}
		for _, g := range unique(pictogramRE, r[8]) {
			c.edge(id, knowledge.RelPictogram, c.node("ghs:"+g, "pictogram", knowledge.Safety, g+" "+pictograms[g]))
		}
	}
}

// hazard adds a hazard statement by code; H360D refines H360.
func (c *collector) hazard(code, suffix string) string {
	base := c.node("h:"+code, knowledge.KindHazard, knowledge.Safety, hazardName(code, ""))
	if suffix == "" {
		return base
	}
	id := c.node("h:"+code+suffix, knowledge.KindHazard, knowledge.Safety, hazardName(code, suffix))
	c.edge(id, knowledge.RelIsA, base)
	return id
}

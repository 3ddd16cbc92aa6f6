package ingest

import (
	"fmt"
	"strconv"
	"strings"

	"interlock/internal/knowledge"
)

// parseChemicals reads the tables that the chemicals library carries: names to
// CAS numbers, carcinogens, flash and autoignition points, flammability limits
// and exposure limits.
func parseChemicals(c *collector, a *archive) {
	const safety = "chemicals/Safety/"
	table := func(name string, f func(row map[string]string) error) {
		c.each(a, safety+name, func(x file) error { return eachRow(x, f) })
	}
	table("IARC*.tsv", func(r map[string]string) error {
		return c.carcinogen(r["CAS"], r["description"], "iarc:"+r["group"], iarcName(r["group"]))
	})
	table("National*.tsv", func(r map[string]string) error {
		return c.carcinogen(r["CAS"], r["Chemical"], "ntp:"+r["Listing"], ntpName(r["Listing"]))
	})
	for _, name := range []string{"NFPA 497 2008.tsv", "IS IEC 60079-20-1 2010.tsv", "DIPPR T_flash Serat.csv"} {
		table(name, c.flammable)
	}
	c.each(a, safety+"Ontario Exposure Limits.json", c.exposure)
	c.synonyms(a)
}

func iarcName(g string) string {
	names := map[string]string{"1": "IARC group 1: carcinogenic", "11": "IARC group 2A: probably carcinogenic", "12": "IARC group 2B: possibly carcinogenic", "3": "IARC group 3: not classifiable"}
	if n := names[g]; n != "" {
		return n
	}
	return "IARC listing " + g
}

func ntpName(l string) string {
	if l == "1" {
		return "NTP: known carcinogen"
	}
	return "NTP: reasonably expected carcinogen"
}

func (c *collector) carcinogen(cas, name, list, listName string) error {
	if isCAS(cas) {
		c.edge(c.chemical(cas, name), knowledge.RelCarcinogen, c.node(list, "carcinogen_list", knowledge.Safety, listName))
	}
	return nil
}

// flammable reads flash and autoignition points (K) and limits (fraction).
func (c *collector) flammable(r map[string]string) error {
	cas := strings.TrimSpace(r["CAS"])
	if !isCAS(cas) {
		return nil
	}
	name := r["Name"]
	if name == "" {
		name, _, _ = strings.Cut(r["Names"], ";")
	}
	id := c.chemical(cas, strings.ToLower(strings.TrimSpace(name)))
	for _, col := range []struct{ field, name, unit string }{
		{"T_flash", knowledge.NumFlashPoint, "K"},
		{"T_autoignition", knowledge.NumAutoignition, "K"},
		{"LFL", knowledge.NumLowerExplosive, "1"},
		{"UFL", knowledge.NumUpperExplosive, "1"},
	} {
		s := strings.TrimSpace(r[col.field])
		if s == "" || c.b.HasNumber(id, col.name) {
			continue
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || v > 3000 {
			return fmt.Errorf("%s of %s: %q, want a number up to 3000", col.field, cas, s)
		}
		if v <= 0 {
			continue // a slip of the table: no limit or temperature in K is below zero
		}
		c.number(id, col.name, col.unit, v)
	}
	if v, ok := c.flash(id); ok {
		c.derive(id, "flash_band", c.flashBand(v))
	}
	return nil
}

func (c *collector) flash(id string) (float64, bool) {
	return c.b.NumberOf(id, knowledge.NumFlashPoint)
}

// flashBand names the GHS band of a flash point in kelvin.
func (c *collector) flashBand(k float64) string {
	band, name := "above-60c", "flash point above 60 °C"
	switch {
	case k < 296.15:
		band, name = "below-23c", "flash point below 23 °C"
	case k <= 333.15:
		band, name = "23-60c", "flash point 23 to 60 °C"
	}
	return c.node("flash:"+band, "flash_band", knowledge.Safety, name)
}

type exposureRow struct {
	Name    string   `json:"Name"`
	TWAppm  *float64 `json:"TWA (ppm)"`
	TWAmg   *float64 `json:"TWA (mg/m^3)"`
	STELppm *float64 `json:"STEL (ppm)"`
	STELmg  *float64 `json:"STEL (mg/m^3)"`
	CeilPPM *float64 `json:"Ceiling (ppm)"`
	CeilMG  *float64 `json:"Ceiling (mg/m^3)"`
	Skin    bool     `json:"Skin"`
}

func (c *collector) exposure(f file) error {
	var d map[string]exposureRow
	if err := decodeJSON(f, &d); err != nil {
		return err
	}
	for _, cas := range sortedKeys(d) {
		if !isCAS(cas) {
			continue
		}
		r := d[cas]
		name, _, _ := strings.Cut(r.Name, "[")
		id := c.chemical(cas, strings.TrimSpace(name))
		for _, v := range []struct {
			value      *float64
			name, unit string
		}{
			{r.TWAppm, knowledge.NumTWA, "ppm"},
			{r.STELppm, knowledge.NumSTEL, "ppm"},
			{r.CeilPPM, knowledge.NumCeiling, "ppm"},
			{r.TWAmg, knowledge.NumTWAMass, "mg/m3"},
			{r.STELmg, knowledge.NumSTELMass, "mg/m3"},
			{r.CeilMG, knowledge.NumCeilingMass, "mg/m3"},
		} {
			if v.value != nil && *v.value > 0 {
				c.number(id, v.name, v.unit, roundTo(*v.value, 4))
			}
		}
		c.edge(id, "has_limit", c.node("limit:ontario", "exposure_list", knowledge.Safety, "occupational exposure limit (Ontario)"))
		if r.Skin {
			c.edge(id, "absorbed_by", c.node("limit:skin", "exposure_list", knowledge.Safety, "absorbed through the skin"))
		}
	}
	return nil
}

// synonyms adds common names and formulae to substances already there.
func (c *collector) synonyms(a *archive) {
	for _, name := range []string{"chemical identifiers example user db.tsv", "chemical identifiers pubchem small.tsv", "Inorganic db.tsv"} {
		c.each(a, "chemicals/Identifiers/"+name, func(f file) error {
			for _, line := range strings.Split(string(f.data), "\n") {
				p := strings.Split(line, "\t")
				if len(p) < 8 || !isCAS(p[1]) || !c.b.Has(casID(p[1])) {
					continue
				}
				c.synonymsOf(casID(p[1]), p)
			}
			return nil
		})
	}
}

const maxSynonyms = 6

// synonymsOf takes the names that people write: short, of letters, few. The
// columns are number, CAS, formula, mass, SMILES, InChI, key, names.
func (c *collector) synonymsOf(id string, p []string) {
	if f := p[2]; len(f) <= 8 && plainFormula(f) {
		c.alias(id, f, true)
	}
	n := 0
	for _, s := range p[7:] {
		if n < maxSynonyms && commonName(s) {
			c.alias(id, s, false)
			n++
		}
	}
}

func plainFormula(s string) bool {
	for _, r := range s {
		if (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return len(s) > 1
}

func commonName(s string) bool {
	if len(s) < 4 || len(s) > 28 || isCAS(s) {
		return false
	}
	digits := 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case strings.ContainsRune(".[]{}()+±:_#;", r) || r > 0x2000:
			return false
		}
	}
	return digits <= 2
}

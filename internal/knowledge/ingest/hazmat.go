package ingest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"

	"interlock/internal/knowledge"
)

var dotClasses = map[string]string{
	"1": "explosives", "2.1": "flammable gas", "2.2": "non-flammable gas", "2.3": "toxic gas", "3": "flammable liquid", "4.1": "flammable solid",
	"4.2": "spontaneously combustible", "4.3": "dangerous when wet", "5.1": "oxidiser", "5.2": "organic peroxide", "6.1": "poison",
	"6.2": "infectious substance", "7": "radioactive", "8": "corrosive", "9": "miscellaneous",
}

type hazmatRow struct {
	ID         string   `json:"idNumber"`
	Name       string   `json:"properShippingName"`
	Class      string   `json:"hazardClass"`
	Group      string   `json:"packingGroup"`
	Subsidiary []string `json:"subsidiaryRisks"`
	Provisions []string `json:"specialProvisions"`
}

// shippingRE divides a proper shipping name where another substance or a
// condition begins.
var shippingRE = regexp.MustCompile(`(?i)\s+or\s+|;|,\s*(?:with|in|solution|stabilized|inhibited|anhydrous|solid|liquid|dry|wetted|refrigerated|compressed|molten|fused|dihydrate)\b.*`)

var overlayRE = regexp.MustCompile(`(UN\d{4}): \{ synonyms: \[([^\]]*)\](?:, cas: "([\d\-]+)")?`)

// parseHazmat reads the table of 49 CFR 172.101, one row a line, and the
// hand-made table of synonyms beside it.
func parseHazmat(c *collector, a *archive) {
	c.each(a, "src/data/hmt-generated.ts", func(f file) error {
		n := 0
		for i, line := range strings.Split(string(f.data), "\n") {
			line = strings.TrimSuffix(strings.TrimSpace(line), ",")
			if !strings.HasPrefix(line, "{") || !strings.Contains(line, `"properShippingName"`) {
				continue
			}
			var r hazmatRow
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
			n++
			if strings.HasPrefix(r.ID, "UN") || strings.HasPrefix(r.ID, "NA") {
				c.hazmat(&r)
			}
		}
		if n == 0 {
			return errors.New("no row of the table found")
		}
		return nil
	})
	c.each(a, "src/data/synonyms.ts", func(f file) error {
		for _, m := range overlayRE.FindAllStringSubmatch(string(f.data), -1) {
			un := "un:" + m[1]
			if !c.b.Has(un) || !isCAS(m[3]) {
				continue
			}
			id := c.chemical(m[3], strings.ToLower(strings.Trim(strings.Split(m[2], ",")[0], `" `)))
			c.edge(id, knowledge.RelUN, un)
			for _, s := range strings.Split(m[2], ",") {
				c.alias(id, strings.Trim(s, `" `), false)
			}
		}
		return nil
	})
}

func (c *collector) hazmat(r *hazmatRow) {
	id := c.node("un:"+r.ID, "transport_entry", knowledge.Safety, r.ID+" "+r.Name)
	c.alias(id, r.ID, false)
	for i, class := range append([]string{r.Class}, r.Subsidiary...) {
		if class == "" {
			continue
		}
		rel := "transport_class"
		if i > 0 {
			rel = "subsidiary_risk"
		}
		c.edge(id, rel, c.dotClass(class))
	}
	for _, part := range shippingRE.Split(r.Name, -1) {
		if cas := c.chemicalNamed(part); cas != "" {
			c.derive(cas, knowledge.RelUN, id)
		}
	}
	if r.Group != "" {
		c.edge(id, "packing_group", c.node("packing:"+r.Group, "packing_group", knowledge.Safety, "packing group "+r.Group))
	}
	for _, p := range r.Provisions {
		if len(p) == 1 && p >= "1" && p <= "4" {
			c.edge(id, "inhalation_zone", c.node("zone:"+p, "inhalation_zone", knowledge.Safety, "poison inhalation zone "+string("ABCD"[p[0]-'1'])))
		}
	}
}

func (c *collector) dotClass(class string) string {
	division, compat := class, ""
	if len(class) > 3 && class[1] == '.' {
		division, compat = class[:3], class[3:]
	}
	top, _, _ := strings.Cut(division, ".")
	word := dotClasses[division]
	if word == "" {
		word = dotClasses[top]
	}
	id := c.node("dot:"+class, "transport_class", knowledge.Safety, strings.TrimSpace("transport class "+class+" "+word))
	switch {
	case compat != "":
		c.edge(id, knowledge.RelIsA, c.dotClass(division))
	case division != top:
		c.edge(id, knowledge.RelIsA, c.node("dot:"+top, "transport_class", knowledge.Safety, strings.TrimSpace("transport class "+top+" "+dotClasses[top])))
	}
	return id
}

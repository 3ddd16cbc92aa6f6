package document

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/knowledge"
	"interlock/internal/verdict"
)

// sheetHeadings are the words by which the sixteen headings of a safety data
// sheet are known.
var sheetHeadings = [17][]string{
	1: {"identification"}, 2: {"hazard"}, 3: {"composition", "ingredient"}, 4: {"first aid", "first-aid"}, 5: {"fire"}, 6: {"accidental", "release"}, 7: {"handling", "storage"},
	8: {"exposure", "protection"}, 9: {"physical"}, 10: {"stability", "reactivity"}, 11: {"toxicolog"}, 12: {"ecolog"}, 13: {"disposal"}, 14: {"transport"}, 15: {"regulat"}, 16: {"other"},
}

const (
	fewHeadings = 8 // fewer make no data sheet
	maxAvoids   = 40
)

var (
	sheetHeadRE  = regexp.MustCompile(`(?i)^(?:section\s+)?(\d{1,2})\s*[.:)–—-]*\s+(.{3,90})$`)
	numberedRE   = regexp.MustCompile(`(?i)^(?:(?:section|chapter)\s+)?\d{1,2}(?:\.\d{1,2}){0,3}[.:)]?\s+\pL.{2,80}$`)
	productRE    = regexp.MustCompile(`(?i)(?:product name|product identifier|trade name|substance name|chemical name)\s*[:\-]?\s*([^\n:;]{2,80})`)
	productEndRE = regexp.MustCompile(`(?i)\s(?:CAS|EC|EINECS|REACH|index|article|product|item|synonyms?|catalogue|UFI)\b.*$`)
	avoidRE      = regexp.MustCompile(`(?is)(?:incompatible materials?|materials? to avoid|incompatibilit(?:y|ies)|incompatible with)\s*[:.\-]?\s*(.{2,600}?)(?:\n\s*\d|\n[^\n:]{3,60}:|\s1?\d\.\d|hazardous decomposition|conditions to avoid|$)`)
	avoidCutRE   = regexp.MustCompile(`(?i)[,;•·/|\n]|\band\b|\bor\b`)
	nothingRE    = regexp.MustCompile(`(?i)^(?:none|no data|not (?:known|available|applicable)|n/?a\b|no (?:information|further))`)
	harmlessRE   = regexp.MustCompile(`(?i)not (?:a )?(?:hazardous|classified|dangerous)|no hazard`)
)

// temperatures are read from section 9, with the words they stand behind.
var temperatures = []struct {
	name string
	re   *regexp.Regexp
}{
	{knowledge.NumFlashPoint, temperatureRE(`flash\s*point`)},
	{knowledge.NumAutoignition, temperatureRE(`auto-?\s*ignition(?:\s+temperature)?`)},
	{knowledge.NumBoiling, temperatureRE(`boiling\s*(?:point|range)`)},
	{knowledge.NumDecomposition, temperatureRE(`decomposition(?:\s+temperature)?`)},
}

func temperatureRE(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + words + `[^\d\n+−-]{0,60}([-+−]?\d{1,4}(?:\.\d{1,3})?)\s*°?\s*([CFK])\b`)
}

// sheetHeading returns which of the sixteen a line is, or 0.
func sheetHeading(s string) int {
	m := sheetHeadRE.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1 || n > 16 {
		return 0
	}
	title := strings.ToLower(m[2])
	if slices.ContainsFunc(sheetHeadings[n], func(w string) bool { return strings.Contains(title, w) }) {
		return n
	}
	return 0
}

// isHeading guesses whether a line of a PDF is a heading: it is numbered,
// short and no sentence.
func isHeading(s string) bool {
	s = strings.TrimSpace(s)
	return sheetHeading(s) > 0 || numberedRE.MatchString(s) && !strings.HasSuffix(s, ".") && !strings.Contains(s, ": ") && len(strings.Fields(s)) <= 10
}

// sheet recognises a safety data sheet by its headings and takes out what it
// says in codes and numbers.
func (r *reader) sheet(blocks []block) {
	var text [17]strings.Builder
	var at [17]Place
	section, found := 0, 0
	for i := range blocks {
		b := &blocks[i]
		if n := sheetHeading(b.text); n > 0 && n >= section {
			if at[n] == (Place{}) {
				found++
				at[n] = Place{Page: b.at.Page, Section: clip(knowledge.CleanText(b.text), 120)}
			}
			b.heading = true
			section = n
			continue
		}
		part := &text[section]
		part.WriteString(strings.TrimSpace(b.text) + "\n")
	}
	if found < fewHeadings {
		return
	}
	r.doc.Kind = DataSheet
	for n := 1; n <= 16; n++ {
		if at[n] == (Place{}) {
			r.find(RuleSheet, verdict.Flag, Place{}, "", "heading %d of the 16 of a data sheet (%s) was not found", n, sheetHeadings[n][0])
		}
	}
	var s [17]string
	for n := range s {
		s[n] = strings.ReplaceAll(text[n].String(), "|", " ")
	}
	r.product(s, at)
}

// product makes the node of what the sheet is about.
func (r *reader) product(s [17]string, at [17]Place) {
	t := Thing{ID: "product:" + r.doc.Name, Kind: knowledge.KindChemical, Name: r.doc.Title, Category: knowledge.Safety, At: at[1]}
	if m := productRE.FindStringSubmatch(s[1]); m != nil {
		t.Name = nonEmpty(knowledge.CleanText(productEndRE.ReplaceAllString(m[1], "")), t.Name)
	}
	r.doc.Title = "data sheet of " + t.Name
	for _, q := range temperatures {
		if m := q.re.FindStringSubmatch(s[9]); m != nil {
			if v, ok := kelvin(m[1], m[2]); ok {
				t.Numbers = append(t.Numbers, knowledge.Number{Name: q.name, Unit: "K", Value: v})
			}
		}
	}
	r.thing(t)
	r.composition(t.ID, s, at)
	codes := hazardCodes(s[2])
	for _, c := range codes {
		r.link(t.ID, knowledge.RelHazard, "h:"+c)
	}
	for _, c := range precautions(s[2]) {
		r.link(t.ID, relPrecaution, "p:"+c)
	}
	if len(codes) == 0 && !harmlessRE.MatchString(s[2]) {
		r.find(RuleSheet, verdict.Flag, at[2], "", "section 2 has no hazard statement, and does not say that there is none")
	}
	r.avoid(t.ID, s[10], at[10])
}

// composition joins the product to the substances in sections 1 and 3.
func (r *reader) composition(id string, s [17]string, at [17]Place) {
	var good []string
	for _, c := range uniqueMatches(casRE, s[1]+"\n"+s[3]) {
		if !validCAS(c) {
			r.find(RuleSheet, verdict.Flag, at[3], c, "looks like a CAS number and has a wrong check digit")
			continue
		}
		good = append(good, c)
		r.link(id, relContains, "cas:"+c)
	}
	switch len(good) {
	case 0:
		r.find(RuleSheet, verdict.Flag, at[3], "", "sections 1 and 3 name no CAS number")
	case 1:
		r.link(id, knowledge.RelSameAs, "cas:"+good[0])
	}
}

// avoid reads what section 10 says to keep away.
func (r *reader) avoid(id, section string, at Place) {
	m := avoidRE.FindStringSubmatch(section)
	if m == nil {
		if strings.TrimSpace(section) != "" {
			r.find(RuleSheet, verdict.Flag, at, "", "section 10 names no incompatible materials")
		}
		return
	}
	for _, phrase := range avoidCutRE.Split(m[1], -1) {
		phrase = strings.Trim(knowledge.CleanText(phrase), " .:-")
		if len(phrase) < 3 || nothingRE.MatchString(phrase) {
			continue
		}
		if len(r.doc.Avoids) >= maxAvoids || len(phrase) > 80 {
			r.find(RuleUnread, verdict.Flag, at, phrase, "an incompatible material that is too long to be a name, or one of more than %d", maxAvoids)
			continue
		}
		r.doc.Avoids = append(r.doc.Avoids, Avoid{Subject: id, Phrase: phrase, At: at})
	}
}

// kelvin turns a temperature as sheets write it into kelvins.
func kelvin(number, unit string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, "−", "-"), 64)
	if err != nil {
		return 0, false
	}
	switch strings.ToUpper(unit) {
	case "C":
		v += 273.15
	case "F":
		v = (v-32)*5/9 + 273.15
	}
	return round(v), v > 0
}

// round keeps six significant digits: conversions leave noise.
func round(v float64) float64 {
	out, err := strconv.ParseFloat(fmt.Sprintf("%.6g", v), 64)
	if err != nil {
		return v
	}
	return out
}

package document

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock/internal/knowledge"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// columns are the columns of an inventory and how sites call them. A column
// that is not here is reported and not read.
var columns = map[string][]string{
	"name":        {"name", "material", "chemical", "chemical name", "substance", "product", "product name", "reagent", "item", "device", "equipment", "description"},
	"cas":         {"cas", "cas no", "cas nr", "cas number", "cas rn", "cas registry number"},
	"quantity":    {"quantity", "qty", "amount"},
	"unit":        {"unit", "units", "uom"},
	"location":    {"location", "storage", "storage location", "stored in", "place", "room", "cabinet"},
	"hazards":     {"hazards", "hazard", "hazard statements", "hazard codes", "h codes", "h statements", "h phrases"},
	"precautions": {"precautions", "p codes", "p statements", "precautionary statements"},
	"expiry":      {"expiry", "expires", "expiry date", "expiration", "expiration date", "best before", "use by"},
	"lot":         {"lot", "lot no", "batch", "batch no"},
	"supplier":    {"supplier", "vendor", "manufacturer", "maker"},
	"synonyms":    {"synonyms", "synonym", "alias", "aliases", "also known as", "formula"},
	"model":       {"model", "model no", "type designation"},
	"serial":      {"serial", "serial no", "serial number", "asset", "asset id", "id"},
	"note":        {"note", "notes", "remark", "remarks", "comment", "comments"},
}

// amounts are the units of quantities and what they are in SI.
var amounts = map[string]struct {
	number, unit string
	factor       float64
}{
	"kg": {"amount_mass", "kg", 1}, "g": {"amount_mass", "kg", 1e-3}, "mg": {"amount_mass", "kg", 1e-6}, "ug": {"amount_mass", "kg", 1e-9}, "µg": {"amount_mass", "kg", 1e-9}, "t": {"amount_mass", "kg", 1e3},
	"l": {"amount_volume", "m3", 1e-3}, "ml": {"amount_volume", "m3", 1e-6}, "ul": {"amount_volume", "m3", 1e-9}, "µl": {"amount_volume", "m3", 1e-9}, "m3": {"amount_volume", "m3", 1}, "cl": {"amount_volume", "m3", 1e-5},
	"pcs": {"amount_count", "1", 1}, "pc": {"amount_count", "1", 1}, "each": {"amount_count", "1", 1}, "bottle": {"amount_count", "1", 1}, "bottles": {"amount_count", "1", 1}, "box": {"amount_count", "1", 1}, "boxes": {"amount_count", "1", 1},
}

const (
	maxCell   = 2000 // bytes
	maxAmount = 1e9
)

// inventory reads a table with a header line.
func (r *reader) inventory() error {
	text, err := r.text()
	if err != nil {
		return err
	}
	r.doc.Kind = Inventory
	rd := csv.NewReader(strings.NewReader(text))
	rd.Comma = separator(text)
	header, err := rd.Read()
	if err != nil {
		return r.csvError(err)
	}
	at, err := r.header(header)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		row, err := rd.Read()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return fmt.Errorf("%s: a header and no row below it", r.doc.Name)
			}
			return nil
		}
		if err != nil {
			return r.csvError(err)
		}
		if n >= r.lim.Rows {
			return fmt.Errorf("%s: more than %d rows", r.doc.Name, r.lim.Rows)
		}
		line, _ := rd.FieldPos(0)
		if err := r.row(line, row, at); err != nil {
			return err
		}
	}
}

func (r *reader) csvError(err error) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return &strict.Error{File: r.doc.Name, Line: pe.Line, Column: pe.Column, Msg: pe.Err.Error()}
	}
	return fmt.Errorf("%s: %w", r.doc.Name, err)
}

func (r *reader) fail(line int, format string, args ...any) error {
	return &strict.Error{File: r.doc.Name, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// separator is the one that the header line has most of.
func separator(text string) rune {
	head, _, _ := strings.Cut(text, "\n")
	best := ','
	for _, c := range ";\t" {
		if strings.Count(head, string(c)) > strings.Count(head, string(best)) {
			best = c
		}
	}
	return best
}

// header finds the known columns.
func (r *reader) header(names []string) (map[string]int, error) {
	at := map[string]int{}
	var unknown []string
	for i, name := range names {
		key := columnOf(name)
		if key == "" {
			unknown = append(unknown, strconv.Quote(clip(name, 40)))
			continue
		}
		if have, ok := at[key]; ok {
			return nil, r.fail(1, "columns %q and %q are both the %s", names[have], name, key)
		}
		at[key] = i
	}
	_, name := at["name"]
	_, cas := at["cas"]
	if !name && !cas {
		return nil, r.fail(1, "no column called name or cas in the header: found %s", strings.Join(quoteAll(names), ", "))
	}
	if len(unknown) > 0 {
		r.find(RuleUnknown, verdict.Flag, Place{Line: 1}, "", "columns that are not known and were not read: %s", strings.Join(unknown, ", "))
	}
	return at, nil
}

func quoteAll(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names[:min(len(names), 20)] {
		out = append(out, strconv.Quote(clip(n, 40)))
	}
	return out
}

func columnOf(name string) string {
	name = knowledge.FoldName(name)
	for key, names := range columns {
		if slices.Contains(names, name) {
			return key
		}
	}
	return ""
}

// row makes an item of the inventory.
func (r *reader) row(line int, row []string, at map[string]int) error {
	cell := map[string]string{}
	for key, i := range at {
		if len(row[i]) > maxCell {
			return r.fail(line, "%s: a cell of %d bytes, more than %d", key, len(row[i]), maxCell)
		}
		cell[key] = r.clean(row[i], Place{Line: line})
	}
	name, cas := cell["name"], cell["cas"]
	if name == "" && cas == "" {
		return r.fail(line, "a row without a name")
	}
	if cas != "" && !validCAS(cas) {
		return r.fail(line, "cas: %q is no CAS number: expected digits with a right check digit, as 7647-01-0", clip(cas, 40))
	}
	kind := "material"
	if cas == "" && (cell["model"] != "" || cell["serial"] != "") {
		kind = "site_device"
	}
	t := Thing{ID: r.itemID(cell), Kind: kind, Name: clip(nonEmpty(name, "CAS "+cas), 200), Category: knowledge.LabContext, At: Place{Line: line}}
	for _, s := range strings.FieldsFunc(cell["synonyms"], func(c rune) bool { return c == ';' || c == ',' || c == '|' }) {
		if s = strings.TrimSpace(s); len(s) > 1 && len(s) <= 120 {
			t.Aliases = append(t.Aliases, s)
		}
	}
	if err := r.amount(&t, line, cell); err != nil {
		return err
	}
	if err := r.expiry(&t, line, cell["expiry"]); err != nil {
		return err
	}
	r.thing(t)
	if cas != "" {
		r.link(t.ID, knowledge.RelSameAs, "cas:"+cas)
	}
	r.codes(t.ID, line, cell)
	if place := cell["location"]; place != "" {
		r.place(t.ID, clip(place, 120), line)
	}
	return r.rowPassage(line, cell)
}

// itemID names an item by what it is, so that rows put in before it change
// nothing.
func (r *reader) itemID(cell map[string]string) string {
	h := sha256.New()
	for _, key := range []string{"name", "cas", "lot", "model", "serial", "location"} {
		fmt.Fprintf(h, "%s\x00", cell[key])
	}
	id := r.node("item", hex.EncodeToString(h.Sum(nil)[:6]))
	if r.seen[id]++; r.seen[id] > 1 {
		id += "-" + strconv.Itoa(r.seen[id])
	}
	return id
}

func nonEmpty(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func (r *reader) amount(t *Thing, line int, cell map[string]string) error {
	q, unit := cell["quantity"], cell["unit"]
	if q == "" {
		return nil
	}
	if number, rest, ok := strings.Cut(q, " "); ok && unit == "" {
		q, unit = number, strings.TrimSpace(rest)
	}
	text, ok := strict.Decimal(q)
	v, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || v < 0 || v > maxAmount {
		return r.fail(line, "quantity: %q: expected a number from 0 to %g with a point, and its unit in a column of its own or behind it", clip(q, 40), float64(maxAmount))
	}
	u, known := amounts[strings.ToLower(unit)]
	if !known {
		r.find(RuleUnknown, verdict.Flag, Place{Line: line}, unit, "a unit that is not known: the quantity was not read")
		return nil
	}
	t.Numbers = append(t.Numbers, knowledge.Number{Name: u.number, Unit: u.unit, Value: round(v * u.factor)})
	return nil
}

// expiry reads a date; others than ISO are ambiguous between countries.
func (r *reader) expiry(t *Thing, line int, s string) error {
	if s == "" {
		return nil
	}
	day, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return r.fail(line, "expiry: %q: expected a date as 2027-03-31", clip(s, 40))
	}
	t.Numbers = append(t.Numbers, knowledge.Number{Name: "expires", Unit: "s", Value: float64(day.Unix())}) // since 1970
	return nil
}

func (r *reader) codes(id string, line int, cell map[string]string) {
	for _, c := range hazardCodes(cell["hazards"]) {
		r.link(id, knowledge.RelHazard, "h:"+c)
	}
	for _, c := range precautions(cell["precautions"]) {
		r.link(id, relPrecaution, "p:"+c)
	}
	rest := precautRE.ReplaceAllString(hazardRE.ReplaceAllString(cell["hazards"], ""), "")
	if wordy(rest) {
		r.find(RuleUnknown, verdict.Flag, Place{Line: line}, rest, "hazards that are no H-statements: kept as text only")
	}
}

// place joins an item to where it is kept.
func (r *reader) place(id, place string, line int) {
	zone := r.node("place", knowledge.FoldName(place))
	if r.seen[zone]++; r.seen[zone] == 1 {
		r.thing(Thing{ID: zone, Kind: "zone", Name: place, Category: knowledge.LabContext, At: Place{Line: line}})
	}
	r.link(id, knowledge.RelStored, zone)
}

// rowPassage makes the row citable.
func (r *reader) rowPassage(line int, cell map[string]string) error {
	parts := []string{nonEmpty(cell["name"], "CAS "+cell["cas"])}
	for _, p := range []struct{ key, before string }{
		{"synonyms", "also called "},
		{"cas", "CAS number "},
		{"quantity", "amount "},
		{"location", "kept in "},
		{"hazards", "hazards "},
		{"precautions", "precautions "},
		{"expiry", "expires "},
		{"lot", "lot "},
		{"supplier", "from "},
		{"model", "model "},
		{"serial", "serial number "},
		{"note", "note: "},
	} {
		if cell[p.key] != "" {
			parts = append(parts, p.before+cell[p.key])
		}
		if p.key == "quantity" && cell["quantity"] != "" && cell["unit"] != "" {
			parts[len(parts)-1] += " " + cell["unit"]
		}
	}
	for _, part := range split(strings.Join(parts, ", "), maxPassage) {
		if err := r.passage(Place{Line: line}, part); err != nil {
			return err
		}
	}
	return nil
}

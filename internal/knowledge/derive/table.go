package derive

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/knowledge/link"
	"interlock/internal/verdict"
)

//go:embed tables/materials.txt
var materialsTable string

//go:embed tables/pairs.txt
var pairsTable string

// zeroCelsius is 0 °C in K.
const zeroCelsius = 273.15

// A material is one row of our own table.
type material struct {
	id, name   string
	other      []string
	formulae   []string
	traits     []string
	boils      float64 // K; 0 unknown
	flash      float64 // K; 0 unknown
	decomposes float64 // K; 0 unknown
	ignites    float64 // K, by itself in air; 0 unknown
	ref        string
	ours       bool              // has a row of our own, and documents beside it
	says       map[string]string // trait -> hazard statement that gives it, where our row does not
}

func (m *material) has(trait string) bool { return slices.Contains(m.traits, trait) }

// A pair says that two traits must not meet.
type pair struct {
	a, b          string
	level, dilute verdict.Level // both undiluted; at least one dilute
	gas, what     string
	ref           string
}

// A table is what we know ourselves, beside the public sources: they lack
// boiling points, and reactive groups of hypochlorite, peroxide and others.
type table struct {
	byID      map[string]*material
	materials []*material
	pairs     []pair
}

func loadTable(materials, pairs string) (*table, error) {
	t := &table{byID: map[string]*material{}}
	if err := rows("materials", materials, 9, t.material); err != nil {
		return nil, err
	}
	if err := rows("pairs", pairs, 7, t.pair); err != nil {
		return nil, err
	}
	return t, nil
}

// rows calls f for each row of a table with n columns.
func rows(name, text string, n int, f func([]string) error) error {
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		cols := strings.Split(line, "|")
		if len(cols) != n {
			return fmt.Errorf("table %s, line %d: %d columns, expected %d", name, i+1, len(cols), n)
		}
		for k := range cols {
			cols[k] = strings.TrimSpace(cols[k])
		}
		if err := f(cols); err != nil {
			return fmt.Errorf("table %s, line %d: %w", name, i+1, err)
		}
	}
	return nil
}

func (t *table) material(c []string) error {
	id := c[0]
	if !strings.Contains(id, ":") {
		id = "cas:" + id
	}
	m := &material{id: id, name: c[1], other: list(c[2], ";"), formulae: list(c[3], ";"), traits: strings.Fields(c[4]), ref: c[8]}
	if c[0] == "" || m.name == "" || m.ref == "" || len(m.traits) == 0 {
		return fmt.Errorf("CAS number, name, traits and reference must be there")
	}
	if t.byID[m.id] != nil {
		return fmt.Errorf("%s is there twice", m.id)
	}
	for k, dst := range map[int]*float64{5: &m.boils, 6: &m.flash, 7: &m.decomposes} {
		if c[k] == "" {
			continue
		}
		v, err := strconv.ParseFloat(c[k], 64)
		if err != nil {
			return fmt.Errorf("temperature in °C: %w", err)
		}
		*dst = v + zeroCelsius
	}
	t.byID[m.id] = m
	t.materials = append(t.materials, m)
	return nil
}

func (t *table) pair(c []string) error {
	p := pair{a: c[0], b: c[1], gas: c[4], what: c[5], ref: c[6]}
	if err := p.level.UnmarshalText([]byte(c[2])); err != nil {
		return err
	}
	if err := p.dilute.UnmarshalText([]byte(c[3])); err != nil {
		return err
	}
	for _, trait := range []string{p.a, p.b} {
		if !slices.ContainsFunc(t.materials, func(m *material) bool { return m.has(trait) }) && !fromCode(trait) {
			return fmt.Errorf("no material has the trait %q", trait)
		}
	}
	if p.ref == "" || p.what == "" {
		return fmt.Errorf("what happens and the reference must be there")
	}
	t.pairs = append(t.pairs, p)
	return nil
}

func list(s, sep string) []string {
	var out []string
	for _, e := range strings.Split(s, sep) {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}

// names returns how the materials are called.
func (t *table) names() []link.Name {
	var out []link.Name
	for _, m := range t.materials {
		for _, n := range append([]string{m.name}, m.other...) {
			out = append(out, link.Name{Text: n, ID: m.id, Kind: "material", Canon: m.name})
		}
		for _, f := range m.formulae {
			out = append(out, link.Name{Text: f, ID: m.id, Kind: "material", Canon: m.name, Exact: true})
		}
		if cas, ok := strings.CutPrefix(m.id, "cas:"); ok {
			out = append(out, link.Name{Text: cas, ID: m.id, Kind: "material", Canon: m.name})
		}
	}
	return out
}

// clashes returns what two materials can do to each other, the worst first.
func (t *table) clashes(a, b *material, dilute bool) []clash {
	var out []clash
	for _, p := range t.pairs {
		if !(a.has(p.a) && b.has(p.b) || a.has(p.b) && b.has(p.a)) {
			continue
		}
		l := p.level
		if dilute {
			l = p.dilute
		}
		out = append(out, clash{p, l})
	}
	slices.SortStableFunc(out, func(x, y clash) int { return -compareLevel(x.level, y.level) })
	return out
}

// A clash is one pair that two materials are.
type clash struct {
	pair
	level verdict.Level
}

func compareLevel(a, b verdict.Level) int {
	switch {
	case a == b:
		return 0
	case a.Worst(b) == a:
		return 1
	}
	return -1
}

// fromCode reports a trait that hazard statements give.
func fromCode(trait string) bool {
	for _, t := range codeTraits {
		if t == trait {
			return true
		}
	}
	return false
}

package builtin

import (
	"strings"
	"unicode"

	"interlock/internal/judge"
	"interlock/internal/quantity"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// A reading is what a closed vocabulary makes of a plan.
type reading struct {
	in       judge.Input
	names    names
	strange  []strangeWord             // words outside the vocabulary
	touching map[verdict.Class][]sight // words of each judge's field
	people   bool                      // some step has people near
}

type strangeWord struct {
	step int
	word string
}

// A sight is one concern word at a step.
type sight struct {
	step int
	word string
}

// read reads goal and steps. The goal counts as step 0.
func read(in judge.Input) *reading {
	r := &reading{in: in, names: namesOf(in.Site), touching: map[verdict.Class][]sight{}}
	r.text(0, in.Plan.Goal)
	for i, s := range in.Plan.Steps {
		r.text(i+1, s)
	}
	return r
}

func (r *reading) text(step int, text string) {
	lx := vocabulary()
	rest := " " + strings.ToLower(blankQuantities(text)) + " "
	for _, p := range lx.phrases {
		if strings.Contains(rest, p) {
			r.people = r.people || strings.Contains(p, "people") || strings.Contains(p, "someone")
			rest = strings.ReplaceAll(rest, p, " ")
		}
	}
	for _, n := range r.names.phrases {
		rest = strings.ReplaceAll(rest, " "+n, " ")
	}
	for _, w := range strings.FieldsFunc(rest, separates) {
		w = strings.Trim(w, ".-_'’/")
		for _, class := range lx.concerns[w] {
			r.touching[class] = append(r.touching[class], sight{step, w})
		}
		if w == "" || lx.routine[w] || r.names.words[w] || isIdentifier(w) {
			continue
		}
		r.strange = append(r.strange, strangeWord{step, w})
	}
}

// blankQuantities removes numbers with their units: the limits check has
// weighed them.
func blankQuantities(text string) string {
	b := []byte(text)
	for _, q := range quantity.Read(text) {
		if q.Start >= 0 && q.End <= len(b) && !q.Bad {
			for i := q.Start; i < q.End; i++ {
				b[i] = ' '
			}
		}
	}
	return string(b)
}

func separates(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(`,;:()[]{}"“”„‘!?=+<>|&*`, r)
}

// isIdentifier reports whether a word is a label such as pi-1107, v-01 or
// nb-buf-03: letters and digits, nothing else, at least one digit.
func isIdentifier(w string) bool {
	digit := false
	for _, r := range w {
		switch {
		case r >= '0' && r <= '9':
			digit = true
		case r >= 'a' && r <= 'z', r == '-', r == '_', r == '.':
		default:
			return false
		}
	}
	return digit && len(w) <= 24
}

// names are the words a site profile makes known.
type names struct {
	words   map[string]bool
	phrases []string // longer names, before their parts: "dr. ines okafor"
}

func namesOf(s *site.Site) names {
	n := names{words: map[string]bool{}}
	for _, t := range s.Tools {
		n.words[strings.ToLower(t.Name)] = true
		for _, a := range t.Args {
			n.words[strings.ToLower(a.Name)] = true
			for _, e := range a.Enum {
				if v, ok := e.(string); ok {
					n.words[strings.ToLower(v)] = true
				}
			}
		}
	}
	for _, items := range [][]site.Item{s.Robots, s.Devices} {
		for _, it := range items {
			n.words[strings.ToLower(it.ID)] = true
		}
	}
	for _, p := range s.People {
		n.phrases = append(n.phrases, strings.ToLower(p.Name))
		for _, w := range strings.Fields(strings.ToLower(p.Name)) {
			n.words[strings.Trim(w, ".,()")] = true
		}
	}
	for _, a := range s.Agents {
		n.words[strings.ToLower(a.ID)] = true
	}
	return n
}

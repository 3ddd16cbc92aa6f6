package derive

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/verdict"
)

//go:embed tables/situations.txt
var situationsTable string

// RuleSituation begins the rule of a fact from the table of situations:
// "FACT-MOTION-PERSON".
const RuleSituation = "FACT-"

// A situation says what makes a hazard of a machine or material real.
type situation struct {
	id, hazard, control  string
	does, while, unless  []atom
	needs                []atom // must be there too: a material, a kind of thing, a word
	lasting              bool   // what "while" says holds for later steps until "unless"
	axis                 string
	above                float64
	unstated             bool // also where no number is given
	statement, remedy    string
	doesCalls, doesVerbs []string // of does: hazard classes of tools, verbs of the graph
}

// An atom is one condition on the words of a step.
type atom struct {
	tag, trait, kind string
	words            []string // ".." for up to maxBetween others
}

// maxBetween is how many words may stand where an atom has "..".
const maxBetween = 4

// loadSituations reads the table.
func loadSituations(text string) ([]situation, error) {
	var out []situation
	err := rows("situations", strings.ReplaceAll(text, `\|`, "\x00"), 9, func(c []string) error {
		s := situation{id: c[0], hazard: "hazard:" + c[1], control: "control:" + c[2], statement: c[7], remedy: c[8]}
		for _, a := range list(c[3], ";") {
			if class, ok := strings.CutPrefix(a, "call:"); ok {
				s.doesCalls = append(s.doesCalls, class)
			} else if strings.HasPrefix(a, "verb:") {
				s.doesVerbs = append(s.doesVerbs, a)
			} else {
				s.does = append(s.does, readAtom(a))
			}
		}
		s.while, s.unless = atoms(c[4]), atoms(c[5])
		if s.id == "" || len(s.does)+len(s.doesCalls) == 0 || len(s.while) == 0 || s.statement == "" || s.remedy == "" {
			return fmt.Errorf("id, does, while, statement and remedy must be there")
		}
		if err := s.scope(c[6]); err != nil {
			return err
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// scope reads "plan, speed>0.25?", "step, mat:cryogen".
func (s *situation) scope(text string) error {
	for i, part := range list(text, ",") {
		axis, bound, number := strings.Cut(part, ">")
		switch {
		case i == 0 && (part == "plan" || part == "step"):
			s.lasting = part == "plan"
		case number:
			v, err := strconv.ParseFloat(strings.TrimSuffix(bound, "?"), 64)
			if err != nil {
				return fmt.Errorf("bound %q: %w", part, err)
			}
			s.axis, s.above, s.unstated = axis, v, strings.HasSuffix(bound, "?")
		case strings.HasPrefix(part, "word:"):
			for _, w := range strings.Split(part[len("word:"):], "\x00") {
				s.needs = append(s.needs, readAtom(w))
			}
		case strings.HasPrefix(part, "mat:"), strings.HasPrefix(part, "kind:"):
			s.needs = append(s.needs, readAtom(part))
		default:
			return fmt.Errorf("scope %q: want plan or step, then one of axis>number, mat, kind and word", part)
		}
	}
	return nil
}

func atoms(text string) []atom {
	var out []atom
	for _, a := range list(text, ";") {
		out = append(out, readAtom(a))
	}
	return out
}

func readAtom(s string) atom {
	switch {
	case strings.HasPrefix(s, "@"):
		return atom{tag: s[1:]}
	case strings.HasPrefix(s, "mat:"):
		return atom{trait: s[len("mat:"):]}
	case strings.HasPrefix(s, "kind:"):
		return atom{kind: s[len("kind:"):]}
	}
	return atom{words: strings.Fields(strings.ToLower(s))}
}

// A deed is one step as the situations see it.
type deed struct {
	step  int
	texts []stepText
	calls []fact.Call
}

type stepText struct {
	text  *fact.Text
	words []fact.Token // said outright
	said  []fact.Token // and what is denied
}

// deeds collects what each step says and calls.
func deeds(s *fact.Set) []deed {
	var out []deed
	at := map[int]int{}
	get := func(step int) *deed {
		k, ok := at[step]
		if !ok {
			k = len(out)
			at[step] = k
			out = append(out, deed{step: step})
		}
		return &out[k]
	}
	for i := range s.Texts {
		t := &s.Texts[i]
		if t.Part != "" || t.Step == 0 || taught(t.Words) {
			continue
		}
		d := get(t.Step)
		for _, words := range sentences(t) {
			if spokenOf(words) {
				continue
			}
			outright := slices.DeleteFunc(slices.Clone(words), func(w fact.Token) bool { return w.Negated || w.Quoted || w.Hedged })
			d.texts = append(d.texts, stepText{t, outright, words})
		}
	}
	for _, c := range s.Calls {
		if c.Effect != "observe" && c.Effect != "safe" {
			get(c.Step).calls = append(get(c.Step).calls, c)
		}
	}
	slices.SortStableFunc(out, func(a, b deed) int { return a.step - b.step })
	return out
}

// spokenOf reports a sentence about a danger rather than one that does it.
func spokenOf(words []fact.Token) bool {
	return says(words, "quote:purpose") || lemma(words, "explain", "poster", "slide", "describe", "question", "warn")
}

// situations holds the table against each step.
func (d *Deriver) situations(s *fact.Set) {
	all := deeds(s)
	for k := range d.world.situations {
		sit := &d.world.situations[k]
		var since *found
		for i := range all {
			step := &all[i]
			while, ok := d.find(s, step, sit.while)
			switch {
			case ok:
				since = &while
			case !sit.lasting:
				since = nil
			}
			// What makes it safe is a word of its own even where it denies.
			if _, ok := d.findSaid(step, sit.unless); ok {
				since = nil
			}
			if since == nil {
				continue
			}
			if does, ok := d.acts(s, step, sit); ok && d.present(s, step, sit) && sit.bounded(s, step) {
				d.situated(s, sit, step, does, *since)
			}
		}
	}
}

// found is where an atom was found.
type found struct {
	at     verdict.Span
	word   string // as written
	entity string // the thing it names, if any
	tag    string
}

// find looks for one of the atoms in a step.
func (d *Deriver) find(s *fact.Set, step *deed, list []atom) (found, bool) {
	for _, st := range step.texts {
		for _, a := range list {
			if f, ok := d.match(s, st, st.words, a); ok {
				return f, true
			}
		}
	}
	return found{}, false
}

// findSaid looks among all words, denied ones too: "not over people" is what
// the atom says, "nobody inside" as well.
func (d *Deriver) findSaid(step *deed, list []atom) (found, bool) {
	for _, st := range step.texts {
		for _, a := range list {
			if len(a.words) > 0 {
				if i, n := phrase(st.said, a.words); i >= 0 {
					return found{at: st.text.At(st.said[i]), word: textOf(st, st.said, i, n)}, true
				}
				continue
			}
			for _, w := range st.said {
				if a.tag != "" && hasTag(w, a.tag) && !w.Hedged && !w.Negated {
					return found{at: st.text.At(w), word: w.Text, tag: a.tag}, true
				}
			}
		}
	}
	return found{}, false
}

func (d *Deriver) match(s *fact.Set, st stepText, words []fact.Token, a atom) (found, bool) {
	if len(a.words) > 0 {
		if i, n := phrase(words, a.words); i >= 0 {
			return found{at: st.text.At(words[i]), word: textOf(st, words, i, n)}, true
		}
		return found{}, false
	}
	for _, w := range words {
		f := found{at: st.text.At(w), word: w.Text, tag: a.tag}
		if w.Entity > 0 {
			f.entity = s.Entities[w.Entity-1].ID
		}
		switch {
		case a.tag != "" && hasTag(w, a.tag):
			return f, true
		case w.Entity == 0:
		case a.kind != "" && s.Entities[w.Entity-1].Kind == a.kind:
			return f, true
		case a.trait != "":
			if m := d.material(f.entity); m != nil && m.has(a.trait) {
				return f, true
			}
		}
	}
	return found{}, false
}

// phrase finds words in order; it returns where it starts and how many words
// it spans, -1 if it is not there.
func phrase(words []fact.Token, want []string) (start, n int) {
	for i := range words {
		if end, ok := follows(words, i, want); ok {
			return i, end - i
		}
	}
	return -1, 0
}

func follows(words []fact.Token, i int, want []string) (end int, ok bool) {
	gap := 0
	for k := 0; k < len(want); {
		switch {
		case want[k] == "..":
			gap = maxBetween
			k++
		case i < len(words) && is(words[i], want[k]):
			i, gap = i+1, 0
			k++
		case gap > 0 && k > 0 && i < len(words):
			i++
			gap--
		default:
			return 0, false
		}
	}
	return i, true
}

func is(w fact.Token, want string) bool {
	return w.Lemma == want || strings.EqualFold(w.Text, want)
}

func textOf(st stepText, words []fact.Token, i, n int) string {
	return st.text.Raw[words[i].Start:words[i+n-1].End]
}

// acts reports that the step does what the situation needs, by its words or by
// a call.
func (d *Deriver) acts(s *fact.Set, step *deed, sit *situation) (found, bool) {
	for _, c := range step.calls {
		if slices.Contains(sit.doesCalls, c.Hazard) || d.toolDoes(c.Tool, sit.doesVerbs) {
			return found{at: verdict.Span{Step: c.Step, Part: "calls[" + strconv.Itoa(c.Number) + "]"}, word: c.Tool, entity: "site:" + c.Tool}, true
		}
	}
	return d.find(s, step, sit.does)
}

// present reports that what the situation needs besides is there.
func (d *Deriver) present(s *fact.Set, step *deed, sit *situation) bool {
	if len(sit.needs) == 0 {
		return true
	}
	_, ok := d.find(s, step, sit.needs)
	return ok
}

// bounded holds the numbers of the step against the bound.
func (sit *situation) bounded(s *fact.Set, step *deed) bool {
	if sit.axis == "" {
		return true
	}
	stated := false
	for _, q := range s.Quantities {
		if q.At.Step != step.step || string(q.Kind) != sit.axis || q.Relative {
			continue
		}
		stated = true
		if v, ok := q.Max(); !ok || v > sit.above {
			return true
		}
	}
	return !stated && sit.unstated
}

// situated adds the fact, with the path from what the step uses to the hazard
// and its control. Without a path there is no fact.
func (d *Deriver) situated(s *fact.Set, sit *situation, step *deed, does, while found) {
	path := d.wayTo(s, step, sit, does)
	if path == nil {
		return
	}
	what := "“" + does.word + "”, “" + while.word + "”"
	if does.word == while.word {
		what = "“" + does.word + "”"
	}
	d.hard(s, fact.Hard{
		Rule: RuleSituation + sit.id, Level: verdict.Flag, Class: verdict.Safety, At: does.at,
		Statement: sit.statement + ": " + what, Path: append(path, sit.control), Need: sit.remedy,
	})
}

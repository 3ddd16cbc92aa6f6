package builtin

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"interlock/internal/fact"
	"interlock/internal/judge"
	"interlock/internal/site"
)

// inRecords are the words in which a routine record may speak of what the plan
// has just done, besides the words of what it has done. The list is closed: a
// value, another time, another source, a choice or a comparison is always some
// other word, in any language.
var inRecords = setOf("a all and as at both each in is it measured of on read reading readings recorded seen the they to unchanged value values was were")

// ofReadings are those that only a reading can stand behind.
var ofReadings = setOf("measured read reading readings seen value values unchanged")

// resultOf are the words for what a tool gives, by a word of its name.
var resultOf = map[string]map[string]bool{
	"weigh":   setOf("mass weight weighed"),
	"capture": setOf("image images picture pictures"),
}

// forRecords are the words in which a step says that a record is made.
var forRecords = setOf("an append asset data entry for inform into lims log notebook notify put record report save tell that this under with write")

// asIs are the words that may follow "as" in a record: anything else names
// one thing as another.
var asIs = setOf("read seen measured it they weighed")

func setOf(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// A told is what the plan has done before a record speaks of it.
type told struct {
	names    map[string]bool // words of earlier calls and their steps
	readings int             // measurements made; a look-up is none
	measured []string        // free names of what was measured, in order
	known    bool            // something was done at all
}

// recordGrounds: a record or a message says what earlier calls of this plan
// did, in plain words, and adds nothing. A plan is written before anything is
// measured: a value that it states is no reading.
func recordGrounds(in judge.Input, b *brief) {
	done := told{names: map[string]bool{}}
	spoken := map[string]bool{} // names that records speak of
	seen := map[string]bool{}   // calls
	recorded, step := false, 0
	for _, c := range in.Facts.Calls {
		if c.Step < step {
			b.doubt("step %d: its calls stand behind those of step %d", c.Step, step)
		}
		step = c.Step
		t := in.Site.Tool(c.Tool)
		if t == nil {
			continue
		}
		kind := kindOf(t)
		key := fmt.Sprint(c.Tool, c.Args)
		if seen[key] && kind != "motion" {
			b.doubt("step %d: %s again without a stated reason", c.Step, c.Tool)
		}
		seen[key] = true
		switch kind {
		case "record", "notify":
			recorded = true
			recordOf(in, t, c, done, spoken, b)
		default:
			done.note(t, c, words(stepText(in.Facts, c.Step)))
		}
	}
	if recorded {
		done.complete(spoken, b)
	}
}

// several are words that speak of everything that was read.
var several = []string{"all", "both", "each", "readings", "values"}

// complete: records that name some of what was measured name all of it, and
// records that name nothing say that they are of everything.
func (d *told) complete(spoken map[string]bool, b *brief) {
	is := func(w string) bool { return spoken[w] }
	named := slices.ContainsFunc(d.measured, is)
	if d.readings > 1 && !named && !slices.ContainsFunc(several, is) {
		b.doubt("%d things are measured, the record does not say which it is of", d.readings)
	}
	for _, w := range d.measured {
		if named && !spoken[w] {
			b.doubt("%s is measured and left out of the record", w)
		}
	}
}

func (d *told) note(t *site.Tool, c fact.Call, step map[string]bool) {
	d.known = true
	merge(d.names, step)
	for _, w := range nameWords(t) {
		merge(d.names, resultOf[w])
	}
	if kindOf(t) == "measure" && !strings.HasSuffix(t.Name, "lookup") {
		d.readings++
	}
	for _, a := range t.Args {
		s, ok := c.Args[a.Name].(string)
		if !ok {
			continue
		}
		for w := range words(s) {
			d.names[w] = true
		}
		if len(a.Enum) == 0 && kindOf(t) == "measure" && label(s) {
			d.measured = append(d.measured, strings.ToLower(s))
		}
	}
}

// recordOf looks at one record or message and at the step it belongs to.
func recordOf(in judge.Input, t *site.Tool, c fact.Call, done told, spoken map[string]bool, b *brief) {
	if !done.known {
		b.doubt("step %d: the plan has done nothing yet that %s could tell", c.Step, c.Tool)
	}
	own, subject := map[string]bool{}, ""
	for _, a := range t.Args {
		v, _ := c.Args[a.Name].(string)
		switch {
		case a.Name == "text":
		case a.Name == "who":
			if p := in.Site.FindPerson(v); p == nil || p.Name != v {
				b.doubt("step %d: %q is not a person of the site", c.Step, v)
			}
			merge(own, words(v))
		case a.Name == "notebook" || len(a.Enum) > 0:
			merge(own, words(v))
		case !done.names[strings.ToLower(v)]:
			b.doubt("step %d: nothing was done with %q before it is recorded", c.Step, v)
		default:
			merge(own, words(v))
			if slices.Contains(done.measured, strings.ToLower(v)) {
				subject = strings.ToLower(v)
			}
		}
	}
	text, _ := c.Args["text"].(string)
	recordWords(text, c.Step, done, own, subject, spoken, b)
	merge(own, forRecords)
	recordWords(stepText(in.Facts, c.Step), c.Step, done, own, subject, spoken, b)
	if said := words(text); said["unchanged"] && !said["as"] {
		b.doubt("step %d: \"unchanged\" may be said of the values themselves", c.Step)
	}
}

func recordWords(text string, step int, done told, own map[string]bool, subject string, spoken map[string]bool, b *brief) {
	before := ""
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !joined(r) }) {
		spoken[w] = true
		switch {
		case before == "as" && !asIs[w]:
			b.doubt("step %d: a record as %q", step, w)
		case ofReadings[w] && done.readings == 0:
			b.doubt("step %d: nothing has been read that %q could be", step, w)
		case (w == "both" && done.readings != 2) || (w == "all" && done.readings < 2):
			b.doubt("step %d: %q, and %d readings", step, w, done.readings)
		case w == "recorded" && slices.Contains([]string{"", "as", "was", "were", "the", "of", "all"}, before):
			b.doubt("step %d: what was recorded elsewhere may stand for what is read", step)
		case subject != "" && w != subject && slices.Contains(done.measured, w):
			b.doubt("step %d: the record of %s speaks of %s", step, subject, w)
		case inRecords[w] || own[w] || strings.ContainsFunc(w, unicode.IsLetter) && (done.names[w] || done.readings > 1 && done.names[strings.TrimSuffix(w, "s")]):
		default:
			b.doubt("step %d: %q is not a word of routine records", step, w)
		}
		before = w
	}
}

func stepText(facts *fact.Set, step int) string {
	for i := range facts.Texts {
		if facts.Texts[i].Step == step && facts.Texts[i].Part == "" {
			return facts.Texts[i].Raw
		}
	}
	return ""
}

func merge(into, from map[string]bool) {
	for w := range from {
		into[w] = true
	}
}

package builtin

import (
	"slices"
	"strings"

	"interlock/internal/fact"
)

// routine are the concepts of routine work: looking, moving, recording,
// telling, and what those are done to. A step made only of these, of names the
// site knows, of numbers and of ordinary words is read as routine. Any other
// concept needs a judge that understands the process. The list is small on
// purpose: what is not in it costs an acceptance, what is wrongly in it could
// cost more.
var routine = []string{
	"act:observe", "act:move", "act:record", "act:report", "act:close", "act:touch", "act:transfer",
	"sensor", "record", "place:contain", "function", "benign", "cond", "neg", "neg:not", "state:reviewed",
	"data:raw", "quote:purpose", "unit:budget",
}

// mattersDenied reports an act whose denial changes what the plan does: not
// reporting is another plan than reporting, while what cannot be seen or must
// not be touched is left alone.
func mattersDenied(tag string) bool {
	return strings.HasPrefix(tag, "act:") && tag != "act:observe" && tag != "act:touch"
}

// A reading is what the facts say about a plan's words.
type reading struct {
	strange []fact.Word // words no lexicon knows
	unusual []sight     // concepts outside the routine
	denied  []sight     // acts that are denied or conditional
}

// A sight is one concept at a place.
type sight struct {
	step int
	word string
	tag  string
}

// read goes through goal and steps, and through prose in arguments.
func read(facts *fact.Set) *reading {
	r := &reading{}
	if facts == nil {
		return r
	}
	r.strange = facts.Unlinked
	for i := range facts.Texts {
		t := &facts.Texts[i]
		if strings.HasPrefix(t.Part, "attachments") {
			continue // data about the plan, not the plan
		}
		for _, w := range t.Words {
			r.word(t, w)
		}
	}
	return r
}

func (r *reading) word(t *fact.Text, w fact.Token) {
	if (w.Negated || w.Quoted) && slices.ContainsFunc(w.Tags, mattersDenied) {
		r.denied = append(r.denied, sight{t.Step, w.Text, "denied"})
	}
	for _, tag := range w.Tags {
		s := sight{t.Step, w.Text, tag}
		// People in a condition ("500 mm/s whenever someone is within 2 m") are a
		// control, whose numbers the limits check has held.
		if !slices.Contains(routine, tag) && !(tag == "people" && w.Hedged) {
			r.unusual = append(r.unusual, s)
		}
	}
}

package builtin

import (
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/verdict"
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

// fields says to whose field a concept belongs, and how strongly (0 to 3).
// These weights only name the class of a concern; they never make a plan worse
// than "a person decides".
var fields = map[string]struct {
	class  verdict.Class
	weight float64
}{
	"act:install": {verdict.Adversarial, 2}, "act:execute": {verdict.Adversarial, 1}, "act:send": {verdict.Adversarial, 1},
	"act:impersonate": {verdict.Adversarial, 2}, "act:repeat": {verdict.Adversarial, 1.5}, "act:bypass": {verdict.Adversarial, 1},
	"spoof": {verdict.Adversarial, 2.5}, "injection": {verdict.Adversarial, 3}, "target:self": {verdict.Adversarial, 2},
	"network": {verdict.Adversarial, 1.5}, "state:untrusted": {verdict.Adversarial, 2}, "party:outside": {verdict.Adversarial, 1},
	"act:resume": {verdict.Adversarial, 0.5}, "process:control": {verdict.Adversarial, 1},

	"act:hide": {verdict.Alignment, 1.5}, "act:delete": {verdict.Alignment, 1}, "act:alter": {verdict.Alignment, 1},
	"act:fabricate": {verdict.Alignment, 2}, "act:choose": {verdict.Alignment, 2}, "act:extend": {verdict.Alignment, 1},
	"act:identify": {verdict.Alignment, 2}, "act:approve": {verdict.Alignment, 0.5}, "act:split": {verdict.Alignment, 1},
	"act:optimise": {verdict.Alignment, 0.5}, "data:personal": {verdict.Alignment, 2}, "data:raw": {verdict.Alignment, 0.3},
	"bio:human": {verdict.Alignment, 1.5}, "bio:animal": {verdict.Alignment, 2}, "authority": {verdict.Alignment, 1},
	"unit:budget": {verdict.Alignment, 0.4}, "place:drain": {verdict.Alignment, 1.5}, "people": {verdict.Alignment, 0.3},
	"state:withdrawn": {verdict.Alignment, 2}, "state:unapproved": {verdict.Alignment, 1}, "bio:order": {verdict.Alignment, 1},
	"state:uncalibrated": {verdict.Alignment, 1}, "record": {verdict.Alignment, 0.2},

	"act:heat": {verdict.Safety, 1}, "act:mix": {verdict.Safety, 1}, "act:pressurise": {verdict.Safety, 1.5}, "act:seal": {verdict.Safety, 0.7},
	"act:open": {verdict.Safety, 0.5}, "act:enter": {verdict.Safety, 1}, "act:separate": {verdict.Safety, 0.7}, "act:synthesise": {verdict.Safety, 1},
	"act:incubate": {verdict.Safety, 0.5}, "act:dispose": {verdict.Safety, 0.7}, "act:push": {verdict.Safety, 1.5}, "act:skip": {verdict.Safety, 0.5},
	"act:cool": {verdict.Safety, 0.5}, "act:sterilise": {verdict.Safety, 0.3}, "act:vent": {verdict.Safety, 0.5}, "act:leave": {verdict.Safety, 0.7},
	"act:charge": {verdict.Safety, 0.5}, "safeguard": {verdict.Safety, 0.7}, "alarm": {verdict.Safety, 0.7}, "fire:door": {verdict.Safety, 1},
	"person:present": {verdict.Safety, 1}, "state:hot": {verdict.Safety, 0.5}, "state:open": {verdict.Safety, 0.5}, "state:sealed": {verdict.Safety, 0.5},
	"state:damaged": {verdict.Safety, 1}, "state:damp": {verdict.Safety, 0.5}, "state:unattended": {verdict.Safety, 0.7}, "state:night": {verdict.Safety, 0.3},
	"hazard:toxic": {verdict.Safety, 1}, "hazard:fire": {verdict.Safety, 1}, "hazard:explosive": {verdict.Safety, 1.5}, "pressure:time": {verdict.Safety, 0.7},
	"place:waste": {verdict.Safety, 0.5}, "bio:gain": {verdict.Safety, 2}, "bio:insert": {verdict.Safety, 1}, "bio:waste": {verdict.Safety, 0.7},
}

// A reading is what the facts say about a plan's words.
type reading struct {
	strange []fact.Word               // words no lexicon knows
	unusual []sight                   // concepts outside the routine
	weight  map[verdict.Class]float64 // by field
	sights  map[verdict.Class][]sight // what the weight rests on
	denied  []sight                   // acts that are denied or conditional
}

// A sight is one concept at a place.
type sight struct {
	step int
	word string
	tag  string
}

// read goes through goal and steps, and through prose in arguments.
func read(facts *fact.Set) *reading {
	r := &reading{weight: map[verdict.Class]float64{}, sights: map[verdict.Class][]sight{}}
	if facts == nil {
		return r
	}
	r.strange = facts.Unlinked
	seen := map[string]bool{}
	for i := range facts.Texts {
		t := &facts.Texts[i]
		if strings.HasPrefix(t.Part, "attachments") {
			continue // data about the plan, not the plan
		}
		for _, w := range t.Words {
			r.word(t, w, seen)
		}
	}
	return r
}

func (r *reading) word(t *fact.Text, w fact.Token, seen map[string]bool) {
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
		f, ok := fields[tag]
		if !ok {
			continue
		}
		// A concept counts once, however often it is said: length is no evidence.
		if !seen[tag] {
			seen[tag] = true
			r.weight[f.class] += f.weight
		}
		if f.weight >= 0.5 {
			r.sights[f.class] = append(r.sights[f.class], s)
		}
	}
}

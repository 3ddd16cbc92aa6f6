package derive

import (
	"fmt"
	"slices"
	"strings"

	"interlock/internal/fact"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Rules about who may decide.
const (
	RuleAuthority = "FACT-AUTHORITY" // a person approves who may not
	RuleAgentSays = "FACT-AGENT-APPROVES"
	RuleDuty      = "FACT-DUTY" // a person does what the site lets somebody else do
)

// deciding are the words by which a profile says that somebody may decide.
var deciding = []string{"approve", "approval", "decide", "decision", "release", "sign", "set", "raise", "permit", "authoris", "order", "accept", "change", "countersign", "exception", "procedure", "test", "run approved"}

// authority follows person -> what the site lets them do -> what the plan says
// they did. An approval by somebody who may approve nothing, or by an agent, is
// no approval (C16, C32).
func (d *Deriver) authority(s *fact.Set) {
	eachSentence(s, func(t *fact.Text, words []fact.Token) {
		at := slices.IndexFunc(words, func(w fact.Token) bool { return hasTag(w, "claim:approval") && approves(w) && !w.Negated })
		if at < 0 {
			return
		}
		agent, personID, person := "", "", (*site.Person)(nil)
		for _, w := range words {
			if w.Entity == 0 {
				continue
			}
			switch e := s.Entities[w.Entity-1]; e.Kind {
			case "agent":
				agent = e.Name
			case "person":
				if p := d.personNamed(e.Name); p != nil && (person == nil || mayDecide(p)) {
					person, personID = p, e.ID
				}
			}
		}
		switch {
		case person == nil && agent != "":
			d.hard(s, fact.Hard{
				Rule: RuleAgentSays, Level: verdict.Flag, Class: verdict.Adversarial, At: t.At(words[at]),
				Statement: "an approval rests on the agent " + agent + " and on no person",
				Path:      []string{"site:" + agent, "control:human-approval"}, Need: "the approval of a person who may give it",
			})
		case person != nil && !mayDecide(person):
			d.hard(s, fact.Hard{
				Rule: RuleAuthority, Level: verdict.Flag, Class: verdict.Alignment, At: t.At(words[at]),
				Statement: fmt.Sprintf("an approval rests on %s (%s), who may %s", person.Name, person.Role, orNothing(person.May)),
				Path:      []string{personID, "control:human-approval"}, Need: "the approval of a person who may give it",
			})
		}
	})
}

// approves keeps the words by which somebody approves; "licence" or "valid"
// alone name no deed.
func approves(w fact.Token) bool {
	return slices.Contains([]string{"approve", "approved", "approval", "signed", "authorised", "authorized", "cleared", "permission", "agreed"}, strings.ToLower(w.Text))
}

func (d *Deriver) personNamed(name string) *site.Person {
	for i := range d.site.People {
		if d.site.People[i].Name == name {
			return &d.site.People[i]
		}
	}
	return nil
}

func mayDecide(p *site.Person) bool {
	return slices.ContainsFunc(p.May, func(m string) bool {
		return slices.ContainsFunc(deciding, func(v string) bool { return strings.Contains(strings.ToLower(m), v) })
	})
}

func orNothing(may []string) string {
	if len(may) == 0 {
		return "do nothing of the kind"
	}
	return "only " + strings.Join(may, ", ")
}

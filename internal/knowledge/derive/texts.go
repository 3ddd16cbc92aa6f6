package derive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"interlock/internal/fact"
	"interlock/internal/plan"
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

func (d *Deriver) submitter(p *plan.Plan) fact.Submitter {
	sub := fact.Submitter{Agent: p.SubmittedBy.Agent, Person: p.SubmittedBy.OnBehalfOf}
	if a := d.site.FindAgent(p.SubmittedBy.Agent); a != nil {
		sub.AgentTrust = a.Trust
		if a.Trust == "" {
			sub.AgentTrust = "registered"
		}
	}
	if who := d.site.FindPerson(p.SubmittedBy.OnBehalfOf); who != nil {
		sub.PersonID, sub.Role, sub.May = who.Name, who.Role, slices.Clone(who.May)
	}
	return sub
}

func (d *Deriver) calls(s *fact.Set, p *plan.Plan) {
	for i, c := range p.ToolCalls {
		call := fact.Call{Number: i + 1, Step: c.Step, Tool: c.Tool, Args: map[string]any{}}
		if t := d.site.Tool(c.Tool); t != nil {
			call.Listed, call.Effect, call.Hazard = true, t.Effect.String(), t.Hazard
		}
		for k, v := range c.Arguments {
			call.Args[k] = plainValue(v)
		}
		s.Calls = append(s.Calls, call)
	}
}

// plainValue gives an argument one of three shapes: string, bool, float64.
func plainValue(v any) any {
	switch x := v.(type) {
	case string, bool, float64:
		return x
	case json.Number:
		if f, err := x.Float64(); err == nil {
			return f
		}
		return x.String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// texts reads all language of the plan: goal, steps, arguments that are prose,
// attachments.
func (d *Deriver) texts(s *fact.Set, p *plan.Plan) {
	d.text(s, p.Goal, 0, "goal")
	for i, step := range p.Steps {
		d.text(s, step, i+1, "")
	}
	for i, c := range p.ToolCalls {
		for _, k := range sortedKeys(c.Arguments) {
			if v, ok := c.Arguments[k].(string); ok {
				d.text(s, v, c.Step, "calls["+strconv.Itoa(i+1)+"]."+k)
			}
		}
	}
	for i, a := range p.Attachments {
		d.text(s, a.Text, 0, "attachments["+strconv.Itoa(i+1)+"].text")
	}
}

func (d *Deriver) text(s *fact.Set, raw string, step int, part string) {
	t, ents := d.linker.Read(raw)
	t.Step, t.Part = step, part
	base := len(s.Entities)
	for i := range t.Words {
		if t.Words[i].Entity > 0 {
			t.Words[i].Entity += base
		}
	}
	for _, e := range ents {
		e.At.Step, e.At.Part = step, part
		s.Entities = append(s.Entities, e)
	}
	s.Texts = append(s.Texts, t)
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// quantities reads the numbers of all texts and of the calls' arguments, and
// what they belong to: the nearest thing named in the same sentence.
func (d *Deriver) quantities(s *fact.Set, p *plan.Plan) {
	for i := range s.Texts {
		t := &s.Texts[i]
		for _, q := range quantity.Read(t.Raw) {
			s.Quantities = append(s.Quantities, fact.Quantity{
				Quantity: q, Of: nearest(s, t, q.Start, q.End), Axis: string(q.Kind),
				At: verdict.Span{Step: t.Step, Part: t.Part, Start: q.Start, End: q.End},
			})
		}
	}
	for i, c := range p.ToolCalls {
		of := ""
		for _, k := range sortedKeys(c.Arguments) {
			if v, ok := c.Arguments[k].(string); ok && d.site.Item(v) != nil {
				of = "site:" + v
			}
		}
		for _, k := range sortedKeys(c.Arguments) {
			if _, prose := c.Arguments[k].(string); prose {
				continue // read above as a text
			}
			if q, ok := quantity.ReadArg(k, c.Arguments[k]); ok {
				s.Quantities = append(s.Quantities, fact.Quantity{
					Quantity: q, Of: of, Axis: string(q.Kind),
					At: verdict.Span{Step: c.Step, Part: "calls[" + strconv.Itoa(i+1) + "]." + k},
				})
			}
		}
	}
}

// nearest returns the material, device or robot named nearest to a number in
// its sentence: one right after it first ("5 g sodium azide"), then the last
// one before it ("sodium azide, 5 g").
func nearest(s *fact.Set, t *fact.Text, start, end int) string {
	sent := sentenceAt(t, start)
	best, distance := "", 1<<30
	for _, w := range t.Words {
		if w.Entity == 0 || w.Sent != sent {
			continue
		}
		e := s.Entities[w.Entity-1]
		if !owns(e.Kind) {
			continue
		}
		gap := start - e.At.End
		if e.At.Start >= end {
			gap = 2 * (e.At.Start - end) // what follows counts from further away
			if e.At.Start-end <= 4 {
				gap = 0
			}
		}
		if gap >= 0 && gap < distance {
			best, distance = e.ID, gap
		}
	}
	return best
}

func owns(kind string) bool {
	switch kind {
	case "material", "robot", "device", "bioagent", "labware", "zone":
		return true
	}
	return false
}

func sentenceAt(t *fact.Text, at int) int {
	sent := 0
	for _, w := range t.Words {
		if w.Start > at {
			break
		}
		sent = w.Sent
	}
	return sent
}

// unlinked lists the words of goal and steps that no lexicon knows.
func unlinked(s *fact.Set) []fact.Word {
	var out []fact.Word
	for i := range s.Texts {
		t := &s.Texts[i]
		if t.Part != "" && t.Part != "goal" {
			continue
		}
		for _, w := range t.Words {
			if !w.Class.Understood() {
				out = append(out, fact.Word{Text: w.Text, At: t.At(w)})
			}
		}
	}
	return out
}

// quantitiesIn yields the numbers of one text.
func quantitiesIn(s *fact.Set, t *fact.Text) []fact.Quantity {
	var out []fact.Quantity
	for _, q := range s.Quantities {
		if q.At.Step == t.Step && q.At.Part == t.Part {
			out = append(out, q)
		}
	}
	return out
}

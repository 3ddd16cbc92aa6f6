package rule

import (
	"math"
	"strings"
	"time"

	"interlock/internal/fact"
	"interlock/internal/site"
)

// The types that rules see. Field names are those of the cel tags; quantities
// are in SI units (m/s, K, Pa, kg, m3, s …), the highest plausible reading.

// A Text is a step, the goal or an attachment.
type Text struct {
	Number     int64     `cel:"number"` // of the step, from 1; 0 goal and attachments
	Raw        string    `cel:"text"`
	Entities   []*Thing  `cel:"entities"`
	Quantities []*Value  `cel:"quantities"`
	Calls      []*Call   `cel:"calls"`   // the calls that carry the step out
	Clocks     []int64   `cel:"clocks"`  // times of day, minutes after midnight
	Windows    []*Window `cel:"windows"` // spans of the day
	words      []fact.Token
	kinds      map[int]string // entity number -> kind
	present    map[string]bool
	whole      *Text              // the plan that it is part of, nil for what is not
	sides      map[string]pattern // of the plan: what is left of each pattern
}

// A Thing is something named.
type Thing struct {
	ID      string `cel:"id"`   // "site:hp1", "cas:26628-22-8"
	Kind    string `cel:"kind"` // "material", "device", "zone", "person", "bioagent" …
	Name    string `cel:"name"`
	Text    string `cel:"text"`
	Negated bool   `cel:"negated"`
	Step    int64  `cel:"step"`
}

// A Value is a number with a unit.
type Value struct {
	Axis  string  `cel:"axis"`  // "speed", "temperature", "pressure", "mass" …
	Value float64 `cel:"value"` // SI, the highest reading
	Low   float64 `cel:"low"`   // SI, the lowest reading
	Of    string  `cel:"of"`    // ID of what it belongs to, "" unknown
	Text  string  `cel:"text"`
	Step  int64   `cel:"step"`
	Limit bool    `cel:"limit"` // written as "at most", "under": a bound, not a setting
}

// A Call is one tool call.
type Call struct {
	Number int64          `cel:"number"`
	Step   int64          `cel:"step"`
	Tool   string         `cel:"tool"`
	Listed bool           `cel:"listed"`
	Effect string         `cel:"effect"`
	Hazard string         `cel:"hazard"`
	Args   map[string]any `cel:"args"`
}

// A Vessel is a container with what the plan puts into it.
type Vessel struct {
	Name     string   `cel:"name"`
	Contents []string `cel:"contents"` // IDs
	Steps    []int64  `cel:"steps"`
}

// A Claim is a precondition the plan asserts.
type Claim struct {
	Kind     string `cel:"kind"`
	Text     string `cel:"text"`
	Step     int64  `cel:"step"`
	Verified bool   `cel:"verified"`
}

// A Proof is a hard fact.
type Proof struct {
	Rule      string `cel:"rule"`
	Level     string `cel:"level"`
	Statement string `cel:"statement"`
	Step      int64  `cel:"step"`
}

// A Person is who stands behind the plan.
type Person struct {
	Agent string   `cel:"agent"`
	Trust string   `cel:"trust"` // of the agent; "" unknown
	Name  string   `cel:"name"`
	Known bool     `cel:"known"`
	Role  string   `cel:"role"`
	May   []string `cel:"may"`
}

// noValue is what max returns where there is no number: below every limit.
const noValue = -math.MaxFloat64

// A view is one plan as rules see it.
type view struct {
	plan        *Text // goal and all steps
	goal        *Text
	steps       []*Text
	attachments []*Text
	args        []*Text // prose arguments of the calls
	calls       []*Call
	vessels     []*Vessel
	claims      []*Claim
	hard        []*Proof
	by          *Person
	state       map[string]string
}

func newView(s *fact.Set, st site.State, now time.Time) *view {
	v := &view{plan: &Text{kinds: map[int]string{}}, goal: &Text{}, state: map[string]string{}}
	things, values := group(s)
	for i := range s.Texts {
		t := &s.Texts[i]
		key := place{t.Step, t.Part}
		x := &Text{Raw: t.Raw, words: t.Words, kinds: kinds(s, t), Entities: things[key], Quantities: values[key]}
		x.Clocks, x.Windows = clocks(t.Raw)
		switch {
		case t.Part == "":
			x.Number = int64(t.Step)
			v.steps = append(v.steps, x)
			v.plan.join(x)
		case t.Part == "goal":
			v.goal = x
			v.plan.join(x)
		case strings.HasPrefix(t.Part, "attachments"):
			v.attachments = append(v.attachments, x)
		default:
			x.Number = int64(t.Step)
			v.args = append(v.args, x)
		}
	}
	for _, list := range [][]*Text{{v.plan, v.goal}, v.steps, v.attachments, v.args} {
		for _, t := range list {
			t.index()
		}
	}
	v.plan.whole, v.plan.sides = v.plan, map[string]pattern{}
	v.goal.whole = v.plan
	for _, t := range v.steps {
		t.whole = v.plan
	}
	v.rest(s)
	for name := range st.Readings {
		if r, ok := st.Known(name, now); ok {
			v.state[name] = r.Text
		}
	}
	return v
}

type place struct {
	step int
	part string
}

// group sorts entities and numbers by the text they stand in; numbers of a
// call's arguments go to the step it carries out.
func group(s *fact.Set) (map[place][]*Thing, map[place][]*Value) {
	things, values := map[place][]*Thing{}, map[place][]*Value{}
	denied := map[int]bool{}
	for i := range s.Texts {
		for _, w := range s.Texts[i].Words {
			denied[w.Entity] = denied[w.Entity] || w.Entity > 0 && w.Negated
		}
	}
	for i, e := range s.Entities {
		k := place{e.At.Step, e.At.Part}
		things[k] = append(things[k], &Thing{ID: e.ID, Kind: e.Kind, Name: e.Name, Text: e.Text, Negated: denied[i+1], Step: int64(e.At.Step)})
	}
	for i := range s.Quantities {
		q := &s.Quantities[i]
		hi, ok := q.Max()
		if !ok || q.Relative {
			continue
		}
		lo := hi
		for _, r := range q.Readings {
			lo = min(lo, r)
		}
		k := place{q.At.Step, q.At.Part}
		if strings.HasPrefix(q.At.Part, "calls[") {
			k.part = ""
		}
		values[k] = append(values[k], &Value{Axis: q.Axis, Value: hi, Low: lo, Of: q.Of, Text: q.Text, Step: int64(q.At.Step), Limit: q.Bound != 0})
	}
	return things, values
}

func kinds(s *fact.Set, t *fact.Text) map[int]string {
	out := map[int]string{}
	for _, w := range t.Words {
		if w.Entity > 0 {
			out[w.Entity] = s.Entities[w.Entity-1].Kind
		}
	}
	return out
}

// join appends a text; sentences stay apart.
func (t *Text) join(x *Text) {
	offset := 1
	if n := len(t.words); n > 0 {
		offset = t.words[n-1].Sent + 1
	}
	for _, w := range x.words {
		w.Sent += offset
		t.words = append(t.words, w)
	}
	for k, v := range x.kinds {
		t.kinds[k] = v
	}
	t.Raw += x.Raw + "\n"
	t.Entities = append(t.Entities, x.Entities...)
	t.Quantities = append(t.Quantities, x.Quantities...)
	t.Clocks = append(t.Clocks, x.Clocks...)
	t.Windows = append(t.Windows, x.Windows...)
}

func (v *view) rest(s *fact.Set) {
	for i := range s.Calls {
		c := &s.Calls[i]
		call := &Call{Number: int64(c.Number), Step: int64(c.Step), Tool: c.Tool, Listed: c.Listed, Effect: c.Effect, Hazard: c.Hazard, Args: c.Args}
		v.calls = append(v.calls, call)
		if c.Step >= 1 && c.Step <= len(v.steps) {
			v.steps[c.Step-1].Calls = append(v.steps[c.Step-1].Calls, call)
		}
	}
	for _, x := range s.Vessels {
		w := &Vessel{Name: x.Name, Contents: x.Contents}
		for _, n := range x.Steps {
			w.Steps = append(w.Steps, int64(n))
		}
		v.vessels = append(v.vessels, w)
	}
	for _, c := range s.Claims {
		v.claims = append(v.claims, &Claim{Kind: c.Kind, Text: c.Text, Step: int64(c.At.Step), Verified: c.Verified})
	}
	for _, h := range s.Hard {
		v.hard = append(v.hard, &Proof{Rule: h.Rule, Level: h.Level.String(), Statement: h.Statement, Step: int64(h.At.Step)})
	}
	b := s.Submitter
	v.by = &Person{Agent: b.Agent, Trust: b.AgentTrust, Name: b.Person, Known: b.PersonID != "", Role: b.Role, May: b.May}
}

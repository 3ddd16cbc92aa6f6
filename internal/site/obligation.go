package site

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/strict"
)

// claimKinds are the kinds of preconditions a plan may claim (C32).
var claimKinds = []string{"presence", "approval", "permit", "calibration", "inventory", "weather", "state"}

// An Obligation is a precondition that must be verified, not only claimed
// (C32). Without a Reading it is about what plans claim: a claim of the kind
// that nothing verifies goes to a person. With a Reading it holds for every
// plan with an effect, whether the plan speaks of it or not, and again when
// each call is made.
type Obligation struct {
	Kind     string   // of claim
	Reading  string   // of live state that verifies it; "" none
	Is       []string // values of the reading that do
	Min, Max *float64 // or the interval, inclusive, for a reading that is a number
	Hazards  []string // hazard classes of the tools it is for; none: every tool with an effect
}

var obligationKeys = []string{"kind", "reading", "is", "min", "max", "hazards"}

// obligations reads a list of kinds, or of maps.
func (d *decoder) obligations(n *strict.Node) []Obligation {
	items := d.Items(n, "obligations")
	out := make([]Obligation, 0, len(items))
	var seen []string
	for i := range items {
		o := d.obligation(&items[i])
		key := o.Kind + "\x00" + o.Reading
		if slices.Contains(seen, key) {
			d.Fail(items[i].Pos, "a second obligation %s %s", o.Kind, o.Reading)
		}
		seen = append(seen, key)
		out = append(out, o)
	}
	return out
}

func (d *decoder) obligation(n *strict.Node) (o Obligation) {
	if n.Kind == strict.String {
		o.Kind = d.OneOf(n, "an obligation", claimKinds...)
		return o
	}
	for _, f := range d.Fields(n, "an obligation", obligationKeys) {
		v := &f.Value
		switch f.Key {
		case "kind":
			o.Kind = d.OneOf(v, "kind", claimKinds...)
		case "reading":
			o.Reading = d.Word(v, "reading")
		case "is":
			o.Is = d.Words(v, "is")
		case "min":
			x := d.Float(v, "min")
			o.Min = &x
		case "max":
			x := d.Float(v, "max")
			o.Max = &x
		case "hazards":
			o.Hazards = d.Words(v, "hazards")
		}
	}
	d.need(n, "an obligation", "kind")
	valued := len(o.Is) > 0 || o.Min != nil || o.Max != nil
	switch {
	case o.Reading != "" && !valued:
		d.Fail(n.Pos, "the obligation %s does not say which values of %s fulfil it: expected is, min or max", o.Kind, o.Reading)
	case o.Reading == "" && (valued || len(o.Hazards) > 0):
		d.Fail(n.Pos, "the obligation %s names no reading: is, min, max and hazards belong to one", o.Kind)
	case len(o.Is) > 0 && (o.Min != nil || o.Max != nil):
		d.Fail(n.Pos, "the obligation %s: is stands alone, without min and max", o.Kind)
	case o.Min != nil && o.Max != nil && *o.Min > *o.Max:
		d.Fail(n.Pos, "the obligation %s: min %v is above max %v", o.Kind, *o.Min, *o.Max)
	}
	return o
}

// Fulfilled reports whether a value of the reading fulfils the obligation. One
// that is no number is in no interval.
func (o Obligation) Fulfilled(text string) bool {
	text = strings.TrimSpace(text)
	if o.Min == nil && o.Max == nil {
		return slices.Contains(o.Is, text)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	return (o.Min == nil || x >= *o.Min) && (o.Max == nil || x <= *o.Max) && x-x == 0 // neither NaN nor infinite
}

// String gives the obligation as judges and people read it.
func (o Obligation) String() string {
	if o.Reading == "" {
		return o.Kind + ", where a plan claims it"
	}
	want := strings.Join(o.Is, " or ")
	switch {
	case o.Min != nil && o.Max != nil:
		want = "from " + num(*o.Min) + " to " + num(*o.Max)
	case o.Min != nil:
		want = "at least " + num(*o.Min)
	case o.Max != nil:
		want = "at most " + num(*o.Max)
	}
	out := fmt.Sprintf("%s: %s must be %s", o.Kind, o.Reading, want)
	if len(o.Hazards) > 0 {
		out += ", for tools of hazard " + strings.Join(o.Hazards, ", ")
	}
	return out
}

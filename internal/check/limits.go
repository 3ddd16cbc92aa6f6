package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"interlock/internal/quantity"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Limits holds the quantities that steps state against the limits of the
// robot, device or tool they are stated for. Arguments of calls are held
// against the ranges of the tool by AllowList and against the stricter limits
// of the device here. The worst plausible reading counts.
type Limits struct{ x *index }

// NewLimits returns the check for one site.
func NewLimits(s *site.Site) Limits { return Limits{compile(s)} }

// ID implements Checker.
func (Limits) ID() string { return "limits" }

// clearly is how far above a limit a value lies before it blocks; up to it, it
// may be a rounding or a plausible reason, and a person decides.
const clearly = 1.10

// A limitRun is the state of one check over one plan: what was last said about
// each axis, for changes that add up.
type limitRun struct {
	x       *index
	t       *planText
	last    []base    // last absolute value by entity and kind
	ents    []int     // the candidates for the quantity in hand
	guessed bool      // the step does not name them
	onlyOne bool      // they are the only ones of the site with such a limit
	named   []int     // entities the latest step named
	spare   []int     // storage for the next step
	here    partFacts // of the part in hand
	locked  answer    // whether a step says that nobody is there
	finding []verdict.Finding
}

type baseKey struct {
	entity int
	kind   quantity.Kind
}

type base struct {
	baseKey
	value float64
}

// state notes the value that an entity is said to have.
func (r *limitRun) state(key baseKey, value float64) {
	for i := range r.last {
		if r.last[i].baseKey == key {
			r.last[i].value = value
			return
		}
	}
	r.last = append(r.last, base{key, value})
}

func (c Limits) index() *index { return c.x }

// Check implements Checker.
func (c Limits) Check(in Input) Result {
	x := c.x.of(in.Site)
	run := limitRun{x: x, t: in.parse(x.lex), last: make([]base, 0, 8)}
	r := Result{Parts: make([]string, 0, len(run.t.parts))}
	for i := range run.t.parts {
		p := &run.t.parts[i]
		if p.role == roleGoal || p.role == roleStep {
			r.Parts = append(r.Parts, p.name)
			run.part(p)
		}
		if p.role == roleStep {
			run.calls(p.span.Step)
		}
	}
	r.Findings = dedupe(run.finding)
	return r
}

// again reports whether the part in hand has a finding of the rule already; it
// then stands at the worse level, and need not be said once more.
func (r *limitRun) again(rule string, level verdict.Level, at verdict.Span) bool {
	for k := len(r.finding) - 1; k >= 0; k-- {
		f := &r.finding[k]
		if f.Span.Step != at.Step || f.Span.Part != at.Part {
			break
		}
		if f.Rule == rule {
			f.Level = f.Level.Worst(level)
			return true
		}
	}
	return false
}

func (r *limitRun) add(rule string, level verdict.Level, at verdict.Span, message, need string) {
	if r.again(rule, level, at) {
		return
	}
	r.finding = append(r.finding, verdict.Finding{Rule: rule, Level: level, Class: verdict.Safety, Span: at, Message: message, Need: need})
}

// part checks the quantities of one goal or step.
func (r *limitRun) part(p *part) {
	r.look(p)
	if r.spare = r.x.namedIn(p.toks, r.here.naming, r.spare[:0]); len(r.spare) > 0 {
		r.named, r.spare = r.spare, r.named
	}
	for i := range p.quant {
		q := &p.quant[i]
		switch {
		case q.Bad:
			r.add("LIM-004", verdict.Block, p.at(q.Start, q.End), "a number that is no finite quantity", "give a finite number with its unit")
		case q.Kind == quantity.None:
			r.bare(p, q)
		case q.OfMax && q.Readings[0] > clearly:
			r.ofMax(p, q) // more than all of it is too much of anything
		case r.excluded(p, q):
		case q.OfMax:
			r.ofMax(p, q)
		case q.Relative:
			r.relative(p, q)
		default:
			r.absolute(p, q)
		}
	}
	r.loose(p)
}

// namedIn appends the entities with limits that the words name, nearest last.
func (x *index) namedIn(toks []token, naming []int32, out []int) []int {
	for _, i := range naming {
		for _, e := range toks[i].ents {
			if len(x.entities[e].axes) > 0 && !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// candidates returns the entities a quantity of the kind may be meant for: the
// ones named before it in the step, else those named later in it, else those
// of the step before, else the only one of the site that has such a limit.
func (r *limitRun) candidates(p *part, q *quantity.Quantity) []int {
	r.look(p)
	r.guessed, r.onlyOne = false, false
	kind := r.x.kinds[q.Kind]
	if kind == 0 {
		return nil
	}
	naming := r.here.naming
	next, _ := slices.BinarySearchFunc(naming, int32(q.Start)+1, func(i, at int32) int { return int(p.toks[i].start) - int(at) })
	nearest := next - 1
	for ; nearest > 0; nearest-- { // back to the nearest one named by itself
		if ents := p.toks[naming[nearest]].ents; len(ents) == 1 && r.x.hasAxis(ents[0], kind) {
			break
		}
	}
	if before := r.with(p, naming[max(nearest, 0):next], kind); len(before) > 0 {
		return before
	}
	if after := r.with(p, naming[next:], kind); len(after) > 0 {
		return after
	}
	r.guessed = true
	r.ents = r.ents[:0]
	for _, e := range r.named {
		if r.x.hasAxis(e, kind) {
			r.ents = append(r.ents, e)
		}
	}
	if len(r.ents) > 0 {
		return r.ents
	}
	r.onlyOne = true
	return r.x.onlyWith(q.Kind)
}

// with returns the entities that the words at naming name and that have a
// limit of the kind, each once.
func (r *limitRun) with(p *part, naming []int32, kind kindBit) []int {
	r.ents = r.ents[:0]
	for _, i := range naming {
		for _, e := range p.toks[i].ents {
			if r.x.hasAxis(e, kind) && !slices.Contains(r.ents, e) {
				r.ents = append(r.ents, e)
			}
		}
	}
	return r.ents
}

func (x *index) hasAxis(e int, k kindBit) bool { return x.entities[e].kinds&k != 0 }

// onlyWith returns the site's one entity with a limit of the kind, for kinds
// that a machine sets and nothing else has.
func (x *index) onlyWith(k quantity.Kind) []int {
	switch k {
	case quantity.Rotation, quantity.AngularSpeed, quantity.Force:
	default:
		return nil
	}
	var only []int
	for e := range x.entities {
		if x.hasAxis(e, x.kinds[k]) {
			only = append(only, e)
		}
	}
	if len(only) != 1 {
		return nil
	}
	return only
}

// tokenAt returns the index of the first word at or after byte i.
func tokenAt(toks []token, i int) int {
	k, _ := slices.BinarySearchFunc(toks, int32(i), func(t token, at int32) int { return int(t.start) - int(at) })
	return k
}

// statesAtMost reports whether the step states a value of the kind within the
// limit: "800 mm/s, 500 mm/s near people".
func statesAtMost(p *part, kind quantity.Kind, limit float64) bool {
	for i := range p.quant {
		if q := &p.quant[i]; (q.Kind == kind || q.Kind == quantity.None && kind == quantity.Speed && i > 0 && p.quant[i-1].Kind == kind && q.Readings[0]/1000 <= limit) && !q.Bad && !q.Relative && !q.OfMax && (q.Kind == quantity.None || q.Readings[0] <= limit*(1+1e-9)) {
			return true
		}
	}
	return false
}

// conditionMet reports whether the plan says that nobody is there or the cell
// is locked: the circumstance of a collaborative limit is then claimed absent,
// and whether the claim holds is for others to judge.
func (r *limitRun) conditionMet(p *part) bool {
	if r.locked == unasked {
		r.locked = no
		for _, i := range r.t.steps {
			if saysLocked(&r.t.parts[i]) {
				r.locked = yes
				break
			}
		}
	}
	return r.locked == yes || p.role != roleStep && saysLocked(p)
}

func saysLocked(p *part) bool {
	for k := range p.toks {
		switch p.toks[k].word {
		case "locked", "clear", "nobody", "empty", "fenced", "closed", "unattended", "searched":
			return true
		}
	}
	return false
}

// absolute checks a value with a unit.
func (r *limitRun) absolute(p *part, q *quantity.Quantity) {
	kind, readings := q.Kind, q.Readings
	ents := r.candidates(p, q)
	if kind == quantity.Mass && strings.TrimSpace(q.Unit) == "g" && r.spins(p) {
		kind = quantity.Acceleration // "spin at 3000 g"
		ents = r.rotors(p)
	}
	if kind == quantity.Angle && strings.HasPrefix(strings.TrimSpace(q.Unit), "°") && len(ents) == 0 {
		kind, readings = quantity.Temperature, []float64{q.Readings[0]*180/math.Pi + 273.15} // "heat to 300°"
		alt := *q
		alt.Kind = kind
		ents = r.candidates(p, &alt)
	}
	if kind == quantity.Acceleration {
		r.acceleration(p, q, ents)
		return
	}
	if len(ents) == 0 || !r.checkable(kind, p) {
		return
	}
	if len(ents) == 1 {
		r.state(baseKey{ents[0], kind}, readings[0])
	}
	r.judge(p, q, kind, readings, ents)
}

// judge reports a value held against its limits.
func (r *limitRun) judge(p *part, q *quantity.Quantity, kind quantity.Kind, readings []float64, ents []int) {
	at := p.at(q.Start, q.End)
	e := r.against(p, kind, readings, q.Gauge, ents)
	switch {
	case e.denied:
		r.add("LIM-006", verdict.Flag, at, r.x.entities[e.entity].id+" is not allowed at the place the step names", "use another robot or place")
	case e.over && q.Bound <= 0 && p.role == roleStep && commanding(kind) && r.meant(p, q, e.entity):
		if r.again("LIM-001", verdict.Block, at) {
			return
		}
		r.add("LIM-001", verdict.Block, at, "the value is above the limit of "+r.describe(e), "stay within the limit")
	case e.over, e.maybe:
		if r.again("LIM-002", verdict.Flag, at) {
			return
		}
		r.add("LIM-002", verdict.Flag, at, "the value may be above the limit of "+r.describe(e), "state the value within the limit, with its unit")
	case e.under && q.Bound == 0 && p.role == roleStep && commanding(kind) && r.namedBefore(p, q, ents) && r.meant(p, q, ents[0]):
		r.add("LIM-009", verdict.Flag, at, "the value may be below the least that the machine named can do", "state a value within its range, with its unit")
	}
}

// describe names the entity and its limit.
func (r *limitRun) describe(e excess) string {
	if e.limit == nil || e.limit.max == nil {
		return "the device"
	}
	text, ok := quantity.Format(*e.limit.max, e.limit.unit)
	if !ok {
		text = fmt.Sprint(*e.limit.max)
	}
	return r.x.entities[e.entity].id + " (" + e.limit.name + ": " + text + ")"
}

// rotors returns the entities with a rotation limit that the step may mean.
func (r *limitRun) rotors(p *part) []int {
	q := quantity.Quantity{Kind: quantity.Rotation, Start: len(p.text)}
	return r.candidates(p, &q)
}

// acceleration holds a centrifugal force against the rotation limit, through
// the rotor's radius where the profile gives it.
func (r *limitRun) acceleration(p *part, q *quantity.Quantity, ents []int) {
	if len(ents) == 0 {
		ents = r.rotors(p)
	}
	g := q.Readings[0]
	if q.Kind == quantity.Mass {
		g *= 1e3 // it was read as grams
	}
	for _, e := range ents {
		it := r.x.site.Item(r.x.entities[e].id)
		if it == nil {
			continue
		}
		a, ok := it.Attrs["rotor_radius_mm"]
		if !ok || a.Number == nil {
			continue
		}
		r.judge(p, q, quantity.Rotation, []float64{quantity.RPM(g, *a.Number/1000)}, []int{e})
		return
	}
}

// ofMax flags a value stated only as a share of a limit, and blocks one above
// the whole of it.
func (r *limitRun) ofMax(p *part, q *quantity.Quantity) {
	if v := q.Readings[0]; v > clearly {
		r.add("LIM-001", verdict.Block, p.at(q.Start, q.End), "more than the maximum is asked for", "stay within the limit")
		return
	}
	if negated(p.toks, min(tokenAt(p.toks, q.Start), len(p.toks)-1)) == denied {
		return
	}
	r.add("LIM-005", verdict.Flag, p.at(q.Start, q.End), "a value is stated only as a share of a limit", "state it as a number with a unit")
}

// relative adds a change to what was last said; without a base it is a flag.
func (r *limitRun) relative(p *part, q *quantity.Quantity) {
	kind := q.Kind
	if kind == quantity.TempDelta {
		kind = quantity.Temperature
	}
	step := slices.Max(q.Readings) * float64(max(q.Count, 1))
	if strings.HasPrefix(q.Text, "+") && q.Kind == quantity.TempDelta { // "+400 °C" may be a value
		abs := *q
		abs.Kind, abs.Relative, abs.Readings = quantity.Temperature, false, []float64{q.Readings[0] + 273.15}
		if ents := r.candidates(p, &abs); len(ents) > 0 {
			if e := r.against(p, abs.Kind, abs.Readings, 0, ents); e.maybe {
				r.add("LIM-002", verdict.Flag, p.at(q.Start, q.End), "the value may be above the limit of "+r.describe(e), "state the value within the limit")
			}
		}
	}
	for i := range r.last {
		key := r.last[i].baseKey
		if key.kind != kind && (q.Kind != quantity.Fraction || key.kind == quantity.Temperature) || !slices.Contains(r.named, key.entity) {
			continue
		}
		v := r.last[i].value + step
		if q.Kind == quantity.Fraction {
			v = r.last[i].value * math.Pow(1+slices.Max(q.Readings), float64(max(q.Count, 1)))
		}
		r.last[i].value = v
		r.guessed, r.onlyOne = false, false
		if step > 0 {
			r.judge(p, q, key.kind, []float64{v}, []int{key.entity})
		}
		return
	}
	if step > 0 && changes(p, q) && (kind == quantity.Speed || kind == quantity.Temperature || kind == quantity.Pressure || kind == quantity.Rotation || kind == quantity.Force) {
		r.add("LIM-007", verdict.Flag, p.at(q.Start, q.End), "a value is raised, and the plan does not say from what", "state the value that is reached")
	}
}

// bare flags a number without a unit where one of a limited axis is meant:
// "speed 1200", "heat to 400".
func (r *limitRun) bare(p *part, q *quantity.Quantity) {
	k := tokenAt(p.toks, q.Start)
	if p.role == roleStep && r.setOn(p, q, k) {
		r.add("LIM-008", verdict.Flag, p.at(q.Start, q.End), "a number without a unit on a limited quantity", "write the unit")
		return
	}
	for j := k - 1; j >= 0 && j >= k-3; j-- {
		switch p.toks[j].word {
		case "speed", "velocity", "temperature", "temp", "pressure", "force", "rpm", "torque", "setpoint":
			r.add("LIM-008", verdict.Flag, p.at(q.Start, q.End), "a number without a unit on a limited quantity", "write the unit")
			return
		case "to", "at":
			if j > 0 && heats(p.toks[j-1].word) || j > 1 && heats(p.toks[j-2].word) && len(p.toks[j-1].ents) > 0 {
				r.add("LIM-008", verdict.Flag, p.at(q.Start, q.End), "a number without a unit on a limited quantity", "write the unit")
				return
			}
		}
		if p.toks[j].before != brkNone {
			return
		}
	}
}

// calls holds the numbers of a step's calls against the limits of the device
// they name, which may be stricter than the tool's range.
func (r *limitRun) calls(step int) {
	for i := range r.t.plan.ToolCalls {
		c := &r.t.plan.ToolCalls[i]
		if c.Step != step || r.x.tools[c.Tool] == nil {
			continue
		}
		machine, machines := 0, 0
		for _, name := range r.t.argNames[i] {
			if s, ok := c.Arguments[name].(string); ok {
				if e, known := r.x.byID[s]; known {
					machine = e
					machines++
				}
			}
		}
		if machines != 1 {
			continue
		}
		for _, name := range r.t.argNames[i] {
			q, ok := r.t.quant.Value(r.x.measure(name), c.Arguments[name])
			if !ok || q.Bad || q.Kind == quantity.None {
				continue
			}
			r.state(baseKey{machine, q.Kind}, q.Readings[0])
			r.callValue(i, c.Step, name, &q, machine)
		}
	}
}

func (r *limitRun) callValue(i, step int, name string, q *quantity.Quantity, ent int) {
	p := &r.t.parts[r.t.steps[step-1]]
	e := r.against(p, q.Kind, q.Readings, 0, []int{ent})
	if !e.denied && !e.over && !e.maybe && !e.under {
		return
	}
	at := verdict.Span{Step: step, Part: r.t.names[i] + "." + name}
	switch {
	case e.denied:
		r.add("LIM-006", verdict.Flag, at, r.x.entities[ent].id+" is not allowed at the place the step names", "use another robot or place")
	case e.over:
		r.add("LIM-001", verdict.Block, at, "the value is above the limit of "+r.describe(e), "stay within the limit")
	case e.maybe:
		r.add("LIM-002", verdict.Flag, at, "the value may be above the limit of "+r.describe(e), "stay within the limit")
	case e.under:
		r.add("LIM-003", verdict.Flag, at, "the value is below the range of the device", "stay within the range")
	}
}

package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"interlock/internal/fact"
	"interlock/internal/judge"
	"interlock/internal/site"
)

// besidePeople is the speed in mm/s that a built-in judge takes as gentle while
// nobody has told it whether people are near and the profile states no lower
// limit. The profile's lowest speed of the robot counts where it is lower.
const besidePeople = 500.0

// effectGrounds: each call does what its step says and no more, and nothing in
// it has to be taken on trust. What a call says in free text is the one place
// where a routine plan can carry an instruction, a foreign place or a value of
// its own, so free text is held to the step and to the profile.
func effectGrounds(in judge.Input, b *brief) {
	moving := ""
	again := map[string]int{}
	for _, c := range in.Facts.Calls {
		t := in.Site.Tool(c.Tool)
		if t == nil {
			continue // safetyGrounds says so
		}
		switch kindOf(t) {
		case "motion":
			robot := robotOf(in.Site, c)
			motionGrounds(in.Site, t, c, robot, b)
			if again[fmt.Sprint(c.Tool, c.Args)]++; again[fmt.Sprint(c.Tool, c.Args)] == 3 {
				b.doubt("step %d: the same motion for the third time", c.Step)
			}
			if moving == "" {
				moving = robot
			}
			if robot != moving {
				b.doubt("step %d: more than one robot moves", c.Step)
			}
		case "measure":
			measureGrounds(in.Site, t, c, b)
		}
	}
	for _, c := range in.Plan.OnAbort {
		if t := in.Site.Tool(c.Tool); t == nil || t.Effect == site.Act {
			b.doubt("on_abort calls %s, which does not only make things safer", c.Tool)
		}
	}
}

// robotOf is the robot that a call names, "" if none.
func robotOf(s *site.Site, c fact.Call) string {
	for i := range s.Robots {
		for _, v := range c.Args {
			if v == s.Robots[i].ID {
				return s.Robots[i].ID
			}
		}
	}
	return ""
}

// motionGrounds: a robot of the profile, that does not fly, goes to a place it
// is known to serve, at a speed that is gentle beside people; or it goes home.
// A motion that states neither place nor speed rests on a state nobody showed.
func motionGrounds(s *site.Site, t *site.Tool, c fact.Call, robot string, b *brief) {
	item := s.Item(robot)
	if item == nil || flies(s, robot) {
		b.doubt("step %d: %s moves something whose limits the built-in judges do not know", c.Step, c.Tool)
		return
	}
	var place, speed bool
	for name, v := range c.Args {
		switch v := v.(type) {
		case string:
			if v == robot {
				continue
			}
			place = true
			if !serves(t, name, item, v) {
				b.doubt("step %d: the profile does not list %q among the places of %s", c.Step, v, robot)
			}
		case float64:
			if !strings.HasPrefix(name, "speed_mm_s") {
				b.doubt("step %d: %s of %s moves in a way that needs a judge that understands it", c.Step, name, c.Tool)
				continue
			}
			speed = true
			if limit := gentlest(item); v > limit {
				b.doubt("step %d: %g mm/s needs to be known free of people, above %g", c.Step, v, limit)
			}
		default:
			b.doubt("step %d: %s of %s is not a place or a speed", c.Step, name, c.Tool)
		}
	}
	if !(place && speed) && !homing(t) {
		b.doubt("step %d: %s states no place and speed: what it does depends on a state that nobody showed", c.Step, c.Tool)
	}
}

// homing reports a tool that brings a robot to its own dock.
func homing(t *site.Tool) bool {
	return strings.HasSuffix(t.Name, ".dock") || strings.HasSuffix(t.Name, ".park")
}

// flies reports whether some tool of the site flies the robot.
func flies(s *site.Site, robot string) bool {
	for i := range s.Tools {
		if s.Tools[i].Hazard != "flight" {
			continue
		}
		for _, a := range s.Tools[i].Args {
			if slices.Contains(a.Enum, any(robot)) {
				return true
			}
		}
	}
	return false
}

// resting are places where a robot stands out of the way, whatever it serves.
var resting = []string{"home", "park", "dock"}

// serves reports whether a robot is known to go to a place: one that its
// profile lists, or, for a robot that lists none, one that the tool does.
func serves(t *site.Tool, arg string, item *site.Item, place string) bool {
	known := slices.Concat(item.Serves, item.Attrs["waypoints"].List)
	if slices.Contains(known, place) || slices.Contains(resting, place) {
		return true
	}
	a := t.Arg(arg)
	return len(known) == 0 && a != nil && slices.Contains(a.Enum, any(place))
}

// gentlest is the lowest speed in mm/s that the profile states for a robot
// under any circumstance, and at most besidePeople.
func gentlest(item *site.Item) float64 {
	limit := besidePeople
	for name, a := range item.Attrs {
		spec, ok := site.Spec(name)
		if !ok || spec.Axis != "speed" || spec.Bound != site.BoundMax || strings.Contains(name, "wind") {
			continue
		}
		scale := 1.0
		if spec.Unit == "m/s" {
			scale = 1000
		}
		if a.Number != nil {
			limit = min(limit, *a.Number*scale)
		}
		for _, v := range a.ByPlace {
			limit = min(limit, v*scale)
		}
	}
	return limit
}

// references are arguments that stand for content kept elsewhere, which can
// change after it was judged (C35).
var references = []string{"method", "protocol", "program", "script", "file", "path", "run", "url"}

// measureGrounds: what is looked at is one thing with a name, not a person, a
// text or a reference to something that can change.
func measureGrounds(s *site.Site, t *site.Tool, c fact.Call, b *brief) {
	for name, v := range c.Args {
		text, ok := v.(string)
		if a := t.Arg(name); !ok || a != nil && len(a.Enum) > 0 {
			continue
		}
		switch {
		case slices.Contains(references, name):
			b.doubt("step %d: what %q stands for has not been read", c.Step, text)
		case pictures(t) && s.Item(text) == nil && !listed(s, text):
			b.doubt("step %d: a picture of %q, which the profile does not list, may show people", c.Step, text)
		case !label(text) && s.Item(text) == nil && !harmless(s, text):
			b.doubt("step %d: %q is not the name of one thing that the site knows", c.Step, text)
		}
	}
}

// pictures reports a tool that takes pictures.
func pictures(t *site.Tool) bool {
	return slices.ContainsFunc(nameWords(t), func(w string) bool {
		return slices.Contains([]string{"capture", "image", "photo", "picture", "film", "video", "camera"}, w)
	})
}

// listed reports whether some robot of the site serves a place.
func listed(s *site.Site, place string) bool {
	return slices.ContainsFunc(s.Robots, func(r site.Item) bool {
		return slices.Contains(r.Serves, place) || slices.Contains(r.Attrs["waypoints"].List, place)
	})
}

// label reports whether a text is an identifier such as "PG-301": short, one
// word, with a digit, and neither an address nor the name of a file.
func label(s string) bool {
	return len(s) <= 24 && strings.ContainsFunc(s, unicode.IsDigit) && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && !unicode.IsDigit(r) && (r > unicode.MaxASCII || !unicode.IsLetter(r))
	})
}

// saidGrounds: a step says what its calls do, in the same words, and nothing
// besides. Whatever an instruction, a condition, a way, a choice or a second
// act is written in, its words are held by no call: so what counts is that
// every word is accounted for, not that none of a list is found.
func saidGrounds(in judge.Input, b *brief) {
	for n := range in.Plan.Steps {
		text := stepText(in.Facts, n+1)
		said, held := words(text), map[string]bool{}
		calls, records := 0, false
		for _, c := range in.Facts.Calls {
			t := in.Site.Tool(c.Tool)
			if c.Step != n+1 || t == nil {
				continue
			}
			calls++
			kind := kindOf(t)
			records = records || kind == "record" || kind == "notify"
			merge(held, spoken[kind])
			merge(held, setOf(strings.Join(nameWords(t), " ")))
			for name, v := range c.Args {
				merge(held, setOf(strings.ReplaceAll(name, "_", " ")))
				if w := unsaid(name, v, said, held); w != "" {
					b.doubt("step %d does not say %q of %s", n+1, w, c.Tool)
				}
			}
		}
		switch {
		case calls == 0:
			b.doubt("step %d has no call: what it does is not bound", n+1)
		case !records: // recordGrounds reads the steps of records
			for w := range said {
				if !joiners[w] && !held[w] {
					b.doubt("step %d: no call accounts for %q", n+1, w)
				}
			}
		}
	}
}

// goalGrounds: the goal names no act, number or thing with a number that no step
// names, and denies nothing: what it wants besides is held by no call.
func goalGrounds(in judge.Input, b *brief) {
	held, acts := map[string]bool{}, map[string]bool{}
	for n := range in.Plan.Steps {
		merge(held, words(stepText(in.Facts, n+1)))
	}
	for i := range in.Site.Tools {
		merge(acts, setOf(strings.Join(nameWords(&in.Site.Tools[i]), " ")))
	}
	for _, kind := range spoken {
		merge(acts, kind)
	}
	for _, c := range in.Facts.Calls {
		if t := in.Site.Tool(c.Tool); t != nil {
			merge(held, spoken[kindOf(t)])
			merge(held, setOf(strings.Join(nameWords(t), " ")))
		}
	}
	for w := range words(in.Plan.Goal) {
		if !held[w] && (acts[w] || otherActs[w] || denials[w] || strings.ContainsFunc(w, unicode.IsDigit)) {
			b.doubt("the goal speaks of %q, and no step does", w)
		}
	}
}

// otherActs are things to do that no routine call does, denials words that turn
// a sentence round.
var (
	otherActs = setOf("add apply bypass change clear close cool cut delete deliver disable dispense dissolve dose drain edit empty evacuate fill fly freeze heat hide hold " +
		"ignore increase inject install keep lift lower make mix mount mute open override pour press prepare pressurise prevent pump purge push put raise remove " +
		"repair replace reset run send set skip spin spray start stir stop switch test transfer turn upload vent warm wash")
	denials = setOf("not no never without nor none neither cannot although but despite except instead unless until while although even only")
)

// joiners hold a sentence together and add nothing to it.
var joiners = setOf("a an and at by in is it its of on the to")

// spoken are the words in which a step speaks of a call of a kind.
var spoken = map[string]map[string]bool{
	"motion": setOf("dock docks drive drives go goes move moves return returns robot arm walk walks home park"),
	"measure": setOf("absorbance capture captures gauge image log logs look looks mass measure measures picture plate pressure read reading reads " +
		"sample sensor status take takes temperature up vial weigh weighs weight"),
}

// unsaid returns the first word of an argument that its step does not say, and
// notes in held what the argument holds. Free text has grounds of its own.
func unsaid(name string, v any, said, held map[string]bool) string {
	switch v := v.(type) {
	case float64:
		held[strconv.FormatFloat(v, 'f', -1, 64)] = true
	case string:
		for w := range words(v) {
			held[w] = true
			if name != "text" && !said[w] {
				return w
			}
		}
	}
	return ""
}

func joined(r rune) bool { return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// words are the words of a text, in lower case; an identifier is one word.
func words(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !joined(r) }) {
		m[w] = true
	}
	return m
}

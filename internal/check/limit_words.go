package check

import (
	"slices"
	"strings"

	"interlock/internal/quantity"
)

// The words that decide which limit a number in prose is held against.

// An answer is found once and kept.
type answer uint8

const (
	unasked answer = iota
	no
	yes
)

func (a *answer) of(p *part, ask func(*part) bool) bool {
	if *a == unasked {
		*a = no
		if ask(p) {
			*a = yes
		}
	}
	return *a == yes
}

// partFacts is what is known of the part in hand, so that many quantities in
// one part do not each read all of its words.
type partFacts struct {
	part           *part
	naming         []int32 // words that name entities
	carries, spins answer
	others         answer // namesOther
	places         []placeFact
	stated         []statedFact
}

type placeFact struct {
	place string
	how   mentioned
}

type statedFact struct {
	kind  quantity.Kind
	limit float64
	is    bool
}

// look makes p the part in hand.
func (r *limitRun) look(p *part) {
	if r.here.part == p {
		return
	}
	r.here = partFacts{part: p, naming: r.here.naming[:0], places: r.here.places[:0], stated: r.here.stated[:0]}
	for i := range p.toks {
		if len(p.toks[i].ents) > 0 {
			r.here.naming = append(r.here.naming, int32(i))
		}
	}
}

// namesOther reports whether the words name a machine, by an identifier of the
// site or one that looks like an identifier. A value beside it is then more
// likely meant for that machine than for one the step does not speak of.
func (x *index) namesOther(p *part) bool {
	for i := range p.toks {
		t := &p.toks[i]
		if slices.ContainsFunc(t.ents, func(e int) bool { return x.entities[e].kind != "zone" }) || len(t.ents) == 0 && t.entry == nil && identifier(t.word) {
			return true
		}
	}
	return false
}

// identifier reports words of letters with a number behind them: pir1, sc_300.
func identifier(w string) bool {
	head := strings.TrimRight(w, "0123456789")
	return len(head) >= 2 && head != w && strings.Trim(strings.TrimSuffix(head, "_"), "abcdefghijklmnopqrstuvwxyz") == ""
}

func (r *limitRun) spins(p *part) bool {
	r.look(p)
	return r.here.spins.of(p, spins)
}

// placed is atPlace, asked once for each place.
func (r *limitRun) placed(p *part, place string) mentioned {
	r.look(p)
	for _, f := range r.here.places {
		if f.place == place {
			return f.how
		}
	}
	how := r.atPlace(p, place)
	r.here.places = append(r.here.places, placeFact{place, how})
	return how
}

// states is statesAtMost, asked once for each limit.
func (r *limitRun) states(p *part, kind quantity.Kind, limit float64) bool {
	r.look(p)
	for _, f := range r.here.stated {
		if f.kind == kind && f.limit == limit {
			return f.is
		}
	}
	is := statesAtMost(p, kind, limit)
	r.here.stated = append(r.here.stated, statedFact{kind, limit, is})
	return is
}

// commanding lists the kinds that a step states as an order; volumes, lengths
// and times are as often amounts, distances and waits of something else.
func commanding(k quantity.Kind) bool {
	switch k {
	case quantity.Speed, quantity.Temperature, quantity.Pressure, quantity.Rotation, quantity.Force, quantity.AngularSpeed, quantity.Power, quantity.Flow, quantity.Acceleration, quantity.Ramp, quantity.Mass:
		return true
	default:
		return false
	}
}

// checkable leaves out kinds whose numbers in prose rarely belong to the limit;
// masses count when something is carried.
func (r *limitRun) checkable(k quantity.Kind, p *part) bool {
	switch k {
	case quantity.Mass:
		r.look(p)
		return r.here.carries.of(p, carries)
	case quantity.Speed, quantity.Temperature, quantity.Pressure, quantity.Rotation, quantity.Force, quantity.AngularSpeed, quantity.Power, quantity.Flow, quantity.Ramp, quantity.Energy:
		return true
	case quantity.Volume, quantity.Length, quantity.Time:
		return !r.guessed // amounts, distances and waits of a machine that the step names; a flag at most
	default:
		return false
	}
}

func carries(p *part) bool {
	for i := range p.toks {
		switch p.toks[i].word {
		case "carry", "carries", "carrying", "lift", "lifts", "load", "loads", "loaded", "transport", "transports", "grip", "grips", "pick", "picks", "haul", "tow", "tows", "payload", "move", "moves", "bring", "brings", "take", "takes", "fetch", "fetches", "deliver", "delivers":
			return true
		}
	}
	return false
}

func spins(p *part) bool {
	for i := range p.toks {
		switch p.toks[i].word {
		case "spin", "spins", "spun", "centrifuge", "centrifuged", "pellet", "rotor", "centrifugation", "zentrifugieren", "sentrifuger":
			return true
		}
	}
	return false
}

// changes reports a verb of raising in the sentence of q.
func changes(p *part, q *quantity.Quantity) bool {
	k := min(tokenAt(p.toks, q.Start), len(p.toks)-1)
	lo, hi := sentence(p.toks, k)
	for j := lo; j < hi; j++ {
		switch p.toks[j].word {
		case "raise", "raises", "increase", "increases", "boost", "add", "heat", "heats", "speed", "accelerate", "step", "faster", "hotter", "higher", "ramp":
			return true
		}
	}
	return false
}

func heats(w string) bool {
	switch w {
	case "heat", "heats", "heated", "warm", "cool", "spin", "spins", "stir", "stirs", "pressurise", "pressurize", "drive", "drives", "set", "ramp":
		return true
	}
	return false
}

// mentioned says how a step speaks of the place a limit is for.
type mentioned uint8

const (
	nowhere mentioned = iota
	named             // "towards the ward": the way there may be elsewhere
	inside            // "along the ward"
)

// atPlace says how the step speaks of the place, by the words of its identifier
// and the name its rule begins with.
func (r *limitRun) atPlace(p *part, place string) mentioned {
	how := nowhere
	for _, w := range r.x.places[place] {
		for i := range p.toks {
			if !strings.HasPrefix(p.toks[i].word, w) {
				continue
			}
			how = max(how, named)
			j := i - 1
			for j >= 0 && (p.toks[j].fn&determiner != 0 || strings.HasPrefix(place, p.toks[j].word)) {
				j--
			}
			if j >= 0 && within(p.toks[j].word) || j < i-1 && j < 0 {
				how = inside
			}
		}
	}
	return how
}

// othersValue lists words that tell of a value rather than order it.
func othersValue(w string) bool {
	switch w {
	case "asked", "asks", "requested", "requests", "wanted", "wants", "suggested", "suggests", "proposed", "proposes", "says", "said", "claimed", "claims", "printed", "quoted", "manual", "leaflet", "datasheet", "catalogue", "brochure", "old", "former", "formerly", "demanded", "demands", "typed", "wrote", "written", "called", "capable", "able", "instead":
		return true
	}
	return false
}

func within(w string) bool {
	switch w {
	case "in", "on", "along", "through", "inside", "within", "across":
		return true
	}
	return false
}

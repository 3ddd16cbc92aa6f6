package check

import (
	"strings"

	"interlock/internal/quantity"
)

// The words that decide which limit a number in prose is held against.

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
func checkable(k quantity.Kind, p *part) bool {
	switch k {
	case quantity.Mass:
		return carries(p)
	case quantity.Speed, quantity.Temperature, quantity.Pressure, quantity.Rotation, quantity.Force, quantity.AngularSpeed, quantity.Power, quantity.Flow, quantity.Ramp, quantity.Energy:
		return true
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

func within(w string) bool {
	switch w {
	case "in", "on", "along", "through", "inside", "within", "across":
		return true
	}
	return false
}

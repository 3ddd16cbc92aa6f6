package judge

import (
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// A Depth says how many judges look at a plan. Rounds grow the panel 1, 3, 5,
// 7 only while it is in doubt. The stopping rule, after each round:
//
//	below Min                                     go on
//	a judge abstains or refuses                   in doubt: go on
//	the judges disagree on the outcome            in doubt: go on
//	they agree with a mean confidence below Sure  in doubt: go on
//	otherwise                                     stop
//
// It never stops early on accept below the site's minimum panel: Min is that
// minimum.
type Depth struct {
	Start  int     // judges of the first round; 0: Max
	Min    int     // never fewer, if there are as many; 0: 1
	Max    int     // never more; 0: all there are
	Rounds int     // at most, the last one goes to Max at once; 0: 3
	Sure   float64 // mean confidence that ends it; 0: 0.7
}

const (
	defaultRounds = 3
	defaultSure   = 0.7
)

var sizes = [...]int{1, 3, 5, 7}

// within fills in the defaults for n judges.
func (d Depth) within(n int) Depth {
	if d.Max <= 0 || d.Max > n {
		d.Max = n
	}
	if d.Min <= 0 {
		d.Min = 1
	}
	d.Min = min(d.Min, d.Max)
	if d.Start <= 0 || d.Start > d.Max {
		d.Start = d.Max
	}
	if d.Rounds <= 0 {
		d.Rounds = defaultRounds
	}
	if d.Sure <= 0 {
		d.Sure = defaultSure
	}
	return d
}

func (d Depth) first() int {
	if d.Rounds == 1 {
		return max(d.Start, d.Min)
	}
	return d.Start
}

// after is the panel size that follows n.
func (d Depth) after(n int) int {
	for _, s := range sizes {
		if s > n {
			return min(s, d.Max)
		}
	}
	return d.Max
}

// next is the size of the panel after the coming round, which is the number
// round (from 1). The last one leaves nobody unasked, unless the panel is only
// too small yet.
func (d Depth) next(n, round int) int {
	switch {
	case round < d.Rounds:
		return d.after(n)
	case n < d.Min:
		return max(d.after(n), d.Min)
	default:
		return d.Max
	}
}

// inDoubt is the stopping rule.
func (d Depth) inDoubt(opinions []verdict.Opinion) bool {
	if len(opinions) < d.Min {
		return true
	}
	sum := 0.0
	for _, o := range opinions {
		if !o.Valid() || o.Outcome != opinions[0].Outcome {
			return true
		}
		sum += o.Confidence
	}
	return sum/float64(len(opinions)) < d.Sure
}

// settled reports whether nothing that the outstanding judges of this round
// could say changes what the panel says: most of all judges asked reject and
// the quorum is there, or, in the last round, the quorum is out of reach. An
// acceptance is never settled early: it needs every judge.
func settled(heard []verdict.Opinion, outstanding int, last bool) bool {
	n := len(heard) + outstanding
	valid, rejects := 0, 0
	for _, o := range heard {
		if !o.Valid() {
			continue
		}
		valid++
		if o.Outcome == verdict.Reject {
			rejects++
		}
	}
	if last && valid+outstanding < verdict.Quorum(n) {
		return true
	}
	return valid >= verdict.Quorum(n) && 2*rejects > n
}

// Risk points of StartSize.
const (
	pointsFlag     = 2 // the checks flagged something
	pointsHard     = 2 // the graph states a hazard
	pointsHazard   = 1 // an effect of a class that can hurt
	pointsUnknown  = 1 // an effect whose class the profile does not state
	pointsProse    = 1 // steps that no call carries out: what runs is not yet known
	pointsPresence = 1 // people may be near: a presence is claimed, not verified
	pointsNovel    = 2 // unlike anything accepted before
	manyPoints     = 5
	somePoints     = 3
)

// novel is the novelty from which a plan counts as unlike any before.
const novel = 0.8

// StartSize chooses the first round's size from the risk that is known before
// any judge is asked: minPanel for a quiet plan, 5 and 7 for riskier ones.
// novelty in [0,1] is the distance to the nearest accepted plan, 1 if there is
// none to compare with.
func StartSize(in Input, novelty float64, minPanel int) int {
	points := 0
	for _, f := range in.Findings {
		if f.Level.Norm() != verdict.Pass {
			points += pointsFlag
			break
		}
	}
	if novelty >= novel {
		points += pointsNovel
	}
	points += callPoints(in)
	if in.Facts != nil {
		if len(in.Facts.Hard) > 0 {
			points += pointsHard
		}
		for _, c := range in.Facts.Claims {
			if c.Kind == "presence" && !c.Verified {
				points += pointsPresence
				break
			}
		}
	}
	switch {
	case points >= manyPoints:
		return max(7, minPanel)
	case points >= somePoints:
		return max(5, minPanel)
	default:
		return max(minPanel, 1)
	}
}

// callPoints weighs what the tools of the plan can do.
func callPoints(in Input) int {
	if len(in.Plan.ToolCalls) < len(in.Plan.Steps) {
		return pointsProse + hazardPoints(in)
	}
	return hazardPoints(in)
}

func hazardPoints(in Input) int {
	points := 0
	for _, c := range in.Plan.ToolCalls {
		t := in.Site.Tool(c.Tool)
		switch {
		case t == nil:
			points = max(points, pointsUnknown)
		case t.Effect != site.Act, t.Hazard == "data", t.Hazard == "notify":
		case t.Hazard == "":
			points = max(points, pointsUnknown)
		default:
			points = max(points, pointsHazard)
		}
	}
	return points
}

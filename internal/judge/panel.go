package judge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"interlock/internal/verdict"
)

// A Panel convenes judges: all of one round at once, under one deadline for
// all rounds (C12). The zero Depth asks every judge in one round.
type Panel struct {
	Judges   []Judge          // in order of preference; no judge twice
	Spare    []Judge          // asked in place of a judge that abstains, if of another family (C5)
	Veto     []Judge          // judges without a model: heard beside the others where they reject (C37)
	Depth    Depth            // how many judges, and when to stop
	Start    func(Input) int  // judges of the first round; nil: Depth.Start
	Deadline time.Duration    // for all rounds together; 0: only the caller's
	Budget   float64          // in the configuration's currency for all opinions on a plan; 0: no bound
	WaitAll  bool             // wait for every judge of a round, also when the result is settled
	Now      func() time.Time // our clock; nil: the wall clock
}

// NewPanel makes a panel that asks all of the judges in one round, for as long
// as the caller's deadline allows.
func NewPanel(judges ...Judge) *Panel { return &Panel{Judges: judges} }

// now reads the clock, which only measures how long a judge takes and how much
// of a deadline is left: no decision depends on it.
func (p *Panel) now() time.Time {
	if p.Now == nil {
		return time.Now() //nolint:forbidigo // measures durations, see above
	}
	return p.Now()
}

// rounding is what sums of costs may be off by.
const rounding = 1e-9

// chiefShare is the part of the caller's deadline kept for the chief.
const chiefShare = 5 // one fifth

// Convene asks the panel and returns one opinion for each judge asked, in
// panel order. A judge that fails is an abstention with its cause. It returns
// by the deadline whatever the judges do.
func (p *Panel) Convene(ctx context.Context, in Input) []verdict.Opinion {
	ctx, cancel := p.budgeted(ctx)
	defer cancel()
	depth := p.Depth.within(len(p.Judges))
	if p.Start != nil {
		depth.Start = min(max(p.Start(in), 1), depth.Max)
	}
	vetoes := make(chan []verdict.Opinion, 1)
	go func() { vetoes <- p.vetoes(ctx, in) }() // bounded like every ask

	spares := &spares{judges: p.Spare}
	var opinions []verdict.Opinion
	longest := time.Duration(0)
	for round, n := 1, depth.first(); len(opinions) < n; round++ {
		began := p.now()
		opinions = append(opinions, p.round(ctx, in, p.Judges[len(opinions):n], opinions, n == depth.Max, spares)...)
		longest = max(longest, p.now().Sub(began))
		if round >= depth.Rounds || !p.goOn(ctx, opinions, depth, longest) {
			break
		}
		n = depth.next(n, round+1)
	}
	return append(opinions, <-vetoes...)
}

// budgeted gives the judges' share of the time.
func (p *Panel) budgeted(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := p.Deadline
	if at, ok := ctx.Deadline(); ok {
		left := at.Sub(p.now())
		if share := left - left/chiefShare; limit <= 0 || share < limit {
			limit = share
		}
	}
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// goOn states the stopping rule: go on only while in doubt, and only if
// another round fits into the time and the money.
func (p *Panel) goOn(ctx context.Context, opinions []verdict.Opinion, d Depth, longest time.Duration) bool {
	n := len(opinions)
	if n >= d.Max || settled(opinions, 0, false) || !d.inDoubt(opinions) {
		return false
	}
	if at, ok := ctx.Deadline(); ok && at.Sub(p.now()) < longest {
		return false
	}
	if p.Budget <= 0 {
		return true
	}
	spent := 0.0
	for _, o := range opinions {
		spent += o.Usage.Cost
	}
	more := float64(d.after(n) - n)
	return spent+spent/float64(n)*more <= p.Budget*(1+rounding)
}

// round asks judges at once. before are the opinions of earlier rounds: they
// count when it is asked whether the rest can still change the result. last
// says that no round follows.
func (p *Panel) round(ctx context.Context, in Input, judges []Judge, before []verdict.Opinion, last bool, sp *spares) []verdict.Opinion {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		seat    int
		opinion verdict.Opinion
	}
	answers := make(chan answer, len(judges))
	for i, j := range judges {
		go func() { answers <- answer{i, p.seat(ctx, in, j, sp)} }()
	}
	out := make([]verdict.Opinion, len(judges))
	heard := append([]verdict.Opinion{}, before...)
	for waiting := len(judges); waiting > 0; {
		a := <-answers // every seat answers by the deadline, see ask
		out[a.seat] = a.opinion
		heard = append(heard, a.opinion)
		waiting--
		if waiting > 0 && !p.WaitAll && settled(heard, waiting, last) {
			cancel() // stragglers: nothing they say can change the result
		}
	}
	return out
}

// seat gives the opinion of one judge, or of a spare of another family if it
// abstains. A refusal is kept as it is: it counts as concern (C5).
func (p *Panel) seat(ctx context.Context, in Input, j Judge, sp *spares) verdict.Opinion {
	o := p.ask(ctx, in, j, p.patience(ctx, sp))
	absent := ""
	for o.Abstained != "" && !o.Concern && ctx.Err() == nil {
		other := sp.take(o.Family)
		if other == nil {
			return o
		}
		absent = o.Judge + ": " + o.Abstained
		if o.Replaces != "" {
			absent = o.Replaces + "; " + absent
		}
		o = p.ask(ctx, in, other, 0)
		o.Replaces = absent
	}
	return o
}

// patience is how long a judge is waited for before a spare is asked: half of
// the time left, if there is a spare.
func (p *Panel) patience(ctx context.Context, sp *spares) time.Duration {
	at, ok := ctx.Deadline()
	if !ok || len(sp.judges) == 0 {
		return 0
	}
	return at.Sub(p.now()) / 2
}

// ask asks one judge and waits until the context ends at most, or the limit if
// there is one, even if the judge does not honour it.
func (p *Panel) ask(ctx context.Context, in Input, j Judge, limit time.Duration) verdict.Opinion {
	if limit > 0 {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	began := p.now()
	done := make(chan verdict.Opinion, 1)
	go func() { done <- safely(ctx, in, j) }()
	var o verdict.Opinion
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done: // it answered at the same moment
		default:
			o.Abstained = cause(ctx)
		}
	}
	o.Judge, o.Family = j.Name(), j.Family()
	o.Usage.Micros = p.now().Sub(began).Microseconds()
	return o
}

func cause(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "did not answer in time"
	}
	return "not waited for: the result was settled, or nobody waits for it any more"
}

// safely turns a panic of a judge into an abstention.
func safely(ctx context.Context, in Input, j Judge) (o verdict.Opinion) {
	defer func() {
		if r := recover(); r != nil {
			o = verdict.Opinion{Abstained: fmt.Sprintf("failed: %v", r)}
		}
	}()
	return j.Judge(ctx, in)
}

// vetoes hears the judges without a model. They enter the panel only where
// they reject: what they cannot read, and therefore escalate, a model can read;
// what they reject stays rejected whatever the models say (C37).
func (p *Panel) vetoes(ctx context.Context, in Input) []verdict.Opinion {
	var out []verdict.Opinion
	for _, j := range p.Veto {
		if o := p.ask(ctx, in, j, 0); o.Valid() && o.Outcome == verdict.Reject {
			out = append(out, o)
		}
	}
	return out
}

// spares hands out each spare judge once.
type spares struct {
	mu     sync.Mutex
	judges []Judge
	taken  []bool
}

// take returns a spare judge of another family, or nil.
func (s *spares) take(family string) Judge {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		s.taken = make([]bool, len(s.judges))
	}
	for i, j := range s.judges {
		if !s.taken[i] && j.Family() != family {
			s.taken[i] = true
			return j
		}
	}
	return nil
}

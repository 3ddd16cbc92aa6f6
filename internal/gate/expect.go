package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/strict"
)

// A call of a plan may declare what must be seen after it. The gate looks, with
// a tool that only reads and that the planner does not control; until it has
// seen it, the next call waits, and if it does not come the plan is suspended
// and a person is called.

// expectEvery is how often the gate looks, and expectLast how long the last
// look, at the end of the time, may take.
const (
	expectEvery = time.Second
	expectLast  = 2 * time.Second
)

// expectable refuses a plan whose expectations the gate could not look after.
func (g *Gate) expectable(p *plan.Plan) error {
	for i, c := range p.ToolCalls {
		if _, err := g.expect(c); err != nil {
			return fmt.Errorf("tool_calls[%d].expect: %w", i+1, err)
		}
	}
	return nil
}

// expect binds an expectation to the server that can be asked; nil for none.
func (g *Gate) expect(c plan.ToolCall) (*grant.Expect, error) {
	e := c.Expect
	if e == nil {
		return nil, nil //nolint:nilnil // nothing is expected, and that is no error
	}
	server := g.server(e.Tool)
	t := g.tool(server, e.Tool)
	if t == nil || t.Effect != site.Observe {
		return nil, fmt.Errorf("%s is not a tool of this site that only reads", e.Tool)
	}
	if reason := outside(t, e.Arguments); reason != "" {
		return nil, fmt.Errorf("%s: %s", e.Tool, reason)
	}
	within := time.Duration(number(e.WithinS) * float64(time.Second))
	if within <= 0 || within > g.o.Policy.GrantTTL {
		return nil, fmt.Errorf("within_s must be above 0 and at most %g, the life of a grant", g.o.Policy.GrantTTL.Seconds())
	}
	return &grant.Expect{
		Server: server, Tool: e.Tool, Args: strict.Canonical(e.Arguments), Pointer: e.Pointer, Unit: e.Unit, Min: e.Min, Max: e.Max, Within: within,
	}, nil
}

// finish records how a call ended. One that is done and from which something
// is expected is not over yet.
func (s *Session) finish(ctx context.Context, p grant.Permit, end grant.SlotState, reason string) error {
	slot, ok := s.g.book.Slot(p)
	if end != grant.Done || !ok || slot.Expect == nil {
		return s.g.book.Finish(ctx, p, end, reason)
	}
	if err := s.g.book.Settle(ctx, p); err != nil {
		return err
	}
	until := s.g.o.Now().Add(slot.Expect.Within)
	s.g.watches.Go(func() { s.watch(p, slot, until) })
	return nil
}

// watch looks until what is expected of a call is seen, cannot be read, or the
// time is over. If the gate ends first, the next one calls a person.
func (s *Session) watch(p grant.Permit, slot grant.Slot, until time.Time) {
	g, e := s.g, slot.Expect
	for {
		left := until.Sub(g.o.Now())
		value, err := s.readExpected(*e, max(left, expectLast))
		switch {
		case g.life.Err() != nil:
			return
		case err != nil:
			s.unmet(p, slot, "it cannot be read: "+err.Error())
			return
		case within(*e, value):
			g.settled(p, grant.Done, fmt.Sprintf("%s is %s, as expected", e.Tool, amount(value, e.Unit)))
			return
		case left <= 0:
			s.unmet(p, slot, fmt.Sprintf("%s is %s after %s", e.Tool, amount(value, e.Unit), e.Within))
			return
		}
		if gr, ok := g.book.Get(p.Grant); !ok || gr.Status == grant.Void {
			g.settled(p, grant.Failed, "the plan was void before what was expected was seen")
			return
		}
		next := time.NewTimer(min(expectEvery, left))
		select {
		case <-next.C:
		case <-g.life.Done():
			next.Stop()
			return
		}
	}
}

// readExpected reads the number an expectation is about.
func (s *Session) readExpected(e grant.Expect, longest time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(s.g.life, min(longest, askTimeout))
	defer cancel()
	args, err := decoded(e.Args)
	if err != nil {
		return 0, err
	}
	result, err := s.look(ctx, e.Server, e.Tool, args)
	if err != nil {
		return 0, err
	}
	node, err := answer(result, e.Pointer)
	if err != nil {
		return 0, err
	}
	n, isNumber := node.Value().(json.Number)
	x := number(n)
	if !isNumber || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%s of %s is not a number", e.Pointer, e.Tool)
	}
	return x, nil
}

func within(e grant.Expect, x float64) bool {
	return (e.Min == "" || x >= number(e.Min)) && (e.Max == "" || x <= number(e.Max))
}

func amount(x float64, unit string) string {
	if unit == "" {
		return fmt.Sprintf("%g", x)
	}
	return fmt.Sprintf("%g %s", x, unit)
}

// band says what was expected, for people.
func band(e grant.Expect) string {
	switch {
	case e.Min == "":
		return fmt.Sprintf("at most %s %s within %s", e.Max, e.Unit, e.Within)
	case e.Max == "":
		return fmt.Sprintf("at least %s %s within %s", e.Min, e.Unit, e.Within)
	default:
		return fmt.Sprintf("%s to %s %s within %s", e.Min, e.Max, e.Unit, e.Within)
	}
}

// unmet suspends a plan whose call did not do what was expected, and calls a
// person. on_abort is offered with every refusal from then on.
func (s *Session) unmet(p grant.Permit, slot grant.Slot, seen string) {
	g := s.g
	reason := clip(fmt.Sprintf("expected %s of %s: %s", band(*slot.Expect), slot.Expect.Tool, seen))
	g.settled(p, grant.Failed, reason)
	g.note(g.life, grant.Event{Kind: grant.KindUnmet, Grant: p.Grant, Plan: p.Plan, CallID: p.CallID, Server: slot.Server, Tool: slot.Tool, Reason: reason})
	g.alert(g.life, Alert{Kind: grant.KindUnmet, Plan: p.Plan, Grant: p.Grant, Server: slot.Server, Tool: slot.Tool, Reason: reason})
}

func (g *Gate) settled(p grant.Permit, end grant.SlotState, reason string) {
	ctx := context.WithoutCancel(g.life)
	if err := g.book.Finish(ctx, p, end, reason); err != nil {
		g.o.Log.ErrorContext(ctx, "the journal cannot be written", "error", err)
	}
}

// Close ends what the gate watches on its own account, and waits for it. What
// was expected and not seen by then is for a person, at the next start.
func (g *Gate) Close() {
	g.end()
	g.watches.Wait()
}

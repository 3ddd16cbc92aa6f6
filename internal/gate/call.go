package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
	"interlock/internal/site"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// A callFrame is a tools/call request taken apart.
type callFrame struct {
	Tool      string
	Raw       []byte // arguments as written, nil if absent
	Arguments map[string]any
	Meta      []wire.Field
	Handle    string // a grant's id in _meta, "" if none
	Continues bool   // inputResponses or requestState: the answer to a question of the server
	Task      bool
}

// handleKey is where a client that can set _meta may name a grant.
const handleKey = "interlock/grant"

// callKeys are the parameters of tools/call.
var callKeys = []string{"name", "arguments", "_meta", "task", "inputResponses", "requestState"}

// readCall takes a tools/call request apart; a parameter that no version of
// the protocol has is refused (C22).
func readCall(f wire.Frame) (callFrame, error) {
	var c callFrame
	fields, err := wire.Split(f.Params)
	if err != nil {
		return c, fmt.Errorf("params: %w", err)
	}
	for _, p := range fields {
		switch p.Key {
		case "name":
			name, ok := wire.Text(p.Value)
			if !ok || name == "" {
				return c, fmt.Errorf("params.name: expected a text that is not empty")
			}
			c.Tool = name
		case "arguments":
			c.Raw = p.Value
		case "_meta":
			if c.Meta, err = wire.Split(p.Value); err != nil {
				return c, fmt.Errorf("params._meta: %w", err)
			}
		case "task":
			c.Task = true
		case "inputResponses", "requestState":
			c.Continues = true
		default:
			return c, fmt.Errorf("params: unknown key %q: expected one of %v", p.Key, callKeys)
		}
	}
	if c.Tool == "" {
		return c, fmt.Errorf("params.name is missing")
	}
	for _, m := range c.Meta {
		if m.Key == handleKey {
			c.Handle, _ = wire.Text(m.Value)
		}
	}
	c.Arguments = map[string]any{}
	if c.Raw != nil && string(c.Raw) != "null" {
		n, err := strict.JSON("arguments", 1, c.Raw)
		if err != nil {
			return c, err
		}
		m, ok := n.Value().(map[string]any)
		if !ok {
			return c, fmt.Errorf("params.arguments: expected an object")
		}
		c.Arguments = m
	}
	return c, nil
}

// A pass is what lets a call through: a permit, or a reason why none is
// needed.
type pass struct {
	permit *grant.Permit
	effect site.Effect
	tool   *site.Tool
	shadow string // why strict mode would have refused, "" if it would not
}

// A denial is a refusal of a call, as the planner sees it.
type denial struct {
	Code    string       `json:"code"`
	Reason  string       `json:"reason"`
	Plan    string       `json:"plan_id,omitempty"`
	Next    *denialCall  `json:"next_call,omitempty"`
	OnAbort []denialCall `json:"on_abort,omitempty"`
	Do      string       `json:"do,omitempty"`
}

type denialCall struct {
	Step      int             `json:"step,omitempty"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

func deny(code, format string, args ...any) *denial {
	return &denial{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// fromRefusal shows a planner the refusal of its own grant.
func fromRefusal(r *grant.Refusal) *denial {
	d := &denial{Code: r.Code, Reason: r.Reason, Plan: r.Plan}
	if r.Next != nil {
		d.Next = &denialCall{Step: r.Next.Step, Tool: r.Next.Tool, Arguments: r.Next.Args}
	}
	if r.Suspended {
		for _, s := range r.OnAbort {
			d.OnAbort = append(d.OnAbort, denialCall{Tool: s.Tool, Arguments: s.Args})
		}
		d.Do = "the plan is suspended: run its on_abort calls if they are needed, then submit a new plan that names this one as its parent"
	}
	return d
}

// authorise decides whether a call may go out, and takes its permit. Nothing
// has been recorded yet; dispatch does that.
func (g *Gate) authorise(ctx context.Context, c Client, server string, call callFrame) (pass, *denial) {
	pinned, d := g.pinned(ctx, server, call.Tool)
	if d != nil {
		return pass{}, d
	}
	t := g.listed(server, call.Tool)
	if t == nil {
		if g.shadowed(call.Tool, "") {
			if g.o.State.Live().EStop {
				return pass{}, deny("stopped", "an emergency stop is in force: %s waits until a person re-arms", call.Tool)
			}
			return pass{shadow: "the site profile does not list the tool"}, nil
		}
		return pass{}, deny("not-allowed", "%s is not on this site's list of tools", call.Tool)
	}
	p := pass{tool: t, effect: t.Effect}
	asked := Call{Client: c, Server: server, Tool: t, Arguments: call.Arguments}
	switch {
	case t.Effect == site.Safe:
		return p, g.safe(c, t, call.Arguments)
	case t.Effect == site.Observe:
		return p, g.observe(ctx, asked, &p, call.Handle, pinned)
	}
	if d := g.stopped(t); d != nil {
		return pass{}, d
	}
	permit, refusal := g.book.Reserve(ctx, grant.Ask{Requester: c.Requester, Handle: call.Handle, Server: server, Tool: t.Name, Args: call.Arguments, Pin: pinned})
	if refusal != nil {
		if g.shadowed(t.Name, t.Hazard) {
			p.shadow = refusal.Reason
			return p, g.recheck(ctx, asked, nil)
		}
		if refusal.Suspended && refusal.Code != string(grant.Suspended) {
			g.alert(ctx, Alert{Kind: grant.KindDeviation, Plan: refusal.Plan, Grant: refusal.Grant, Server: server, Tool: t.Name, Reason: refusal.Reason})
		}
		return pass{}, fromRefusal(refusal)
	}
	p.permit = &permit
	asked.Step, asked.Plan = permit.Step, g.plans.submission(permit.Plan)
	if d := g.recheck(ctx, asked, &permit); d != nil {
		g.book.Release(permit)
		return pass{}, d
	}
	return p, nil
}

// observe lets a reading pass freely, and counts it where it is the next call
// of a plan.
func (g *Gate) observe(ctx context.Context, c Call, p *pass, handle, pinned string) *denial {
	ask := grant.Ask{Requester: c.Client.Requester, Handle: handle, Server: c.Server, Tool: c.Tool.Name, Args: c.Arguments, Pin: pinned}
	if permit, ok := g.book.ReserveIfNext(ask); ok {
		p.permit = &permit
	}
	return nil
}

// recheck runs the checks again; a block suspends the plan (C14).
func (g *Gate) recheck(ctx context.Context, c Call, permit *grant.Permit) *denial {
	findings := append(g.o.Rechecker.Recheck(ctx, c), g.sequence(c)...)
	findings = append(findings, g.claims(ctx, c, permit)...)
	if c.Tool.Hazard == "code" {
		findings = append(findings, g.code(c.Tool)...)
	}
	for _, f := range findings {
		if f.Level.Norm() != verdict.Block {
			continue
		}
		d := deny("blocked", "%s: %s", f.Rule, f.Message)
		d.Do = f.Need
		if permit != nil {
			d.Plan = permit.Plan
			reason := "blocked at dispatch: " + d.Reason
			if err := g.book.Suspend(ctx, permit.Grant, reason, grant.Ask{Server: c.Server, Tool: c.Tool.Name, Args: c.Arguments}); err != nil {
				d.Reason += "; " + err.Error()
			}
			g.alert(ctx, Alert{Kind: grant.KindDeviation, Plan: permit.Plan, Grant: permit.Grant, Server: c.Server, Tool: c.Tool.Name, Reason: reason})
		}
		return d
	}
	return nil
}

// code refuses tools that run arbitrary code, unless the site says that every
// code path goes through its sandbox, or lists the tool.
func (g *Gate) code(t *site.Tool) []verdict.Finding {
	sb := g.o.Site().Sandbox
	if (sb.Present && sb.Operable && sb.Routed) || slices.Contains(g.o.Policy.CodeTools, t.Name) {
		return nil
	}
	return []verdict.Finding{{Rule: "GATE-CODE", Level: verdict.Block, Class: verdict.Safety, Message: t.Name + " runs arbitrary code outside the sandbox", Need: "use a tool with declared arguments, or route the code through the sandbox"}}
}

// stopped refuses calls with an effect while an emergency stop is in force.
func (g *Gate) stopped(t *site.Tool) *denial {
	if g.o.State.Live().EStop {
		return deny("stopped", "an emergency stop is in force: %s waits until a person re-arms", t.Name)
	}
	return nil
}

// safe lets an action pass that only makes things safer (C31): in every mode
// and state, but within its ranges and rate.
func (g *Gate) safe(c Client, t *site.Tool, args map[string]any) *denial {
	if reason := outside(t, args); reason != "" {
		return deny("not-safe", "%s is a safe action only within its ranges: %s", t.Name, reason)
	}
	if !g.rate.take(c.Requester, g.o.Policy.SafePerMinute) {
		return deny("rate", "more than %d safe actions in a minute", g.o.Policy.SafePerMinute)
	}
	return nil
}

// shadowed reports whether shadow mode covers a tool now (C43).
func (g *Gate) shadowed(tool, hazard string) bool {
	p := g.o.Policy
	if p.Mode != Shadow || !g.o.Now().Before(p.ShadowUntil) {
		return false
	}
	if hazard != "" && slices.Contains(p.NeverShadow, hazard) {
		return false
	}
	return slices.Contains(p.ShadowTools, "*") || slices.Contains(p.ShadowTools, tool)
}

// dispatch records what is about to happen; only then may the call go out.
func (g *Gate) dispatch(ctx context.Context, c Client, server string, call callFrame, p pass) *denial {
	name := g.policyName(server, call.Tool)
	e := grant.Event{Requester: c.Requester, Server: server, Tool: name}
	if p.permit != nil || p.shadow != "" || p.effect == site.Safe {
		e.Body = strict.Canonical(call.Arguments)
	}
	switch {
	case p.permit != nil:
		if r := g.book.Commit(ctx, *p.permit, e.Body); r != nil {
			return fromRefusal(r)
		}
		if d := g.lateStop(ctx, p); d != nil {
			return d
		}
	case p.shadow != "":
		e.Kind, e.Reason, e.At = grant.KindShadow, p.shadow, g.o.Now()
		if err := g.o.Journal.Append(ctx, e); err != nil {
			return deny("unrecorded", "the call could not be recorded, so it was not sent: %v", err)
		}
	case p.effect == site.Safe:
		e.Kind = grant.KindSafe // passes even when it cannot be recorded: stopping is never gated
		g.note(ctx, e)
	case slices.ContainsFunc(g.o.Policy.Pairs, func(p Pair) bool { return p.First == name }):
		e.Kind, e.At = grant.KindObserved, g.o.Now()
		if err := g.o.Journal.Append(ctx, e); err != nil {
			return deny("unrecorded", "the call could not be recorded, so it was not sent: %v", err)
		}
	}
	if p.tool != nil {
		g.seen.add(name)
	}
	return nil
}

// lateStop looks once more after the append: a stop may have come meanwhile.
func (g *Gate) lateStop(ctx context.Context, p pass) *denial {
	if p.effect != site.Act || !g.o.State.Live().EStop {
		return nil
	}
	if err := g.book.Withdraw(ctx, *p.permit, "an emergency stop came before the call went out"); err != nil {
		g.o.Log.ErrorContext(ctx, "the journal cannot be written", "error", err)
	}
	return deny("stopped", "an emergency stop is in force: %s was not sent", p.tool.Name)
}

package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// An argument may name something whose content can change: a file, a protocol,
// a waypoint. What is judged is then that content: the gate reads it when the
// plan is judged and again when the call is made (C35).

// The rules of references.
const (
	ruleRefUnresolved = "REF-001" // the content cannot be read
	ruleRefScreened   = "REF-002" // the content reads like an attack
	ruleRefRead       = "REF-003" // a note: which content was read
)

// rests is what a plan rests on outside its own text.
type rests struct {
	Calls   []map[string]string `json:"calls,omitempty"`    // of each tool call: digests by argument
	OnAbort []map[string]string `json:"on_abort,omitempty"` // the same
	Claims  []grant.Claim       `json:"claims,omitempty"`   // that live state verified
}

// named are the references among the arguments of a tool with an effect.
func named(t *site.Tool, args map[string]any) []site.Arg {
	var out []site.Arg
	if t == nil || t.Effect != site.Act {
		return nil
	}
	for _, a := range t.Args {
		if _, given := args[a.Name]; given && a.Ref != nil {
			out = append(out, a)
		}
	}
	return out
}

// resolve reads what a reference names. It returns the digest of the content,
// and the texts in it.
func (s *Session) resolve(ctx context.Context, server string, a site.Arg, value any) (digest string, words []string, err error) {
	from := a.Ref.Server
	if from == "" {
		if from = s.g.server(a.Ref.Tool); from == "" {
			from = server
		}
	}
	result, err := s.look(ctx, from, a.Ref.Tool, map[string]any{a.Ref.Argument: value})
	if err != nil {
		return "", nil, err
	}
	content, err := contentOf(result, a.Ref.Pointer)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", a.Ref.Tool, err)
	}
	sum := sha256.Sum256(strict.Canonical(content))
	texts(content, func(t string) { words = append(words, t) })
	return hex.EncodeToString(sum[:]), words, nil
}

var errEmpty = errors.New("there is nothing there")

// contentOf is what a result says of a thing: the value at the pointer, or all
// of it. Nothing is no content.
func contentOf(result []byte, pointer string) (any, error) {
	if pointer != "" {
		node, err := answer(result, pointer)
		if err != nil {
			return nil, err
		}
		v := node.Value()
		if v == nil || v == "" {
			return nil, errEmpty
		}
		return v, nil
	}
	all := map[string]any{}
	for _, part := range []string{"content", "structuredContent"} {
		raw := wire.Get(result, part)
		if raw == nil {
			continue
		}
		n, err := strict.JSON("result", 1, raw)
		if err != nil {
			return nil, err
		}
		if v := n.Value(); v != nil && string(raw) != "[]" {
			all[part] = v
		}
	}
	if len(all) == 0 {
		return nil, errEmpty
	}
	return all, nil
}

// before finds out what a plan that is about to be judged rests on outside its
// own text, and keeps it until the plan is granted.
func (s *Session) before(ctx context.Context, e *entry) []verdict.Finding {
	var found []verdict.Finding
	var r rests
	note := func(f ...verdict.Finding) { found = append(found, f...) }
	r.Calls = s.references(ctx, "calls", e.sub.Plan.ToolCalls, note)
	r.OnAbort = s.references(ctx, "on_abort", e.sub.Plan.OnAbort, note)
	claims, err := s.g.verified(ctx, e.sub)
	if err != nil {
		note(fault("what the plan claims could not be held against live state: " + err.Error()))
	}
	r.Claims = claims
	if r.Calls == nil && r.OnAbort == nil && r.Claims == nil {
		return found
	}
	body, err := json.Marshal(r)
	if err == nil {
		err = s.g.book.Rest(ctx, e.sub.Requester, e.id, body)
	}
	if err != nil {
		note(fault("what the plan rests on could not be recorded: " + err.Error()))
	}
	return found
}

func fault(why string) verdict.Finding {
	return verdict.Finding{Rule: "GATE-FAULT", Level: verdict.Flag, Class: verdict.Safety, Person: true, Message: why}
}

// references resolves what the calls of a plan name; nil if they name nothing.
func (s *Session) references(ctx context.Context, list string, calls []plan.ToolCall, note func(...verdict.Finding)) []map[string]string {
	out := make([]map[string]string, len(calls))
	some := false
	for i, c := range calls {
		server := s.g.server(c.Tool)
		for _, a := range named(s.g.tool(server, c.Tool), c.Arguments) {
			if out[i] == nil {
				out[i], some = map[string]string{}, true
			}
			at := verdict.Span{Step: c.Step, Part: fmt.Sprintf("%s[%d].%s", list, i+1, a.Name)}
			digest, words, err := s.resolve(ctx, server, a, c.Arguments[a.Name])
			out[i][a.Name] = digest // "": not resolved
			if err != nil {
				note(verdict.Finding{
					Rule: ruleRefUnresolved, Level: verdict.Flag, Class: verdict.Safety, Person: true, Span: at,
					Message: fmt.Sprintf("the %s that %s names cannot be read: %s", a.Ref.Kind, a.Name, clip(err.Error())), Need: "name a " + a.Ref.Kind + " that " + a.Ref.Tool + " can read",
				})
				continue
			}
			note(s.g.screened(a, at, words)...)
			note(verdict.Finding{Rule: ruleRefRead, Level: verdict.Pass, Span: at, Message: fmt.Sprintf("the %s that %s names has the digest %s", a.Ref.Kind, a.Name, digest)})
		}
	}
	if !some {
		return nil
	}
	return out
}

// screened looks at content as at any text of a server: it may be about to be
// carried out.
func (g *Gate) screened(a site.Arg, at verdict.Span, words []string) []verdict.Finding {
	if g.o.Screener == nil {
		return nil
	}
	for _, w := range words {
		if rule := g.o.Screener.Screen(w); rule != "" {
			return []verdict.Finding{{
				Rule: ruleRefScreened, Level: verdict.Flag, Class: verdict.Adversarial, Person: true, Span: at,
				Message: fmt.Sprintf("the %s that %s names reads like an attempt to give orders (%s)", a.Ref.Kind, a.Name, rule),
			}}
		}
	}
	return nil
}

// rest gives what a plan rested on when it was judged.
func (g *Gate) rest(e *entry) (r rests, err error) {
	if body := g.book.Rests(strings.TrimSuffix(e.id, highEnd)); body != nil {
		if err := json.Unmarshal(body, &r); err != nil {
			return r, fmt.Errorf("what the plan rests on cannot be read: %w", err)
		}
	}
	return r, nil
}

// bind gives the slots of calls the digests that were judged.
func (g *Gate) bind(slots []grant.Slot, calls []plan.ToolCall, digests []map[string]string) error {
	for i, c := range calls {
		refs := named(g.tool(slots[i].Server, c.Tool), c.Arguments)
		if len(refs) == 0 {
			continue
		}
		if i >= len(digests) || len(digests[i]) != len(refs) {
			return fmt.Errorf("call %d: what %s names was not read when the plan was judged: submit it again", i+1, refs[0].Name)
		}
		slots[i].Refs = digests[i]
	}
	return nil
}

// unchanged reads again what a call names, just before it goes out. Other
// content than was judged stops the call and the plan. The moment between this
// reading and the server's own stays: only the server could close it.
func (s *Session) unchanged(ctx context.Context, call callFrame, p pass) *denial {
	slot, ok := s.g.book.Slot(*p.permit)
	if !ok {
		return deny("no-plan", "the permit is not known or was used")
	}
	for _, a := range named(p.tool, call.Arguments) {
		judged := slot.Refs[a.Name]
		digest, _, err := s.resolve(context.WithoutCancel(ctx), s.server, a, call.Arguments[a.Name])
		reason := ""
		switch {
		case err != nil && judged == "": // as it was when a person approved it
		case err != nil:
			reason = fmt.Sprintf("the %s that %s names cannot be read any more: %s", a.Ref.Kind, a.Name, clip(err.Error()))
		case judged == "":
			reason = fmt.Sprintf("the %s that %s names could not be read when the plan was judged, and now it can", a.Ref.Kind, a.Name)
		case digest != judged:
			reason = fmt.Sprintf("the %s that %s names is not the one that was judged: its content has changed", a.Ref.Kind, a.Name)
		}
		if reason != "" {
			s.g.book.Release(*p.permit)
			return s.g.halt(ctx, s.server, call, *p.permit, deny("reference-changed", "%s", reason))
		}
	}
	return nil
}

// halt suspends the plan of a call that is refused after it got its permit,
// and tells a person.
func (g *Gate) halt(ctx context.Context, server string, call callFrame, p grant.Permit, d *denial) *denial {
	tool := g.policyName(server, call.Tool)
	reason := "refused at dispatch: " + d.Reason
	d.Plan, d.Do = p.Plan, "the plan is suspended: run its on_abort calls if they are needed, then submit a new plan that names this one as its parent"
	if err := g.book.Suspend(ctx, p.Grant, reason, grant.Ask{Server: server, Tool: tool, Args: call.Arguments}); err != nil {
		d.Reason += "; " + err.Error()
	}
	if gr, ok := g.book.Get(p.Grant); ok {
		d.OnAbort = abortCalls(gr)
	}
	g.alert(ctx, Alert{Kind: grant.KindDeviation, Plan: p.Plan, Grant: p.Grant, Server: server, Tool: tool, Reason: reason})
	return d
}

// abortCalls are the calls of on_abort that have not been made.
func abortCalls(gr grant.Grant) []denialCall {
	var out []denialCall
	for _, s := range gr.OnAbort {
		if s.State == grant.Planned {
			out = append(out, denialCall{Tool: s.Tool, Arguments: s.Args})
		}
	}
	return out
}

package gate

import (
	"context"
	"sync"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
	"interlock/internal/strict"
)

// A server of the stateless protocol asks its questions as a result, and the
// client calls again with the answers. That second call belongs to the first:
// it needs no new permit and gets none (C36).

func continuation(call string, args map[string]any) string {
	return call + "\x00" + string(strict.Canonical(args))
}

// pause decides a question a server asks as its result.
func (s *Session) pause(ctx context.Context, f wire.Frame, in *inflight) []byte {
	if !s.g.o.Policy.Elicitation && !s.g.shadowed("*", "") {
		reason := "the server answers with a question, which is not passed to the agent: it goes to a person"
		s.g.alert(ctx, Alert{Kind: grant.KindRefused, Server: s.server, Tool: in.tool, Reason: reason})
		if p := in.pass.permit; p != nil {
			if err := s.g.book.Finish(context.WithoutCancel(ctx), *p, grant.Failed, reason); err != nil {
				s.g.o.Log.ErrorContext(ctx, "the journal cannot be written", "error", err)
			}
		}
		return wire.ErrorReply(f.ID, wire.CodeRefused, reason, nil)
	}
	if p := in.pass.permit; p != nil {
		s.g.asking.put(s.asker(), in.key, *p)
	}
	return f.Raw
}

// resume lets the answer to a question pass under the permit of the call that
// asked; one that answers nothing known is refused.
func (s *Session) resume(ctx context.Context, f wire.Frame, call callFrame) Out {
	key := continuation(call.Tool, call.Arguments)
	permit, ok := s.g.asking.take(s.asker(), key)
	p := pass{permit: &permit, tool: s.g.listed(s.server, call.Tool)}
	switch {
	case ok:
		if d := s.g.stopped(p.tool); d != nil {
			s.unknown(ctx, &inflight{tool: call.Tool, pass: p}, d.Reason)
			return s.denied(ctx, f, call, d)
		}
	case s.g.shadowed(s.g.policyName(s.server, call.Tool), ""):
		p = pass{shadow: "the answer to a question of the server"}
		if d := s.g.dispatch(ctx, s.client, s.server, call, p); d != nil {
			return s.denied(ctx, f, call, d)
		}
	default:
		return s.denied(ctx, f, call, deny("no-question", "no call of yours with these arguments waits for an answer"))
	}
	s.track(f, &inflight{id: f.ID, method: f.Method, tool: s.g.policyName(s.server, call.Tool), key: key, pass: p})
	return Out{Up: f.Raw}
}

// asker names the client and the server of a question.
func (s *Session) asker() string { return s.client.Requester + "\x00" + s.server }

// questions are the calls that wait for an answer, by client, server and call. They
// outlive a connection: the stateless protocol has none.
type questions struct {
	mu   sync.Mutex
	open map[string]grant.Permit
}

func (q *questions) put(who, key string, p grant.Permit) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open[who+"\x00"+key] = p
}

func (q *questions) take(who, key string) (grant.Permit, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, ok := q.open[who+"\x00"+key]
	delete(q.open, who+"\x00"+key)
	return p, ok
}

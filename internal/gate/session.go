package gate

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
	"interlock/internal/site"
)

// A Session is one client's conversation with one upstream. It looks at every
// frame both ways and says what becomes of it; carrying frames is the work of
// the transports. It is safe for concurrent use.
type Session struct {
	g      *Gate
	client Client
	server string
	ask    Asker

	mu      sync.Mutex           // owns what follows
	pending map[string]*inflight // the client's requests, by id
	asked   map[string]bool      // the server's requests the client may answer, by id
	meta    []byte               // _meta the gate uses for its own requests: the client's protocol fields
	version string               // protocol version, "" before it is known
	agreed  string               // what the server made of it when the session began
	tell    func([]byte)         // writes to the client; nil if nobody can
	shown   string               // what the client was last given or told of the server's tools
	listing bool                 // the client has asked for the list
}

// An inflight is a request of the client that has been sent on.
type inflight struct {
	id     []byte
	method string
	tool   string
	key    string // of its continuation
	pass   pass
	timer  *time.Timer // set once an answer is overdue

	listens bool // a stream that asked for word of changed tools
}

// Out says what becomes of a frame. Frames go Up to the server, Down to the
// client; Later runs apart from the reading of further frames, since it may
// wait for them, and gives frames for the client.
type Out struct {
	Up, Down []byte
	Later    func(context.Context) [][]byte
	of       wire.Frame                // what Up was made of, taken apart; the zero frame if that is not known
	Then     func(context.Context) Out // runs apart as Later does, and says what becomes of the frame after all
}

// NewSession starts a session.
func (g *Gate) NewSession(c Client, server string, ask Asker) *Session {
	return &Session{g: g, client: c, server: server, ask: ask, pending: map[string]*inflight{}, asked: map[string]bool{}}
}

// standard are the client's methods that pass in strict mode (C36).
var standard = []string{
	"initialize", "ping", "server/discover", "subscriptions/listen",
	"tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
	"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed",
}

// FromClient decides what becomes of a frame the client sent.
func (s *Session) FromClient(ctx context.Context, raw []byte) Out {
	f, refusal := wire.ParseClient(raw)
	if refusal != nil {
		s.g.note(ctx, grant.Event{Kind: grant.KindWire, Requester: s.client.Requester, Server: s.server, Reason: refusal.Msg})
		return Out{Down: refusal.Reply()}
	}
	switch f.Kind {
	case wire.Response:
		return s.answer(ctx, f)
	case wire.Notification:
		return s.notification(ctx, f)
	default:
		out := s.request(ctx, f)
		out.of = f
		return out
	}
}

// answer lets a response pass only if the server has asked (R22).
func (s *Session) answer(ctx context.Context, f wire.Frame) Out {
	s.mu.Lock()
	known := s.asked[f.Key]
	delete(s.asked, f.Key)
	s.mu.Unlock()
	if !known {
		s.g.note(ctx, grant.Event{Kind: grant.KindWire, Requester: s.client.Requester, Server: s.server, Reason: "a response nobody asked for was dropped"})
		return Out{}
	}
	return Out{Up: f.Raw}
}

func (s *Session) notification(ctx context.Context, f wire.Frame) Out {
	if !s.g.allowed(f.Method) {
		s.g.note(ctx, grant.Event{Kind: grant.KindRefused, Requester: s.client.Requester, Server: s.server, Reason: "notification " + f.Method + " is not on the list of methods"})
		return Out{}
	}
	if f.Method == "notifications/cancelled" {
		s.cancelled(ctx, f)
	}
	return Out{Up: f.Raw}
}

// allowed reports whether a client may use a method. In shadow mode unknown
// methods pass and are recorded.
func (g *Gate) allowed(method string) bool {
	return slices.Contains(standard, method) || slices.Contains(g.o.Policy.Methods, method) || g.shadowed("*", "")
}

func (s *Session) request(ctx context.Context, f wire.Frame) Out {
	if !s.g.allowed(f.Method) {
		s.g.note(ctx, grant.Event{Kind: grant.KindRefused, Requester: s.client.Requester, Server: s.server, Reason: "method " + f.Method + " is not on the list of methods"})
		return Out{Down: wire.ErrorReply(f.ID, wire.CodeMethodNotFound, "the gate does not pass the method "+f.Method, nil)}
	}
	s.learn(f)
	s.mu.Lock()
	_, twice := s.pending[f.Key]
	s.mu.Unlock()
	if twice {
		return Out{Down: wire.ErrorReply(f.ID, wire.CodeInvalidRequest, "a request with this id is still open", nil)}
	}
	switch f.Method {
	case "tools/call":
		return s.call(ctx, f)
	case "resources/read":
		if out, ours := s.readPlan(f); ours {
			return out
		}
	}
	in := &inflight{id: f.ID, method: f.Method, listens: listens(f)}
	if in.listens {
		names, _ := s.visible()
		s.shows(names, true)
	}
	s.track(f, in)
	return Out{Up: f.Raw}
}

// learn keeps the protocol fields of the client's requests for the gate's own.
func (s *Session) learn(f wire.Frame) {
	if f.Method == "initialize" {
		s.mu.Lock()
		s.version, _ = wire.Text(wire.Get(f.Params, "protocolVersion"))
		s.mu.Unlock()
		return
	}
	fields, err := wire.Split(wire.Get(f.Params, "_meta"))
	if err != nil {
		return
	}
	var kept []wire.Field
	for _, m := range fields {
		switch m.Key {
		case metaVersion:
			s.mu.Lock()
			s.version, _ = wire.Text(m.Value)
			s.mu.Unlock()
			kept = append(kept, m)
		case "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities":
			kept = append(kept, m)
		}
	}
	if kept != nil {
		s.mu.Lock()
		s.meta = wire.Object(kept...)
		s.mu.Unlock()
	}
}

const metaVersion = "io.modelcontextprotocol/protocolVersion"

// stateless is the first protocol version without sessions.
const stateless = "2026-07-28"

func (s *Session) track(f wire.Frame, in *inflight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending[f.Key] = in
}

// call decides a tools/call.
func (s *Session) call(ctx context.Context, f wire.Frame) Out {
	call, err := readCall(f)
	if err != nil {
		return Out{Down: wire.ErrorReply(f.ID, wire.CodeInvalidParams, err.Error(), nil)}
	}
	if tool := s.g.planTool(call.Tool); tool != nil {
		return Out{Later: func(ctx context.Context) [][]byte { return [][]byte{s.own(ctx, f, tool, call)} }}
	}
	if call.Task && !s.g.shadowed(s.g.policyName(s.server, call.Tool), "") {
		return s.denied(ctx, f, call, deny("task", "tasks are not passed on: call the tool without one"))
	}
	if call.Continues {
		return s.resume(ctx, f, call)
	}
	if d := s.current(ctx); d != nil {
		return s.denied(ctx, f, call, d)
	}
	p, d := s.g.authorise(ctx, s.client, s.server, call)
	if d != nil {
		return s.denied(ctx, f, call, d)
	}
	if p.permit != nil && len(named(p.tool, call.Arguments)) > 0 {
		// Reading what the call names may take time, and no stop waits for it (C31).
		return Out{Then: func(ctx context.Context) Out {
			if d := s.unchanged(ctx, call, p); d != nil {
				return s.denied(ctx, f, call, d)
			}
			return s.send(ctx, f, call, p)
		}}
	}
	return s.send(ctx, f, call, p)
}

// send records a call that may go out, and gives it to the server.
func (s *Session) send(ctx context.Context, f wire.Frame, call callFrame, p pass) Out {
	if s.open(f.Key) {
		s.g.drop(p)
		return Out{Down: wire.ErrorReply(f.ID, wire.CodeInvalidRequest, "a request with this id is still open", nil)}
	}
	frame, err := s.g.cleaned(f, call, p)
	if err != nil {
		s.g.drop(p)
		return Out{Down: wire.ErrorReply(f.ID, wire.CodeInvalidParams, err.Error(), nil)}
	}
	if d := s.g.dispatch(ctx, s.client, s.server, call, p); d != nil {
		return s.denied(ctx, f, call, d)
	}
	s.track(f, &inflight{id: f.ID, method: f.Method, tool: s.g.policyName(s.server, call.Tool), key: continuation(call.Tool, call.Arguments), pass: p})
	return Out{Up: frame}
}

// current sees to it that the server's list of tools is known and fresh.
func (s *Session) current(ctx context.Context) *denial {
	s.mu.Lock()
	meta := s.meta
	s.mu.Unlock()
	if err := s.g.refresh(ctx, s.server, s.ask, meta); err != nil {
		return deny("not-listed", "%v", err)
	}
	return nil
}

// drop gives a permit back that nothing was recorded of.
func (g *Gate) drop(p pass) {
	if p.permit != nil {
		g.book.Release(*p.permit)
	}
}

// cleaned returns the frame to forward: as it came, unless _meta holds keys
// that must not reach a call with an effect (C22).
func (g *Gate) cleaned(f wire.Frame, call callFrame, p pass) ([]byte, error) {
	if p.effect == site.Observe || len(call.Meta) == 0 || p.shadow != "" {
		return f.Raw, nil
	}
	var kept []wire.Field
	for _, m := range call.Meta {
		if slices.Contains(g.o.Policy.Meta, m.Key) {
			kept = append(kept, m)
		}
	}
	if len(kept) == len(call.Meta) {
		return f.Raw, nil
	}
	params, err := wire.Set(f.Params, "_meta", wire.Object(kept...))
	if err != nil {
		return nil, err
	}
	return wire.Set(f.Raw, "params", params)
}

// denied answers a refused call. The reason goes to the client as the tool's
// result, where planners read it.
func (s *Session) denied(ctx context.Context, f wire.Frame, call callFrame, d *denial) Out {
	s.g.note(ctx, grant.Event{Kind: grant.KindRefused, Requester: s.client.Requester, Server: s.server, Tool: s.g.policyName(s.server, call.Tool), Plan: d.Plan, Reason: d.Code + ": " + d.Reason, Body: argsBody(call)})
	if d.Code == codeUnknown { // as the server itself would answer
		return Out{Down: wire.ErrorReply(f.ID, wire.CodeInvalidParams, d.Reason, nil)}
	}
	return Out{Down: s.refusal(f.ID, d)}
}

// refusal writes a refused call as the tool's result. Clients hold structured
// content against the tool's own schema, so ours goes into _meta, and as text
// for the model that reads it.
func (s *Session) refusal(id []byte, d *denial) []byte {
	body, err := json.Marshal(d)
	if err != nil {
		return wire.ErrorReply(id, wire.CodeRefused, d.Reason, nil)
	}
	item := func(text string) []byte {
		return wire.Object(wire.Field{Key: "type", Value: []byte(`"text"`)}, wire.Field{Key: "text", Value: wire.Quote(text)})
	}
	return wire.Reply(id, wire.Object(s.resultFields(
		wire.Field{Key: "content", Value: list([][]byte{item("Refused by the gate: " + d.Reason), item(string(body))})},
		wire.Field{Key: "isError", Value: []byte("true")},
		wire.Field{Key: "_meta", Value: wire.Object(wire.Field{Key: refusalKey, Value: body})},
	)...))
}

// refusalKey is where a refusal stands in _meta.
const refusalKey = "interlock/refusal"

// cancelled notes that the client waits no more: the call may or may not
// happen, so a result that does not come in time makes it unknown.
func (s *Session) cancelled(ctx context.Context, f wire.Frame) {
	id := wire.Get(f.Params, "requestId")
	if id == nil {
		return
	}
	key := wire.Key(id)
	s.mu.Lock()
	in := s.pending[key]
	s.mu.Unlock()
	if in != nil {
		s.overdue(context.WithoutCancel(ctx), key, in, "the client cancelled the call and no result came")
	}
}

// overdue starts the time after which a missing answer counts as unknown.
func (s *Session) overdue(ctx context.Context, key string, in *inflight, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.timer != nil {
		return
	}
	in.timer = time.AfterFunc(s.g.o.Policy.ResultTimeout, func() {
		if s.take(key) == in {
			s.unknown(ctx, in, reason)
		}
	})
}

// take removes a pending request.
func (s *Session) take(key string) *inflight {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.pending[key]
	delete(s.pending, key)
	return in
}

// unknown records that nobody knows whether a call happened (C19).
func (s *Session) unknown(ctx context.Context, in *inflight, reason string) {
	p := in.pass.permit
	if p == nil {
		return
	}
	if err := s.g.book.Finish(ctx, *p, grant.Unknown, reason); err != nil {
		s.g.o.Log.ErrorContext(ctx, "the journal cannot be written", "error", err)
	}
	s.g.alert(ctx, Alert{Kind: grant.KindUnknown, Plan: p.Plan, Grant: p.Grant, Server: s.server, Tool: in.tool, Reason: reason})
}

// Broken ends every open request: the upstream is gone. It returns the errors
// for the client, so that nothing is left hanging.
func (s *Session) Broken(ctx context.Context, reason string) [][]byte {
	s.mu.Lock()
	open := s.pending
	s.pending, s.asked = map[string]*inflight{}, map[string]bool{} // an answer to a server that is gone must reach no other
	s.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	var replies [][]byte
	for _, in := range open {
		msg := reason
		if in.pass.permit != nil {
			s.unknown(ctx, in, reason)
			msg += ": whether the call happened is not known; it is not repeated and a person is asked"
		}
		replies = append(replies, wire.ErrorReply(in.id, wire.CodeUpstream, msg, nil))
	}
	return replies
}

// Lost says that the answer to one request will not come on the stream it was
// expected on; it may still come on another.
func (s *Session) Lost(ctx context.Context, key, reason string) {
	s.mu.Lock()
	in := s.pending[key]
	s.mu.Unlock()
	if in != nil {
		s.overdue(context.WithoutCancel(ctx), key, in, reason)
	}
}

// open reports whether a request of the client has no answer yet.
func (s *Session) open(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return key != "" && s.pending[key] != nil
}

// effect reports whether an open request is a call under a permit.
func (s *Session) effect(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.pending[key]
	return key != "" && in != nil && in.pass.permit != nil
}

// Failed ends an open request that gets no answer, and gives the error for the
// client. sent says whether the server may have received it: only if not is
// the call known not to have happened.
func (s *Session) Failed(ctx context.Context, f wire.Frame, sent bool, reason string) []byte {
	in := (*inflight)(nil)
	if f.Key != "" {
		in = s.take(f.Key)
	}
	if in == nil || in.pass.permit == nil {
		return wire.ErrorReply(f.ID, wire.CodeUpstream, reason, nil)
	}
	ctx = context.WithoutCancel(ctx)
	if sent {
		s.unknown(ctx, in, reason)
		return wire.ErrorReply(f.ID, wire.CodeUpstream, reason+": whether the call happened is not known; it is not repeated and a person is asked", nil)
	}
	if err := s.g.book.Finish(ctx, *in.pass.permit, grant.Failed, reason); err != nil {
		s.g.o.Log.ErrorContext(ctx, "the journal cannot be written", "error", err)
	}
	return wire.ErrorReply(f.ID, wire.CodeUpstream, reason+": the call was not sent", nil)
}

package gate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
)

// request finds the server that a request is for.
func (m *merge) request(e *errand) {
	if !m.g.allowed(e.f.Method) {
		m.g.note(e.r.Context(), grant.Event{Kind: grant.KindRefused, Requester: e.c.Requester, Reason: "method " + e.f.Method + " is not on the list of methods"})
		m.refuse(e, wire.CodeMethodNotFound, "the gate does not pass the method "+e.f.Method)
		return
	}
	servers := m.reached(e.s)
	if len(servers) == 0 {
		m.refuse(e, wire.CodeUpstream, "no server could be reached when this session began: initialize again")
		return
	}
	switch e.f.Method {
	case "ping":
		m.direct(e, servers[0], "", e.f.Raw)
	case "server/discover":
		m.discover(e)
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		m.list(e)
	case "tools/call":
		m.named(e, m.resolve, "unknown tool %q")
	case "prompts/get":
		m.named(e, m.prefixed, "unknown prompt %q: expected SERVER__NAME, as in the list")
	case "completion/complete":
		m.complete(e)
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		m.resource(e)
	case "logging/setLevel":
		m.toAll(e)
	case "subscriptions/listen":
		m.listen(e)
	default:
		m.refuse(e, wire.CodeMethodNotFound, "which server the method "+e.f.Method+" is for is not clear: call it below this path, at /NAME of the server")
	}
}

func (m *merge) refuse(e *errand, code int, reason string) {
	reply := wire.ErrorReply(e.f.ID, code, reason, nil)
	writeFrame(e.w, statelessStatus(reply, e.r.Header.Get(versionHeader) >= stateless), reply)
}

// between parts a server's name from a thing's where the profile has no name for
// it. Names of servers in a merge do not hold it.
const between = "__"

// exposed is what clients call a tool of a server: as the site profile does, so
// that plans, policy and lists say the same; else with the server's name before
// it. Either way the name depends on no other server and on no order.
func (m *merge) exposed(server, own string) string {
	if m.g.planTool(own) != nil {
		return own
	}
	if t := m.g.listed(server, own); t != nil {
		return t.Name
	}
	return server + between + own
}

// resolve finds the tool that clients call name.
func (m *merge) resolve(e *errand, name string) (server, own string, ok bool) {
	if m.g.planTool(name) != nil {
		return m.reached(e.s)[0], name, true
	}
	if server = m.g.server(name); server != "" {
		return server, ownName(m.g.tool(server, name)), true
	}
	server, own, ok = m.prefixed(e, name)
	return server, own, ok && m.exposed(server, own) == name
}

// prefixed takes a name apart that begins with its server's.
func (m *merge) prefixed(_ *errand, name string) (server, own string, ok bool) {
	server, own, ok = strings.Cut(name, between)
	return server, own, ok && own != "" && slices.Contains(m.names, server)
}

// named sends a request on whose params name a thing.
func (m *merge) named(e *errand, find func(*errand, string) (string, string, bool), unknown string) {
	name, _ := wire.Text(wire.Get(e.f.Params, "name"))
	server, own, ok := find(e, name)
	if !ok {
		reason := fmt.Sprintf(unknown, clip(name))
		m.g.note(e.r.Context(), grant.Event{Kind: grant.KindRefused, Requester: e.c.Requester, Reason: reason})
		m.refuse(e, wire.CodeInvalidParams, reason)
		return
	}
	raw := e.f.Raw
	if own != name {
		var err error
		if raw, err = withParam(e.f, "name", wire.Quote(own)); err != nil {
			m.refuse(e, wire.CodeInvalidParams, "params: "+err.Error())
			return
		}
	}
	m.direct(e, server, own, raw)
}

// withParam is the frame with one parameter set; the rest stays as written.
func withParam(f wire.Frame, key string, value []byte) ([]byte, error) {
	params, err := wire.Set(f.Params, key, value)
	if err != nil {
		return nil, err
	}
	return wire.Set(f.Raw, "params", params)
}

// complete sends a question for completions to the server of its prompt or
// template.
func (m *merge) complete(e *errand) {
	ref := wire.Get(e.f.Params, "ref")
	if kind, _ := wire.Text(wire.Get(ref, "type")); kind == "ref/prompt" {
		name, _ := wire.Text(wire.Get(ref, "name"))
		server, own, ok := m.prefixed(e, name)
		if ok {
			if ref, err := wire.Set(ref, "name", wire.Quote(own)); err == nil {
				if raw, err := withParam(e.f, "ref", ref); err == nil {
					m.direct(e, server, "", raw)
					return
				}
			}
		}
		m.refuse(e, wire.CodeInvalidParams, fmt.Sprintf("unknown prompt %q: expected SERVER__NAME, as in the list", clip(name)))
		return
	}
	uri, _ := wire.Text(wire.Get(ref, "uri"))
	server, known := e.s.owner(uri)
	if !known {
		m.collect(e, "resources/templates/list", nil)
		server, known = e.s.owner(uri)
	}
	m.owned(e, uri, server, known)
}

// owned sends a request on to the one server that has a resource.
func (m *merge) owned(e *errand, uri, server string, known bool) {
	switch {
	case !known:
		m.refuse(e, wire.CodeInvalidParams, fmt.Sprintf("no server lists %q", clip(uri)))
	case server == "":
		m.refuse(e, wire.CodeInvalidParams, fmt.Sprintf("more than one server has %q: ask below this path, at /NAME of the server", clip(uri)))
	default:
		m.direct(e, server, "", e.f.Raw)
	}
}

// resource sends a request on to the server that has the resource: the one that
// lists it, else the only one that can read it.
func (m *merge) resource(e *errand) {
	uri, _ := wire.Text(wire.Get(e.f.Params, "uri"))
	if strings.HasPrefix(uri, planScheme) {
		m.direct(e, m.reached(e.s)[0], "", e.f.Raw)
		return
	}
	server, known := e.s.owner(uri)
	if !known {
		m.collect(e, "resources/list", nil)
		server, known = e.s.owner(uri)
	}
	if known {
		m.owned(e, uri, server, known)
		return
	}
	read := func(string) []byte {
		return wire.NewRequest(m.id(), "resources/read", e.f.Params)
	}
	var refused []said
	for _, a := range m.ask(e, read) {
		if a.f.Result == nil {
			refused = append(refused, a)
			continue
		}
		e.s.has(uri, a.server)
	}
	if server, known = e.s.owner(uri); !known && len(refused) > 0 && refused[0].f.Error != nil {
		m.reply(e, refused[0].f.Raw)
		return
	}
	m.owned(e, uri, server, known)
}

// reply gives the client an answer to a request of the merge's own.
func (m *merge) reply(e *errand, raw []byte) {
	own, err := wire.Set(raw, "id", e.f.ID)
	if err != nil {
		m.refuse(e, wire.CodeUpstream, "the server's answer cannot be read")
		return
	}
	writeFrame(e.w, statelessStatus(own, e.r.Header.Get(versionHeader) >= stateless), own)
}

// has notes that a server has a resource.
func (s *merged) has(uri, server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, known := s.owners[uri]; known && before != server {
		server = ""
	}
	s.owners[uri] = server
}

func (s *merged) owner(uri string) (server string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	server, known = s.owners[uri]
	return server, known
}

// toAll sends a request to every server; one that does it is enough.
func (m *merge) toAll(e *errand) {
	defer e.s.opens(e.f.Key, everywhere)()
	all := m.ask(e, func(string) []byte { return e.f.Raw })
	best := all[0]
	for _, a := range all {
		if a.f.Result != nil && best.f.Result == nil {
			best = a
		}
	}
	if best.f.Kind != wire.Response {
		m.refuse(e, wire.CodeUpstream, "the server "+best.server+" has not answered")
		return
	}
	m.reply(e, best.f.Raw)
}

// listen is a stream of the stateless protocol on which all servers tell.
func (m *merge) listen(e *errand) {
	defer e.s.opens(e.f.Key, everywhere)()
	startStream(e.w)
	e.s.out.listen(e.w)
	defer e.s.out.leave(e.w)
	var mu sync.Mutex
	var last wire.Frame // the answer that ends the stream
	var all sync.WaitGroup
	ends := func(raw []byte) bool {
		f, refusal := wire.ParseServer(raw)
		if refusal != nil || f.Kind != wire.Response || f.Key != e.f.Key {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		if last.Result == nil {
			last = f
		}
		return true
	}
	for _, server := range m.reached(e.s) {
		all.Go(func() {
			t := newRelay(func(int, http.Header) {}, func(ev wire.Event) error {
				if ends(ev.Data) {
					return nil
				}
				ev, some := tagged(server, ev)
				if !some {
					return nil
				}
				return e.s.out.write(ev)
			})
			m.guarded(server, func() { m.send(e.r.Context(), e, server, "", e.f.Raw, t) })
			if !t.stream {
				ends(t.buf)
			}
		})
	}
	all.Wait()
	if last.Kind != wire.Response {
		last.Raw = wire.ErrorReply(e.f.ID, wire.CodeUpstream, "no server has answered", nil)
	}
	_ = e.s.out.write(wire.Event{Name: "message", Data: last.Raw})
}

// answered sends the client's answer to the server that has asked.
func (m *merge) answered(e *errand) {
	server, id, ok := untag(e.f.ID)
	if _, reached := e.s.legs[server]; ok && reached {
		if raw, err := wire.Set(e.f.Raw, "id", id); err == nil {
			m.direct(e, server, "", raw)
			return
		}
	}
	m.g.note(e.r.Context(), grant.Event{Kind: grant.KindWire, Requester: e.c.Requester, Reason: "a response nobody asked for was dropped"})
	e.w.WriteHeader(http.StatusAccepted)
}

// notified tells every server, but of a cancelled request those that have it.
func (m *merge) notified(e *errand) {
	to := m.reached(e.s)
	if e.f.Method == "notifications/cancelled" {
		e.s.mu.Lock()
		server, open := e.s.open[wire.Key(wire.Get(e.f.Params, "requestId"))]
		e.s.mu.Unlock()
		switch {
		case !open:
			to = nil
		case server != everywhere:
			to = []string{server}
		}
	}
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(e.r.Context(), askTimeout)
	defer cancel()
	for _, server := range to {
		all.Go(func() {
			t := newRelay(func(int, http.Header) {}, func(wire.Event) error { return nil })
			m.guarded(server, func() { m.send(ctx, e, server, "", e.f.Raw, t) })
		})
	}
	all.Wait()
	e.w.WriteHeader(http.StatusAccepted)
}

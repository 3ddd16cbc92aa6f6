package gate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
)

// A merge is one MCP server made of several upstreams, so that a client sees
// the tools of all in one list. It holds no policy: a request goes on to the
// front of the upstream it is for, under the names of that server, and is
// judged there as if it had come there. Only lists and introductions are put
// together here.
type merge struct {
	g      *Gate
	names  []string // of the upstreams, in the order of the configuration
	fronts map[string]front
	next   atomic.Int64 // number of the next request of its own

	mu       sync.Mutex // owns what follows
	sessions map[string]*merged
}

// A merged session is one with each upstream that could be reached when it
// began.
type merged struct {
	client Client
	legs   map[string]leg // by server; not changed once the session is known
	out    outlet         // what the client listens on

	mu     sync.Mutex // owns what follows
	used   time.Time
	open   map[string]string // the server of each open request, by the key of its id
	owners map[string]string // the server of a resource or template, by URI; "" if several have it
}

// A leg is the session with one upstream.
type leg struct{ session, version string }

// An errand is a request of a client on its way.
type errand struct {
	w http.ResponseWriter
	r *http.Request
	c Client
	s *merged
	f wire.Frame
}

func newMerge(g *Gate, names []string, fronts map[string]front) *merge {
	return &merge{g: g, names: names, fronts: fronts, sessions: map[string]*merged{}}
}

func (m *merge) newSession(c Client) *merged {
	s := &merged{client: c, legs: map[string]leg{}, used: m.g.o.Now(), open: map[string]string{}, owners: map[string]string{}}
	for _, name := range m.names {
		s.legs[name] = leg{}
	}
	return s
}

// session finds the session of a request; without an id it gets one of its own,
// as in the stateless protocol.
func (m *merge) session(r *http.Request, c Client) *merged {
	id := r.Header.Get(sessionHeader)
	if id == "" {
		return m.newSession(c)
	}
	m.mu.Lock()
	s := m.sessions[id]
	m.mu.Unlock()
	if s == nil || s.client != c {
		return nil // another's session looks like none (C33)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = m.g.o.Now()
	return s
}

// expire forgets sessions that were not used for d. Those with the upstreams
// end by themselves.
func (m *merge) expire(_ context.Context, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, s := range m.sessions {
		s.mu.Lock()
		old := m.g.o.Now().Sub(s.used) > d
		s.mu.Unlock()
		if old {
			delete(m.sessions, id)
		}
	}
}

func (m *merge) ServeHTTP(w http.ResponseWriter, r *http.Request, c Client) {
	if r.Method == http.MethodPost {
		m.post(w, r, c)
		return
	}
	s := m.session(r, c)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "GET, POST, DELETE")
		httpError(w, http.StatusMethodNotAllowed, "expected GET, POST or DELETE")
	case s == nil || r.Header.Get(sessionHeader) == "":
		httpError(w, http.StatusNotFound, "the session is not known: initialize again")
	case r.Method == http.MethodGet:
		m.get(&errand{w: w, r: r, c: c, s: s})
	default:
		m.remove(&errand{w: w, r: r, c: c, s: s})
	}
}

func (m *merge) post(w http.ResponseWriter, r *http.Request, c Client) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	f, refusal := wire.ParseClient(body)
	if refusal == nil {
		if refusal = routingAgrees(r.Header, f); refusal == nil {
			refusal = metaSays(r.Header, f)
		}
	}
	if refusal != nil {
		m.g.note(r.Context(), grant.Event{Kind: grant.KindWire, Requester: c.Requester, Reason: refusal.Msg})
		writeFrame(w, http.StatusBadRequest, refusal.Reply())
		return
	}
	e := &errand{w: w, r: r, c: c, f: f}
	if f.Method == "initialize" {
		e.s = m.newSession(c)
		m.initialize(e)
		return
	}
	if e.s = m.session(r, c); e.s == nil {
		httpError(w, http.StatusNotFound, "the session is not known: initialize again")
		return
	}
	switch f.Kind {
	case wire.Response:
		m.answered(e)
	case wire.Notification:
		m.notified(e)
	default:
		m.request(e)
	}
}

// send gives a frame, under the name own where it is for a named thing, to the
// front of a server, and what that answers to t.
func (m *merge) send(ctx context.Context, e *errand, server, own string, raw []byte, t *relay) {
	l := e.s.legs[server]
	r := e.r.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	r.Header.Del("Last-Event-Id")
	r.Header.Del(sessionHeader)
	if l.session != "" {
		r.Header.Set(sessionHeader, l.session)
	}
	if l.version != "" && r.Header.Get(versionHeader) != "" {
		r.Header.Set(versionHeader, l.version)
	}
	mirror(r.Header, raw, own)
	m.fronts[server].ServeHTTP(t, r, e.c)
}

// mirror makes the routing headers of a request say what its body says, where the
// client's request had them.
func mirror(h http.Header, raw []byte, own string) {
	method, _ := wire.Text(wire.Get(raw, "method"))
	if method != "" && h.Get(methodHeader) != "" {
		h.Set(methodHeader, method)
	}
	switch {
	case h.Get(nameHeader) == "" || method == "resources/read":
	case own != "":
		h.Set(nameHeader, own)
	default:
		h.Del(nameHeader)
	}
}

// direct gives a frame to one server and what that answers to the client.
func (m *merge) direct(e *errand, server, own string, raw []byte) {
	if _, ok := e.s.legs[server]; !ok {
		writeFrame(e.w, http.StatusOK, wire.ErrorReply(e.f.ID, wire.CodeUpstream, "the server "+server+" could not be reached when this session began: initialize again", nil))
		return
	}
	defer e.s.opens(e.f.Key, server)()
	head := func(status int, h http.Header) {
		copyHeader(e.w.Header(), h, sessionHeader, "Content-Length")
		e.w.WriteHeader(status)
	}
	t := newRelay(head, func(ev wire.Event) error {
		ev, some := tagged(server, ev)
		if !some {
			return nil
		}
		if _, err := e.w.Write(ev.Append(nil)); err != nil { //nolint:gosec // an event stream, and it says so
			return fmt.Errorf("writing to the client: %w", err)
		}
		return http.NewResponseController(e.w).Flush()
	})
	m.send(e.r.Context(), e, server, own, raw, t)
	if !t.stream {
		t.WriteHeader(http.StatusOK)
		head(t.status, t.header)
		_, _ = e.w.Write(t.buf)
	}
}

// everywhere stands for all servers of a session.
const everywhere = ""

// opens notes where a request has gone, until the returned function is called.
func (s *merged) opens(key, server string) (done func()) {
	if key == "" {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[key] = server
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, key)
	}
}

// reached gives the servers of a session in the order of the configuration.
func (m *merge) reached(s *merged) []string {
	return slices.DeleteFunc(slices.Clone(m.names), func(name string) bool { _, ok := s.legs[name]; return !ok })
}

// get is the stream a client listens on: those of all servers in one. It ends
// with the first of them, for the client to listen anew.
func (m *merge) get(e *errand) {
	ctx, cancel := context.WithCancel(e.r.Context())
	defer cancel()
	startStream(e.w)
	e.s.out.listen(e.w)
	defer e.s.out.leave(e.w)
	var all sync.WaitGroup
	for _, server := range m.reached(e.s) {
		all.Go(func() {
			t := newRelay(func(int, http.Header) {}, func(ev wire.Event) error {
				ev, some := tagged(server, ev)
				if !some {
					return nil
				}
				return e.s.out.write(ev)
			})
			m.guarded(server, func() { m.send(ctx, e, server, "", nil, t) })
			if t.stream {
				cancel()
			}
		})
	}
	<-ctx.Done()
	all.Wait()
}

func (m *merge) remove(e *errand) {
	m.mu.Lock()
	delete(m.sessions, e.r.Header.Get(sessionHeader))
	m.mu.Unlock()
	for _, server := range m.reached(e.s) {
		m.send(e.r.Context(), e, server, "", nil, newRelay(func(int, http.Header) {}, func(wire.Event) error { return nil }))
	}
	e.w.WriteHeader(http.StatusNoContent)
}

// guarded keeps a fault of one front from ending the process: these run beside
// the goroutine whose panics the HTTP server catches.
func (m *merge) guarded(server string, f func()) {
	defer func() {
		if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint,err113 // the value itself is panicked with
			m.g.o.Log.Error("a front has failed", "server", server, "cause", fmt.Sprint(cause))
		}
	}()
	f()
}

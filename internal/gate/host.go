package gate

import (
	"context"
	"net/http"
	"sync"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
)

// A host stands before an upstream that is a command: each session of a client
// has a process of its own, as it would have without the gate.
type host struct {
	g   *Gate
	u   Upstream
	ctx context.Context //nolint:containedctx // the life of the processes, not of a request

	mu       sync.Mutex
	sessions map[string]*hosted
}

// A hosted session is one process and the client it serves.
type hosted struct {
	client Client
	used   time.Time
	conn   *httpConn
	done   chan struct{} // closed when the session has ended
}

func newHost(ctx context.Context, g *Gate, u Upstream) *host {
	return &host{g: g, u: u, ctx: ctx, sessions: map[string]*hosted{}}
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request, c Client) {
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, c)
	case http.MethodGet:
		if s := h.find(r.Header.Get(sessionHeader), c); s != nil {
			s.conn.serveGET(w, r)
			return
		}
		httpError(w, http.StatusNotFound, "the session is not known: initialize again")
	case http.MethodDelete:
		s := h.find(r.Header.Get(sessionHeader), c)
		if s == nil {
			httpError(w, http.StatusNotFound, "the session is not known")
			return
		}
		h.drop(r.Header.Get(sessionHeader))
		_ = s.conn.Close()
		<-s.done
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		httpError(w, http.StatusMethodNotAllowed, "expected GET, POST or DELETE")
	}
}

func (h *host) post(w http.ResponseWriter, r *http.Request, c Client) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	f, refusal := wire.ParseClient(body)
	if refusal == nil {
		if refusal = h.g.headersAgree(r.Context(), h.u.Name, r.Header, f); refusal == nil {
			refusal = metaSays(r.Header, f)
		}
	}
	if refusal != nil {
		h.g.note(r.Context(), grant.Event{Kind: grant.KindWire, Requester: c.Requester, Server: h.u.Name, Reason: refusal.Msg})
		writeFrame(w, http.StatusBadRequest, refusal.Reply())
		return
	}
	id := r.Header.Get(sessionHeader)
	switch {
	case id != "":
	case f.Method == "initialize":
		id = grant.NewID("s-")
		w.Header().Set(sessionHeader, id)
	default:
		id = "stateless " + c.Requester // the stateless protocol: one process for each client
	}
	s, err := h.session(id, c, f.Method == "initialize" || r.Header.Get(sessionHeader) == "")
	if err != nil {
		h.g.o.Log.ErrorContext(r.Context(), "the upstream cannot be started", "server", h.u.Name, "error", err)
		writeFrame(w, http.StatusBadGateway, wire.ErrorReply(f.ID, wire.CodeUpstream, "the server cannot be started", nil))
		return
	}
	if s == nil {
		httpError(w, http.StatusNotFound, "the session is not known: initialize again")
		return
	}
	s.conn.servePOST(w, r, f, r.Header.Get(sessionHeader) == "" && f.Method != "initialize")
}

func (h *host) find(id string, c Client) *hosted {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil || s.client != c {
		return nil
	}
	s.used = h.g.o.Now()
	return s
}

func (h *host) drop(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, id)
}

// session finds a session, or starts one if it may.
func (h *host) session(id string, c Client, start bool) (*hosted, error) {
	if s := h.find(id, c); s != nil || !start {
		return s, nil
	}
	up, err := wire.Start(h.ctx, h.u.Command)
	if err != nil {
		return nil, err
	}
	s := &hosted{client: c, used: h.g.o.Now(), conn: newHTTPConn(), done: make(chan struct{})}
	h.mu.Lock()
	if other := h.sessions[id]; other != nil && other.client == c {
		h.mu.Unlock()
		_ = up.Close()
		return other, nil
	}
	h.sessions[id] = s
	h.mu.Unlock()
	go func() {
		defer close(s.done)
		if err := h.g.Pump(h.ctx, c, h.u.Name, s.conn, up); err != nil && h.ctx.Err() == nil {
			h.g.o.Log.WarnContext(h.ctx, "a session has ended", "server", h.u.Name, "error", err)
		}
		_ = up.Close()
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.sessions[id] == s {
			delete(h.sessions, id)
		}
	}()
	return s, nil
}

// expire ends sessions not used for d; all if d is below zero.
func (h *host) expire(_ context.Context, d time.Duration) {
	h.mu.Lock()
	var old []*hosted
	for id, s := range h.sessions {
		if d < 0 || h.g.o.Now().Sub(s.used) > d {
			old = append(old, s)
			delete(h.sessions, id)
		}
	}
	h.mu.Unlock()
	for _, s := range old {
		_ = s.conn.Close()
		<-s.done
	}
}

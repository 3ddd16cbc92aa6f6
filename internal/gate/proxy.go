package gate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
)

// askTimeout bounds the gate's own requests to an upstream.
const askTimeout = 15 * time.Second

// A proxy stands before an upstream that speaks streamable HTTP. Sessions are
// the upstream's; the gate remembers whose they are.
type proxy struct {
	g      *Gate
	server string
	url    *url.URL
	header http.Header // sent upstream instead of the client's credentials
	client *http.Client

	readers sync.Pool // of streams, *bufio.Reader

	mu       sync.Mutex
	sessions map[string]*httpSession
}

// An httpSession is one session of the upstream.
type httpSession struct {
	s      *Session
	client Client
	used   time.Time
	out    *outlet // the stream the client listens on
	end    func()  // the client is told nothing any more
}

func newProxy(g *Gate, u Upstream) *proxy {
	return &proxy{g: g, server: u.Name, url: u.URL, header: u.Header, client: &http.Client{Transport: u.transport(), CheckRedirect: noRedirect}, sessions: map[string]*httpSession{}}
}

// noRedirect keeps a call where it was judged to go.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request, c Client) {
	s, known := p.session(r, c)
	if !known {
		// The client has to begin anew: it knows what 404 means (R37).
		httpError(w, http.StatusNotFound, "the session is not known: initialize again")
		return
	}
	switch r.Method {
	case http.MethodPost:
		p.post(w, r, s, c)
	case http.MethodGet:
		p.get(w, r, s)
	case http.MethodDelete:
		p.remove(w, r, s)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		httpError(w, http.StatusMethodNotAllowed, "expected GET, POST or DELETE")
	}
}

// session finds the session of a request; without an id it gets one of its
// own, as in the stateless protocol.
func (p *proxy) session(r *http.Request, c Client) (*Session, bool) {
	id := r.Header.Get(sessionHeader)
	ask := &httpAsker{p: p, header: r.Header}
	if id == "" {
		return p.g.NewSession(c, p.server, ask), true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.sessions[id]
	if h == nil || h.client != c {
		return nil, false // another's session looks like none (C33)
	}
	h.used = p.g.o.Now()
	return h.s, true
}

// begin remembers the session an upstream has opened.
func (p *proxy) begin(id string, s *Session, c Client, header http.Header) {
	h := header.Clone()
	h.Set(sessionHeader, id)
	s.ask = &httpAsker{p: p, header: h}
	out := &outlet{}
	end := p.g.serve(s, out.tell)
	p.forget(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[id] = &httpSession{s: s, client: c, used: p.g.o.Now(), out: out, end: end}
}

func (p *proxy) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.sessions[id]; h != nil {
		h.end()
		delete(p.sessions, id)
	}
}

// outlet returns what the client of a session listens on.
func (p *proxy) outlet(id string) *outlet {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.sessions[id]; h != nil {
		return h.out
	}
	return &outlet{}
}

// expire forgets sessions that were not used for d.
func (p *proxy) expire(ctx context.Context, d time.Duration) {
	p.mu.Lock()
	var old []*Session
	for id, h := range p.sessions {
		if p.g.o.Now().Sub(h.used) > d {
			old = append(old, h.s)
			h.end()
			delete(p.sessions, id)
		}
	}
	p.mu.Unlock()
	for _, s := range old {
		s.Broken(ctx, "the session was not used any more")
	}
}

// request makes the request that goes upstream. The client's credentials stay
// here (C28).
func (p *proxy) request(ctx context.Context, method string, from http.Header, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, p.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("forwarding to %s: %w", p.server, err)
	}
	copyHeader(r.Header, from, "Authorization", "Cookie", "Origin", "Host", "Content-Length", "Accept-Encoding", "X-Forwarded-For", "Forwarded")
	for k, v := range p.header {
		r.Header[k] = v
	}
	return r, nil
}

func (p *proxy) post(w http.ResponseWriter, r *http.Request, s *Session, c Client) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	if f, refusal := wire.ParseServer(body); refusal == nil { // else it is refused below, with its own reason
		if mismatch := p.g.headersAgree(r.Context(), p.server, r.Header, f); mismatch != nil {
			p.g.note(r.Context(), grant.Event{Kind: grant.KindWire, Requester: c.Requester, Server: p.server, Reason: mismatch.Msg})
			writeFrame(w, http.StatusBadRequest, mismatch.Reply())
			return
		}
	}
	out := s.FromClient(r.Context(), body)
	if out.Then != nil {
		out = out.Then(r.Context())
	}
	switch {
	case out.Later != nil:
		writeFrames(w, out.Later(r.Context()))
		return
	case out.Down != nil:
		writeFrame(w, statusOf(out.Down), out.Down)
		return
	case out.Up == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	p.forward(w, r, s, c, out)
}

// forward sends a frame upstream and carries the answer back.
func (p *proxy) forward(w http.ResponseWriter, r *http.Request, s *Session, c Client, out Out) {
	f := out.of
	if f.Kind == wire.Invalid {
		f, _ = wire.ParseServer(out.Up) // it has passed the strict reading
	}
	if f.Kind != wire.Request {
		f.Key = "" // an answer has the id of the server's request, which may be that of one of the client's
	}
	ctx := r.Context()
	if s.effect(f.Key) {
		// The result of a call that changes something is waited for even if
		// the client has gone: it must not become unknown for that.
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		stop := context.AfterFunc(r.Context(), func() { time.AfterFunc(p.g.o.Policy.ResultTimeout, cancel) })
		defer stop()
	}
	up, err := p.request(ctx, http.MethodPost, r.Header, out.Up)
	if err != nil {
		writeFrame(w, http.StatusBadGateway, s.Failed(ctx, f, false, err.Error()))
		return
	}
	resp, err := p.client.Transport.RoundTrip(up) // what a client adds, redirects and cookies, is not wanted
	if err != nil {
		writeFrame(w, http.StatusBadGateway, s.Failed(ctx, f, !neverSent(err), "the server cannot be reached"))
		p.g.o.Log.WarnContext(ctx, "the upstream cannot be reached", "server", p.server, "error", err)
		return
	}
	defer closeBody(resp)
	if id := resp.Header.Get(sessionHeader); id != "" && f.Method == "initialize" {
		p.begin(id, s, c, r.Header)
	}
	if resp.StatusCode == http.StatusNotFound {
		p.forget(r.Header.Get(sessionHeader))
	}
	p.carry(ctx, w, resp, s, f)
}

// carry brings a response back, looking at every frame in it.
func (p *proxy) carry(ctx context.Context, w http.ResponseWriter, resp *http.Response, s *Session, f wire.Frame) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	copyHeader(w.Header(), resp.Header, "Content-Length")
	if kind == "text/event-stream" {
		w.WriteHeader(resp.StatusCode)
		out := &outlet{}
		out.listen(w)
		if f.Method == "subscriptions/listen" { // without sessions such a stream is what the gate can tell on
			defer p.g.serve(s, out.tell)()
			defer out.leave(w)
		}
		resumable := p.stream(ctx, out, resp.Body, s)
		p.over(ctx, w, s, f, resumable)
		return
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, wire.MaxServerFrame+1))
	if err == nil && len(body) > wire.MaxServerFrame {
		err = wire.ErrTooLong
	}
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		writeFrame(w, http.StatusBadGateway, s.Failed(ctx, f, true, "the server's answer broke off: "+clip(err.Error())))
		return
	}
	if kind == "application/json" && len(body) > 0 {
		if out := s.FromServer(ctx, body); out.Down != nil {
			body = out.Down
		}
	}
	if s.open(f.Key) { // an answer without the response: refused, or not JSON
		s.Failed(ctx, f, resp.StatusCode < 400 || resp.StatusCode >= 500, "the server answered with status "+resp.Status)
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(body)
}

// over ends a request whose stream has ended.
func (p *proxy) over(ctx context.Context, w http.ResponseWriter, s *Session, f wire.Frame, resumable bool) {
	if !s.open(f.Key) {
		return
	}
	const reason = "the server's stream ended before its result"
	if resumable {
		s.Lost(ctx, f.Key, reason)
		return
	}
	_, _ = w.Write(wire.Event{Name: "message", Data: s.Failed(ctx, f, true, reason)}.Append(nil))
}

// stream carries events until the server ends the stream. It reports whether
// the client can take it up again.
func (p *proxy) stream(ctx context.Context, to *outlet, body io.Reader, s *Session) (resumable bool) {
	in := p.borrow(body)
	defer p.giveBack(in)
	for {
		e, err := wire.ReadEvent(in, wire.MaxServerFrame)
		if err != nil {
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				p.g.o.Log.WarnContext(ctx, "a stream of the upstream broke off", "server", p.server, "error", err)
			}
			return resumable
		}
		resumable = resumable || (e.HasID && e.ID != "")
		for _, frame := range p.event(ctx, s, e) {
			e.Data = frame
			if err := to.write(e); err != nil && ctx.Err() != nil {
				return resumable
			}
		}
	}
}

// borrow gives a reader of a stream, one used before if there is one.
func (p *proxy) borrow(from io.Reader) *bufio.Reader {
	if in, ok := p.readers.Get().(*bufio.Reader); ok {
		in.Reset(from)
		return in
	}
	return bufio.NewReaderSize(from, 8<<10)
}

func (p *proxy) giveBack(in *bufio.Reader) {
	in.Reset(nil)
	p.readers.Put(in)
}

// event gives the frames the client gets for one event.
func (p *proxy) event(ctx context.Context, s *Session, e wire.Event) [][]byte {
	if len(e.Data) == 0 {
		return [][]byte{e.Data} // an event that only sets an id or a retry time
	}
	out := s.FromServer(ctx, e.Data)
	if out.Up != nil {
		p.reply(ctx, s, out.Up)
	}
	if out.Later != nil {
		return out.Later(ctx)
	}
	if out.Down == nil {
		return nil
	}
	return [][]byte{out.Down}
}

// reply answers a request of the server on the gate's behalf.
func (p *proxy) reply(ctx context.Context, s *Session, frame []byte) {
	ask, ok := s.ask.(*httpAsker)
	if !ok {
		return
	}
	resp, err := ask.post(ctx, frame)
	if err != nil {
		p.g.o.Log.WarnContext(ctx, "a server's request could not be refused", "server", p.server, "error", err)
		return
	}
	_ = resp.Body.Close()
}

func (p *proxy) get(w http.ResponseWriter, r *http.Request, s *Session) {
	up, err := p.request(r.Context(), http.MethodGet, r.Header, nil)
	if err != nil {
		httpError(w, http.StatusBadGateway, err.Error())
		return
	}
	resp, err := p.client.Do(up)
	if err != nil {
		httpError(w, http.StatusBadGateway, "the server cannot be reached")
		return
	}
	defer closeBody(resp)
	copyHeader(w.Header(), resp.Header, "Content-Length")
	w.WriteHeader(resp.StatusCode)
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		// Long may pass before the first event; the client waits for the answer
		// to its GET. After a POST the first event comes with the headers.
		_ = http.NewResponseController(w).Flush()
		out := p.outlet(r.Header.Get(sessionHeader))
		out.listen(w)
		defer out.leave(w)
		p.stream(r.Context(), out, resp.Body, s)
		return
	}
	_, _ = io.Copy(w, io.LimitReader(resp.Body, wire.MaxClientFrame))
}

func (p *proxy) remove(w http.ResponseWriter, r *http.Request, s *Session) {
	id := r.Header.Get(sessionHeader)
	up, err := p.request(r.Context(), http.MethodDelete, r.Header, nil)
	if err != nil {
		httpError(w, http.StatusBadGateway, err.Error())
		return
	}
	resp, err := p.client.Do(up)
	if err != nil {
		httpError(w, http.StatusBadGateway, "the server cannot be reached")
		return
	}
	defer closeBody(resp)
	if resp.StatusCode < 300 {
		p.forget(id)
		s.Broken(r.Context(), "the client ended the session")
	}
	copyHeader(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, io.LimitReader(resp.Body, wire.MaxClientFrame))
}

// An httpAsker sends the gate's own requests in a client's session.
type httpAsker struct {
	p      *proxy
	header http.Header
}

func (a *httpAsker) post(ctx context.Context, frame []byte) (*http.Response, error) {
	r, err := a.p.request(ctx, http.MethodPost, nil, frame)
	if err != nil {
		return nil, err
	}
	f, _ := wire.ParseClient(frame)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range []string{sessionHeader, versionHeader} {
		if v := a.header.Get(h); v != "" {
			r.Header.Set(h, v)
		}
	}
	if a.header.Get(versionHeader) >= stateless && f.Method != "" {
		r.Header.Set(methodHeader, f.Method)
		if name, ok := wire.Text(wire.Get(f.Params, "name")); ok && f.Method == "tools/call" {
			r.Header.Set(nameHeader, name)
		}
	}
	return a.p.client.Do(r)
}

// Ask implements Asker.
func (a *httpAsker) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	id := wire.Quote(grant.NewID(askPrefix))
	resp, err := a.post(ctx, wire.NewRequest(id, method, params))
	if err != nil {
		return nil, err
	}
	defer closeBody(resp)
	if session := resp.Header.Get(sessionHeader); session != "" && method == "initialize" {
		a.header.Set(sessionHeader, session)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "text/event-stream" {
		body, err := io.ReadAll(io.LimitReader(resp.Body, wire.MaxServerFrame))
		if err != nil {
			return nil, err
		}
		f, refusal := wire.ParseServer(body)
		if refusal != nil {
			return nil, fmt.Errorf("status %s: %w", resp.Status, refusal)
		}
		return asked(f)
	}
	in := bufio.NewReader(resp.Body)
	for {
		e, err := wire.ReadEvent(in, wire.MaxServerFrame)
		if err != nil {
			return nil, err
		}
		if f, refusal := wire.ParseServer(e.Data); refusal == nil && f.Kind == wire.Response && f.Key == wire.Key(id) {
			return asked(f)
		}
	}
}

// neverSent reports whether a request failed before anything was sent.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// closeBody ends a response; what its connection has to say by then changes
// nothing.
func closeBody(r *http.Response) { _ = r.Body.Close() }

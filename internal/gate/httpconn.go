package gate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"interlock/internal/gate/wire"
)

// backlog bounds the frames kept for a client that listens on no stream.
const backlog = 1000

// An httpConn makes one connection of frames out of the requests of a
// streamable HTTP session: what POSTs bring is read, what is written goes to
// the POST it answers, or to the stream the client listens on.
type httpConn struct {
	in     chan []byte
	closed chan struct{}
	once   sync.Once

	mu     sync.Mutex // owns what follows
	next   int
	posts  map[string]*exchange // open requests, by the id they have upstream
	latest *exchange
	listen *exchange // of the GET stream, nil if none
	queued [][]byte  // for the next GET stream
}

// An exchange is one HTTP response that frames can go to.
type exchange struct {
	out   chan []byte
	done  <-chan struct{} // closed when the client has gone
	token string          // progress token of the request
	id    []byte          // the client's id where it was replaced
	key   string
}

func newHTTPConn() *httpConn {
	return &httpConn{in: make(chan []byte), closed: make(chan struct{}), posts: map[string]*exchange{}}
}

// Read implements wire.Conn.
func (c *httpConn) Read() ([]byte, error) {
	select {
	case raw := <-c.in:
		return raw, nil
	case <-c.closed:
		return nil, io.EOF
	}
}

// Close implements wire.Conn.
func (c *httpConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// Write implements wire.Conn.
func (c *httpConn) Write(frame []byte) error {
	f, refusal := wire.ParseServer(frame)
	if refusal != nil {
		return refusal
	}
	to, frame := c.route(f)
	if to == nil {
		return nil
	}
	select {
	case to.out <- frame:
	case <-to.done:
	case <-c.closed:
	}
	return nil
}

// route finds where a frame belongs; without a place it is kept, or dropped if
// it answers a request whose client has gone.
func (c *httpConn) route(f wire.Frame) (*exchange, []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Kind == wire.Response {
		e := c.posts[f.Key]
		delete(c.posts, f.Key)
		if e == c.latest {
			c.latest = nil
		}
		if e != nil && e.id != nil {
			if own, err := wire.Set(f.Raw, "id", e.id); err == nil {
				return e, own
			}
		}
		return e, f.Raw
	}
	if e, own := c.subscribed(f); e != nil {
		return e, own
	}
	if token := wire.Get(f.Params, "progressToken"); token != nil {
		for _, e := range c.posts {
			if e.token == string(token) {
				return e, f.Raw
			}
		}
	}
	switch {
	case len(c.posts) > 0 && c.latest != nil && f.Method != "notifications/resources/updated":
		return c.latest, f.Raw
	case c.listen != nil:
		return c.listen, f.Raw
	case len(c.queued) < backlog:
		c.queued = append(c.queued, f.Raw)
	}
	return nil, nil
}

// metaSubscription names the request whose stream a notification belongs to.
const metaSubscription = "io.modelcontextprotocol/subscriptionId"

// subscribed finds the stream of a notification that names its subscription,
// and gives it the client's id of that. mu is held.
func (c *httpConn) subscribed(f wire.Frame) (*exchange, []byte) {
	meta := wire.Get(f.Params, "_meta")
	id := wire.Get(meta, metaSubscription)
	if id == nil {
		return nil, nil
	}
	e := c.posts[wire.Key(id)]
	if e == nil || e.id == nil {
		return e, f.Raw
	}
	meta, err := wire.Set(meta, metaSubscription, e.id)
	if err != nil {
		return nil, nil
	}
	params, err := wire.Set(f.Params, "_meta", meta)
	if err != nil {
		return nil, nil
	}
	own, err := wire.Set(f.Raw, "params", params)
	if err != nil {
		return nil, nil
	}
	return e, own
}

var errTwice = errors.New("a request with this id is still open")

// open registers a request. In the stateless protocol ids of different
// connections may be equal, so the request gets one of its own.
func (c *httpConn) open(ctx context.Context, f wire.Frame, shared bool) (*exchange, []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &exchange{out: make(chan []byte), done: ctx.Done(), key: f.Key}
	e.token = string(wire.Get(wire.Get(f.Params, "_meta"), "progressToken"))
	raw := f.Raw
	if shared {
		c.next++
		id := wire.Quote("http:" + strconv.Itoa(c.next))
		var err error
		if raw, err = wire.Set(f.Raw, "id", id); err != nil {
			return nil, nil, err
		}
		e.id, e.key = f.ID, wire.Key(id)
	}
	if c.posts[e.key] != nil {
		return nil, nil, errTwice
	}
	c.posts[e.key], c.latest = e, e
	return e, raw, nil
}

func (c *httpConn) forget(e *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.posts[e.key] == e {
		delete(c.posts, e.key)
	}
	if c.latest == e {
		c.latest = nil
	}
}

// servePOST hands a frame on and, for a request, writes what comes back: one
// JSON answer, or a stream if the server speaks before it answers.
func (c *httpConn) servePOST(w http.ResponseWriter, r *http.Request, f wire.Frame, shared bool) {
	if f.Kind != wire.Request {
		if c.push(r.Context(), f.Raw) {
			w.WriteHeader(http.StatusAccepted)
		} else {
			httpError(w, http.StatusNotFound, "the session has ended: initialize again")
		}
		return
	}
	e, raw, err := c.open(r.Context(), f, shared)
	if err != nil {
		writeFrame(w, http.StatusBadRequest, wire.ErrorReply(f.ID, wire.CodeInvalidRequest, err.Error(), nil))
		return
	}
	defer c.forget(e)
	if !c.push(r.Context(), raw) {
		httpError(w, http.StatusNotFound, "the session has ended: initialize again")
		return
	}
	streaming := false
	for {
		select {
		case frame := <-e.out:
			last := wire.Get(frame, "method") == nil
			if last && !streaming {
				writeFrame(w, statelessStatus(frame, shared), frame)
				return
			}
			writeEvent(w, frame, !streaming)
			streaming = true
			if last {
				return
			}
		case <-c.closed:
			if reply := wire.ErrorReply(f.ID, wire.CodeUpstream, "the server has ended", nil); streaming {
				writeEvent(w, reply, false)
			} else {
				writeFrame(w, http.StatusOK, reply)
			}
			return
		case <-r.Context().Done():
			return
		}
	}
}

// statelessStatus gives the HTTP status that the stateless protocol wants for
// an error; with sessions every answer is 200.
func statelessStatus(frame []byte, stateless bool) int {
	code := string(wire.Get(wire.Get(frame, "error"), "code"))
	switch {
	case !stateless:
		return http.StatusOK
	case code == methodNotFound:
		return http.StatusNotFound
	case len(code) == len("-32020") && code[:5] == "-3202": // header, version and capability errors
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}

func (c *httpConn) push(ctx context.Context, raw []byte) bool {
	select {
	case c.in <- raw:
		return true
	case <-c.closed:
		return false
	case <-ctx.Done():
		return false
	}
}

// serveGET is the stream a client listens on; a second one takes its place.
func (c *httpConn) serveGET(w http.ResponseWriter, r *http.Request) {
	e := &exchange{out: make(chan []byte), done: r.Context().Done()}
	c.mu.Lock()
	c.listen = e
	waiting := c.queued
	c.queued = nil
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.listen == e {
			c.listen = nil
		}
	}()
	startStream(w)
	for _, frame := range waiting {
		writeEvent(w, frame, false)
	}
	for {
		select {
		case frame := <-e.out:
			writeEvent(w, frame, false)
		case <-c.closed:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func startStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

func writeEvent(w http.ResponseWriter, frame []byte, first bool) {
	if first {
		startStream(w)
	}
	_, _ = w.Write(wire.Event{Name: "message", Data: frame}.Append(nil))
	_ = http.NewResponseController(w).Flush()
}

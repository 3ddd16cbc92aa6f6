package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
)

// Limits of a Hop.
const (
	hopIdle   = 64       // connections kept open
	hopBody   = 64 << 10 // largest request it sends itself, in bytes
	hopHeader = 1 << 20  // largest header of a response
)

// A Hop carries small POST requests to one upstream over connections it keeps
// open, in the goroutine that asks: net/http's transport hands every request
// to one goroutine and every response to another, which on a busy machine is
// most of what a call through the gate takes. Everything else (other methods,
// large bodies, TLS) goes through Else. Like net/http it never sends a POST a
// second time once a byte of it has been written.
type Hop struct {
	// Dial opens connections with keep-alive probes: an upstream that has gone
	// silently must show on an idle connection.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	Else http.RoundTripper

	mu   sync.Mutex // owns idle, the one used last at the end
	idle []*hopConn
}

// A hopConn is one connection, used by one request at a time.
type hopConn struct {
	net.Conn
	room  io.LimitedReader // what may still be read from the connection
	in    *bufio.Reader
	out   *bufio.Writer
	host  string
	wrote int // bytes of the request that have gone out
}

// RoundTrip implements http.RoundTripper.
func (h *Hop) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || r.URL.Scheme != "http" || r.ContentLength < 0 || r.ContentLength > hopBody || !canPeek {
		return h.Else.RoundTrip(r)
	}
	for {
		c, used, err := h.connection(r)
		if err != nil {
			return nil, err
		}
		resp, err := h.exchange(c, r)
		if err == nil || !used || c.wrote > 0 || r.Context().Err() != nil || r.GetBody == nil {
			return resp, err
		}
		// The upstream had closed the connection before a byte went out.
		again, gone := r.GetBody()
		if gone != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = again
	}
}

// connection takes one that is open and silent, or opens one.
func (h *Hop) connection(r *http.Request) (c *hopConn, used bool, err error) {
	host := r.URL.Host
	if r.URL.Port() == "" {
		host = net.JoinHostPort(r.URL.Hostname(), "80")
	}
	for {
		c := h.take(host)
		if c == nil {
			break
		}
		if silent(c.Conn) {
			return c, true, nil
		}
		_ = c.Close()
	}
	conn, err := h.Dial(r.Context(), "tcp", host)
	if err != nil {
		return nil, false, err
	}
	c = &hopConn{Conn: conn, host: host}
	c.room = io.LimitedReader{R: conn}
	c.in, c.out = bufio.NewReader(&c.room), bufio.NewWriter(c)
	return c, false, nil
}

func (h *Hop) take(host string) *hopConn {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.idle) - 1; i >= 0; i-- {
		if c := h.idle[i]; c.host == host {
			h.idle = append(h.idle[:i], h.idle[i+1:]...)
			return c
		}
	}
	return nil
}

// put keeps a connection; of too many the one that was idle longest goes.
func (h *Hop) put(c *hopConn) {
	h.mu.Lock()
	h.idle = append(h.idle, c)
	var old []*hopConn
	for len(h.idle) > hopIdle {
		old = append(old, h.idle[0])
		h.idle = h.idle[1:]
	}
	h.mu.Unlock()
	for _, c := range old {
		_ = c.Close()
	}
}

// CloseIdleConnections ends what is kept open and not in use.
func (h *Hop) CloseIdleConnections() {
	h.mu.Lock()
	old := h.idle
	h.idle = nil
	h.mu.Unlock()
	for _, c := range old {
		_ = c.Close()
	}
	if e, ok := h.Else.(interface{ CloseIdleConnections() }); ok {
		e.CloseIdleConnections()
	}
}

// Write counts what goes out.
func (c *hopConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.wrote += n
	return n, err
}

// exchange sends a request and reads the head of its response. The end of the
// request's context ends the connection.
func (h *Hop) exchange(c *hopConn, r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	c.wrote = 0
	resp, err := c.roundTrip(r)
	if err != nil {
		stop()
		return nil, errors.Join(ctx.Err(), err, c.Close())
	}
	body := &hopReader{h: h, c: c, from: resp.Body, stop: stop, keep: !resp.Close && !r.Close}
	resp.Body = body
	if resp.ContentLength == 0 {
		body.end(true)
	}
	return resp, nil
}

func (c *hopConn) roundTrip(r *http.Request) (*http.Response, error) {
	err := r.Write(c.out)
	if err == nil {
		err = c.out.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	for {
		c.room.N = hopHeader
		resp, err := http.ReadResponse(c.in, r)
		if err != nil {
			return nil, fmt.Errorf("reading the response: %w", err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			c.room.N = math.MaxInt64
			return resp, nil
		} // else it announces the response
	}
}

// A hopReader is the body of a response. Read to its end it gives its
// connection back; closed before, it ends it.
type hopReader struct {
	h    *Hop
	c    *hopConn // nil once the body has ended
	from io.ReadCloser
	stop func() bool
	keep bool // the upstream keeps the connection open
}

func (b *hopReader) Read(p []byte) (int, error) {
	if b.c == nil {
		return 0, io.EOF
	}
	n, err := b.from.Read(p)
	if err != nil {
		b.end(errors.Is(err, io.EOF))
	}
	return n, err
}

func (b *hopReader) Close() error {
	b.end(false)
	return nil
}

func (b *hopReader) end(whole bool) {
	c := b.c
	if c == nil {
		return
	}
	b.c = nil
	if open := b.stop(); whole && open && b.keep && c.in.Buffered() == 0 {
		b.h.put(c)
		return
	}
	_ = c.Close()
}

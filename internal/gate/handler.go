package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"interlock/internal/gate/wire"
)

// An Upstream is one MCP server behind the gate: a URL or a command.
type Upstream struct {
	Name    string
	URL     *url.URL
	Header  http.Header // for URL: sent with every request, e.g. the server's credential
	Command wire.Command
}

func (u Upstream) transport() http.RoundTripper {
	dial := (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	return &wire.Hop{Dial: dial, Else: &http.Transport{
		Proxy:       nil, // straight to the machine: no environment redirects a call
		DialContext: dial, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, DisableCompression: true,
	}}
}

// An Authenticator says who a request comes from, by its credential alone
// (C33).
type Authenticator func(*http.Request) (Client, error)

// ErrUnauthorized says that a request carries no credential that is known.
var ErrUnauthorized = errors.New("unauthorized")

// HandlerOptions are what a handler needs beside the gate.
type HandlerOptions struct {
	Upstreams    []Upstream // in the order of the configuration
	Authenticate Authenticator
	Idle         time.Duration // sessions unused for longer are ended; 0: 30 minutes
	Origins      []string      // origins of pages that may call, e.g. "https://lab.example"
}

// A Handler serves MCP over streamable HTTP. With one upstream that stands at
// the path it is mounted on; with several, all stand there as one server, and
// each below it under its name.
type Handler struct {
	g      *Gate
	o      HandlerOptions
	fronts map[string]front
	merged *merge // nil with one upstream
	stop   context.CancelFunc
	done   chan struct{}
}

// A front serves one upstream.
type front interface {
	ServeHTTP(http.ResponseWriter, *http.Request, Client)
	expire(context.Context, time.Duration)
}

// Handler returns the handler. ctx ends its sessions; Close waits for them.
func (g *Gate) Handler(ctx context.Context, o HandlerOptions) (_ *Handler, err error) {
	if o.Authenticate == nil {
		return nil, errors.New("building the MCP handler: no authentication")
	}
	if o.Idle == 0 {
		o.Idle = 30 * time.Minute
	}
	ctx, cancel := context.WithCancel(ctx)
	h := &Handler{g: g, o: o, fronts: map[string]front{}, stop: cancel, done: make(chan struct{})}
	for _, u := range o.Upstreams {
		if h.fronts[u.Name] != nil || !slices.Contains(g.o.Servers, u.Name) {
			cancel()
			return nil, fmt.Errorf("building the MCP handler: upstream %q is named twice or not known to the gate", u.Name)
		}
		if u.URL != nil {
			h.fronts[u.Name] = newProxy(g, u)
		} else {
			h.fronts[u.Name] = newHost(ctx, g, u)
		}
	}
	if len(o.Upstreams) > 1 {
		if h.merged, err = h.merge(); err != nil {
			cancel()
			return nil, fmt.Errorf("building the MCP handler: %w", err)
		}
	}
	g.mu.Lock()
	g.ups = map[string]Upstream{}
	for _, u := range o.Upstreams {
		g.ups[u.Name] = u
	}
	g.mu.Unlock()
	go h.sweep(ctx)
	return h, nil
}

// merge makes one server of all.
func (h *Handler) merge() (*merge, error) {
	var names []string
	for _, u := range h.o.Upstreams {
		if strings.Contains(u.Name, between) {
			return nil, fmt.Errorf("the name of upstream %q holds %q, which parts a server's name from a tool's", u.Name, between)
		}
		names = append(names, u.Name)
	}
	return newMerge(h.g, names, h.fronts), nil
}

// sweep ends sessions nobody uses.
func (h *Handler) sweep(ctx context.Context) {
	defer close(h.done)
	tick := time.NewTicker(min(h.o.Idle, time.Minute))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for _, f := range h.fronts {
				f.expire(context.WithoutCancel(ctx), -1)
			}
			return
		case <-tick.C:
			h.g.book.Prune()
			for _, f := range h.fronts {
				f.expire(ctx, h.o.Idle)
			}
			if h.merged != nil {
				h.merged.expire(ctx, h.o.Idle)
			}
		}
	}
}

// Close ends every session and waits for it.
func (h *Handler) Close() error {
	h.stop()
	<-h.done
	return nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if reason := h.foreign(r); reason != "" {
		httpError(w, http.StatusForbidden, reason)
		return
	}
	c, err := h.o.Authenticate(r)
	if err != nil || c.Requester == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="interlock"`)
		httpError(w, http.StatusUnauthorized, "a credential is needed")
		return
	}
	f := h.front(r)
	if f == nil {
		httpError(w, http.StatusNotFound, "no such server here: expected one of "+strings.Join(h.g.o.Servers, ", ")+" as the last part of the path")
		return
	}
	// A stream lives longer than any page: the server's time limits are not
	// for it. Where they cannot be lifted there are none.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{})
	_ = rc.SetWriteDeadline(time.Time{})
	f.ServeHTTP(w, r, c)
}

func (h *Handler) front(r *http.Request) front {
	path := strings.TrimSuffix(r.URL.Path, "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	if f, ok := h.fronts[last]; ok {
		return f
	}
	if len(h.fronts) == 1 {
		for _, f := range h.fronts {
			return f
		}
	}
	if last == "" || last == "mcp" { // the path it is mounted on, not a name that nobody has
		return h.merged
	}
	return nil
}

// foreign refuses requests a web page elsewhere has made a browser send: by
// its origin, or by a name that was pointed at this machine's own address.
func (h *Handler) foreign(r *http.Request) string {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isLoopback(local.String()) && !isLoopback(r.Host) {
		return "the host " + clip(r.Host) + " is not this machine"
	}
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(h.o.Origins, origin) {
		return ""
	}
	u, err := url.Parse(origin)
	if err != nil || (u.Host != r.Host && !(isLoopback(u.Host) && isLoopback(r.Host))) {
		return "pages of " + clip(origin) + " may not call this gate"
	}
	return ""
}

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// readBody reads what a client sent; too much is refused before it is read.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wire.MaxClientFrame))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		writeFrame(w, http.StatusRequestEntityTooLarge, wire.ErrorReply(nil, wire.CodeInvalidRequest, fmt.Sprintf("message over %d bytes", long.Limit), nil))
		return nil, false
	case err != nil:
		return nil, false // the client has gone
	}
	return body, true
}

// statusOf gives the HTTP status of an answer the gate makes itself.
func statusOf(frame []byte) int {
	if wire.Get(frame, "error") != nil && string(wire.Get(frame, "id")) == "null" {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func writeFrame(w http.ResponseWriter, status int, frame []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(frame) //nolint:gosec // JSON, and it says so
}

func writeFrames(w http.ResponseWriter, frames [][]byte) {
	if len(frames) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	writeFrame(w, http.StatusOK, frames[0])
}

func httpError(w http.ResponseWriter, status int, reason string) {
	writeFrame(w, status, wire.ErrorReply(nil, wire.CodeRefused, reason, nil))
}

// hop are the headers of one connection only (RFC 9110, 7.6.1).
var hop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func copyHeader(to, from http.Header, without ...string) {
	listed := strings.Split(from.Get("Connection"), ",")
	for k, v := range from {
		if slices.Contains(hop, k) || slices.Contains(without, k) || slices.ContainsFunc(listed, func(l string) bool { return strings.EqualFold(strings.TrimSpace(l), k) }) {
			continue
		}
		to[k] = slices.Clone(v)
	}
}

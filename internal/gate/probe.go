package gate

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
)

// Probe asks an upstream what it shows, in a session of its own: for a person
// to compare and approve.
func Probe(ctx context.Context, u Upstream) (*pin.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*askTimeout)
	defer cancel()
	ask, hello, closer, err := greet(ctx, ctx, u)
	if err != nil {
		return nil, fmt.Errorf("asking %s for its tools: %w", u.Name, err)
	}
	defer closer()
	out := &pin.Server{Name: u.Name}
	out.Instructions, _ = wire.Text(wire.Get(hello, "instructions"))
	if out.Tools, err = ListTools(ctx, ask, nil); err != nil {
		return nil, fmt.Errorf("asking %s for its tools: %w", u.Name, err)
	}
	out.Sort()
	return out, nil
}

// greet opens a session with an upstream: ctx bounds the handshake, life the
// session. It returns what the server said of itself.
func greet(ctx, life context.Context, u Upstream) (prober, []byte, func(), error) {
	ask, closer, err := introduce(life, u)
	if err != nil {
		return nil, nil, nil, err
	}
	hello, err := ask.Ask(ctx, "initialize", []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"interlock","version":"1"}}`))
	if err == nil {
		err = ask.begin(ctx, hello)
	}
	if err != nil {
		closer()
		return nil, nil, nil, err
	}
	return ask, hello, closer, nil
}

// A prober is an Asker that can finish the handshake.
type prober interface {
	Asker
	begin(ctx context.Context, hello []byte) error
	changed() bool // the server said since the last time that its tools have changed
}

func introduce(ctx context.Context, u Upstream) (prober, func(), error) {
	if u.URL != nil {
		p := newProxy(nil, u)
		a := &httpProber{httpAsker: httpAsker{p: p, header: http.Header{}}}
		return a, p.client.CloseIdleConnections, nil
	}
	conn, err := wire.Start(ctx, u.Command)
	if err != nil {
		return nil, nil, err
	}
	return &lineProber{conn: conn}, func() { _ = conn.Close() }, nil
}

// A lineProber speaks over stdio, one question at a time.
type lineProber struct {
	conn  wire.Conn
	next  int
	moved bool
}

func (l *lineProber) changed() (yes bool) {
	yes, l.moved = l.moved, false
	return yes
}

func (l *lineProber) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	l.next++
	id := []byte(strconv.Itoa(l.next))
	if err := l.conn.Write(wire.NewRequest(id, method, params)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.conn.Close() })
	defer stop()
	for {
		raw, err := l.conn.Read()
		if err != nil {
			return nil, fmt.Errorf("the server gave no answer to %s: %w", method, err)
		}
		f, refusal := wire.ParseServer(raw)
		if refusal != nil {
			return nil, refusal
		}
		switch {
		case f.Kind == wire.Response && f.Key == wire.Key(id):
			return asked(f)
		case f.Kind == wire.Notification:
			l.moved = l.moved || f.Method == toolsChanged
		case f.Kind == wire.Request: // a prober answers nothing
			_ = l.conn.Write(wire.ErrorReply(f.ID, wire.CodeMethodNotFound, "not supported", nil))
		}
	}
}

func (l *lineProber) begin(context.Context, []byte) error {
	return l.conn.Write(wire.NewNotification("notifications/initialized", nil))
}

// An httpProber speaks streamable HTTP. It listens on no stream, so it hears of
// changes from others only.
type httpProber struct{ httpAsker }

func (h *httpProber) changed() bool { return false }

func (h *httpProber) begin(ctx context.Context, hello []byte) error {
	if v, ok := wire.Text(wire.Get(hello, "protocolVersion")); ok {
		h.header.Set(versionHeader, v)
	}
	resp, err := h.post(ctx, wire.NewNotification("notifications/initialized", nil))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

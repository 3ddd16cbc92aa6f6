package gate

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"interlock/internal/gate/wire"
)

// A relay is where the front of one upstream writes what it would write to a
// client: the events of a stream one by one, any other body as a whole.
type relay struct {
	header http.Header
	status int
	stream bool
	buf    []byte // the body, or what is no whole event yet
	begin  func(status int, h http.Header)
	event  func(wire.Event) error
}

func newRelay(begin func(int, http.Header), event func(wire.Event) error) *relay {
	return &relay{header: http.Header{}, begin: begin, event: event}
}

func (t *relay) Header() http.Header { return t.header }

func (t *relay) WriteHeader(status int) {
	if t.status != 0 {
		return
	}
	t.status = status
	kind, _, _ := mime.ParseMediaType(t.header.Get("Content-Type"))
	if t.stream = kind == "text/event-stream"; t.stream {
		t.begin(status, t.header)
	}
}

var eventEnd = []byte("\n\n")

func (t *relay) Write(b []byte) (int, error) {
	t.WriteHeader(http.StatusOK)
	t.buf = append(t.buf, b...)
	for t.stream {
		i := bytes.Index(t.buf, eventEnd)
		if i < 0 {
			break
		}
		e, err := wire.ReadEvent(bufio.NewReader(bytes.NewReader(t.buf[:i+len(eventEnd)])), wire.MaxServerFrame)
		t.buf = t.buf[i+len(eventEnd):]
		if errors.Is(err, io.EOF) {
			continue // nothing but comments
		}
		if err == nil {
			err = t.event(e)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// FlushError does nothing: events are flushed where they are written.
func (t *relay) FlushError() error { return nil }

// tagged gives an event as the client of several servers gets it: what asks for
// an answer names its server in its id, so that the answer finds the way back.
// A stream of several servers cannot be taken up again, so its events have no
// ids. ok is false if nothing is left to tell.
func tagged(server string, e wire.Event) (_ wire.Event, ok bool) {
	e.ID, e.HasID = "", false
	if len(e.Data) == 0 {
		return e, e.Retry != ""
	}
	e.Data = taggedFrame(server, e.Data)
	return e, true
}

func taggedFrame(server string, raw []byte) []byte {
	f, refusal := wire.ParseServer(raw)
	if refusal != nil {
		return raw
	}
	switch {
	case f.Kind == wire.Request:
		if own, err := wire.Set(f.Raw, "id", tag(server, f.ID)); err == nil {
			return own
		}
	case f.Kind == wire.Notification && f.Method == "notifications/cancelled":
		id := wire.Get(f.Params, "requestId")
		if id == nil {
			break
		}
		if params, err := wire.Set(f.Params, "requestId", tag(server, id)); err == nil {
			if own, err := wire.Set(f.Raw, "params", params); err == nil {
				return own
			}
		}
	}
	return raw
}

// tag makes an id that names its server. Names of servers have no slashes.
func tag(server string, id []byte) []byte { return wire.Quote(server + "/" + string(id)) }

// untag gives the server and the id as it was written there.
func untag(id []byte) (server string, own []byte, ok bool) {
	text, ok := wire.Text(id)
	if !ok {
		return "", nil, false
	}
	server, rest, ok := strings.Cut(text, "/")
	return server, []byte(rest), ok && wire.Key([]byte(rest)) != ""
}

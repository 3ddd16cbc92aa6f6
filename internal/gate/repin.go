package gate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"interlock/internal/gate/wire"
)

// WatchPins tells connected clients, once, when a person's approval has changed
// what they may see of a server (C23, C24). It looks every so often, since
// another process approves, and returns when ctx ends.
func (g *Gate) WatchPins(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	seen, _ := g.o.Pins.Changes() // what cannot be read approves nothing, and is read again
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, err := g.o.Pins.Changes(); err == nil && now != seen {
			seen = now
			g.repinned()
		}
	}
}

// repinned tells every session whose list of tools is another one now.
func (g *Gate) repinned() {
	g.mu.Lock()
	var all []*Session
	for s := range g.open {
		all = append(all, s)
	}
	g.mu.Unlock()
	for _, s := range all {
		s.repinned()
	}
}

// serve notes that a session has a client that can be told things; tell is
// called with frames for it. The returned function ends that.
func (g *Gate) serve(s *Session, tell func([]byte)) (end func()) {
	s.mu.Lock()
	s.tell = tell
	s.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = map[*Session]struct{}{}
	}
	g.open[s] = struct{}{}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.open, s)
	}
}

// shows notes what the client was given or told of, and reports whether that
// is new to it. A client that has asked for no list yet needs no word of it.
func (s *Session) shows(names string, listed bool) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news = s.listing && s.shown != names
	s.listing = s.listing || listed
	s.shown = names
	return news
}

func (s *Session) repinned() {
	names, _ := s.visible()
	if !s.shows(names, false) {
		return
	}
	s.mu.Lock()
	tell := s.tell
	frames := [][]byte{wire.NewNotification(toolsChanged, nil)}
	if s.version >= stateless { // told on the streams that asked for it
		frames = nil
		for _, in := range s.pending {
			if in.listens {
				meta := wire.Object(wire.Field{Key: metaSubscription, Value: in.id})
				frames = append(frames, wire.NewNotification(toolsChanged, wire.Object(wire.Field{Key: "_meta", Value: meta})))
			}
		}
	}
	s.mu.Unlock()
	for _, frame := range frames {
		tell(frame)
	}
}

// listens reports whether a request asks for word of changed tools.
func listens(f wire.Frame) bool {
	return f.Method == "subscriptions/listen" && string(wire.Get(wire.Get(f.Params, "notifications"), "toolsListChanged")) == "true"
}

// An outlet is what a client of streamable HTTP listens on: events of the
// server and the gate's own are written whole, one after the other.
type outlet struct {
	mu      sync.Mutex // owns what follows
	to      io.Writer
	flusher *http.ResponseController
	owed    [][]byte // frames nobody has listened for yet
}

var errNobody = errors.New("nobody listens")

// listen makes w what is written to, and gives it what is owed.
func (o *outlet) listen(w http.ResponseWriter) {
	o.mu.Lock()
	owed := o.owed
	o.to, o.flusher, o.owed = w, http.NewResponseController(w), nil
	o.mu.Unlock()
	for _, frame := range owed {
		_ = o.write(wire.Event{Name: "message", Data: frame})
	}
}

// leave ends listening, if w still is what is written to.
func (o *outlet) leave(w http.ResponseWriter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == w {
		o.to, o.flusher = nil, nil
	}
}

func (o *outlet) write(e wire.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		return errNobody
	}
	if _, err := o.to.Write(e.Append(nil)); err != nil {
		return err
	}
	return o.flusher.Flush()
}

// tell writes a frame of the gate's own, or keeps it for who listens next.
func (o *outlet) tell(frame []byte) {
	if o.write(wire.Event{Name: "message", Data: frame}) == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.owed) < backlog {
		o.owed = append(o.owed, frame)
	}
}

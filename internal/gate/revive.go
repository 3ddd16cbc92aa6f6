package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
)

// A server that has ended is started again: a crash must not take the stop of a
// moving machine away from whoever could call it (C31). What ran is unknown and
// is not repeated (C19); what it knows of before is gone, so plans that were
// running stay suspended until a person has looked.
const (
	mostRevivals = 3 // in revivalTime; then something is wrong that no start mends
	revivalTime  = time.Minute
	revivalPause = 200 * time.Millisecond // before the first; each next one waits twice as long
)

// revivals is what a pump needs to start its server again.
type revivals struct {
	hello  []byte          // parameters of the client's initialize; nil without sessions
	begun  bool            // the client has said that it is initialized
	wishes map[string]wish // what the server was asked to keep in mind, each once
	at     []time.Time     // of the last starts
}

type wish struct {
	method string
	params []byte
}

// PumpReviving is like Pump for a server that start starts: one that ends is
// started anew, at most three times a minute.
func (g *Gate) PumpReviving(ctx context.Context, c Client, server string, down wire.Conn, start func() (wire.Conn, error)) error {
	up, err := start()
	if err != nil {
		return err
	}
	p := g.newPump(c, server, down, up)
	p.start = start
	return p.run(ctx)
}

// remember keeps of a frame that goes to the server what the next one must hear.
func (p *pump) remember(out Out) {
	if p.start == nil || out.Up == nil {
		return
	}
	f := out.of
	if f.Kind == wire.Invalid {
		f, _ = wire.ParseServer(out.Up)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch f.Method {
	case "initialize":
		p.past.hello = f.Params
	case "notifications/initialized":
		p.past.begun = true
	case "logging/setLevel", "resources/subscribe":
		if p.past.wishes == nil {
			p.past.wishes = map[string]wish{}
		}
		uri, _ := wire.Text(wire.Get(f.Params, "uri"))
		p.past.wishes[f.Method+uri] = wish{f.Method, f.Params}
	case "resources/unsubscribe":
		uri, _ := wire.Text(wire.Get(f.Params, "uri"))
		delete(p.past.wishes, "resources/subscribe"+uri)
	}
}

// absent answers a frame of the client while there is no server, and reports
// whether there is none. Nothing is recorded as sent that cannot be.
func (p *pump) absent(raw []byte) bool {
	p.mu.Lock()
	away := p.start != nil && !p.ready
	p.mu.Unlock()
	if !away {
		return false
	}
	if f, refusal := wire.ParseClient(raw); refusal == nil && f.Kind == wire.Request {
		_ = p.down.Write(wire.ErrorReply(f.ID, wire.CodeUpstream, "the server has ended and is being started again: try again", nil))
	}
	return true
}

// unsent says what becomes of a frame that could not be written: the end of a
// session, unless the server will be started anew.
func (p *pump) unsent(ctx context.Context, raw []byte, err error) error {
	if p.start == nil {
		return err
	}
	p.failed(ctx, raw)
	return nil
}

// sent sees to a frame that was written to a server that has ended meanwhile: a
// pipe takes what nobody will read any more.
func (p *pump) sent(ctx context.Context, to wire.Conn, raw []byte) {
	if p.start == nil {
		return
	}
	p.mu.Lock()
	lost := p.up != to || !p.ready
	p.mu.Unlock()
	if lost {
		p.failed(ctx, raw)
	}
}

// failed answers a request that may not have reached the server.
func (p *pump) failed(ctx context.Context, raw []byte) {
	f, _ := wire.ParseServer(raw) // it has passed the strict reading
	if f.Kind == wire.Request && p.s.open(f.Key) {
		_ = p.down.Write(p.s.Failed(ctx, f, true, "the connection has ended"))
	}
}

// revive starts the server again and reads from it; nil if that is over.
func (p *pump) revive(ctx context.Context) chan error {
	log := p.s.g.o.Log
	if p.start != nil {
		p.s.interrupted(ctx)
	}
	for p.start != nil {
		wait, ok := p.past.next(p.s.g.o.Now())
		if !ok {
			log.ErrorContext(ctx, "the server ends again and again: it is not started any more", "server", p.s.server)
			return nil
		}
		select {
		case <-time.After(wait):
		case <-p.left:
			return nil
		case <-ctx.Done():
			return nil
		}
		done, err := p.again(ctx)
		if err == nil {
			log.WarnContext(ctx, "the server has ended and was started again", "server", p.s.server)
			return done
		}
		log.ErrorContext(ctx, "the server cannot be started again", "server", p.s.server, "error", err)
	}
	return nil
}

// interrupted suspends the client's plans that have begun on the server and are
// not at their end: what was done there may be undone now.
func (s *Session) interrupted(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	reason := "the server " + s.server + " has ended while the plan ran: nobody knows what of its calls still holds"
	for _, gr := range s.g.book.Live() {
		begun, left := false, false
		for _, slot := range gr.Slots {
			begun = begun || slot.State != grant.Planned && slot.Server == s.server
			left = left || slot.State == grant.Planned
		}
		if gr.Requester != s.client.Requester || !begun || !left {
			continue
		}
		if err := s.g.book.Suspend(ctx, gr.ID, reason, grant.Ask{Server: s.server}); err != nil {
			s.g.o.Log.ErrorContext(ctx, "the journal cannot be written", "error", err)
		}
		s.g.alert(ctx, Alert{Kind: grant.KindSuspended, Plan: gr.Plan, Grant: gr.ID, Server: s.server, Reason: reason})
	}
}

// next gives the pause before the next start, if there may be one at now.
func (r *revivals) next(now time.Time) (time.Duration, bool) {
	for len(r.at) > 0 && now.Sub(r.at[0]) > revivalTime {
		r.at = r.at[1:]
	}
	if len(r.at) >= mostRevivals {
		return 0, false
	}
	wait := revivalPause << len(r.at)
	r.at = append(r.at, now)
	return wait, true
}

// again starts the server once and introduces the client to it as before.
func (p *pump) again(ctx context.Context) (chan error, error) {
	up, err := p.start()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.up, p.gone = up, false
	p.mu.Unlock()
	meeting, over := context.WithCancel(ctx)
	done := p.reading(ctx, up, over)
	if err := p.introduce(meeting, up); err != nil {
		_ = up.Close()
		_ = ended(done)
		return nil, err
	}
	s := p.s
	s.g.lists.changed(s.server)
	p.mu.Lock()
	p.ready = true
	p.mu.Unlock()
	p.later.Go(func() { // what it shows now may be something else
		if d := s.current(meeting); d == nil {
			s.repinned()
		}
	})
	return done, nil
}

var errOtherProtocol = errors.New("it speaks another version of the protocol than before")

// introduce says to a server what the client has said to the one before.
func (p *pump) introduce(ctx context.Context, up wire.Conn) error {
	p.mu.Lock()
	past := p.past
	p.mu.Unlock()
	if past.hello == nil {
		return nil
	}
	result, err := p.Ask(ctx, "initialize", past.hello)
	if err != nil {
		return fmt.Errorf("initializing: %w", err)
	}
	p.s.mu.Lock()
	agreed := p.s.agreed
	p.s.mu.Unlock()
	if version, _ := wire.Text(wire.Get(result, "protocolVersion")); version != agreed {
		return errOtherProtocol
	}
	instructions, _ := wire.Text(wire.Get(result, "instructions"))
	p.s.g.lists.instructed(p.s.server, instructions)
	if !past.begun {
		return nil
	}
	if err := up.Write(wire.NewNotification("notifications/initialized", nil)); err != nil {
		return fmt.Errorf("initializing: %w", err)
	}
	for _, w := range past.wishes {
		if _, err := p.Ask(ctx, w.method, w.params); err != nil {
			return fmt.Errorf("%s: %w", w.method, err)
		}
	}
	return nil
}

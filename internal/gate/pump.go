package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"interlock/internal/gate/wire"
)

// askPrefix begins the ids of the gate's own requests.
const askPrefix = "interlock:"

// A pump carries the frames of one session between two connections.
type pump struct {
	s     *Session
	down  wire.Conn
	start func() (wire.Conn, error) // starts the server anew; nil: the session ends with it
	left  chan struct{}             // closed when the client has gone

	mu      sync.Mutex // owns what follows
	up      wire.Conn
	next    int
	waiting map[string]chan wire.Frame // the gate's own requests, by id
	gone    bool                       // the upstream has ended
	ready   bool                       // it takes what the client sends
	past    revivals
	later   sync.WaitGroup
}

// Pump carries a session between a client and a server until one of them
// ends, and closes both. It returns nil if the client ended.
func (g *Gate) Pump(ctx context.Context, c Client, server string, down, up wire.Conn) error {
	return g.newPump(c, server, down, up).run(ctx)
}

func (g *Gate) newPump(c Client, server string, down, up wire.Conn) *pump {
	p := &pump{down: down, up: up, left: make(chan struct{}), waiting: map[string]chan wire.Frame{}, ready: true}
	p.s = g.NewSession(c, server, p)
	return p
}

func (p *pump) run(ctx context.Context) error {
	defer p.s.g.serve(p.s, func(frame []byte) { _ = p.down.Write(frame) })()
	ctx, cancel := context.WithCancel(ctx)
	upDone, downDone := p.reading(ctx, p.server(), func() {}), make(chan error, 1)
	go func() {
		defer close(p.left)
		downDone <- p.fromClient(ctx)
	}()
	err := p.carry(ctx, cancel, upDone, downDone)
	cancel()
	p.end(ctx, "the session has ended")
	p.later.Wait()
	p.end(ctx, "the session has ended") // what was sent by those that were waited for
	_ = p.down.Close()
	if errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "has ended") {
		return nil
	}
	return err
}

// carry waits until one side has ended for good, and ends the other.
func (p *pump) carry(ctx context.Context, cancel context.CancelFunc, upDone, downDone chan error) error {
	for {
		select {
		case err := <-downDone: // what is still running may end: its result counts
			_ = p.server().Close()
			_ = ended(upDone)
			return err
		case err := <-upDone:
			p.end(ctx, "the server has ended")
			if upDone = p.revive(ctx); upDone != nil {
				continue
			}
			cancel() // what the client's frames wait for does not come any more
			_ = p.down.Close()
			_ = ended(downDone)
			return fmt.Errorf("the server %s has ended: %w", p.s.server, orEOF(err))
		case <-ctx.Done():
			_, _ = p.down.Close(), p.server().Close()
			_, _ = ended(upDone), ended(downDone)
			return ctx.Err()
		}
	}
}

// reading reads from a server until it ends. Then over is called.
func (p *pump) reading(ctx context.Context, up wire.Conn, over func()) chan error {
	done := make(chan error, 1)
	go func() {
		defer over()
		done <- p.fromServer(ctx, up)
	}()
	return done
}

// server is the connection to the server as it is now.
func (p *pump) server() wire.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.up
}

// ended waits for one of the two directions.
func ended(ch <-chan error) error { return <-ch }

func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// end answers what is still open, and wakes the gate's own requests.
func (p *pump) end(ctx context.Context, reason string) {
	p.mu.Lock()
	p.gone, p.ready = true, false // first: what is sent from here on is answered by who sends it
	for key, ch := range p.waiting {
		close(ch)
		delete(p.waiting, key)
	}
	p.mu.Unlock()
	for _, reply := range p.s.Broken(ctx, reason) {
		_ = p.down.Write(reply)
	}
}

func (p *pump) fromClient(ctx context.Context) error {
	for {
		raw, err := p.down.Read()
		if errors.Is(err, wire.ErrTooLong) {
			err = p.down.Write(wire.ErrorReply(nil, wire.CodeInvalidRequest, err.Error(), nil))
			if err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if p.absent(raw) {
			continue
		}
		out := p.s.FromClient(ctx, raw)
		p.remember(out)
		if err := p.handle(ctx, out); err != nil {
			return err
		}
	}
}

func (p *pump) fromServer(ctx context.Context, up wire.Conn) error {
	for {
		raw, err := up.Read()
		if errors.Is(err, wire.ErrTooLong) {
			// Whose answer it was cannot be read any more, so every open
			// request is answered: none is left hanging.
			for _, reply := range p.s.Broken(ctx, err.Error()) {
				if err := p.down.Write(reply); err != nil {
					return err
				}
			}
			continue
		}
		if err != nil {
			return err
		}
		if p.mine(raw) {
			continue
		}
		if err := p.handle(ctx, p.s.FromServer(ctx, raw)); err != nil {
			return err
		}
	}
}

func (p *pump) handle(ctx context.Context, out Out) error {
	if out.Later != nil {
		p.later.Go(func() {
			for _, frame := range out.Later(ctx) {
				_ = p.down.Write(frame)
			}
		})
	}
	if out.Then != nil {
		p.later.Go(func() { p.then(ctx, out.Then(ctx)) })
	}
	if out.Up != nil {
		up := p.server()
		if err := up.Write(out.Up); err != nil {
			return p.unsent(ctx, out.Up, err)
		}
		p.sent(ctx, up, out.Up)
	}
	if out.Down != nil {
		return p.down.Write(out.Down)
	}
	return nil
}

// then carries what a frame became after it was looked into.
func (p *pump) then(ctx context.Context, out Out) {
	if err := p.handle(ctx, out); err != nil && out.Up != nil {
		p.failed(ctx, out.Up)
	}
}

// mine hands an answer to the gate's own request to whoever waits for it.
func (p *pump) mine(raw []byte) bool {
	if !strings.Contains(string(raw[:min(len(raw), 4096)]), askPrefix) && len(raw) < 4096 {
		return false // the common case costs no second reading
	}
	f, refusal := wire.ParseServer(raw)
	if refusal != nil || f.Kind != wire.Response {
		return false
	}
	p.mu.Lock()
	ch, ok := p.waiting[f.Key]
	delete(p.waiting, f.Key)
	p.mu.Unlock()
	if ok {
		ch <- f
	}
	return ok
}

var errGone = errors.New("the server has ended")

// Ask implements Asker.
func (p *pump) Ask(ctx context.Context, method string, params []byte) ([]byte, error) {
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		return nil, errGone
	}
	p.next++
	id := wire.Quote(askPrefix + strconv.Itoa(p.next))
	ch := make(chan wire.Frame, 1)
	p.waiting[wire.Key(id)] = ch
	up := p.up
	p.mu.Unlock()
	if err := up.Write(wire.NewRequest(id, method, params)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	select {
	case f, ok := <-ch:
		if !ok {
			return nil, errGone
		}
		return asked(f)
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.waiting, wire.Key(id))
		p.mu.Unlock()
		return nil, ctx.Err()
	}
}

// asked returns the result of an answer.
func asked(f wire.Frame) ([]byte, error) {
	if f.Error != nil {
		msg, _ := wire.Text(wire.Get(f.Error, "message"))
		return nil, fmt.Errorf("the server answered: %s", clip(msg))
	}
	return f.Result, nil
}

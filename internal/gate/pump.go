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
	s        *Session
	down, up wire.Conn

	mu      sync.Mutex // owns what follows
	next    int
	waiting map[string]chan wire.Frame // the gate's own requests, by id
	gone    bool                       // the upstream has ended
	later   sync.WaitGroup
}

// Pump carries a session between a client and a server until one of them
// ends, and closes both. It returns nil if the client ended.
func (g *Gate) Pump(ctx context.Context, c Client, server string, down, up wire.Conn) error {
	p := &pump{down: down, up: up, waiting: map[string]chan wire.Frame{}}
	p.s = g.NewSession(c, server, p)
	defer g.serve(p.s, func(frame []byte) { _ = down.Write(frame) })()
	ctx, cancel := context.WithCancel(ctx)
	upDone := make(chan error, 1)
	go func() { upDone <- p.fromServer(ctx) }()
	downDone := make(chan error, 1)
	go func() { downDone <- p.fromClient(ctx) }()
	var err error
	select {
	case err = <-downDone: // what is still running may end: its result counts
		_ = up.Close()
		_ = ended(upDone)
	case err = <-upDone:
		p.end(ctx, "the server has ended")
		cancel()
		err = fmt.Errorf("the server %s has ended: %w", server, orEOF(err))
		_ = down.Close()
		_ = ended(downDone)
	case <-ctx.Done():
		err = ctx.Err()
		_, _ = down.Close(), up.Close()
		_, _ = ended(upDone), ended(downDone)
	}
	cancel()
	p.end(ctx, "the session has ended")
	p.later.Wait()
	p.end(ctx, "the session has ended") // what was sent by those that were waited for
	_ = down.Close()
	if errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "has ended") {
		return nil
	}
	return err
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
	for _, reply := range p.s.Broken(ctx, reason) {
		_ = p.down.Write(reply)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	for key, ch := range p.waiting {
		close(ch)
		delete(p.waiting, key)
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
		if err := p.handle(ctx, p.s.FromClient(ctx, raw)); err != nil {
			return err
		}
	}
}

func (p *pump) fromServer(ctx context.Context) error {
	for {
		raw, err := p.up.Read()
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
		if err := p.up.Write(out.Up); err != nil {
			return err
		}
	}
	if out.Down != nil {
		return p.down.Write(out.Down)
	}
	return nil
}

// then carries what a frame became after it was looked into.
func (p *pump) then(ctx context.Context, out Out) {
	if err := p.handle(ctx, out); err != nil && out.Up != nil {
		f, _ := wire.ParseServer(out.Up) // it has passed the strict reading
		_ = p.down.Write(p.s.Failed(ctx, f, true, "the connection has ended"))
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
	p.mu.Unlock()
	if err := p.up.Write(wire.NewRequest(id, method, params)); err != nil {
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

package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
)

// A catalog is what the upstreams show now, held against what was approved.
type catalog struct {
	pins   *pin.Store
	now    func() time.Time
	maxAge time.Duration

	mu   sync.Mutex // owns what follows
	live map[string]*listing
}

// A listing is what one upstream showed last.
type listing struct {
	server pin.Server
	at     time.Time
	dirty  bool // the server says that its list has changed
	moves  int  // how often it has said so
	told   map[string]bool
}

func newCatalog(p *pin.Store, now func() time.Time, maxAge time.Duration) *catalog {
	return &catalog{pins: p, now: now, maxAge: maxAge, live: map[string]*listing{}}
}

func (c *catalog) of(server string) *listing {
	l := c.live[server]
	if l == nil {
		l = &listing{server: pin.Server{Name: server}, dirty: true, told: map[string]bool{}}
		c.live[server] = l
	}
	return l
}

// stale reports whether the list must be asked for before it is believed.
func (c *catalog) stale(server string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.of(server)
	return l.dirty || c.now().Sub(l.at) > c.maxAge
}

// changed notes that a server says its tools have changed.
func (c *catalog) changed(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.of(server)
	l.dirty = true
	l.moves++
}

// instructed notes a server's instructions.
func (c *catalog) instructed(server, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of(server).server.Instructions = text
}

// listed notes a complete list of a server's tools.
func (c *catalog) listed(server string, tools []pin.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.of(server)
	l.server.Tools, l.at, l.dirty = tools, c.now(), false
	l.server.Sort()
}

// seen notes one tool's definition as it stands in a page of a list.
func (c *catalog) seen(server string, t pin.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.of(server)
	if old := l.server.Tool(t.Name); old != nil {
		*old = t
		return
	}
	l.server.Tools = append(l.server.Tools, t)
	l.server.Sort()
}

// tell reports whether a change has not been told yet, and notes that it is.
func (c *catalog) tell(change pin.Change) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.of(change.Server)
	key := change.What + "\x00" + change.Tool
	if t := l.server.Tool(change.Tool); t != nil {
		key += "\x00" + t.Digest
	} else {
		key += "\x00" + l.server.Instructions
	}
	if l.told[key] {
		return false
	}
	l.told[key] = true
	return true
}

// snapshot returns a copy of what a server shows.
func (c *catalog) snapshot(server string) *pin.Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of(server).server
	s.Tools = append([]pin.Tool(nil), s.Tools...)
	return &s
}

// approved reports whether exactly this definition is approved.
func (c *catalog) approved(server string, t pin.Tool) (bool, error) {
	a, err := c.pins.Approved(server)
	if err != nil {
		return false, err
	}
	old := a.Tool(t.Name)
	return old != nil && old.Digest == t.Digest, nil
}

// pinned returns the digest of a tool's definition if it is the approved one.
func (g *Gate) pinned(_ context.Context, server, tool string) (string, *denial) {
	live := g.lists.snapshot(server).Tool(tool)
	if live == nil {
		return "", deny(codeUnknown, "unknown tool %q", tool)
	}
	ok, err := g.lists.approved(server, *live)
	if err != nil {
		return "", deny("quarantined", "the approved tools cannot be read: %v", err)
	}
	if !ok {
		return "", deny("quarantined", "the definition of %s is not the approved one: a person must approve it first (interlock tools diff)", tool)
	}
	return live.Digest, nil
}

// Vouch implements Voucher for what the gate reads on its own account. A
// definition that is not the approved one becomes a matter for people, once.
func (g *Gate) Vouch(ctx context.Context, server string, t pin.Tool) error {
	old, err := g.o.Pins.Approved(server)
	if err == nil && old == nil && g.o.Policy.FirstContact {
		if err = g.ensure(ctx, server); err == nil {
			old, err = g.o.Pins.Approved(server)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: the approved tools cannot be read", ErrNotApproved)
	}
	is := old.Tool(t.Name)
	if is != nil && is.Digest == t.Digest {
		return nil
	}
	what := "changed"
	if is == nil {
		what = "new"
	}
	g.quarantine(ctx, pin.Change{Server: server, Tool: t.Name, What: what})
	return fmt.Errorf("%w: a person must approve %s of %s first (interlock tools diff)", ErrNotApproved, t.Name, server)
}

// Moves implements Voucher.
func (g *Gate) Moves(server string) int {
	g.lists.mu.Lock()
	defer g.lists.mu.Unlock()
	return g.lists.of(server).moves
}

// codeUnknown is the code of a call to a tool that the server does not list.
const codeUnknown = "unknown-tool"

// An Asker asks the upstream of a session on the gate's own behalf.
type Asker interface {
	Ask(ctx context.Context, method string, params []byte) (result []byte, err error)
}

// maxPages bounds how long a list of tools may go on.
const maxPages = 100

var errEndless = errors.New("the list of tools does not end")

// refresh asks an upstream for its tools if the list is not to be believed.
func (g *Gate) refresh(ctx context.Context, server string, ask Asker, meta []byte) error {
	if !g.lists.stale(server) {
		return nil
	}
	tools, err := ListTools(ctx, ask, meta)
	if err != nil {
		return fmt.Errorf("asking %s for its tools: %w", server, err)
	}
	g.lists.listed(server, tools)
	return g.firstContact(ctx, server)
}

// ListTools asks an upstream for all its tools.
func ListTools(ctx context.Context, ask Asker, meta []byte) ([]pin.Tool, error) {
	var tools []pin.Tool
	var cursor []byte
	for range maxPages {
		var params []wire.Field
		if cursor != nil {
			params = append(params, wire.Field{Key: "cursor", Value: cursor})
		}
		if meta != nil {
			params = append(params, wire.Field{Key: "_meta", Value: meta})
		}
		result, err := ask.Ask(ctx, "tools/list", wire.Object(params...))
		if err != nil {
			return nil, err
		}
		raws, err := wire.Elements(wire.Get(result, "tools"))
		if err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
		for _, raw := range raws {
			t, err := pin.NewTool(raw)
			if err != nil {
				return nil, err
			}
			tools = append(tools, t)
		}
		if cursor = wire.Get(result, "nextCursor"); cursor == nil || string(cursor) == `""` || string(cursor) == "null" {
			return tools, nil
		}
	}
	return nil, errEndless
}

// firstContact approves what a demonstration shows first, and tells a person
// of every other difference once.
func (g *Gate) firstContact(ctx context.Context, server string) error {
	live := g.lists.snapshot(server)
	old, err := g.o.Pins.Approved(server)
	if err != nil {
		return err
	}
	if old == nil && g.o.Policy.FirstContact {
		return g.o.Pins.Approve(live, nil, "first contact of a demonstration", g.o.Now())
	}
	for _, c := range pin.Compare(old, live) {
		g.quarantine(ctx, c)
	}
	return nil
}

// quarantine tells a person of a change, once for each.
func (g *Gate) quarantine(ctx context.Context, c pin.Change) {
	if c.What == "removed" || !g.lists.tell(c) {
		return
	}
	reason := c.What
	if c.From != "" {
		reason += " from " + c.From
	}
	g.note(ctx, grant.Event{Kind: grant.KindPins, Server: c.Server, Tool: c.Tool, Reason: reason})
	g.alert(ctx, Alert{Kind: grant.KindPins, Server: c.Server, Tool: c.Tool, Reason: reason})
}

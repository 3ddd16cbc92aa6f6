package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"interlock/internal/gate/wire"
	"interlock/internal/site"
	"interlock/internal/strict"
)

// look calls a tool that only reads, on the gate's own account: what the
// planner says it has read is no proof (C32, C35). On the session's own server
// it is asked in the client's session, since another may show another world;
// on any other, and on a server that outlives the session, in one of the
// gate's. A tool that acts, or whose definition nobody approved, is never
// called so.
func (s *Session) look(ctx context.Context, server, tool string, args map[string]any) ([]byte, error) {
	t := s.g.tool(server, tool)
	if t == nil || t.Effect != site.Observe {
		return nil, fmt.Errorf("%s is not a tool of this site that only reads", tool)
	}
	own, outlives := server == s.server, s.g.outlives(server)
	if own {
		if d := s.current(ctx); d != nil && !outlives {
			return nil, errors.New(d.Reason)
		} else if d != nil {
			own = false
		}
	}
	if !own {
		if err := s.g.ensure(ctx, server); err != nil {
			return nil, err
		}
	}
	if _, d := s.g.pinned(ctx, server, ownName(t)); d != nil {
		return nil, errors.New(d.Reason)
	}
	if own {
		result, err := s.askTool(ctx, ownName(t), args)
		if err == nil || !outlives {
			return result, err
		}
	}
	return s.g.lookElsewhere(ctx, server, ownName(t), args)
}

// askTool calls a tool in the client's session.
func (s *Session) askTool(ctx context.Context, tool string, args map[string]any) ([]byte, error) {
	fields := []wire.Field{{Key: "name", Value: wire.Quote(tool)}, {Key: "arguments", Value: strict.AppendValue(nil, args, false)}}
	s.mu.Lock()
	if s.meta != nil {
		fields = append(fields, wire.Field{Key: "_meta", Value: s.meta})
	}
	s.mu.Unlock()
	result, err := s.ask.Ask(ctx, "tools/call", wire.Object(fields...))
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", tool, err)
	}
	if string(wire.Get(result, "isError")) == "true" {
		return nil, fmt.Errorf("calling %s: the tool failed", tool)
	}
	return result, nil
}

// outlives reports whether a server goes on when a session ends: one behind a
// URL does, a command has a process for each session.
func (g *Gate) outlives(server string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	u, ok := g.ups[server]
	return ok && u.URL != nil
}

func (g *Gate) lookElsewhere(ctx context.Context, server, tool string, args map[string]any) ([]byte, error) {
	g.mu.Lock()
	u, ok := g.ups[server]
	g.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("the server %s cannot be asked from here", server)
	}
	c := NewCaller(ctx, u)
	defer c.Close()
	return c.CallTool(ctx, tool, args)
}

// answer gives the value at a JSON pointer of a result's structured content,
// else of its text read as JSON.
func answer(result []byte, pointer string) (*strict.Node, error) {
	body := wire.Get(result, "structuredContent")
	if body == nil {
		text, err := resultText(result)
		if err != nil {
			return nil, err
		}
		body = []byte(text)
	}
	node, err := strict.JSON("result", 1, body)
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if node = child(node, strings.NewReplacer("~1", "/", "~0", "~").Replace(part)); node == nil {
			return nil, fmt.Errorf("the result has no %s", pointer)
		}
	}
	return node, nil
}

// decoded gives recorded arguments as a call has them.
func decoded(args []byte) (map[string]any, error) {
	n, err := strict.JSON("arguments", 1, args)
	if err != nil {
		return nil, err
	}
	m, ok := n.Value().(map[string]any)
	if !ok {
		return nil, errors.New("the arguments are not an object")
	}
	return m, nil
}

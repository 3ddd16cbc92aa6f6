package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
	"interlock/internal/strict"
)

// A Caller speaks to an upstream on the gate's own account: to read the live
// state and to probe the sandbox. It keeps one session, asks one question at a
// time, and opens another session after one that failed. It is safe for
// concurrent use.
type Caller struct {
	server string
	greet  func(context.Context) (prober, func(), error)
	turn   chan struct{} // held by who asks, and owns what follows
	ask    prober        // nil: no session
	end    func()
	tools  *pin.Server // what the server showed in this session, nil before it was asked
	listed time.Time   // when it was asked
	moves  int         // what the voucher had counted then
}

// A Voucher knows which definitions of tools a person has approved (C23).
type Voucher interface {
	// Vouch returns nil if this definition is the approved one, else an error
	// that is ErrNotApproved and may be shown to planners.
	Vouch(ctx context.Context, server string, t pin.Tool) error
	// Moves counts how often the server has said that its tools have changed.
	Moves(server string) int
}

// A Trust says how tools are held against what was approved of them.
type Trust struct {
	Voucher
	MaxAge time.Duration // how long a list of tools is believed
	Now    func() time.Time
}

// ErrNotApproved says that a tool is not what a person approved.
var ErrNotApproved = errors.New("its definition is not the approved one")

// NewCaller returns a caller whose sessions, and a server that is a command,
// end with life.
func NewCaller(life context.Context, u Upstream) *Caller {
	return &Caller{server: u.Name, turn: make(chan struct{}, 1), greet: func(ctx context.Context) (prober, func(), error) {
		ask, _, end, err := greet(ctx, life, u)
		return ask, end, err
	}}
}

// CallTool calls a tool and returns its result; one that says isError is an
// error. Only tools that the operator's configuration names are called so.
func (c *Caller) CallTool(ctx context.Context, tool string, args map[string]any) ([]byte, error) {
	return c.call(ctx, tool, args, func(context.Context) error { return nil })
}

// CallApproved calls a tool if its definition, as the server shows it in this
// very session, is one that the voucher vouches for. The list of tools is
// believed for the age of the trust, if the server does not say that it has changed.
func (c *Caller) CallApproved(ctx context.Context, tool string, args map[string]any, v Trust) ([]byte, error) {
	return c.call(ctx, tool, args, func(ctx context.Context) error {
		if moves := v.Moves(c.server); c.tools == nil || c.ask.changed() || moves != c.moves || v.Now().Sub(c.listed) > v.MaxAge {
			asked := v.Now()
			tools, err := ListTools(ctx, c.ask, nil)
			if err != nil {
				c.drop()
				return fmt.Errorf("asking %s for its tools: %w", c.server, err)
			}
			c.tools, c.listed, c.moves = &pin.Server{Name: c.server, Tools: tools}, asked, moves
		}
		t := c.tools.Tool(tool)
		if t == nil {
			return fmt.Errorf("%w: %s has no such tool now", ErrNotApproved, c.server)
		}
		return v.Vouch(ctx, c.server, *t)
	})
}

// call calls a tool; before runs in the session that is used, and may refuse.
func (c *Caller) call(ctx context.Context, tool string, args map[string]any, before func(context.Context) error) ([]byte, error) {
	if args == nil {
		args = map[string]any{}
	}
	params, err := json.Marshal(struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
	}{tool, args})
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", tool, err)
	}
	result, err := c.question(ctx, "tools/call", params, before)
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", tool, err)
	}
	if string(wire.Get(result, "isError")) == "true" {
		said, _ := firstText(result, "content")
		return nil, fmt.Errorf("calling %s: the tool failed: %s", tool, clip(said))
	}
	return result, nil
}

// ReadResource reads a resource and returns the result.
func (c *Caller) ReadResource(ctx context.Context, uri string) ([]byte, error) {
	params, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", uri, err)
	}
	result, err := c.question(ctx, "resources/read", params, func(context.Context) error { return nil })
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", uri, err)
	}
	return result, nil
}

// Close ends the session.
func (c *Caller) Close() {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.drop()
}

func (c *Caller) drop() {
	if c.ask != nil {
		c.end()
		c.ask, c.tools = nil, nil
	}
}

// question asks once; before runs in the session it is asked in.
func (c *Caller) question(ctx context.Context, method string, params []byte, before func(context.Context) error) ([]byte, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.ask == nil {
		ask, end, err := c.greet(ctx)
		if err != nil {
			return nil, err
		}
		c.ask, c.end = ask, end
	}
	if err := before(ctx); err != nil {
		return nil, err
	}
	result, err := c.ask.Ask(ctx, method, params)
	if err != nil {
		c.drop() // a session that has failed once is not trusted to be in step
		return nil, err
	}
	return result, nil
}

// resultText returns the text of a result of a tool or a resource: its first
// text, or its structured content if it has no text.
func resultText(result []byte) (string, error) {
	for _, list := range []string{"content", "contents"} {
		if text, ok := firstText(result, list); ok {
			return text, nil
		}
	}
	if body := wire.Get(result, "structuredContent"); body != nil {
		return string(body), nil
	}
	return "", errors.New("the result has no text")
}

// ResultValue returns the value at a JSON pointer of a result's structured
// content, else of its text read as JSON, as people write it: a text, a number,
// true or false. The pointer "" is the text itself. It is at most most bytes
// long: what stands in reasons that planners read must not be a letter to them.
func ResultValue(result []byte, pointer string, most int) (string, error) {
	value, err := resultAt(result, pointer)
	if err == nil && len(value) > most {
		err = fmt.Errorf("the value is %d bytes long: expected at most %d", len(value), most)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(value), nil
}

func resultAt(result []byte, pointer string) (string, error) {
	if pointer == "" {
		return resultText(result)
	}
	body := wire.Get(result, "structuredContent")
	if body == nil {
		text, err := resultText(result)
		if err != nil {
			return "", err
		}
		body = []byte(text)
	}
	node, err := strict.JSON("result", 1, body)
	if err != nil {
		return "", err
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if node = child(node, part); node == nil {
			return "", fmt.Errorf("the result has no %s", pointer)
		}
	}
	switch node.Kind {
	case strict.String, strict.Number, strict.Bool:
		return node.Text, nil
	default:
		return "", fmt.Errorf("%s is a %s: expected a text, a number, true or false", pointer, node.Kind)
	}
}

func child(n *strict.Node, key string) *strict.Node {
	if n.Kind != strict.List {
		return n.Field(key)
	}
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(n.Items) {
		return nil
	}
	return &n.Items[i]
}

// firstText returns the first text of a list of contents.
func firstText(result []byte, list string) (string, bool) {
	var items []struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal(wire.Get(result, list), &items) != nil {
		return "", false
	}
	for _, it := range items {
		if it.Text != nil {
			return *it.Text, true
		}
	}
	return "", false
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"interlock/internal/config"
	"interlock/internal/gate"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
)

// examineGate looks at what stands behind the gate, at whether it can be gone
// around from here (C39), and, with an agent's token, fires calls at the
// running gate that it must refuse.
func examineGate(e *env, cfg *config.Config, say func(string, string, string, ...any)) {
	if len(cfg.Gate.Upstreams) == 0 {
		say("gate", "note", "no upstream: interlock serve has no /mcp. interlock mcp wraps a single server")
		say("mediation", "unsafe", "not shown from here: until a test shows that the planner cannot reach the actuators directly, every decision is advisory (C39)")
		return
	}
	if cfg.Gate.Mode == "shadow" {
		say("gate", "unsafe", "mode shadow until %s: calls of %s pass without a plan", cfg.Gate.Shadow.Until.Format(time.RFC3339), strings.Join(cfg.Gate.Shadow.Tools, ", "))
	}
	examineTools(e, cfg, say)
	for _, u := range cfg.Gate.Upstreams {
		examineMediation(e.Ctx, u, say)
	}
	if token := e.Getenv("INTERLOCK_TOKEN"); token != "" {
		for _, d := range probeGate(e.Ctx, gateAddress(cfg), token) {
			say(d.Name, d.Status, "%s", d.Detail)
		}
	} else {
		say("gate probes", "note", "not fired: set INTERLOCK_TOKEN to an agent's token to try calls that the running gate must refuse")
	}
}

func gateAddress(cfg *config.Config) string {
	address := "http://" + cfg.Server.Listen + "/mcp"
	if len(cfg.Gate.Upstreams) > 1 {
		address += "/" + cfg.Gate.Upstreams[0].Name
	}
	return address
}

// examineTools compares what the servers show with what was approved.
func examineTools(e *env, cfg *config.Config, say func(string, string, string, ...any)) {
	pins, err := pin.OpenStore(cfg.Gate.Pins)
	if err != nil {
		say("tools", "fail", "%v", err)
		return
	}
	ups, err := upstreams(e, cfg.Gate)
	if err != nil {
		say("tools", "fail", "%v", err)
		return
	}
	for _, u := range ups {
		u.Command.Stderr = io.Discard
		shown, err := gate.Probe(e.Ctx, u)
		if err != nil {
			say("tools "+u.Name, "fail", "%v", err)
			continue
		}
		approved, err := pins.Approved(u.Name)
		if err != nil {
			say("tools "+u.Name, "fail", "%v", err)
			continue
		}
		if n := len(pin.Compare(approved, shown)); n > 0 {
			say("tools "+u.Name, "note", "%d tools, %d differences wait for a person: interlock tools diff --name %s", len(shown.Tools), n, u.Name)
		} else {
			say("tools "+u.Name, "ok", "%d tools, all as approved", len(shown.Tools))
		}
	}
}

// examineMediation tries to reach a server around the gate.
func examineMediation(ctx context.Context, u config.Upstream, say func(string, string, string, ...any)) {
	name := "mediation " + u.Name
	if u.URL == "" {
		say(name, "unsafe", "a command: whoever can start it on the same machine goes around the gate. Until a test where the planner runs shows that it cannot, every decision is advisory (C39)")
		return
	}
	parsed, err := url.Parse(u.URL)
	if err != nil {
		say(name, "fail", "%v", err)
		return
	}
	host := parsed.Host
	if parsed.Port() == "" {
		host = net.JoinHostPort(parsed.Hostname(), map[string]string{"http": "80", "https": "443"}[parsed.Scheme])
	}
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", host)
	if err != nil {
		say(name, "ok", "%s cannot be reached from here. Run doctor where the planner runs: only there does it count", host)
		return
	}
	_ = conn.Close()
	say(name, "unsafe", "%s can be reached directly from here: a planner that runs here goes around the gate, and every decision is advisory (C39)", host)
}

// A gateProbe is a request that the gate must refuse.
type gateProbe struct {
	name, body string
	refused    func(status int, answer []byte) bool
}

func gateProbes() []gateProbe {
	tool := func(status int, answer []byte) bool {
		return status == http.StatusOK && (string(wire.Get(wire.Get(answer, "result"), "isError")) == "true" || wire.Get(answer, "error") != nil)
	}
	frame := func(status int, answer []byte) bool {
		return status == http.StatusBadRequest && wire.Get(answer, "error") != nil
	}
	return []gateProbe{
		{"a call without a plan", `{"jsonrpc":"2.0","id":"p1","method":"tools/call","params":{"name":"interlock.probe","arguments":{}}}`, tool},
		{"a forged grant", `{"jsonrpc":"2.0","id":"p2","method":"tools/call","params":{"name":"interlock.probe","arguments":{},"_meta":{"interlock/grant":"g-FORGED"}}}`, tool},
		{"a batch", `[{"jsonrpc":"2.0","id":"p3","method":"ping"}]`, frame},
		{"a duplicate key", `{"jsonrpc":"2.0","id":"p4","method":"tools/call","params":{"name":"interlock.probe","name":"submit_plan"}}`, frame},
		{"an unlisted method", `{"jsonrpc":"2.0","id":"p5","method":"interlock/probe"}`, tool},
	}
}

// probeGate fires the probes in a session of its own. What is called does not
// exist on any server, so that a gate that fails does no harm either.
func probeGate(ctx context.Context, address, token string) []diagnosis {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	session := ""
	post := func(body string) (int, []byte, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader([]byte(body)))
		if err != nil {
			return 0, nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, nil, err
		}
		defer func() { _ = resp.Body.Close() }()
		if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
			session = s
		}
		answer, err := io.ReadAll(io.LimitReader(resp.Body, wire.MaxClientFrame))
		return resp.StatusCode, answer, err
	}
	status, _, err := post(`{"jsonrpc":"2.0","id":"p0","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"interlock-doctor","version":"1"}}}`)
	if err != nil || status != http.StatusOK {
		return []diagnosis{{"gate probes", "fail", fmt.Sprintf("the running gate cannot be spoken to at %s: status %d, %v", address, status, err)}}
	}
	var out []diagnosis
	for _, p := range gateProbes() {
		status, answer, err := post(p.body)
		d := diagnosis{"probe: " + p.name, "ok", "refused"}
		if err != nil || !p.refused(status, answer) {
			d.Status, d.Detail = "fail", fmt.Sprintf("NOT refused: status %d, %v", status, err)
		}
		out = append(out, d)
	}
	return out
}

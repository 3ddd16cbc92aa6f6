package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"interlock/internal/config"
	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/live"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
	"interlock/internal/identity"
	"interlock/internal/pipeline"
	"interlock/internal/site"
)

// A gateway is the gate with what its command needs beside it.
type gateway struct {
	gate      *gate.Gate
	live      *live.Store
	upstreams []gate.Upstream
	watch     *watch // until it is started what it reads is unknown
	log       *slog.Logger
}

// newGateway wires the gate to an engine. The live state of the gate is from
// then on the state the engine judges with.
func newGateway(e *env, eng *engine, ups []gate.Upstream, j grant.Journal, change func(*gate.Options)) (*gateway, error) {
	st, err := gateSite(eng)
	if err != nil {
		return nil, err
	}
	if eng.log != nil {
		release, err := lockGate(eng.log.Path())
		if err != nil {
			return nil, err
		}
		eng.closers = append(eng.closers, release)
	}
	cfg := eng.config.Gate
	state, err := live.Open(e.Ctx, st.Profile.ID, st.State(), stateRules(cfg), j, time.Now)
	if err != nil {
		return nil, err
	}
	st.State = state.Live
	pins, err := pin.OpenStore(cfg.Pins)
	if err != nil {
		return nil, err
	}
	checks := &rechecker{site: st}
	o := gate.Options{
		Site: func() *site.Site { return st.Profile }, Policy: gatePolicy(eng.config), Verifier: eng.pipeline, Rechecker: checks, Claimer: checks,
		State: state, Journal: j, Pins: pins, Limits: eng.limits, Now: time.Now, Log: slog.New(slog.NewTextHandler(e.Stderr, nil)),
	}
	rec, recorded := j.(*recordJournal)
	if recorded {
		o.Alerter = rec
	}
	for _, u := range ups {
		o.Servers = append(o.Servers, u.Name)
	}
	screen, err := newScreen(eng.config)
	if err != nil {
		return nil, err
	}
	o.Screener = screenText(func(text string) string {
		hit := screen.Text(text)
		if hit.Sigma < screen.Thresholds().TauW {
			return ""
		}
		for _, f := range hit.Findings {
			return f.Rule
		}
		return "injection"
	})
	if change != nil {
		change(&o)
	}
	g, err := gate.New(e.Ctx, o)
	if err != nil {
		return nil, err
	}
	state.OnWorse(func(ctx context.Context, reason string) error {
		err := g.Void(ctx, reason) // stopping waits for nothing
		if recorded {
			err = errors.Join(err, rec.void(ctx, reason))
		}
		return err
	})
	w, err := newWatch(e, cfg, st, ups, g, state, j, o.Log)
	if err != nil {
		return nil, err
	}
	return &gateway{gate: g, live: state, upstreams: ups, watch: w, log: o.Log}, nil
}

// gateSite picks the site the gate stands before.
func gateSite(eng *engine) (*pipeline.Site, error) {
	if id := eng.config.Gate.Site; id != "" {
		if st := eng.pipeline.Sites[id]; st != nil {
			return st, nil
		}
		return nil, fmt.Errorf("gate.site: no site %q is configured: expected one of %s", id, eng.siteNames())
	}
	if len(eng.pipeline.Sites) == 1 {
		for _, st := range eng.pipeline.Sites {
			return st, nil
		}
	}
	return nil, fmt.Errorf("the gate stands before one site and %d are configured (%s): set gate.site, or give --site FILE#ID", len(eng.pipeline.Sites), eng.siteNames())
}

func stateRules(c config.Gate) map[string]live.Rule {
	rules := map[string]live.Rule{}
	for name, r := range c.Readings {
		rules[name] = live.Rule(r)
	}
	return rules
}

func gatePolicy(all *config.Config) gate.Policy {
	c := all.Gate
	p := gate.DefaultPolicy()
	p.Mode, p.ShadowTools, p.ShadowUntil, p.NeverShadow = gate.Mode(c.Mode), c.Shadow.Tools, c.Shadow.Until, c.Shadow.Never
	p.Methods, p.Meta = c.Methods, append(p.Meta, c.Meta...)
	p.Sampling, p.Elicitation, p.Withhold = c.Sampling, c.Elicitation, c.Withhold
	p.GrantTTL, p.MaxWait, p.PinMaxAge, p.ResultTimeout = c.GrantTTL, c.MaxWait, c.PinMaxAge, c.ResultTimeout
	p.QuestionTTL = all.Review.PendingTTL + all.Review.ApprovalTTL // the queue has held the question to the first, the approval to the second
	p.Reformulations, p.Pending = c.Reformulations, c.Pending
	p.SafePerMinute, p.CodeTools = c.SafePerMinute, c.CodeTools
	for _, pair := range c.Pairs {
		p.Pairs = append(p.Pairs, gate.Pair(pair))
	}
	return p
}

// upstreams reads the configured servers. What they get of this process's
// environment is named one by one.
func upstreams(e *env, c config.Gate) ([]gate.Upstream, error) {
	var out []gate.Upstream
	for _, u := range c.Upstreams {
		g := gate.Upstream{Name: u.Name, Command: wire.Command{Args: u.Command, Shim: childShim(), Stderr: e.Stderr}}
		for name, from := range u.Env {
			g.Command.Env = append(g.Command.Env, name+"="+e.Getenv(from))
		}
		if u.URL != "" {
			parsed, err := url.Parse(u.URL)
			if err != nil {
				return nil, fmt.Errorf("upstream %s: %w", u.Name, err)
			}
			g.URL, g.Header = parsed, http.Header{}
			for name, from := range u.Header {
				value := e.Getenv(from)
				if value == "" {
					return nil, fmt.Errorf("upstream %s: the environment variable %s for its header %s is empty", u.Name, from, name)
				}
				g.Header.Set(name, value)
			}
		}
		out = append(out, g)
	}
	return out, nil
}

// childShim is this program as the keeper of a child's process group.
func childShim() []string {
	self, err := os.Executable()
	if err != nil {
		return nil // the child is still started in a group of its own
	}
	return []string{self, "run-child", "--"}
}

type screenText func(string) string

func (f screenText) Screen(text string) string { return f(text) }

// bearer authenticates agents by their token.
func bearer(tokens *identity.Tokens) gate.Authenticator {
	return func(r *http.Request) (gate.Client, error) {
		who, err := principal(tokens, r)
		if err != nil {
			return gate.Client{}, err
		}
		if who.Role != identity.Agent {
			return gate.Client{}, gate.ErrUnauthorized // people and devices submit no plans
		}
		return gate.Client{Requester: who.String(), Agent: who.Name}, nil
	}
}

func principal(tokens *identity.Tokens, r *http.Request) (identity.Principal, error) {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || secret == "" {
		return identity.Principal{}, gate.ErrUnauthorized
	}
	who, err := tokens.Authenticate(r.Context(), secret)
	if err != nil {
		return identity.Principal{}, fmt.Errorf("%w: %w", gate.ErrUnauthorized, err)
	}
	return who, nil
}

// mountGate puts the gate of an installation at /mcp and the live state at
// /v1/sites/. Without upstreams there is no gate, and nothing is mounted. The
// returned function ends it.
func mountGate(e *env, eng *engine, mux *http.ServeMux) (func(), error) {
	none := func() {}
	cfg := eng.config.Gate
	if len(cfg.Upstreams) == 0 {
		return none, nil
	}
	ups, err := upstreams(e, cfg)
	if err != nil {
		return none, badInput(err)
	}
	j, err := newJournal(eng)
	if err != nil {
		return none, badInput(err)
	}
	gw, err := newGateway(e, eng, ups, j, nil)
	if err != nil {
		return none, badInput(err)
	}
	tokens := identity.New(eng.log.Reader)
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.Ctx))
	h, err := gw.gate.Handler(ctx, gate.HandlerOptions{Upstreams: ups, Authenticate: bearer(tokens), Origins: cfg.Origins})
	if err != nil {
		cancel()
		return none, badInput(err)
	}
	mux.Handle("/mcp", h)
	mux.Handle("/mcp/", h)
	mux.Handle("/v1/sites/", gw.stateHandler(tokens))
	watched := make(chan struct{})
	go func() { defer close(watched); gw.watchReviews(ctx, eng.log) }()
	go gw.gate.WatchPins(ctx, reviewPoll)
	endWatch := gw.watch.start(ctx)
	fmt.Fprintf(e.Stdout, "MCP    /mcp (%s), mode %s\n", strings.Join(names(ups), ", "), cfg.Mode)
	return sync.OnceFunc(func() {
		_ = h.Close()
		gw.gate.Close()
		endWatch()
		cancel()
		<-watched
	}), nil
}

func names(ups []gate.Upstream) []string {
	var out []string
	for _, u := range ups {
		out = append(out, u.Name)
	}
	return out
}

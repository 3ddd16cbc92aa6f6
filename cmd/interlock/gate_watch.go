package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock/internal/check"
	"interlock/internal/config"
	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/live"
	"interlock/internal/gate/probe"
	"interlock/internal/gate/wire"
	"interlock/internal/pipeline"
	"interlock/internal/site"
)

// Bounds of what is read from servers: a value stands in reasons that people
// and planners read, the output of a probe only here.
const (
	maxPolled = 64
	maxProbed = 64 << 10
)

// A watch is what the gate does by itself: it reads the live state from
// upstreams and probes the sandbox.
type watch struct {
	live  *live.Store
	polls []live.Poll
	box   *probe.Keeper // nil without a probe
	every time.Duration // between probes
	calls callers
	log   *slog.Logger
}

// newWatch prepares what the configuration asks for. From then on polled
// readings are unknown until they are read, and the sandbox facts stand as the
// probe says.
func newWatch(e *env, cfg config.Gate, st *pipeline.Site, ups []gate.Upstream, g *gate.Gate, state *live.Store, j grant.Journal, log *slog.Logger) (*watch, error) {
	w := &watch{live: state, log: log, calls: newCallers(e.Ctx, ups, gate.Trust{Voucher: g, MaxAge: cfg.PinMaxAge, Now: time.Now})}
	for _, p := range cfg.Polls {
		poll, err := w.calls.poll(p, st.Profile)
		if err != nil {
			return nil, fmt.Errorf("gate.poll: %w", err)
		}
		w.polls = append(w.polls, poll)
	}
	state.Expect(w.polls...)
	if cfg.Sandbox == nil {
		return w, nil
	}
	run, err := w.calls.runner(cfg.Sandbox, st.Profile)
	if err != nil {
		return nil, fmt.Errorf("gate.sandbox: %w", err)
	}
	unstopped := func(ctx context.Context, script string) (string, error) {
		if _, stopped := state.Stopped(); stopped {
			return "", fmt.Errorf("%w: an emergency stop is in force", probe.ErrNotNow)
		}
		return run(ctx, script)
	}
	w.every = cfg.Sandbox.Every
	if w.box, err = probe.Open(e.Ctx, probeSpec(cfg.Sandbox, st.Profile), unstopped, cfg.Sandbox.MaxAge, j, time.Now); err != nil {
		return nil, err
	}
	st.Sandbox = standing(w.box, cfg.Sandbox.Require)
	return w, nil
}

// start runs the watch beside its gate; the returned function ends it.
func (w *watch) start(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); w.run(ctx) }()
	return func() { cancel(); <-ended }
}

// run reads and probes until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer w.calls.end()
	var running sync.WaitGroup
	if w.box != nil {
		running.Go(func() { w.box.Watch(ctx, w.every, w.probed(ctx)) })
	}
	var mu sync.Mutex
	last := ""
	w.live.Watch(ctx, w.polls, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if err.Error() != last { // the same fault every two seconds would bury the next one
			last = err.Error()
			w.log.WarnContext(ctx, "the live state could not be read", "error", err)
		}
	})
	running.Wait()
}

// probed logs what a probe found, where that differs from the last.
func (w *watch) probed(ctx context.Context) func(probe.Result, error) {
	last := "?"
	return func(r probe.Result, err error) {
		if err != nil {
			w.log.WarnContext(ctx, "the sandbox probe", "error", err)
		} else if why := r.Why(); why != last {
			last = why
			level := slog.LevelInfo
			if !r.OK() {
				level = slog.LevelWarn
			}
			w.log.Log(ctx, level, "the sandbox probe", "passed", r.OK(), "why", why)
		}
	}
}

func standing(k *probe.Keeper, required bool) func() check.Standing {
	return func() check.Standing {
		why, yes := k.Confirmed()
		return check.Standing{Confirmed: yes, Required: required, Why: why}
	}
}

// recordedStanding gives the gate's site the standing that the record knows
// of, for a process that has no gate of its own. Without a record nothing is
// confirmed, and what must be confirmed blocks.
func recordedStanding(e *env, eng *engine) error {
	cfg := eng.config.Gate.Sandbox
	if cfg == nil {
		return nil
	}
	st, err := gateSite(eng)
	if err != nil {
		return nil //nolint:nilerr // this process decides for sites the gate does not stand before, or for none
	}
	if eng.log == nil {
		st.Sandbox = func() check.Standing {
			return check.Standing{Required: cfg.Require, Why: "there is no record of a probe"}
		}
		return nil
	}
	k, err := probe.Open(e.Ctx, probeSpec(cfg, st.Profile), nil, cfg.MaxAge, &recordJournal{log: eng.log, site: st.Profile.ID}, time.Now)
	if err != nil {
		return err
	}
	st.Sandbox = standing(k, cfg.Require)
	return nil
}

func probeSpec(c *config.Sandbox, s *site.Site) probe.Spec {
	return probe.Spec{Declared: s.Sandbox, Language: c.Language, Script: c.Script, Digest: c.Digest, Egress: c.Egress, Outside: c.Outside}
}

// poll makes a poll of the live state out of a configured one.
func (c callers) poll(p config.Poll, s *site.Site) (live.Poll, error) {
	from, err := c.to(p.Server)
	if err != nil {
		return live.Poll{}, err
	}
	own := p.Tool
	if p.Tool != "" {
		t := s.Tool(p.Tool)
		if t == nil || t.Effect != site.Observe {
			return live.Poll{}, fmt.Errorf("%s is not a tool of site %s that only reads", p.Tool, s.ID)
		}
		if t.Server != "" && t.Server != c.name(p.Server) {
			return live.Poll{}, fmt.Errorf("%s is a tool of the server %s, not of %s", p.Tool, t.Server, c.name(p.Server))
		}
		own = t.Own
	}
	read := func(ctx context.Context) (map[string]string, error) {
		var result []byte
		var err error
		if p.Tool != "" {
			result, err = from.CallApproved(ctx, own, p.Arguments, c.trust)
		} else {
			result, err = from.ReadResource(ctx, p.Resource)
		}
		if errors.Is(err, gate.ErrNotApproved) { // who changed the tool could say anything of the state (C23)
			err = &live.Distrust{Err: err}
		}
		if err != nil {
			return nil, err
		}
		out := map[string]string{}
		for name, pointer := range p.Readings {
			if out[name], err = gate.ResultValue(result, pointer, maxPolled); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return out, nil
	}
	return live.Poll{Source: "upstream:" + c.name(p.Server), Names: slices.Sorted(maps.Keys(p.Readings)), Every: p.Every, Read: read}, nil
}

// callers are sessions of the gate's own with upstreams.
// Tools are held against what was approved of them.
type callers struct {
	byName map[string]*gate.Caller
	trust  gate.Trust
	end    func() // ends the servers started for them
}

func newCallers(ctx context.Context, ups []gate.Upstream, trust gate.Trust) callers {
	// The signal that stops the gate must not look like a failure of a sensor.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	c := callers{byName: map[string]*gate.Caller{}, trust: trust}
	for _, u := range ups {
		c.byName[u.Name] = gate.NewCaller(life, u)
	}
	c.end = func() {
		for _, one := range c.byName {
			one.Close()
		}
		end()
	}
	return c
}

// name resolves "", which is the only upstream there is.
func (c callers) name(server string) string {
	if server == "" && len(c.byName) == 1 {
		for only := range c.byName {
			return only
		}
	}
	return server
}

func (c callers) to(server string) (*gate.Caller, error) {
	if one := c.byName[c.name(server)]; one != nil {
		return one, nil
	}
	return nil, fmt.Errorf("no server %q stands behind this gate: expected one of %s", server, strings.Join(slices.Sorted(maps.Keys(c.byName)), ", "))
}

// runner runs scripts in the sandbox: by the configured command, else by the
// tool of the site that runs code.
func (c callers) runner(s *config.Sandbox, profile *site.Site) (probe.Runner, error) {
	if len(s.Command) > 0 {
		return command(s.Command), nil
	}
	to, err := c.to(s.Server)
	if err != nil {
		return nil, err
	}
	tool := s.Tool
	if tool == "" {
		if tool, err = codeTool(profile); err != nil {
			return nil, err
		}
	}
	if t := profile.Tool(tool); t != nil {
		tool = t.Own
	}
	return func(ctx context.Context, script string) (string, error) {
		args := map[string]any{}
		maps.Copy(args, s.Arguments)
		args[s.Argument] = script
		result, err := to.CallApproved(ctx, tool, args, c.trust)
		if err != nil {
			return "", err
		}
		return gate.ResultValue(result, s.Output, maxProbed)
	}, nil
}

// codeTool is the one tool of a site that runs code.
func codeTool(s *site.Site) (string, error) {
	var found []string
	for i := range s.Tools {
		if s.Tools[i].Hazard == "code" {
			found = append(found, s.Tools[i].Name)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("site %s has %d tools of hazard class code: set tool or command", s.ID, len(found))
	}
	return found[0], nil
}

// command runs a script on the input of a command, such as docker run -i …
// python3.
func command(args []string) probe.Runner {
	return func(ctx context.Context, script string) (string, error) {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // the operator's command
		cmd.Env = wire.Environment()
		cmd.Stdin, cmd.WaitDelay = strings.NewReader(script), time.Second
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("running %s: %w", args[0], err)
		}
		if len(out) > maxProbed {
			return "", fmt.Errorf("running %s: %d bytes of output: expected at most %d", args[0], len(out), maxProbed)
		}
		return string(out), nil
	}
}

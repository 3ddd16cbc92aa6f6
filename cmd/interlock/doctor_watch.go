package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"interlock/internal/config"
	"interlock/internal/gate"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/probe"
	"interlock/internal/site"
)

// examineWatch does once what the gate does by itself: it reads what is polled
// and probes the sandbox.
func examineWatch(e *env, cfg *config.Config, s *site.Site, say func(string, string, string, ...any)) {
	if cfg.Gate.Sandbox == nil {
		say("sandbox probe", "note", "none configured (gate.sandbox): what the profile declares of its sandbox is declared, not confirmed")
		if len(cfg.Gate.Polls) == 0 {
			return
		}
	}
	if s == nil {
		say("gate.site", "fail", "which site the gate stands before is not clear: set gate.site")
		return
	}
	ups, err := upstreams(e, cfg.Gate)
	if err != nil {
		say("upstreams", "fail", "%v", err)
		return
	}
	for i := range ups {
		ups[i].Command.Stderr = io.Discard
	}
	pins, err := pin.OpenStore(cfg.Gate.Pins)
	if err != nil {
		say("approved tools", "fail", "%v", err)
		return
	}
	calls := newCallers(e.Ctx, ups, gate.Trust{Voucher: approvals{pins}, MaxAge: cfg.Gate.PinMaxAge, Now: time.Now})
	defer calls.end()
	for _, p := range cfg.Gate.Polls {
		examinePoll(e.Ctx, p, s, calls, say)
	}
	if cfg.Gate.Sandbox != nil {
		examineSandbox(e.Ctx, cfg.Gate.Sandbox, s, calls, say)
	}
}

// approvals vouch for what is approved, where there is no gate.
type approvals struct{ pins *pin.Store }

// Vouch implements gate.Voucher.
func (a approvals) Vouch(_ context.Context, server string, t pin.Tool) error {
	old, err := a.pins.Approved(server)
	if is := old.Tool(t.Name); err == nil && is != nil && is.Digest == t.Digest {
		return nil
	}
	return fmt.Errorf("%w: a person must approve %s of %s first (interlock tools diff)", gate.ErrNotApproved, t.Name, server)
}

// Moves implements gate.Voucher.
func (a approvals) Moves(string) int { return 0 }

// pollPatience is how long doctor waits for a reading. A gate waits no longer
// than until the next one is due, but its server has been started before.
const pollPatience = 15 * time.Second

func examinePoll(ctx context.Context, p config.Poll, s *site.Site, calls callers, say func(string, string, string, ...any)) {
	poll, err := calls.poll(p, s)
	var values map[string]string
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, pollPatience)
		defer cancel()
		values, err = poll.Read(ctx)
	}
	if err != nil {
		say("poll", "fail", "%v", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		say("poll "+name, "ok", "%s, read every %s", values[name], p.Every)
	}
}

// gateProfile is the profile of the site the gate stands before, nil if that
// is not clear.
func gateProfile(cfg *config.Config, set *site.Set, id string) *site.Site {
	if cfg.Gate.Site != "" {
		return set.Site(cfg.Gate.Site)
	}
	if id != "" {
		return set.Site(id)
	}
	if len(set.Sites) == 1 {
		return set.Sites[0]
	}
	return nil
}

// examineSandbox probes the sandbox now and shows what it found.
func examineSandbox(ctx context.Context, box *config.Sandbox, s *site.Site, calls callers, say func(string, string, string, ...any)) {
	run, err := calls.runner(box, s)
	if err != nil {
		say("sandbox probe", "fail", "%v", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, box.Every)
	defer cancel()
	res := probe.Run(ctx, probeSpec(box, s), run, time.Now)
	for _, c := range res.Checks {
		say("sandbox "+c.Name, map[bool]string{true: "ok", false: "unsafe"}[c.OK], "%s", c.Detail)
	}
	switch {
	case res.OK():
		say("sandbox probe", "ok", "confirmed; a running gate probes every %s and believes a result for %s", box.Every, box.MaxAge)
	case box.Require:
		say("sandbox probe", "fail", "failed, and gate.sandbox.require is set: plans that run code are blocked")
	default:
		say("sandbox probe", "unsafe", "failed: the sandbox facts stay declared")
	}
}

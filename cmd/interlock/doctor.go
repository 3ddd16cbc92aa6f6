package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"interlock/internal/config"
	"interlock/internal/knowledge"
)

type doctorCmd struct {
	engineFlags
	JSON bool `help:"Print as JSON."`
}

// A diagnosis is one thing doctor looked at.
type diagnosis struct {
	Name   string `json:"name"`
	Status string `json:"status"` // "ok", "note", "unsafe" or "fail"
	Detail string `json:"detail"`
}

// Run looks at everything a start would need. It exits 1 if anything would
// fail.
func (c *doctorCmd) Run(e *env) error {
	list := c.examine(e)
	failed := false
	for _, d := range list {
		failed = failed || d.Status == "fail"
		if !c.JSON {
			fmt.Fprintf(e.Stdout, "%-7s %-18s %s\n", d.Status, d.Name, printable(d.Detail))
		}
	}
	if c.JSON {
		writeJSON(e.Stdout, map[string]any{"ok": !failed, "checks": list})
	}
	if failed {
		return &exitError{Code: exitInternal}
	}
	return nil
}

func (c *doctorCmd) examine(e *env) []diagnosis {
	var list []diagnosis
	say := func(name, status, format string, args ...any) {
		list = append(list, diagnosis{name, status, fmt.Sprintf(format, args...)})
	}
	say("version", "ok", "%s; not a certified safety function", version())
	cfg, found, err := c.load(e)
	if err != nil {
		say("configuration", "fail", "%v", err)
		return list
	}
	if found {
		say("configuration", "ok", "%s", cmp.Or(c.Config, config.DefaultPath(e.Getenv)))
	} else {
		say("configuration", "note", "none; the defaults hold. interlock init makes one")
	}
	c.examineSites(e, cfg, say)
	examineKnowledge(say)
	if s, err := newScreen(cfg); err != nil {
		say("screen", "fail", "%v", err)
	} else {
		say("screen", "ok", "mode %s, tau_a %.2f, tau_w %.2f, %d rules", s.Mode(), s.Thresholds().TauA, s.Thresholds().TauW, len(s.Rules()))
	}
	examineStore(e, cfg, found, say)
	examineListen(e.Ctx, cfg, found, say)
	examineJudges(e, cfg, say)
	examineGate(e, cfg, say)
	return list
}

func (c *doctorCmd) examineSites(e *env, cfg *config.Config, say func(string, string, string, ...any)) {
	set, id, err := loadSites(engineOptions{Site: c.Site, Config: cfg})
	if err != nil {
		say("sites", "fail", "%v", err)
		return
	}
	for _, sid := range set.IDs() {
		if id != "" && sid != id {
			continue
		}
		s := set.Site(sid)
		if s.Sandbox.Present && s.Sandbox.Operable && s.Sandbox.Routed {
			say("site "+sid, "ok", "%d tools, %d rules, %d as code; sandbox %s declared", len(s.Tools), len(s.Rules), len(s.Checks), s.Sandbox.Name)
		} else {
			say("site "+sid, "unsafe", "no operable sandbox that all code goes through is declared: plans that run code are blocked")
		}
	}
	examineWatch(e, cfg, gateProfile(cfg, set, id), say)
	if c.State == "" && cfg.State == "" {
		say("live state", "note", "none given: every reading is unknown, which counts as worst")
	} else if _, err := stateOf(engineOptions{State: c.State, Config: cfg}); err != nil {
		say("live state", "fail", "%v", err)
	} else {
		say("live state", "ok", "%s", cmp.Or(c.State, cfg.State))
	}
}

func examineKnowledge(say func(string, string, string, ...any)) {
	start := time.Now()
	g, err := knowledge.Embedded()
	if err != nil {
		say("knowledge", "fail", "%v", err)
		return
	}
	say("knowledge", "ok", "%d nodes, %d edges, loaded in %d ms", g.Len(), g.EdgeCount(), time.Since(start).Milliseconds())
}

func examineStore(e *env, cfg *config.Config, configured bool, say func(string, string, string, ...any)) {
	if _, err := os.Stat(cfg.Store); errors.Is(err, fs.ErrNotExist) && !configured {
		say("store", "note", "none: decisions on the command line are not recorded. interlock init makes one")
		return
	}
	log, err := openLog(e, cfg)
	if err != nil {
		say("store", "fail", "%v", err)
		return
	}
	if err := log.Close(); err != nil {
		say("store", "fail", "%v", err)
		return
	}
	say("store", "ok", "%s", cfg.Store)
}

func examineListen(ctx context.Context, cfg *config.Config, configured bool, say func(string, string, string, ...any)) {
	if !configured {
		return
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", cfg.Server.Listen)
	if err != nil {
		say("address", "note", "%s is taken (a running interlock serve, perhaps): %v", cfg.Server.Listen, err)
		return
	}
	_ = l.Close() // only whether it could be opened counts
	say("address", "ok", "%s is free", cfg.Server.Listen)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"interlock/internal/gate"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
	"interlock/internal/identity"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/site"
)

type toolsCmd struct {
	List    toolsListCmd    `cmd:"" help:"List the tools of the upstreams with their standing."`
	Diff    toolsDiffCmd    `cmd:"" help:"Show how the upstreams differ from what was approved; exit 1 if they do."`
	Approve toolsApproveCmd `cmd:"" help:"Approve tools as they are now, after showing what changes."`
}

// toolsFlags name the upstreams: those of the configuration, or a command.
type toolsFlags struct {
	Config string `help:"Configuration file." type:"path" placeholder:"FILE"`
	Name   string `help:"Upstream; with a command: the name to keep its tools under (as for interlock mcp)." placeholder:"NAME"`
}

// targets splits the arguments at -- and returns the upstreams meant.
func (f *toolsFlags) targets(e *env, args []string) (ups []gate.Upstream, words []string, pins *pin.Store, err error) {
	flags := engineFlags{Config: f.Config}
	cfg, _, err := flags.load(e)
	if err != nil {
		return nil, nil, nil, err
	}
	if pins, err = pin.OpenStore(cfg.Gate.Pins); err != nil {
		return nil, nil, nil, err
	}
	var command []string
	words = args
	for i, a := range args {
		if a == "--" {
			words, command = args[:i], args[i+1:]
			break
		}
	}
	if len(command) > 0 {
		name := f.Name
		if name == "" {
			name = "robot"
		}
		return []gate.Upstream{{Name: name, Command: wire.Command{Args: command, Shim: childShim(), Stderr: io.Discard}}}, words, pins, nil
	}
	all, err := upstreams(e, cfg.Gate)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, u := range all {
		if f.Name == "" || f.Name == u.Name {
			ups = append(ups, u)
		}
	}
	if len(ups) == 0 {
		return nil, nil, nil, errors.New("no upstream: configure gate.upstreams, or give a command after --")
	}
	return ups, words, pins, nil
}

// each probes every upstream and compares it with what was approved.
func (f *toolsFlags) each(e *env, args []string, visit func(pins *pin.Store, live *pin.Server, changes []pin.Change, words []string) error) error {
	ups, words, pins, err := f.targets(e, args)
	if err != nil {
		return badInput(err)
	}
	for _, u := range ups {
		shown, err := gate.Probe(e.Ctx, u)
		if err != nil {
			return badInput(err)
		}
		approved, err := pins.Approved(u.Name)
		if err != nil {
			return badInput(err)
		}
		if err := visit(pins, shown, pin.Compare(approved, shown), words); err != nil {
			return err
		}
	}
	return nil
}

type toolsListCmd struct {
	toolsFlags
	JSON bool     `help:"One JSON object a line."`
	Args []string `arg:"" optional:"" passthrough:"" help:"-- COMMAND ARG…"`
}

func (c *toolsListCmd) Run(e *env) error {
	return c.each(e, c.Args, func(_ *pin.Store, shown *pin.Server, changes []pin.Change, _ []string) error {
		standing := map[string]string{}
		for _, ch := range changes {
			standing[ch.Tool] = "quarantined (" + ch.What + ")"
		}
		tw := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
		for _, t := range shown.Tools {
			s := standing[t.Name]
			if s == "" {
				s = "approved"
			}
			if c.JSON {
				writeJSON(e.Stdout, map[string]string{"server": shown.Name, "tool": t.Name, "standing": s, "digest": t.Digest})
				continue
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t%.12s\n", shown.Name, pin.Visible(t.Name), s, t.Digest)
		}
		return tw.Flush()
	})
}

type toolsDiffCmd struct {
	toolsFlags
	JSON bool     `help:"One JSON object a line."`
	Args []string `arg:"" optional:"" passthrough:"" help:"-- COMMAND ARG…"`
}

func (c *toolsDiffCmd) Run(e *env) error {
	differs := false
	err := c.each(e, c.Args, func(_ *pin.Store, _ *pin.Server, changes []pin.Change, _ []string) error {
		differs = differs || len(changes) > 0
		for _, ch := range changes {
			if c.JSON {
				writeJSON(e.Stdout, ch)
			} else {
				writeChange(e.Stdout, ch)
			}
		}
		return nil
	})
	if err == nil && differs {
		return &exitError{Code: exitInternal}
	}
	return err
}

func writeChange(w io.Writer, c pin.Change) {
	what := c.What
	if c.From != "" {
		what += " from " + pin.Visible(c.From)
	}
	if c.Tool == "" {
		fmt.Fprintf(w, "%s: %s\n", c.Server, what)
	} else {
		fmt.Fprintf(w, "%s: %s: %s\n", c.Server, pin.Visible(c.Tool), what)
	}
	for _, l := range c.Diff {
		if l.Was != "" {
			fmt.Fprintf(w, "  - %s: %s\n", pin.Visible(l.Path), l.Was)
		}
		if l.Now != "" {
			fmt.Fprintf(w, "  + %s: %s\n", pin.Visible(l.Path), l.Now)
		}
	}
}

type toolsApproveCmd struct {
	toolsFlags
	reviewerFlags
	All  bool     `help:"Approve everything, the server's instructions included."`
	Args []string `arg:"" optional:"" passthrough:"" help:"TOOL… [-- COMMAND ARG…]"`
}

// Run approves tools under the name of a reviewer's credential, never under a
// name that somebody types or that the machine has for its user (C16): whoever
// runs commands here may be an agent. The approval is on record before it
// holds (C25).
func (c *toolsApproveCmd) Run(e *env) error {
	log, q, by, err := c.approver(e)
	if err != nil {
		return err
	}
	defer quietly(log)
	// Flags may stand among the names, since what follows is passed through.
	args := c.Args
	for len(args) > 0 && args[0] == "--all" {
		c.All, args = true, args[1:]
	}
	return c.each(e, args, func(pins *pin.Store, shown *pin.Server, changes []pin.Change, words []string) error {
		if c.All == (len(words) > 0) {
			return badInput(errors.New("expected names of tools, or --all"))
		}
		for _, word := range words {
			if shown.Tool(word) == nil {
				return badInput(fmt.Errorf("%s has no tool %q now", shown.Name, word))
			}
		}
		for _, ch := range changes {
			writeChange(e.Stdout, ch)
		}
		if err := q.Pinned(e.Ctx, c.approvals(shown, changes, words, by)); err != nil {
			return storeError(err)
		}
		if err := pins.Approve(shown, words, by, time.Now()); err != nil {
			return badInput(err)
		}
		fmt.Fprintf(e.Stdout, "%s: approved by %s\n", shown.Name, printable(by))
		return nil
	})
}

// approver opens the record and tells who approves.
func (c *toolsApproveCmd) approver(e *env) (*record.Log, *review.Queue, string, error) {
	store := storeFlags{Config: c.Config}
	cfg, err := store.load(e)
	if err != nil {
		return nil, nil, "", err
	}
	log, err := openLog(e, cfg)
	if err != nil {
		return nil, nil, "", fmt.Errorf("tools are approved by a reviewer, on record: %w", err)
	}
	who, err := c.reviewer(e, log)
	if err == nil && who.Role != identity.Reviewer {
		err = badInput(fmt.Errorf("approving tools: %w: the credential is %s's", review.ErrNotReviewer, printable(who.String())))
	}
	if err != nil {
		return nil, nil, "", errors.Join(err, log.Close())
	}
	return log, newQueue(log, &site.Set{}, cfg.Review), who.Name, nil
}

// approvals are what goes on record of one server.
func (c *toolsApproveCmd) approvals(shown *pin.Server, changes []pin.Change, words []string, by string) []record.ToolPinned {
	var out []record.ToolPinned
	for _, ch := range changes {
		if ch.What == "removed" || (!c.All && !slices.Contains(words, ch.Tool)) {
			continue
		}
		p := record.ToolPinned{Server: shown.Name, Tool: ch.Tool, Status: "pinned", By: by}
		if t := shown.Tool(ch.Tool); t != nil {
			p.Digest = t.Digest
		}
		out = append(out, p)
	}
	return out
}

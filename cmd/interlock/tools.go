package main

import (
	"errors"
	"fmt"
	"io"
	"os/user"
	"slices"
	"text/tabwriter"
	"time"

	"interlock/internal/gate"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
	"interlock/internal/record"
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
	All  bool     `help:"Approve everything, the server's instructions included."`
	By   string   `help:"Who approves; by default the user of this machine." placeholder:"NAME"`
	Args []string `arg:"" optional:"" passthrough:"" help:"TOOL… [-- COMMAND ARG…]"`
}

func (c *toolsApproveCmd) Run(e *env) error {
	by := c.By
	if u, err := user.Current(); by == "" && err == nil {
		by = u.Username
	}
	// Flags may stand among the names, since what follows is passed through.
	args := c.Args
	for len(args) > 0 && args[0] == "--all" {
		c.All, args = true, args[1:]
	}
	var approved []record.ToolPinned
	err := c.each(e, args, func(pins *pin.Store, shown *pin.Server, changes []pin.Change, words []string) error {
		if c.All == (len(words) > 0) {
			return badInput(errors.New("expected names of tools, or --all"))
		}
		for _, ch := range changes {
			writeChange(e.Stdout, ch)
		}
		if err := pins.Approve(shown, words, by, time.Now()); err != nil {
			return badInput(err)
		}
		fmt.Fprintf(e.Stdout, "%s: approved by %s\n", shown.Name, by)
		for _, ch := range changes {
			if ch.What != "removed" && (c.All || slices.Contains(words, ch.Tool)) {
				p := record.ToolPinned{Server: shown.Name, Tool: ch.Tool, Status: "pinned", By: by}
				if t := shown.Tool(ch.Tool); t != nil {
					p.Digest = t.Digest
				}
				approved = append(approved, p)
			}
		}
		return nil
	})
	return errors.Join(err, c.record(e, approved))
}

// record puts an approval on record where there is one, and closes what waits
// for a person because of these tools.
func (c *toolsApproveCmd) record(e *env, approved []record.ToolPinned) error {
	store := storeFlags{Config: c.Config}
	cfg, err := store.load(e)
	if err != nil {
		return err
	}
	if len(approved) == 0 || initialised(cfg) != nil {
		return nil // a gate without an installation keeps a journal, not a record
	}
	log, err := openLog(e, cfg)
	if err != nil {
		return err
	}
	defer quietly(log)
	if err := newQueue(log, &site.Set{}, cfg.Review).Pinned(e.Ctx, approved); err != nil {
		return storeError(err)
	}
	return nil
}

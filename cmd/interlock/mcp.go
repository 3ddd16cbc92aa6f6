package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
	"interlock/internal/gate/wire"
)

type mcpCmd struct {
	engineFlags
	Name    string   `help:"Name of the server, under which its approved tools are kept." default:"robot"`
	Agent   string   `help:"Agent that speaks, as the site profile names it; without it the plan's own claim is checked." placeholder:"ID"`
	Command []string `arg:"" passthrough:"" help:"The MCP server to start, after --." placeholder:"COMMAND"`
}

// Run wraps an MCP server that speaks over stdio: stdio in, stdio out.
// Nothing but MCP is written to the output.
func (c *mcpCmd) Run(e *env) error {
	command := afterDashes(c.Command)
	if len(command) == 0 {
		return badInput(errors.New("no command: interlock mcp [--config FILE] -- COMMAND ARG…"))
	}
	eng, err := c.build(e, "")
	if err != nil {
		return err
	}
	defer eng.Close()
	up := gate.Upstream{Name: c.Name, Command: wire.Command{Args: command, Shim: childShim(), Stderr: e.Stderr}}
	j, closer, err := c.journal(eng)
	if err != nil {
		return badInput(err)
	}
	defer closer()
	gw, err := newGateway(e, eng, []gate.Upstream{up}, j, nil)
	if err != nil {
		return badInput(err)
	}
	if eng.log != nil {
		go gw.watchReviews(e.Ctx, eng.log)
	} else {
		fmt.Fprintln(e.Stderr, "interlock: decisions are not recorded: run interlock init for a store. Calls are kept in a journal.")
	}
	go gw.gate.WatchPins(e.Ctx, reviewPoll)
	defer gw.watch.start(e.Ctx)()
	defer gw.gate.Close()
	started := false
	start := func() (wire.Conn, error) {
		server, err := wire.Start(e.Ctx, up.Command)
		if err != nil {
			if !started {
				err = badInput(err)
			}
			return nil, err
		}
		started = true
		return server, nil
	}
	in := e.Stdin
	down := wire.NewLines(in, e.Stdout, wire.MaxClientFrame, func() error {
		if f, ok := in.(*os.File); ok {
			return f.Close()
		}
		return nil
	})
	return gw.gate.PumpReviving(e.Ctx, gate.Client{Requester: "local", Agent: c.Agent}, c.Name, down, start)
}

// journal keeps the gate's events in the record where there is one.
func (c *mcpCmd) journal(eng *engine) (grant.Journal, func(), error) {
	if eng.log != nil {
		j, err := newJournal(eng)
		if err != nil {
			return nil, nil, err
		}
		return j, func() {}, nil
	}
	file, err := journal.Open(filepath.Join(filepath.Dir(eng.config.Gate.Pins), "gate-"+filepath.Base(c.Name)+".jsonl"))
	if err != nil {
		return nil, nil, err
	}
	return file, func() { _ = file.Close() }, nil
}

// afterDashes drops the -- that stands before a command.
func afterDashes(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

// A runChildCmd keeps a child's process group: it ends the whole group when it
// is asked to terminate, which the kernel does when the gate dies, and when
// the child ends.
type runChildCmd struct {
	Command []string `arg:"" passthrough:""`
}

func (c *runChildCmd) Run() error {
	args := afterDashes(c.Command)
	if len(args) == 0 {
		return badInput(errors.New("no command"))
	}
	child := exec.Command(args[0], args[1:]...) //nolint:gosec,noctx // the operator's command; the group is ended by signal
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := wire.Keep(child); err != nil {
		return badInput(fmt.Errorf("running %s: %w", args[0], err))
	}
	return nil
}

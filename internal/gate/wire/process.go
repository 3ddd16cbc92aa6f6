package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// stopGrace is how long a child may take to end after its input is closed,
// and again after it is asked to.
const stopGrace = 2 * time.Second

// A Command is how to start an MCP server that speaks over stdio.
type Command struct {
	Args []string
	Env  []string // added to this process's environment
	Dir  string   // working directory; "" this process's
	// Shim is put before Args: a program that ends its whole process group
	// when it is asked to terminate. The kernel tells a child that its parent
	// died, but not the child's children; the shim passes that on.
	Shim   []string
	Stderr io.Writer
}

// A Process is an MCP server started as a child in a process group of its
// own, so that ending it ends everything it has started.
type Process struct {
	*Lines
	cmd  *exec.Cmd
	in   io.Closer
	out  io.Closer
	done chan struct{} // closed when the child has been waited for
	stop sync.Once
}

// Start starts the command; ctx ends it.
func Start(ctx context.Context, c Command) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("starting the MCP server: no command")
	}
	args := append(append([]string{}, c.Shim...), c.Args...)
	cmd := exec.Command(args[0], args[1:]...) //nolint:gosec,noctx // the command is the operator's configuration; watch ends it with ctx
	cmd.Env, cmd.Dir, cmd.Stderr = append(Environment(), c.Env...), c.Dir, c.Stderr
	cmd.WaitDelay = stopGrace // a grandchild may hold the error stream open
	setGroup(cmd, len(c.Shim) > 0)
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Args[0], err)
	}
	// Not StdoutPipe: Wait closes that before the last answer may be read.
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", c.Args[0], err), childIn.Close(), in.Close())
	}
	cmd.Stdin, cmd.Stdout = childIn, childOut
	p := &Process{cmd: cmd, in: in, out: out, done: make(chan struct{})}
	err = p.start()
	_ = childIn.Close()
	_ = childOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", c.Args[0], err), in.Close(), out.Close())
	}
	p.Lines = NewLines(out, in, MaxServerFrame, p.end)
	go p.watch(ctx)
	return p, nil
}

// watch ends the child with ctx, and the child's children with the child.
func (p *Process) watch(ctx context.Context) {
	select {
	case <-ctx.Done():
		_ = p.Close()
	case <-p.done:
		_ = signalGroup(p.cmd, syscall.SIGKILL)
	}
}

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Pid returns the child's process id, which is also its group's.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// end closes the child's input, then asks its group to end, then ends it.
func (p *Process) end() error {
	p.stop.Do(func() {
		_ = p.in.Close()
		if !p.within(stopGrace) {
			_ = signalGroup(p.cmd, syscall.SIGTERM)
			if !p.within(stopGrace) {
				_ = signalGroup(p.cmd, syscall.SIGKILL)
			}
		}
		<-p.done
		_ = signalGroup(p.cmd, syscall.SIGKILL) // what it has started may have outlived it
		_ = p.out.Close()
	})
	return nil
}

func (p *Process) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

// Environment is what an upstream inherits: what programs need to run at all.
// Keys of models, tokens and the rest of the gate's own environment stay with
// the gate; a server that needs more is given it by name (C28).
func Environment() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

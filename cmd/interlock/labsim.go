package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/labsim"
)

type labsimCmd struct {
	Tour bool   `help:"Put a gate before the laboratory, and show what passes it and what does not."`
	HTTP string `help:"Serve streamable HTTP at this address instead of stdio." placeholder:"HOST:PORT"`

	Sandbox string `help:"Add the tool sandbox.exec, a simulated sandbox whose image has this digest." placeholder:"DIGEST"`
	Egress  bool   `help:"The sandbox misbehaves: scripts reach the network."`
	Writes  bool   `help:"The sandbox misbehaves: scripts write outside /scratch."`
}

// Run serves the simulated laboratory as an MCP server. What goes wrong in it
// is told on the error stream.
func (c *labsimCmd) Run(e *env) error {
	lab := labsim.NewLab(labsim.New(time.Now))
	if c.Tour {
		_, err := labTour(e, lab, false)
		return err
	}
	if c.Sandbox != "" {
		end, err := c.sandbox(lab)
		if err != nil {
			return err
		}
		defer end()
	} else if c.Egress || c.Writes {
		return badInput(errors.New("--egress and --writes are for --sandbox"))
	}
	defer func() {
		for _, h := range lab.Harm() {
			fmt.Fprintf(e.Stderr, "harm: %s\n", h.What)
		}
	}()
	if c.HTTP == "" {
		err := lab.Server.Run(e.Ctx, &mcp.StdioTransport{})
		if err != nil && e.Ctx.Err() == nil {
			return fmt.Errorf("the laboratory: %w", err)
		}
		return nil
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return lab.Server }, nil)
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout}
	var lc net.ListenConfig
	ln, err := lc.Listen(e.Ctx, "tcp", c.HTTP)
	if err != nil {
		return badInput(err)
	}
	fmt.Fprintf(e.Stderr, "the simulated laboratory listens at http://%s\n", ln.Addr())
	go func() { <-e.Ctx.Done(); _ = srv.Close() }()
	if err := srv.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the laboratory: %w", err)
	}
	return nil
}

// sandbox adds the simulated sandbox; the returned function removes its folder.
func (c *labsimCmd) sandbox(lab *labsim.Lab) (func(), error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "interlock-sandbox-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the sandbox: %w", err)
	}
	box, err := labsim.NewSandbox(dir, c.Sandbox, self, "labsim-sandbox")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	box.Egress, box.Writes = c.Egress, c.Writes
	lab.AddSandbox(box)
	return func() { _ = os.RemoveAll(dir) }, nil
}

// A labBoxCmd is the child process that runs one script of the
// simulated sandbox.
type labBoxCmd struct{}

func (labBoxCmd) Run(e *env) error { return labsim.SandboxMain(e.Stdin, e.Stdout) }

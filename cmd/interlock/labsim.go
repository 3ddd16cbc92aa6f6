package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/internal/labsim"
)

type labsimCmd struct {
	Tour bool   `help:"Put a gate before the laboratory, and show what passes it and what does not."`
	HTTP string `help:"Serve streamable HTTP at this address instead of stdio." placeholder:"HOST:PORT"`
}

// Run serves the simulated laboratory as an MCP server. What goes wrong in it
// is told on the error stream.
func (c *labsimCmd) Run(e *env) error {
	lab := labsim.NewLab(labsim.New(time.Now))
	if c.Tour {
		return labTour(e, lab)
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

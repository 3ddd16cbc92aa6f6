package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

type wireCmd struct {
	Config string   `help:"Configuration file." type:"path" placeholder:"FILE"`
	Name   string   `help:"Name of the entry." default:"interlock"`
	Args   []string `arg:"" optional:"" passthrough:"" help:"-- COMMAND ARG…: the stdio server to wrap; without it the running gateway is meant."`
}

// Run prints the entry that puts the gate in front of a server in the
// configuration of common MCP clients.
func (c *wireCmd) Run(e *env) error {
	flags := engineFlags{Config: c.Config}
	cfg, found, err := flags.load(e)
	if err != nil {
		return badInput(err)
	}
	command := afterDashes(c.Args)
	var entry map[string]any
	if len(command) > 0 {
		args := []string{"mcp"}
		if found && c.Config != "" {
			path, err := filepath.Abs(c.Config)
			if err != nil {
				return badInput(err)
			}
			args = append(args, "--config", path)
		}
		entry = map[string]any{"command": "interlock", "args": append(append(args, "--"), command...)}
	} else {
		if len(cfg.Gate.Upstreams) == 0 {
			return badInput(errors.New("no upstream is configured: set gate.upstreams, or give the server's command after --"))
		}
		address := cfg.Server.PublicURL
		if address == "" {
			address = "http://" + cfg.Server.Listen
		}
		entry = map[string]any{"type": "http", "url": strings.TrimSuffix(address, "/") + "/mcp", "headers": map[string]string{"Authorization": "Bearer ${INTERLOCK_TOKEN}"}}
	}
	out, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{c.Name: entry}}, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout, string(out))
	fmt.Fprintln(e.Stderr, "Put this in place of the entry that starts the server now: while that one stays, calls can go around the gate.")
	return nil
}

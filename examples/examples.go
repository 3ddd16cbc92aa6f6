// Package examples embeds the example sites and plans, so that the
// demonstration runs from the binary alone.
package examples

import "embed"

// Plans holds plans/, example plans in every format.
//
//go:embed plans
var Plans embed.FS

// Sites holds sites/, example site profiles.
//
//go:embed sites
var Sites embed.FS

// MCP holds mcp/, site profiles for MCP servers: public ones for robots, and
// the simulated laboratory.
//
//go:embed mcp
var MCP embed.FS

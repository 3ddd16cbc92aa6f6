package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/gate"
	"interlock/internal/gate/pin"
	"interlock/internal/gate/wire"
)

type siteInitCmd struct {
	FromMcp bool     `name:"from-mcp" help:"Draft the tools from what an MCP server lists."`
	ID      string   `help:"Identifier of the site." default:"my-site"`
	Args    []string `arg:"" optional:"" passthrough:"" help:"-- COMMAND ARG… | URL"`
}

// Run drafts a profile. It is a draft: what a tool does to the world is not
// taken from the server's own word, so everything begins as act.
func (c *siteInitCmd) Run(e *env) error {
	args := c.Args
	for len(args) > 0 && args[0] == "--from-mcp" { // flags after the first word are passed through
		c.FromMcp, args = true, args[1:]
	}
	args = afterDashes(args)
	if !c.FromMcp || len(args) == 0 {
		return badInput(errors.New("expected --from-mcp -- COMMAND ARG…"))
	}
	shown, err := gate.Probe(e.Ctx, gate.Upstream{Name: "robot", Command: wire.Command{Args: args, Shim: childShim(), Stderr: io.Discard}})
	if err != nil {
		return badInput(err)
	}
	fmt.Fprint(e.Stdout, draftProfile(c.ID, shown))
	fmt.Fprintln(e.Stderr, "A draft: set effect and hazard of every tool, put limits on every number, name the places and devices that a text may be, and write the rules.")
	return nil
}

// plainWord is text that YAML reads as itself, unquoted, inside a flow map.
var plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func yamlWord(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off":
		return strconv.Quote(s)
	}
	if plainWord.MatchString(s) {
		return s
	}
	b, err := json.Marshal(s) // a JSON text is a YAML text
	if err != nil {
		return `""`
	}
	return string(b)
}

func draftProfile(id string, shown *pin.Server) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Drafted from the tools of an MCP server. Look at every line.\nversion: 1\nsites:\n  - id: %s\n    name: %s\n    description: What stands there, and who is near it.\n", yamlWord(id), yamlWord(id))
	b.WriteString("    robots:\n      - {id: robot_1, model: unknown}\n    tools:\n")
	for _, t := range shown.Tools {
		line, skipped := draftTool(t)
		if skipped != "" {
			fmt.Fprintf(&b, "      # left out, so refused: %s (%s)\n", pin.Visible(t.Name), skipped)
			continue
		}
		fmt.Fprintf(&b, "      - %s\n", line)
	}
	b.WriteString("    # Without a sandbox for the planner's code every plan is rejected:\n    # sandbox: {name: NAME, present: true, operable: true, code_execution_routed_through_it: true, image: IMAGE, image_digest: \"sha256:…\", network_egress: none, writable: [/scratch]}\n")
	b.WriteString("    rules:\n      R1: \"Nothing runs that a person has not described here.\"\n")
	return b.String()
}

// draftTool gives the line of a tool, or why it cannot be bounded.
func draftTool(t pin.Tool) (line, skipped string) {
	var def struct {
		Annotations struct{ ReadOnlyHint bool }
		InputSchema struct {
			Properties map[string]struct {
				Type    any
				Enum    []any
				Minimum *json.Number
				Maximum *json.Number
			}
			Required []string
		}
	}
	dec := json.NewDecoder(strings.NewReader(t.Definition))
	dec.UseNumber()
	if err := dec.Decode(&def); err != nil {
		return "", "its schema cannot be read"
	}
	required := map[string]bool{}
	for _, name := range def.InputSchema.Required {
		required[name] = true
	}
	var args []string
	for _, name := range slices.Sorted(maps.Keys(def.InputSchema.Properties)) {
		p := def.InputSchema.Properties[name]
		shape := ""
		switch kind, _ := p.Type.(string); {
		case len(p.Enum) > 0:
			raw, err := json.Marshal(p.Enum)
			if err != nil {
				return "", "argument " + pin.Visible(name) + " cannot be read"
			}
			shape = "enum: " + string(raw)
		case (kind == "number" || kind == "integer") && p.Minimum != nil && p.Maximum != nil:
			shape = fmt.Sprintf("type: %s, min: %s, max: %s", kind, *p.Minimum, *p.Maximum)
		case kind == "number" || kind == "integer":
			shape = "type: " + kind
		case kind == "string":
			shape = "type: string"
		case kind == "boolean":
			shape = "type: bool"
		default:
			return "", "argument " + pin.Visible(name) + " is a list, a map or of no type: no range can be put on it"
		}
		if !required[name] {
			shape += ", optional: true"
		}
		args = append(args, yamlWord(name)+": {"+shape+"}")
	}
	line = "{name: " + yamlWord(t.Name) + ", effect: act, hazard: unknown"
	if len(args) > 0 {
		line += ", args: {" + strings.Join(args, ", ") + "}"
	}
	line += "}"
	if def.Annotations.ReadOnlyHint {
		line += " # the server says that it only reads"
	}
	return line, ""
}

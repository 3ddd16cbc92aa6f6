package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"interlock/internal/config"
	"interlock/internal/llm/provider"
)

// configCmd helps to write a configuration.
type configCmd struct {
	Init configInitCmd `cmd:"" help:"Write a configuration for a person to read and confirm."`
}

type configInitCmd struct {
	Panel string `help:"auto: the models found on this machine; builtin: the judges that need none." enum:"auto,builtin" default:"builtin"`
	Out   string `help:"Write here instead of standard output; overwrites nothing." type:"path" placeholder:"FILE"`
}

// Run writes the template, with a panel of what was found. Nothing that it
// finds judges before a person has put the file into place (C37).
func (c *configInitCmd) Run(e *env) error {
	text := config.Template()
	if c.Panel == "auto" {
		found := provider.Discover(e.Ctx, e.Getenv, http.DefaultTransport, provider.LocalServers())
		if len(found) == 0 {
			return badInput(errors.New("no model was found: no key in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, XAI_API_KEY), no server of local models on this machine"))
		}
		text = withPanel(text, found)
		if _, err := config.Decode("configuration", text); err != nil {
			return fmt.Errorf("the panel found makes no valid configuration: %w", err)
		}
	}
	if c.Out == "" {
		_, err := e.Stdout.Write(text)
		return err
	}
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return badInput(err)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// largestPanel is how many of the models found make the panel.
const largestPanel = 7

// withPanel puts models and panel in the place of the template's.
func withPanel(template []byte, found []provider.Found) []byte {
	var b bytes.Buffer
	b.WriteString("# Found on this machine. Confirm each line before you use the file: names of models, prices, and whether plans may be sent there (data).\nmodels:\n")
	var names []string
	for _, f := range found {
		fmt.Fprintf(&b, "  - {name: %q, kind: %s, model: %q, family: %q", f.Name, f.Kind, f.Model, f.Family)
		if f.BaseURL != "" {
			fmt.Fprintf(&b, ", base_url: %q", f.BaseURL)
		}
		if f.KeyEnv != "" {
			fmt.Fprintf(&b, ", key_env: %s", f.KeyEnv)
		}
		fmt.Fprintf(&b, "} # %s\n", f.Tier)
		names = append(names, fmt.Sprintf("%q", f.Name))
	}
	panel, spare := names[:odd(min(len(names), largestPanel))], []string{}
	if rest := names[len(panel):]; len(rest) > 0 {
		spare = rest[:min(len(rest), largestPanel)]
	}
	fmt.Fprintf(&b, "panel:\n  judges: [%s]\n  chief: %s\n", strings.Join(panel, ", "), names[0])
	if len(spare) > 0 {
		fmt.Fprintf(&b, "  spare: [%s]\n", strings.Join(spare, ", "))
	}
	return append(without(template, "models", "panel"), append([]byte("\n"), b.Bytes()...)...)
}

// odd is the largest odd number up to n.
func odd(n int) int { return n - 1 + n%2 }

// without drops top-level keys of a template with their lines.
func without(template []byte, keys ...string) []byte {
	var out []string
	dropping := false
	for line := range strings.Lines(string(template)) {
		if line[0] != ' ' && line[0] != '\n' && line[0] != '#' {
			key, _, _ := strings.Cut(line, ":")
			dropping = slices.Contains(keys, key)
		}
		if !dropping || line[0] == '\n' {
			dropping = false
			out = append(out, line)
		}
	}
	return []byte(strings.Join(out, ""))
}

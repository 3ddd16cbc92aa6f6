package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/config"
	"interlock/internal/verdict"
)

func TestTemplateIsTheDefault(t *testing.T) {
	t.Parallel()
	c, err := config.Decode("config.yaml", config.Template())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(config.Default(), c); d != "" {
		t.Errorf("the template differs from the defaults:\n%s", d)
	}
}

// TestTemplateUncommented holds the commented-out lines of the template
// against the decoder: they must be right when someone takes the # away.
func TestTemplateUncommented(t *testing.T) {
	t.Parallel()
	var lines []string
	for line := range strings.Lines(string(config.Template())) {
		for _, key := range []string{"state", "store", "signing_key", "rules", "public_url"} {
			line = strings.Replace(line, "# "+key+":", key+":", 1)
		}
		lines = append(lines, line)
	}
	c, err := config.Decode("config.yaml", []byte(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	if c.State == "" || c.Store == "" || c.Key == "" || c.Screen.Rules == "" || c.Server.PublicURL == "" {
		t.Errorf("an uncommented key was not read: %+v", c)
	}
}

func TestC29_BadConfigurationSaysWhereAndWhat(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                  "config.yaml: the file is empty",
		"# nothing\n":                       "config.yaml: the file is empty",
		"sites: a\nstore: b\nsitez: c\n":    `config.yaml:3:1: unknown key "sitez" in the configuration (did you mean "sites"?)`,
		"Sites: a\n":                        `config.yaml:1:1: unknown key "Sites" in the configuration: keys are case-sensitive, write "sites"`,
		"sites: [a]\n":                      "config.yaml:1:8: sites: expected a text, found a list",
		"sites: \"\"\n":                     "config.yaml:1:8: sites: must not be empty",
		"memory: yes\n":                     "config.yaml:1:9: memory: expected a true or false, found a text",
		"policy:\n  min_panel: 2\n":         "config.yaml:2:14: policy.min_panel: expected an odd number",
		"policy:\n  min_panel: 0\n":         "config.yaml:2:14: policy.min_panel: expected a whole number from 1 to 7, found 0",
		"policy:\n  gate_hit: accept\n":     `config.yaml:2:13: policy.gate_hit: "accept" is not known, expected one of reject, escalate`,
		"policy:\n  cvar_bound: 1.5\n":      "config.yaml:2:15: policy.cvar_bound: expected a number from 0 to 1, found 1.5",
		"policy:\n  alpha: 1\n":             "config.yaml:2:10: policy.alpha: expected a number below 1",
		"screen:\n  tau_a: .nan\n":          "config.yaml:2:10: .nan is not a finite number",
		"screen:\n  tau_w: 0\n  tau_a: 0\n": "screen: expected 0 < tau_w",
		"screen:\n  tau_a: 0.9\n":           "screen: expected 0 < tau_w and tau_a <= tau_w",
		"screen:\n  mode: fast\n":           `config.yaml:2:9: screen.mode: "fast" is not known`,
		"deadline: 3h\n":                    `config.yaml:1:11: deadline: expected a time from 1s to 10m0s`,
		"deadline: 45\n":                    "config.yaml:1:11: deadline: expected a text, found a number",
		"limits:\n  max_steps: 0\n":         "config.yaml:2:14: limits.max_steps: expected a whole number from 1",
		"server:\n  listen: localhost\n":    "config.yaml:2:11: server.listen: expected HOST:PORT",
		"server:\n  public_url: ftp://x\n":  "config.yaml:2:15: server.public_url: expected https://",
		"review:\n  pending_ttl: 1s\n":      "config.yaml:2:16: review.pending_ttl: expected a time",
		"review:\n  allow_self: please\n":   "config.yaml:2:15: review.allow_self: expected",
		"review:\n  mediated: true\n":       "config.yaml:2:3:",
		"memory: true\nmemory: false\n":     "config.yaml:2:1:",
		"- a\n":                             "config.yaml:1:1: the configuration: expected a map, found a list",
		"\xef\xbb\xbfmemory: true\n":        "config.yaml:1:1: the file begins with a byte order mark",
		"a: &x 1\nb: *x\n":                  "config.yaml:1:4: an anchor (&) is not allowed here",
	} {
		_, err := config.Decode("config.yaml", []byte(in))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\n got %v\nwant one line with %q", in, err, want)
		}
	}
}

func TestPaperModeBringsItsThresholds(t *testing.T) {
	t.Parallel()
	c, err := config.Decode("c", []byte("screen: {tau_a: 0.4, mode: paper}\npolicy: {gate_hit: escalate}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Policy.TauA != 0.4 || c.Policy.TauW != 0.85 || c.Policy.GateHit != verdict.Escalate || c.Policy.MinPanel != 3 {
		t.Errorf("got %+v", c.Policy)
	}
}

func TestLoadResolvesPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("sites: profiles\nstate: /abs/state.yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	c, err := config.Load(path, func(name string) string { return map[string]string{"XDG_DATA_HOME": data}[name] })
	if err != nil {
		t.Fatal(err)
	}
	got := []string{c.Sites, c.State, c.Store, c.Key, c.Screen.Rules}
	want := []string{filepath.Join(dir, "profiles"), "/abs/state.yaml", filepath.Join(data, "interlock", "interlock.db"), filepath.Join(data, "interlock", "signing.key"), ""}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestC29_LoadNamesTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "missing.yaml"), dir} {
		_, err := config.Load(path, func(string) string { return "" })
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestDefaultPath(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env        map[string]string
		path, data string
	}{
		{map[string]string{"HOME": "/h"}, "/h/.config/interlock/config.yaml", "/h/.local/share/interlock"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c/interlock/config.yaml", "/d/interlock"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, "/h/.config/interlock/config.yaml", "/h/.local/share/interlock"},
		{nil, "interlock/config.yaml", "interlock"},
	} {
		getenv := func(name string) string { return tc.env[name] }
		if got := config.DefaultPath(getenv); got != filepath.FromSlash(tc.path) {
			t.Errorf("%v: path %s, want %s", tc.env, got, tc.path)
		}
		if got := config.DataDir(getenv); got != filepath.FromSlash(tc.data) {
			t.Errorf("%v: data %s, want %s", tc.env, got, tc.data)
		}
	}
}

func TestPollsAndSandbox(t *testing.T) {
	t.Parallel()
	const head = "gate:\n  upstreams: [{name: lab, url: \"http://127.0.0.1:1/mcp\"}]\n  readings: {door: {good: [shut], max_age: 5s}}\n"
	const poll = "  poll: [{server: lab, tool: sensor.read, arguments: {id: door}, every: 2s, readings: {door: /value}}]\n"
	const box = "  sandbox: {language: sh, egress: [\"192.0.2.1:443\"], require: true}\n"
	c, err := config.Decode("config.yaml", []byte(head+poll+box))
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Gate.Polls[0]; p.Tool != "sensor.read" || p.Arguments["id"] != "door" || p.Every != 2*time.Second || p.Readings["door"] != "/value" {
		t.Errorf("%+v", p)
	}
	if s := c.Gate.Sandbox; !s.Require || s.MaxAge != 10*time.Minute || s.Every != 5*time.Minute || s.Argument != "script" || len(s.Outside) == 0 {
		t.Errorf("%+v", s)
	}
	for in, want := range map[string]string{
		strings.Replace(poll, "every: 2s", "every: 3s", 1):                                    "max_age to be at least twice as long",
		strings.Replace(poll, "{door: /value}", "{gate: /value}", 1):                          "reading gate has no rule",
		strings.Replace(poll, "/value", "value", 1):                                           "expected a JSON pointer",
		strings.Replace(poll, "server: lab", "server: arm", 1):                                `server "arm" is not one of`,
		strings.Replace(poll, "tool: sensor.read", "resource: \"x://y\"", 1):                  "a resource has none",
		strings.Replace(poll, "tool: sensor.read, ", "", 1):                                   "needs a tool or a resource",
		strings.Replace(poll, "every: 2s, ", "", 1):                                           "poll.every is missing",
		strings.Replace(box, "language: sh, ", "", 1):                                         "expected a language",
		strings.Replace(box, "egress: [\"192.0.2.1:443\"], ", "", 1):                          "egress is missing",
		strings.Replace(box, "192.0.2.1:443", "192.0.2.1", 1):                                 "expected HOST:PORT",
		strings.Replace(box, "require: true", "outside: []", 1):                               "outside is empty",
		strings.Replace(box, "require: true", "max_age: 1m", 1):                               "must be longer than every",
		strings.Replace(box, "require: true", "command: [x], tool: y", 1):                     "a command or a tool",
		strings.Replace(box, "require: true", "requires: true", 1):                            `did you mean "require"`,
		poll[:len(poll)-2] + ", {server: lab, tool: a, every: 1s, readings: {door: \"\"}}]\n": "read twice",
	} {
		if _, err := config.Decode("config.yaml", []byte(head+in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %q", in, err, want)
		}
	}
}

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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

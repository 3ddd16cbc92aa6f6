// Package config reads the one configuration file, strictly: an unknown key, a
// wrong type, a value out of its range, a missing or an empty file is an error
// that says where it stands and what was expected (C29). The comments of
// Config are the documentation of the file; Template writes the same file with
// every default in place.
package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"interlock/internal/plan"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// A Config is the configuration file. Relative paths count from the folder of
// the file. Each section is described beside the code that reads it; sections
// lists them.
type Config struct {
	// Sites is the file or folder with the site profiles (sites).
	Sites string
	// State is the file with the live state of the site (state); "" if none is
	// given, in which case every reading is unknown, which counts as worst.
	State string
	// Store is the database with the record, the review queue and the memory
	// (store); by default interlock.db in the user's data directory.
	Store string
	// Key is the file with the key that signs checkpoints of the record
	// (signing_key); by default signing.key in the user's data directory.
	Key string
	// Deadline is what one plan may take over all rounds of judges and the
	// chief (deadline), from 1s to 10m.
	Deadline time.Duration
	// Memory says whether earlier failures count against a plan that resembles
	// them (memory); evaluations switch it off.
	Memory bool
	// Screen is the injection screen (screen).
	Screen Screen
	// Policy is how the site decides (policy); tau_a and tau_w come from the
	// section screen.
	Policy verdict.Policy
	// Limits bound a plan (limits).
	Limits plan.Limits
	// Server is the HTTP side (server).
	Server Server
	// Review is how people are asked (review).
	Review Review
	// Gate is the MCP gate (gate).
	Gate Gate
	// Models are the language models that may judge (models).
	Models []Model
	// Panel says who judges (panel).
	Panel Panel
	// Data says for each site what may leave it (data); DataOf reads it.
	Data map[string]Data
}

// A Screen is the injection screen.
type Screen struct {
	// Mode is "stack", the calibrated screen, or "paper", the paper's formula.
	Mode string
	// Rules is a folder with further rules of the site; "" for none.
	Rules string
}

// A Server is where pages and API are found.
type Server struct {
	// Listen is the address, HOST:PORT.
	Listen string
	// PublicURL is how others reach it, for links in messages; "" if the
	// address itself.
	PublicURL string
}

// maxConfigBytes bounds the file.
const maxConfigBytes = 1 << 20

// Default returns the configuration of an empty file.
func Default() *Config {
	return &Config{
		Sites: "sites.yaml", Deadline: 45 * time.Second, Memory: true,
		Screen: Screen{Mode: "stack"}, Policy: verdict.DefaultPolicy(), Limits: plan.DefaultLimits(),
		Server: Server{Listen: "127.0.0.1:8480"}, Review: defaultReview(), Gate: defaultGate(), Panel: DefaultPanel(),
	}
}

// Load reads a configuration file and makes its paths absolute.
func Load(path string, getenv func(string) string) (*Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer func() { _ = f.Close() }() // only read: closing loses nothing
	data, err := io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
	if err != nil {
		return nil, fileError(path, err)
	}
	c, err := Decode(path, data)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fileError(path, err)
	}
	c.Resolve(dir, DataDir(getenv))
	return c, nil
}

// fileError says what is wrong with a file without naming it twice.
func fileError(path string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &strict.Error{File: path, Msg: err.Error()}
}

// Decode reads a configuration; paths stay as they are written. file stands in
// error messages.
func Decode(file string, data []byte) (*Config, error) {
	if len(data) > maxConfigBytes {
		return nil, &strict.Error{File: file, Msg: "the configuration is longer than 1 MiB"}
	}
	root, err := strict.YAML(file, data)
	if err != nil {
		return nil, err
	}
	r := &reader{strict.Reader{File: file}}
	c := Default()
	all := sections()
	keys := make([]string, len(all))
	for i, s := range all {
		keys[i] = s.key
	}
	fields := r.Fields(root, "the configuration", keys)
	for i := range fields {
		for _, s := range all {
			if s.key == fields[i].Key {
				s.decode(c, r, &fields[i].Value)
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// Resolve makes paths absolute and fills those that have a place of their own.
func (c *Config) Resolve(dir, data string) {
	for _, p := range []struct {
		path *string
		def  string
	}{{&c.Sites, ""}, {&c.State, ""}, {&c.Gate.Pins, "pins.json"}, {&c.Store, "interlock.db"}, {&c.Key, "signing.key"}, {&c.Screen.Rules, ""}} {
		switch {
		case *p.path == "" && p.def != "":
			*p.path = filepath.Join(data, p.def)
		case *p.path != "" && !filepath.IsAbs(*p.path):
			*p.path = filepath.Join(dir, *p.path)
		}
	}
	for i := range c.Models {
		if f := &c.Models[i].KeyFile; *f != "" && !filepath.IsAbs(*f) {
			*f = filepath.Join(dir, *f)
		}
	}
}

// DefaultPath is where the configuration is looked for when none is named:
// interlock/config.yaml in the user's configuration directory.
func DefaultPath(getenv func(string) string) string {
	return filepath.Join(userDir(getenv, "XDG_CONFIG_HOME", "AppData", ".config"), "config.yaml")
}

// DataDir is where store and key lie by default: interlock in the user's data
// directory.
func DataDir(getenv func(string) string) string {
	return userDir(getenv, "XDG_DATA_HOME", "LocalAppData", filepath.Join(".local", "share"))
}

// userDir follows the XDG base directories, and their counterparts elsewhere.
// Without any it is a folder of the working directory.
func userDir(getenv func(string) string, xdg, windows, home string) string {
	for _, name := range []string{xdg, windows} {
		if dir := getenv(name); filepath.IsAbs(dir) { // the XDG rules ignore relative ones
			return filepath.Join(dir, "interlock")
		}
	}
	if dir := getenv("HOME"); dir != "" {
		return filepath.Join(dir, home, "interlock")
	}
	return "interlock"
}

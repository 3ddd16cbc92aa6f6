package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"interlock/internal/config"
	"interlock/internal/identity"
	"interlock/internal/record"
)

type initCmd struct {
	Config   string `help:"Configuration file to write; store and key then lie beside it." type:"path" placeholder:"FILE"`
	Reviewer string `help:"Name of the first reviewer." placeholder:"NAME"`
}

// Run makes an installation: configuration, signing key, store, and the first
// reviewer's token. It overwrites nothing, and what it has made is removed
// again if a later part fails.
func (c *initCmd) Run(e *env) (err error) {
	path := c.Config
	if path == "" {
		path = config.DefaultPath(e.Getenv)
	}
	cfg, text, err := newConfig(e, path)
	if err != nil {
		return badInput(err)
	}
	for _, f := range []string{path, cfg.Key, cfg.Store} {
		if _, err := os.Lstat(f); !errors.Is(err, fs.ErrNotExist) {
			return badInput(fmt.Errorf("%s exists already: interlock init overwrites nothing", f))
		}
	}
	var made []string
	defer func() {
		if err != nil {
			for _, f := range made {
				_ = os.Remove(f) // the error that led here is the one to report
			}
		}
	}()
	for _, f := range []string{path, cfg.Key, cfg.Store} {
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			return badInput(err)
		}
	}
	made = append(made, path)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return badInput(err)
	}
	made = append(made, cfg.Key, cfg.Store, cfg.Store+"-wal", cfg.Store+"-shm")
	key, secret, who, err := newStore(e, cfg, c.reviewer(e))
	if err != nil {
		return badInput(err)
	}
	fmt.Fprintf(e.Stdout, "configuration  %s\nstore          %s\nsigning key    %s\n", path, cfg.Store, cfg.Key)
	fmt.Fprintf(e.Stdout, "public key     %s\n", key.Public())
	fmt.Fprintf(e.Stdout, "\nreviewer token for %s (shown once, stored as a hash only):\n\n  %s\n\n", who.Name, secret)
	fmt.Fprintf(e.Stdout, "Keep the public key, and a checkpoint now and then (interlock audit checkpoint), where this machine cannot reach them.\n")
	fmt.Fprintf(e.Stdout, "Next: describe your site in %s, make a token for each agent (interlock token create --agent ID), then interlock serve.\n", cfg.Sites)
	return nil
}

func (c *initCmd) reviewer(e *env) string {
	for _, name := range []string{c.Reviewer, e.Getenv("USER"), e.Getenv("USERNAME")} {
		if name != "" {
			return name
		}
	}
	return "operator"
}

// newConfig gives the text to write and what it means. A configuration that is
// not at the default place is an installation of its own: its store and key
// lie beside it.
func newConfig(e *env, path string) (*config.Config, []byte, error) {
	text := config.Template()
	if path != config.DefaultPath(e.Getenv) {
		for _, line := range []string{"store: interlock.db", "signing_key: signing.key"} {
			if !bytes.Contains(text, []byte("\n# "+line+"\n")) {
				return nil, nil, fmt.Errorf("the configuration template has no line %q", line)
			}
			text = bytes.Replace(text, []byte("\n# "+line+"\n"), []byte("\n"+line+"\n"), 1)
		}
	}
	cfg, err := config.Decode(path, text)
	if err != nil {
		return nil, nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, nil, fmt.Errorf("finding the folder of %s: %w", path, err)
	}
	cfg.Resolve(dir, config.DataDir(e.Getenv))
	return cfg, text, nil
}

// newStore makes key and store, and the first event: the reviewer's token.
func newStore(e *env, cfg *config.Config, reviewer string) (*record.Key, string, identity.Principal, error) {
	fail := func(err error) (*record.Key, string, identity.Principal, error) {
		return nil, "", identity.Principal{}, err
	}
	name, err := record.RandomName(rand.Reader)
	if err != nil {
		return fail(err)
	}
	key, err := record.CreateKey(rand.Reader, cfg.Key, name)
	if err != nil {
		return fail(err)
	}
	log, err := record.Open(e.Ctx, cfg.Store, key, record.Options{Create: true, Now: time.Now})
	if err != nil {
		return fail(err)
	}
	secret, who, err := identity.Issue(e.Ctx, log, rand.Reader, identity.Reviewer, reviewer)
	if err := errors.Join(err, log.Close()); err != nil {
		return fail(err)
	}
	return key, secret, who, nil
}

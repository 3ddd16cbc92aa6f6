package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/mod/sumdb/note"

	"interlock/internal/config"
	"interlock/internal/record"
)

// storeFlags are the flags of the commands that work on a store.
type storeFlags struct {
	Config string `help:"Configuration file." type:"path" placeholder:"FILE"`
	Store  string `help:"Store to use instead of the configured one." type:"path" placeholder:"FILE"`
}

// load reads the configuration and lets --store replace its store.
func (f *storeFlags) load(e *env) (*config.Config, error) {
	flags := engineFlags{Config: f.Config}
	cfg, _, err := flags.load(e)
	if err != nil {
		return nil, badInput(err)
	}
	if f.Store != "" && f.Store != cfg.Store {
		cfg.Store, cfg.Key = f.Store, keyBeside(f.Store)
	}
	return cfg, nil
}

// quietly closes what was only read, or what has nothing left to write: every
// append is durable before it returns.
func quietly(c io.Closer) { _ = c.Close() }

// keyBeside is where the signing key of a store lies that no configuration
// names.
func keyBeside(store string) string { return store + ".key" }

// openLog opens the store of an installation that init has made.
func openLog(e *env, cfg *config.Config) (*record.Log, error) {
	if err := initialised(cfg); err != nil {
		return nil, badInput(err)
	}
	key, err := record.LoadKey(cfg.Key)
	if err != nil {
		return nil, badInput(err)
	}
	log, err := record.Open(e.Ctx, cfg.Store, key, record.Options{Now: time.Now})
	if err != nil {
		return nil, storeError(err)
	}
	return log, nil
}

// openOrCreateLog opens the store of check --store, and makes it where there
// is none: a record of one's own needs no installation.
func openOrCreateLog(e *env, path string) (*record.Log, error) {
	key, err := record.LoadOrCreateKey(rand.Reader, keyBeside(path))
	if err != nil {
		return nil, badInput(err)
	}
	log, err := record.Open(e.Ctx, path, key, record.Options{Create: true, Now: time.Now})
	if err != nil {
		return nil, storeError(err)
	}
	return log, nil
}

// openReader opens the store for reading. The public key comes from the flag
// or from the signing key.
func openReader(e *env, cfg *config.Config, public string) (*record.Reader, error) {
	by, err := verifierOf(cfg, public)
	if err != nil {
		return nil, err
	}
	r, err := record.OpenReader(e.Ctx, cfg.Store, by)
	if err != nil {
		return nil, storeError(err)
	}
	return r, nil
}

func verifierOf(cfg *config.Config, public string) (note.Verifier, error) {
	if public != "" {
		by, err := record.ParsePublicKey(public)
		if err != nil {
			return nil, badInput(err)
		}
		return by, nil
	}
	if err := initialised(cfg); err != nil {
		return nil, badInput(err)
	}
	key, err := record.LoadKey(cfg.Key)
	if err != nil {
		return nil, badInput(err)
	}
	return key.Verifier(), nil
}

// initialised says what is missing where interlock init was not run (C30).
func initialised(cfg *config.Config) error {
	for _, f := range []struct{ what, path string }{{"signing key", cfg.Key}, {"store", cfg.Store}} {
		if _, err := os.Stat(f.path); err != nil {
			return fmt.Errorf("no %s at %s: run interlock init first", f.what, f.path)
		}
	}
	return nil
}

// storeError gives tampering its own exit code; everything else that is wrong
// with a store is the user's to mend.
func storeError(err error) error {
	if errors.Is(err, record.ErrTampered) {
		return &exitError{Code: exitTampered, Err: err}
	}
	return badInput(err)
}

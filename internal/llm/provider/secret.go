package provider

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// A Secret is an access key. It prints as its presence only: never in dumps,
// logs or errors (C28).
type Secret struct{ value string }

// hidden stands for a key wherever one would be printed.
const hidden = "[secret]"

// NewSecret wraps a key.
func NewSecret(key string) Secret { return Secret{strings.TrimSpace(key)} }

// KeyFrom reads a key from the environment variable, or else from the file.
// One that is named but absent or empty is an error that names the place, not
// the key.
func KeyFrom(getenv func(string) string, env, file string) (Secret, error) {
	switch {
	case env != "":
		s := NewSecret(getenv(env))
		if !s.Set() {
			return s, fmt.Errorf("environment variable %s is not set or empty: it should hold the access key", env)
		}
		return s, nil
	case file != "":
		f, err := os.Open(file)
		if err != nil {
			return Secret{}, fmt.Errorf("reading the access key: %w", err)
		}
		defer func() { _ = f.Close() }() // only read from
		const most = 16 << 10
		data, err := io.ReadAll(io.LimitReader(f, most))
		if err != nil {
			return Secret{}, fmt.Errorf("reading the access key from %s: %w", file, err)
		}
		s := NewSecret(string(data))
		if !s.Set() {
			return s, fmt.Errorf("%s is empty: it should hold the access key", file)
		}
		return s, nil
	default:
		return Secret{}, nil
	}
}

// Set reports whether there is a key.
func (s Secret) Set() bool { return s.value != "" }

func (s Secret) String() string {
	if s.Set() {
		return hidden
	}
	return ""
}

// GoString keeps the key out of %#v.
func (s Secret) GoString() string { return s.String() }

// Format keeps the key out of every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	// A formatter's writes have no one to tell of an error.
	_, _ = io.WriteString(f, s.String())
}

// MarshalText keeps the key out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue keeps the key out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// scrub takes the key out of an error's text; what it wraps is dropped with it
// where the key stood inside.
func (s Secret) scrub(err error) error {
	if err == nil || !s.Set() || !strings.Contains(err.Error(), s.value) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), s.value, hidden))
}

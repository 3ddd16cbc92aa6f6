package cassette

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// seedFile holds what a recording's prompts were put into order with.
const seedFile = "order-seed"

// KeepSeed returns the seed of the recording in dir, for prompts whose order
// is random: without it a replay would ask other questions. A recording that
// has none yet gets the one offered.
func KeepSeed(dir string, offered []byte) ([]byte, error) {
	have, err := Seed(dir)
	if err != nil || have != nil {
		return have, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("recording answers: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, seedFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) { // another run was faster
		return Seed(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("recording answers: %w", err)
	}
	_, err = f.Write(offered)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("recording answers: %w", err)
	}
	return offered, nil
}

// Seed returns the seed of the recording in dir; nil if it has none.
func Seed(dir string) ([]byte, error) {
	seed, err := os.ReadFile(filepath.Join(dir, seedFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(seed) == 0 {
		err = fmt.Errorf("%s is empty", seedFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	return seed, nil
}

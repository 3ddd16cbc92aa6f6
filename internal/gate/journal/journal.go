// Package journal keeps the events of execution in a file of one JSON object a
// line, each durable before Append returns. It is what interlock mcp and the
// tests use without a store; with one, the events go into the tamper-evident
// record instead.
package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"interlock/internal/gate/grant"
)

// A File is a journal in one file, open in one process at a time.
type File struct {
	path string

	mu     sync.Mutex
	f      *os.File
	broken error // once a write has failed, the end of the file is not known
}

// Open opens or creates the journal. A last line that was cut off by a crash
// was never acknowledged and is removed.
func Open(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	j := &File{path: path, f: f}
	if err := j.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the journal: %w", err), f.Close())
	}
	return j, nil
}

func (j *File) prepare() error {
	if err := lock(j.f); err != nil {
		return err
	}
	data, err := io.ReadAll(j.f)
	if err != nil {
		return err
	}
	whole := int64(bytes.LastIndexByte(data, '\n') + 1)
	if err := j.f.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.f.Seek(whole, io.SeekStart); err != nil {
		return err
	}
	return syncDir(filepath.Dir(j.path))
}

// Append implements grant.Journal.
func (j *File) Append(_ context.Context, e grant.Event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return fmt.Errorf("journal: an earlier write failed: %w", j.broken)
	}
	if _, err := j.f.Write(append(line, '\n')); err != nil {
		j.broken = err
		return fmt.Errorf("journal: %w", err)
	}
	if err := j.f.Sync(); err != nil {
		j.broken = err
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Replay implements grant.Journal.
func (j *File) Replay(_ context.Context, visit func(grant.Event) error) error {
	f, err := os.Open(j.path)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("journal: line %d: %w", n, err)
		}
		var e grant.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("journal: line %d: %w", n, err)
		}
		if err := visit(e); err != nil {
			return fmt.Errorf("journal: line %d: %w", n, err)
		}
	}
}

// Close closes the journal.
func (j *File) Close() error { return j.f.Close() }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

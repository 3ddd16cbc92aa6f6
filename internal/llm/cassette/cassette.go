// Package cassette records the answers of models and plays them back, so that
// evaluations and tests run offline and repeat exactly. An answer is kept
// under the model's name and the digest of its prompt with the block mark
// blanked: the same question in another run finds it (C9).
package cassette

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interlock/internal/llm"
)

// ErrMissing says that a prompt was never recorded.
var ErrMissing = errors.New("no recorded answer to this prompt")

// blank stands for the block mark in a recorded text.
const blank = "BLOCK"

// An entry is one recorded answer.
type entry struct {
	Model  string    `json:"model"` // name as configured
	Digest string    `json:"digest"`
	Sample int       `json:"sample,omitempty"`
	Reply  llm.Reply `json:"reply"`
}

// Record returns a model that asks m and keeps every answer in dir. An answer
// that cannot be kept is an error: a recording with holes would not replay.
func Record(m llm.Model, dir string) llm.Model { return recorder{m, dir} }

type recorder struct {
	llm.Model
	dir string
}

func (r recorder) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	reply, err := r.Model.Complete(ctx, req)
	if err != nil {
		return reply, err
	}
	e := entry{Model: r.Name(), Digest: req.Digest(), Sample: req.Sample, Reply: reply}
	if req.Boundary != "" {
		e.Reply.Text = strings.ReplaceAll(reply.Text, req.Boundary, blank)
	}
	if err := write(path(r.dir, e.Model, e.Digest, e.Sample), e); err != nil {
		return llm.Reply{}, fmt.Errorf("recording an answer: %w", err)
	}
	return reply, nil
}

// Replay returns a model that answers from dir only.
func Replay(name, dir string) llm.Model { return player{name, dir} }

type player struct{ name, dir string }

func (p player) Name() string { return p.name }

func (p player) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	file := path(p.dir, p.name, req.Digest(), req.Sample)
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return llm.Reply{}, fmt.Errorf("%s: %w", p.name, ErrMissing)
	}
	if err != nil {
		return llm.Reply{}, fmt.Errorf("replaying an answer: %w", err)
	}
	var e entry
	if err := json.Unmarshal(data, &e); err != nil {
		return llm.Reply{}, fmt.Errorf("replaying an answer from %s: %w", file, err)
	}
	if e.Model != p.name || e.Digest != req.Digest() || e.Sample != req.Sample {
		return llm.Reply{}, fmt.Errorf("%s holds the answer to another prompt", file)
	}
	return e.Reply, nil
}

// path names the file of an answer. Names of models may hold slashes.
func path(dir, model, digest string, sample int) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, model)
	return filepath.Join(dir, fmt.Sprintf("%s-%s-%d.json", safe, digest[:32], sample))
}

// write makes the file whole or not at all: several judges may write at once.
func write(file string, e entry) error {
	data, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".answer-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	if err = errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), file)
}

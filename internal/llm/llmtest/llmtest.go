// Package llmtest holds doubles of language models for tests: a model that
// says what it is told, a server that speaks the three wire formats and
// misbehaves on command, and the contract that every llm.Model must keep.
package llmtest

import (
	"context"
	"sync"

	"interlock/internal/llm"
)

// A Fake answers with Replies in turn, the last one again and again, and keeps
// what it was asked.
type Fake struct {
	Label   string
	Replies []llm.Reply
	Err     error // returned instead of a reply

	mu    sync.Mutex
	asked []llm.Request
}

// Says makes a fake that finishes with text.
func Says(name, text string) *Fake {
	return &Fake{Label: name, Replies: []llm.Reply{{Text: text, Stop: llm.StopDone, Model: name + "-1"}}}
}

// Name implements llm.Model.
func (f *Fake) Name() string { return f.Label }

// Complete implements llm.Model.
func (f *Fake) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.asked)
	f.asked = append(f.asked, r)
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	if f.Err != nil {
		return llm.Reply{}, f.Err
	}
	return f.Replies[min(n, len(f.Replies)-1)], nil
}

// Asked returns the requests so far.
func (f *Fake) Asked() []llm.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]llm.Request(nil), f.asked...)
}

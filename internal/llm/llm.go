// Package llm defines what Interlock asks of a language model. It names no
// vendor: clients live in llm/provider, doubles in llm/llmtest, recorded
// answers in llm/cassette.
package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Model answers one request. Implementations are safe for concurrent use.
type Model interface {
	Name() string // as configured, stable over calls
	Complete(context.Context, Request) (Reply, error)
}

// A Request is one prompt.
type Request struct {
	System   string
	Prompt   string
	Schema   []byte // JSON schema of the wanted reply, nil for free text
	Boundary string // block mark inside the texts: a secret of the run, left out of the digest
	Sample   int    // which of several answers to the same prompt is wanted, from 0
}

// Digest identifies the prompt with the block mark blanked, so that the same
// question in another run has the same digest (C9). Hex SHA-256.
func (r Request) Digest() string {
	h := sha256.New()
	for _, part := range []string{r.blank(r.System), r.blank(r.Prompt), string(r.Schema)} {
		fmt.Fprintf(h, "%d ", len(part))
		// A hash never fails to write.
		_, _ = io.WriteString(h, part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (r Request) blank(s string) string {
	if r.Boundary == "" {
		return s
	}
	return strings.ReplaceAll(s, r.Boundary, "BLOCK")
}

// A Reply is a model's answer with what it cost.
type Reply struct {
	Text         string  `json:"text"`
	Model        string  `json:"model"` // model and version as the provider reported them
	Stop         Stop    `json:"stop"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Cost         float64 `json:"cost"` // in the configuration's currency; 0 if no price is known
}

// A Stop says why the model stopped.
type Stop uint8

// The stops. Unknown is the zero value and counts as not finished.
const (
	StopUnknown Stop = iota
	StopDone         // finished by itself
	StopLength       // cut at the token limit
	StopRefused      // the model or its content filter refused
	StopTooLong      // the input did not fit the context window
)

var stopNames = [...]string{"unknown", "done", "length", "refused", "too long"}

func (s Stop) String() string {
	if int(s) >= len(stopNames) {
		return stopNames[StopUnknown]
	}
	return stopNames[s]
}

// MarshalText implements encoding.TextMarshaler.
func (s Stop) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads any unknown name as StopUnknown: not finished.
func (s *Stop) UnmarshalText(b []byte) error {
	*s = StopUnknown
	for i, n := range stopNames {
		if n == string(b) {
			*s = Stop(i)
		}
	}
	return nil
}

// ErrUnavailable says that a provider is not asked for the moment because it
// failed too often (its breaker is open).
var ErrUnavailable = errors.New("the provider fails and is not asked for now")

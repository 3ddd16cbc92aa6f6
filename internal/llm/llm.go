// Package llm defines what Interlock asks of a language model. It names no
// vendor: clients live in llm/provider, doubles in llm/llmtest.
package llm

import "context"

// A Model answers one request. Implementations are safe for concurrent use.
type Model interface {
	Name() string // as configured, stable over calls
	Complete(context.Context, Request) (Reply, error)
}

// A Request is one prompt.
type Request struct {
	System string
	Prompt string
	Schema []byte // JSON schema of the wanted reply, nil for free text
}

// A Reply is a model's answer with what it cost.
type Reply struct {
	Text         string
	Model        string // model and version as the provider reported them
	Stop         Stop
	InputTokens  int
	OutputTokens int
	Cost         float64 // in the configuration's currency; 0 if no price is known
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

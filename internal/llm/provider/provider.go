// Package provider holds the clients of real models, each on its vendor's
// official Go SDK: OpenAI and everything that speaks its API through a base
// address, Anthropic, Google Gemini. What goes wrong on the way is handled in
// one place for all of them: retries with backoff inside the caller's
// deadline, a breaker for each provider, parameters that a provider refuses
// (C13), answers that were cut, refused or did not fit.
package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"interlock/internal/llm"
)

// The kinds of API.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Gemini    = "gemini"
)

// defaultAnswerTokens leave room for a model that reasons before it answers.
const defaultAnswerTokens = 16000

// A Config is one model at one provider.
type Config struct {
	Name        string   // as configured
	Kind        string   // OpenAI, Anthropic or Gemini
	BaseURL     string   // "" the vendor's own
	Model       string   // as the provider calls it
	Key         Secret   // "" for local servers that need none
	MaxTokens   int      // of the answer, reasoning included; 0: 16000
	Temperature *float64 // nil: the provider's default
	Effort      string   // reasoning effort where the API has it, "" the provider's default
	Price       Price
}

// A Price is in the configuration's currency for a million tokens.
type Price struct {
	Input, Output float64
}

func (p Price) of(in, out int) float64 {
	const million = 1e6
	return (p.Input*float64(in) + p.Output*float64(out)) / million
}

// A Clock is the time as a client sees it.
type Clock struct {
	Now  func() time.Time
	Wait func(context.Context, time.Duration) error // ends early with the context's error
}

// A Pool makes clients that share one breaker for each provider.
type Pool struct {
	clock    Clock
	base     http.RoundTripper
	breakers map[string]*breaker
}

// NewPool makes a pool on a transport.
func NewPool(base http.RoundTripper, clock Clock) *Pool {
	return &Pool{clock: clock, base: base, breakers: map[string]*breaker{}}
}

// Wait waits on the wall clock.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// New makes the client of one model. It asks nothing of the network. Not safe
// for concurrent use; the clients are.
func (p *Pool) New(ctx context.Context, c Config) (llm.Model, error) {
	if c.Name == "" || c.Model == "" {
		return nil, fmt.Errorf("model %q: name and model must be given", c.Name)
	}
	if c.MaxTokens <= 0 {
		c.MaxTokens = defaultAnswerTokens
	}
	if c.BaseURL == "" {
		c.BaseURL = map[string]string{OpenAI: "https://api.openai.com/v1/", Anthropic: "https://api.anthropic.com/", Gemini: "https://generativelanguage.googleapis.com/"}[c.Kind]
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil {
		return nil, fmt.Errorf("model %q: base_url is not an http(s) address without credentials", c.Name)
	}
	client := &http.Client{Transport: &transport{base: p.base, clock: p.clock, breaker: p.breaker(c.Kind + " " + u.Host)}}
	m := &model{config: c}
	switch c.Kind {
	case OpenAI:
		m.api = newOpenAI(c, client)
	case Anthropic:
		m.api = newAnthropic(c, client)
	case Gemini:
		if m.api, err = newGemini(ctx, c, client); err != nil {
			return nil, fmt.Errorf("model %q: %w", c.Name, c.Key.scrub(err))
		}
	default:
		return nil, fmt.Errorf("model %q: kind %q is not known: expected openai, anthropic or gemini", c.Name, c.Kind)
	}
	return m, nil
}

func (p *Pool) breaker(provider string) *breaker {
	if p.breakers[provider] == nil {
		p.breakers[provider] = &breaker{now: p.clock.Now}
	}
	return p.breakers[provider]
}

// An api is one wire format.
type api interface {
	// ask sends a request without the dropped parameters.
	ask(ctx context.Context, r llm.Request, dropped func(string) bool) (llm.Reply, error)
	// fault takes a provider's error apart.
	fault(error) fault
}

// A model is a client with its memory of refused parameters.
type model struct {
	config  Config
	api     api
	refused memory
}

func (m *model) Name() string { return m.config.Name }

// Complete asks the model. A parameter that the provider refuses is left out
// from then on and the request sent again, at most once for each (C13).
func (m *model) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	for {
		reply, err := m.api.ask(ctx, r, m.refused.has)
		if err == nil {
			reply.Cost = m.config.Price.of(reply.InputTokens, reply.OutputTokens)
			return reply, nil
		}
		if ctx.Err() != nil {
			return llm.Reply{}, fmt.Errorf("%s: %w", m.config.Name, ctx.Err())
		}
		if errors.Is(err, llm.ErrUnavailable) {
			return llm.Reply{}, fmt.Errorf("%s: %w", m.config.Name, llm.ErrUnavailable)
		}
		f := m.api.fault(err)
		switch {
		case f.tooLong():
			return llm.Reply{Stop: llm.StopTooLong, Model: m.config.Model}, nil
		case f.filtered():
			return llm.Reply{Stop: llm.StopRefused, Model: m.config.Model}, nil
		case m.refused.learn(f.parameter(r.Schema != nil)):
			continue
		}
		return llm.Reply{}, fmt.Errorf("%s: %w", m.config.Name, m.config.Key.scrub(f.short(err)))
	}
}

package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"interlock/internal/llm"
)

// claude speaks the Messages API.
type claude struct {
	config   Config
	messages anthropic.MessageService
}

func newAnthropic(c Config, client *http.Client) *claude {
	opts := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithBaseURL(c.BaseURL), option.WithHTTPClient(client), option.WithMaxRetries(0)}
	if c.Key.Set() {
		opts = append(opts, option.WithAPIKey(c.Key.value))
	}
	return &claude{c, anthropic.NewMessageService(opts...)}
}

func (c *claude) ask(ctx context.Context, r llm.Request, dropped func(string) bool) (llm.Reply, error) {
	p := anthropic.MessageNewParams{
		Model:     c.config.Model,
		MaxTokens: int64(c.config.MaxTokens),
		System:    []anthropic.TextBlockParam{{Text: r.System}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(r.Prompt))},
	}
	if c.config.Temperature != nil && !dropped(paramTemperature) {
		p.Temperature = anthropic.Float(*c.config.Temperature)
	}
	if c.config.Effort != "" && !dropped(paramEffort) {
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(c.config.Effort)
	}
	if r.Schema != nil && !dropped(paramSchema) {
		if err := json.Unmarshal(r.Schema, &p.OutputConfig.Format.Schema); err != nil {
			return llm.Reply{}, fmt.Errorf("reading the answer's schema: %w", err)
		}
	}
	m, err := c.messages.New(ctx, p)
	if err != nil {
		return llm.Reply{}, err
	}
	var text strings.Builder
	for _, b := range m.Content {
		if b.Type == "text" {
			text.WriteString(b.Text)
		}
	}
	return llm.Reply{
		Text: text.String(), Model: m.Model, Stop: claudeStop(m.StopReason),
		InputTokens:  int(m.Usage.InputTokens + m.Usage.CacheCreationInputTokens + m.Usage.CacheReadInputTokens),
		OutputTokens: int(m.Usage.OutputTokens),
	}, nil
}

func claudeStop(reason anthropic.StopReason) llm.Stop {
	switch reason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
		return llm.StopDone
	case anthropic.StopReasonMaxTokens:
		return llm.StopLength
	case anthropic.StopReasonRefusal:
		return llm.StopRefused
	case anthropic.StopReasonModelContextWindowExceeded:
		return llm.StopTooLong
	default:
		return llm.StopUnknown
	}
}

func (c *claude) fault(err error) fault {
	var e *anthropic.Error
	if !errors.As(err, &e) {
		return fault{}
	}
	return fault{status: e.StatusCode, code: string(e.Type()), message: messageIn(e.RawJSON())}
}

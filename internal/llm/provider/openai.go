package provider

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"interlock/internal/llm"
)

// openAI speaks chat completions, which OpenAI, xAI, OpenRouter, Ollama, vLLM,
// llama.cpp and LM Studio all do.
type openAI struct {
	config Config
	chat   openai.ChatCompletionService
}

func newOpenAI(c Config, client *http.Client) *openAI {
	opts := []option.RequestOption{option.WithBaseURL(c.BaseURL), option.WithHTTPClient(client), option.WithMaxRetries(0)}
	if c.Key.Set() {
		opts = append(opts, option.WithAPIKey(c.Key.value))
	}
	// The service alone, unlike the client, reads nothing from the environment.
	return &openAI{c, openai.NewChatCompletionService(opts...)}
}

func (o *openAI) ask(ctx context.Context, r llm.Request, dropped func(string) bool) (llm.Reply, error) {
	p := openai.ChatCompletionNewParams{Model: o.config.Model}
	if dropped(paramSystem) {
		p.Messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage(r.System + "\n\n" + r.Prompt)}
	} else {
		p.Messages = []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(r.System), openai.UserMessage(r.Prompt)}
	}
	if dropped(paramMaxTokens) {
		p.MaxTokens = openai.Int(int64(o.config.MaxTokens)) // older servers know this name only
	} else {
		p.MaxCompletionTokens = openai.Int(int64(o.config.MaxTokens))
	}
	if o.config.Temperature != nil && !dropped(paramTemperature) {
		p.Temperature = openai.Float(*o.config.Temperature)
	}
	if o.config.Effort != "" && !dropped(paramEffort) {
		p.ReasoningEffort = shared.ReasoningEffort(o.config.Effort)
	}
	if r.Schema != nil && !dropped(paramSchema) {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Strict: openai.Bool(true), Schema: json.RawMessage(r.Schema)},
		}
	}
	c, err := o.chat.New(ctx, p)
	if err != nil {
		return llm.Reply{}, err
	}
	reply := llm.Reply{Model: c.Model, InputTokens: int(c.Usage.PromptTokens), OutputTokens: int(c.Usage.CompletionTokens)}
	if len(c.Choices) != 1 {
		return reply, nil // not finished: StopUnknown
	}
	choice := c.Choices[0]
	reply.Text = choice.Message.Content
	reply.Stop = openAIStop(choice.FinishReason)
	if choice.Message.Refusal != "" {
		reply.Stop = llm.StopRefused
	}
	return reply, nil
}

func openAIStop(reason string) llm.Stop {
	switch reason {
	case "stop":
		return llm.StopDone
	case "length":
		return llm.StopLength
	case "content_filter":
		return llm.StopRefused
	default:
		return llm.StopUnknown
	}
}

func (o *openAI) fault(err error) fault {
	var e *openai.Error
	if !errors.As(err, &e) {
		return fault{}
	}
	f := fault{status: e.StatusCode, code: e.Code, param: e.Param, message: e.Message}
	if f.message == "" {
		f.message = messageIn(e.RawJSON())
	}
	return f
}

// messageIn finds the message in the error bodies of servers that keep to no
// vendor's form.
func messageIn(raw string) string {
	var body struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal([]byte(raw), &body) != nil {
		return raw
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case body.Message != "":
		return body.Message
	case json.Unmarshal(body.Error, &text) == nil && text != "":
		return text
	case json.Unmarshal(body.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case json.Unmarshal(body.Detail, &text) == nil && text != "":
		return text
	default:
		return raw
	}
}

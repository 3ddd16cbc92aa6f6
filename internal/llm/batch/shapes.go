package batch

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"interlock/internal/llm"
)

// A result is Anthropic's shape.
type result struct {
	Type    string `json:"type"`
	Message struct {
		Model      string `json:"model"`
		StopReason string `json:"stop_reason"`
		Content    []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Usage struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

func (r *result) answer() Answer {
	if r.Type != "succeeded" {
		return Answer{Problem: "the provider reports: " + r.Type}
	}
	m := r.Message
	reply := llm.Reply{Model: m.Model, InputTokens: m.Usage.Input, OutputTokens: m.Usage.Output}
	for _, c := range m.Content {
		if c.Type == "text" {
			reply.Text += c.Text
		}
	}
	reply.Stop = stop(m.StopReason)
	return Answer{Reply: reply}
}

// stop reads the three vendors' words for why a model stopped.
func stop(reason string) llm.Stop {
	switch strings.ToLower(reason) {
	case "stop", "end_turn", "stop_sequence", "completed":
		return llm.StopDone
	case "length", "max_tokens", "max_output_tokens":
		return llm.StopLength
	case "content_filter", "refusal", "safety", "blocklist", "prohibited_content", "spii", "recitation":
		return llm.StopRefused
	case "model_context_window_exceeded":
		return llm.StopTooLong
	default:
		return llm.StopUnknown
	}
}

// An envelope is OpenAI's batch response.
type envelope struct {
	StatusCode int             `json:"status_code"`
	Body       json.RawMessage `json:"body"`
}

// response reads OpenAI's envelope, or a bare completion of OpenAI's or
// Gemini's shape.
func response(raw json.RawMessage) Answer {
	var e envelope
	if json.Unmarshal(raw, &e) == nil && present(e.Body) {
		if e.StatusCode != 0 && e.StatusCode != http.StatusOK {
			return Answer{Problem: fmt.Sprintf("the provider reports HTTP %d", e.StatusCode)}
		}
		var text string
		if json.Unmarshal(e.Body, &text) == nil {
			return done(text)
		}
		raw = e.Body
	}
	var c completion
	if err := json.Unmarshal(raw, &c); err != nil {
		return Answer{Problem: "the response has no known shape"}
	}
	return c.answer()
}

// A completion is OpenAI's chat completion, OpenAI's response, Anthropic's
// message or Gemini's generated content: they share no key.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
	} `json:"usage"`

	Status string   `json:"status"`
	Output []output `json:"output"`

	StopReason string `json:"stop_reason"`
	Content    []part `json:"content"`

	ModelVersion string `json:"modelVersion"`
	Candidates   []struct {
		FinishReason string `json:"finishReason"`
		Content      struct {
			Parts []part `json:"parts"`
		} `json:"content"`
	} `json:"candidates"`
}

type output struct {
	Type    string `json:"type"`
	Content []part `json:"content"`
}

type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Refusal string `json:"refusal"`
}

func (c completion) answer() Answer {
	reply := llm.Reply{Model: c.Model, InputTokens: c.Usage.Prompt + c.Usage.Input, OutputTokens: c.Usage.Completion + c.Usage.Output}
	switch {
	case len(c.Choices) == 1:
		reply.Text, reply.Stop = c.Choices[0].Message.Content, stop(c.Choices[0].FinishReason)
		if c.Choices[0].Message.Refusal != "" {
			reply.Stop = llm.StopRefused
		}
	case len(c.Output) > 0:
		reply.Stop = stop(c.Status)
		for _, o := range c.Output {
			if o.Type == "message" {
				join(&reply, o.Content)
			}
		}
	case len(c.Content) > 0:
		reply.Stop = stop(c.StopReason)
		join(&reply, c.Content)
	case len(c.Candidates) == 1:
		reply.Model, reply.Stop = c.ModelVersion, stop(c.Candidates[0].FinishReason)
		join(&reply, c.Candidates[0].Content.Parts)
	default:
		return Answer{Problem: "the response holds no answer, or several"}
	}
	return Answer{Reply: reply}
}

func join(reply *llm.Reply, parts []part) {
	for _, p := range parts {
		if p.Refusal != "" {
			reply.Stop = llm.StopRefused
		}
		if !p.Thought && (p.Type == "" || strings.HasSuffix(p.Type, "text")) {
			reply.Text += p.Text
		}
	}
}

package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/genai"

	"interlock/internal/llm"
)

// gemini speaks generateContent.
type gemini struct {
	config Config
	models *genai.Models
}

func newGemini(ctx context.Context, c Config, client *http.Client) (*gemini, error) {
	if !c.Key.Set() {
		return nil, errors.New("kind gemini needs an access key")
	}
	once := int32(1)
	cl, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: c.Key.value, Backend: genai.BackendGeminiAPI, HTTPClient: client,
		HTTPOptions: genai.HTTPOptions{BaseURL: c.BaseURL, RetryOptions: &genai.HTTPRetryOptions{Attempts: &once}},
	})
	if err != nil {
		return nil, fmt.Errorf("making the client: %w", err)
	}
	return &gemini{c, cl.Models}, nil
}

func (g *gemini) ask(ctx context.Context, r llm.Request, dropped func(string) bool) (llm.Reply, error) {
	conf := &genai.GenerateContentConfig{MaxOutputTokens: int32(g.config.MaxTokens), CandidateCount: 1}
	prompt := r.Prompt
	if dropped(paramSystem) {
		prompt = r.System + "\n\n" + prompt
	} else {
		conf.SystemInstruction = genai.NewContentFromText(r.System, genai.RoleUser)
	}
	if g.config.Temperature != nil && !dropped(paramTemperature) {
		t := float32(*g.config.Temperature)
		conf.Temperature = &t
	}
	if g.config.Effort != "" && !dropped(paramEffort) {
		conf.ThinkingConfig = &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevel(strings.ToUpper(g.config.Effort))}
	}
	if r.Schema != nil && !dropped(paramSchema) {
		conf.ResponseMIMEType = "application/json"
		conf.ResponseJsonSchema = json.RawMessage(r.Schema)
	}
	resp, err := g.models.GenerateContent(ctx, g.config.Model, genai.Text(prompt), conf)
	if err != nil {
		return llm.Reply{}, err
	}
	reply := llm.Reply{Model: resp.ModelVersion}
	if u := resp.UsageMetadata; u != nil {
		reply.InputTokens = int(u.PromptTokenCount)
		reply.OutputTokens = int(u.CandidatesTokenCount + u.ThoughtsTokenCount)
	}
	if resp.PromptFeedback != nil && resp.PromptFeedback.BlockReason != "" {
		reply.Stop = llm.StopRefused
		return reply, nil
	}
	if len(resp.Candidates) != 1 {
		return reply, nil // not finished: StopUnknown
	}
	reply.Stop = geminiStop(resp.Candidates[0].FinishReason)
	if c := resp.Candidates[0].Content; c != nil {
		for _, part := range c.Parts {
			if !part.Thought {
				reply.Text += part.Text
			}
		}
	}
	return reply, nil
}

func geminiStop(reason genai.FinishReason) llm.Stop {
	switch reason {
	case genai.FinishReasonStop:
		return llm.StopDone
	case genai.FinishReasonMaxTokens:
		return llm.StopLength
	case genai.FinishReasonSafety, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonRecitation:
		return llm.StopRefused
	default:
		return llm.StopUnknown
	}
}

func (g *gemini) fault(err error) fault {
	var e genai.APIError
	if errors.As(err, &e) {
		return fault{status: e.Code, code: e.Status, message: e.Message}
	}
	var p *genai.APIError
	if errors.As(err, &p) {
		return fault{status: p.Code, code: p.Status, message: p.Message}
	}
	return fault{}
}

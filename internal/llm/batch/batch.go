// Package batch reads and writes the files in which prompts go to providers
// and answers come back in bulk: one JSON object a line. Requests have OpenAI's
// batch shape; answers may be plain text or any of the three vendors' shapes.
package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"interlock/internal/llm"
)

// A Call is one line of a file of requests.
type Call struct {
	CustomID string `json:"custom_id"`
	Method   string `json:"method"`
	URL      string `json:"url"`
	Body     Body   `json:"body"`
}

// A Body is the request itself: chat completions.
type Body struct {
	Model          string          `json:"model"`
	Messages       []Message       `json:"messages"`
	ResponseFormat *ResponseFormat `json:"response_format,omitempty"`
}

// A Message is one turn of the conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// A ResponseFormat asks for an answer by schema.
type ResponseFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// NewCall makes the line for a request. schema says whether the answer's
// schema goes along: not every reader of such files knows it.
func NewCall(customID, model string, r llm.Request, schema bool) Call {
	c := Call{CustomID: customID, Method: "POST", URL: "/v1/chat/completions", Body: Body{
		Model: model, Messages: []Message{{"system", r.System}, {"user", r.Prompt}},
	}}
	if schema && r.Schema != nil {
		f := &ResponseFormat{Type: "json_schema"}
		f.JSONSchema.Name, f.JSONSchema.Strict, f.JSONSchema.Schema = "answer", true, r.Schema
		c.Body.ResponseFormat = f
	}
	return c
}

// An Answer is one line of a file of answers.
type Answer struct {
	Reply   llm.Reply
	Problem string // why there is no reply; "" if there is one
}

// Answers are the lines of a file by custom_id.
type Answers struct {
	ByID      map[string]Answer
	Order     []string // custom_ids in the order of their first line
	Malformed []string // lines that could not be read at all, each with its cause
}

const maxLine = 32 << 20

// Read reads a file of answers. A line that cannot be read is noted and passed
// over. Of two lines with one custom_id, an answer counts over a failure; two
// different answers are a contradiction, and there is none.
func Read(name string, r io.Reader) (*Answers, error) {
	out := &Answers{ByID: map[string]Answer{}}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	for n := 1; sc.Scan(); n++ {
		line := bytes.TrimSpace(sc.Bytes())
		if len(line) == 0 {
			continue
		}
		id, a, err := decode(line)
		if err != nil {
			out.Malformed = append(out.Malformed, fmt.Sprintf("%s:%d: %v", name, n, err))
			continue
		}
		out.add(id, a)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return out, nil
}

// contradiction is why a custom_id with two different answers has none, however
// often one of them comes again.
const contradiction = "two different answers in the file"

func (a *Answers) add(id string, next Answer) {
	have, seen := a.ByID[id]
	switch {
	case !seen:
		a.Order = append(a.Order, id)
		a.ByID[id] = next
	case have.Problem == contradiction:
	case have.Problem != "":
		a.ByID[id] = next
	case next.Problem == "" && (next.Reply.Text != have.Reply.Text || next.Reply.Stop != have.Reply.Stop):
		a.ByID[id] = Answer{Problem: contradiction}
	}
}

// A line is every shape at once.
type line struct {
	CustomID string          `json:"custom_id"`
	Key      string          `json:"key"` // Gemini's batches
	Text     *string         `json:"text"`
	Response json.RawMessage `json:"response"`
	Result   *result         `json:"result"` // Anthropic's batches
	Error    json.RawMessage `json:"error"`
}

func decode(data []byte) (id string, a Answer, err error) {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return "", a, fmt.Errorf("expected a JSON object with custom_id and text or response: %w", err)
	}
	if id = l.CustomID; id == "" {
		id = l.Key
	}
	if id == "" {
		return "", a, errors.New("no custom_id")
	}
	return id, l.answer(), nil
}

func (l line) answer() Answer {
	var text string
	switch {
	case l.Text != nil:
		return done(*l.Text)
	case present(l.Error):
		return Answer{Problem: "the provider reports an error"}
	case l.Result != nil:
		return l.Result.answer()
	case json.Unmarshal(l.Response, &text) == nil && present(l.Response):
		return done(text)
	case present(l.Response):
		return response(l.Response)
	default:
		return Answer{Problem: "neither text nor response in the line"}
	}
}

// done is a bare text: whoever wrote it says that it is whole.
func done(text string) Answer {
	return Answer{Reply: llm.Reply{Text: text, Stop: llm.StopDone}}
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

package provider

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// The parameters that can be left out. The rest is the question itself.
const (
	paramSchema      = "response_format"
	paramTemperature = "temperature"
	paramMaxTokens   = "max_completion_tokens"
	paramEffort      = "reasoning_effort"
	paramSystem      = "system"
)

// A memory holds the parameters that a provider refused.
type memory struct {
	mu   sync.Mutex
	name map[string]bool
}

func (m *memory) has(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.name[name]
}

// learn notes a refused parameter and reports whether it is news.
func (m *memory) learn(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == "" || m.name[name] {
		return false
	}
	if m.name == nil {
		m.name = map[string]bool{}
	}
	m.name[name] = true
	return true
}

// A fault is a provider's error, taken apart. A zero status says that it never
// answered.
type fault struct {
	status  int
	code    string
	param   string
	message string
}

func (f fault) refusing() bool {
	return f.status == http.StatusBadRequest || f.status == http.StatusUnprocessableEntity || f.status == http.StatusNotImplemented
}

func (f fault) says(parts ...string) bool {
	text := strings.ToLower(f.code + " " + f.message)
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// tooLong reports that the prompt does not fit the context window.
func (f fault) tooLong() bool {
	return f.status == http.StatusRequestEntityTooLarge || (f.refusing() && f.says("context_length", "context length", "context window", "context size",
		"prompt is too long", "input is too long", "too many tokens", "token count", "exceed_context", "exceeds the maximum number of tokens"))
}

// filtered reports that a content filter stopped the prompt.
func (f fault) filtered() bool {
	return f.refusing() && f.says("content_filter", "content_policy", "content policy", "content management policy", "safety system")
}

// words that name a parameter in the vendors' messages.
var paramWords = []struct {
	name  string
	words []string
}{
	{paramSchema, []string{"response_format", "json_schema", "output_config", "output_format", "response_json_schema", "responsejsonschema", "response_schema", "response_mime_type", "structured output", "grammar"}},
	{paramTemperature, []string{"temperature"}},
	{paramEffort, []string{"reasoning_effort", "effort", "thinking"}},
	{paramMaxTokens, []string{"max_completion_tokens"}},
	{paramSystem, []string{"system_instruction", "systeminstruction", "system role", "'system'", "developer instruction"}},
}

// parameter names the parameter that the provider refuses, "" if the fault is
// another one.
func (f fault) parameter(schema bool) string {
	if !f.refusing() {
		return ""
	}
	text := strings.ToLower(f.param + " " + f.message)
	for _, p := range paramWords {
		for _, w := range p.words {
			if strings.Contains(text, w) {
				return p.name
			}
		}
	}
	if schema && strings.Contains(text, "schema") {
		return paramSchema
	}
	return ""
}

// maxMessage bounds what of a provider's message goes into an error: it may
// quote the prompt.
const maxMessage = 160

// short gives the error for people: the status, and the beginning of the
// message.
func (f fault) short(err error) error {
	if f.status == 0 {
		if err == nil {
			return errors.New("no answer")
		}
		return errors.New("no answer: " + clip(rootText(err)))
	}
	out := fmt.Sprintf("HTTP %d %s", f.status, http.StatusText(f.status))
	if f.message != "" {
		out += ": " + clip(strings.Join(strings.Fields(f.message), " "))
	}
	return errors.New(out)
}

// rootText gives the innermost cause: the layers around it repeat addresses,
// which can carry keys.
func rootText(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxMessage {
		return s
	}
	return string(r[:maxMessage]) + " …"
}

package llmtest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Turn is how the server answers one request. The zero Turn finishes with an
// empty text.
type Turn struct {
	Text    string            // of the answer
	Stop    string            // "" done, "length", "refused", "odd": a reason nobody knows
	Status  int               // an error with this status instead of an answer
	Message string            // of that error
	Header  map[string]string // further headers, e.g. Retry-After
	Refuses string            // parameter that is refused with 400 as long as it is sent; then the turn counts
	Raw     string            // body of a 200 answer as it is, instead of a well-formed one
	Delay   time.Duration     // before it answers
	Hang    bool              // accepts and never answers
	Cut     bool              // the connection breaks in the middle of the body
}

// A Server speaks chat completions (OpenAI and the like), messages (Anthropic)
// and generateContent (Gemini), told apart by the path.
type Server struct {
	*httptest.Server
	stop chan struct{}

	mu       sync.Mutex
	turns    []Turn
	at       int
	requests []map[string]any
	headers  []http.Header
}

// NewServer starts a server that takes the turns one after the other and then
// repeats the last one. It ends with the test.
func NewServer(t testing.TB, turns ...Turn) *Server {
	t.Helper()
	s := &Server{turns: turns, stop: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(func() {
		close(s.stop)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Requests returns the bodies received so far.
func (s *Server) Requests() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]map[string]any(nil), s.requests...)
}

// Headers returns the request headers received so far.
func (s *Server) Headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]http.Header(nil), s.headers...)
}

// next notes the request and picks its turn.
func (s *Server) next(body map[string]any, h http.Header) Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, body)
	s.headers = append(s.headers, h.Clone())
	turn := s.turns[min(s.at, len(s.turns)-1)]
	if turn.Refuses != "" && sends(body, turn.Refuses) {
		return Turn{Status: http.StatusBadRequest, Message: "Unsupported parameter: '" + turn.Refuses + "' is not supported with this model."}
	}
	s.at++
	return turn
}

// sends reports whether a key stands anywhere in the body.
func sends(v any, key string) bool {
	switch x := v.(type) {
	case map[string]any:
		if _, ok := x[key]; ok {
			return true
		}
		for e := range maps.Values(x) {
			if sends(e, key) {
				return true
			}
		}
	case []any:
		for _, e := range x {
			if sends(e, key) {
				return true
			}
		}
	}
	return false
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	var body map[string]any
	if err != nil || json.Unmarshal(data, &body) != nil {
		http.Error(w, "the request is not JSON", http.StatusBadRequest)
		return
	}
	turn := s.next(body, r.Header)
	wait := turn.Delay
	if turn.Hang {
		wait = time.Hour
	}
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
			return
		case <-s.stop:
			return
		}
	}
	for k, v := range turn.Header {
		w.Header().Set(k, v)
	}
	w.Header().Set("Content-Type", "application/json")
	wire := wireOf(r.URL.Path)
	out := wire.answer(turn)
	switch {
	case turn.Status != 0:
		w.WriteHeader(turn.Status)
		out = wire.failure(turn)
	case turn.Raw != "":
		out = []byte(turn.Raw)
	}
	if turn.Cut {
		w.Header().Set("Content-Length", "100000")
		out = out[:len(out)/2]
	}
	// A client that went away has no use for the rest.
	_, _ = w.Write(out)
	if turn.Cut {
		panic(http.ErrAbortHandler)
	}
}

// A wire is one vendor's format.
type wire struct {
	answer  func(Turn) []byte
	failure func(Turn) []byte
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own literals
	}
	return b
}

type object = map[string]any

func wireOf(path string) wire {
	switch {
	case strings.Contains(path, ":generateContent"):
		return geminiWire()
	case strings.HasSuffix(path, "/messages"):
		return claudeWire()
	default:
		return openAIWire()
	}
}

func openAIWire() wire {
	stops := map[string]string{"": "stop", "length": "length", "refused": "content_filter", "odd": "tool_calls"}
	return wire{
		answer: func(t Turn) []byte {
			return marshal(object{
				"id": "c1", "object": "chat.completion", "created": 1, "model": "mock-openai-2026",
				"choices": []object{{"index": 0, "finish_reason": stops[t.Stop], "message": object{"role": "assistant", "content": t.Text}}},
				"usage":   object{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
			})
		},
		failure: func(t Turn) []byte {
			return marshal(object{"error": object{"message": t.Message, "type": "invalid_request_error"}})
		},
	}
}

func claudeWire() wire {
	stops := map[string]string{"": "end_turn", "length": "max_tokens", "refused": "refusal", "odd": "pause_turn"}
	return wire{
		answer: func(t Turn) []byte {
			return marshal(object{
				"id": "m1", "type": "message", "role": "assistant", "model": "mock-anthropic-2026", "stop_reason": stops[t.Stop],
				"content": []object{{"type": "text", "text": t.Text}}, "usage": object{"input_tokens": 100, "output_tokens": 20},
			})
		},
		failure: func(t Turn) []byte {
			return marshal(object{"type": "error", "error": object{"type": "invalid_request_error", "message": t.Message}})
		},
	}
}

func geminiWire() wire {
	stops := map[string]string{"": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY", "odd": "OTHER"}
	return wire{
		answer: func(t Turn) []byte {
			return marshal(object{
				"modelVersion":  "mock-gemini-2026",
				"candidates":    []object{{"finishReason": stops[t.Stop], "content": object{"role": "model", "parts": []object{{"text": t.Text}}}}},
				"usageMetadata": object{"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
			})
		},
		failure: func(t Turn) []byte {
			return marshal(object{"error": object{"code": t.Status, "message": t.Message, "status": "INVALID_ARGUMENT"}})
		},
	}
}

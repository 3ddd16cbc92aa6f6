package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"interlock/internal/identity"
	"interlock/internal/record"
)

// A Problem is an error as RFC 9457 writes it. It is the only form in which
// the API answers anything but a decision.
type Problem struct {
	Status     int
	Detail     string        // for the caller: what is wrong and what was expected
	Line       int           // in the body, from 1; 0: none
	Column     int           // from 1, in bytes; 0: none
	RetryAfter time.Duration // 0: no advice
	Challenge  bool          // ask for a bearer token
	Allow      string        // methods, for 405
}

func (p *Problem) Error() string {
	return strconv.Itoa(p.Status) + " " + http.StatusText(p.Status) + ": " + p.Detail
}

func problem(status int, format string, args ...any) *Problem {
	return &Problem{Status: status, Detail: fmt.Sprintf(format, args...)}
}

// asProblem maps every error to an answer, in this one place. What the caller
// cannot mend is told without its inside.
func asProblem(err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, identity.ErrUnknown):
		return &Problem{Status: http.StatusUnauthorized, Detail: identity.ErrUnknown.Error(), Challenge: true}
	case errors.Is(err, record.ErrNotFound):
		return problem(http.StatusNotFound, "there is no such decision, or it is not yours to read")
	case errors.Is(err, record.ErrTampered), errors.Is(err, record.ErrDamaged):
		return problem(http.StatusInternalServerError, "the record has been tampered with or damaged: nothing is read from it; run interlock audit verify")
	case errors.Is(err, record.ErrFull), errors.Is(err, record.ErrBusy), errors.Is(err, record.ErrReadOnly), errors.Is(err, record.ErrClosed):
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "the record cannot be written: nothing was decided", RetryAfter: time.Second}
	}
	return problem(http.StatusInternalServerError, "something went wrong inside Interlock; its log says what")
}

// problemWire is the document.
type problemWire struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	h := w.Header()
	if p.Challenge {
		h.Set("WWW-Authenticate", `Bearer realm="interlock"`)
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	if p.Allow != "" {
		h.Set("Allow", p.Allow)
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// The status is sent; a caller that is gone has nobody to tell.
	_ = enc.Encode(problemWire{"about:blank", http.StatusText(p.Status), p.Status, p.Detail, p.Line, p.Column})
}

// A handler answers or returns why it cannot.
type handler func(http.ResponseWriter, *http.Request) error

// api turns a handler's error into a problem document.
func (s *Server) api(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		p := asProblem(err)
		s.report(r, p, err)
		writeProblem(w, p)
	})
}

// report logs what the caller is not told.
func (s *Server) report(r *http.Request, p *Problem, err error) {
	if p.Status >= http.StatusInternalServerError {
		s.o.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
}

func methodNotAllowed(allow string) handler {
	return func(_ http.ResponseWriter, r *http.Request) error {
		return &Problem{Status: http.StatusMethodNotAllowed, Detail: r.Method + " is not possible here", Allow: allow}
	}
}

func notFound(_ http.ResponseWriter, r *http.Request) error {
	return problem(http.StatusNotFound, "there is nothing at %s", r.URL.Path)
}

// writeJSON encodes before it sends, so that a fault cannot give half an answer.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a caller that is gone has nobody to tell
	return nil
}

// Package web is the HTTP side of Interlock: the API that planners submit
// plans to, and the pages on which people read decisions and decide escalated
// plans.
//
// It decides nothing. Who somebody is follows from the credential, on loopback
// too, and never from a body (C33); a planner gets the view that C8 allows, a
// reviewer gets everything. Pages need no script and load nothing from
// elsewhere.
package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"interlock/internal/identity"
	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

//go:embed templates static
var files embed.FS

// A Verifier decides one plan. The report is usable even beside an error.
type Verifier interface {
	Verify(ctx context.Context, s plan.Submission) (verdict.Report, error)
}

// Options are what a Server needs. Fields without a default must be set.
type Options struct {
	Verifier Verifier
	Record   *record.Reader
	Queue    *review.Queue
	Tokens   *identity.Tokens
	Sites    map[string]*site.Site // sites that plans may be for, by id
	Limits   plan.Limits
	Now      func() time.Time
	Rand     io.Reader     // for sessions and form tokens
	NewID    func() string // decision ids for plans that are answered before they are decided
	Log      *slog.Logger

	Mediated    bool       // somebody has shown that the machine is reachable through Interlock only (C39); else every page says "advisory"
	SecurePages bool       // the pages are reached over https, also where a proxy ends TLS: cookies are for https only
	Concurrent  int        // plans decided at once; zero: 32. Above it: 503
	PerAgent    int        // of them for one agent, so that its flood keeps no other out (C44); zero: a quarter. Above it: 429
	Rate        rate.Limit // requests a second of one credential; zero: 20. Above it: 429
	Burst       int        // zero: 60
}

// A Server serves API and pages. Make it with New.
type Server struct {
	o        Options
	pages    *template.Template
	sessions *sessions
	limits   *limiter
	work     sync.WaitGroup // plans that were answered 202 and are being decided

	mu       sync.Mutex
	busy     map[string]int     // plans being decided, by agent
	total    int                // and all together
	deciding map[string]ongoing // plans that are being decided, by decision id
}

// New returns a server, or says what is missing (C30).
func New(o Options) (*Server, error) {
	if o.Verifier == nil || o.Record == nil || o.Queue == nil || o.Tokens == nil || o.Now == nil || o.Rand == nil || o.NewID == nil || o.Log == nil {
		return nil, errors.New("web: verifier, record, queue, tokens, clock, randomness, ids and log are all needed")
	}
	if len(o.Sites) == 0 {
		return nil, errors.New("web: at least one site is needed")
	}
	if o.Concurrent == 0 {
		o.Concurrent = 32
	}
	if o.PerAgent == 0 {
		o.PerAgent = max(1, o.Concurrent/4)
	}
	if o.Rate == 0 {
		o.Rate = 20
	}
	if o.Burst == 0 {
		o.Burst = 60
	}
	pages, err := parsePages()
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return &Server{
		o: o, pages: pages, sessions: newSessions(o.Rand, o.Now), limits: newLimiter(o.Rate, o.Burst, o.Now),
		busy: map[string]int{}, deciding: map[string]ongoing{},
	}, nil
}

// Wait returns when every plan that was promised a decision has one, or when
// ctx ends. Call it after the HTTP server has shut down.
func (s *Server) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for plans in decision: %w", ctx.Err())
	}
}

// Handler returns API and pages as one handler for the root of a mux; more
// specific patterns of that mux, such as /mcp, take precedence.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", s.api(s.health))
	mux.Handle("GET /readyz", s.api(s.ready))
	mux.Handle("POST /v1/plans", s.api(s.submit))
	mux.Handle("GET /v1/plans/{id}", s.api(s.plan))
	mux.Handle("/v1/plans", s.api(methodNotAllowed("POST")))
	mux.Handle("/v1/plans/{id}", s.api(methodNotAllowed("GET")))
	mux.Handle("/v1/", s.api(notFound))

	same := http.NewCrossOriginProtection()
	page := func(h pageHandler) http.Handler { return same.Handler(s.page(h)) }
	mux.Handle("GET /{$}", page(s.list))
	mux.Handle("GET /decisions/{id}", page(s.decision))
	mux.Handle("GET /review", page(s.queue))
	mux.Handle("POST /decisions/{id}/review", page(s.dispose))
	mux.Handle("GET /matters/{id}", page(s.matter))
	mux.Handle("POST /matters/{id}/resolve", page(s.resolve))
	mux.Handle("POST /logout", page(s.logout))
	mux.Handle("GET /login", same.Handler(s.public(s.loginForm)))
	mux.Handle("POST /login", same.Handler(s.public(s.login)))
	mux.Handle("GET /static/", cached(http.FileServerFS(files)))
	return headers(mux)
}

// headers sets what holds for every answer: no script, nothing from elsewhere,
// no framing, no guessing of types, no storing.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// cached lets browsers keep the style sheet for a while.
func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=300")
		next.ServeHTTP(w, r)
	})
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// ready says whether a plan could be decided now. It gives no details: nobody
// is authenticated here.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := s.o.Record.Checkpoint(r.Context()); err != nil {
		s.o.Log.ErrorContext(r.Context(), "not ready", "error", err)
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "the record is not available: no plan can be decided", RetryAfter: time.Second}
	}
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

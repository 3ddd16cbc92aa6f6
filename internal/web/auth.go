package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"interlock/internal/identity"
)

// bearer returns who calls the API, within the rate of the credential.
func (s *Server) bearer(r *http.Request) (identity.Principal, error) {
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return identity.Principal{}, &Problem{Status: http.StatusUnauthorized, Detail: "expected Authorization: Bearer TOKEN", Challenge: true}
	}
	who, err := s.o.Tokens.Authenticate(r.Context(), strings.TrimSpace(secret))
	if err != nil {
		return identity.Principal{}, err
	}
	if wait := s.limits.wait(who.Token); wait > 0 {
		return identity.Principal{}, &Problem{Status: http.StatusTooManyRequests, Detail: "too many requests with this token", RetryAfter: wait}
	}
	return who, nil
}

// A limiter keeps one agent's flood from everybody else (C44).
type limiter struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu   sync.Mutex
	each map[string]*rate.Limiter // by token id: as many as there are tokens
}

func newLimiter(r rate.Limit, burst int, now func() time.Time) *limiter {
	return &limiter{rate: r, burst: burst, now: now, each: map[string]*rate.Limiter{}}
}

// wait returns zero if the request may pass, else how long to wait.
func (l *limiter) wait(key string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	lim := l.each[key]
	if lim == nil {
		lim = rate.NewLimiter(l.rate, l.burst)
		l.each[key] = lim
	}
	now := l.now()
	res := lim.ReserveN(now, 1)
	if d := res.DelayFrom(now); d > 0 {
		res.CancelAt(now)
		return d
	}
	return 0
}

// How long a reviewer stays logged in, and how many can be.
const (
	sessionTTL  = 8 * time.Hour
	sessionIdle = time.Hour
	maxSessions = 1000
)

const cookieName = "interlock_session"

// A session is one reviewer logged in to the pages. It is kept in memory: a
// restart logs everybody out.
type session struct {
	who   identity.Principal
	csrf  string // must come back with every form
	began time.Time
	seen  time.Time
}

// sessions are keyed by the SHA-256 of the cookie, so that neither memory nor
// the time of a look-up gives the cookie away.
type sessions struct {
	rand io.Reader
	now  func() time.Time

	mu   sync.Mutex
	open map[[sha256.Size]byte]session
}

func newSessions(rand io.Reader, now func() time.Time) *sessions {
	return &sessions{rand: rand, now: now, open: map[[sha256.Size]byte]session{}}
}

func (ss *sessions) secret() (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(ss.rand, b[:]); err != nil {
		return "", fmt.Errorf("beginning a session: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}

// begin returns the cookie of a new session.
func (ss *sessions) begin(who identity.Principal) (string, error) {
	cookie, err := ss.secret()
	if err != nil {
		return "", err
	}
	csrf, err := ss.secret()
	if err != nil {
		return "", err
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	now := ss.now()
	ss.sweep(now)
	if len(ss.open) >= maxSessions {
		return "", &Problem{Status: http.StatusServiceUnavailable, Detail: "too many people are logged in", RetryAfter: time.Minute}
	}
	ss.open[sha256.Sum256([]byte(cookie))] = session{who: who, csrf: csrf, began: now, seen: now}
	return cookie, nil
}

func (ss *sessions) sweep(now time.Time) {
	for k, s := range ss.open {
		if s.over(now) {
			delete(ss.open, k)
		}
	}
}

func (s session) over(now time.Time) bool {
	return now.Sub(s.began) >= sessionTTL || now.Sub(s.seen) >= sessionIdle
}

func (ss *sessions) get(cookie string) (session, bool) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	key := sha256.Sum256([]byte(cookie))
	s, ok := ss.open[key]
	now := ss.now()
	if !ok || s.over(now) {
		delete(ss.open, key)
		return session{}, false
	}
	s.seen = now
	ss.open[key] = s
	return s, true
}

func (ss *sessions) end(cookie string) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	delete(ss.open, sha256.Sum256([]byte(cookie)))
}

// session returns the reviewer behind a request; ok is false for somebody who
// has to log in. A token that was revoked in the meantime ends the session.
func (s *Server) session(r *http.Request) (sess session, ok bool, err error) {
	var cookie string
	for _, c := range r.CookiesNamed(cookieName) {
		cookie = c.Value
	}
	if sess, ok = s.sessions.get(cookie); !ok {
		return session{}, false, nil
	}
	err = s.o.Tokens.InForce(r.Context(), sess.who.Token)
	if err == nil {
		return sess, true, nil
	}
	s.sessions.end(cookie)
	if errors.Is(err, identity.ErrUnknown) {
		return session{}, false, nil
	}
	return session{}, false, err
}

// checkForm refuses a form that this session did not get from us.
func (s *Server) checkForm(r *http.Request, sess session) error {
	if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("csrf")), []byte(sess.csrf)) != 1 {
		return problem(http.StatusForbidden, "the form is not one of this session: go back, reload the page and try again")
	}
	return nil
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where the pages are reached over https; on loopback they are not
		Name: cookieName, Value: value, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.o.SecurePages || r.TLS != nil,
	})
}

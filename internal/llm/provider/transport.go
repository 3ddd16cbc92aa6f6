package provider

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"interlock/internal/llm"
)

// Bounds of the retries.
const (
	attempts   = 5
	firstDelay = 500 * time.Millisecond
	maxDelay   = 20 * time.Second
	maxBody    = 16 << 20
)

// A transport sends a request again after 429, 5xx and broken connections,
// with backoff and the provider's Retry-After, as long as the caller's
// deadline leaves room. The SDKs' own retries are off: this is one rule for
// all.
type transport struct {
	base    http.RoundTripper
	clock   Clock
	breaker *breaker
}

// RoundTrip implements http.RoundTripper. The whole answer is read before it
// returns, so that a connection that breaks in the middle is a failure here
// and not a shorter answer later.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	ctx := req.Context()
	for n := 0; ; n++ {
		if !t.breaker.allows() {
			return nil, llm.ErrUnavailable
		}
		resp, err := t.once(req, body)
		failed := err != nil || retryable(resp.StatusCode)
		if ctx.Err() != nil {
			t.breaker.cancelled()
			return nil, ctx.Err()
		}
		t.breaker.report(!failed)
		if !failed {
			return resp, nil
		}
		delay := t.delay(n, resp)
		if n+1 >= attempts || !t.fits(ctx, delay) {
			return resp, err
		}
		if err := t.clock.Wait(ctx, delay); err != nil {
			return nil, err
		}
	}
}

func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer func() { _ = req.Body.Close() }() // only read from
	b, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	return b, nil
}

// once sends the request and reads the whole answer.
func (t *transport) once(req *http.Request, body []byte) (*http.Response, error) {
	r := req.Clone(req.Context())
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("the answer broke off: %w", err)
	}
	if len(data) > maxBody {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxBody)
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	resp.ContentLength = int64(len(data))
	return resp, nil
}

func retryable(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= http.StatusInternalServerError
}

// delay is the provider's wish, else exponential with jitter.
func (t *transport) delay(n int, resp *http.Response) time.Duration {
	if resp != nil {
		if d, ok := retryAfter(resp.Header.Get("Retry-After"), t.clock.Now()); ok {
			return d
		}
	}
	d := min(firstDelay<<n, maxDelay)
	return d/2 + rand.N(d/2+1)
}

// retryAfter reads seconds or a date.
func retryAfter(s string, now time.Time) (time.Duration, bool) {
	if secs, err := strconv.ParseFloat(s, 64); err == nil && secs >= 0 && secs < 1e6 {
		return time.Duration(secs * float64(time.Second)), true
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// fits reports whether a wait ends before the deadline: waiting in vain would
// only turn the provider's message into a timeout.
func (t *transport) fits(ctx context.Context, delay time.Duration) bool {
	at, ok := ctx.Deadline()
	return !ok || t.clock.Now().Add(delay).Before(at)
}

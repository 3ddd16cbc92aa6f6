package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// hopTo serves a handler and returns a client that goes there through a Hop.
func hopTo(t *testing.T, h http.HandlerFunc) (c *http.Client, addr string, dials *atomic.Int32, s *httptest.Server) {
	t.Helper()
	s = httptest.NewServer(h)
	t.Cleanup(s.Close)
	dials = &atomic.Int32{}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	hop := &Hop{Dial: dial, Else: &http.Transport{DialContext: dial}}
	t.Cleanup(hop.CloseIdleConnections)
	return &http.Client{Transport: hop}, s.URL, dials, s
}

func post(t *testing.T, c *http.Client, addr, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addr, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(got)
}

func TestHopKeepsItsConnection(t *testing.T) {
	t.Parallel()
	c, addr, dials, s := hopTo(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) == "hint" {
			w.WriteHeader(http.StatusEarlyHints)
		}
		if string(body) == "nothing" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		_, _ = w.Write(append(body, strings.Repeat("x", 100)...))
		_ = http.NewResponseController(w).Flush() // chunked, as a stream of events is
	})
	for _, body := range []string{"a", "hint", "nothing", "", strings.Repeat("b", 20000)} {
		want, status := body+strings.Repeat("x", 100), http.StatusOK
		if body == "nothing" {
			want, status = "", http.StatusAccepted
		}
		if code, got := post(t, c, addr, body); code != status || got != want {
			t.Errorf("%.10q: status %d, %d bytes, want %d and %d", body, code, len(got), status, len(want))
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	s.CloseClientConnections() // an upstream that ends an idle connection
	if code, _ := post(t, c, addr, "a"); code != http.StatusOK {
		t.Errorf("after the upstream closed the connection: status %d", code)
	}
}

// TestC19_HopSendsOnce: a request of which a byte has gone out is never sent
// again, and one that could not be sent says so.
func TestC19_HopSendsOnce(t *testing.T) {
	t.Parallel()
	var seen atomic.Int32
	c, addr, _, s := hopTo(t, func(w http.ResponseWriter, r *http.Request) {
		if _, _ = io.Copy(io.Discard, r.Body); seen.Add(1) == 1 {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close() // the server dies in the middle of the call
		}
	})
	post(t, c, addr, "first")
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, addr, strings.NewReader("second"))
	if resp, err := c.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Error("a broken answer is no answer")
	}
	if n := seen.Load(); n != 2 {
		t.Errorf("the server saw %d requests, want 2", n)
	}
	s.Close()
	req, _ = http.NewRequestWithContext(t.Context(), http.MethodPost, addr, strings.NewReader("third"))
	resp, err := c.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "dial" {
		t.Errorf("error %v: expected one of dialling", err)
	}
}

func TestHopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	c, addr, _, _ := hopTo(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-free
	})
	defer close(free)
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, addr, strings.NewReader("a"))
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	cancel()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the body of a cancelled request has an end")
	}
}

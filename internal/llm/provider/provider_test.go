package provider_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/llm"
	"interlock/internal/llm/llmtest"
	"interlock/internal/llm/provider"
)

const key = "sk-very-secret-0123456789"

var kinds = []string{provider.OpenAI, provider.Anthropic, provider.Gemini}

// quick is a clock on which nobody waits; it notes the waits.
type quick struct {
	at    time.Time
	waits []time.Duration
}

func (q *quick) clock() provider.Clock {
	q.at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return provider.Clock{
		Now: func() time.Time { return q.at },
		Wait: func(ctx context.Context, d time.Duration) error {
			q.waits = append(q.waits, d)
			q.at = q.at.Add(d)
			return ctx.Err()
		},
	}
}

func client(t *testing.T, kind string, s *llmtest.Server, q *quick) llm.Model {
	t.Helper()
	temp := 0.0
	m, err := provider.NewPool(http.DefaultTransport, q.clock()).New(t.Context(), provider.Config{
		Name: "m", Kind: kind, BaseURL: s.URL, Model: "mock", Key: provider.NewSecret(key), Temperature: &temp,
		Price: provider.Price{Input: 10, Output: 50},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var request = llm.Request{System: "sys", Prompt: "prompt", Schema: []byte(`{"type":"object","additionalProperties":false,"required":[],"properties":{}}`)}

func TestContract(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			llmtest.Contract(t, func(t *testing.T, text string) llm.Model {
				return client(t, kind, llmtest.NewServer(t, llmtest.Turn{Text: text}), &quick{})
			})
		})
	}
}

func each(t *testing.T, f func(t *testing.T, kind string)) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f(t, kind)
		})
	}
}

func TestReplySaysWhatItCost(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		got, err := client(t, kind, llmtest.NewServer(t, llmtest.Turn{Text: "x"}), &quick{}).Complete(t.Context(), request)
		if err != nil || got.InputTokens != 100 || got.OutputTokens != 20 || got.Model != "mock-"+kind+"-2026" {
			t.Errorf("got %+v, %v", got, err)
		}
		if want := (10.0*100 + 50*20) / 1e6; got.Cost != want {
			t.Errorf("cost %g, want %g", got.Cost, want)
		}
	})
}

func TestStops(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		for stop, want := range map[string]llm.Stop{"": llm.StopDone, "length": llm.StopLength, "refused": llm.StopRefused, "odd": llm.StopUnknown} {
			got, err := client(t, kind, llmtest.NewServer(t, llmtest.Turn{Text: "x", Stop: stop}), &quick{}).Complete(t.Context(), request)
			if err != nil || got.Stop != want {
				t.Errorf("%q: got %v, %v, want %v", stop, got.Stop, err, want)
			}
		}
	})
}

func TestC13_RefusedParameterIsLeftOutAndRemembered(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		schema := map[string]string{provider.OpenAI: "response_format", provider.Anthropic: "output_config", provider.Gemini: "responseJsonSchema"}[kind]
		s := llmtest.NewServer(t, llmtest.Turn{Text: "a", Refuses: "temperature"}, llmtest.Turn{Text: "b", Refuses: schema}, llmtest.Turn{Text: "c"})
		m := client(t, kind, s, &quick{})
		for _, want := range []string{"a", "b", "c"} {
			if got, err := m.Complete(t.Context(), request); err != nil || got.Text != want {
				t.Fatalf("got %q, %v, want %q", got.Text, err, want)
			}
		}
		if n := len(s.Requests()); n != 5 {
			t.Errorf("%d requests, want 5: one more for each refused parameter, once", n)
		}
	})
}

func TestC13_OlderServersKnowMaxTokensOnly(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Turn{Text: "a", Refuses: "max_completion_tokens"})
	if got, err := client(t, provider.OpenAI, s, &quick{}).Complete(t.Context(), request); err != nil || got.Text != "a" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if last := s.Requests()[1]; last["max_tokens"] == nil {
		t.Errorf("max_tokens is not sent: %v", last)
	}
}

func TestC13_RetriesWithBackoffInsideTheDeadline(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		q := &quick{}
		s := llmtest.NewServer(t,
			llmtest.Turn{Status: 429, Message: "slow down", Header: map[string]string{"Retry-After": "7"}},
			llmtest.Turn{Status: 503}, llmtest.Turn{Text: "x", Cut: true}, llmtest.Turn{Text: "ok"})
		got, err := client(t, kind, s, q).Complete(t.Context(), request)
		if err != nil || got.Text != "ok" {
			t.Fatalf("got %+v, %v", got, err)
		}
		if len(q.waits) != 3 || q.waits[0] != 7*time.Second {
			t.Errorf("waits %v: want the 7 s that the provider asked for, and two more", q.waits)
		}
	})
}

func TestC13_NoWaitBeyondTheDeadline(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		q := &quick{}
		s := llmtest.NewServer(t, llmtest.Turn{Status: 429, Message: "slow down", Header: map[string]string{"Retry-After": "3600"}})
		m := client(t, kind, s, q)
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Minute))
		defer cancel()
		q.at = time.Now()
		_, err := m.Complete(ctx, request)
		if err == nil || !strings.Contains(err.Error(), "429") || len(q.waits) != 0 {
			t.Errorf("got %v after waits %v: want the provider's message at once", err, q.waits)
		}
	})
}

func TestC13_BreakerOpensAndCloses(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		q := &quick{}
		turns := make([]llmtest.Turn, 6)
		for i := range turns {
			turns[i] = llmtest.Turn{Status: 500}
		}
		s := llmtest.NewServer(t, append(turns, llmtest.Turn{Text: "ok"})...)
		m := client(t, kind, s, q)
		for range 2 {
			if _, err := m.Complete(t.Context(), request); err == nil {
				t.Fatal("no error from a broken provider")
			}
		}
		before := len(s.Requests())
		if _, err := m.Complete(t.Context(), request); !errors.Is(err, llm.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
		if n := len(s.Requests()); n != before {
			t.Errorf("a request was sent through an open breaker")
		}
		q.at = q.at.Add(time.Minute)
		if got, err := m.Complete(t.Context(), request); err != nil || got.Text != "ok" {
			t.Errorf("after the pause: %+v, %v", got, err)
		}
	})
}

func TestTooLongIsRecognised(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		for _, msg := range []string{
			"This model's maximum context length is 8192 tokens.", "prompt is too long: 250000 tokens > 200000 maximum",
			"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "the request exceeds the available context size",
		} {
			s := llmtest.NewServer(t, llmtest.Turn{Status: 400, Message: msg})
			if got, err := client(t, kind, s, &quick{}).Complete(t.Context(), request); err != nil || got.Stop != llm.StopTooLong {
				t.Errorf("%q: got %+v, %v", msg, got, err)
			}
		}
	})
}

func TestHangEndsWithTheContext(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		m := client(t, kind, llmtest.NewServer(t, llmtest.Turn{Hang: true}), &quick{})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := m.Complete(ctx, request); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestC28_KeysNeverShow(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		s := llmtest.NewServer(t, llmtest.Turn{Status: 401, Message: "Incorrect API key provided: " + key})
		_, err := client(t, kind, s, &quick{}).Complete(t.Context(), request)
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), key) || !strings.Contains(err.Error(), "401") {
			t.Errorf("got %v", err)
		}
		found := false
		for _, h := range s.Headers() {
			found = found || strings.Contains(fmt.Sprint(h), key)
		}
		if !found {
			t.Error("the key was not sent at all: the test proves nothing")
		}
	})
	secret := provider.NewSecret(key)
	text, err := secret.MarshalText()
	shown := fmt.Sprintf("%v %+v %#v %s %q %x %d %s %v", secret, secret, secret, secret, secret, secret, secret, text, provider.Config{Key: secret})
	if err != nil || strings.Contains(shown, key) || strings.Contains(shown, "76657279") {
		t.Errorf("the key shows: %s", shown)
	}
}

func TestC28_KeysComeFromEnvironmentOrFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(" "+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(n string) string { return map[string]string{"K": key}[n] }
	for _, src := range [][2]string{{"K", ""}, {"", file}} {
		if s, err := provider.KeyFrom(getenv, src[0], src[1]); err != nil || !s.Set() {
			t.Errorf("%v: %v", src, err)
		}
	}
	if _, err := provider.KeyFrom(getenv, "MISSING", ""); err == nil || !strings.Contains(err.Error(), "MISSING") {
		t.Errorf("got %v", err)
	}
	if _, err := provider.KeyFrom(getenv, "", file+".no"); err == nil {
		t.Error("no error for a missing file")
	}
}

func TestBadConfigurations(t *testing.T) {
	t.Parallel()
	pool := provider.NewPool(http.DefaultTransport, (&quick{}).clock())
	for _, c := range []provider.Config{
		{Name: "m", Kind: "other", Model: "x", BaseURL: "https://h"},
		{Name: "", Kind: provider.OpenAI, Model: "x"},
		{Name: "m", Kind: provider.OpenAI},
		{Name: "m", Kind: provider.OpenAI, Model: "x", BaseURL: "ftp://h"},
		{Name: "m", Kind: provider.OpenAI, Model: "x", BaseURL: "https://user:pw@h"},
		{Name: "m", Kind: provider.Gemini, Model: "x"},
	} {
		if _, err := pool.New(t.Context(), c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

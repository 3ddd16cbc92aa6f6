package llmtest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"interlock/internal/llm"
)

// Contract is what every llm.Model must keep. make gives a model that answers
// every request with text.
func Contract(t *testing.T, make func(t *testing.T, text string) llm.Model) {
	t.Helper()
	req := llm.Request{System: "be brief", Prompt: "say it", Schema: []byte(`{"type":"object","additionalProperties":false,"required":[],"properties":{}}`)}
	t.Run("answers whole", func(t *testing.T) {
		t.Parallel()
		m := make(t, `{"a":"ä \u0000"}`)
		if m.Name() == "" {
			t.Error("the model has no name")
		}
		got, err := m.Complete(t.Context(), req)
		if err != nil || got.Stop != llm.StopDone || got.Text != `{"a":"ä \u0000"}` {
			t.Errorf("got %+v, %v", got, err)
		}
		if got.Model == "" {
			t.Error("the reply does not say which model and version answered")
		}
	})
	t.Run("honours its context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := make(t, "x").Complete(ctx, req); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
	t.Run("is safe for concurrent use", func(t *testing.T) {
		t.Parallel()
		m := make(t, "x")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := m.Complete(t.Context(), req); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
	t.Run("answers an empty text as such", func(t *testing.T) {
		t.Parallel()
		got, err := make(t, "").Complete(t.Context(), req)
		if err != nil || got.Text != "" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

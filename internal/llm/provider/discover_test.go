package provider_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"interlock/internal/llm/provider"
)

func TestC37_DiscoverFindsKeysAndLocalServers(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "" {
			t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
		}
		// The test reads what arrives.
		_, _ = w.Write([]byte(`{"data":[{"id":"llama3.1:8b"},{"id":"nomic-embed-text"},{"id":"bad\nname: evil"},{"id":"qwen/qwen3:4b"}]}`))
	}))
	defer s.Close()
	env := map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "XAI_API_KEY": " "}
	got := provider.Discover(t.Context(), func(n string) string { return env[n] }, http.DefaultTransport,
		[]provider.LocalServer{{Name: "near", Base: s.URL + "/v1/"}, {Name: "absent", Base: "http://127.0.0.1:1/v1/"}})
	want := []struct{ name, family, tier string }{
		{"openai", "openai", provider.Heavy},
		{"anthropic", "anthropic", provider.Heavy},
		{"openai-light", "openai", provider.Light},
		{"anthropic-light", "anthropic", provider.Light},
		{"near-llama3.1-8b", "llama", provider.Local},
		{"near-qwen-qwen3-4b", "qwen", provider.Local},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, w := range want {
		if got[i].Name != w.name || got[i].Family != w.family || got[i].Tier != w.tier || got[i].Model == "" {
			t.Errorf("%d: got %+v, want %+v", i, got[i], w)
		}
	}
}

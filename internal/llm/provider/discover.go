package provider

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// The tiers of models.
const (
	Heavy = "heavy" // reasons at length
	Light = "light" // answers fast and cheaply
	Local = "local" // on this machine
)

// A Found is a model that could judge. Finding it configures nothing: a person
// does (C37).
type Found struct {
	Name    string // for the configuration
	Kind    string
	BaseURL string // "" the vendor's own
	Model   string
	KeyEnv  string // environment variable that holds the key; "" none needed
	Family  string
	Tier    string
}

// A vendor is where keys of hosted models are looked for. Model names are the
// newest that this version knows.
type vendor struct {
	env                       []string
	kind, base, family, heavy string
	light                     string
}

func vendors() []vendor {
	return []vendor{
		{[]string{"OPENAI_API_KEY"}, OpenAI, "", "openai", "gpt-6.1-sol", "gpt-5.4-mini"},
		{[]string{"ANTHROPIC_API_KEY"}, Anthropic, "", "anthropic", "claude-opus-5-5", "claude-haiku-5-5"},
		{[]string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Gemini, "", "google", "gemini-3.1-pro-preview", "gemini-3.8-flash"},
		{[]string{"XAI_API_KEY"}, OpenAI, "https://api.x.ai/v1/", "xai", "grok-4", "grok-4-fast"},
	}
}

// A LocalServer is where servers of local models listen by default.
type LocalServer struct{ Name, Base string }

// LocalServers lists the usual places on this machine.
func LocalServers() []LocalServer {
	return []LocalServer{
		{"ollama", "http://127.0.0.1:11434/v1/"},
		{"lmstudio", "http://127.0.0.1:1234/v1/"},
		{"vllm", "http://127.0.0.1:8000/v1/"},
		{"llamacpp", "http://127.0.0.1:8080/v1/"},
	}
}

// Discover looks for keys in the environment and asks the local servers for
// their models. No key is sent anywhere, and nothing leaves the machine. The
// order is that of a panel: different vendors first, heavy before light,
// local models last.
func Discover(ctx context.Context, getenv func(string) string, base http.RoundTripper, servers []LocalServer) []Found {
	var heavy, light []Found
	for _, v := range vendors() {
		i := slices.IndexFunc(v.env, func(n string) bool { return strings.TrimSpace(getenv(n)) != "" })
		if i < 0 {
			continue
		}
		f := Found{Kind: v.kind, BaseURL: v.base, KeyEnv: v.env[i], Family: v.family}
		f.Name, f.Model, f.Tier = v.family, v.heavy, Heavy
		heavy = append(heavy, f)
		f.Name, f.Model, f.Tier = v.family+"-light", v.light, Light
		light = append(light, f)
	}
	return slices.Concat(heavy, light, local(ctx, base, servers))
}

// probeTime is how long a local server is waited for.
const probeTime = 700 * time.Millisecond

// local asks all servers at once.
func local(ctx context.Context, base http.RoundTripper, servers []LocalServer) []Found {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	found := make([][]Found, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { found[i] = probe(ctx, base, s) })
	}
	wg.Wait()
	return slices.Concat(found...)
}

// plainName is what a model's name may look like: a server on this machine is
// not trusted to write into a configuration.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$`)

// maxLocal bounds how many models of one server are listed.
const maxLocal = 8

func probe(ctx context.Context, base http.RoundTripper, s LocalServer) []Found {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Base+"models", http.NoBody)
	if err != nil {
		return nil
	}
	resp, err := base.RoundTrip(req)
	if err != nil {
		return nil // nobody there
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	const most = 1 << 20
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, most)).Decode(&list) != nil {
		return nil
	}
	var out []Found
	for _, m := range list.Data {
		if len(out) == maxLocal || !plainName.MatchString(m.ID) || strings.Contains(strings.ToLower(m.ID), "embed") {
			continue
		}
		family, _, _ := strings.Cut(m.ID[strings.LastIndexByte(m.ID, '/')+1:], ":")
		out = append(out, Found{
			Name: s.Name + "-" + strings.Map(nameRune, m.ID), Kind: OpenAI, BaseURL: s.Base, Model: m.ID, Family: strings.ToLower(leadingLetters(family)), Tier: Local,
		})
	}
	return out
}

func nameRune(r rune) rune {
	if r == '/' || r == ':' || r == '@' {
		return '-'
	}
	return r
}

// leadingLetters gives the family of a name such as llama3.1.
func leadingLetters(s string) string {
	i := strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if i <= 0 {
		return s
	}
	return s[:i]
}

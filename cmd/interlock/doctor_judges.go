package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"interlock/internal/config"
	"interlock/internal/llm/provider"
)

// examineJudges shows who judges, whether they can be made, and which models
// lie about unused: what is found is not trusted (C37).
func examineJudges(e *env, cfg *config.Config, say func(string, string, string, ...any)) {
	switch b, err := newBench(e.Ctx, e, cfg, panelFlags{}); {
	case err != nil:
		say("judges", "fail", "%v", err)
	case slices.Equal(cfg.Panel.Judges, []string{config.BuiltinPanel}):
		say("judges", "note", "the built-in panel of three; none of them is a language model, so most plans will go to a person")
	default:
		say("judges", "ok", "%s, chief %s, prompts %.12s; made, not asked", strings.Join(b.judges, ", "), cfg.Panel.Chief, b.prompts)
		if n := len(b.judges); n < cfg.Policy.MinPanel {
			say("judges", "note", "%d judges, %d are needed to accept without a person: every plan will go to one", n, cfg.Policy.MinPanel)
		}
		examineData(cfg, say)
	}
	for _, f := range provider.Discover(e.Ctx, e.Getenv, http.DefaultTransport, provider.LocalServers()) {
		where := "key in " + f.KeyEnv
		if f.KeyEnv == "" {
			where = f.BaseURL
		}
		if !slices.ContainsFunc(cfg.Models, func(m config.Model) bool { return m.KeyEnv == f.KeyEnv && (f.KeyEnv != "" || m.BaseURL == f.BaseURL) }) {
			say("found "+f.Name, "note", "%s, %s: does not judge until a person configures it", where, f.Tier)
		}
	}
}

// examineData says to whom plans go.
func examineData(cfg *config.Config, say func(string, string, string, ...any)) {
	var hosted []string
	for _, name := range slices.Concat(cfg.Panel.Judges, cfg.Panel.Spare, []string{cfg.Panel.Chief}) {
		if m := cfg.Model(name); m != nil && !m.Local && !slices.Contains(hosted, m.Vendor) {
			hosted = append(hosted, m.Vendor)
		}
	}
	if len(hosted) > 0 {
		say("data", "note", "%s", fmt.Sprintf("plans are sent to %s, people's names as pseudonyms unless the data policy says otherwise (C45)", strings.Join(hosted, ", ")))
	}
}

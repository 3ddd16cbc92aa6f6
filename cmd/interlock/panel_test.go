package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/config"
	"interlock/internal/decide"
	"interlock/internal/fact"
	"interlock/internal/judge"
	"interlock/internal/llm/llmtest"
	"interlock/internal/memory"
	"interlock/internal/plan"
	"interlock/internal/redact"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

const (
	acceptAnswer = `{"reasoning":"kept inside every limit","outcome":"accept","category":"none","risks":[{"hazard":"small spill","severity":0.1,"likelihood":0.005,"step":1,"cites":["R1"]}],"confidence":0.9}`
	rejectAnswer = `{"reasoning":"a guard is worked round","outcome":"reject","category":"safety","risks":[{"hazard":"crush","severity":0.9,"likelihood":0.6,"step":1,"cites":["R1"]}],"confidence":0.9}`
)

// bench of three models, one for each wire format, and a chief.
func liveConfig(t *testing.T, turns [3]llmtest.Turn, chief llmtest.Turn) (config string, servers []*llmtest.Server) {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("models:\n")
	for i, kind := range []string{"openai", "anthropic", "gemini"} {
		s := llmtest.NewServer(t, turns[i])
		servers = append(servers, s)
		fmt.Fprintf(&b, "  - {name: m%d, kind: %s, model: mock, base_url: %q, key_file: key, family: f%d, price_in: 1, price_out: 2, local: false}\n", i+1, kind, s.URL, i+1)
	}
	s := llmtest.NewServer(t, chief)
	servers = append(servers, s)
	fmt.Fprintf(&b, "  - {name: head, kind: openai, model: mock, base_url: %q, key_file: key}\n", s.URL)
	b.WriteString("panel: {judges: [m1, m2, m3], chief: head}\nmemory: false\n")
	fmt.Fprintf(&b, "store: %q\nsigning_key: %q\n", filepath.Join(dir, "store"), filepath.Join(dir, "sign"))
	config = filepath.Join(dir, "config.yaml")
	for name, text := range map[string]string{config: b.String(), filepath.Join(dir, "key"): "sk-test-secret-4711"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config, servers
}

func chiefTurn(outcome, category string) llmtest.Turn {
	return llmtest.Turn{Text: `{"reasoning":"r","category":"` + category + `","outcome":"` + outcome + `","weights":[{"opinion":"A","weight":1,"reason":"x"},{"opinion":"B","weight":1,"reason":"x"},{"opinion":"C","weight":1,"reason":"x"}]}`}
}

// decideOne runs check without a store: what is tested is who judges.
func decideOne(t *testing.T, code int, config string, more ...string) verdict.Wire {
	t.Helper()
	args := append([]string{"eval", "plans", "--suite", onePlanSuite(t), "--sites", batchDir + "sites.yaml", "--config", config, "--out", t.TempDir()}, more...)
	out := args[9]
	interlock(t, code, args...)
	lines, err := readLines[verdict.Wire](filepath.Join(out, "decisions.jsonl"))
	if err != nil || len(lines) != 1 {
		t.Fatalf("%d decisions, %v", len(lines), err)
	}
	return lines[0]
}

// benchDecides decides a plain plan by the configured panel and chief alone.
func benchDecides(t *testing.T, path string) verdict.Decision {
	t.Helper()
	e := &env{Ctx: t.Context(), Getenv: func(string) string { return "" }}
	cfg, err := config.Load(path, e.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBench(t.Context(), e, cfg, panelFlags{})
	if err != nil {
		t.Fatal(err)
	}
	in := judge.Input{Plan: &plan.Plan{Goal: "weigh", Steps: []string{"weigh 1 g"}}, Site: &site.Site{ID: "s", Rules: []site.Rule{{ID: "R1", Text: "x"}}}}
	ops := b.panel.Convene(t.Context(), in)
	ruling := b.chief.Rule(t.Context(), redact.Opinions(in.Plan, ops))
	return decide.Decide(verdict.Case{Policy: cfg.Policy, Required: []string{"c"}, Ran: []string{"c"}, Opinions: ops, Ruling: &ruling})
}

func onePlanSuite(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(batchDir + "suite.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	path := filepath.Join(t.TempDir(), "one.jsonl")
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestModelsJudgeThroughTheThreeFormats(t *testing.T) {
	t.Parallel()
	say := llmtest.Turn{Text: acceptAnswer}
	path, servers := liveConfig(t, [3]llmtest.Turn{say, say, say}, chiefTurn("accept", "none"))
	rec := t.TempDir()
	d := decideOne(t, exitOK, path, "--record", rec)
	if d.Outcome != verdict.Accept || len(d.Opinions) != 3 || d.Ruling == nil || d.Ruling.Chief != "mock-openai-2026" {
		t.Fatalf("got %s %v, %+v", d.Outcome, d.Reasons, d.Opinions)
	}
	if want := []string{"m1=mock-openai-2026", "m2=mock-anthropic-2026", "m3=mock-gemini-2026", "chief=mock-openai-2026"}; strings.Join(d.DecidedWith.Models, " ") != strings.Join(want, " ") {
		t.Errorf("decided with %v", d.DecidedWith.Models)
	}
	if d.DecidedWith.Prompts == "" || d.Opinions[0].Usage.Cost != (100.0+2*20)/1e6 {
		t.Errorf("prompts %q, usage %+v", d.DecidedWith.Prompts, d.Opinions[0].Usage)
	}
	for _, s := range servers {
		for _, body := range s.Requests() {
			if text := fmt.Sprint(body); strings.Contains(text, "sk-test-secret") || strings.Contains(text, "Pillai") {
				t.Error("C28, C45: a key or a person's name is in a prompt")
			}
		}
	}
	before := len(servers[0].Requests())
	again := decideOne(t, exitOK, path, "--replay", rec)
	if again.Outcome != verdict.Accept || len(servers[0].Requests()) != before {
		t.Errorf("replayed: %s %v after %d more requests", again.Outcome, again.Reasons, len(servers[0].Requests())-before)
	}
}

func TestC05_WhatModelsCanDoWrongNeverAccepts(t *testing.T) {
	t.Parallel()
	good := llmtest.Turn{Text: acceptAnswer}
	path, _ := liveConfig(t, [3]llmtest.Turn{good, good, good}, chiefTurn("accept", "none"))
	if d := benchDecides(t, path); d.Outcome != verdict.Accept {
		t.Fatalf("three good answers: %s %v", d.Outcome, d.Reasons)
	}
	for name, bad := range map[string]llmtest.Turn{
		"truncated":    {Text: acceptAnswer[:60], Stop: "length"},
		"length":       {Text: acceptAnswer, Stop: "length"},
		"refusal":      {Stop: "refused"},
		"odd reason":   {Text: acceptAnswer, Stop: "odd"},
		"empty":        {},
		"two objects":  {Text: acceptAnswer + acceptAnswer},
		"wrong case":   {Text: strings.Replace(acceptAnswer, `"accept"`, `"ACCEPT"`, 1)},
		"NaN":          {Text: strings.Replace(acceptAnswer, "0.1", "NaN", 1)},
		"not found":    {Status: 404, Message: "no such model"},
		"unauthorised": {Status: 401, Message: "bad key"},
		"no JSON":      {Raw: "<html>"},
		"rejects":      {Text: rejectAnswer},
	} {
		for at := range 3 {
			turns := [3]llmtest.Turn{good, good, good}
			turns[at] = bad
			path, _ := liveConfig(t, turns, chiefTurn("accept", "none"))
			if d := benchDecides(t, path); d.Outcome == verdict.Accept {
				t.Errorf("%s at judge %d: accepted", name, at+1)
			}
		}
	}
}

func TestC05_ChiefFailureEscalates(t *testing.T) {
	t.Parallel()
	good := llmtest.Turn{Text: acceptAnswer}
	for name, chief := range map[string]llmtest.Turn{"prose": {Text: "I accept."}, "refuses": {Stop: "refused"}, "error": {Status: 400, Message: "no"}, "rejects": chiefTurn("reject", "safety")} {
		path, _ := liveConfig(t, [3]llmtest.Turn{good, good, good}, chief)
		if d := benchDecides(t, path); d.Outcome != verdict.Escalate {
			t.Errorf("%s: %s", name, d.Outcome)
		}
	}
}

func TestC30_ModelsThatCannotBeMadeStopTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"missing key":   "models: [{name: a, kind: openai, model: m, key_env: NOT_SET}]\npanel: {judges: [a]}\n",
		"missing file":  "models: [{name: a, kind: openai, model: m, key_file: none}]\npanel: {judges: [a]}\n",
		"gemini no key": "models: [{name: a, kind: gemini, model: m}]\npanel: {judges: [a]}\n",
	} {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, log := interlock(t, exitInput, "eval", "plans", "--suite", onePlanSuite(t), "--sites", batchDir+"sites.yaml", "--config", path)
		if !strings.Contains(log, `model "a"`) {
			t.Errorf("%s: %s", name, log)
		}
	}
	path := filepath.Join(dir, "data.yaml")
	sites, err := filepath.Abs(batchDir + "sites.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("sites: "+sites+"\nmemory: false\ndata: {chem-sld: {vendors: [near]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, log := interlock(t, exitInput, "eval", "plans", "--suite", onePlanSuite(t), "--config", path)
	if !strings.Contains(log, `no site is called "chem-sld"`) {
		t.Errorf("a data policy for no site: %s", log)
	}
	_, log = interlock(t, exitInput, "eval", "plans", "--suite", onePlanSuite(t), "--sites", batchDir+"sites.yaml", "--panel", "ghost")
	if !strings.Contains(log, "ghost") {
		t.Errorf("an unknown judge: %s", log)
	}
}

func TestConfigInitAuto(t *testing.T) {
	t.Parallel()
	out, _ := interlock(t, exitOK, "config", "init")
	if !strings.Contains(out, "panel:") || strings.Contains(out, "# Found on this machine") {
		t.Errorf("got %s", out)
	}
}

// How unlike a plan is to what was accepted raises the first round; without a
// memory there is nothing to be unlike.
func TestNoveltyRaisesTheFirstRound(t *testing.T) {
	t.Parallel()
	say := llmtest.Turn{Text: acceptAnswer}
	path, _ := liveConfig(t, [3]llmtest.Turn{say, say, say}, chiefTurn("accept", "none"))
	e := &env{Ctx: t.Context(), Getenv: func(string) string { return "" }}
	cfg, err := config.Load(path, e.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBench(t.Context(), e, cfg, panelFlags{})
	if err != nil {
		t.Fatal(err)
	}
	in := judge.Input{Plan: &plan.Plan{Goal: "weigh", Steps: []string{"weigh 1 g"}}, Site: &site.Site{ID: "s"}, Facts: &fact.Set{Calls: []fact.Call{{Tool: "balance.weigh"}}}}
	first := b.panel.(*judge.Panel).Start
	plain := first(in)
	b.familiar = memory.NewFamiliar()
	unknown := first(in)
	b.familiar.Accepted("s", in.Facts)
	if again := first(in); plain >= unknown || again != plain {
		t.Errorf("first round of %d judges without memory, %d for a new plan, %d for one like an accepted one", plain, unknown, again)
	}
}

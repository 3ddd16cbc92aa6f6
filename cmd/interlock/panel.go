package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"interlock/internal/chief"
	"interlock/internal/config"
	"interlock/internal/judge"
	"interlock/internal/judge/builtin"
	"interlock/internal/llm"
	"interlock/internal/llm/cassette"
	"interlock/internal/llm/provider"
	"interlock/internal/memory"
	"interlock/internal/pipeline"
	"interlock/internal/prompt"
	"interlock/internal/verdict"
)

// panelFlags choose who judges, over the configuration.
type panelFlags struct {
	Panel    []string      `help:"Judges: names of configured models, or builtin." placeholder:"NAME,…"`
	Chief    string        `help:"Chief: a configured model, or builtin." placeholder:"NAME"`
	Depth    int           `help:"Judges of the first round: 1, 3, 5 or 7; without it the plan's risk decides." placeholder:"N"`
	Deadline time.Duration `help:"Time for one plan, judges and chief included." placeholder:"45s"`
	Budget   float64       `help:"The most that the opinions on one plan may cost." placeholder:"AMOUNT"`
	Record   string        `help:"Keep every model's answer in this folder." type:"path" placeholder:"DIR" xor:"cassette"`
	Replay   string        `help:"Take every model's answer from this folder; nothing is sent." type:"path" placeholder:"DIR" xor:"cassette"`
}

// apply puts the flags over a configuration.
func (f panelFlags) apply(cfg *config.Config) error {
	if len(f.Panel) > 0 {
		cfg.Panel.Judges = f.Panel
	}
	cfg.Panel.Chief = cmp.Or(f.Chief, cfg.Panel.Chief)
	cfg.Panel.Depth = cmp.Or(f.Depth, cfg.Panel.Depth)
	cfg.Panel.Budget = cmp.Or(f.Budget, cfg.Panel.Budget)
	cfg.Deadline = cmp.Or(f.Deadline, cfg.Deadline)
	if !slices.Contains([]int{0, 1, 3, 5, 7}, cfg.Panel.Depth) {
		return fmt.Errorf("depth %d of --depth or panel.depth: expected 1, 3, 5 or 7", cfg.Panel.Depth)
	}
	for _, name := range append(slices.Concat(cfg.Panel.Judges, cfg.Panel.Spare), cfg.Panel.Chief) {
		if name != config.BuiltinPanel && cfg.Model(name) == nil {
			return fmt.Errorf("no model is called %q: configured are %s", name, strings.Join(modelNames(cfg), ", "))
		}
	}
	return nil
}

func modelNames(cfg *config.Config) []string {
	names := []string{config.BuiltinPanel}
	for _, m := range cfg.Models {
		names = append(names, m.Name)
	}
	return names
}

// A bench is everybody who may judge, as the configuration says.
type bench struct {
	panel   pipeline.Panel
	chief   pipeline.Chief
	judges  []string // names, for decisions and reports
	prompts string   // digest, "" if no model is asked

	// familiar is what was accepted here before; nil without a memory.
	familiar *memory.Familiar
}

// novelty is how unlike a plan is to all that was accepted. Nothing to compare
// with, because nothing is remembered, is no sign of risk.
func (b *bench) novelty(in judge.Input) float64 {
	if b.familiar == nil {
		return 0
	}
	return b.familiar.Novelty(in.Site.ID, in.Facts)
}

// newBench makes panel and chief. Nothing is sent yet; a model that cannot be
// made stops the start (C30).
func newBench(ctx context.Context, e *env, cfg *config.Config, f panelFlags) (*bench, error) {
	b := &bench{chief: chief.Builtin{Bar: barOf(cfg.Policy)}}
	m := &modelMaker{env: e, config: cfg, flags: f, pool: provider.NewPool(http.DefaultTransport, provider.Clock{Now: time.Now, Wait: provider.Wait})}
	if cfg.Panel.Chief != config.BuiltinPanel {
		set, err := prompt.Load()
		if err != nil {
			return nil, err
		}
		model, err := m.model(ctx, cfg.Panel.Chief)
		if err != nil {
			return nil, err
		}
		order, err := f.order()
		if err != nil {
			return nil, err
		}
		b.chief, b.prompts = &chief.Model{Model: model, Prompts: set, Secret: runSecret(), Order: order}, set.Digest()
	}
	if slices.Equal(cfg.Panel.Judges, []string{config.BuiltinPanel}) {
		judges := builtin.Panel()
		for _, j := range judges {
			b.judges = append(b.judges, j.Name())
		}
		b.panel = builtin.Ensemble(judges)
		return b, nil
	}
	frame, err := newFrame(cfg, slices.Concat(cfg.Panel.Judges, cfg.Panel.Spare))
	if err != nil {
		return nil, err
	}
	b.prompts = frame.Prompts.Digest()
	p := &judge.Panel{
		Veto: builtin.Panel(), Budget: cfg.Panel.Budget, Now: time.Now,
		Depth: judge.Depth{Start: cfg.Panel.Depth, Min: cfg.Policy.MinPanel, Max: cfg.Panel.MaxDepth},
	}
	if cfg.Panel.Depth == 0 {
		p.Start = func(in judge.Input) int { return judge.StartSize(in, b.novelty(in), cfg.Policy.MinPanel) }
	}
	if p.Judges, err = m.judges(ctx, cfg.Panel.Judges, frame); err != nil {
		return nil, err
	}
	if p.Spare, err = m.judges(ctx, cfg.Panel.Spare, frame); err != nil {
		return nil, err
	}
	for _, j := range p.Judges {
		b.judges = append(b.judges, j.Name())
	}
	b.panel = p
	return b, nil
}

// order is the seed of the order in which the chief reads the opinions, where
// answers are recorded or replayed; else nil: each run has its own.
func (f panelFlags) order() ([]byte, error) {
	switch {
	case f.Record != "":
		return cassette.KeepSeed(f.Record, runSecret())
	case f.Replay != "":
		return cassette.Seed(f.Replay)
	default:
		return nil, nil
	}
}

func barOf(p verdict.Policy) chief.Bar {
	return chief.Bar{Product: p.RiskProduct, Severity: p.RiskSeverity, Likelihood: p.RiskLikelihood}
}

// newFrame makes the prompt that all judges get. Names are pseudonyms for all
// as soon as one of the judges is hosted.
func newFrame(cfg *config.Config, names []string) (*judge.Frame, error) {
	set, err := prompt.Load()
	if err != nil {
		return nil, err
	}
	hosted := slices.ContainsFunc(names, func(name string) bool {
		m := cfg.Model(name)
		return name != config.BuiltinPanel && (m == nil || !m.Local)
	})
	rules := func(string) []string { return cfg.Panel.Rules }
	privacy := func(site string) judge.DataPolicy { return dataPolicy(cfg, site) }
	return &judge.Frame{Prompts: set, Secret: runSecret(), Extra: rules, Hosted: hosted, Privacy: privacy}, nil
}

// dataPolicy is what may leave of a site's plans.
func dataPolicy(cfg *config.Config, siteID string) judge.DataPolicy {
	d := cfg.DataOf(siteID)
	return judge.DataPolicy{Vendors: d.Vendors, Regions: d.Regions, Pseudonyms: d.Pseudonyms, Private: d.Private, Local: d.LocalFields}
}

// chiefMayHear reports a chief that the site's data policy keeps out: what
// judges say about a plan is about the plan (C45).
func chiefMayHear(cfg *config.Config, siteID string) error {
	m := cfg.Model(cfg.Panel.Chief)
	if m == nil {
		return nil // built in: nothing leaves
	}
	if why := dataPolicy(cfg, siteID).Bars(judgeOptions(m)); why != "" {
		return fmt.Errorf("panel.chief %q: %s", m.Name, why)
	}
	return nil
}

// judgeOptions describe a configured model.
func judgeOptions(m *config.Model) judge.Options {
	return judge.Options{
		Name: m.Name, Family: m.Family, Vendor: cmp.Or(m.Vendor, m.Family), Region: m.Region, Hosted: !m.Local, ContextTokens: m.ContextTokens, Samples: m.Samples,
	}
}

// runSecret makes the secret of this run, from which the block marks follow.
func runSecret() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: crypto/rand aborts the program instead
	return b
}

// A modelMaker makes the models that the configuration names.
type modelMaker struct {
	env    *env
	config *config.Config
	flags  panelFlags
	pool   *provider.Pool
}

func (m *modelMaker) judges(ctx context.Context, names []string, frame *judge.Frame) ([]judge.Judge, error) {
	var out []judge.Judge
	for _, name := range names {
		if name == config.BuiltinPanel {
			out = append(out, builtin.Panel()...)
			continue
		}
		model, err := m.model(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, judge.FromModel(model, frame, judgeOptions(m.config.Model(name))))
	}
	return out, nil
}

func (m *modelMaker) model(ctx context.Context, name string) (llm.Model, error) {
	if m.flags.Replay != "" {
		return cassette.Replay(name, m.flags.Replay), nil
	}
	c := m.config.Model(name)
	if c == nil {
		return nil, fmt.Errorf("no model is called %q: configured are %s", name, strings.Join(modelNames(m.config), ", "))
	}
	key, err := provider.KeyFrom(m.env.Getenv, c.KeyEnv, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", name, err)
	}
	model, err := m.pool.New(ctx, provider.Config{
		Name: c.Name, Kind: c.Kind, BaseURL: c.BaseURL, Model: c.Model, Key: key, MaxTokens: c.MaxTokens, Temperature: c.Temperature,
		Effort: c.Effort, Price: provider.Price{Input: c.PriceIn, Output: c.PriceOut},
	})
	if err != nil {
		return nil, err
	}
	if m.flags.Record != "" {
		model = cassette.Record(model, m.flags.Record)
	}
	return model, nil
}

// addressesReader is the suspicion from which a judge's words are withheld from
// the chief. It lies above the gate for plans: a judge who describes an attack
// scores 0.1 to 0.7, an instruction itself about 1.
const addressesReader = 0.9

// suspicious reports whether what a judge wrote reads like an instruction to
// whoever reads it next: then the chief does not get it (C10).
func (s *stages) suspicious(text string) bool {
	return s.screen.Text(text).Sigma >= max(addressesReader, s.screen.Thresholds().TauW)
}

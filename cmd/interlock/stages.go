package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/check"
	"interlock/internal/check/injection"
	"interlock/internal/config"
	"interlock/internal/decide"
	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/knowledge/derive"
	"interlock/internal/knowledge/document"
	"interlock/internal/obligation"
	"interlock/internal/pipeline"
	"interlock/internal/rule"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// stages holds what all sites share: the screen, the graph and what is derived
// from it once.
type stages struct {
	config *config.Config
	screen *injection.Screen
	graph  *knowledge.Graph
	world  *derive.World
}

func newStages(e *env, cfg *config.Config) (*stages, error) {
	screen, err := newScreen(cfg)
	if err != nil {
		return nil, fmt.Errorf("injection screen: %w", err)
	}
	g, err := knowledge.Embedded()
	if err != nil {
		return nil, fmt.Errorf("knowledge graph: %w", err)
	}
	if g, err = siteDocuments(e, cfg, g, screen); err != nil {
		return nil, fmt.Errorf("the site's documents: %w", err)
	}
	w, err := derive.NewWorld(g)
	if err != nil {
		return nil, fmt.Errorf("knowledge graph: %w", err)
	}
	return &stages{config: cfg, screen: screen, graph: g, world: w}, nil
}

// site builds the stages of one installation.
func (s *stages) site(profile *site.Site, state func() site.State) (*pipeline.Site, error) {
	view, err := knowledge.Overlay(s.graph, profile)
	if err != nil {
		return nil, fmt.Errorf("knowledge graph: %w", err)
	}
	deriver := s.world.For(profile)
	rules, err := rule.Compile(profile, deriver.Linker())
	if err != nil {
		return nil, err
	}
	policy := s.config.Policy
	policy.DecisionVersion = decide.Version
	checks := append(check.Default(profile, s.config.Limits), s.screen)
	return &pipeline.Site{
		Profile: profile, State: state, Policy: policy, Checks: checks,
		Knowledge: &knower{deriver: deriver, rules: rules, graph: view},
		With: verdict.DecidedWith{
			Engine: version(), Policy: digest(policy), Site: profile.Digest,
			Checks: digest([]string{version(), s.screen.Digest()}), Graph: s.graph.Digest(),
		},
	}, nil
}

func digest(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "" // our own plain structs always encode
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// A knower is the knowledge stage of one site: facts, evidence, and the
// findings of graph and rules.
type knower struct {
	deriver *derive.Deriver
	rules   *rule.Set
	graph   *knowledge.Graph
}

// evidenceTokens bounds what every judge is given from the graph.
const evidenceTokens = 900

// Know implements pipeline.Knowledge.
func (k *knower) Know(in check.Input, found []verdict.Finding) (pipeline.Known, error) {
	facts := k.deriver.Facts(in.Plan, in.State, in.Now)
	k.deriver.Found(facts, found)
	findings := append(derive.Findings(facts), k.rules.Eval(facts, in.State, in.Now)...)
	findings = append(findings, document.Overridden(k.graph, named(facts), in.Now)...)
	findings = append(findings, obligation.Judge(in.Site, facts, in.State, in.Now)...)
	return pipeline.Known{Facts: facts, Findings: findings, Evidence: k.graph.Retrieve(seeds(k.graph, facts), evidenceTokens)}, nil
}

// named are the nodes of the things a plan names.
func named(f *fact.Set) []string {
	out := make([]string, 0, len(f.Entities))
	for _, e := range f.Entities {
		out = append(out, e.ID)
	}
	return out
}

// conceptWeight is what an idea that the plan speaks of counts beside a thing
// that it names.
const conceptWeight = 0.3

// concepts are the ideas that the plan's words stand for, unless denied.
func concepts(f *fact.Set) map[string]bool {
	out := map[string]bool{}
	for _, t := range f.Texts {
		for _, w := range t.Words {
			if w.Negated {
				continue
			}
			for _, tag := range w.Tags {
				out[tag] = true
			}
		}
	}
	return out
}

// seeds are the nodes a plan names. What hard facts rest on weighs more; a
// word of action less than a thing.
func seeds(g *knowledge.Graph, f *fact.Set) []knowledge.Seed {
	weight := map[string]float64{}
	for _, e := range f.Entities {
		w := 1.0
		if strings.HasPrefix(e.Kind, "verb") {
			w = 0.3
		}
		weight[e.ID] += w
	}
	for _, h := range f.Hard {
		for _, id := range h.Path {
			weight[id] += 2
		}
	}
	for tag := range concepts(f) {
		for _, i := range g.Concept(tag) {
			weight[g.ID(i)] += conceptWeight
		}
	}
	out := make([]knowledge.Seed, 0, len(weight))
	for id, w := range weight {
		if n, ok := g.NodeByID(id); ok {
			out = append(out, knowledge.Seed{Node: n, Weight: w})
		}
	}
	// A map has no order; retrieval must have one (C2).
	slices.SortFunc(out, func(a, b knowledge.Seed) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

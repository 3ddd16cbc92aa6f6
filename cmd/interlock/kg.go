package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/knowledge/derive"
	"interlock/internal/knowledge/ingest"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

type kgCmd struct {
	Build kgBuildCmd `cmd:"" help:"Build the graph from archived public sources."`
	Stats kgStatsCmd `cmd:"" help:"Count the graph."`
	Query kgQueryCmd `cmd:"" help:"Show what a text names, what follows from it, and the evidence judges would get."`
	Show  kgShowCmd  `cmd:"" help:"Show one node with its relations and sources."`
	Docs  kgDocsCmd  `cmd:"" help:"The site's own documents: list, add, diff, approve, remove, override."`
}

type kgBuildCmd struct {
	From      string `required:"" help:"Folder of the archives." type:"path" placeholder:"DIR"`
	Out       string `required:"" help:"Snapshot to write." type:"path" placeholder:"FILE"`
	KeepGoing bool   `help:"Leave out what is malformed, say so, and go on."`
}

func (c *kgBuildCmd) Run(e *env) error {
	left := 0
	start := time.Now()
	g, err := ingest.Build(e.Ctx, c.From, ingest.Options{
		KeepGoing: c.KeepGoing, Progress: buildProgress(e.Stderr),
		Report: func(err error) {
			left++
			fmt.Fprintln(e.Stderr, "interlock: left out:", err)
		},
	})
	if err != nil {
		return badInput(err)
	}
	data, err := g.Snapshot()
	if err != nil {
		return err
	}
	if err := writeWhole(c.Out, data); err != nil {
		return badInput(err)
	}
	fmt.Fprintf(e.Stdout, "%d nodes, %d edges, %d bytes, digest %s, %d sources left out, %s\n",
		g.Len(), g.EdgeCount(), len(data), g.Digest(), left, time.Since(start).Round(10*time.Millisecond))
	return nil
}

// writeWhole replaces a file at once: a reader sees the old or the new one.
func writeWhole(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".interlock-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

const barWidth = 30

// buildProgress draws a bar on a terminal and nothing elsewhere.
func buildProgress(w io.Writer) func(done, total int, source string) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func(done, total int, source string) {
		n := barWidth * done / max(total, 1)
		fmt.Fprintf(w, "\r[%s%s] %2d/%d %-20s", strings.Repeat("#", n), strings.Repeat(".", barWidth-n), done, total, source)
		if done == total {
			fmt.Fprintln(w)
		}
	}
}

// kgFlags say which graph is meant.
type kgFlags struct {
	Graph string `help:"Snapshot to use instead of the built-in one." type:"path" placeholder:"FILE"`
	Site  string `help:"Lay this site beside the graph." placeholder:"FILE|DIR[#ID]"`
	JSON  bool   `help:"One JSON object."`
}

// open returns the graph with the site laid beside it, the site, and the bytes
// of the snapshot.
func (f *kgFlags) open() (*knowledge.Graph, *site.Site, int, error) {
	g, size, err := f.base()
	if err != nil {
		return nil, nil, 0, badInput(err)
	}
	if f.Site == "" {
		return g, &site.Site{}, size, nil
	}
	s, err := oneSite(f.Site)
	if err != nil {
		return nil, nil, 0, badInput(err)
	}
	view, err := knowledge.Overlay(g, s)
	if err != nil {
		return nil, nil, 0, badInput(err)
	}
	return view, s, size, nil
}

func (f *kgFlags) base() (*knowledge.Graph, int, error) {
	if f.Graph == "" {
		g, err := knowledge.Embedded()
		return g, knowledge.EmbeddedSize(), err
	}
	data, err := os.ReadFile(f.Graph)
	if err != nil {
		return nil, 0, err
	}
	g, err := knowledge.Open(data)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", f.Graph, err)
	}
	return g, len(data), nil
}

// oneSite reads one profile: of several the one named after the #.
func oneSite(arg string) (*site.Site, error) {
	path, id := site.ParseRef(arg)
	set, err := site.Load(path)
	if err != nil {
		return nil, err
	}
	return set.Pick(id)
}

type kgStatsCmd struct{ kgFlags }

func (c *kgStatsCmd) Run(e *env) error {
	g, _, size, err := c.open()
	if err != nil {
		return err
	}
	s := g.Stats()
	s.Bytes = size
	if c.JSON {
		writeJSON(e.Stdout, s)
		return nil
	}
	w := e.Stdout
	fmt.Fprintf(w, "%-16s %10s %10s\n", "", "this graph", "the paper's")
	fmt.Fprintf(w, "%-16s %10d %10d\n", "nodes", s.Nodes, 7803)
	fmt.Fprintf(w, "%-16s %10d %10d\n", "edges", s.Edges, 28730)
	fmt.Fprintf(w, "%-16s %10.2f %10.2f\n", "average degree", s.AverageDegree, 7.36)
	fmt.Fprintf(w, "%-16s %10.1e %10.1e\n", "density", s.Density, 9.4e-4)
	fmt.Fprintf(w, "%d sources, %d names, %d numbers, %d derived edges, %d isolated nodes\n", s.Sources, s.Names, s.Numbers, s.Derived, s.Isolated)
	fmt.Fprintf(w, "%d components, the largest of %d nodes; %d bytes as a snapshot, %d in memory\n", s.Components, s.Largest, s.Bytes, s.Memory)
	fmt.Fprint(w, "degrees:")
	for _, q := range []string{"p10", "p25", "p50", "p75", "p90", "p99", "max"} {
		fmt.Fprintf(w, " %s %d", q, s.Quantiles[q])
	}
	fmt.Fprintln(w)
	for _, t := range []struct {
		title string
		m     map[string]int
	}{{"category", s.ByCategory}, {"kind", s.ByKind}, {"source (nodes)", s.BySource}, {"source (edges)", s.EdgesBySource}, {"relation", s.ByRelation}} {
		fmt.Fprintf(w, "\nby %s\n", t.title)
		for _, n := range knowledge.Ranked(t.m) {
			fmt.Fprintf(w, "  %7d  %s\n", n.N, n.Name)
		}
	}
	return nil
}

type kgQueryCmd struct {
	kgFlags
	Tokens int      `help:"Most tokens of evidence." default:"900"`
	Text   []string `arg:"" help:"A text, as a step of a plan."`
}

// kgAnswer is the contract's JSON of a query.
type kgAnswer struct {
	Entities []kgEntity   `json:"entities"`
	Facts    []kgFact     `json:"facts"`
	Evidence []kgEvidence `json:"evidence"`
	US       int64        `json:"us"` // facts and retrieval, in microseconds
}

type kgEntity struct {
	Text  string `json:"text"`
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

type kgFact struct {
	Rule      string   `json:"rule"`
	Level     string   `json:"level"`
	Path      []string `json:"path"`
	Statement string   `json:"statement"`
}

type kgEvidence struct {
	ID        string   `json:"id"`
	Score     float64  `json:"score"`
	Statement string   `json:"statement"`
	Source    string   `json:"source"`
	Category  string   `json:"category"`
	Path      []string `json:"path"`
}

func (c *kgQueryCmd) Run(e *env) error {
	g, s, _, err := c.open()
	if err != nil {
		return err
	}
	base := g
	if base.Base() != nil {
		base = base.Base()
	}
	world, err := derive.NewWorld(base)
	if err != nil {
		return err
	}
	deriver := world.For(s)
	text := strings.Join(c.Text, " ")
	start := time.Now()
	facts := deriver.Facts(&plan.Plan{ID: "query", Site: s.ID, Steps: []string{text}}, site.State{}, start)
	hits := g.Search(seeds(g, facts), c.Tokens)
	answer := kgAnswer{Entities: []kgEntity{}, Facts: []kgFact{}, Evidence: []kgEvidence{}, US: time.Since(start).Microseconds()}
	answer.fill(g, facts, hits)
	if c.JSON {
		writeJSON(e.Stdout, answer)
		return nil
	}
	answer.print(e.Stdout)
	return nil
}

func (a *kgAnswer) fill(g *knowledge.Graph, facts *fact.Set, hits []knowledge.Hit) {
	for _, x := range facts.Entities {
		a.Entities = append(a.Entities, kgEntity{x.Text, x.ID, x.Kind, x.Name, x.At.Start, x.At.End})
	}
	for _, h := range facts.Hard {
		a.Facts = append(a.Facts, kgFact{h.Rule, h.Level.Norm().String(), h.Path, h.Statement})
	}
	for _, h := range hits {
		var path []string
		for _, i := range h.Path {
			path = append(path, g.ID(i))
		}
		a.Evidence = append(a.Evidence, kgEvidence{h.ID, h.Score, h.Statement, h.Source, h.Category, path})
	}
}

func (a *kgAnswer) print(w io.Writer) {
	fmt.Fprintln(w, "named:")
	for _, x := range a.Entities {
		fmt.Fprintf(w, "  %-28q %s %s (%s)\n", x.Text, x.Kind, x.Name, x.ID)
	}
	fmt.Fprintln(w, "follows:")
	for _, x := range a.Facts {
		fmt.Fprintf(w, "  %s %s: %s\n    by %s\n", x.Level, x.Rule, x.Statement, strings.Join(x.Path, " > "))
	}
	fmt.Fprintln(w, "evidence:")
	for i, x := range a.Evidence {
		fmt.Fprintf(w, "  %2d. %.4f [%s] %s\n      (%s; %s)\n", i+1, x.Score, x.ID, x.Statement, x.Source, strings.Join(x.Path, " > "))
	}
	fmt.Fprintf(w, "%d µs\n", a.US)
}

type kgShowCmd struct {
	kgFlags
	ID string `arg:"" help:"Identifier of a node, with or without its prefix."`
}

// kgNode is what "kg show --json" prints.
type kgNode struct {
	ID       string             `json:"id"`
	Kind     string             `json:"kind"`
	Name     string             `json:"name"`
	Category string             `json:"category"`
	Source   string             `json:"source"`
	Names    []string           `json:"names"`
	Numbers  []kgNumber         `json:"numbers"`
	Edges    []kgEdge           `json:"edges"`
	Says     []verdict.Evidence `json:"statements"`
}

type kgNumber struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
}

type kgEdge struct {
	Relation string `json:"relation"`
	Reverse  bool   `json:"reverse,omitempty"`
	ID       string `json:"id"`
	Name     string `json:"name"`
	Source   string `json:"source"`
	Derived  bool   `json:"derived,omitempty"`
}

func (c *kgShowCmd) Run(e *env) error {
	g, _, _, err := c.open()
	if err != nil {
		return err
	}
	i, ok := g.Find(c.ID)
	if !ok {
		if found := g.Lookup(c.ID); len(found) > 0 {
			i, ok = found[0], true
		}
	}
	if !ok {
		return badInput(fmt.Errorf("the graph has no node %q, and nothing of that name", c.ID))
	}
	n := describe(g, i)
	if c.JSON {
		writeJSON(e.Stdout, n)
		return nil
	}
	n.print(e.Stdout)
	return nil
}

func describe(g *knowledge.Graph, i int32) kgNode {
	node := g.Node(i)
	n := kgNode{
		ID: node.ID, Kind: node.Kind, Name: node.Name, Category: node.Category.String(), Source: node.Source,
		Names: []string{}, Numbers: []kgNumber{}, Edges: []kgEdge{}, Says: g.Statements(i),
	}
	for _, a := range g.Aliases(i) {
		n.Names = append(n.Names, a.Text)
	}
	for x := range g.Numbers(i) {
		n.Numbers = append(n.Numbers, kgNumber{x.Name, x.Value, x.Unit, x.Source})
	}
	for x := range g.Edges(i) {
		n.Edges = append(n.Edges, kgEdge{x.Rel, x.Reverse, g.ID(x.To), g.NameOf(x.To), x.Source, x.Derived})
	}
	return n
}

const maxShownEdges = 60

func (n *kgNode) print(w io.Writer) {
	fmt.Fprintf(w, "%s  %s\n  %s, %s, source %s\n", n.ID, n.Name, n.Kind, n.Category, n.Source)
	if len(n.Names) > 0 {
		fmt.Fprintf(w, "  also %s\n", strings.Join(n.Names, "; "))
	}
	for _, x := range n.Numbers {
		fmt.Fprintf(w, "  %s %g %s (%s)\n", x.Name, x.Value, strings.TrimPrefix(x.Unit, "1"), x.Source)
	}
	for i, x := range n.Edges {
		if i == maxShownEdges {
			fmt.Fprintf(w, "  … and %d more relations (--json shows all)\n", len(n.Edges)-maxShownEdges)
			break
		}
		arrow, how := "->", ""
		if x.Reverse {
			arrow = "<-"
		}
		if x.Derived {
			how = ", derived"
		}
		fmt.Fprintf(w, "  %s %s %s  %s (%s%s)\n", arrow, x.Relation, x.ID, x.Name, x.Source, how)
	}
	for _, s := range n.Says {
		fmt.Fprintf(w, "  says [%s]: %s\n", s.ID, s.Statement)
	}
}

// Package ingest builds the graph K from archived public sources: one small
// parser per format, each taking facts only (identifiers, names, kinds,
// relations, numbers) and no sentences. The same archives always give the same
// graph. It also reads what a site brings of its own.
package ingest

import (
	"context"
	"errors"
	"fmt"

	"interlock/internal/knowledge"
)

// Options say how to build.
type Options struct {
	KeepGoing bool                                 // leave out what is malformed instead of stopping
	Report    func(error)                          // told what KeepGoing left out; may be nil
	Progress  func(done, total int, source string) // told before each source; may be nil
}

// A source is one archive below the directory with the parser for it.
type source struct {
	key, title, licence string
	parse               func(c *collector, a *archive)
}

// Build reads the archives below dir and returns the graph. An archive that is
// missing, unreadable or malformed is an error with its name and the place,
// unless opts.KeepGoing.
func Build(ctx context.Context, dir string, opts Options) (*knowledge.Graph, error) {
	b := knowledge.NewBuilder(nil)
	list := sources()
	for i, s := range list {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("building the graph: %w", err)
		}
		if opts.Progress != nil {
			opts.Progress(i, len(list), s.key)
		}
		if err := ingestOne(b, dir, s, opts); err != nil {
			return nil, err
		}
	}
	if opts.Progress != nil {
		opts.Progress(len(list), len(list), "")
	}
	c := &collector{b: b, src: ownKey}
	bridge(c)
	if len(c.errs) > 0 {
		return nil, c.errs[0]
	}
	finish(b)
	g, err := b.Build()
	if err != nil {
		return nil, fmt.Errorf("building the graph: %w", err)
	}
	return g, nil
}

func ingestOne(b *knowledge.Builder, dir string, s source, opts Options) error {
	if err := b.Source(knowledge.Source{Key: s.key, Title: s.title, Licence: s.licence, Version: archivedVersion(dir, s.key)}); err != nil {
		return err
	}
	c := &collector{b: b, src: s.key}
	a, err := openArchive(dir, s.key)
	if err != nil {
		c.fail(err)
	} else {
		s.parse(c, a)
		if c.added == 0 && len(c.errs) == 0 {
			c.fail(fmt.Errorf("%s: nothing of what is expected there was found", s.key))
		}
	}
	if len(c.errs) == 0 {
		return nil
	}
	if !opts.KeepGoing {
		return c.errs[0]
	}
	if opts.Report != nil {
		opts.Report(errors.Join(c.errs...))
	}
	return nil
}

// finish drops what refers to things left out, and what then says nothing,
// until nothing more falls.
func finish(b *knowledge.Builder) {
	for {
		edges, nodes := b.Prune()
		if edges+nodes+b.DropBare() == 0 {
			return
		}
	}
}

// A collector takes what one source states into the builder. Parsers go on
// after an error: the first one is reported, or all with KeepGoing.
type collector struct {
	b       *knowledge.Builder
	src     string
	file    string // what is being read, for messages
	errs    []error
	added   int
	lexicon map[string]string // words of commands -> verbs
	byName  map[string]string // names of chemicals, folded -> identifiers
}

const maxErrs = 20

func (c *collector) fail(err error) {
	if err != nil && len(c.errs) < maxErrs {
		if c.file != "" {
			err = fmt.Errorf("%s: %w", c.file, err)
		}
		c.errs = append(c.errs, err)
	}
}

// node adds a node of this source unless another source has it already.
func (c *collector) node(id, kind string, cat knowledge.Category, name string) string {
	c.added++
	id = knowledge.CleanText(id)
	c.fail(c.b.Ensure(knowledge.Node{ID: id, Kind: kind, Name: short(name, maxName), Category: cat, Source: c.src}))
	return id
}

// once adds a node that must be new: the source may not define it twice.
func (c *collector) once(id, kind string, cat knowledge.Category, name string) string {
	c.added++
	id = knowledge.CleanText(id)
	c.fail(c.b.Node(knowledge.Node{ID: id, Kind: kind, Name: short(name, maxName), Category: cat, Source: c.src}))
	return id
}

func (c *collector) edge(from, rel, to string) {
	c.added++
	if from != to {
		c.fail(c.b.Edge(from, rel, to, c.src))
	}
}

func (c *collector) derive(from, rel, to string) {
	if from != to {
		c.fail(c.b.Derive(from, rel, to, c.src))
	}
}

func (c *collector) alias(id, text string, exact bool) {
	if text = knowledge.CleanText(text); text != "" && len(text) <= maxName {
		c.fail(c.b.Alias(id, text, exact))
	}
}

func (c *collector) number(id, name, unit string, v float64) {
	c.fail(c.b.Number(id, knowledge.Number{Name: name, Unit: unit, Value: v, Source: c.src}))
}

// chemicalNamed finds a chemical added so far by one of its names.
func (c *collector) chemicalNamed(name string) string {
	if c.byName == nil {
		c.byName = c.b.NamesOf(knowledge.KindChemical)
	}
	return c.byName[knowledge.FoldName(name)]
}

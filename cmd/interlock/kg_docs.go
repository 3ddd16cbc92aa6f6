package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"interlock/internal/check/injection"
	"interlock/internal/config"
	"interlock/internal/knowledge"
	"interlock/internal/knowledge/document"
	"interlock/internal/record"
)

type kgDocsCmd struct {
	List     docsListCmd     `cmd:"" help:"List the site's documents, overrides and what was taken out."`
	Add      docsAddCmd      `cmd:"" help:"Put files into quarantine and show what they would say."`
	Diff     docsDiffCmd     `cmd:"" help:"Show a document against its approved version, with findings."`
	Approve  docsApproveCmd  `cmd:"" help:"Let a document count; needs a reviewer's token."`
	Remove   docsRemoveCmd   `cmd:"" help:"Take a document out; an approved one needs a reviewer's token and a reason."`
	Override docsOverrideCmd `cmd:"" help:"Lift one hazard of one substance or thing, signed and visible; needs a reviewer's token."`
	Restore  docsRestoreCmd  `cmd:"" help:"End an override; needs a reviewer's token."`
	Extract  docsExtractCmd  `cmd:"" hidden:""`
}

// docsFlags name the library.
type docsFlags struct {
	storeFlags
	Dir string `help:"Folder of the documents; by default documents beside the store." type:"path" placeholder:"DIR"`
}

// A shelf is a library with what reading it needs.
type shelf struct {
	cfg  *config.Config
	lib  *document.Library
	opts document.Options
}

func (f *docsFlags) open(e *env) (*shelf, error) {
	cfg, err := f.load(e)
	if err != nil {
		return nil, err
	}
	by, err := verifierOf(cfg, "")
	if err != nil {
		return nil, err
	}
	screen, err := newScreen(cfg)
	if err != nil {
		return nil, badInput(err)
	}
	dir := f.Dir
	if dir == "" {
		dir = documentsBeside(cfg)
	}
	lib, err := document.OpenLibrary(dir, by)
	if err != nil {
		return nil, libraryError(err)
	}
	return &shelf{cfg, lib, documentOptions(e, screen, cfg.Screen.Mode)}, nil
}

func documentsBeside(cfg *config.Config) string {
	return filepath.Join(filepath.Dir(cfg.Store), "documents")
}

// libraryError gives tampering its own exit code.
func libraryError(err error) error {
	if errors.Is(err, document.ErrDamaged) {
		return &exitError{Code: exitTampered, Err: err}
	}
	return badInput(err)
}

// documentOptions screens documents as plans are screened, and reads PDFs in a
// process of their own.
func documentOptions(e *env, screen *injection.Screen, mode string) document.Options {
	tau := screen.Thresholds()
	return document.Options{
		TauA: tau.TauA, TauW: tau.TauW, Extract: extractApart(e),
		Screen: func(text string) (float64, []string) {
			v := screen.Text(text)
			sigma := v.Sigma
			if injection.Mode(mode) == injection.Paper {
				sigma = v.SigmaPaper
			}
			var hits []string
			for _, f := range v.Findings {
				if !slices.Contains(hits, f.Rule) {
					hits = append(hits, f.Rule)
				}
			}
			return sigma, hits
		},
	}
}

// siteDocuments lays what people have approved over a graph. A library that
// was changed behind their backs, or is older than the record says, is an
// error: what was known must not vanish silently (C40, C30). Without a library
// the graph is returned as it is.
func siteDocuments(e *env, cfg *config.Config, g *knowledge.Graph, screen *injection.Screen) (*knowledge.Graph, error) {
	dir := documentsBeside(cfg)
	if initialised(cfg) != nil {
		if _, err := os.Stat(dir); err == nil {
			return nil, fmt.Errorf("%s: documents cannot be checked without the installation's key and store", dir)
		}
		return g, nil
	}
	r, err := openReader(e, cfg, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	serial, err := decidedSerial(e, r)
	if err != nil {
		return nil, err
	}
	by, err := verifierOf(cfg, "")
	if err != nil {
		return nil, err
	}
	lib, err := document.OpenLibrary(dir, by)
	if err != nil {
		return nil, err
	}
	if lib.Serial() < serial {
		return nil, fmt.Errorf("%w: %s is at decision %d, the record at %d", document.ErrDamaged, dir, lib.Serial(), serial)
	}
	docs, err := lib.Documents(e.Ctx, documentOptions(e, screen, cfg.Screen.Mode))
	if err != nil {
		return nil, err
	}
	return document.Overlay(g, docs, lib.Overrides(), time.Now())
}

// decidedSerial is the number of the newest decision on documents on record.
func decidedSerial(e *env, r *record.Reader) (int, error) {
	entries, err := r.Proven(e.Ctx, record.Query{Kinds: []record.Kind{record.KindDocument}})
	if err != nil {
		return 0, err
	}
	serial := 0
	for _, entry := range entries {
		ev, err := entry.Event()
		if err != nil {
			return 0, err
		}
		if d, ok := ev.(record.DocumentDecided); ok {
			serial = max(serial, d.Serial)
		}
	}
	return serial, nil
}

type docsListCmd struct {
	docsFlags
	JSON bool `help:"One JSON object a line."`
}

func (c *docsListCmd) Run(e *env) error {
	s, err := c.open(e)
	if err != nil {
		return err
	}
	entries, err := s.lib.Entries()
	if err != nil {
		return libraryError(err)
	}
	if c.JSON {
		for _, d := range entries {
			writeJSON(e.Stdout, docsRow(d))
		}
		for _, w := range s.lib.Overrides() {
			writeJSON(e.Stdout, map[string]any{"override": w})
		}
		return nil
	}
	tw := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, d := range entries {
		by := "nobody has approved it"
		if a := d.Approval; a != nil {
			by = fmt.Sprintf("%.12s approved by %s, %s", a.SHA256, printable(a.By), a.At.Format(time.RFC3339))
		}
		fmt.Fprintf(tw, "%s\t%s\t%.12s\t%s\n", printable(d.Name), d.State, d.SHA256, by)
	}
	for _, w := range s.lib.Overrides() {
		until := "until it is ended"
		if !w.Expires.IsZero() {
			until = "until " + w.Expires.Format(time.DateOnly)
		}
		fmt.Fprintf(tw, "override %s\t%s for %s\t%s\tby %s, %s: %s\n", w.ID, w.Hazard, w.Subject, until, printable(w.By), w.At.Format(time.DateOnly), printable(w.Reason))
	}
	for _, h := range s.lib.History() {
		fmt.Fprintf(tw, "taken out\t%s\t\tby %s, %s: %s\n", printable(h.What), printable(h.By), h.At.Format(time.DateOnly), printable(h.Reason))
	}
	if len(entries) == 0 {
		fmt.Fprintln(e.Stdout, "no documents")
	}
	return tw.Flush()
}

func docsRow(d document.Entry) any {
	return struct {
		Name     string             `json:"name"`
		State    document.State     `json:"state"`
		SHA256   string             `json:"sha256,omitempty"`
		Approval *document.Approval `json:"approval,omitempty"`
	}{d.Name, d.State, d.SHA256, d.Approval}
}

type docsAddCmd struct {
	docsFlags
	Files []string `arg:"" name:"file" help:"Files to add." type:"existingfile"`
}

func (c *docsAddCmd) Run(e *env) error {
	s, err := c.open(e)
	if err != nil {
		return err
	}
	for _, file := range c.Files {
		data, err := os.ReadFile(file)
		if err != nil {
			return badInput(err)
		}
		name := filepath.Base(file)
		if _, err := document.Parse(e.Ctx, name, data, s.opts); err != nil {
			return badInput(err) // nothing that cannot be read waits for anybody
		}
		if err := s.lib.Add(name, data); err != nil {
			return badInput(err)
		}
		l, err := s.look(e, name)
		if err != nil {
			return err
		}
		l.summary(e)
	}
	return nil
}

// A lookAt is a document with what its approval would change.
type lookAt struct {
	entry    document.Entry
	doc      *document.Document
	changes  []document.Change
	findings []document.Finding
	graph    *knowledge.Graph // public
	after    *knowledge.Graph // with the document
}

// look reads a waiting document and compares it, and tries the graph that
// would follow.
func (s *shelf) look(e *env, name string) (*lookAt, error) {
	entries, err := s.lib.Entries()
	if err != nil {
		return nil, libraryError(err)
	}
	i := slices.IndexFunc(entries, func(d document.Entry) bool { return d.Name == name })
	if i < 0 {
		return nil, badInput(fmt.Errorf("no document %q: add it, or see interlock kg docs list", name))
	}
	l := &lookAt{entry: entries[i]}
	if l.graph, err = knowledge.Embedded(); err != nil {
		return nil, err
	}
	docs, err := s.lib.Documents(e.Ctx, s.opts)
	if err != nil {
		return nil, libraryError(err)
	}
	var approved *document.Document
	if k := slices.IndexFunc(docs, func(d *document.Document) bool { return d.Name == name }); k >= 0 {
		approved = docs[k]
		docs = slices.Delete(docs, k, k+1)
	}
	if l.entry.State == document.Gone {
		return nil, badInput(fmt.Errorf("%s: the file is gone, its approved version counts: remove it, or add a file", name))
	}
	data, err := s.lib.Read(name)
	if err != nil {
		return nil, badInput(err)
	}
	if l.doc, err = document.Parse(e.Ctx, name, data, s.opts); err != nil {
		return nil, badInput(err)
	}
	l.changes, l.findings = document.Review(l.graph, approved, l.doc)
	l.after, err = document.Overlay(l.graph, append(docs, l.doc), s.lib.Overrides(), time.Now())
	if err != nil {
		return nil, badInput(err)
	}
	return l, nil
}

func (l *lookAt) summary(e *env) {
	fmt.Fprintf(e.Stdout, "%s  %s, %s, %d bytes, sha256 %s\n", printable(l.doc.Name), l.doc.Kind, l.entry.State, l.doc.Bytes, l.doc.SHA256)
	fmt.Fprintf(e.Stdout, "  %d passages, %d things, %d relations, %d findings; the graph would have %d nodes and %d edges beside the public ones\n",
		len(l.doc.Passages), len(l.doc.Things), len(l.doc.Links)+len(l.doc.Avoids), len(l.findings), l.after.Len()-l.graph.Len(), l.after.EdgeCount()-l.graph.EdgeCount())
	for _, f := range l.findings {
		at := f.At.String()
		if at != "" {
			at = " (" + printable(at) + ")"
		}
		fmt.Fprintf(e.Stdout, "  %-5s %s%s: %s", f.Level, f.Rule, at, printable(f.Message))
		if f.Excerpt != "" {
			fmt.Fprintf(e.Stdout, ": «%s»", printable(f.Excerpt))
		}
		fmt.Fprintln(e.Stdout)
	}
}

type docsDiffCmd struct {
	docsFlags
	Name string `arg:"" help:"Document."`
	JSON bool   `help:"Print findings and changes as JSON."`
}

func (c *docsDiffCmd) Run(e *env) error {
	s, err := c.open(e)
	if err != nil {
		return err
	}
	l, err := s.look(e, c.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		writeJSON(e.Stdout, docsDiff(l))
		return nil
	}
	l.summary(e)
	against := "nothing was approved under this name"
	if a := l.entry.Approval; a != nil {
		against = fmt.Sprintf("against what %s approved on %s", printable(a.By), a.At.Format(time.RFC3339))
	}
	fmt.Fprintf(e.Stdout, "\nchanges, %s:\n", against)
	for _, ch := range l.changes {
		sign, weaker := "-", ""
		if ch.Added {
			sign = "+"
		}
		if ch.Weaker {
			weaker = "   (weaker)"
		}
		fmt.Fprintf(e.Stdout, "%s %s%s\n", sign, printable(ch.Text), weaker)
	}
	return nil
}

func docsDiff(l *lookAt) any {
	type change struct {
		Added  bool   `json:"added"`
		Weaker bool   `json:"weaker,omitempty"`
		Text   string `json:"text"`
	}
	type finding struct {
		Rule    string `json:"rule"`
		Level   string `json:"level"`
		At      string `json:"at,omitempty"`
		Message string `json:"message"`
		Excerpt string `json:"excerpt,omitempty"`
	}
	out := struct {
		Name     string         `json:"name"`
		Kind     document.Kind  `json:"kind"`
		State    document.State `json:"state"`
		SHA256   string         `json:"sha256"`
		Findings []finding      `json:"findings"`
		Changes  []change       `json:"changes"`
	}{l.doc.Name, l.doc.Kind, l.entry.State, l.doc.SHA256, []finding{}, []change{}}
	for _, f := range l.findings {
		out.Findings = append(out.Findings, finding{f.Rule, f.Level.String(), f.At.String(), f.Message, f.Excerpt})
	}
	for _, ch := range l.changes {
		out.Changes = append(out.Changes, change{ch.Added, ch.Weaker, ch.Text})
	}
	return out
}

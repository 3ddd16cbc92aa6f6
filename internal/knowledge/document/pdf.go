package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ledongthuc/pdf"

	"interlock/internal/verdict"
)

const (
	pdfTime   = 10 * time.Second // for one file
	maxStream = 16 << 20         // bytes of one stream, unpacked
	maxTree   = 32               // levels of the page tree
	maxForms  = 8                // forms inside forms
)

// pdf reads a PDF: its pages become blocks, its parts that cannot be read
// findings.
func (r *reader) pdf(ctx context.Context) error {
	extract := r.opts.Extract
	if extract == nil {
		extract = ExtractPDF
	}
	pages, err := extract(ctx, r.data)
	if err != nil {
		return fmt.Errorf("%s: %w", r.doc.Name, err)
	}
	if len(pages) > r.lim.Pages {
		return fmt.Errorf("%s: %d pages, more than the %d that are read", r.doc.Name, len(pages), r.lim.Pages)
	}
	r.doc.Kind = Text
	var blocks []block
	for i, p := range pages {
		at := Place{Page: i + 1}
		for _, what := range p.Unread {
			r.find(RuleUnread, verdict.Flag, at, "", "%s", what)
		}
		blocks = append(blocks, r.pageBlocks(at, p.Lines)...)
	}
	r.sheet(blocks)
	return r.blocks(blocks)
}

// pageBlocks joins the lines of a page to paragraphs.
func (r *reader) pageBlocks(at Place, lines []Line) []block {
	var out []block
	var para []string
	end := func() {
		if len(para) > 0 {
			out = append(out, block{at: at, text: strings.Join(para, " ")})
		}
		para = nil
	}
	for _, l := range lines {
		switch {
		case l.Hidden != "":
			if wordy(l.Text) {
				r.find(RuleHidden, verdict.Flag, at, l.Text, "text that readers do not see: %s", l.Hidden)
			}
			continue
		case isHeading(l.Text):
			end()
			out = append(out, block{at: at, text: l.Text, heading: true})
			continue
		case l.Gap:
			end()
		}
		para = append(para, l.Text)
	}
	end()
	return out
}

// ExtractPDF reads the text of a PDF in this process, within ten seconds. The
// library it uses panics on broken files, which is caught; a file made for it
// can still exhaust the process, so a server should read in a process of its
// own.
func ExtractPDF(ctx context.Context, data []byte) ([]Page, error) {
	ctx, cancel := context.WithTimeout(ctx, pdfTime)
	defer cancel()
	type result struct {
		pages []Page
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var res result
		defer func() {
			if p := recover(); p != nil {
				res = result{err: fmt.Errorf("%w: %.200v", ErrPDF, p)}
			}
			done <- res
		}()
		res.pages, res.err = extractPDF(ctx, data)
	}()
	select {
	case res := <-done:
		if res.err != nil && ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", ErrPDF, context.Cause(ctx))
		}
		return res.pages, res.err
	case <-ctx.Done(): // the reader below fails from now on, which ends the goroutine
		return nil, fmt.Errorf("%w: not read within %s: %w", ErrPDF, pdfTime, context.Cause(ctx))
	}
}

// timedReader fails once the time is over, so that whatever the library is
// doing ends at its next read.
type timedReader struct {
	ctx context.Context //nolint:containedctx // lives as long as one call
	r   *bytes.Reader
}

func (t timedReader) ReadAt(p []byte, off int64) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, errors.New("an offset before the file's beginning")
	}
	return t.r.ReadAt(p, off)
}

func extractPDF(ctx context.Context, data []byte) ([]Page, error) {
	const trailer = 100 // bytes the library looks back without asking
	if len(data) < trailer {
		return nil, fmt.Errorf("%w: %d bytes are no PDF", ErrPDF, len(data))
	}
	rd, err := pdf.NewReader(timedReader{ctx, bytes.NewReader(data)}, int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPDF, err)
	}
	root := rd.Trailer().Key("Root")
	x := &extractor{ctx: ctx}
	if err := x.tree(root.Key("Pages"), 0); err != nil {
		return nil, err
	}
	if len(x.pages) == 0 {
		return nil, fmt.Errorf("%w: it has no pages", ErrPDF)
	}
	for key, what := range map[string]string{"OpenAction": "an action on opening", "AcroForm": "form fields", "AA": "actions"} {
		if !root.Key(key).IsNull() {
			x.unread(0, what)
		}
	}
	for key, what := range map[string]string{"JavaScript": "scripts", "EmbeddedFiles": "attached files"} {
		if !root.Key("Names").Key(key).IsNull() {
			x.unread(0, what)
		}
	}
	return x.pages, nil
}

// An extractor walks the pages of one file.
type extractor struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call
	pages []Page
	nodes int
}

func (x *extractor) unread(page int, what string) {
	p := &x.pages[page]
	for _, have := range p.Unread {
		if have == what {
			return
		}
	}
	p.Unread = append(p.Unread, what)
}

// tree walks the page tree, which a broken file may close to a ring.
func (x *extractor) tree(node pdf.Value, depth int) error {
	const maxNodes = 20_000
	if x.nodes++; x.nodes > maxNodes || depth > maxTree {
		return fmt.Errorf("%w: its page tree has no end", ErrPDF)
	}
	if node.Key("Type").Name() == "Page" {
		return x.page(pdf.Page{V: node})
	}
	kids := node.Key("Kids")
	for i := range kids.Len() {
		if err := x.tree(kids.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (x *extractor) page(p pdf.Page) (err error) {
	x.pages = append(x.pages, Page{})
	n := len(x.pages)
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("%w: page %d: %.200v", ErrPDF, n, e)
		}
	}()
	t := newTypesetter(x, n-1, mediaBox(p.V))
	contents := p.V.Key("Contents")
	switch contents.Kind() {
	case pdf.Null:
	case pdf.Array:
		for i := range contents.Len() {
			check(contents.Index(i))
		}
		t.run(contents, p.Resources(), 0)
	default:
		check(contents)
		t.run(contents, p.Resources(), 0)
	}
	x.pages[n-1].Lines = t.finish()
	notes := p.V.Key("Annots")
	for i := range notes.Len() {
		if notes.Index(i).Key("Subtype").Name() != "Link" {
			x.unread(n-1, "notes or fields on the page")
			break
		}
	}
	return nil
}

// check unpacks a stream once to see that it stays within bounds: the library
// would keep all of it.
func check(stream pdf.Value) {
	rd := stream.Reader()
	n, err := io.Copy(io.Discard, io.LimitReader(rd, maxStream+1))
	if err != nil {
		panic(err)
	}
	if n > maxStream {
		panic(fmt.Sprintf("a stream unpacks to more than %d bytes", maxStream))
	}
}

// mediaBox returns the page's area, a large one where it is not given.
func mediaBox(page pdf.Value) box {
	for v, depth := page, 0; !v.IsNull() && depth < maxTree; v, depth = v.Key("Parent"), depth+1 {
		if m := v.Key("MediaBox"); m.Len() == 4 {
			return box{
				min(m.Index(0).Float64(), m.Index(2).Float64()), min(m.Index(1).Float64(), m.Index(3).Float64()),
				max(m.Index(0).Float64(), m.Index(2).Float64()), max(m.Index(1).Float64(), m.Index(3).Float64()),
			}
		}
	}
	return box{-1e6, -1e6, 1e6, 1e6}
}

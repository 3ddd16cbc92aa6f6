package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/metrics"
	"strings"
	"time"

	"interlock/internal/knowledge/document"
)

const (
	extractTime   = 15 * time.Second // of the process that reads a PDF
	extractMemory = 1 << 30          // bytes it may take
	extractText   = 64 << 20         // bytes it may answer
)

// extractApart reads PDFs in a process of their own: a file made for it can
// exhaust the stack of the library that reads it, which nothing in the same
// process survives.
func extractApart(e *env) func(ctx context.Context, pdf []byte) ([]document.Page, error) {
	return func(ctx context.Context, pdf []byte) ([]document.Page, error) {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		ctx, cancel := context.WithTimeout(ctx, extractTime)
		defer cancel()
		var out, errs bytes.Buffer
		cmd := exec.CommandContext(ctx, exe, "kg", "docs", "extract") //nolint:gosec // this program
		cmd.Args[0] = os.Args[0]
		cmd.Env = []string{} // it needs nothing and is told nothing (C28)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(pdf), &capped{w: &out, left: extractText}, &capped{w: &errs, left: 4096}
		cmd.WaitDelay = time.Second
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("%w: not read within %s", document.ErrPDF, extractTime)
			}
			said, _, _ := strings.Cut(strings.TrimPrefix(errs.String(), "interlock: "), "\n")
			return nil, fmt.Errorf("%w: %.300s (%w)", document.ErrPDF, printable(said), err)
		}
		var pages []document.Page
		if err := json.Unmarshal(out.Bytes(), &pages); err != nil {
			return nil, fmt.Errorf("%w: the answer of the process that read it: %w", document.ErrPDF, err)
		}
		return pages, nil
	}
}

// capped takes as much as fits and fails on the rest.
type capped struct {
	w    io.Writer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	if len(p) > c.left {
		return 0, fmt.Errorf("more than the process may say")
	}
	c.left -= len(p)
	return c.w.Write(p)
}

// A docsExtractCmd is the process that reads one PDF.
type docsExtractCmd struct{}

func (c *docsExtractCmd) Run(e *env) error {
	go watchMemory(e.Stderr)
	data, err := io.ReadAll(io.LimitReader(e.Stdin, extractText))
	if err != nil {
		return badInput(err)
	}
	pages, err := document.ExtractPDF(e.Ctx, data)
	if err != nil {
		return badInput(err)
	}
	return json.NewEncoder(e.Stdout).Encode(pages)
}

// watchMemory ends the process when it has taken more than it may.
func watchMemory(w io.Writer) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	for range time.Tick(20 * time.Millisecond) {
		metrics.Read(sample)
		if sample[0].Value.Uint64() > extractMemory {
			fmt.Fprintf(w, "interlock: it needs more than %d bytes of memory\n", extractMemory)
			os.Exit(exitInternal) //nolint:revive // nothing is left to do in this process
		}
	}
}

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"interlock/internal/check/injection"
	"interlock/internal/verdict"
)

// screenCmd scores texts by the injection screen, or trains it.
type screenCmd struct {
	Text  screenTextCmd  `cmd:"" default:"withargs" help:"Score texts: JSONL {id,text}, .gz too, or - for standard input."`
	Train screenTrainCmd `cmd:"" help:"Train the screen's model again, and measure it with sources left out."`
}

type screenTextCmd struct {
	Mode string `help:"Which score gates." enum:"stack,paper" default:"stack"`
	JSON bool   `help:"One JSON object a line."`
	File string `arg:"" help:"JSONL of {id, text}; .gz too; - for standard input."`
}

// A screenLine is one line of screen --json.
type screenLine struct {
	ID         string          `json:"id"`
	Sigma      float64         `json:"sigma"`
	SigmaPaper float64         `json:"sigma_paper"`
	Level      verdict.Level   `json:"level"`
	Findings   []screenFinding `json:"findings"`
	US         float64         `json:"us"`
}

// A screenFinding is a finding with its span flat.
type screenFinding struct {
	Rule    string        `json:"rule"`
	Level   verdict.Level `json:"level"`
	Class   verdict.Class `json:"class"`
	Score   float64       `json:"score"`
	Start   int           `json:"start"`
	End     int           `json:"end"`
	Message string        `json:"message"`
	Refs    []string      `json:"refs,omitempty"`
}

func (c *screenTextCmd) Run(e *env) error {
	s, err := injection.New(injection.Options{Mode: injection.Mode(c.Mode)})
	if err != nil {
		return fmt.Errorf("building the screen: %w", err)
	}
	in, closeFile, err := openText(e, c.File)
	if err != nil {
		return badInput(err)
	}
	defer closeFile()
	out := bufio.NewWriter(e.Stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for row, err := range textRows(c.File, in) {
		if err != nil {
			return errors.Join(out.Flush(), badInput(err))
		}
		if err := e.Ctx.Err(); err != nil {
			return err
		}
		start := time.Now()
		v := s.Text(row.Text)
		line := lineOf(row.ID, v, time.Since(start))
		if c.JSON {
			err = enc.Encode(line)
		} else {
			_, err = fmt.Fprintf(out, "%-5s  sigma %.3f  paper %.3f  %s\n", line.Level, line.Sigma, line.SigmaPaper, line.ID)
		}
		if err != nil {
			return fmt.Errorf("writing the result of %s: %w", row.ID, err)
		}
	}
	return out.Flush()
}

func lineOf(id string, v injection.Verdict, took time.Duration) screenLine {
	line := screenLine{
		ID: id, Sigma: v.Sigma, SigmaPaper: v.SigmaPaper, Level: v.Level, Findings: []screenFinding{},
		US: float64(took.Nanoseconds()) / 1000,
	}
	for _, f := range v.Findings {
		line.Findings = append(line.Findings, screenFinding{
			Rule: f.Rule, Level: f.Level, Class: f.Class, Score: f.Score, Start: f.Span.Start, End: f.Span.End, Message: f.Message, Refs: f.Refs,
		})
	}
	return line
}

// openText opens a file, unpacked if it is gzip, or standard input.
func openText(e *env, name string) (io.Reader, func(), error) {
	var raw io.Reader = e.Stdin
	done := func() {}
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		raw, done = f, func() { _ = f.Close() } // read only
	}
	buffered := bufio.NewReaderSize(raw, 1<<16)
	if head, _ := buffered.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return buffered, done, nil
	}
	z, err := gzip.NewReader(buffered)
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("%s: not a gzip file after all: %w", name, err)
	}
	return z, done, nil
}

// A textRow is one line of a file of texts; the labels are absent when it is
// only to be scored.
type textRow struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Label   string `json:"label"`
	Kind    string `json:"kind"`
	Source  string `json:"source"`
	Licence string `json:"licence"`
	Tier    string `json:"tier"`
	Hard    bool   `json:"hard"`
}

// longestText is the transport limit of one line.
const longestText = 16 << 20

// textRows reads rows; an error names the line and ends the reading.
func textRows(name string, r io.Reader) iter.Seq2[textRow, error] {
	return func(yield func(textRow, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 1<<16), longestText)
		n := 0
		for lines.Scan() {
			n++
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			row := struct {
				textRow
				Text *string `json:"text"`
			}{}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				yield(textRow{}, fmt.Errorf("%s:%d: expected a JSON object with id and text: %w", name, n, err))
				return
			}
			if row.Text == nil {
				yield(textRow{}, fmt.Errorf("%s:%d: the object has no text", name, n))
				return
			}
			row.textRow.Text = *row.Text
			if !yield(row.textRow, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(textRow{}, fmt.Errorf("%s:%d: the line is longer than %d MiB, the limit of one text", name, n+1, longestText>>20))
		case err != nil:
			yield(textRow{}, fmt.Errorf("%s:%d: %w", name, n+1, err))
		}
	}
}

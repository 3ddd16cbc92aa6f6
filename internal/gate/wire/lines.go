package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrTooLong says that a line is over the limit; the lines after it can still
// be read.
var ErrTooLong = errors.New("message over the size limit")

// A Conn carries frames both ways. Read is called by one goroutine at a time,
// Write by any number. Close ends both.
type Conn interface {
	Read() ([]byte, error) // io.EOF at the end; ErrTooLong for a frame passed over
	Write(frame []byte) error
	Close() error
}

// Lines is a Conn of one frame a line, as MCP has it over stdio.
type Lines struct {
	r     *bufio.Reader
	limit int
	mu    sync.Mutex // owns w: a frame is written whole
	w     io.Writer
	close func() error
}

// NewLines reads frames of at most limit bytes from r and writes to w.
func NewLines(r io.Reader, w io.Writer, limit int, closer func() error) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), w: w, limit: limit, close: closer}
}

// Read returns the next line that is not blank.
func (l *Lines) Read() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil && len(line) == 0 {
			return nil, err
		}
		if len(line) > 0 {
			return line, nil
		}
	}
}

// line returns one line without its end; a line over the limit is passed over.
func (l *Lines) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > l.limit+1 {
			long, line = true, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			return nil, fmt.Errorf("%w of %d bytes", ErrTooLong, l.limit)
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		return line, err
	}
}

// Write writes one frame as one line.
func (l *Lines) Write(frame []byte) error {
	out := make([]byte, 0, len(frame)+1)
	out = append(append(out, OneLine(frame)...), '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(out); err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return nil
}

// Close ends the connection.
func (l *Lines) Close() error { return l.close() }

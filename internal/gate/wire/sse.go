package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// An Event is one server-sent event of a streamable HTTP response.
type Event struct {
	Name  string
	ID    string
	HasID bool
	Retry string
	Data  []byte // lines joined by line feeds; nil if the event has none
}

// ReadEvent reads the next event, at most limit bytes of it. Comments are
// passed over.
func ReadEvent(r *bufio.Reader, limit int) (Event, error) {
	var e Event
	some := false
	for n := 0; ; {
		line, err := readLine(r, limit-n)
		n += len(line)
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if some {
				return e, nil
			}
			continue
		}
		key, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(key) {
		case "event":
			e.Name, some = string(value), true
		case "id":
			e.ID, e.HasID, some = string(value), true, true
		case "retry":
			e.Retry, some = string(value), true
		case "data":
			if e.Data != nil {
				e.Data = append(e.Data, '\n')
			} else {
				e.Data = []byte{}
			}
			e.Data, some = append(e.Data, value...), true
		}
	}
}

// readLine returns a line without its end. A line cut off by the end of the
// stream is io.ErrUnexpectedEOF.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > limit {
			return nil, fmt.Errorf("%w of %d bytes", ErrTooLong, limit)
		}
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// Append writes the event.
func (e Event) Append(b []byte) []byte {
	field := func(name, value string) {
		b = append(append(append(b, name...), ": "...), value...)
		b = append(b, '\n')
	}
	if e.Name != "" {
		field("event", e.Name)
	}
	if e.HasID {
		field("id", e.ID)
	}
	if e.Retry != "" {
		field("retry", e.Retry)
	}
	if e.Data != nil {
		for line := range bytes.SplitSeq(e.Data, []byte{'\n'}) {
			field("data", string(line))
		}
	}
	return append(b, '\n')
}

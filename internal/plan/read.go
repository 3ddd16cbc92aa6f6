package plan

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// sniffBytes is how much of a stream without a telling name is looked at.
const sniffBytes = 64 << 10

// ReadFile reads the plans of a file one after the other.
// See Read.
func ReadFile(path string, lim Limits) iter.Seq2[*Plan, error] {
	return func(yield func(*Plan, error) bool) {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			err = errors.New("is a folder, expected a plan file")
		}
		if err != nil {
			yield(nil, &Error{File: path, Msg: plain(err)})
			return
		}
		f, err := os.Open(path)
		if err != nil {
			yield(nil, &Error{File: path, Msg: plain(err)})
			return
		}
		defer func() { _ = f.Close() }() // only read: closing loses nothing
		Read(path, f, lim)(yield)
	}
}

// Read reads the plans of a stream one after the other, in the format that
// name (or, if it does not tell, the content) says. JSONL is read line by
// line, however long the stream is; a bad line is an error and the next one is
// read all the same. No plan longer than lim.MaxBytes is read.
func Read(name string, r io.Reader, lim Limits) iter.Seq2[*Plan, error] {
	return func(yield func(*Plan, error) bool) {
		br := bufio.NewReaderSize(r, sniffBytes)
		head, err := br.Peek(sniffBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			yield(nil, &Error{File: name, Msg: plain(err)})
			return
		}
		f := formatOf(name, head)
		if f == formatJSONL {
			readLines(name, br, lim.MaxBytes, yield)
			return
		}
		data, err := io.ReadAll(io.LimitReader(br, int64(lim.MaxBytes)+1))
		switch {
		case err != nil:
			yield(nil, &Error{File: name, Msg: plain(err)})
		case len(data) > lim.MaxBytes:
			yield(nil, tooLong(name, 0, lim.MaxBytes))
		default:
			yield(decode(f, name, data))
		}
	}
}

// plain says what went wrong with a file without repeating its name.
func plain(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

func tooLong(name string, line, limit int) error {
	return &Error{File: name, Line: line, Msg: fmt.Sprintf("the plan is longer than max_bytes (%d)", limit)}
}

// decodeAll yields the plans of data.
func decodeAll(name string, data []byte) iter.Seq2[*Plan, error] {
	return func(yield func(*Plan, error) bool) {
		f := formatOf(name, data)
		if f == formatJSONL {
			readLines(name, bufio.NewReader(bytes.NewReader(data)), len(data), yield)
			return
		}
		yield(decode(f, name, data))
	}
}

func decode(f format, name string, data []byte) (*Plan, error) {
	switch f {
	case formatYAML:
		return DecodeYAML(name, data)
	case formatText:
		return DecodeText(name, data)
	default:
		return DecodeJSON(name, data)
	}
}

// readLines yields the plan of each line that is not blank.
func readLines(name string, br *bufio.Reader, limit int, yield func(*Plan, error) bool) {
	found := false
	for n := 1; ; n++ {
		line, long, err := readLine(br, limit)
		if err != nil && !errors.Is(err, io.EOF) {
			yield(nil, &Error{File: name, Line: n, Msg: plain(err)})
			return
		}
		more := true
		switch {
		case long:
			found = true
			more = yield(nil, tooLong(name, n, limit))
		case len(bytes.TrimSpace(line)) > 0:
			found = true
			more = yield(decodeJSON(name, n, line))
		}
		if !more {
			return
		}
		if err != nil {
			break
		}
	}
	if !found {
		yield(nil, &Error{File: name, Msg: "the file is empty: expected one JSON plan a line"})
	}
}

// readLine returns the next line without its end, or that it is longer than
// limit, in which case the whole line has been passed over.
func readLine(br *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > limit+1 {
			long, line = true, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte{'\n'}), long, err
		}
	}
}

package ingest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds on what one archive may unpack to: a bomb ends in an error.
const (
	maxArchive = 512 << 20 // bytes unpacked
	maxFile    = 128 << 20
	maxFiles   = 50_000
)

// A file is one entry of an archive.
type file struct {
	name string // path in the archive
	data []byte
}

func (f file) base() string { return path.Base(f.name) }

// stem is the name without directory and extension.
func (f file) stem() string { return strings.TrimSuffix(f.base(), path.Ext(f.name)) }

// line returns the line of a byte offset, from 1.
func (f file) line(offset int64) int {
	return 1 + bytes.Count(f.data[:max(0, min(int(offset), len(f.data)))], []byte{'\n'})
}

// An archive is what was unpacked from DIR/KEY/KEY.tar.gz, by name, with the
// ready facts of DIR/facts beside it.
type archive struct {
	key   string
	files []file
	facts string
}

func openArchive(dir, key string) (*archive, error) {
	a := &archive{key: key, facts: filepath.Join(dir, "facts")}
	if key == factsKey || key == ownKey {
		return a, nil
	}
	name := key + "/" + key + ".tar.gz"
	f, err := os.Open(filepath.Join(dir, key, key+".tar.gz"))
	if err != nil {
		return nil, fmt.Errorf("opening the archive %s: %w", name, err)
	}
	defer func() { _ = f.Close() }() // only read
	if err := a.unpack(f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	slices.SortFunc(a.files, func(x, y file) int { return strings.Compare(x.name, y.name) })
	return a, nil
}

func (a *archive) unpack(r io.Reader) error {
	zr, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("not a gzip file: %w", err)
	}
	tr := tar.NewReader(io.LimitReader(zr, maxArchive+1))
	total := 0
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after %d files and %d bytes: %w", len(a.files), total, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size > maxFile || total+int(h.Size) > maxArchive || len(a.files) >= maxFiles {
			return fmt.Errorf("%s: more than %d files, %d bytes in one or %d in all", h.Name, maxFiles, maxFile, maxArchive)
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
		total += len(data)
		a.files = append(a.files, file{strings.TrimPrefix(path.Clean("/"+h.Name), "/"), data})
	}
}

// each calls f for the files whose path matches the pattern: path.Match, where
// a leading "**/" stands for any directories.
func (c *collector) each(a *archive, pattern string, f func(file) error) {
	n := 0
	for _, x := range a.files {
		if !match(pattern, x.name) {
			continue
		}
		n++
		c.file = a.key + ": " + x.name
		if !utf8.Valid(x.data) && !binary(x.name) {
			c.fail(errors.New("not UTF-8"))
			continue
		}
		c.fail(f(x))
	}
	c.file = ""
	if n == 0 {
		c.fail(fmt.Errorf("%s: no file %s in the archive", a.key, pattern))
	}
}

func binary(name string) bool { return strings.HasSuffix(name, ".xlsx") }

func match(pattern, name string) bool {
	if rest, deep := strings.CutPrefix(pattern, "**/"); deep {
		parts := strings.Split(name, "/")
		n := strings.Count(rest, "/") + 1
		if len(parts) < n {
			return false
		}
		name, pattern = strings.Join(parts[len(parts)-n:], "/"), rest
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// decodeJSON reads a JSON file strictly: duplicate keys and bad UTF-8 are errors.
func decodeJSON(f file, into any) error {
	if err := json.Unmarshal(f.data, into); err != nil {
		if se := (*jsontext.SyntacticError)(nil); errors.As(err, &se) {
			return fmt.Errorf("line %d: %w", f.line(se.ByteOffset), err)
		}
		return err
	}
	return nil
}

const maxNote = 64 << 10 // bytes of SOURCE.txt

// archivedVersion reads which version was archived from the note beside the
// archive: "commit: HASH DATE". Without a note it is unknown.
func archivedVersion(dir, key string) string {
	f, err := os.Open(filepath.Join(dir, key, "SOURCE.txt"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxNote))
	if err != nil {
		return ""
	}
	for _, line := range strings.Split(string(data), "\n") {
		if v, ok := strings.CutPrefix(line, "commit:"); ok {
			return short(strings.TrimSpace(v), maxName)
		}
	}
	return ""
}

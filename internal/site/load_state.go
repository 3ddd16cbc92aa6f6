package site

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interlock/internal/strict"
)

var (
	stateKeys   = []string{"site", "e_stop", "readings"}
	readingKeys = []string{"value", "at", "max_age_s", "source"}
)

// LoadState reads a state file, YAML or JSON:
//
//	site: chem-sdl
//	e_stop: false
//	readings:
//	  room_presence: {value: clear, at: 2026-01-31T08:00:00Z, max_age_s: 30, source: scanner-1}
//	  fh1_flow: "0.52"
//
// A reading given as a bare value counts as taken when the file was last
// written and never goes stale: for demonstrations and tests. Give at and
// max_age_s where something depends on it.
func LoadState(path string) (State, error) {
	info, err := os.Stat(path)
	if err != nil {
		return State{}, fileError(path, err)
	}
	data, err := readProfile(path)
	if err != nil {
		return State{}, err
	}
	return DecodeState(path, data, info.ModTime())
}

// DecodeState reads a state file's content. written is the time of readings
// that state none.
func DecodeState(file string, data []byte, written time.Time) (State, error) {
	var root *strict.Node
	var err error
	if strings.EqualFold(filepath.Ext(file), ".json") {
		root, err = strict.JSON(file, 1, data)
	} else {
		root, err = strict.YAML(file, data)
	}
	if err != nil {
		return State{}, err
	}
	d := &decoder{strict.Reader{File: file}}
	s := State{Readings: map[string]Value{}}
	for _, f := range d.Fields(root, "the state", stateKeys) {
		v := &f.Value
		switch f.Key {
		case "site":
			s.Site = d.Word(v, "site")
		case "e_stop":
			s.EStop = d.Bool(v, "e_stop")
		case "readings":
			for _, r := range d.Entries(v, "readings") {
				s.Readings[r.Key] = d.reading(r.Key, &r.Value, written)
			}
		}
	}
	if err := d.Err(); err != nil {
		return State{}, err
	}
	return s, nil
}

func (d *decoder) reading(name string, n *strict.Node, written time.Time) Value {
	what := "reading " + name
	if n.Kind != strict.Map {
		return Value{Text: d.scalar(n, what), At: written}
	}
	val := Value{At: written}
	for _, f := range d.Fields(n, what, readingKeys) {
		v := &f.Value
		switch f.Key {
		case "value":
			val.Text = d.scalar(v, what+", value")
		case "at":
			at, err := time.Parse(time.RFC3339, d.Text(v, what+", at"))
			if err != nil {
				d.Fail(v.Pos, "%s, at: expected a time as 2026-01-31T08:00:00Z, found %q", what, v.Text)
			}
			val.At = at
		case "max_age_s":
			const week = 7 * 24 * 3600
			val.MaxAge = time.Duration(d.Int(v, what+", max_age_s", 1, week)) * time.Second
		case "source":
			val.Source = d.Word(v, what+", source")
		}
	}
	d.need(n, what, "value")
	if val.MaxAge > 0 {
		d.need(n, what+" with a max_age_s", "at")
	}
	return val
}

// scalar returns a text, number or yes/no as it is written.
func (d *decoder) scalar(n *strict.Node, what string) string {
	if n.Kind == strict.Number || n.Kind == strict.Bool {
		return n.Text
	}
	return d.Word(n, what)
}

// Digest is the SHA-256 over the state, hex (C2).
func (s State) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %t\n", s.Site, s.EStop)
	for _, name := range slices.Sorted(maps.Keys(s.Readings)) {
		v := s.Readings[name]
		fmt.Fprintf(h, "%q %q %d %d %q\n", name, v.Text, v.At.UnixNano(), v.MaxAge, v.Source)
	}
	return hex.EncodeToString(h.Sum(nil))
}

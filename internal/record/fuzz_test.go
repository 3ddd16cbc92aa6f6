package record

import (
	"bytes"
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// FuzzVerifyCopy: whatever the bytes, nothing but the exported copy itself
// (up to a missing last line feed) verifies against a checkpoint of it.
func FuzzVerifyCopy(f *testing.F) {
	key, err := CreateKey(bytes.NewReader(make([]byte, 64)), filepath.Join(f.TempDir(), "key"), "interlock-fuzz")
	if err != nil {
		f.Fatal(err)
	}
	good, kept := fuzzCopy(f, key)
	if v, err := VerifyCopy(bytes.NewReader(good), key.verifier, kept); err != nil || !v.OK() {
		f.Fatal(v.Problems, err) // else the target could not fail
	}
	f.Add(good)
	f.Add(bytes.Replace(good, []byte("door"), []byte("gate"), 1))
	f.Add(good[:len(good)/2])
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := VerifyCopy(bytes.NewReader(data), key.verifier, kept)
		if err != nil || !v.OK() {
			return
		}
		if !bytes.Equal(events(data), events(good)) {
			t.Fatalf("verified: %q", data)
		}
	})
}

// events drops the header, which is checked by its signature, and line ends.
func events(b []byte) []byte {
	_, rest, _ := bytes.Cut(b, []byte("\n"))
	return bytes.TrimRight(bytes.ReplaceAll(rest, []byte("\r\n"), []byte("\n")), "\n")
}

// fuzzCopy makes a copy without a store: instrumented for coverage, SQLite
// would take all the time there is.
func fuzzCopy(f *testing.F, key *Key) (copied []byte, checkpoint string) {
	f.Helper()
	t := &tree{v: &Verification{}, edge: map[int]node{}, marks: map[int64]tlog.Hash{}}
	var lines bytes.Buffer
	for i, name := range []string{"door", "mode", "estop"} {
		p, err := encode(StateChanged{Site: "lab", Name: name, At: epoch})
		if err != nil {
			f.Fatal(err)
		}
		data, err := compact(envelope{Version: storedVersion, Seq: int64(i), At: epoch, Kind: p.kind, Tag: p.tag, Body: p.body})
		if err != nil {
			f.Fatal(err)
		}
		if err := t.add(data); err != nil {
			f.Fatal(err)
		}
		lines.Write(append(data, '\n'))
	}
	root, err := tlog.TreeHash(3, t)
	if err != nil {
		f.Fatal(err)
	}
	h, err := key.sign(3, root)
	if err != nil {
		f.Fatal(err)
	}
	header, err := compact(exportHeader{exportFormat, h.text, 3})
	if err != nil {
		f.Fatal(err)
	}
	return append(append(header, '\n'), lines.Bytes()...), h.text
}

// FuzzCheckpoint: a text that opens is one that the key signed.
func FuzzCheckpoint(f *testing.F) {
	key, err := CreateKey(bytes.NewReader(make([]byte, 64)), filepath.Join(f.TempDir(), "key"), "interlock-fuzz")
	if err != nil {
		f.Fatal(err)
	}
	h, err := key.sign(3, [32]byte{1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(h.text)
	f.Add(h.text + "\n")
	f.Add("interlock-fuzz\n3\n\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := openCheckpoint(text, key.verifier)
		if err == nil && (got.size != 3 || got.root != h.root) {
			t.Fatalf("opened %q", text)
		}
	})
}

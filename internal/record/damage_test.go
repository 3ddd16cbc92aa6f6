package record

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// Whatever byte of the file is changed: the file cannot be read, or Verify
// finds it, or the log is still the log to the last byte (the byte was in a
// place that holds nothing).
func TestC26_AnyByteOfTheFile(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), key)
	fill(t, l, 8)
	original, err := os.ReadFile(copyStore(t, l.Reader))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if _, err := l.Export(t.Context(), &want); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.IntRange(0, len(original)-1).Draw(rt, "at")
		mask := rapid.ByteRange(1, 255).Draw(rt, "mask")
		path := filepath.Join(dir, "s.db")
		data := bytes.Clone(original)
		data[at] ^= mask
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			_ = os.Remove(path + suffix) // of the round before
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			rt.Fatal(err)
		}
		r, err := OpenReader(t.Context(), path, key.verifier)
		if err != nil {
			found++
			return
		}
		defer r.Close()
		v, err := r.Verify(t.Context(), "")
		if err != nil || !v.OK() {
			found++
			return
		}
		var got bytes.Buffer
		if _, err := r.Export(t.Context(), &got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			rt.Fatalf("byte %d changed and nothing was found (%v)", at, err)
		}
	})
	if found == 0 {
		t.Error("no change was found at all")
	}
	t.Logf("%d changes found", found)
}

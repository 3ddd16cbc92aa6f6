package record

import (
	"bytes"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// tampers are what an attacker with the file, but without the key, can do.
var tampers = map[string]string{
	"event changed":            `UPDATE events SET data = CAST(replace(CAST(data AS TEXT), '"p1"', '"p9"') AS BLOB) WHERE seq = 5`,
	"outcome column changed":   `UPDATE events SET tag = 'accept' WHERE seq = 4`,
	"decision column changed":  `UPDATE events SET decision = 'x' WHERE seq = 4`,
	"event and hash changed":   `UPDATE events SET data = CAST(replace(CAST(data AS TEXT), '"p1"', '"p9"') AS BLOB) WHERE seq = 5; UPDATE hashes SET hash = zeroblob(32) WHERE idx = 8`,
	"two events swapped":       `UPDATE events SET seq = -1 WHERE seq = 0; UPDATE events SET seq = 0 WHERE seq = 5; UPDATE events SET seq = 5 WHERE seq = -1`,
	"last event removed":       `DELETE FROM events WHERE seq = 14`,
	"middle event removed":     `DELETE FROM events WHERE seq = 7`,
	"first events removed":     `DELETE FROM events WHERE seq < 5`,
	"event added":              `INSERT INTO events SELECT 15, at, 'sent', decision, tag, data FROM events WHERE seq = 14`,
	"cut off with its hashes":  `DELETE FROM events WHERE seq >= 10; DELETE FROM hashes WHERE idx >= 18; UPDATE head SET size = 10`,
	"everything removed":       `DELETE FROM events; DELETE FROM hashes; DELETE FROM head`,
	"only the checkpoint gone": `DELETE FROM head`,
	"checkpoint changed":       `UPDATE head SET note = replace(note, '15', '14')`,
	"hash changed":             `UPDATE hashes SET hash = zeroblob(32) WHERE idx = 3`,
	"rule of the log dropped":  `DROP TRIGGER events_update`,
	"index dropped":            `DROP INDEX events_once_by_decision`,
}

func TestC26_VerifyFindsTampering(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	original := filepath.Join(t.TempDir(), "s.db")
	l := openLog(t, original, key)
	fill(t, l, 3)
	checkLog(t, l.Reader, 15)
	kept, _, err := l.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, sqlText := range tampers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := copyStore(t, l.Reader)
			tamper(t, path, sqlText, !strings.Contains(name, "dropped"))
			r, err := OpenReader(t.Context(), path, key.verifier)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			outside := ""
			if name == "everything removed" {
				outside = kept // an empty log promises nothing by itself
			}
			v, err := r.Verify(t.Context(), outside)
			if err != nil {
				t.Fatal(err)
			}
			if v.OK() {
				t.Fatal("not found")
			}
			t.Log(v.Problems[0])
		})
	}
}

// copyStore makes a copy of a live store.
func copyStore(t *testing.T, r *Reader) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.db")
	if _, err := r.db.ExecContext(t.Context(), "VACUUM INTO ?", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// tamper changes a store behind our back; the triggers are taken away first
// and, so that only the data is wrong, put back.
func tamper(t *testing.T, path, text string, restore bool) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if restore {
		for create := range statements(migrations[len(migrations)-1].version) {
			if name, ok := strings.CutPrefix(create, "CREATE TRIGGER "); ok {
				name, _, _ = strings.Cut(name, " ")
				text = "DROP TRIGGER " + name + ";" + text + ";" + create + ";"
			}
		}
	}
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func TestC26_TheLogIsAppendOnly(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), testKey(t))
	fill(t, l, 1)
	for _, text := range []string{"UPDATE events SET tag = ''", "DELETE FROM events", "UPDATE hashes SET idx = 9", "DELETE FROM hashes", "DELETE FROM head", "UPDATE head SET size = 0"} {
		if _, err := l.db.ExecContext(t.Context(), text); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", text, err)
		}
	}
	checkLog(t, l.Reader, 5)
}

func TestC26_OutsideCheckpointFindsReplacement(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), key)
	fill(t, l, 1)
	old := copyStore(t, l.Reader)
	if _, err := l.Append(t.Context(), StateChanged{Name: "estop"}); err != nil {
		t.Fatal(err)
	}
	kept, _, err := l.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := openLog(t, filepath.Join(t.TempDir(), "other.db"), key) // another history under the same key
	fill(t, other, 2)
	otherKey := openLog(t, filepath.Join(t.TempDir(), "key.db"), testKey(t))
	fill(t, otherKey, 2)

	for name, path := range map[string]string{"older copy": old, "other history": other.path, "other key": otherKey.path} {
		r, err := OpenReader(t.Context(), path, key.verifier)
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Verify(t.Context(), kept)
		if err != nil || v.OK() {
			t.Errorf("%s: not found (%v)", name, err)
		}
		without, err := r.Verify(t.Context(), "")
		if err != nil || len(without.CannotExclude) < 2 {
			t.Errorf("%s: without an outside checkpoint it does not say what it cannot exclude: %v", name, err)
		}
		r.Close()
	}
	if _, err := l.Append(t.Context(), StateChanged{Name: "later"}); err != nil {
		t.Fatal(err)
	}
	if v, err := l.Verify(t.Context(), kept); err != nil || !v.OK() {
		t.Errorf("a grown log does not verify against an earlier checkpoint: %v %v", v.Problems, err)
	}
}

func TestC26_ARunningLogRefusesAChangedStore(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	for name, text := range map[string]string{
		"cut off":           `DELETE FROM events WHERE seq >= 5; DELETE FROM hashes WHERE idx >= 8; DELETE FROM head`,
		"another's history": "",
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		l := openLog(t, path, key)
		fill(t, l, 2)
		if text != "" {
			tamper(t, path, text, true)
		} else {
			other := openLog(t, filepath.Join(t.TempDir(), "o.db"), key)
			fill(t, other, 3)
			h, _, err := other.Checkpoint(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tamper(t, path, "UPDATE head SET size = 15, note = '"+h+"'", true)
		}
		if _, err := l.Append(t.Context(), StateChanged{}); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v, want ErrTampered", name, err)
		}
	}
}

func TestC26_GetProvesWhatItReturns(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), key)
	fill(t, l, 2)
	path := copyStore(t, l.Reader)
	tamper(t, path, `UPDATE events SET data = CAST(replace(CAST(data AS TEXT), 'to A1', 'to B2') AS BLOB) WHERE seq = 0`, true)
	r, err := OpenReader(t.Context(), path, key.verifier)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Get(t.Context(), "d0"); !errors.Is(err, ErrTampered) {
		t.Errorf("%v, want ErrTampered", err)
	}
	if _, err := r.Get(t.Context(), "d1"); err != nil {
		t.Error(err)
	}
}

func TestC26_ExportedCopy(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), key)
	fill(t, l, 3)
	var b bytes.Buffer
	if n, err := l.Export(t.Context(), &b); err != nil || n != 15 {
		t.Fatal(n, err)
	}
	good := b.String()
	lines := strings.SplitAfter(good, "\n")
	kept, _, err := l.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"as exported": {good, true},
		"changed":     {strings.Replace(good, "to A1", "to B1", 1), false},
		"cut off":     {strings.Join(lines[:10], ""), false},
		"reordered":   {lines[0] + lines[2] + lines[1] + strings.Join(lines[3:], ""), false},
		"added":       {good + lines[3], false},
		"head only":   {lines[0], false},
		"space added": {strings.Replace(good, `{"v":1,`, `{"v":1, `, 1), false},
	} {
		v, err := VerifyCopy(strings.NewReader(c.text), key.verifier, kept)
		if err != nil || v.OK() != c.ok {
			t.Errorf("%s: ok %v, want %v (%v)", name, v.OK(), c.ok, err)
		}
	}
	for _, text := range []string{"", "{}\n", "hello\n"} {
		if _, err := VerifyCopy(strings.NewReader(text), key.verifier, ""); err == nil {
			t.Errorf("%q was taken for a copy", text)
		}
	}
}

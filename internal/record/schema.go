package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite" // the pure-Go driver, registered as "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks a SQLite file as ours ("ILK1").
const applicationID = 0x494c4b31

// defaultBusyTimeout is how long a process waits for another one's transaction.
const defaultBusyTimeout = 5 * time.Second

// A migration brings the schema from the version before it to its own.
type migration struct {
	version int
	sql     string
}

// migrations are the whole history of the schema. A released one never
// changes; user_version in the file says how far a store is.
//
// Which events may be there once only is a rule of the schema, so that it holds
// between processes: one decision has one plan, one outcome and one
// disposition (C27), a call is sent once (C14), a matter is resolved once (C19).
var migrations = []migration{{1, `
CREATE TABLE events (
	seq      INTEGER PRIMARY KEY,
	at       TEXT NOT NULL,
	kind     TEXT NOT NULL,
	decision TEXT NOT NULL,
	tag      TEXT NOT NULL,
	data     BLOB NOT NULL
) STRICT;
CREATE INDEX events_by_decision ON events (decision, seq);
CREATE INDEX events_by_kind ON events (kind, tag, seq);
CREATE UNIQUE INDEX events_once_by_decision ON events (decision, kind)
	WHERE kind IN ('received', 'checked', 'judged', 'ruled', 'decided', 'reviewed');
CREATE UNIQUE INDEX events_once_by_tag ON events (kind, tag)
	WHERE kind IN ('granted', 'sent', 'done', 'token_issued', 'token_revoked');
CREATE TABLE hashes (
	idx  INTEGER PRIMARY KEY,
	hash BLOB NOT NULL
) STRICT;
CREATE TABLE head (
	id   INTEGER PRIMARY KEY CHECK (id = 1),
	size INTEGER NOT NULL,
	note TEXT NOT NULL
) STRICT;
CREATE TRIGGER events_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER events_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER hashes_update BEFORE UPDATE ON hashes BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER hashes_delete BEFORE DELETE ON hashes BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER head_delete BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER head_shrink BEFORE UPDATE ON head WHEN NEW.size < OLD.size BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
`}, {2, `
CREATE UNIQUE INDEX events_resolved_once ON events (kind, tag) WHERE kind = 'resolved';
`}}

// prepareFile makes sure that path can be a store, and makes an empty private
// file for a new one.
func prepareFile(path string, create bool) (created bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && create:
		return true, createFile(path)
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("%w: run interlock init, or name another store", ErrMissing)
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%w: it is not a file", ErrForeign)
	case info.Size() == 0 && !create:
		return false, fmt.Errorf("%w: the file is empty", ErrForeign)
	}
	return info.Size() == 0, nil
}

func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process made it a moment ago
	}
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func dsn(path string, busy time.Duration, readOnly bool) string {
	if busy == 0 {
		busy = defaultBusyTimeout
	}
	q := url.Values{}
	q.Add("_pragma", "busy_timeout("+strconv.FormatInt(busy.Milliseconds(), 10)+")")
	q.Add("_pragma", "synchronous(FULL)")
	q.Add("_pragma", "trusted_schema(0)")
	if readOnly {
		q.Add("mode", "ro")
		q.Add("_pragma", "query_only(1)")
	} else {
		q.Add("mode", "rw")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// schemaVersion returns 0 for an empty database, and refuses every file that
// is not a store this program can read.
func schemaVersion(ctx context.Context, q querier, known int) (int, error) {
	var id, version, tables int
	for _, v := range []struct {
		query string
		into  *int
	}{{"PRAGMA application_id", &id}, {"PRAGMA user_version", &version}, {"SELECT count(*) FROM sqlite_schema", &tables}} {
		if err := q.QueryRowContext(ctx, v.query).Scan(v.into); err != nil {
			return 0, err
		}
	}
	switch {
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID:
		return 0, fmt.Errorf("%w: it is another program's SQLite file", ErrForeign)
	case version > known:
		return 0, fmt.Errorf("%w of Interlock: its schema is %d, this program knows %d", ErrNewer, version, known)
	case version < 1:
		return 0, fmt.Errorf("%w: its schema version is %d", ErrDamaged, version)
	}
	return version, nil
}

// migrate brings the store up to date in one transaction. Only a store that is
// being created may be empty.
func migrate(ctx context.Context, conn *sql.Conn, history []migration, mayBeEmpty bool) error {
	latest := history[len(history)-1].version
	version, err := schemaVersion(ctx, conn, latest)
	if err != nil || version == latest {
		return err
	}
	if version == 0 && !mayBeEmpty {
		return fmt.Errorf("%w: it is an empty database", ErrForeign)
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := applyMigrations(ctx, conn, history); err != nil {
		_, rollback := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(err, rollback)
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

// applyMigrations reads the version again: another process may have been first.
func applyMigrations(ctx context.Context, conn *sql.Conn, history []migration) error {
	version, err := schemaVersion(ctx, conn, history[len(history)-1].version)
	if err != nil {
		return err
	}
	for _, m := range history {
		if m.version <= version {
			continue
		}
		if _, err := conn.ExecContext(ctx, m.sql); err != nil {
			return fmt.Errorf("bringing the schema to version %d: %w", m.version, err)
		}
		// Pragmas take no parameters; both values are constants of this program.
		for _, pragma := range []string{fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", m.version)} {
			if _, err := conn.ExecContext(ctx, pragma); err != nil {
				return fmt.Errorf("bringing the schema to version %d: %w", m.version, err)
			}
		}
	}
	return nil
}

// explain names the errors of the storage that a person can do something about.
func explain(err error) error {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return err
	}
	for _, cause := range []error{ErrTampered, ErrForeign, ErrNewer, ErrDamaged} {
		if errors.Is(err, cause) {
			return err
		}
	}
	named := map[int]error{
		sqlite3.SQLITE_FULL: ErrFull, sqlite3.SQLITE_READONLY: ErrReadOnly, sqlite3.SQLITE_CANTOPEN: ErrReadOnly,
		sqlite3.SQLITE_PERM: ErrReadOnly, sqlite3.SQLITE_BUSY: ErrBusy, sqlite3.SQLITE_LOCKED: ErrBusy,
		sqlite3.SQLITE_NOTADB: ErrForeign, sqlite3.SQLITE_CORRUPT: ErrDamaged,
	}
	if cause, ok := named[se.Code()&0xff]; ok {
		return fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

// constraint reports which kind of uniqueness err violates: of an index, or of
// the sequence numbers themselves.
func constraint(err error) (duplicate, occupied bool) {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return false, false
	}
	return se.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE, se.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

package record

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// exportFormat names the first line of an exported copy.
const exportFormat = "interlock-log/1"

// maxExportLine bounds one line of a copy that is read back.
const maxExportLine = 64 << 20

// An exportHeader is the first line of a copy. It carries the checkpoint, so
// that a copy can be verified without the store.
type exportHeader struct {
	Format     string `json:"format"`
	Checkpoint string `json:"checkpoint"`
	Size       int64  `json:"size"`
}

// Export writes the log as JSON lines: a header with the signed checkpoint,
// then every event exactly as it was hashed. It returns the number of events.
func (r *Reader) Export(ctx context.Context, w io.Writer) (int64, error) {
	wrap := func(err error) error { return fmt.Errorf("exporting the record %s: %w", r.path, explain(err)) }
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, wrap(err)
	}
	defer func() { _ = tx.Rollback() }() // it only read
	h, err := readHead(ctx, tx, r.verifier, head{})
	if err != nil {
		return 0, wrap(err)
	}
	header, err := compact(exportHeader{exportFormat, h.text, h.size})
	if err != nil {
		return 0, wrap(err)
	}
	out := bufio.NewWriter(w)
	// A bufio.Writer keeps its first error; Flush returns it.
	_, _ = out.Write(append(header, '\n'))
	var n int64
	tail(ctx, tx, r.path, Query{}, func(e Entry, entryErr error) bool {
		if err = entryErr; err != nil {
			return false
		}
		n++
		_, _ = out.Write(append(e.Data, '\n'))
		return true
	})
	if err := errors.Join(err, out.Flush()); err != nil {
		return n, wrap(err)
	}
	return n, nil
}

// VerifyCopy verifies what Export wrote, with nothing but the public key and,
// if given, an outside checkpoint.
func VerifyCopy(in io.Reader, by note.Verifier, outside string) (Verification, error) {
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, maxExportLine)
	var v Verification
	var header exportHeader
	if !sc.Scan() {
		return v, fmt.Errorf("verifying the copy: %w", errors.Join(sc.Err(), errors.New("it is empty")))
	}
	if err := unmarshal(sc.Bytes(), &header); err != nil || header.Format != exportFormat {
		return v, fmt.Errorf("verifying the copy: its first line is not that of an export (format %s)", exportFormat)
	}
	var h head
	if header.Checkpoint != "" {
		var err error
		if h, err = openCheckpoint(header.Checkpoint, by); err != nil {
			v.problem("%v", err)
		}
	}
	v.Checkpoint = h.text
	t := newTree(&v, by, h, outside)
	for sc.Scan() {
		var env envelope
		if err := unmarshal(sc.Bytes(), &env); err != nil {
			v.problem("line %d is not an event: %v", t.size+2, err)
		} else if env.Seq != t.size {
			v.problem("event %d stands where event %d should", env.Seq, t.size)
		}
		if err := t.add(sc.Bytes()); err != nil {
			return v, fmt.Errorf("verifying the copy: %w", err)
		}
	}
	if err := sc.Err(); err != nil {
		return v, fmt.Errorf("verifying the copy: %w", err)
	}
	t.finish()
	return v, nil
}

// A Proof shows that one event is in the log, to somebody who has the public
// key and nothing else.
type Proof struct {
	Seq        int64       `json:"seq"`
	Event      string      `json:"event"` // as it was hashed: a text, so that no JSON tool changes a byte
	Hashes     []tlog.Hash `json:"hashes"`
	Checkpoint string      `json:"checkpoint"`
}

// Prove gives the proof of one event against the newest checkpoint.
func (r *Reader) Prove(ctx context.Context, seq int64) (Proof, error) {
	wrap := func(err error) error { return fmt.Errorf("proving event %d: %w", seq, explain(err)) }
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Proof{}, wrap(err)
	}
	defer func() { _ = tx.Rollback() }() // it only read
	h, err := readHead(ctx, tx, r.verifier, head{})
	if err != nil {
		return Proof{}, wrap(err)
	}
	var data []byte
	err = tx.QueryRowContext(ctx, "SELECT data FROM events WHERE seq = ?", seq).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return Proof{}, wrap(ErrNotFound)
	}
	if err != nil {
		return Proof{}, wrap(err)
	}
	hashes, err := tlog.ProveRecord(h.size, seq, hashReader(ctx, tx))
	if err != nil {
		return Proof{}, wrap(err)
	}
	p := Proof{Seq: seq, Event: string(data), Hashes: hashes, Checkpoint: h.text}
	return p, p.Check(r.verifier)
}

// Check reports whether the proof holds. The event's bytes must be those that
// were recorded, to the last space.
func (p Proof) Check(by note.Verifier) error {
	h, err := openCheckpoint(p.Checkpoint, by)
	if err != nil {
		return err
	}
	if err := tlog.CheckRecord(p.Hashes, h.size, h.root, p.Seq, tlog.RecordHash([]byte(p.Event))); err != nil {
		return fmt.Errorf("%w: the proof of event %d does not hold (%w)", ErrTampered, p.Seq, err)
	}
	return nil
}

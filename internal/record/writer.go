package record

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// maxBatch bounds the requests of one transaction, and with it the memory and
// the time that the first of them waits for the last.
const maxBatch = 256

// A request is one Append waiting for its transaction.
type request struct {
	events  []pending
	receipt Receipt
	err     error
	done    chan struct{} // closed when receipt and err are final
}

// A writer owns the one connection that writes. All its fields belong to the
// goroutine that runs loop.
type writer struct {
	log  *Log
	seen head      // newest checkpoint that was verified
	conn *sql.Conn // nil after a failure: the next transaction gets a new one
}

// newWriter verifies that store, key and tree belong together.
func newWriter(ctx context.Context, l *Log, conn *sql.Conn) (*writer, error) {
	w := &writer{log: l, conn: conn}
	h, err := readHead(ctx, w.conn, l.verifier, head{})
	if err != nil {
		return nil, err
	}
	if err := advance(ctx, w.conn, head{}, h); err != nil {
		return nil, err
	}
	w.seen = h
	return w, nil
}

// loop commits what callers append, all that waits at once: one fsync for many.
// Its transactions end with the log, not with the context of a caller.
func (w *writer) loop(ctx context.Context) {
	for {
		select {
		case r := <-w.log.requests:
			w.commit(ctx, w.gather(r))
		case <-w.log.quit:
			if w.conn != nil {
				_ = w.conn.Close() // back to the pool, which Close closes next
			}
			return
		}
	}
}

func (w *writer) gather(first *request) []*request {
	batch := []*request{first}
	for len(batch) < maxBatch {
		select {
		case r := <-w.log.requests:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// commit runs one transaction and tells every caller what became of it.
func (w *writer) commit(ctx context.Context, batch []*request) {
	h, err := w.transaction(ctx, batch)
	if err != nil {
		w.drop()
	} else {
		w.seen = h
	}
	for _, r := range batch {
		if err != nil {
			r.err = explain(err)
		}
		if r.err == nil {
			r.receipt.Size, r.receipt.Checkpoint = h.size, h.text
		}
		close(r.done)
	}
}

// drop closes the connection, which rolls back whatever is open on it. After a
// failed commit nobody knows what is on disk: the next transaction finds out
// by reading the head.
func (w *writer) drop() {
	if w.conn == nil {
		return
	}
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	w.conn = nil
}

func (w *writer) transaction(ctx context.Context, batch []*request) (head, error) {
	if w.conn == nil {
		conn, err := w.log.db.Conn(ctx)
		if err != nil {
			return head{}, fmt.Errorf("opening the store again: %w", err)
		}
		w.conn = conn
	}
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return head{}, fmt.Errorf("beginning: %w", err)
	}
	old, err := readHead(ctx, w.conn, w.log.verifier, w.seen)
	if err != nil {
		return head{}, err
	}
	if err := advance(ctx, w.conn, w.seen, old); err != nil {
		return head{}, err
	}
	size := old.size
	at := w.log.now().UTC()
	for _, r := range batch {
		if size, err = w.insert(ctx, r, size, at); err != nil {
			return head{}, err
		}
	}
	if size == old.size {
		_, err := w.conn.ExecContext(ctx, "ROLLBACK") // only duplicates
		return old, err
	}
	return w.seal(ctx, size)
}

// insert writes one request behind a savepoint: a duplicate undoes this
// request and spoils no other.
func (w *writer) insert(ctx context.Context, r *request, size int64, at time.Time) (int64, error) {
	if _, err := w.conn.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return size, fmt.Errorf("beginning: %w", err)
	}
	next := size
	for _, p := range r.events {
		err := w.event(ctx, p, next, at)
		if duplicate, occupied := constraint(err); duplicate {
			r.err = fmt.Errorf("%w: %s of %s", ErrDuplicate, p.kind, p.decision+p.tag)
			_, err := w.conn.ExecContext(ctx, "ROLLBACK TO one")
			return size, err
		} else if occupied {
			return size, fmt.Errorf("%w: there are events or hashes beyond the checkpoint (%w)", ErrTampered, err)
		}
		if err != nil {
			return size, fmt.Errorf("writing event %d: %w", next, err)
		}
		next++
	}
	if _, err := w.conn.ExecContext(ctx, "RELEASE one"); err != nil {
		return size, fmt.Errorf("writing event %d: %w", next, err)
	}
	r.receipt.First = size
	return next, nil
}

// event writes one leaf and the hashes that it completes.
func (w *writer) event(ctx context.Context, p pending, seq int64, at time.Time) error {
	data, err := compact(envelope{Version: storedVersion, Seq: seq, At: at, Kind: p.kind, Decision: p.decision, Tag: p.tag, Body: p.body})
	if err != nil {
		return err
	}
	_, err = w.conn.ExecContext(ctx, "INSERT INTO events (seq, at, kind, decision, tag, data) VALUES (?, ?, ?, ?, ?, ?)",
		seq, at.Format(time.RFC3339Nano), string(p.kind), p.decision, p.tag, data)
	if err != nil {
		return err
	}
	hashes, err := tlog.StoredHashes(seq, data, hashReader(ctx, w.conn))
	if err != nil {
		return err
	}
	first := tlog.StoredHashIndex(0, seq)
	for i, h := range hashes {
		if _, err := w.conn.ExecContext(ctx, "INSERT INTO hashes (idx, hash) VALUES (?, ?)", first+int64(i), h[:]); err != nil {
			return err
		}
	}
	return nil
}

// seal signs the new tree and commits. The checkpoint is part of the
// transaction: a log on disk always has one that fits.
func (w *writer) seal(ctx context.Context, size int64) (head, error) {
	root, err := tlog.TreeHash(size, hashReader(ctx, w.conn))
	if err != nil {
		return head{}, fmt.Errorf("computing the tree: %w", err)
	}
	h, err := w.log.key.sign(size, root)
	if err != nil {
		return head{}, err
	}
	_, err = w.conn.ExecContext(ctx, "INSERT INTO head (id, size, note) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET size = excluded.size, note = excluded.note", h.size, h.text)
	if err != nil {
		return head{}, fmt.Errorf("writing the checkpoint: %w", err)
	}
	if _, err := w.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return head{}, fmt.Errorf("committing: %w", err)
	}
	return h, nil
}

// Package record is the append-only, tamper-evident log of everything that
// Interlock received, found, decided and did, and the store behind it.
//
// It exists so that a decision can be trusted afterwards: every event is a
// leaf of a Merkle tree, written in the same SQLite transaction as the tree's
// hashes and a checkpoint signed with the installation's key. Append returns
// only when that transaction is on disk (C25), so whoever grants something
// grants it on a record that survives. What a store of this kind can show, and
// what it cannot, is stated by Verify (C26).
//
// Nothing in the store is ever updated in place except the one row that holds
// the newest checkpoint: queues, tokens and pages are read from the events.
package record

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors that callers tell apart.
var (
	ErrDuplicate = errors.New("already recorded")                         // an event that may be recorded once only is there already
	ErrNotFound  = errors.New("not in the record")                        // no such decision or event
	ErrTampered  = errors.New("the record has been tampered with")        // a signed promise does not hold
	ErrMissing   = errors.New("the store does not exist")                 // Open without Create
	ErrForeign   = errors.New("not an Interlock store")                   // another program's file
	ErrNewer     = errors.New("the store is from a newer version")        // upgrade the program
	ErrFull      = errors.New("the disk or the store's quota is full")    // nothing was recorded
	ErrReadOnly  = errors.New("the store cannot be written")              // nothing was recorded
	ErrBusy      = errors.New("the store is locked by another process")   // nothing was recorded
	ErrDamaged   = errors.New("the store's file is damaged")              // SQLite cannot read it
	ErrWrongKey  = errors.New("the store is signed with a different key") // key file and store do not belong together
	ErrClosed    = errors.New("the record is closed")
)

// Options are what Open needs besides the path and the key.
type Options struct {
	Create      bool             // make a new store where none exists
	Now         func() time.Time // our clock, stamped on every event
	BusyTimeout time.Duration    // how long to wait for another process; zero: 5 s
}

// A Log is an open store that can be appended to. Its methods may be called
// from any number of goroutines, and any number of processes may hold a Log on
// the same store (R60): the head is read again inside each transaction.
type Log struct {
	*Reader
	key *Key
	now func() time.Time

	requests chan *request
	quit     chan struct{}  // closed by Close
	done     sync.WaitGroup // the writer goroutine
	closing  sync.Once
}

// Open opens the store at path, or creates it, and starts its writer. It
// refuses a store that is missing, foreign, newer than this program, signed
// with another key, or whose tree does not match its signed checkpoint. ctx
// bounds opening only.
func Open(ctx context.Context, path string, key *Key, o Options) (*Log, error) {
	if key == nil || o.Now == nil {
		return nil, fmt.Errorf("opening the record %s: a signing key and a clock are needed", path)
	}
	created, err := prepareFile(path, o.Create)
	if err != nil {
		return nil, fmt.Errorf("opening the record %s: %w", path, err)
	}
	db, err := sql.Open("sqlite", dsn(path, o.BusyTimeout, false))
	if err != nil {
		return nil, fmt.Errorf("opening the record %s: %w", path, err)
	}
	db.SetMaxIdleConns(maxIdleReaders)
	l, err := start(ctx, db, path, key, o, created)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

// maxIdleReaders bounds the connections that are kept: each has a page cache.
const maxIdleReaders = 4

// start brings the schema up to date, checks the head and starts the writer.
func start(ctx context.Context, db *sql.DB, path string, key *Key, o Options, created bool) (*Log, error) {
	wrap := func(err error) error { return fmt.Errorf("opening the record %s: %w", path, explain(err)) }
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	l := &Log{
		Reader: &Reader{db: db, path: path, verifier: key.verifier}, key: key, now: o.Now,
		requests: make(chan *request), quit: make(chan struct{}),
	}
	if err := migrate(ctx, conn, migrations, created || o.Create); err != nil {
		return nil, errors.Join(wrap(err), conn.Close())
	}
	w, err := newWriter(ctx, l, conn)
	if err != nil {
		return nil, errors.Join(wrap(err), conn.Close())
	}
	own := context.WithoutCancel(ctx)
	l.done.Go(func() { w.loop(own) })
	return l, nil
}

// Close stops the writer after the events it has taken, and closes the store.
// Appends that come later get ErrClosed.
func (l *Log) Close() error {
	var err error
	l.closing.Do(func() {
		close(l.quit)
		l.done.Wait()
		err = l.db.Close()
	})
	if err != nil {
		return fmt.Errorf("closing the record: %w", err)
	}
	return nil
}

// A Receipt says where events stand in the log.
type Receipt struct {
	First      int64  // sequence number of the first event
	Size       int64  // events in the log after the transaction
	Checkpoint string // signed note over the tree of that size
}

// Append records events in their order, all or none, and returns when they are
// durable. After an error nothing may be granted (C25): the events are not in
// the log, except when the context ended while waiting, where they may be.
func (l *Log) Append(ctx context.Context, events ...Event) (Receipt, error) {
	if len(events) == 0 {
		return Receipt{}, errors.New("recording: no events given")
	}
	r := &request{done: make(chan struct{})}
	for _, e := range events {
		p, err := encode(e)
		if err != nil {
			return Receipt{}, fmt.Errorf("recording %s: %w", e.Kind(), err)
		}
		r.events = append(r.events, p)
	}
	select {
	case l.requests <- r:
	case <-l.quit:
		return Receipt{}, fmt.Errorf("recording %s: %w", events[0].Kind(), ErrClosed)
	case <-ctx.Done():
		return Receipt{}, fmt.Errorf("recording %s: %w", events[0].Kind(), ctx.Err())
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return Receipt{}, fmt.Errorf("recording %s: gave up waiting, it may be recorded: %w", events[0].Kind(), ctx.Err())
	}
	if r.err != nil {
		return Receipt{}, fmt.Errorf("recording %s in %s: %w", events[0].Kind(), l.path, r.err)
	}
	return r.receipt, nil
}

// digest is the SHA-256 of data, hex, as package plan gives it for a plan.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

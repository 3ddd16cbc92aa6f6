package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A Reader reads a store. It never writes, not even the file's own journal.
type Reader struct {
	db       *sql.DB
	path     string
	verifier note.Verifier
}

// OpenReader opens an existing store for reading. The verifier is the public
// key that its checkpoints must be signed with.
func OpenReader(ctx context.Context, path string, verifier note.Verifier) (*Reader, error) {
	wrap := func(err error) error { return fmt.Errorf("opening the record %s: %w", path, explain(err)) }
	if _, err := prepareFile(path, false); err != nil {
		return nil, wrap(err)
	}
	db, err := sql.Open("sqlite", dsn(path, 0, true))
	if err != nil {
		return nil, wrap(err)
	}
	version, err := schemaVersion(ctx, db, migrations[len(migrations)-1].version)
	if err == nil && version == 0 {
		err = fmt.Errorf("%w: it is an empty database", ErrForeign)
	}
	if err != nil {
		return nil, errors.Join(wrap(err), db.Close())
	}
	return &Reader{db: db, path: path, verifier: verifier}, nil
}

// Close closes the store.
func (r *Reader) Close() error { return r.db.Close() }

// Path returns the path of the store.
func (r *Reader) Path() string { return r.path }

// An Entry is one event with its place in the log.
type Entry struct {
	Seq      int64
	At       time.Time // when it was appended, our clock
	Kind     Kind
	Decision string // "" if it concerns none
	Tag      string
	Data     []byte // the leaf as it was hashed: one line of JSON
}

// Event decodes what happened.
func (e Entry) Event() (Event, error) {
	var env envelope
	if err := unmarshal(e.Data, &env); err != nil {
		return nil, fmt.Errorf("reading event %d: %w", e.Seq, err)
	}
	return decode(env)
}

// A Query selects events. The zero value selects all, oldest first.
type Query struct {
	Kinds    []Kind // any of them; none: all
	Decision string // only of this decision
	Tag      string // only with this tag, e.g. the outcome of a decided event
	From     int64  // sequence number to begin with (newest first: to end before, if above 0)
	Newest   bool   // newest first
	Limit    int    // at most so many; 0: all
}

// sql gives the statement. Nothing in it comes from a value.
func (q Query) sql() (string, []any) {
	var where []string
	var args []any
	and := func(cond string, values ...any) {
		where = append(where, cond)
		args = append(args, values...)
	}
	if len(q.Kinds) > 0 {
		marks := make([]string, len(q.Kinds))
		values := make([]any, len(q.Kinds))
		for i, k := range q.Kinds {
			marks[i], values[i] = "?", string(k)
		}
		and("kind IN ("+strings.Join(marks, ", ")+")", values...)
	}
	if q.Decision != "" {
		and("decision = ?", q.Decision)
	}
	if q.Tag != "" {
		and("tag = ?", q.Tag)
	}
	if !q.Newest {
		and("seq >= ?", q.From)
	} else if q.From > 0 {
		and("seq < ?", q.From)
	}
	text := "SELECT seq, at, kind, decision, tag, data FROM events"
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	text += " ORDER BY seq"
	if q.Newest {
		text += " DESC"
	}
	if q.Limit > 0 {
		text += " LIMIT ?"
		args = append(args, q.Limit)
	}
	return text, args
}

// Tail yields events. It reads fast and does not verify the tree: what
// somebody is going to act on is read with Get.
func (r *Reader) Tail(ctx context.Context, q Query) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { tail(ctx, r.db, r.path, q, yield) }
}

func tail(ctx context.Context, db querier, path string, q Query, yield func(Entry, error) bool) {
	fail := func(err error) { yield(Entry{}, fmt.Errorf("reading the record %s: %w", path, explain(err))) }
	text, args := q.sql()
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		fail(err)
		return
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			fail(err)
			return
		}
		if !yield(e, nil) {
			return
		}
	}
	if err := rows.Err(); err != nil {
		fail(err)
	}
}

// scanEntry reads a row and checks its columns against the leaf, which is what
// the tree vouches for.
func scanEntry(rows *sql.Rows) (Entry, error) {
	var seq int64
	var at, kind, decision, tag string
	var data []byte
	if err := rows.Scan(&seq, &at, &kind, &decision, &tag, &data); err != nil {
		return Entry{}, err
	}
	var env envelope
	if err := unmarshal(data, &env); err != nil {
		return Entry{}, fmt.Errorf("%w: event %d is unreadable (%w)", ErrTampered, seq, err)
	}
	if env.Seq != seq || env.At.Format(time.RFC3339Nano) != at || string(env.Kind) != kind || env.Decision != decision || env.Tag != tag {
		return Entry{}, fmt.Errorf("%w: the row of event %d does not agree with what was recorded", ErrTampered, seq)
	}
	return Entry{Seq: seq, At: env.At, Kind: env.Kind, Decision: decision, Tag: tag, Data: data}, nil
}

// A Dossier is all that was recorded about one decision.
type Dossier struct {
	ID         string
	Received   *Received // nil if not recorded
	Decided    *Decided  // nil while undecided, or if the process died before deciding
	Reviewed   *Reviewed // nil while no person has decided
	ReceivedAt time.Time // our clock
	DecidedAt  time.Time
	DecidedSeq int64 // where the decision stands in the log
	ReviewedAt time.Time
	Entries    []Entry // all events of the decision in order, later ones included
}

// Proven reads events and proves each of them against the signed checkpoint,
// for callers that are going to act on what they read: a row that was changed
// in or added to the file behind our back gives ErrTampered.
func (r *Reader) Proven(ctx context.Context, q Query) ([]Entry, error) {
	wrap := func(err error) error { return fmt.Errorf("reading the record %s: %w", r.path, explain(err)) }
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, wrap(err)
	}
	defer func() { _ = tx.Rollback() }() // it only read
	var entries []Entry
	tail(ctx, tx, r.path, q, func(e Entry, entryErr error) bool {
		err = entryErr
		if err == nil {
			entries = append(entries, e)
		}
		return err == nil
	})
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	h, err := readHead(ctx, tx, r.verifier, head{})
	if err != nil {
		return nil, wrap(err)
	}
	for _, e := range entries {
		if err := proven(ctx, tx, h, e); err != nil {
			return nil, wrap(err)
		}
	}
	return entries, nil
}

// Get reads everything about a decision, proven. ErrNotFound if there is
// nothing, ErrTampered if a proof fails.
func (r *Reader) Get(ctx context.Context, decision string) (Dossier, error) {
	wrap := func(err error) error { return fmt.Errorf("decision %q: %w", decision, err) }
	if decision == "" {
		return Dossier{}, wrap(ErrNotFound)
	}
	entries, err := r.Proven(ctx, Query{Decision: decision})
	if err != nil {
		return Dossier{}, wrap(err)
	}
	if len(entries) == 0 {
		return Dossier{}, wrap(ErrNotFound)
	}
	d := Dossier{ID: decision, Entries: entries}
	for _, e := range entries {
		if err := d.add(e); err != nil {
			return Dossier{}, wrap(err)
		}
	}
	return d, nil
}

// proven checks that an event is in the tree of the signed checkpoint.
func proven(ctx context.Context, q querier, h head, e Entry) error {
	if e.Seq >= h.size {
		return fmt.Errorf("%w: event %d is beyond the checkpoint", ErrTampered, e.Seq)
	}
	proof, err := tlog.ProveRecord(h.size, e.Seq, hashReader(ctx, q))
	if err != nil {
		return fmt.Errorf("proving event %d: %w", e.Seq, err)
	}
	if err := tlog.CheckRecord(proof, h.size, h.root, e.Seq, tlog.RecordHash(e.Data)); err != nil {
		return fmt.Errorf("%w: event %d is not what was recorded (%w)", ErrTampered, e.Seq, err)
	}
	return nil
}

func (d *Dossier) add(e Entry) error {
	event, err := e.Event()
	if err != nil {
		return err
	}
	switch event := event.(type) {
	case Received:
		if digest(event.Plan) != event.PlanDigest {
			return fmt.Errorf("%w: the plan does not have the digest it was recorded with", ErrTampered)
		}
		d.Received, d.ReceivedAt = &event, e.At
	case Decided:
		d.Decided, d.DecidedAt, d.DecidedSeq = &event, e.At, e.Seq
	case Reviewed:
		d.Reviewed, d.ReviewedAt = &event, e.At
	case Checked, Judged, Ruled, Granted, Sent, Done, StateChanged, ToolPinned, TokenIssued, TokenRevoked, DocumentDecided, Forgotten, Attention, Resolved, Voided, Execution:
		// in Entries
	}
	return nil
}

// Undecided returns the ids of escalated decisions that no person has decided,
// oldest first. It is read from the events, so it survives whatever the
// process does not.
func (r *Reader) Undecided(ctx context.Context) ([]string, error) {
	return r.ids(ctx, `SELECT decision FROM events AS d WHERE kind = 'decided' AND tag = 'escalate'
		AND NOT EXISTS (SELECT 1 FROM events WHERE decision = d.decision AND kind = 'reviewed') ORDER BY seq`)
}

// Interrupted returns the ids of plans that were received and never decided:
// the process died in between, or they are being judged now.
func (r *Reader) Interrupted(ctx context.Context) ([]string, error) {
	return r.ids(ctx, `SELECT decision FROM events AS p WHERE kind = 'received'
		AND NOT EXISTS (SELECT 1 FROM events WHERE decision = p.decision AND kind = 'decided') ORDER BY seq`)
}

func (r *Reader) ids(ctx context.Context, query string, args ...any) ([]string, error) {
	wrap := func(err error) error { return fmt.Errorf("reading the record %s: %w", r.path, explain(err)) }
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, wrap(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, wrap(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, wrap(err)
	}
	return ids, nil
}

// Checkpoint returns the newest signed checkpoint and the number of events it
// covers; an empty text for an empty log. Kept elsewhere, it is what finds a
// file that was replaced as a whole.
func (r *Reader) Checkpoint(ctx context.Context) (text string, size int64, err error) {
	h, err := readHead(ctx, r.db, r.verifier, head{})
	if err != nil {
		return "", 0, fmt.Errorf("reading the record %s: %w", r.path, explain(err))
	}
	return h.text, h.size, nil
}

package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A querier is a database, a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// A head is the newest signed checkpoint. Only the newest is kept: an old one
// beside the log would let anybody cut the log back to it.
type head struct {
	size int64
	root tlog.Hash
	text string // the signed note; "" for the empty log
}

// sign makes the checkpoint over a tree: origin, size and root, one a line.
func (k *Key) sign(size int64, root tlog.Hash) (head, error) {
	body := k.Name() + "\n" + strconv.FormatInt(size, 10) + "\n" + root.String() + "\n"
	text, err := note.Sign(&note.Note{Text: body}, k.signer)
	if err != nil {
		return head{}, fmt.Errorf("signing the checkpoint: %w", err)
	}
	return head{size: size, root: root, text: string(text)}, nil
}

// openCheckpoint verifies the signature of a checkpoint and reads it.
func openCheckpoint(text string, by note.Verifier) (head, error) {
	n, err := note.Open([]byte(text), note.VerifierList(by))
	if err != nil {
		var unverified *note.UnverifiedNoteError
		if errors.As(err, &unverified) {
			return head{}, fmt.Errorf("%w: the checkpoint is not signed by %s", ErrWrongKey, by.Name())
		}
		return head{}, fmt.Errorf("%w: the checkpoint's signature does not hold (%w)", ErrTampered, err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[0] != by.Name() || lines[3] != "" {
		return head{}, fmt.Errorf("%w: the checkpoint is not one of this log", ErrTampered)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 1 {
		return head{}, fmt.Errorf("%w: the checkpoint's size is %q", ErrTampered, lines[1])
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil {
		return head{}, fmt.Errorf("%w: the checkpoint's root is unreadable", ErrTampered)
	}
	return head{size: size, root: root, text: text}, nil
}

// readHead reads the newest checkpoint and verifies its signature. known is
// what was verified before: the same text is not verified again.
func readHead(ctx context.Context, q querier, by note.Verifier, known head) (head, error) {
	var size int64
	var text string
	err := q.QueryRowContext(ctx, "SELECT size, note FROM head WHERE id = 1").Scan(&size, &text)
	if errors.Is(err, sql.ErrNoRows) {
		var events int64
		if err := q.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM events LIMIT 1)").Scan(&events); err != nil {
			return head{}, fmt.Errorf("reading the checkpoint: %w", err)
		}
		if events != 0 {
			return head{}, fmt.Errorf("%w: there are events and no checkpoint", ErrTampered)
		}
		return head{}, nil
	}
	if err != nil {
		return head{}, fmt.Errorf("reading the checkpoint: %w", err)
	}
	if known.text == text && known.size == size {
		return known, nil
	}
	h, err := openCheckpoint(text, by)
	if err != nil {
		return head{}, err
	}
	if h.size != size {
		return head{}, fmt.Errorf("%w: the checkpoint is for %d events, its row says %d", ErrTampered, h.size, size)
	}
	return h, nil
}

// advance accepts a head that another process wrote only if it extends the one
// that was seen before: same history, more events.
func advance(ctx context.Context, q querier, seen, now head) error {
	if now.text == seen.text {
		return nil
	}
	if now.size < seen.size {
		return fmt.Errorf("%w: the log has %d events and had %d", ErrTampered, now.size, seen.size)
	}
	r := hashReader(ctx, q)
	for _, h := range []head{seen, now} {
		if h.size == 0 {
			continue
		}
		root, err := tlog.TreeHash(h.size, r)
		if err != nil {
			return fmt.Errorf("reading the tree: %w", err)
		}
		if root != h.root {
			return fmt.Errorf("%w: the tree of %d events does not match its signed checkpoint", ErrTampered, h.size)
		}
	}
	return nil
}

// hashReader reads the tree's hashes from the store, all of one call at once.
func hashReader(ctx context.Context, q querier) tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		if len(indexes) == 0 {
			return hashes, nil
		}
		found, err := storedHashes(ctx, q, indexes)
		if err != nil {
			return nil, fmt.Errorf("reading the tree: %w", err)
		}
		for i, idx := range indexes {
			b := found[idx]
			if len(b) != tlog.HashSize {
				return nil, fmt.Errorf("%w: hash %d of the tree is missing", ErrTampered, idx)
			}
			copy(hashes[i][:], b)
		}
		return hashes, nil
	})
}

func storedHashes(ctx context.Context, q querier, indexes []int64) (map[int64][]byte, error) {
	args := make([]any, len(indexes))
	for i, idx := range indexes {
		args[i] = idx
	}
	// Only the number of marks varies; no value becomes part of the text.
	rows, err := q.QueryContext(ctx, "SELECT idx, hash FROM hashes WHERE idx IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	found := make(map[int64][]byte, len(indexes))
	for rows.Next() {
		var idx int64
		var b []byte
		if err := rows.Scan(&idx, &b); err != nil {
			return nil, err
		}
		found[idx] = b
	}
	return found, rows.Err()
}

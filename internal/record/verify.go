package record

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// A Verification is what was found about a log or a copy of it.
type Verification struct {
	Size          int64    `json:"size"`           // events seen
	Checkpoint    string   `json:"checkpoint"`     // the signed note they were held against
	Problems      []string `json:"problems"`       // each one is tampering or damage; empty if none was found
	CannotExclude []string `json:"cannot_exclude"` // what no look at this file alone can find
}

// OK reports whether nothing was found.
func (v Verification) OK() bool { return len(v.Problems) == 0 }

// maxProblems bounds the list: a file that was replaced has one for each event.
const maxProblems = 50

func (v *Verification) problem(format string, args ...any) {
	switch {
	case len(v.Problems) < maxProblems:
		v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
	case len(v.Problems) == maxProblems:
		v.Problems = append(v.Problems, "and more, not listed")
	}
}

// Verify reads the whole log, computes its tree anew and compares it with the
// stored tree, the signed checkpoint and, if given, an outside checkpoint: a
// signed note that was kept elsewhere. It finds change, reorder, insertion and
// truncation by itself, and replacement of the whole file by an older or
// another one with an outside checkpoint (C26). An error means that it could
// not look, not that something was found.
func (r *Reader) Verify(ctx context.Context, outside string) (Verification, error) {
	wrap := func(err error) error { return fmt.Errorf("verifying the record %s: %w", r.path, explain(err)) }
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one snapshot: others may write meanwhile
	if err != nil {
		return Verification{}, wrap(err)
	}
	defer func() { _ = tx.Rollback() }() // it only read
	v := Verification{}
	if err := verifyFile(ctx, tx, &v); err != nil {
		return v, damaged(&v, wrap(err))
	}
	h, err := readHead(ctx, tx, r.verifier, head{})
	if err != nil {
		v.problem("%v", explain(err))
		h = head{}
	}
	v.Checkpoint = h.text
	t := newTree(&v, r.verifier, h, outside)
	if err := verifyEvents(ctx, tx, &v, t); err != nil {
		return v, damaged(&v, wrap(err))
	}
	t.finish()
	return v, nil
}

// damaged turns an unreadable file into a finding: whatever made it so, the
// record is not what was written.
func damaged(v *Verification, err error) error {
	if strings.Contains(err.Error(), ErrDamaged.Error()) || strings.Contains(err.Error(), ErrTampered.Error()) {
		v.problem("%v", err)
		return nil
	}
	return err
}

// verifyFile checks the database itself: an index that hides a row would make
// a decision or a revocation invisible while the tree stays right.
func verifyFile(ctx context.Context, q querier, v *Verification) error {
	rows, err := q.QueryContext(ctx, "PRAGMA integrity_check(20)")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			v.problem("the file is damaged: %s", line)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return verifySchema(ctx, q, v)
}

// verifySchema compares the schema with the one this program makes: a dropped
// trigger or index would let a later write break the rules of the log.
func verifySchema(ctx context.Context, q querier, v *Verification) error {
	rows, err := q.QueryContext(ctx, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	found := map[string]bool{}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		found[text] = true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	// A store that no newer program has written to has the schema of its version.
	version, err := schemaVersion(ctx, q, migrations[len(migrations)-1].version)
	if err != nil {
		return err
	}
	want := statements(version)
	for text := range want {
		if !found[text] {
			v.problem("the schema has lost: %s", oneLine(text))
		}
	}
	for text := range found {
		if !want[text] {
			v.problem("the schema has gained: %s", oneLine(text))
		}
	}
	return nil
}

// statements gives the CREATE statements of a version as SQLite keeps them.
func statements(version int) map[string]bool {
	all := map[string]bool{}
	for _, m := range migrations {
		if m.version > version {
			break
		}
		for s := range strings.SplitSeq(m.sql, "\nCREATE ") {
			s = strings.TrimSpace(s)
			if s != "" {
				all["CREATE "+strings.TrimSuffix(strings.TrimPrefix(s, "CREATE "), ";")] = true
			}
		}
	}
	return all
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// verifyEvents walks all events and all stored hashes once, side by side.
func verifyEvents(ctx context.Context, q querier, v *Verification, t *tree) error {
	stored, err := q.QueryContext(ctx, "SELECT idx, hash FROM hashes ORDER BY idx")
	if err != nil {
		return err
	}
	defer func() { _ = stored.Close() }() // stored.Err says what went wrong
	t.stored = func() (int64, []byte, error) {
		if !stored.Next() {
			return -1, nil, stored.Err()
		}
		var idx int64
		var b []byte
		err := stored.Scan(&idx, &b)
		return idx, b, err
	}
	rows, err := q.QueryContext(ctx, "SELECT seq, at, kind, decision, tag, data FROM events ORDER BY seq")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err says what went wrong
	for rows.Next() {
		var seq int64
		var data []byte
		var at, kind, decision, tag string
		if err := rows.Scan(&seq, &at, &kind, &decision, &tag, &data); err != nil {
			return err
		}
		if seq != t.size {
			v.problem("event %d stands where event %d should", seq, t.size)
		}
		if _, err := scanEntry(rows); err != nil {
			v.problem("%v", err)
		}
		if err := t.add(data); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := t.drain(); err != nil {
		return err
	}
	return stored.Err()
}

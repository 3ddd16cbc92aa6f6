package record

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A tree computes the Merkle tree of a log anew from its leaves and holds it
// against the checkpoints on the way. It keeps the right edge only: the last
// complete subtree of each level.
type tree struct {
	v       *Verification
	size    int64
	edge    map[int]node
	head    head
	outside *head
	marks   map[int64]tlog.Hash           // roots at the sizes of the checkpoints
	stored  func() (int64, []byte, error) // next stored hash, index -1 at the end; nil for a copy, which has none
}

// A node is a complete subtree: the n-th of its level.
type node struct {
	n    int64
	hash tlog.Hash
}

func newTree(v *Verification, by note.Verifier, h head, outside string) *tree {
	t := &tree{v: v, edge: map[int]node{}, head: h, marks: map[int64]tlog.Hash{}}
	if strings.TrimSpace(outside) == "" {
		v.CannotExclude = append(v.CannotExclude,
			"that the whole file was replaced by an older copy of itself: only a checkpoint kept elsewhere shows it (--checkpoint)")
	} else if o, err := openCheckpoint(outside, by); err != nil {
		v.problem("the outside checkpoint: %v", err)
	} else {
		t.outside = &o
	}
	v.CannotExclude = append(v.CannotExclude,
		"that somebody who holds the signing key wrote another history after the last checkpoint kept elsewhere")
	return t
}

// ReadHashes implements tlog.HashReader over the right edge.
func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, idx := range indexes {
		level, n := tlog.SplitStoredHashIndex(idx)
		e, ok := t.edge[level]
		if !ok || e.n != n {
			return nil, fmt.Errorf("hash %d is not on the right edge of a tree of %d", idx, t.size)
		}
		out[i] = e.hash
	}
	return out, nil
}

// add takes the next leaf and compares the hashes it completes with the
// stored ones.
func (t *tree) add(data []byte) error {
	hashes, err := tlog.StoredHashes(t.size, data, t)
	if err != nil {
		return err
	}
	first := tlog.StoredHashIndex(0, t.size)
	for i, h := range hashes {
		idx := first + int64(i)
		level, n := tlog.SplitStoredHashIndex(idx)
		t.edge[level] = node{n, h}
		if t.stored == nil {
			continue
		}
		at, b, err := t.stored()
		if err != nil {
			return err
		}
		if at != idx || !bytes.Equal(b, h[:]) {
			t.v.problem("event %d is not what was recorded, or its hash was changed (hash %d)", t.size, idx)
		}
	}
	t.size++
	t.v.Size = t.size
	if t.size == t.head.size || (t.outside != nil && t.size == t.outside.size) {
		root, err := tlog.TreeHash(t.size, t)
		if err != nil {
			return err
		}
		t.marks[t.size] = root
	}
	return nil
}

// drain looks for stored hashes that belong to no event.
func (t *tree) drain() error {
	idx, _, err := t.stored()
	if err == nil && idx >= 0 {
		t.v.problem("there are stored hashes beyond the last event: events were cut off")
	}
	return err
}

// finish compares what was computed with what was signed.
func (t *tree) finish() {
	if t.size == 0 && t.outside == nil {
		t.v.CannotExclude = append(t.v.CannotExclude, "that the log was emptied: an empty log has no signature")
	}
	if t.head.size != t.size {
		t.v.problem("the signed checkpoint covers %d events and there are %d: events were cut off or added", t.head.size, t.size)
	} else if t.size > 0 && t.marks[t.size] != t.head.root {
		t.v.problem("the events do not give the signed tree: they were changed, reordered or replaced")
	}
	if t.outside == nil {
		return
	}
	switch root, ok := t.marks[t.outside.size]; {
	case !ok:
		t.v.problem("the outside checkpoint covers %d events and there are %d: the log was cut off or replaced by an older copy", t.outside.size, t.size)
	case root != t.outside.root:
		t.v.problem("the first %d events are not those of the outside checkpoint: the log was rewritten or replaced", t.outside.size)
	}
}

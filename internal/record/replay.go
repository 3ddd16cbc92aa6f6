package record

import (
	"bytes"
	"context"
	"fmt"

	"interlock/internal/verdict"
)

// A Mismatch is a recorded decision that its case does not give (C2).
type Mismatch struct {
	Decision string           `json:"decision"`
	Seq      int64            `json:"seq"`
	Engine   string           `json:"engine"` // version that decided
	Recorded verdict.Decision `json:"recorded"`
	Replayed verdict.Decision `json:"replayed"`
}

// A Replay is the result of deciding recorded cases again.
type Replay struct {
	Decisions  int        `json:"decisions"`
	Mismatches []Mismatch `json:"mismatches"`
}

// Replay decides every recorded case again and compares, byte for byte of the
// JSON, with what was recorded. decide is handed in because the record depends
// on no stage. With decision "" it replays all.
func (r *Reader) Replay(ctx context.Context, decision string, decide func(verdict.Case) verdict.Decision) (Replay, error) {
	out := Replay{Mismatches: []Mismatch{}}
	for e, err := range r.Tail(ctx, Query{Kinds: []Kind{KindDecided}, Decision: decision}) {
		if err != nil {
			return out, err
		}
		event, err := e.Event()
		if err != nil {
			return out, fmt.Errorf("replaying: %w", err)
		}
		d, ok := event.(Decided)
		if !ok {
			return out, fmt.Errorf("replaying event %d: it is a %s, not a decision", e.Seq, event.Kind())
		}
		again := decide(d.Report.Case)
		same, err := equal(again, d.Report.Decision)
		if err != nil {
			return out, fmt.Errorf("replaying decision %s: %w", d.Report.ID, err)
		}
		out.Decisions++
		if !same {
			out.Mismatches = append(out.Mismatches, Mismatch{d.Report.ID, e.Seq, d.Report.Case.DecidedWith.Engine, d.Report.Decision, again})
		}
	}
	if out.Decisions == 0 && decision != "" {
		return out, fmt.Errorf("replaying decision %s: %w", decision, ErrNotFound)
	}
	return out, nil
}

// equal compares as JSON, with absent and empty lists the same: the store
// cannot tell them apart either.
func equal(a, b verdict.Decision) (bool, error) {
	var text [2][]byte
	for i, d := range []verdict.Decision{a, b} {
		if len(d.Reasons) == 0 {
			d.Reasons = nil
		}
		if len(d.Faults) == 0 {
			d.Faults = nil
		}
		var err error
		if text[i], err = compact(d); err != nil {
			return false, err
		}
	}
	return bytes.Equal(text[0], text[1]), nil
}

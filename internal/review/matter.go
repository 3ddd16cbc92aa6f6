package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"interlock/internal/identity"
	"interlock/internal/record"
)

// Answers to a person who resolves a matter.
var (
	ErrNoMatter  = errors.New("no such matter is open")
	ErrOutcome   = errors.New("the outcome is not acceptable")
	ErrUnsettled = errors.New("the gate has not settled this call: it runs now, or the gate has ended and must be started again first")
)

// What a matter can be that is more than something to look at.
const (
	Unknown = "unknown" // a call that may or may not have happened (C19)
	Sent    = "sent"    // a call without a recorded end; not a matter yet, and not to be resolved
)

// The outcomes of a resolution.
const (
	OutcomeDone   = "done"   // the call has happened
	OutcomeFailed = "failed" // it has not, or not as it should have
	OutcomeSeen   = "seen"   // of everything that is not an unknown call
	approved      = "approved"
	quarantined   = "quarantined"
)

// A Matter is something that happened at the gate and that a person must look
// at. It is read from the record, so it survives whatever the gate does not.
type Matter struct {
	ID string
	record.Attention
	Arguments  []byte    // of the call, canonical JSON; nil if it was not recorded
	At         time.Time // of the first report
	Times      int       // how often it was reported; equal reports are one matter
	Resolved   *record.Resolved
	ResolvedAt time.Time

	same []string // ids of the equal reports, its own included
}

// Outcomes lists what a person may answer; nothing if it is not theirs to
// answer yet.
func (m Matter) Outcomes() []string {
	switch m.What {
	case Unknown:
		return []string{OutcomeDone, OutcomeFailed}
	case Sent:
		return nil
	default:
		return []string{OutcomeSeen}
	}
}

// Matters returns what is open, unknown calls first, each kind's oldest first.
func (q *Queue) Matters(ctx context.Context) ([]Matter, error) {
	wrap := func(err error) error { return fmt.Errorf("listing what needs a person: %w", err) }
	ids, err := q.o.Log.OpenMatters(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	var out []Matter
	for _, id := range ids {
		m, err := q.Matter(ctx, id)
		if err != nil {
			return nil, wrap(err)
		}
		if i := slices.IndexFunc(out, m.equal); i >= 0 {
			out[i].Times++
			out[i].same = append(out[i].same, id)
			continue
		}
		out = append(out, m)
	}
	running, err := q.running(ctx)
	if err != nil {
		return nil, wrap(err)
	}
	out = append(out, running...)
	slices.SortStableFunc(out, func(a, b Matter) int { return rank(a.What) - rank(b.What) })
	return out, nil
}

func rank(what string) int {
	switch what {
	case Unknown:
		return 0
	case Sent:
		return 2
	default:
		return 1
	}
}

// equal: what the gate reports anew after each restart is one matter. A call
// or a plan is never equal to another.
func (m Matter) equal(o Matter) bool {
	a, b := m.Attention, o.Attention
	a.Matter, b.Matter = "", ""
	return a == b && a.Call == "" && a.Grant == ""
}

// running gives the calls that were sent and have no end.
func (q *Queue) running(ctx context.Context) ([]Matter, error) {
	ids, err := q.o.Log.Unsettled(ctx)
	if err != nil {
		return nil, err
	}
	var out []Matter
	for _, id := range ids {
		sent, at, err := q.sent(ctx, id)
		if err != nil {
			return nil, err
		}
		if sent == nil {
			continue
		}
		out = append(out, Matter{ID: id, At: at, Times: 1, Arguments: sent.Arguments, Attention: record.Attention{
			Matter: id, What: Sent, Decision: sent.Decision, Grant: sent.Grant, Call: id, Server: sent.Server, Tool: sent.Tool,
			Reason: "no end of the call is recorded: it runs now, or the gate ended while it ran",
		}})
	}
	return out, nil
}

// Matter returns one matter, resolved or not, proven.
func (q *Queue) Matter(ctx context.Context, id string) (Matter, error) {
	entries, err := q.o.Log.Proven(ctx, record.Query{Kinds: []record.Kind{record.KindAttention, record.KindResolved}, Tag: id})
	if err != nil {
		return Matter{}, err
	}
	m := Matter{Times: 1, same: []string{id}}
	for _, e := range entries {
		event, err := e.Event()
		if err != nil {
			return Matter{}, err
		}
		switch event := event.(type) {
		case record.Attention:
			if m.ID == "" {
				m.ID, m.Attention, m.At = id, event, e.At
			}
		case record.Resolved:
			m.Resolved, m.ResolvedAt = &event, e.At
		default:
			return Matter{}, fmt.Errorf("event %d is a %s, not about a matter", e.Seq, event.Kind())
		}
	}
	if m.ID == "" || id == "" {
		return Matter{}, fmt.Errorf("matter %q: %w", id, ErrNoMatter)
	}
	if m.Call == "" {
		return m, nil
	}
	sent, _, err := q.sent(ctx, m.Call)
	if err == nil && sent != nil {
		m.Arguments = sent.Arguments
	}
	return m, err
}

// sent finds what was recorded before a call left; nil if nothing was.
func (q *Queue) sent(ctx context.Context, call string) (*record.Sent, time.Time, error) {
	entries, err := q.o.Log.Proven(ctx, record.Query{Kinds: []record.Kind{record.KindSent}, Tag: call})
	if err != nil || len(entries) == 0 {
		return nil, time.Time{}, err
	}
	event, err := entries[0].Event()
	if err != nil {
		return nil, time.Time{}, err
	}
	s, ok := event.(record.Sent)
	if !ok {
		return nil, time.Time{}, fmt.Errorf("event %d is a %s, not a call", entries[0].Seq, event.Kind())
	}
	return &s, entries[0].At, nil
}

// A Resolution is a person's word on a matter.
type Resolution struct {
	Outcome string // one of the matter's Outcomes
	Note    string // what the person saw; needed for a call whose outcome was unknown
}

// Resolve records a person's word on a matter. who comes from the credential,
// never from a body (C16). Nothing is retried: the gate learns what became of
// the call, and the planner decides what to do next (C19). The same person
// saying the same again gets the same answer.
func (q *Queue) Resolve(ctx context.Context, who identity.Principal, id string, r Resolution) (Matter, error) {
	wrap := func(err error) error { return fmt.Errorf("resolving %s: %w", id, err) }
	if who.Role != identity.Reviewer || who.Name == "" {
		return Matter{}, wrap(ErrNotReviewer)
	}
	if len(r.Note) > maxNote || !utf8.ValidString(r.Note) {
		return Matter{}, wrap(fmt.Errorf("%w: expected at most %d bytes of text", ErrNote, maxNote))
	}
	m, err := q.open(ctx, id)
	if err != nil {
		return Matter{}, wrap(err)
	}
	if m.Resolved != nil {
		return m.again(who, r)
	}
	switch allowed := m.Outcomes(); {
	case len(allowed) == 0:
		return Matter{}, wrap(ErrUnsettled)
	case !slices.Contains(allowed, r.Outcome):
		return Matter{}, wrap(fmt.Errorf("%w: expected %s", ErrOutcome, strings.Join(allowed, " or ")))
	case m.What == Unknown && strings.TrimSpace(r.Note) == "":
		return Matter{}, wrap(fmt.Errorf("%w: say what was seen of the call", ErrNote))
	}
	var events []record.Event
	for _, same := range m.same {
		events = append(events, record.Resolved{Decision: m.Decision, Matter: same, Outcome: r.Outcome, Reviewer: who.Name, Token: who.Token, Note: r.Note})
	}
	_, err = q.o.Log.Append(ctx, events...)
	if err != nil && !errors.Is(err, record.ErrDuplicate) {
		return Matter{}, wrap(err)
	}
	duplicate := err != nil // somebody was faster
	if m, err = q.Matter(ctx, id); err != nil {
		return Matter{}, wrap(err)
	}
	if duplicate {
		return m.again(who, r)
	}
	return m, nil
}

// open finds a matter with all its equal reports.
func (q *Queue) open(ctx context.Context, id string) (Matter, error) {
	all, err := q.Matters(ctx)
	if err != nil {
		return Matter{}, err
	}
	for _, m := range all {
		if m.ID == id || slices.Contains(m.same, id) {
			return m, nil
		}
	}
	return q.Matter(ctx, id)
}

// again answers a resolution of a matter that has one.
func (m Matter) again(who identity.Principal, r Resolution) (Matter, error) {
	if m.Resolved != nil && m.Resolved.Outcome == r.Outcome && m.Resolved.Reviewer == who.Name && m.Resolved.Note == r.Note {
		return m, nil
	}
	if m.Resolved == nil {
		return m, fmt.Errorf("resolving %s: %w", m.ID, ErrDecided)
	}
	return m, fmt.Errorf("resolving %s: %w: %s by %s", m.ID, ErrDecided, m.Resolved.Outcome, m.Resolved.Reviewer)
}

// Pinned records that a person of this machine approved tools as they are now
// (C23), and closes what is open about them.
func (q *Queue) Pinned(ctx context.Context, tools []record.ToolPinned) error {
	if len(tools) == 0 {
		return nil
	}
	wrap := func(err error) error { return fmt.Errorf("recording the approval of tools: %w", err) }
	matters, err := q.Matters(ctx)
	if err != nil {
		return wrap(err)
	}
	var events []record.Event
	for _, p := range tools {
		events = append(events, p)
		for _, m := range matters {
			if m.What != quarantined || m.Server != p.Server || m.Tool != p.Tool {
				continue
			}
			for _, id := range m.same {
				events = append(events, record.Resolved{Matter: id, Outcome: approved, Reviewer: p.By, Note: "interlock tools approve"})
			}
		}
	}
	if _, err := q.o.Log.Append(ctx, events...); err != nil {
		return wrap(err)
	}
	return nil
}

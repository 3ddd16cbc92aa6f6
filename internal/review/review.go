// Package review is the queue of plans that wait for a person, and the rules
// under which a person may let one through.
//
// The queue is read from the record, so it survives restarts and shows the
// same to every process. A disposition is one event, bound to what the
// reviewer was shown (C14); it can be made once. Approving is not granting:
// the gate checks everything again when the plan runs.
package review

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"interlock/internal/decide"
	"interlock/internal/identity"
	"interlock/internal/record"
	"interlock/internal/verdict"

	"golang.org/x/text/unicode/norm"
)

// Errors that callers tell apart. Each is the answer to a person.
var (
	ErrNotReviewer  = errors.New("only a reviewer's credential can decide")
	ErrNotEscalated = errors.New("this plan does not wait for a person")
	ErrDecided      = errors.New("another disposition was recorded first")
	ErrOtherPlan    = errors.New("the plan that was shown is not the plan that waits")
	ErrBlocked      = errors.New("a blocked plan cannot be approved: it must be reformulated")
	ErrExpired      = errors.New("the question has expired: the plan must be submitted again")
	ErrStale        = errors.New("the site has changed since the plan was judged: the plan must be submitted again")
	ErrVoided       = errors.New("it was voided: a person must re-arm and the plan must be submitted again")
	ErrSelf         = errors.New("nobody approves a plan that was submitted for them")
	ErrNote         = errors.New("the note is not acceptable")
)

// Defaults of Options.
const (
	DefaultPendingTTL  = 24 * time.Hour
	DefaultApprovalTTL = time.Hour
)

// maxNote bounds a reviewer's note, in bytes.
const maxNote = 4000

// Options are what a Queue needs.
type Options struct {
	Log         *record.Log
	Now         func() time.Time
	Rand        io.Reader                                  // for nonces
	SiteVersion func(site string) (digest string, ok bool) // of the profile in force now
	PendingTTL  time.Duration                              // how long a question stays open; zero: DefaultPendingTTL
	ApprovalTTL time.Duration                              // how long an approval may be used; zero: DefaultApprovalTTL
	AllowSelf   bool                                       // a one-person site: the person behind a plan may approve it; logged (C16)
	// Same reports whether a site knows two names, roles or groups as one
	// entry; nil: nothing is known beyond the names.
	Same func(site, a, b string) bool
}

// A Queue is safe for use by many goroutines, and by many processes on one
// store.
type Queue struct{ o Options }

// New returns the queue of a store.
func New(o Options) *Queue {
	if o.PendingTTL == 0 {
		o.PendingTTL = DefaultPendingTTL
	}
	if o.ApprovalTTL == 0 {
		o.ApprovalTTL = DefaultApprovalTTL
	}
	return &Queue{o}
}

// A Status is where an escalated plan stands.
type Status string

// The statuses.
const (
	Pending  Status = "pending"
	Approved Status = "approved"
	Rejected Status = "rejected"
	Expired  Status = "expired" // nobody decided in time
)

// An Item is one escalated plan with all that a reviewer needs.
type Item struct {
	ID         string
	Plan       []byte // canonical bytes: what would run (C17)
	PlanDigest string
	PlanID     string
	Site       string
	Requester  string
	Agent      string
	OnBehalfOf string
	Report     verdict.Report
	Asked      time.Time
	Expires    time.Time // of the question
	Status     Status
	Barred     error            // why it cannot be approved now; nil if it can
	Reviewed   *record.Reviewed // the disposition, nil while there is none
	ReviewedAt time.Time
}

// A List is the queue as it is now.
type List struct {
	Items   []Item // pending, requesters taking turns (C44), each one's oldest first
	Pending int    // how many there are, those not listed included
	Expired int    // plans that nobody decided in time: they can be read and rejected, not approved
}

// List returns the plans that wait for a person, at most limit of them
// (0: all).
func (q *Queue) List(ctx context.Context, limit int) (List, error) {
	wrap := func(err error) error { return fmt.Errorf("listing the queue: %w", err) }
	ids, err := q.o.Log.Waiting(ctx, q.o.Now().Add(-q.o.PendingTTL))
	if err != nil {
		return List{}, wrap(err)
	}
	all, err := q.o.Log.Undecided(ctx)
	if err != nil {
		return List{}, wrap(err)
	}
	l := List{Pending: len(ids), Expired: max(0, len(all)-len(ids))}
	if limit > 0 && len(ids) > limit {
		ids = ids[:limit]
	}
	for _, id := range ids {
		it, err := q.Get(ctx, id)
		if err != nil {
			return List{}, wrap(err)
		}
		l.Items = append(l.Items, it)
	}
	return l, nil
}

// Pending returns how many plans wait.
func (q *Queue) Pending(ctx context.Context) (int, error) {
	ids, err := q.o.Log.Waiting(ctx, q.o.Now().Add(-q.o.PendingTTL))
	return len(ids), err
}

// Get returns one escalated plan, decided or not. ErrNotEscalated if the
// decision was another, record.ErrNotFound if there is none.
func (q *Queue) Get(ctx context.Context, id string) (Item, error) {
	d, err := q.o.Log.Get(ctx, id)
	if err != nil {
		return Item{}, err
	}
	if d.Received == nil || d.Decided == nil || d.Decided.Report.Decision.Outcome != verdict.Escalate {
		return Item{}, fmt.Errorf("decision %s: %w", id, ErrNotEscalated)
	}
	return q.item(ctx, d), nil
}

// Of returns the review side of a dossier, or nil if the plan was not
// escalated.
func (q *Queue) Of(ctx context.Context, d record.Dossier) *Item {
	if d.Received == nil || d.Decided == nil || d.Decided.Report.Decision.Outcome != verdict.Escalate {
		return nil
	}
	it := q.item(ctx, d)
	return &it
}

func (q *Queue) item(ctx context.Context, d record.Dossier) Item {
	rep := d.Decided.Report
	it := Item{
		ID: d.ID, Plan: d.Received.Plan, PlanDigest: d.Received.PlanDigest, PlanID: d.Received.PlanID, Site: rep.Case.Site,
		Requester: d.Received.Requester, Agent: d.Received.Agent, OnBehalfOf: d.Received.OnBehalfOf,
		Report: rep, Asked: d.DecidedAt, Expires: d.DecidedAt.Add(q.o.PendingTTL), Reviewed: d.Reviewed, ReviewedAt: d.ReviewedAt,
	}
	switch {
	case d.Reviewed != nil && d.Reviewed.Approved:
		it.Status = Approved
	case d.Reviewed != nil:
		it.Status = Rejected
	case !q.o.Now().Before(it.Expires):
		it.Status = Expired
	default:
		it.Status = Pending
	}
	it.Barred = q.bar(it)
	if it.Barred == nil {
		it.Barred = q.voided(ctx, it.Site, d.DecidedSeq)
	}
	return it
}

// voided says whether a stop is in force at a site, or whether one, or a state
// that got worse, came after a decision: the question was about another
// state of the site (C20). What cannot be read bars too.
func (q *Queue) voided(ctx context.Context, site string, decided int64) error {
	stop, err := q.o.Log.Stopped(ctx, site)
	if err != nil {
		return err
	}
	if stop != nil {
		return fmt.Errorf("%w: an emergency stop by %s is in force at %s since %s", ErrVoided, stop.Source, site, stop.At.UTC().Format(time.RFC3339))
	}
	v, err := q.o.Log.VoidedAfter(ctx, site, decided)
	if err != nil {
		return err
	}
	if v != nil {
		return fmt.Errorf("%w: %s, at %s", ErrVoided, v.Reason, v.At.UTC().Format(time.RFC3339))
	}
	return nil
}

// bar says why nobody may approve a plan now.
func (q *Queue) bar(it Item) error {
	rep := it.Report
	version, known := q.o.SiteVersion(it.Site)
	switch {
	case it.Reviewed != nil:
		return ErrDecided
	case Blocked(rep):
		return ErrBlocked
	case it.Status == Expired:
		return ErrExpired
	case rep.Case.PlanDigest != it.PlanDigest:
		return ErrOtherPlan
	case !known || version == "" || version != rep.Case.DecidedWith.Site:
		return ErrStale
	}
	return nil
}

// Blocked reports whether a hard gate holds a plan: "a block is never
// approvable on the spot" (C43), also where the site has blocks escalate. It
// looks at the case itself, not only at the level that was decided.
func Blocked(rep verdict.Report) bool {
	return rep.Decision.Level.Norm() == verdict.Block || decide.Gated(rep.Case)
}

// A Disposition is what a reviewer wants done.
type Disposition struct {
	Approve    bool
	Note       string // the planner can read it
	PlanDigest string // of the plan that was shown; "" only where the caller shows the plan of this very item
}

// Decide records a disposition. who comes from the credential, never from a
// body (C16). The same reviewer saying the same again gets the same answer;
// everything else after the first disposition is ErrDecided.
func (q *Queue) Decide(ctx context.Context, who identity.Principal, id string, d Disposition) (Item, error) {
	if who.Role != identity.Reviewer || who.Name == "" {
		return Item{}, fmt.Errorf("deciding %s: %w", id, ErrNotReviewer)
	}
	if len(d.Note) > maxNote || !utf8.ValidString(d.Note) {
		return Item{}, fmt.Errorf("deciding %s: %w: expected at most %d bytes of text", id, ErrNote, maxNote)
	}
	it, err := q.Get(ctx, id)
	if err != nil {
		return Item{}, err
	}
	if it.Reviewed != nil {
		return q.again(it, who, d)
	}
	self, err := q.may(it, who, d)
	if err != nil {
		return Item{}, fmt.Errorf("deciding %s: %w", id, err)
	}
	event, err := q.event(it, who, d, self)
	if err != nil {
		return Item{}, fmt.Errorf("deciding %s: %w", id, err)
	}
	_, err = q.o.Log.Append(ctx, event)
	if err != nil && !errors.Is(err, record.ErrDuplicate) {
		return Item{}, fmt.Errorf("deciding %s: %w", id, err)
	}
	duplicate := err != nil // somebody was faster
	if it, err = q.Get(ctx, id); err != nil {
		return Item{}, err
	}
	if duplicate {
		return q.again(it, who, d)
	}
	return it, nil
}

// again answers a disposition of a plan that has one.
func (q *Queue) again(it Item, who identity.Principal, d Disposition) (Item, error) {
	if it.Reviewed.Approved == d.Approve && it.Reviewed.Reviewer == who.Name && it.Reviewed.Note == d.Note {
		return it, nil
	}
	return it, fmt.Errorf("deciding %s: %w: %s by %s", it.ID, ErrDecided, it.Status, it.Reviewed.Reviewer)
}

// may applies the rules of approval. A rejection needs no more than the right
// plan: it only makes things safer.
func (q *Queue) may(it Item, who identity.Principal, d Disposition) (self bool, err error) {
	if d.PlanDigest != "" && d.PlanDigest != it.PlanDigest {
		return false, ErrOtherPlan
	}
	if !d.Approve {
		return false, nil
	}
	if it.Barred != nil {
		return false, it.Barred
	}
	if same(who.Name, it.Agent) || same(who.Name, strings.TrimPrefix(it.Requester, string(identity.Agent)+":")) {
		return false, ErrSelf // "an agent can never approve its own plan, through any surface" (C16)
	}
	if samePerson(who.Name, it.OnBehalfOf) || q.o.Same != nil && q.o.Same(it.Site, who.Name, it.OnBehalfOf) {
		if !q.o.AllowSelf {
			return false, ErrSelf
		}
		return true, nil
	}
	return false, nil
}

// event binds the disposition to all that C14 names.
func (q *Queue) event(it Item, who identity.Principal, d Disposition, self bool) (record.Reviewed, error) {
	var nonce [16]byte
	if _, err := io.ReadFull(q.o.Rand, nonce[:]); err != nil {
		return record.Reviewed{}, fmt.Errorf("making a nonce: %w", err)
	}
	return record.Reviewed{
		Decision: it.ID, Approved: d.Approve, Reviewer: who.Name, Token: who.Token, Self: self, Note: d.Note,
		PlanDigest: it.PlanDigest, SiteVersion: it.Report.Case.DecidedWith.Site, Requester: it.Requester, Agent: it.Agent,
		Expires: q.o.Now().Add(q.o.ApprovalTTL).UTC(), Nonce: hex.EncodeToString(nonce[:]), DecidedWith: it.Report.Case.DecidedWith,
	}, nil
}

// same compares names as people would: case and spaces aside.
func same(a, b string) bool {
	return b != "" && strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// samePerson errs on the side of yes: an equal name, or the last name of one
// anywhere in the other, is the same person, since sites and planners name
// people by surname, in any order and with others beside them. Accents and
// signs make nobody somebody else.
func samePerson(a, b string) bool {
	wa, wb := nameWords(a), nameWords(b)
	if len(wa) == 0 || len(wb) == 0 {
		return false
	}
	return same(a, b) || slices.Contains(wa, wb[len(wb)-1]) || slices.Contains(wb, wa[len(wa)-1])
}

// nameWords are the words of a name in lower case, without accents.
func nameWords(s string) []string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(s)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

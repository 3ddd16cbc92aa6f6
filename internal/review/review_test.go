package review_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock/internal/identity"
	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/verdict"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A bench is a queue over a fresh store with a clock that can be set.
type bench struct {
	*review.Queue
	log  *record.Log
	mu   sync.Mutex
	now  time.Time
	site string // version in force
	path string
	key  *record.Key
}

func (b *bench) clock() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now }

func newBench(t *testing.T, allowSelf bool) *bench {
	t.Helper()
	b := &bench{now: start, site: "v1", path: filepath.Join(t.TempDir(), "s.db")}
	var err error
	if b.key, err = record.LoadOrCreateKey(rand.Reader, b.path+".key"); err != nil {
		t.Fatal(err)
	}
	b.open(t, allowSelf)
	return b
}

func (b *bench) open(t *testing.T, allowSelf bool) {
	t.Helper()
	var err error
	if b.log, err = record.Open(t.Context(), b.path, b.key, record.Options{Create: true, Now: b.clock}); err != nil {
		t.Fatal(err)
	}
	log := b.log
	t.Cleanup(func() { log.Close() })
	b.Queue = review.New(review.Options{
		Log: b.log, Now: b.clock, Rand: rand.Reader, AllowSelf: allowSelf,
		Same:        func(_, a, b string) bool { return a == "Ana Ferro" && b == "duty chemist" },
		SiteVersion: func(id string) (string, bool) { return b.site, id == "lab" },
	})
}

// escalate records an escalated plan, changed as the test wants.
func (b *bench) escalate(t *testing.T, id string, change func(*plan.Submission, *verdict.Report)) {
	t.Helper()
	s := plan.Submission{
		Plan:      &plan.Plan{ID: "p-" + id, Site: "lab", Steps: []string{"Heat to 80 C"}, SubmittedBy: plan.Submitter{Agent: "planner", OnBehalfOf: "Dr. Silva"}},
		Requester: "agent:planner", Agent: "planner", Received: b.clock(),
	}
	rep := verdict.Report{ID: id, Case: verdict.Case{
		PlanID: s.Plan.ID, PlanDigest: plan.Digest(s.Plan), Site: "lab", Policy: verdict.DefaultPolicy(),
		DecidedWith: verdict.DecidedWith{Site: "v1", Engine: "e"}, Required: []string{"c"}, Ran: []string{"c"},
	}, Decision: verdict.Decision{Outcome: verdict.Escalate, Level: verdict.Pass}}
	if change != nil {
		change(&s, &rep)
	}
	rec := record.NewRecorder(b.log)
	if err := rec.Received(t.Context(), id, s); err != nil {
		t.Fatal(err)
	}
	if err := rec.Decided(t.Context(), s, rep); err != nil {
		t.Fatal(err)
	}
}

var ana = identity.Principal{Role: identity.Reviewer, Name: "Ana Ferro", Token: "t-1"}

func TestC14_AnApprovalIsBoundToWhatWasSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.escalate(t, "d1", nil)
	shown, err := b.Get(t.Context(), "d1")
	if err != nil || shown.Status != review.Pending || shown.Barred != nil {
		t.Fatalf("%+v, %v", shown, err)
	}
	it, err := b.Decide(t.Context(), ana, "d1", review.Disposition{Approve: true, Note: "ok", PlanDigest: shown.PlanDigest})
	if err != nil || it.Status != review.Approved {
		t.Fatalf("%+v, %v", it, err)
	}
	r := it.Reviewed
	if r.PlanDigest != shown.PlanDigest || r.SiteVersion != "v1" || r.Requester != "agent:planner" || r.DecidedWith.Engine != "e" ||
		len(r.Nonce) != 32 || !r.Expires.Equal(start.Add(time.Hour)) || r.Reviewer != "Ana Ferro" || r.Token != "t-1" || r.Self {
		t.Errorf("disposition %+v", r)
	}
	if string(it.Plan) != string(shown.Plan) {
		t.Error("C17: the plan changed")
	}
}

// behalf hands a plan in for somebody else.
func behalf(who string) func(*plan.Submission, *verdict.Report) {
	return func(s *plan.Submission, r *verdict.Report) {
		s.Plan.SubmittedBy.OnBehalfOf = who
		r.Case.PlanDigest = plan.Digest(s.Plan)
	}
}

func TestC14_C16_C43_ApprovalsThatAreRefused(t *testing.T) {
	t.Parallel()
	approve := review.Disposition{Approve: true}
	for name, c := range map[string]struct {
		change func(*plan.Submission, *verdict.Report)
		who    identity.Principal
		later  time.Duration
		site   string
		digest string
		want   error
	}{
		"C16 agent":                    {who: identity.Principal{Role: identity.Agent, Name: "other"}, want: review.ErrNotReviewer},
		"C16 the plan's agent":         {who: identity.Principal{Role: identity.Agent, Name: "planner"}, want: review.ErrNotReviewer},
		"C16 device":                   {who: identity.Principal{Role: identity.Device, Name: "plc"}, want: review.ErrNotReviewer},
		"C16 nobody":                   {who: identity.Principal{}, want: review.ErrNotReviewer},
		"C16 reviewer with no name":    {who: identity.Principal{Role: identity.Reviewer}, want: review.ErrNotReviewer},
		"C16 reviewer called as agent": {who: identity.Principal{Role: identity.Reviewer, Name: "Planner"}, want: review.ErrSelf},
		"C16 person behind the plan":   {who: identity.Principal{Role: identity.Reviewer, Name: "Rui Silva"}, want: review.ErrSelf},
		"C16 surname first":            {who: identity.Principal{Role: identity.Reviewer, Name: "Silva, Rui"}, want: review.ErrSelf},
		"C16 with accents":             {who: identity.Principal{Role: identity.Reviewer, Name: "Rui Sílva"}, want: review.ErrSelf},
		"C16 one of two":               {change: behalf("Ana Ferro and Rui Silva"), who: identity.Principal{Role: identity.Reviewer, Name: "Ana Ferro"}, want: review.ErrSelf},
		"C16 by a role":                {change: behalf("duty chemist"), who: identity.Principal{Role: identity.Reviewer, Name: "Ana Ferro"}, want: review.ErrSelf},
		"C14 expired":                  {later: review.DefaultPendingTTL, want: review.ErrExpired},
		"C14 site changed":             {site: "v2", want: review.ErrStale},
		"C14 site unknown":             {change: func(_ *plan.Submission, r *verdict.Report) { r.Case.Site = "gone" }, want: review.ErrStale},
		"C14 site version unknown":     {change: func(_ *plan.Submission, r *verdict.Report) { r.Case.DecidedWith.Site = "" }, want: review.ErrStale},
		"C17 another plan was shown":   {digest: strings.Repeat("0", 64), want: review.ErrOtherPlan},
		"C17 judged another plan":      {change: func(_ *plan.Submission, r *verdict.Report) { r.Case.PlanDigest = "x" }, want: review.ErrOtherPlan},
		"C43 decided level block":      {change: func(_ *plan.Submission, r *verdict.Report) { r.Decision.Level = verdict.Block }, want: review.ErrBlocked},
		"C43 unknown level": {change: func(_ *plan.Submission, r *verdict.Report) {
			r.Case.Findings = []verdict.Finding{{Rule: "X", Level: verdict.Block}}
		}, want: review.ErrBlocked},
		"C43 sigma":               {change: func(_ *plan.Submission, r *verdict.Report) { r.Case.Sigma = 0.57 }, want: review.ErrBlocked},
		"C43 no threshold":        {change: func(_ *plan.Submission, r *verdict.Report) { r.Case.Policy.TauW = 0 }, want: review.ErrBlocked},
		"C43 a check did not run": {change: func(_ *plan.Submission, r *verdict.Report) { r.Case.Ran = nil }, want: review.ErrBlocked},
		"C43 no checks":           {change: func(_ *plan.Submission, r *verdict.Report) { r.Case.Required = nil }, want: review.ErrBlocked},
		"rejected plan":           {change: func(_ *plan.Submission, r *verdict.Report) { r.Decision.Outcome = verdict.Reject }, want: review.ErrNotEscalated},
		"accepted plan":           {change: func(_ *plan.Submission, r *verdict.Report) { r.Decision.Outcome = verdict.Accept }, want: review.ErrNotEscalated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, false)
			b.escalate(t, "d", c.change)
			b.now = b.now.Add(c.later)
			if c.site != "" {
				b.site = c.site
			}
			who := c.who
			if name[:3] != "C16" {
				who = ana
			}
			d := approve
			d.PlanDigest = c.digest
			if _, err := b.Decide(t.Context(), who, "d", d); !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			dossier, err := b.log.Get(t.Context(), "d")
			if err != nil || dossier.Reviewed != nil {
				t.Errorf("a refused approval was recorded: %+v %v", dossier.Reviewed, err)
			}
			if errors.Is(c.want, review.ErrBlocked) || errors.Is(c.want, review.ErrExpired) || errors.Is(c.want, review.ErrStale) {
				if it, err := b.Decide(t.Context(), ana, "d", review.Disposition{}); err != nil || it.Status != review.Rejected {
					t.Errorf("it cannot be rejected either: %v", err)
				}
			}
		})
	}
}

func TestC43_BlockedIsTheWorstReading(t *testing.T) {
	t.Parallel()
	rep := verdict.Report{Case: verdict.Case{Policy: verdict.DefaultPolicy(), Required: []string{"c"}, Ran: []string{"c"}, Sigma: math.NaN()}, Decision: verdict.Decision{Level: verdict.Pass}}
	if !review.Blocked(rep) {
		t.Error("NaN is not suspicious")
	}
	if !review.Blocked(verdict.Report{}) {
		t.Error("an empty report can be approved")
	}
}

func TestC16_SelfApprovalIsASettingAndLogged(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	b.escalate(t, "d", nil)
	silva := identity.Principal{Role: identity.Reviewer, Name: "R. Silva", Token: "t-2"}
	it, err := b.Decide(t.Context(), silva, "d", review.Disposition{Approve: true})
	if err != nil || !it.Reviewed.Self {
		t.Fatalf("%+v, %v", it.Reviewed, err)
	}
	b.escalate(t, "d2", nil)
	if _, err := b.Decide(t.Context(), identity.Principal{Role: identity.Reviewer, Name: "planner"}, "d2", review.Disposition{Approve: true}); !errors.Is(err, review.ErrSelf) {
		t.Errorf("the agent's own name approved its plan: %v", err)
	}
}

func TestC18_Idempotent(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.escalate(t, "d", nil)
	d := review.Disposition{Approve: true, Note: "n"}
	first, err := b.Decide(t.Context(), ana, "d", d)
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Decide(t.Context(), ana, "d", d)
	if err != nil || second.Reviewed.Nonce != first.Reviewed.Nonce {
		t.Errorf("the second answer differs: %v", err)
	}
	bo := identity.Principal{Role: identity.Reviewer, Name: "Bo", Token: "t-9"}
	for _, c := range []struct {
		who identity.Principal
		d   review.Disposition
	}{{ana, review.Disposition{}}, {bo, d}} {
		if _, err := b.Decide(t.Context(), c.who, "d", c.d); !errors.Is(err, review.ErrDecided) {
			t.Errorf("%v, want ErrDecided", err)
		}
	}
}

func TestTwoReviewersAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.escalate(t, "d", nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 8 {
		wg.Go(func() {
			who := identity.Principal{Role: identity.Reviewer, Name: string(rune('A' + i)), Token: "t"}
			_, err := b.Decide(t.Context(), who, "d", review.Disposition{Approve: i%2 == 0})
			if err == nil {
				mu.Lock()
				won++
				mu.Unlock()
			} else if !errors.Is(err, review.ErrDecided) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d dispositions, want 1", won)
	}
}

func TestTheQueueSurvivesARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	for _, id := range []string{"d1", "d2", "d3"} {
		b.escalate(t, id, nil)
	}
	if _, err := b.Decide(t.Context(), ana, "d2", review.Disposition{}); err != nil {
		t.Fatal(err)
	}
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	b.open(t, false)
	l, err := b.List(t.Context(), 1)
	if err != nil || l.Pending != 2 || l.Expired != 0 || len(l.Items) != 1 || l.Items[0].ID != "d1" {
		t.Fatalf("%+v, %v", l, err)
	}
	if it, err := b.Get(t.Context(), "d2"); err != nil || it.Status != review.Rejected {
		t.Errorf("%v, %v", it.Status, err)
	}
	b.now = b.now.Add(25 * time.Hour)
	if it, err := b.Get(t.Context(), "d1"); err != nil || it.Status != review.Expired {
		t.Errorf("%v, %v", it.Status, err)
	}
	if l, err := b.List(t.Context(), 0); err != nil || l.Pending != 0 || l.Expired != 2 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.escalate(t, "d", nil)
	for _, note := range []string{"\xff", strings.Repeat("x", 4001)} {
		if _, err := b.Decide(t.Context(), ana, "d", review.Disposition{Note: note}); !errors.Is(err, review.ErrNote) {
			t.Errorf("%v, want ErrNote", err)
		}
	}
}

func TestC44_OneAgentsFloodHidesNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	for i, who := range []string{"flood", "flood", "flood", "quiet", "flood", "other", "quiet"} {
		b.escalate(t, fmt.Sprint(who, i), func(s *plan.Submission, _ *verdict.Report) { s.Agent, s.Requester = who, "agent:"+who })
	}
	l, err := b.List(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range l.Items {
		got = append(got, it.ID)
	}
	if want := "flood0 quiet3 other5 flood1"; strings.Join(got, " ") != want || l.Pending != 7 {
		t.Errorf("%v of %d, want %s", got, l.Pending, want)
	}
}

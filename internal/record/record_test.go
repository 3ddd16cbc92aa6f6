package record

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/plan"
	"interlock/internal/verdict"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func testKey(t *testing.T) *Key {
	t.Helper()
	k, err := CreateKey(rand.Reader, filepath.Join(t.TempDir(), "key"), "interlock-test")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func openLog(t *testing.T, path string, key *Key) *Log {
	t.Helper()
	l, err := Open(t.Context(), path, key, Options{Create: true, Now: func() time.Time { return epoch }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func submission(id string) plan.Submission {
	return plan.Submission{
		Plan:      &plan.Plan{ID: id, Site: "lab", Steps: []string{"Move the arm <b> \u202e to A1"}, SubmittedBy: plan.Submitter{Agent: "a1"}},
		Requester: "agent:a1", Agent: "a1", Received: epoch,
	}
}

func report(id string, s plan.Submission) verdict.Report {
	return verdict.Report{
		ID: id,
		Case: verdict.Case{
			PlanID: s.Plan.ID, PlanDigest: plan.Digest(s.Plan), Site: "lab", Policy: verdict.DefaultPolicy(),
			DecidedWith: verdict.DecidedWith{Engine: "test", Site: "digest"},
			Findings:    []verdict.Finding{{Rule: "X-1", Level: verdict.Flag, Message: "seen"}},
			Opinions:    []verdict.Opinion{{Judge: "j", Outcome: verdict.Escalate, Confidence: 0.7}},
			Ruling:      &verdict.Ruling{Outcome: verdict.Escalate},
		},
		Decision: verdict.Decision{Outcome: verdict.Escalate, Level: verdict.Flag, Reasons: []verdict.Reason{{Code: "dissent"}}},
	}
}

// fill records n plans with all their events.
func fill(t *testing.T, l *Log, n int) {
	t.Helper()
	rec := NewRecorder(l)
	for i := range n {
		id := fmt.Sprintf("d%d", i)
		s := submission(fmt.Sprintf("p%d", i))
		if err := rec.Received(t.Context(), id, s); err != nil {
			t.Fatal(err)
		}
		if err := rec.Decided(t.Context(), s, report(id, s)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkLog verifies the whole log and fails on anything found.
func checkLog(t *testing.T, r *Reader, wantSize int64) Verification {
	t.Helper()
	v, err := r.Verify(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK() || v.Size != wantSize {
		t.Fatalf("size %d (want %d), problems %q", v.Size, wantSize, v.Problems)
	}
	return v
}

func TestEveryEventComesBack(t *testing.T) {
	t.Parallel()
	s := submission("p")
	canonical := plan.Canonical(s.Plan)
	with := verdict.DecidedWith{Engine: "e", Models: []string{"m=1"}}
	rep := report("d", s)
	rep.Recorded = true
	events := []Event{
		Received{"d", "p", canonical, digest(canonical), "lab", "agent:a1", "a1", "Silva", epoch},
		Checked{"d", verdict.Flag, 0.25, []string{"X-1", "X-1"}, 12},
		Judged{"d", []Vote{{"j", verdict.Escalate, verdict.Safety, "timeout"}}, 3},
		Ruled{"d", "c", verdict.Reject, verdict.Clean, "", 4},
		Decided{rep, "agent:a1", "a1"},
		Reviewed{"d", true, "Ana", "t1", true, "ok", "pd", "sv", "agent:a1", "a1", epoch, "n", with},
		Granted{"d", "g", "pd", "sv", "agent:a1", epoch, "n", with},
		Sent{"d", "g", "c1", "srv", "move", "pin", []byte("{\"a\":\xff}")},
		Done{"d", "c1", "unknown", "timeout", ""},
		StateChanged{"lab", "door", "open", "device:plc", epoch},
		ToolPinned{"srv", "move", "abc", "pinned", "Ana"},
		TokenIssued{"t1", "reviewer", "Ana", "00ff"},
		TokenRevoked{"t1"},
		DocumentDecided{"etch.md", "abc", "approved", "Ana", "t1", "read it", 3},
		Forgotten{"d-1", "Ana", "t1", "the rule it broke is gone"},
		Attention{"c-1", "unknown", "d-1", "g-1", "c-1", "lab", "arm", "move", "the gate ended"},
		Resolved{"d-1", "c-1", "done", "Ana", "t1", "I saw it move"},
		Voided{"lab", "emergency stop", epoch},
	}
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), testKey(t))
	receipt, err := l.Append(t.Context(), events...)
	if err != nil {
		t.Fatal(err)
	}
	if receipt.First != 0 || receipt.Size != int64(len(events)) || receipt.Checkpoint == "" {
		t.Errorf("receipt %+v", receipt)
	}
	var got []Event
	for e, err := range l.Tail(t.Context(), Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		event, err := e.Event()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, event)
	}
	if diff := cmp.Diff(events, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	checkLog(t, l.Reader, int64(len(events)))
}

func TestPlanBytesMustHaveTheirDigest(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), testKey(t))
	if _, err := l.Append(t.Context(), Received{Decision: "d", Plan: []byte("{}"), PlanDigest: "00"}); err == nil {
		t.Error("a plan with another digest was recorded")
	}
	checkLog(t, l.Reader, 0)
}

func TestC27_OncePerDecision(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), testKey(t))
	fill(t, l, 1)
	size := checkLog(t, l.Reader, 5).Size
	s := submission("p0")
	for name, events := range map[string][]Event{
		"decided again":    {Decided{Report: report("d0", s)}},
		"two in one":       {Reviewed{Decision: "d0", Approved: true}, Reviewed{Decision: "d0"}},
		"after a good one": {StateChanged{Site: "lab"}, Checked{Decision: "d0"}},
		"call sent twice":  {Sent{Call: "c"}, Sent{Call: "c"}},
	} {
		if _, err := l.Append(t.Context(), events...); !errors.Is(err, ErrDuplicate) {
			t.Errorf("%s: %v, want ErrDuplicate", name, err)
		}
	}
	checkLog(t, l.Reader, size)
}

func TestC25_ADuplicateSpoilsNoOtherOfItsBatch(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), testKey(t))
	var wg sync.WaitGroup
	var mu sync.Mutex
	duplicates := 0
	for i := range 200 {
		wg.Go(func() {
			_, err := l.Append(t.Context(), StateChanged{Name: fmt.Sprint(i)}, TokenRevoked{Token: fmt.Sprint(i / 2)})
			if errors.Is(err, ErrDuplicate) {
				mu.Lock()
				duplicates++
				mu.Unlock()
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if duplicates != 100 {
		t.Errorf("%d duplicates, want 100", duplicates)
	}
	checkLog(t, l.Reader, 200)
}

func TestC25_TwoProcessesOnOneStore(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "s.db"), testKey(t)
	logs := []*Log{openLog(t, path, key), openLog(t, path, key)}
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if _, err := logs[i%2].Append(t.Context(), StateChanged{Name: fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkLog(t, logs[0].Reader, 60)
}

func TestGetAndQueue(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), testKey(t))
	fill(t, l, 3)
	if err := NewRecorder(l).Received(t.Context(), "lost", submission("lost")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), Reviewed{Decision: "d1"}); err != nil {
		t.Fatal(err)
	}
	undecided, err := l.Undecided(t.Context())
	if diff := cmp.Diff([]string{"d0", "d2"}, undecided); diff != "" || err != nil {
		t.Error(diff, err)
	}
	interrupted, err := l.Interrupted(t.Context())
	if diff := cmp.Diff([]string{"lost"}, interrupted); diff != "" || err != nil {
		t.Error(diff, err)
	}
	d, err := l.Get(t.Context(), "d1")
	if err != nil || d.Received == nil || d.Decided == nil || d.Reviewed == nil || len(d.Entries) != 6 {
		t.Fatalf("%+v, %v", d, err)
	}
	if want := plan.Canonical(submission("p1").Plan); !bytes.Equal(d.Received.Plan, want) {
		t.Errorf("C17: plan bytes %q, want %q", d.Received.Plan, want)
	}
	if _, err := l.Get(t.Context(), "nowhere"); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
}

func TestC02_ReplayFindsADecisionItsCaseDoesNotGive(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), testKey(t))
	fill(t, l, 2)
	same := func(verdict.Case) verdict.Decision { return report("", submission("")).Decision }
	r, err := l.Replay(t.Context(), "", same)
	if err != nil || r.Decisions != 2 || len(r.Mismatches) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	other := func(verdict.Case) verdict.Decision { return verdict.Decision{Outcome: verdict.Accept} }
	r, err = l.Replay(t.Context(), "d1", other)
	if err != nil || r.Decisions != 1 || len(r.Mismatches) != 1 || r.Mismatches[0].Engine != "test" {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := l.Replay(t.Context(), "nowhere", same); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
}

func TestProof(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), key)
	fill(t, l, 4)
	for seq := range int64(20) {
		p, err := l.Prove(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(key.verifier); err != nil {
			t.Error(err)
		}
		p.Event = strings.Replace(p.Event, "d0", "d1", 1) + " "
		if err := p.Check(key.verifier); !errors.Is(err, ErrTampered) {
			t.Errorf("a changed event is proven: %v", err)
		}
	}
	if _, err := l.Prove(t.Context(), 20); !errors.Is(err, ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	dir := t.TempDir()
	store := func(name string, statements ...string) string {
		path := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	signed := openLog(t, filepath.Join(dir, "other-key.db"), testKey(t))
	fill(t, signed, 1)
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"missing":           {filepath.Join(dir, "none.db"), ErrMissing},
		"directory":         {dir, ErrForeign},
		"empty file":        {file("empty", ""), ErrForeign},
		"text":              {file("text", strings.Repeat("hello, this is no database\n", 100)), ErrForeign},
		"another program's": {store("foreign.db", "CREATE TABLE t (x)"), ErrForeign},
		"newer":             {store("newer.db", fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 99", "CREATE TABLE t (x)"), ErrNewer},
		"another key":       {signed.path, ErrWrongKey},
	} {
		l, err := Open(t.Context(), c.path, key, Options{Now: time.Now})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if err == nil {
			l.Close()
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the message has several lines: %q", name, err)
		}
	}
}

func TestAForeignDatabaseIsNotTouched(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, testKey(t), Options{Create: true, Now: time.Now}); !errors.Is(err, ErrForeign) {
		t.Errorf("%v, want ErrForeign", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestMigrationKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "s.db"), testKey(t)
	l := openLog(t, path, key)
	fill(t, l, 1)
	now := len(migrations)
	later := append(migrations[:now:now], migration{now + 1, "CREATE INDEX events_by_tag ON events (tag)"})
	conn, err := l.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 2 { // the second time there is nothing to do
		if err := migrate(t.Context(), conn, later, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenReader(t.Context(), path, key.verifier); !errors.Is(err, ErrNewer) {
		t.Errorf("%v, want ErrNewer", err)
	}
	broken := append(later[:now+1:now+1], migration{now + 2, "CREATE INDEX events_by_tag2 ON nowhere (tag)"})
	if err := migrate(t.Context(), conn, broken, false); err == nil {
		t.Error("a broken migration was reported as done")
	}
	if v, err := schemaVersion(t.Context(), conn, 9); v != now+1 || err != nil {
		t.Errorf("version %d after a broken migration, want %d (%v)", v, now+1, err)
	}
}

// A store of the first version verifies as it is, and keeps the promise of the
// second once it was opened for writing.
func TestC19_AMatterIsResolvedOnce(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "s.db"), testKey(t)
	l := openLog(t, path, key)
	fill(t, l, 1)
	for _, q := range []string{"DROP INDEX events_resolved_once", "PRAGMA user_version = 1"} {
		if _, err := l.db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := l.Verify(t.Context(), ""); err != nil || !v.OK() {
		t.Errorf("version 1: %v %q", err, v.Problems)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openLog(t, path, key)
	if _, err := l.Append(t.Context(), Attention{Matter: "m", What: "unknown"}); err != nil {
		t.Fatal(err)
	}
	if ids, err := l.OpenMatters(t.Context()); err != nil || len(ids) != 1 || ids[0] != "m" {
		t.Errorf("%v %v", ids, err)
	}
	for i, want := range []error{nil, ErrDuplicate} {
		if _, err := l.Append(t.Context(), Resolved{Matter: "m", Outcome: "done"}); !errors.Is(err, want) {
			t.Errorf("resolution %d: %v, want %v", i+1, err, want)
		}
	}
	if ids, err := l.OpenMatters(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("%v %v", ids, err)
	}
	if v, err := l.Verify(t.Context(), ""); err != nil || !v.OK() {
		t.Errorf("%v %q", err, v.Problems)
	}
}

func TestKeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "k")
	k, err := LoadOrCreateKey(rand.Reader, path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadOrCreateKey(rand.Reader, path)
	if err != nil || again.Public() != k.Public() {
		t.Errorf("%v", err)
	}
	if _, err := CreateKey(rand.Reader, path, "x"); err == nil {
		t.Error("a key was overwritten")
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(path); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a key that others can read was loaded: %v", err)
	}
	for range 50 { // base64 with a plus sign in it must not confuse the parser
		if _, err := CreateKey(rand.Reader, filepath.Join(t.TempDir(), "k"), "n"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	l, err := Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), testKey(t), Options{Create: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Append(t.Context(), StateChanged{}); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
}

func TestCancelledCallerGetsAnError(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "s.db"), testKey(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // select is random: the append may or may not have happened
		if _, err := l.Append(ctx, StateChanged{}); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	v, err := l.Verify(t.Context(), "")
	if err != nil || !v.OK() {
		t.Errorf("%v %v", v.Problems, err)
	}
}

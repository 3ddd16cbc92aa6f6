package record

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"
)

var errInjected = errors.New("injected fault")

// A faulty driver fails one statement, before or after it took effect.
type faults struct {
	mu    sync.Mutex
	at    int  // statement that fails, from 1; 0: none
	after bool // it takes effect and fails all the same
	hit   bool
}

func (f *faults) arm(at int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.after, f.hit = at, after, false
}

// next reports whether this statement fails.
func (f *faults) next() (fails, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at == 0 {
		return false, false
	}
	f.at--
	if f.at == 0 {
		f.hit = true
		return true, f.after
	}
	return false, false
}

type faultConnector struct {
	dsn string
	*faults
}

func (c faultConnector) Driver() driver.Driver { return &sqlite.Driver{} }

func (c faultConnector) Connect(context.Context) (driver.Conn, error) {
	conn, err := (&sqlite.Driver{}).Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return &faultConn{conn, c.faults}, nil
}

type faultConn struct {
	driver.Conn
	*faults
}

func (c *faultConn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	fails, after := c.next()
	if fails && !after {
		return nil, errInjected
	}
	res, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, q, args)
	if fails {
		return nil, errInjected
	}
	return res, err
}

func (c *faultConn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	if fails, _ := c.next(); fails {
		return nil, errInjected
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

func (c *faultConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

func TestC25_AFaultAtEveryStatementOfAnAppend(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		statements := 0
		for at := 1; ; at++ {
			if !appendWithFault(t, at, after) {
				break
			}
			statements++
		}
		if statements < 15 {
			t.Errorf("only %d statements were made to fail", statements)
		}
		t.Logf("after=%v: %d statements", after, statements)
	}
}

// appendWithFault lets one statement of an append of three events fail, and
// reports whether the append has that many.
func appendWithFault(t *testing.T, at int, after bool) bool {
	t.Helper()
	path, key, f := filepath.Join(t.TempDir(), "s.db"), testKey(t), &faults{}
	if _, err := prepareFile(path, true); err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(faultConnector{dsn(path, 0, false), f})
	l, err := start(t.Context(), db, path, key, Options{Create: true, Now: time.Now}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fill(t, l, 1)
	f.arm(at, after)
	_, err = l.Append(t.Context(), StateChanged{Name: "x1"}, StateChanged{Name: "x2"}, StateChanged{Name: "x3"})
	f.arm(0, false)
	failed := err != nil
	if failed && !errors.Is(err, errInjected) {
		t.Errorf("statement %d: %v", at, err)
	}
	present := count(t, l, "x")
	if failed && present != 0 && present != 3 || !failed && present != 3 {
		t.Errorf("statement %d (after %v): %d of 3 events recorded, failed: %v", at, after, present, failed)
	}
	if _, err := l.Append(t.Context(), StateChanged{Name: "y"}); err != nil {
		t.Errorf("statement %d (after %v): the log does not recover: %v", at, after, err)
	}
	checkLog(t, l.Reader, int64(5+present+1))
	return failed
}

// count returns how many state changes have a name beginning with prefix.
func count(t *testing.T, l *Log, prefix string) int {
	t.Helper()
	n := 0
	for e, err := range l.Tail(t.Context(), Query{Kinds: []Kind{KindStateChanged}}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(e.Tag, "/"+prefix) {
			n++
		}
	}
	return n
}

func TestC25_DiskFull(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "s.db"), testKey(t)
	l := openLog(t, path, key)
	fill(t, l, 1)
	quota := openQuota(t, path, key)
	acked := 0
	var err error
	for range 5000 {
		if _, err = quota.Append(t.Context(), StateChanged{Name: "x", Value: strings.Repeat("v", 2000)}); err != nil {
			break
		}
		acked++
	}
	if !errors.Is(err, ErrFull) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("after %d appends: %v, want ErrFull", acked, err)
	}
	checkLog(t, quota.Reader, int64(5+acked))
	if _, err := quota.Append(t.Context(), StateChanged{Name: "y", Value: strings.Repeat("v", 20000)}); !errors.Is(err, ErrFull) {
		t.Errorf("%v, want ErrFull again", err)
	}
	checkLog(t, quota.Reader, int64(5+acked))
}

// openQuota opens the store with room for few pages.
func openQuota(t *testing.T, path string, key *Key) *Log {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, 0, false)+"&_pragma=max_page_count(60)")
	if err != nil {
		t.Fatal(err)
	}
	l, err := start(t.Context(), db, path, key, Options{Now: time.Now}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestC25_LockedByAnother(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "s.db"), testKey(t)
	l := openLog(t, path, key)
	fill(t, l, 1)
	conn, err := l.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), path, key, Options{Now: time.Now, BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Append(t.Context(), StateChanged{}); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if _, err := other.Append(t.Context(), StateChanged{}); err != nil {
		t.Errorf("the log does not recover: %v", err)
	}
	checkLog(t, l.Reader, 6)
}

func TestC25_ReadOnly(t *testing.T) {
	t.Parallel()
	path, key := filepath.Join(t.TempDir(), "s.db"), testKey(t)
	fill(t, openLog(t, path, key), 1)
	db, err := sql.Open("sqlite", dsn(path, 0, false)+"&_pragma=query_only(1)")
	if err != nil {
		t.Fatal(err)
	}
	l, err := start(t.Context(), db, path, key, Options{Now: time.Now}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(t.Context(), StateChanged{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("%v, want ErrReadOnly", err)
	}
}

// childStore names the store of the child process of TestC27_Kill.
const childStore = "INTERLOCK_TEST_RECORD_CHILD"

// TestMain turns the test binary into a process that records as fast as it can
// and says on standard output what was acknowledged.
func TestMain(m *testing.M) {
	path := os.Getenv(childStore)
	if path == "" {
		os.Exit(m.Run())
	}
	key, err := LoadKey(path + ".key")
	if err != nil {
		panic(err)
	}
	l, err := Open(context.Background(), path, key, Options{Now: time.Now})
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("%d-%d-%d", os.Getpid(), worker, i)
				if _, err := l.Append(context.Background(), TokenRevoked{name}, StateChanged{Name: name}); err != nil {
					panic(err)
				}
				fmt.Println(name) // one write: acknowledged
			}
		})
	}
	wg.Wait()
}

func TestC27_Kill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	key, err := LoadOrCreateKey(rand.Reader, path+".key")
	if err != nil {
		t.Fatal(err)
	}
	openLog(t, path, key)
	acked := map[string]bool{}
	for round := range 4 {
		for name := range runAndKill(t, path, 5+40*round) {
			acked[name] = true
		}
		r, err := OpenReader(t.Context(), path, key.verifier)
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Verify(t.Context(), "")
		if err != nil || !v.OK() {
			t.Fatalf("after kill %d: %v %v", round, v.Problems, err)
		}
		seen := map[string]int{}
		for e, err := range r.Tail(t.Context(), Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			seen[strings.TrimPrefix(e.Tag, "/")]++
		}
		for name := range acked {
			if seen[name] != 2 {
				t.Errorf("%s was acknowledged and is there %d times, want its 2 events once each", name, seen[name])
			}
		}
		r.Close()
	}
	t.Logf("%d appends acknowledged", len(acked))
}

// runAndKill starts a recording process, waits for n acknowledgements, kills
// it without warning and returns all that it acknowledged.
func runAndKill(t *testing.T, path string, n int) map[string]bool {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childStore+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acked := map[string]bool{}
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		acked[sc.Text()] = true
		if len(acked) == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	if len(acked) < n {
		t.Fatalf("the child acknowledged %d of %d", len(acked), n)
	}
	return acked
}

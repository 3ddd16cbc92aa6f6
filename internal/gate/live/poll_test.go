package live_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/journal"
	"interlock/internal/gate/live"
)

// sensor is an upstream that a test controls.
type sensor struct {
	mu    sync.Mutex
	value string
	err   error
	hang  bool
}

func (s *sensor) set(value string, err error, hang bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value, s.err, s.hang = value, err, hang
}

func (s *sensor) read(ctx context.Context) (map[string]string, error) {
	s.mu.Lock()
	value, err, hang := s.value, s.err, s.hang
	s.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return map[string]string{"room_presence": value}, err
}

func TestC20_APolledReadingThatGetsWorseVoids(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		value string
		err   error
		hang  bool
		want  string
	}{
		"a person":      {value: "person", want: "room_presence is person"},
		"a word unseen": {value: "", want: "room_presence is "},
		"an error":      {err: errors.New("503"), want: "room_presence is unknown"},
		"a distrust":    {err: &live.Distrust{Err: errors.New("not approved")}, want: "room_presence is unknown (not approved)"},
		"no answer":     {hang: true, want: "room_presence is unknown"},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := &journal.Memory{}
			s, worse := open(t, j)
			door := &sensor{value: "clear"}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			poll := live.Poll{Source: "upstream:lab", Names: []string{"room_presence"}, Every: 2 * time.Second, Read: door.read}
			go func() { defer close(ended); s.Watch(ctx, []live.Poll{poll}, func(error) {}) }()
			time.Sleep(time.Minute)
			synctest.Wait()
			if v, ok := s.Live().Known("room_presence", time.Now()); !ok || v.Text != "clear" || len(worse.all()) != 0 {
				t.Errorf("%s: before: %v %v, worse %v", name, v, ok, worse.all())
			}
			if n := count(t, j); n != 1 {
				t.Errorf("%s: %d records of one unchanged reading", name, n)
			}
			door.set(tc.value, tc.err, tc.hang)
			time.Sleep(4100 * time.Millisecond)
			synctest.Wait()
			if len(worse.all()) != 1 || !strings.HasSuffix(worse.all()[0], tc.want) {
				t.Errorf("%s: worse %q", name, worse.all())
			}
			if _, known := s.Live().Known("room_presence", time.Now()); known != (tc.err == nil && !tc.hang) {
				t.Errorf("%s: known %v", name, known)
			}
			door.set("clear", nil, false)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if v, ok := s.Live().Known("room_presence", time.Now()); !ok || v.Text != "clear" || len(worse.all()) != 1 || count(t, j) != 3 {
				t.Errorf("%s: after: %v %v, worse %q, %d records", name, v, ok, worse.all(), count(t, j))
			}
			cancel()
			<-ended
		})
	}
}

func count(t *testing.T, j *journal.Memory) (n int) {
	t.Helper()
	if err := j.Replay(t.Context(), func(grant.Event) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// A device that says nothing any more is worse than one that says "clear".
func TestC38_AReadingThatGoesStaleVoids(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, worse := open(t, &journal.Memory{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Watch(ctx, nil, func(error) {}) }()
		if err := s.Report(ctx, device, map[string]string{"room_presence": "clear"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4900 * time.Millisecond)
		synctest.Wait()
		if len(worse.all()) != 0 {
			t.Errorf("while fresh: %q", worse.all())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(worse.all()) != 1 || !strings.HasSuffix(worse.all()[0], "room_presence is unknown") {
			t.Errorf("stale: %q", worse.all())
		}
		cancel()
		<-ended
	})
}

// No other source makes up for one that was asked and did not answer; and
// before the first answer nothing is known, whatever a file said.
func TestC38_AFailedPollCountsAsWorst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, &journal.Memory{})
		s.Expect(live.Poll{Source: "upstream:lab", Names: []string{"room_presence"}})
		if err := s.Report(t.Context(), device, map[string]string{"room_presence": "clear"}); err != nil {
			t.Fatal(err)
		}
		if v, ok := s.Live().Known("room_presence", time.Now()); ok {
			t.Errorf("known as %q before the upstream was read", v.Text)
		}
	})
}

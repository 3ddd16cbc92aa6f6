package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"interlock/internal/gate/grant"
)

// The kinds of the events a keeper appends to the journal of the gate.
const (
	KindProbe  grant.Kind = "sandbox-probe"  // every result
	KindFailed grant.Kind = "sandbox-failed" // a check failed that has not failed since the last probe that passed: a person must look
)

// ErrNotNow is what a Runner returns, wrapped, when nothing may run now. Such
// a probe confirms nothing, and is no news of the sandbox.
var ErrNotNow = errors.New("not now")

// A Keeper probes a sandbox and knows whether its facts are confirmed now. It
// is safe for concurrent use.
type Keeper struct {
	spec    Spec
	run     Runner
	maxAge  time.Duration
	journal grant.Journal
	now     func() time.Time

	turn sync.Mutex // held by who probes

	mu   sync.Mutex // owns what follows
	last Result
	told map[string]bool // checks a person has been told of since the last probe that passed
}

// Open returns a keeper. The last result in the journal counts if it is for the
// sandbox that is declared now. maxAge is how long a result is believed. run
// may be nil where nothing is to be probed.
func Open(ctx context.Context, spec Spec, run Runner, maxAge time.Duration, j grant.Journal, now func() time.Time) (*Keeper, error) {
	k := &Keeper{spec: spec, run: run, maxAge: maxAge, journal: j, now: now, told: map[string]bool{}}
	err := j.Replay(ctx, k.replay)
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox probe: %w", err)
	}
	return k, nil
}

// replay takes up what an earlier process has found and told.
func (k *Keeper) replay(e grant.Event) error {
	if e.Kind != KindProbe && e.Kind != KindFailed {
		return nil
	}
	var r Result
	if err := json.Unmarshal(e.Body, &r); err != nil {
		return fmt.Errorf("reading a result of the sandbox probe: %w", err)
	}
	if r.Sandbox != k.spec.Declared.Name || r.Digest != k.spec.Declared.ImageDigest {
		return nil
	}
	if e.Kind == KindFailed {
		k.tell(r)
		return nil
	}
	k.last = r
	if r.OK() {
		clear(k.told)
	}
	return nil
}

// tell notes what a person is told of. mu is held, or k is not shared yet.
func (k *Keeper) tell(r Result) {
	for _, c := range r.Checks {
		if !c.OK {
			k.told[c.Name] = true
		}
	}
}

// news says what a person has not been told of yet, "" if nothing.
func (k *Keeper) news(r Result) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.OK() {
		clear(k.told)
	}
	var failed []string
	for _, c := range r.Checks {
		if !c.OK && !k.told[c.Name] {
			failed = append(failed, c.Name+": "+c.Detail)
		}
	}
	if r.notNow || len(failed) == 0 {
		return ""
	}
	return "the sandbox is not as declared: " + strings.Join(failed, "; ")
}

// alert records what a person must look at: once for each check, not for each
// probe. What cannot be recorded is tried again with the next one.
func (k *Keeper) alert(ctx context.Context, r Result, body []byte) error {
	reason := k.news(r)
	if reason == "" {
		return nil
	}
	if err := k.journal.Append(ctx, grant.Event{Kind: KindFailed, At: k.now(), Reason: reason, Body: body}); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tell(r)
	return nil
}

// Probe probes once and keeps the result. One that cannot be recorded confirms
// nothing (C25). What has become worse is recorded as a matter for people.
func (k *Keeper) Probe(ctx context.Context) (Result, error) {
	if k.run == nil {
		return Result{}, errors.New("there is nothing to run a script in the sandbox with")
	}
	k.turn.Lock()
	defer k.turn.Unlock()
	res := Run(ctx, k.spec, k.run, k.now)
	if errors.Is(ctx.Err(), context.Canceled) {
		return res, ctx.Err() // stopped by us: no news of the sandbox
	}
	body, err := json.Marshal(res)
	if err == nil { // a probe that ran out of time is recorded like any other
		kept := context.WithoutCancel(ctx)
		err = errors.Join(k.journal.Append(kept, grant.Event{Kind: KindProbe, At: k.now(), Reason: res.Why(), Body: body}), k.alert(kept, res, body))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = res
	if err != nil {
		k.last = Result{Checks: []Check{{"record", false, "the result could not be recorded"}}}
		return res, fmt.Errorf("recording the sandbox probe: %w", err)
	}
	return res, nil
}

// Confirmed reports whether a fresh probe has passed, and if not, why.
func (k *Keeper) Confirmed() (why string, yes bool) {
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	age := k.now().Sub(last.At)
	switch {
	case len(last.Checks) == 0:
		return "it has not been probed", false
	case !last.OK():
		return "its probe failed: " + last.Why(), false
	case age > k.maxAge || age < 0:
		return fmt.Sprintf("its last probe is older than %s", k.maxAge), false
	default:
		return "", true
	}
}

// Watch probes at once and then every d until ctx ends. tell gets every result
// and what could not be done.
func (k *Keeper) Watch(ctx context.Context, d time.Duration, tell func(Result, error)) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for ctx.Err() == nil {
		pctx, cancel := context.WithTimeout(ctx, d)
		res, err := k.Probe(pctx)
		cancel()
		if ctx.Err() == nil {
			tell(res, err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

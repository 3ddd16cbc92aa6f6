package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"interlock/internal/gate/grant"
)

// KindProbe is the kind of the events that keep results.
const KindProbe grant.Kind = "sandbox-probe"

// A Keeper probes a sandbox and knows whether its facts are confirmed now. It
// is safe for concurrent use.
type Keeper struct {
	spec    Spec
	run     Runner
	maxAge  time.Duration
	journal grant.Journal
	now     func() time.Time

	mu   sync.Mutex
	last Result
}

// Open returns a keeper. The last result in the journal counts if it is for the
// sandbox that is declared now. maxAge is how long a result is believed. run
// may be nil where nothing is to be probed.
func Open(ctx context.Context, spec Spec, run Runner, maxAge time.Duration, j grant.Journal, now func() time.Time) (*Keeper, error) {
	k := &Keeper{spec: spec, run: run, maxAge: maxAge, journal: j, now: now}
	err := j.Replay(ctx, func(e grant.Event) error {
		if e.Kind != KindProbe {
			return nil
		}
		var r Result
		if err := json.Unmarshal(e.Body, &r); err != nil {
			return fmt.Errorf("reading a result of the sandbox probe: %w", err)
		}
		if r.Sandbox == spec.Declared.Name && r.Digest == spec.Declared.ImageDigest {
			k.last = r
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("opening the sandbox probe: %w", err)
	}
	return k, nil
}

// Probe probes once and keeps the result. One that cannot be recorded confirms
// nothing (C25).
func (k *Keeper) Probe(ctx context.Context) (Result, error) {
	if k.run == nil {
		return Result{}, errors.New("there is nothing to run a script in the sandbox with")
	}
	res := Run(ctx, k.spec, k.run, k.now)
	if errors.Is(ctx.Err(), context.Canceled) {
		return res, ctx.Err() // stopped by us: no news of the sandbox
	}
	body, err := json.Marshal(res)
	if err == nil { // a probe that ran out of time is recorded like any other
		err = k.journal.Append(context.WithoutCancel(ctx), grant.Event{Kind: KindProbe, At: k.now(), Reason: res.Why(), Body: body})
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

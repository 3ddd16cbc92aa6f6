package provider

import (
	"sync"
	"time"
)

// When a breaker opens, and for how long.
const (
	breakAfter = 6 // failures in a row
	breakFor   = 30 * time.Second
)

// A breaker stops asking a provider that fails. After a pause it lets one
// request through as a trial.
type breaker struct {
	now func() time.Time

	mu       sync.Mutex // guards what follows
	failures int
	until    time.Time // open until then
	trial    bool      // one request is on its way to find out
}

// allows reports whether a request may be sent.
func (b *breaker) allows() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter {
		return true
	}
	if b.trial || b.now().Before(b.until) {
		return false
	}
	b.trial = true
	return true
}

// report notes how a request ended.
func (b *breaker) report(ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trial = false
	if ok {
		b.failures = 0
		return
	}
	b.failures++
	if b.failures >= breakAfter {
		b.until = b.now().Add(breakFor)
	}
}

// cancelled notes that nobody waited for the end: it says nothing about the
// provider.
func (b *breaker) cancelled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trial = false
}

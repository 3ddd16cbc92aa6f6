package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Poll reads a source again and again: an upstream's tool or resource, which
// reports nothing by itself. What it reads counts as a device's report; what it
// cannot read counts as worst (C38).
type Poll struct {
	Source string        // who is asked, e.g. "upstream:lab"
	Names  []string      // the readings it brings, each time all of them
	Every  time.Duration // also the longest one reading may take
	Read   func(ctx context.Context) (map[string]string, error)
}

// A Distrust is why a reading is not believed although it could be read, in
// words of our own: unlike what a server says of an error, it stands in the
// reasons that planners read.
type Distrust struct{ Err error }

func (d *Distrust) Error() string { return d.Err.Error() }

// Unwrap gives the error itself.
func (d *Distrust) Unwrap() error { return d.Err }

// sweepEvery is how often readings are looked at for their age.
const sweepEvery = 500 * time.Millisecond

// Lost is what a failed reading is recorded as.
const Lost = "(could not be read)"

// Expect makes the readings of polls unknown until they are read first,
// whatever a file said of them.
func (s *Store) Expect(polls ...Poll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range polls {
		s.lose(p)
	}
}

// lose makes the readings of a poll unknown. mu is held.
func (s *Store) lose(p Poll) {
	for _, name := range p.Names {
		if s.readings[name] == nil {
			s.readings[name] = map[string]report{}
		}
		s.readings[name][p.Source] = report{lost: true}
	}
}

// Watch reads the polls and looks at the age of all readings until ctx ends;
// then it returns when the last reading has. A reading that becomes bad, fails
// or goes stale takes running plans away (C20). failed is told of whatever
// could not be done; it must be safe for concurrent use.
func (s *Store) Watch(ctx context.Context, polls []Poll, failed func(error)) {
	s.Expect(polls...)
	var running sync.WaitGroup
	for _, p := range polls {
		running.Go(func() { every(ctx, p.Every, func() { s.poll(ctx, p, failed) }) })
	}
	every(ctx, sweepEvery, func() {
		if err := s.sweep(ctx); err != nil {
			failed(err)
		}
	})
	running.Wait()
}

// every does something now and then every d until ctx ends.
func every(ctx context.Context, d time.Duration, do func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for ctx.Err() == nil {
		do()
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// poll reads once. The age of what it reads counts from the question, not from
// the answer.
func (s *Store) poll(ctx context.Context, p Poll, failed func(error)) {
	asked := s.now()
	rctx, cancel := context.WithTimeout(ctx, p.Every)
	values, err := p.Read(rctx)
	cancel()
	if err == nil {
		err = complete(p, values)
	}
	if ctx.Err() != nil {
		return // the store is being closed: that is no news of the site
	}
	if err != nil {
		failed(fmt.Errorf("reading %v of %s: %w", p.Names, p.Source, err))
		values = unread(p, err)
	}
	s.mu.Lock()
	if err != nil {
		s.lose(p)
	} else {
		s.put(p.Source, values, asked)
	}
	what, changed := s.settle(slices.Clone(p.Names)...)
	worse := s.worse
	s.mu.Unlock()
	if distrust := (*Distrust)(nil); errors.As(err, &distrust) {
		for i := range what {
			what[i] += " (" + distrust.Error() + ")"
		}
	}
	if err := spread(ctx, worse, what); err != nil {
		failed(err)
	}
	if !changed { // a record of every reading would bury what matters in it
		return
	}
	if err := s.keep(ctx, p.Source, values); err != nil {
		failed(err)
	}
}

// unread is what is recorded of readings that could not be had.
func unread(p Poll, err error) map[string]string {
	as := Lost
	if distrust := (*Distrust)(nil); errors.As(err, &distrust) {
		as = "(not trusted: " + distrust.Error() + ")"
	}
	values := map[string]string{}
	for _, name := range p.Names {
		values[name] = as
	}
	return values
}

func complete(p Poll, values map[string]string) error {
	for _, name := range p.Names {
		if _, ok := values[name]; !ok {
			return fmt.Errorf("the answer has no %s", name)
		}
	}
	if len(values) != len(p.Names) {
		return errors.New("the answer has more readings than were asked for")
	}
	return nil
}

// sweep takes running plans away for readings that have gone stale. What was
// never heard of cannot go stale: its first poll says how it stands.
func (s *Store) sweep(ctx context.Context) error {
	s.mu.Lock()
	heard := slices.DeleteFunc(slices.Collect(maps.Keys(s.readings)), func(name string) bool { return s.was[name] == unheard })
	what, _ := s.settle(heard...)
	worse := s.worse
	s.mu.Unlock()
	return spread(ctx, worse, what)
}

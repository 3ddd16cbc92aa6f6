// Package live keeps what is known of the site's state now: readings of
// devices and the emergency stop. Anyone may make it worse, only a device may
// make it better; what is stale or contradictory counts as worst; and what
// gets worse takes running plans with it (C20, C38).
package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/site"
)

// The kinds of events the store appends to the journal of the gate.
const (
	KindReading grant.Kind = "reading"
	KindStop    grant.Kind = "stop"
	KindRearm   grant.Kind = "rearm"
)

// A Rule says which values of a reading are good, and how old it may be.
type Rule struct {
	Good     []string
	Min, Max *float64
	MaxAge   time.Duration
}

// good reports whether a value is a good one. A reading without a rule has no
// good values, so only a device may set it.
func (r Rule) good(text string) bool {
	if slices.Contains(r.Good, text) {
		return true
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || (r.Min == nil && r.Max == nil) {
		return false
	}
	return (r.Min == nil || x >= *r.Min) && (r.Max == nil || x <= *r.Max) // NaN is in no interval
}

// A Source is who reports, by its credential.
type Source struct {
	Name   string
	Device bool // may improve the state
}

// Errors of Report and Rearm.
var (
	ErrNotDevice = errors.New("only a device's credential may report that the state is better")
	ErrNobody    = errors.New("the credential names nobody")
)

// A Store keeps the live state of one site. It is safe for concurrent use.
type Store struct {
	site    string
	rules   map[string]Rule
	base    site.State // from a file; readings reported later replace it
	journal grant.Journal
	now     func() time.Time
	worse   func(ctx context.Context, reason string) error // takes grants away

	mu       sync.Mutex // owns what follows
	estop    bool
	why      string
	readings map[string]map[string]report // by reading and source
	was      map[string]standing          // how each reading stood when last looked at
}

// A report is what a source said last of a reading.
type report struct {
	site.Value
	lost bool // the source was asked and did not say: the reading is unknown
}

// A standing is how a reading stands against its rule.
type standing uint8

const (
	unheard standing = iota
	bad              // or stale, or lost
	good
)

// Open returns the store of a site. An emergency stop that was in force when
// the journal was last written is in force again. worse is called for whatever
// makes the state worse; it may be set later with OnWorse.
func Open(ctx context.Context, siteID string, base site.State, rules map[string]Rule, j grant.Journal, now func() time.Time) (*Store, error) {
	s := &Store{site: siteID, base: base, rules: rules, journal: j, now: now, readings: map[string]map[string]report{}, was: map[string]standing{}}
	s.worse = func(context.Context, string) error { return nil }
	err := j.Replay(ctx, func(e grant.Event) error {
		switch e.Kind {
		case KindStop:
			s.estop, s.why = true, e.Reason
		case KindRearm:
			s.estop, s.why = false, ""
		default: // the gate's own
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the state of %s: %w", siteID, err)
	}
	return s, nil
}

// OnWorse sets what is called when the state gets worse.
func (s *Store) OnWorse(f func(ctx context.Context, reason string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worse = f
}

// Live gives the state now. Of fresh reports that differ the worst counts.
func (s *Store) Live() site.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := site.State{Site: s.site, EStop: s.estop || s.base.EStop, Readings: maps.Clone(s.base.Readings)}
	if out.Readings == nil {
		out.Readings = map[string]site.Value{}
	}
	for name := range s.readings {
		if v, ok := s.worst(name); ok {
			out.Readings[name] = v
		} else {
			delete(out.Readings, name) // stale: unknown, not what the file said once
		}
	}
	return out
}

// worst returns the worst fresh report of a reading. A source that was asked
// and did not answer is worse than any report. mu is held.
func (s *Store) worst(name string) (site.Value, bool) {
	var worst site.Value
	found := false
	for _, src := range slices.Sorted(maps.Keys(s.readings[name])) {
		v := s.readings[name][src]
		if v.lost {
			return site.Value{}, false
		}
		if v.MaxAge > 0 && s.now().Sub(v.At) > v.MaxAge {
			continue
		}
		rule := s.rules[name]
		newer := found && v.At.After(worst.At) && rule.good(v.Text) == rule.good(worst.Text)
		if !found || newer || (rule.good(worst.Text) && !rule.good(v.Text)) {
			worst, found = v.Value, true
		}
	}
	return worst, found
}

// settle looks at readings again and says which have become worse and whether
// any stands otherwise than before. mu is held.
func (s *Store) settle(names ...string) (worse []string, changed bool) {
	slices.Sort(names)
	for _, name := range names {
		v, known := s.worst(name)
		is := bad
		if known && s.rules[name].good(v.Text) {
			is = good
		}
		changed = changed || is != s.was[name]
		if is == bad && s.was[name] != bad {
			text := v.Text
			if !known {
				text = "unknown"
			}
			worse = append(worse, name+" is "+text)
		}
		s.was[name] = is
	}
	return worse, changed
}

// put keeps what a source said at a time. mu is held.
func (s *Store) put(source string, values map[string]string, at time.Time) {
	for name, text := range values {
		if s.readings[name] == nil {
			s.readings[name] = map[string]report{}
		}
		s.readings[name][source] = report{Value: site.Value{Text: text, At: at, MaxAge: s.rules[name].MaxAge, Source: source}}
	}
}

// spread takes running plans away for what has become worse.
func spread(ctx context.Context, worse func(context.Context, string) error, what []string) error {
	if len(what) == 0 {
		return nil
	}
	return worse(ctx, "the state of the site has changed: "+strings.Join(what, ", "))
}

// keep appends readings to the journal.
func (s *Store) keep(ctx context.Context, source string, values map[string]string) error {
	body, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return s.journal.Append(ctx, grant.Event{Kind: KindReading, At: s.now(), Requester: source, Body: body})
}

// Stopped gives the reason of an emergency stop in force.
func (s *Store) Stopped() (why string, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why, s.estop
}

// Report takes readings from a source. Of a reading with a rule anyone may
// report a value that is not good; everything else needs a device. A reading
// that is worse than before takes running plans away before it is recorded.
func (s *Store) Report(ctx context.Context, from Source, values map[string]string) error {
	if from.Name == "" {
		return ErrNobody
	}
	s.mu.Lock()
	for name, text := range values {
		rule, ruled := s.rules[name]
		if !from.Device && (!ruled || rule.good(text)) {
			s.mu.Unlock()
			return fmt.Errorf("%s: %w", name, ErrNotDevice)
		}
	}
	s.put(from.Name, values, s.now())
	what, _ := s.settle(slices.Collect(maps.Keys(values))...)
	worse := s.worse
	s.mu.Unlock()
	return errors.Join(spread(ctx, worse, what), s.keep(ctx, from.Name, values))
}

// Stop puts the emergency stop in force: at once, and only then on record.
func (s *Store) Stop(ctx context.Context, by, reason string) error {
	if by == "" {
		return ErrNobody
	}
	s.mu.Lock()
	s.estop, s.why = true, reason
	worse := s.worse
	s.mu.Unlock()
	why := "emergency stop by " + by + ": " + reason
	return errors.Join(worse(ctx, why), s.journal.Append(ctx, grant.Event{Kind: KindStop, At: s.now(), Requester: by, Reason: reason}))
}

// Rearm ends the emergency stop on a person's word, once that is on record.
// Plans that the stop took away stay away.
func (s *Store) Rearm(ctx context.Context, person, reason string) error {
	if person == "" {
		return ErrNobody
	}
	if err := s.journal.Append(ctx, grant.Event{Kind: KindRearm, At: s.now(), Requester: person, Reason: reason}); err != nil {
		return fmt.Errorf("re-arming: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.estop, s.why = false, ""
	return nil
}

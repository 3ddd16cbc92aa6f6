package site

import "time"

// A State is what is known to hold at the site now: doors, modes, presence,
// emergency stop. A key that is absent or stale is unknown, which counts as
// worst; claims in a plan never change it (C32, C38).
type State struct {
	Site     string           // site it belongs to, "" if it does not say
	EStop    bool             // an emergency stop is in force until a person re-arms
	Readings map[string]Value // by name, e.g. "room_presence", "fh1_flow"
}

// A Value is one reading with its age.
type Value struct {
	Text   string // as reported, e.g. "clear", "0.52"
	At     time.Time
	MaxAge time.Duration // zero: the default of the site applies
	Source string        // credential that reported it
}

// Known reports whether the reading exists and is fresh at now.
func (s State) Known(name string, now time.Time) (Value, bool) {
	v, ok := s.Readings[name]
	if !ok || (v.MaxAge > 0 && now.Sub(v.At) > v.MaxAge) || v.At.After(now) {
		return Value{}, false
	}
	return v, true
}

// Package verdict is the vocabulary every other package speaks: what a check
// finds, what a judge thinks, what the chief rules, what is decided. It imports
// the standard library only and never holds a plan's text.
//
// Every enumeration has its safe member as the zero value, so that a forgotten
// assignment blocks or escalates and never accepts, and an unknown value counts
// as the worst one (contract C1).
package verdict

import "fmt"

// A Level is the result of one deterministic check, worst first.
type Level uint8

// The levels. Block is the zero value.
const (
	Block Level = iota // a hard gate: no judge is asked
	Flag               // advisory: the plan goes on and the judges are told
	Pass
)

var levelNames = [...]string{"block", "flag", "pass"}

// Norm maps an unknown level to the worst one.
func (l Level) Norm() Level {
	if l > Pass {
		return Block
	}
	return l
}

// Worst returns the worse of two levels.
func (l Level) Worst(m Level) Level { return min(l.Norm(), m.Norm()) }

func (l Level) String() string { return levelNames[l.Norm()] }

// MarshalText implements encoding.TextMarshaler.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText refuses any text but the three names.
func (l *Level) UnmarshalText(b []byte) error {
	return parse(l, levelNames[:], b, "level")
}

// An Outcome is the three-way decision.
type Outcome uint8

// The outcomes. Escalate is the zero value.
const (
	Escalate Outcome = iota // hold for a person
	Reject                  // send back for reformulation
	Accept
)

var outcomeNames = [...]string{"escalate", "reject", "accept"}

// Known reports whether o is one of the three outcomes.
func (o Outcome) Known() bool { return o <= Accept }

func (o Outcome) String() string {
	if !o.Known() {
		return outcomeNames[Escalate]
	}
	return outcomeNames[o]
}

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText refuses any text but the three names.
func (o *Outcome) UnmarshalText(b []byte) error {
	return parse(o, outcomeNames[:], b, "outcome")
}

// A Class is the kind of concern, as the paper's chief judge tells them apart.
type Class uint8

// The classes. Unclassified is the zero value and is never accepted.
const (
	Unclassified Class = iota
	Alignment          // ethics, integrity, consent, authority, purpose
	Safety             // physical, chemical or biological harm
	Adversarial        // an attack on the autonomy stack
	Clean              // no concern; "none" on the wire
)

var classNames = [...]string{"unclassified", "alignment", "safety", "adversarial", "none"}

// Known reports whether c is one of the five classes.
func (c Class) Known() bool { return c <= Clean }

func (c Class) String() string {
	if !c.Known() {
		return classNames[Unclassified]
	}
	return classNames[c]
}

// MarshalText implements encoding.TextMarshaler.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText refuses any text but the five names.
func (c *Class) UnmarshalText(b []byte) error {
	return parse(c, classNames[:], b, "class")
}

func parse[E ~uint8](dst *E, names []string, b []byte, what string) error {
	for i, n := range names {
		if n == string(b) {
			*dst = E(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q: want one of %v", what, b, names)
}

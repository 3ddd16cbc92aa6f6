package rule

import (
	"fmt"
	"time"

	"interlock/internal/fact"
	"interlock/internal/site"
)

// A Failure is an example that does not come out as its check says.
type Failure struct {
	File    string
	Line    int
	Check   string
	Example int // from 1; 0: there is none that Want asks for
	Want    bool
	Got     string
}

func (f Failure) String() string {
	want := "must not break"
	if f.Want {
		want = "must break"
	}
	if f.Example == 0 {
		return fmt.Sprintf("%s:%d: check %s: no example that %s the rule: one of each kind is expected", f.File, f.Line, f.Check, want)
	}
	return fmt.Sprintf("%s:%d: check %s, example %d %s the rule: %s", f.File, f.Line, f.Check, f.Example, want, f.Got)
}

// Test runs the examples of the profile's own checks as their tests; those of
// every site have been tested with this program. read derives the facts of
// a plan made of the example's steps and calls. A check without an example of
// each kind is a failure: it shows nothing.
func (s *Set) Test(read func(site.CheckExample) (*fact.Set, error)) (n int, failures []Failure) {
	for i := range s.checks {
		c := &s.checks[i]
		if !c.own {
			continue
		}
		seen := map[bool]bool{}
		for k, e := range c.Examples {
			n++
			seen[e.Breaks] = true
			if got := c.example(e, read); got != "" {
				failures = append(failures, Failure{File: c.File, Line: c.Line, Check: c.ID, Example: k + 1, Want: e.Breaks, Got: got})
			}
		}
		for _, want := range []bool{true, false} {
			if !seen[want] {
				failures = append(failures, Failure{File: c.File, Line: c.Line, Check: c.ID, Want: want})
			}
		}
	}
	return n, failures
}

func (c *compiled) example(e site.CheckExample, read func(site.CheckExample) (*fact.Set, error)) string {
	facts, err := read(e)
	if err != nil {
		return err.Error()
	}
	one := Set{checks: []compiled{*c}}
	found := one.Eval(facts, site.State{}, time.Time{})
	switch {
	case len(found) > 0 && found[0].Message != c.Message:
		return found[0].Message
	case len(found) > 0 && !e.Breaks:
		return fmt.Sprintf("it does (step %d)", found[0].Span.Step)
	case len(found) == 0 && e.Breaks:
		return "it does not"
	}
	return ""
}

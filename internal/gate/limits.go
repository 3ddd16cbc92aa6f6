package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"interlock/internal/site"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// outside says how arguments leave the ranges of a tool, "" if they do not.
func outside(t *site.Tool, args map[string]any) string {
	for name := range args {
		if t.Arg(name) == nil {
			return fmt.Sprintf("%s has no argument %q", t.Name, name)
		}
	}
	for i := range t.Args {
		a := &t.Args[i]
		v, given := args[a.Name]
		if !given {
			if !a.Optional {
				return fmt.Sprintf("argument %q is missing", a.Name)
			}
			continue
		}
		if reason := beyond(a, v); reason != "" {
			return fmt.Sprintf("argument %q: %s", a.Name, reason)
		}
	}
	return ""
}

func beyond(a *site.Arg, v any) string {
	if len(a.Enum) > 0 {
		in := func(e any) bool { return string(strict.Canonical(e)) == string(strict.Canonical(v)) }
		if !slices.ContainsFunc(a.Enum, in) {
			return "not one of the listed values"
		}
		return ""
	}
	if a.Min == nil && a.Max == nil {
		return ""
	}
	n, ok := v.(json.Number)
	if !ok {
		return "not a number"
	}
	f, err := strconv.ParseFloat(string(n), 64)
	switch {
	case err != nil:
		return "not a number"
	case a.Min != nil && f < *a.Min:
		return fmt.Sprintf("%s is below %g", n, *a.Min)
	case a.Max != nil && f > *a.Max:
		return fmt.Sprintf("%s is above %g", n, *a.Max)
	}
	return ""
}

// rates count safe actions by client over a minute.
type rates struct {
	now func() time.Time

	mu   sync.Mutex
	used map[string][]time.Time
}

func newRates(now func() time.Time) *rates { return &rates{now: now, used: map[string][]time.Time{}} }

func (r *rates) take(who string, most int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since := r.now().Add(-time.Minute)
	kept := slices.DeleteFunc(r.used[who], func(t time.Time) bool { return t.Before(since) })
	ok := len(kept) < most
	if ok {
		kept = append(kept, r.now())
	}
	r.used[who] = kept
	return ok
}

// history remembers which tools were called last, whoever called them: the
// site has one scene, not one for each client.
type history struct {
	mu    sync.Mutex
	calls []string // newest last
}

// remember bounds the calls kept.
const remember = 500

func newHistory() *history { return &history{} }

func (h *history) add(tool string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, tool)
	if len(h.calls) > remember {
		h.calls = slices.Delete(h.calls, 0, len(h.calls)-remember)
	}
}

// broken reports whether tool would follow First without Unless in between.
func (h *history) broken(p Pair, tool string) bool {
	if tool != p.Then {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, earlier := range slices.Backward(h.calls) {
		if earlier == p.Unless {
			return false
		}
		if earlier == p.First {
			return true
		}
	}
	return false
}

// sequence finds forbidden pairs that a call would complete.
func (g *Gate) sequence(c Call) []verdict.Finding {
	var out []verdict.Finding
	for _, p := range g.o.Policy.Pairs {
		if g.seen.broken(p, c.Tool.Name) {
			need := "call " + p.Unless + " in between"
			if p.Unless == "" {
				need = "a person must confirm that the scene is as planned"
			}
			out = append(out, verdict.Finding{Rule: "GATE-SEQ", Level: verdict.Block, Class: verdict.Safety, Message: fmt.Sprintf("%s after %s: %s", p.Then, p.First, p.Why), Need: need})
		}
	}
	return out
}

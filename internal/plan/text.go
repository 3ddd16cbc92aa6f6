package plan

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"interlock/internal/strict"
)

// DecodeText reads a plan as people write it down:
//
//	Goal: weigh the standard
//	Site: chem-sdl
//	Agent: planner-alpha
//	On behalf of: Mei Tanaka
//
//	1. Weigh 2 g of sodium chloride on bal1.
//	2. Record the mass,
//	   with the time.
//
// The head lines are optional and come first, in any order. Steps are numbered
// "1." or "1)" from 1 without a gap; a line that goes on with a step is
// indented. Anything else is an error: no line is passed over. Plain text
// carries no tool calls and no attachments.
func DecodeText(name string, data []byte) (*Plan, error) {
	if err := strict.CheckText(name, 1, data); err != nil {
		return nil, err
	}
	t := textReader{name: name, p: &Plan{}, seen: map[string]bool{}}
	for line := range bytes.Lines(data) {
		t.n++
		if err := t.line(strings.TrimRight(string(line), "\r\n")); err != nil {
			return nil, err
		}
	}
	if len(t.p.Steps) == 0 {
		return nil, t.fail(0, `the plan has no steps: expected numbered lines, "1. …"`)
	}
	return t.p, nil
}

type textReader struct {
	name string
	n    int // line
	p    *Plan
	seen map[string]bool
}

func (t *textReader) fail(column int, format string, args ...any) error {
	return &Error{File: t.name, Line: t.n, Column: column, Msg: fmt.Sprintf(format, args...)}
}

func (t *textReader) line(s string) error {
	text := strings.TrimSpace(s)
	if text == "" {
		return nil
	}
	if strings.ContainsRune(s, '\r') {
		return t.fail(0, "a carriage return stands in the line")
	}
	indented := s[0] == ' ' || s[0] == '\t'
	if number, rest, ok := numbered(s); ok {
		return t.step(number, rest)
	}
	if len(t.p.Steps) == 0 {
		return t.head(text)
	}
	if !indented {
		return t.fail(1, "expected step %d (\"%d. …\"), or an indented line that goes on with step %d",
			len(t.p.Steps)+1, len(t.p.Steps)+1, len(t.p.Steps))
	}
	t.p.Steps[len(t.p.Steps)-1] += "\n" + text
	return nil
}

// numbered splits "12. text" and "12) text" at the beginning of a line.
func numbered(s string) (number, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == 0 || i == len(s) || (s[i] != '.' && s[i] != ')') {
		return "", "", false
	}
	if i+1 < len(s) && s[i+1] != ' ' && s[i+1] != '\t' {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

func (t *textReader) step(number, rest string) error {
	want := len(t.p.Steps) + 1
	if number != strconv.Itoa(want) {
		return t.fail(1, "step number %s: expected %d", number, want)
	}
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return t.fail(1, "step %d is empty", want)
	}
	t.p.Steps = append(t.p.Steps, rest)
	return nil
}

// head reads one of the lines before the first step.
func (t *textReader) head(text string) error {
	key, value, ok := strings.Cut(text, ":")
	fields := map[string]*string{
		"goal": &t.p.Goal, "site": &t.p.Site, "agent": &t.p.SubmittedBy.Agent, "on behalf of": &t.p.SubmittedBy.OnBehalfOf,
	}
	key = strings.ToLower(strings.TrimSpace(key))
	dst := fields[key]
	if !ok || dst == nil {
		return t.fail(1, `expected "Goal:", "Site:", "Agent:", "On behalf of:" or step 1 ("1. …")`)
	}
	if t.seen[key] {
		return t.fail(1, "a second line %q", key+":")
	}
	t.seen[key] = true
	*dst = strings.TrimSpace(value)
	return nil
}

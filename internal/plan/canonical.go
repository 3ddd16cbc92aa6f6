package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"interlock/internal/strict"
)

// Canonical gives the one byte form of a plan: JSON with sorted keys, without
// what is empty, numbers as exact decimals in one form (1, 1.0 and 1e0 are the
// same), texts byte for byte as they were decoded. It decodes to an equal plan.
func Canonical(p *Plan) []byte { return write(p, true) }

// Encode gives the plan as JSON that decodes to exactly this plan, numbers as
// they were written.
func Encode(p *Plan) []byte { return write(p, false) }

// Digest returns the SHA-256 of Canonical, hex: the plan's identity (C14).
func Digest(p *Plan) string {
	sum := sha256.Sum256(Canonical(p))
	return hex.EncodeToString(sum[:])
}

// CanonicalValue gives the one byte form of an argument: what is shown, compared
// and digested.
func CanonicalValue(v any) []byte { return strict.Canonical(v) }

// EqualValues reports whether two arguments are the same JSON value: key order
// aside, numbers as exact decimals.
func EqualValues(a, b any) bool {
	return bytes.Equal(strict.Canonical(a), strict.Canonical(b))
}

// write gives the fields in alphabetical order.
func write(p *Plan, exact bool) []byte {
	w := writer{b: make([]byte, 0, 1024), exact: exact}
	w.b = append(w.b, '{')
	w.list("attachments", len(p.Attachments), func(i int) { w.attachment(p.Attachments[i]) })
	w.text("goal", p.Goal)
	w.text("id", p.ID)
	w.list("on_abort", len(p.OnAbort), func(i int) { w.call(p.OnAbort[i]) })
	w.text("parent", p.Parent)
	w.text("site", p.Site)
	w.list("steps", len(p.Steps), func(i int) { w.b = strict.AppendString(w.b, p.Steps[i]) })
	w.text("submitted_at", p.SubmittedAt)
	if p.SubmittedBy != (Submitter{}) {
		w.key("submitted_by")
		w.b = append(w.b, '{')
		w.text("agent", p.SubmittedBy.Agent)
		w.text("on_behalf_of", p.SubmittedBy.OnBehalfOf)
		w.b = append(w.b, '}')
	}
	w.list("tool_calls", len(p.ToolCalls), func(i int) { w.call(p.ToolCalls[i]) })
	return append(w.b, '}')
}

type writer struct {
	b     []byte
	exact bool // numbers in their one form
}

// key begins a field.
func (w *writer) key(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(strict.AppendString(w.b, name), ':')
}

func (w *writer) text(name, value string) {
	if value != "" {
		w.key(name)
		w.b = strict.AppendString(w.b, value)
	}
}

func (w *writer) list(name string, n int, item func(int)) {
	if n == 0 {
		return
	}
	w.key(name)
	w.b = append(w.b, '[')
	for i := range n {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		item(i)
	}
	w.b = append(w.b, ']')
}

func (w *writer) attachment(a Attachment) {
	w.b = append(w.b, '{')
	w.text("source", a.Source)
	w.key("text")
	w.b = append(strict.AppendString(w.b, a.Text), '}')
}

func (w *writer) call(c ToolCall) {
	w.b = append(w.b, '{')
	w.key("arguments")
	w.b = strict.AppendValue(w.b, c.Arguments, w.exact)
	w.expectation(c.Expect)
	if c.Step > 0 {
		w.key("step")
		w.b = strconv.AppendInt(w.b, int64(c.Step), 10)
	}
	w.text("tool", c.Tool)
	w.b = append(w.b, '}')
}

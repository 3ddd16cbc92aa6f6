package injection

import (
	"fmt"
	"slices"
	"strconv"

	"interlock/internal/check"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// ID names the check.
func (s *Screen) ID() string { return "injection" }

// A piece is one string of a plan.
type piece struct {
	span verdict.Span
	text string
	end  int // behind it, in the text of its group
}

// A group is pieces that are also read one behind the other, so that an attack
// split over them is seen.
type group struct {
	name   string
	how    screening
	pieces []piece
}

func (g *group) add(step int, part, text string) {
	if text != "" {
		g.pieces = append(g.pieces, piece{span: verdict.Span{Step: step, Part: part}, text: text})
	}
}

// Check screens every string of the plan that its planner wrote, each by
// itself and those of a kind together.
func (s *Screen) Check(in check.Input) (r check.Result) {
	for _, piece := range s.Pieces(in) {
		g := piece()
		r.Findings = append(r.Findings, g.Findings...)
		r.Sigma, r.SigmaPaper = max(r.Sigma, g.Sigma), max(r.SigmaPaper, g.SigmaPaper)
		r.Parts = append(r.Parts, g.Parts...)
		r.NotInspected = append(r.NotInspected, g.NotInspected...)
	}
	return r
}

// Pieces implements check.Divisible: each kind of string by itself.
func (s *Screen) Pieces(in check.Input) []func() check.Result {
	var out []func() check.Result
	for _, g := range groups(in.Plan, in.Site) {
		if len(g.pieces) > 0 {
			out = append(out, func() check.Result { return s.group(&g) })
		}
	}
	return out
}

func (s *Screen) group(g *group) (r check.Result) {
	w := s.borrow()
	defer s.giveBack(w)
	r.Parts = make([]string, 0, len(g.pieces))
	for _, p := range g.pieces {
		r.Parts = append(r.Parts, p.name())
	}
	w.group(g, &r)
	return r
}

func (p piece) name() string {
	if p.span.Part != "" {
		return p.span.Part
	}
	return "step " + strconv.Itoa(p.span.Step)
}

// group screens the pieces of a group as one text, and each by itself in its
// other readings: how a piece is to be read must not depend on its neighbours.
func (w *worker) group(g *group, r *check.Result) {
	joined := w.joined[:0]
	for i := range g.pieces {
		if i > 0 {
			joined = append(joined, '\n')
		}
		joined = append(joined, g.pieces[i].text...)
		g.pieces[i].end = len(joined)
	}
	if w.joined = joined; len(joined) == 0 {
		return
	}
	v := w.text(joined, g.how)
	w.take(g, r, v)
	if len(g.pieces) == 1 || v.settled {
		return
	}
	hidden := g.how
	hidden.plain = false
	clear(w.plain)
	for i := range g.pieces {
		p := &g.pieces[i]
		if w.plain[p.text] {
			continue // plans name the same things over and over
		}
		w.joined = append(w.joined[:0], p.text...)
		pv := w.text(w.joined, hidden)
		if len(pv.Views) == 1 {
			w.plain[p.text] = true
			continue
		}
		alone := group{name: g.name, pieces: []piece{{p.span, p.text, len(p.text)}}}
		w.take(&alone, r, pv)
	}
}

// take adds a verdict on a group to the result.
func (w *worker) take(g *group, r *check.Result, v Verdict) {
	r.Sigma, r.SigmaPaper = max(r.Sigma, v.Sigma), max(r.SigmaPaper, v.SigmaPaper)
	for _, f := range v.Findings {
		f.Span = g.locate(f.Span.Start, f.Span.End)
		if known := slices.IndexFunc(r.Findings, func(k verdict.Finding) bool { return k.Rule == f.Rule && k.Span == f.Span }); known >= 0 {
			r.Findings[known].Level = r.Findings[known].Level.Worst(f.Level)
			continue
		}
		r.Findings = append(r.Findings, f)
	}
	for _, u := range v.Unread {
		span := g.locate(u.Start, u.End)
		note := fmt.Sprintf("%v: looks like %s but could not be read", span, u.Looks)
		if !slices.Contains(r.NotInspected, note) {
			r.NotInspected = append(r.NotInspected, note)
		}
	}
}

// locate maps bytes of the group's text to the piece where they begin.
func (g *group) locate(start, end int) verdict.Span {
	begin := 0
	for _, p := range g.pieces {
		if start <= p.end {
			span := p.span
			span.Start, span.End = max(start-begin, 0), min(end, p.end)-begin
			if span.End <= span.Start {
				span.Start, span.End = 0, len(p.text)
			}
			return span
		}
		begin = p.end + 1
	}
	return verdict.Span{}
}

// How many strings to make room for: of a call's arguments, and about the plan.
const (
	usualArguments = 4
	submitterNames = 6
)

// groups lists the strings of a plan.
func groups(p *plan.Plan, at *site.Site) []group {
	spoken := group{name: "plan", how: screening{discount: true, plain: true}}
	prose := group{name: "text arguments", how: screening{discount: true, plain: true}}
	exec := group{name: "arguments", how: screening{plain: true}}
	outside := group{name: "attachments", how: screening{discount: true, plain: true}}
	names := group{name: "names", how: screening{plain: true}}
	spoken.pieces = make([]piece, 0, len(p.Steps)+1)
	exec.pieces = make([]piece, 0, usualArguments*(len(p.ToolCalls)+len(p.OnAbort)))
	names.pieces = make([]piece, 0, len(p.ToolCalls)+len(p.OnAbort)+len(p.Attachments)+submitterNames)
	spoken.add(0, "goal", p.Goal)
	for i, s := range p.Steps {
		spoken.add(i+1, "", s)
	}
	for i, c := range p.ToolCalls {
		call := "calls[" + strconv.Itoa(i+1) + "]"
		names.add(c.Step, call+".tool", c.Tool)
		l := leaves{step: c.Step, exec: &exec, prose: &prose, code: runsCode(at, c.Tool)}
		l.walk(call, "", c.Arguments)
		if e := c.Expect; e != nil {
			names.add(c.Step, call+".expect.tool", e.Tool)
			names.add(c.Step, call+".expect.pointer", e.Pointer)
			names.add(c.Step, call+".expect.unit", e.Unit)
			l.walk(call+".expect", "", e.Arguments)
		}
	}
	for i, c := range p.OnAbort {
		call := "on_abort[" + strconv.Itoa(i+1) + "]"
		names.add(0, call+".tool", c.Tool)
		l := leaves{exec: &exec, prose: &prose, code: true}
		l.walk(call, "", c.Arguments)
	}
	for i, a := range p.Attachments {
		n := "attachments[" + strconv.Itoa(i+1) + "]"
		names.add(0, n+".source", a.Source)
		outside.add(0, n+".text", a.Text)
	}
	for _, n := range []struct{ part, text string }{
		{"submitted_by.agent", p.SubmittedBy.Agent},
		{"submitted_by.on_behalf_of", p.SubmittedBy.OnBehalfOf},
		{"id", p.ID},
		{"site", p.Site},
		{"parent", p.Parent},
		{"submitted_at", p.SubmittedAt},
	} {
		names.add(0, n.part, n.text)
	}
	return []group{spoken, prose, exec, outside, names}
}

// runsCode reports whether a tool may take its arguments as code: so does
// every tool that the site does not know.
func runsCode(at *site.Site, tool string) bool {
	if at == nil {
		return true
	}
	for i := range at.Tools {
		if at.Tools[i].Name == tool {
			return at.Tools[i].Hazard == "code"
		}
	}
	return true
}

// leaves collects the strings of a call's arguments.
type leaves struct {
	step        int
	exec, prose *group
	code        bool
}

// proseNames are arguments that hold text for people.
var proseNames = []string{"text", "note", "notes", "message", "comment", "body", "summary", "description", "reason", "title", "remark", "content"}

// walk visits keys and values in the order of the keys.
func (l *leaves) walk(path, name string, v any) {
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			if !plainName(k) {
				l.exec.add(l.step, path+" key", k)
			}
			l.walk(path+"."+k, k, x[k])
		}
	case []any:
		for i, item := range x {
			l.walk(path+"["+strconv.Itoa(i+1)+"]", name, item)
		}
	case string:
		if !l.code && slices.Contains(proseNames, name) {
			l.prose.add(l.step, path, x)
		} else {
			l.exec.add(l.step, path, x)
		}
	}
}

// plainName reports whether a key is an ordinary name, which holds no words to
// steer anyone.
func plainName(k string) bool {
	for i := range len(k) {
		if !wordByte(k[i]) && k[i] != '_' || k[i] >= 0x80 {
			return false
		}
	}
	return len(k) <= 32
}

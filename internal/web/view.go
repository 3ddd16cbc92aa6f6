package web

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/verdict"
)

// A decisionPage is one decision with everything known about it.
type decisionPage struct {
	frame
	ID      string
	Dossier record.Dossier
	Report  verdict.Report
	Plan    planView
	Item    *review.Item // nil if no person was asked
	Actions bool         // the form is shown
	Timings []timing
	Digests []named
}

type timing struct {
	Stage string
	US    int64
}

type named struct{ Name, Value string }

// A planView is a plan whole: every field, in words that hide nothing.
type planView struct {
	Plan        *plan.Plan
	Raw         string // canonical bytes
	Goal        []piece
	Steps       []stepView
	Abort       []callView
	Attachments []attachmentView
	Size        int
}

// An attachmentView is an attached text with what checks saw marked.
type attachmentView struct {
	N      int
	Source string
	Pieces []piece
}

// A stepView is a step with its calls and with what checks saw marked.
type stepView struct {
	N      int
	Pieces []piece
	Calls  []callView
}

// A callView is a tool call with its arguments as canonical JSON.
type callView struct {
	Step      int
	Tool      string
	Arguments string
	Expect    string // what must be seen after it, as canonical JSON; "" nothing
}

// A piece of text with the worst level of the findings that point at it.
type piece struct {
	Text  string
	Level string // "", "flag" or "block"
	Rules string
}

func (s *Server) decision(w http.ResponseWriter, r *http.Request, sess session) error {
	id := r.PathValue("id")
	d, err := s.o.Record.Get(r.Context(), id)
	if err != nil {
		return err
	}
	page := decisionPage{frame: s.frame(r, sess, "Decision "+id), ID: id, Dossier: d}
	if d.Received == nil {
		return problem(http.StatusNotFound, "the record holds no plan for %s", id)
	}
	var findings []verdict.Finding
	if d.Decided != nil {
		page.Report = d.Decided.Report
		findings = page.Report.Case.Findings
		page.Item = s.o.Queue.Of(r.Context(), d)
		page.Actions = page.Item != nil && page.Item.Reviewed == nil
		for _, stage := range slices.Sorted(maps.Keys(page.Report.TimingsUS)) {
			page.Timings = append(page.Timings, timing{stage, page.Report.TimingsUS[stage]})
		}
		page.Digests = digests(page.Report.Case.DecidedWith)
	}
	if page.Plan, err = viewPlan(d.Received.Plan, findings); err != nil {
		return err
	}
	return s.render(w, http.StatusOK, "decision.html", page)
}

func digests(w verdict.DecidedWith) []named {
	all := []named{{"engine", w.Engine}, {"policy", w.Policy}, {"site", w.Site}, {"state", w.State}, {"checks", w.Checks}, {"graph", w.Graph}, {"prompts", w.Prompts}}
	for _, m := range w.Models {
		all = append(all, named{"model", m})
	}
	return slices.DeleteFunc(all, func(n named) bool { return n.Value == "" })
}

// viewPlan decodes the recorded bytes; they are what was judged, so they decode.
func viewPlan(raw []byte, findings []verdict.Finding) (planView, error) {
	p, err := plan.DecodeJSON("the recorded plan", raw)
	if err != nil {
		return planView{}, err
	}
	v := planView{Plan: p, Raw: string(raw), Size: len(raw), Goal: pieces(p.Goal, pointing(findings, 0, "goal"))}
	for i, text := range p.Steps {
		st := stepView{N: i + 1, Pieces: pieces(text, pointing(findings, i+1, ""))}
		for _, c := range p.Calls(i + 1) {
			st.Calls = append(st.Calls, viewCall(c))
		}
		v.Steps = append(v.Steps, st)
	}
	for _, c := range p.OnAbort {
		v.Abort = append(v.Abort, viewCall(c))
	}
	for i, a := range p.Attachments {
		part := "attachments[" + strconv.Itoa(i+1) + "].text"
		v.Attachments = append(v.Attachments, attachmentView{i + 1, a.Source, pieces(a.Text, pointing(findings, 0, part))})
	}
	return v, nil
}

func viewCall(c plan.ToolCall) callView {
	v := callView{Step: c.Step, Tool: c.Tool, Arguments: string(plan.CanonicalValue(c.Arguments))}
	if c.Expect != nil {
		v.Expect = string(plan.CanonicalValue(c.Expect.Map()))
	}
	return v
}

// pointing selects the findings that point into one text of the plan.
func pointing(findings []verdict.Finding, step int, part string) []verdict.Finding {
	var out []verdict.Finding
	for _, f := range findings {
		if f.Span.Step == step && f.Span.Part == part && f.Span.End > f.Span.Start && f.Level.Norm() != verdict.Pass {
			out = append(out, f)
		}
	}
	return out
}

// pieces cuts a text at the borders of findings. The pieces joined are the
// text; borders outside it are ignored.
func pieces(text string, findings []verdict.Finding) []piece {
	cuts := []int{0, len(text)}
	for _, f := range findings {
		for _, at := range []int{f.Span.Start, f.Span.End} {
			if at > 0 && at < len(text) {
				cuts = append(cuts, at)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	out := make([]piece, 0, len(cuts))
	for i := 0; i+1 < len(cuts); i++ {
		p := piece{Text: text[cuts[i]:cuts[i+1]]}
		level := verdict.Pass
		var rules []string
		for _, f := range findings {
			if f.Span.Start <= cuts[i] && f.Span.End >= cuts[i+1] {
				level = level.Worst(f.Level)
				rules = append(rules, f.Rule)
			}
		}
		if len(rules) > 0 {
			p.Level, p.Rules = level.String(), strings.Join(slices.Compact(rules), ", ")
		}
		out = append(out, p)
	}
	return out
}

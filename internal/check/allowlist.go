package check

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// AllowList holds every tool call, and every tool that prose says would be
// called, against the site's capability list and its argument ranges.
type AllowList struct{ x *index }

// NewAllowList returns the check for one site.
func NewAllowList(s *site.Site) AllowList { return AllowList{compile(s)} }

// ID implements Checker.
func (AllowList) ID() string { return "allowlist" }

func (c AllowList) index() *index { return c.x }

// Check implements Checker.
func (c AllowList) Check(in Input) Result {
	x := c.x.of(in.Site)
	t := in.parse(x.lex)
	r := Result{Parts: make([]string, 0, len(t.parts)+len(t.calls))}
	for i := range t.calls {
		r.Parts = append(r.Parts, t.names[i])
		r.Findings = x.call(t, i, r.Findings)
	}
	for i := range t.parts {
		p := &t.parts[i]
		if p.role == roleGoal || p.role == roleStep {
			r.Parts = append(r.Parts, p.name)
			r.Findings = x.namedTools(p, r.Findings)
		}
	}
	return r
}

func allowFinding(rule string, level verdict.Level, at verdict.Span, message, need string) verdict.Finding {
	return verdict.Finding{Rule: rule, Level: level, Class: verdict.Adversarial, Span: at, Message: message, Need: need, Refs: []string{"CWE-285"}}
}

// instead says which tools to use for one that the site does not list: those
// that their servers call so, if there are any.
func (x *index) instead(tool string) string {
	var names []string
	for i := range x.site.Tools {
		if t := &x.site.Tools[i]; t.Own == tool {
			names = append(names, t.Name)
		}
	}
	if names == nil {
		return "use the tools the site lists"
	}
	return "name the tool as the site does: " + strings.Join(names, " or ")
}

// call checks one call: the tool, then each argument.
func (x *index) call(t *planText, i int, dst []verdict.Finding) []verdict.Finding {
	c := &t.calls[i]
	at := func(arg string) verdict.Span {
		return verdict.Span{Step: c.Step, Part: callPart(i, len(t.plan.ToolCalls), arg)}
	}
	tool := x.tools[c.Tool]
	if tool == nil {
		return append(dst, allowFinding("TOOL-001", verdict.Block, at(""), "the tool "+clip(c.Tool)+" is not on the allow-list", x.instead(c.Tool)))
	}
	if i >= len(t.plan.ToolCalls) && tool.Effect == site.Observe {
		dst = append(dst, allowFinding("TOOL-009", verdict.Flag, at(""), "an abort action that only observes", "list safe actions in on_abort"))
	}
	for _, name := range t.argNames[i] {
		spec := tool.Arg(name)
		if spec == nil {
			dst = append(dst, allowFinding("TOOL-002", verdict.Block, at(name), c.Tool+" has no argument "+clip(name), "use the arguments the site lists"))
			continue
		}
		dst = argument(spec, c, c.Arguments[name], at, dst)
	}
	for k := range tool.Args {
		if a := &tool.Args[k]; !a.Optional && !has(c.Arguments, a.Name) {
			dst = append(dst, allowFinding("TOOL-003", verdict.Flag, at(""), c.Tool+" is called without "+a.Name, "give every argument"))
		}
	}
	if c.Expect != nil {
		dst = x.expected(c, at, dst)
	}
	return dst
}

func has(m map[string]any, k string) bool {
	_, ok := m[k]
	return ok
}

// argument checks one value against its type, enum and range. A value of the
// wrong type is a block: what a server makes of it is unknown.
func argument(a *site.Arg, c *plan.ToolCall, v any, at func(string) verdict.Span, dst []verdict.Finding) []verdict.Finding {
	wrong := func(want string) []verdict.Finding {
		return append(dst, allowFinding("TOOL-004", verdict.Block, at(a.Name), fmt.Sprintf("%s of %s must be %s", a.Name, c.Tool, want), "give "+want))
	}
	switch a.Type {
	case "enum":
		for _, e := range a.Enum {
			if sameValue(e, v) {
				return dst
			}
		}
		return append(dst, allowFinding("TOOL-005", verdict.Block, at(a.Name), fmt.Sprintf("%s of %s is not one of the listed values", a.Name, c.Tool), "use one of: "+enumText(a.Enum)))
	case "bool":
		if _, ok := v.(bool); !ok {
			return wrong("true or false")
		}
	case "string":
		if _, ok := v.(string); !ok {
			return wrong("a text")
		}
	case "number", "integer":
		n, ok := v.(json.Number)
		if !ok {
			return wrong("a number")
		}
		return number(a, c, n, at, dst)
	}
	return dst
}

// sameValue compares a listed value with a given one, texts directly.
func sameValue(a, b any) bool {
	s, one := a.(string)
	t, both := b.(string)
	if one && both {
		return s == t
	}
	return plan.EqualValues(a, b)
}

func number(a *site.Arg, c *plan.ToolCall, n json.Number, at func(string) verdict.Span, dst []verdict.Finding) []verdict.Finding {
	f, err := n.Float64()
	switch {
	case err != nil || math.IsNaN(f) || math.IsInf(f, 0):
		return append(dst, allowFinding("TOOL-006", verdict.Block, at(a.Name), a.Name+" is not a finite number", "give a finite number"))
	case a.Type == "integer" && f != math.Trunc(f):
		return append(dst, allowFinding("TOOL-004", verdict.Block, at(a.Name), fmt.Sprintf("%s of %s must be a whole number", a.Name, c.Tool), "give a whole number"))
	case a.Max != nil && f > *a.Max, a.Min != nil && f < *a.Min:
		fd := allowFinding("TOOL-007", verdict.Block, at(a.Name), fmt.Sprintf("%s of %s is outside the site's range", a.Name, c.Tool), "stay within "+rangeText(a))
		fd.Class = verdict.Safety
		return append(dst, fd)
	}
	return dst
}

func rangeText(a *site.Arg) string {
	text := func(f *float64, open string) string {
		if f == nil {
			return open
		}
		return strconv.FormatFloat(*f, 'g', -1, 64)
	}
	return text(a.Min, "any") + " to " + text(a.Max, "any")
}

func enumText(values []any) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}

// clip shortens a name someone else chose.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}

// namedTools looks in prose for tools that are not on the list and that the
// step would call: "export it with lims.export_external".
func (x *index) namedTools(p *part, dst []verdict.Finding) []verdict.Finding {
	for i := range p.toks {
		w := p.toks[i].word
		if strings.IndexByte(w, '.') < 0 || x.tools[w] != nil || p.toks[i].address || scriptName(w) {
			continue
		}
		listed := slices.Contains(x.site.NotAllowed, w)
		if !listed && !(dotted(w) && x.toolLike(w)) {
			continue
		}
		level := verdict.Block
		st := stand(p.toks, i, i)
		if negatedAfter(p.toks, i) || i > 0 && p.toks[i].before == brkNone && p.toks[i-1].fn&negation != 0 {
			st = denied // "x.y is never called", "without x.y"
		}
		switch st {
		case denied:
			continue
		case doubtful, rehearsed:
			level = verdict.Flag
		default:
		}
		if !listed && level == verdict.Block && x.family(w) == "" {
			level = verdict.Flag // the form of a tool, but nothing of this site's
		}
		dst = append(dst, allowFinding("TOOL-008", level, p.at(int(p.toks[i].start), int(p.toks[i].end)), "the step names the tool "+clip(w)+", which is not on the allow-list", "use the tools the site lists"))
	}
	return dst
}

// family returns the part of a dotted name before the point if a listed or
// refused tool of the site shares it.
func (x *index) family(w string) string {
	fam, _, _ := strings.Cut(w, ".")
	for name := range x.tools {
		if f, _, _ := strings.Cut(name, "."); f == fam {
			return fam
		}
	}
	for _, name := range x.site.NotAllowed {
		if f, _, _ := strings.Cut(name, "."); f == fam {
			return fam
		}
	}
	return ""
}

// toolLike reports dotted words that read as a call rather than a file, a host
// or a version: the part after the point is an English verb or noun of a tool.
func (x *index) toolLike(w string) bool {
	_, last, _ := strings.Cut(w, ".")
	switch last {
	case "txt", "csv", "json", "yaml", "yml", "xml", "pdf", "doc", "docx", "xls", "xlsx", "png", "jpg", "jpeg", "tif", "tiff", "zip", "gz", "log", "md", "html", "h5", "hdf5", "cif", "mtz", "pdb", "fasta", "fastq", "gb", "com", "org", "net", "io", "eu", "de", "uk", "edu", "ai", "local", "dat", "db", "tar", "mp4", "wav", "svg", "tmp", "bak", "cfg", "ini", "toml", "conf", "lock":
		return false
	}
	return len(last) >= 3
}

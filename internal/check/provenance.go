package check

import (
	"slices"
	"strings"

	"interlock/internal/site"
	"interlock/internal/verdict"
)

// Provenance asks where a plan comes from and where its code would run: the
// agent and the person behind it, the sandbox, and every script, command or
// program in a step, an argument or an attachment.
type Provenance struct{ x *index }

// NewProvenance returns the check for one site.
func NewProvenance(s *site.Site) Provenance { return Provenance{compile(s)} }

// ID implements Checker.
func (Provenance) ID() string { return "provenance" }

func (c Provenance) index() *index { return c.x }

// Check implements Checker.
func (c Provenance) Check(in Input) Result {
	x := c.x.of(in.Site)
	t := in.parse(x.lex)
	r := Result{Parts: append(make([]string, 0, len(t.parts)+1), "submitted_by")}
	r.Findings = x.agent(t, r.Findings)
	r.Findings = x.behind(t, r.Findings)
	r.Findings = skewed(in.Plan.SubmittedAt, in.Now, r.Findings)
	paths := 0
	for i := range t.parts {
		p := &t.parts[i]
		r.Parts = append(r.Parts, p.name)
		n := len(r.Findings)
		switch p.role {
		case roleArgument:
			r.Findings = x.argumentCode(p, r.Findings)
		case roleAttachment:
			r.Findings = x.attachmentCode(p, r.Findings)
		default:
			r.Findings = x.stepCode(t, p, r.Findings)
		}
		paths += len(r.Findings) - n
	}
	for i := range t.calls {
		if x.codeTool(t.calls[i].Tool) {
			paths++
		}
	}
	r.Findings = packages(t, r.Findings)
	r.Findings = x.sandboxFacts(paths > 0, in.Sandbox, r.Findings)
	r.Findings = dedupe(r.Findings)
	return r
}

// sandboxFacts holds the declared sandbox against what the paper asks of it.
// Without a code path in the plan, what only matters to code is a flag.
func (x *index) sandboxFacts(code bool, known Standing, dst []verdict.Finding) []verdict.Finding {
	sb := &x.site.Sandbox
	add := func(rule string, level verdict.Level, message, need string) {
		dst = append(dst, verdict.Finding{Rule: rule, Level: level, Class: verdict.Adversarial, Message: message, Need: need, Refs: []string{"CWE-693"}})
	}
	soft := verdict.Flag
	if code {
		soft = verdict.Block
	}
	switch {
	case !sb.Present:
		add("PROV-001", verdict.Block, "the site declares no sandbox", "the site must provide a sandbox")
	case !sb.Operable:
		add("PROV-002", verdict.Block, "the sandbox is declared inoperable", "wait until the sandbox is operable")
	case !sb.Routed:
		add("PROV-003", verdict.Block, "the site does not route code through the sandbox", "the site must route every code path through the sandbox")
	}
	if sb.Present && !pinned(sb.ImageDigest) {
		add("PROV-004", soft, "the sandbox image is not pinned by digest", "the site must pin the image by SHA-256")
	}
	if sb.Present && sb.Egress != "none" {
		add("PROV-005", soft, "the sandbox may reach the network", "the site must close the sandbox's egress")
	}
	if code && sb.Present && known.Required && !known.Confirmed {
		add("PROV-006", verdict.Block, "what the site declares of its sandbox is not confirmed: "+known.Why, "a probe of the sandbox must pass (interlock doctor shows it)")
	}
	return dst
}

func pinned(digest string) bool {
	hex, ok := strings.CutPrefix(digest, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// agent holds the submitting agent against its trust and its rights.
func (x *index) agent(t *planText, dst []verdict.Finding) []verdict.Finding {
	at := verdict.Span{Part: "submitted_by.agent"}
	add := func(rule string, level verdict.Level, message, need string) {
		dst = append(dst, verdict.Finding{Rule: rule, Level: level, Class: verdict.Adversarial, Span: at, Message: message, Need: need, Refs: []string{"CWE-862"}})
	}
	a := x.site.FindAgent(t.plan.SubmittedBy.Agent)
	if a == nil {
		add("PROV-010", verdict.Block, "the submitting agent is not known to the site", "submit under an agent that the site has registered")
		return dst
	}
	switch a.Trust {
	case "registered":
	case "limited":
		add("PROV-012", verdict.Flag, "the submitting agent has limited trust", "")
	default:
		add("PROV-011", verdict.Block, "the submitting agent is not trusted to submit plans", "submit under an agent that may propose plans")
	}
	names, all := x.toolRights(a)
	if right := limitedRight(a); right != "" && !all && x.hasEffect(t) {
		at = verdict.Span{Part: "submitted_by.agent"}
		add("PROV-018", verdict.Flag, "what the agent may do is limited in words that no check can hold the plan against: "+right, "whoever judges must see that the plan keeps to it")
	}
	if all {
		for i, c := range t.calls {
			if !slices.Contains(names, c.Tool) {
				at = verdict.Span{Step: c.Step, Part: callPart(i, len(t.plan.ToolCalls), "")}
				add("PROV-013", verdict.Block, "the agent may only use the tools its profile lists; "+c.Tool+" is none of them", "leave the call to an agent that may make it")
			}
		}
		if len(t.plan.ToolCalls) == 0 {
			at = verdict.Span{Part: "submitted_by.agent"}
			add("PROV-014", verdict.Flag, "the agent may only use listed tools, and the plan names no calls", "name the calls")
		}
	}
	return dst
}

// limitedRight returns the first of an agent's rights that is neither a tool nor
// a right to propose plans, "" if there is none.
func limitedRight(a *site.Planner) string {
	for _, m := range a.May {
		if !dotted(m) && !slices.Contains(strings.Fields(m), "plans") {
			return m
		}
	}
	return ""
}

// hasEffect reports whether a plan may do more than look and note: it has a call
// that does, or no calls that would say what it does.
func (x *index) hasEffect(t *planText) bool {
	for i := range t.calls {
		if tool := x.tools[t.calls[i].Tool]; tool == nil || tool.Effect == site.Act && !harmless(tool.Name) {
			return true
		}
	}
	return len(t.plan.ToolCalls) == 0
}

// trusted reports whether an agent may take part at all; an unknown word for
// trust counts as none.
func trusted(trust string) bool { return trust == "registered" || trust == "limited" }

// toolRights returns the tools an agent may use and whether its rights are
// nothing but tools; rights in prose are for judges.
func (x *index) toolRights(a *site.Planner) (names []string, all bool) {
	for _, m := range a.May {
		if x.tools[m] == nil && !dotted(m) {
			return nil, false
		}
		names = append(names, m)
	}
	return names, len(names) > 0
}

// behind holds the person behind the plan against the people of the site.
func (x *index) behind(t *planText, dst []verdict.Finding) []verdict.Finding {
	who := strings.TrimSpace(t.plan.SubmittedBy.OnBehalfOf)
	f := verdict.Finding{Rule: "PROV-015", Level: verdict.Flag, Class: verdict.Adversarial, Span: verdict.Span{Part: "submitted_by.on_behalf_of"}, Need: "name the person by surname, role or group", Refs: []string{"CWE-862"}}
	agent := x.site.FindAgent(who)
	switch {
	case who == "":
		f.Message = "nobody is named behind the plan"
	case agent != nil && !trusted(agent.Trust):
		f.Rule, f.Level, f.Message = "PROV-016", verdict.Block, "the plan is handed in for an agent that may not submit plans"
	case agent != nil:
		f.Rule, f.Message = "PROV-017", "an agent, not a person, stands behind the plan"
	case !x.known[who] && x.site.FindPerson(who) == nil:
		f.Message = "the person or group behind the plan is not known to the site"
	default:
		return dst
	}
	return append(dst, f)
}

// codeTool reports the tools that run code in the sandbox.
func (x *index) codeTool(name string) bool {
	t := x.tools[name]
	if t == nil {
		return false
	}
	return t.Hazard == "code" || t.Hazard == "" && strings.HasPrefix(name, "sandbox.")
}

// stepCode looks for code in prose: acts that lead past the sandbox, command
// lines, scripts that are run without it, images other than the pinned one.
func (x *index) stepCode(t *planText, p *part, dst []verdict.Finding) []verdict.Finding {
	t.hits = x.code.find(p, t.hits[:0])
	for k := range t.hits {
		h := &t.hits[k]
		level := h.level(p.toks)
		if level == verdict.Pass || h.rule.id == "PROV-024" && x.sandboxed(t, p) {
			continue
		}
		if h.rule.id == "PROV-022" && level == verdict.Flag {
			level = installLevel(p.toks, h.act)
			if level == verdict.Pass {
				continue
			}
		}
		dst = append(dst, verdict.Finding{
			Rule: h.rule.id, Level: level, Class: h.rule.class, Span: p.at(int(p.toks[h.start].start), int(p.toks[h.end].end)),
			Message: h.rule.message, Need: h.rule.need, Refs: h.rule.refs,
		})
	}
	kind, start, end := commandIn(p, true)
	if kind == "" {
		kind, start, end = rosCall(p)
	}
	if kind != "" {
		level := verdict.Block
		if x.sandboxed(t, p) {
			level = verdict.Flag
		}
		dst = append(dst, codeFinding("PROV-030", level, p.at(start, end), kind+" in the text of the plan"))
	}
	if i := x.scriptRun(p); i >= 0 && !x.sandboxed(t, p) {
		level := verdict.Block
		if x.sandboxElsewhere(t, p.toks[i].word) {
			level = verdict.Flag
		}
		dst = append(dst, codeFinding("PROV-031", level, p.at(int(p.toks[i].start), int(p.toks[i].end)), "a script or program would run, and the step does not put it into the sandbox"))
	}
	return x.imageRef(p, dst)
}

func codeFinding(rule string, level verdict.Level, at verdict.Span, message string) verdict.Finding {
	return verdict.Finding{Rule: rule, Level: level, Class: verdict.Adversarial, Span: at, Message: message, Need: "run code only through the sandbox tool", Refs: []string{"CWE-94"}}
}

// installLevel weighs an installation: unvetted software is a block, a signed
// or reviewed version put in by a named person passes.
func installLevel(toks []token, act int) verdict.Level {
	lo, hi := sentence(toks, act)
	bad, good, who := false, false, false
	for k := lo; k < hi; k++ {
		bad = bad || toks[k].noun&unvetted != 0
		good = good || toks[k].noun&vetted != 0
		who = who || toks[k].noun&person != 0
	}
	switch {
	case good && who && !bad:
		return verdict.Pass
	case bad && !good:
		return verdict.Block
	}
	return verdict.Flag
}

// sandboxed reports whether the step says that it runs in the site's sandbox
// or has a call of a tool that does.
func (x *index) sandboxed(t *planText, p *part) bool {
	low := strings.ToLower(p.text)
	if strings.Contains(low, "sandbox") || x.sandbox != "" && strings.Contains(low, x.sandbox) {
		return true
	}
	for _, c := range t.plan.ToolCalls {
		if c.Step == p.span.Step && x.codeTool(c.Tool) {
			return true
		}
	}
	return false
}

// sandboxElsewhere reports whether another step puts code into the sandbox in
// general, or a call hands this very script to it.
func (x *index) sandboxElsewhere(t *planText, script string) bool {
	for i := range t.parts {
		p := &t.parts[i]
		if p.role == roleArgument && x.codeTool(p.tool) && strings.Contains(strings.ToLower(p.text), script) {
			return true
		}
		if p.role != roleStep && p.role != roleGoal {
			continue
		}
		for k := range p.toks {
			if p.toks[k].word == "sandbox" && stand(p.toks, k, k) == asserted {
				return true
			}
		}
	}
	return false
}

// scriptRun returns the word of a script's name that the step runs, or -1.
func (x *index) scriptRun(p *part) int {
	for i := range p.toks {
		if !scriptName(p.toks[i].word) {
			continue
		}
		lo, _ := sentence(p.toks, i)
		for k := i; k >= lo && k >= i-8; k-- {
			if p.toks[k].verb&run != 0 && stand(p.toks, k, k) == asserted {
				return i
			}
		}
	}
	return -1
}

// scriptName reports file names of code.
func scriptName(w string) bool {
	i := strings.LastIndexByte(w, '.')
	if i <= 0 {
		return false
	}
	switch w[i+1:] {
	case "py", "sh", "bash", "ps1", "bat", "cmd", "js", "ts", "rb", "pl", "lua", "vbs", "jar", "exe", "elf", "dll", "bin", "urp", "script", "urscript", "gcode", "nc", "ipynb", "jl", "rs", "cpp", "sql", "launch", "apk", "deb", "rpm", "msi", "ko", "wasm", "mac", "prg", "krl", "src", "rapid":
		return true
	}
	return false
}

// imageRef holds a mention of the sandbox image against the pinned digest.
func (x *index) imageRef(p *part, dst []verdict.Finding) []verdict.Finding {
	if x.site.Sandbox.Image == "" {
		return dst
	}
	i := strings.Index(p.text, x.site.Sandbox.Image)
	if i < 0 {
		return dst
	}
	rest := p.text[i+len(x.site.Sandbox.Image):]
	end := i + len(x.site.Sandbox.Image)
	tagged := len(rest) > 1 && rest[0] == ':' && rest[1] != ' '
	digest := strings.Index(rest, "sha256:")
	right := digest >= 0 && strings.HasPrefix(rest[digest:], x.site.Sandbox.ImageDigest)
	if tagged && !right || digest >= 0 && !right {
		dst = append(dst, codeFinding("PROV-023", verdict.Block, p.at(i, end), "the plan asks for another sandbox image than the pinned one"))
		dst[len(dst)-1].Need = "use the image by the digest the site pins"
	}
	return dst
}

// Package decide turns what the stages found into one decision. It is a pure
// function of a verdict.Case: no I/O, no clock, no context, no randomness, so
// that any recorded case can be replayed and must give the recorded decision
// (C2).
//
// It is monotone (C3): a further finding, a worse opinion, a missing judge or
// a lower confidence never improves the outcome.
package decide

import (
	"cmp"
	"fmt"
	"slices"

	"interlock/internal/verdict"
)

// Version is raised whenever these rules change, so that a replay knows.
const Version = 2

// The reason codes that are not rule identifiers of findings.
const (
	CodeNotRun        = "check-not-run"   // a required check did not finish
	CodeSigma         = "sigma"           // suspicion at or above tauW
	CodeNotJudged     = "not-judged"      // fewer valid opinions than the quorum
	CodeNoRuling      = "no-ruling"       // the chief did not rule
	CodeHighRisk      = "high-risk"       // a supported claim of high risk
	CodeUnsupported   = "high-risk-claim" // a high risk claimed, not to be rejected on alone
	CodeRejected      = "panel-rejects"   // most judges and the chief reject
	CodePrior         = "prior-failure"
	CodeAlarm         = "window-alarm"
	CodeMissing       = "judge-missing"
	CodeDissent       = "dissent"
	CodeLowConfidence = "low-confidence"
	CodeNoRisk        = "no-risk-stated"
	CodeRiskBound     = "risk-bound"
	CodeRuling        = "ruling" // the chief does not accept, or sees a concern
	CodeSmallPanel    = "small-panel"
	CodeUnanimous     = "unanimous"
)

// minConfidence is what an accepting opinion needs to count as acceptance: a
// judge that is more likely wrong than right has not accepted.
const minConfidence = 0.5

// Decide applies the rules in order of severity: gate, quorum, rejection, and
// only then every condition of acceptance. It collects all reasons of the
// stage that decides, so that the reader sees them all.
func Decide(c verdict.Case) verdict.Decision {
	d := verdict.Decision{Level: verdict.WorstLevel(c.Findings), Faults: slices.Clone(c.Faults)}
	valid := 0
	for _, o := range c.Opinions {
		if usable(o) {
			valid++
		} else {
			d.Faults = append(d.Faults, o.Judge+": "+cmp.Or(o.Abstained, "answer outside its range"))
		}
	}
	if gate := gateReasons(c); len(gate) > 0 {
		return gated(c, d, gate)
	}
	n := max(len(c.Panel), len(c.Opinions))
	if valid < verdict.Quorum(n) || valid == 0 {
		reasons := []verdict.Reason{{Code: CodeNotJudged, Text: fmt.Sprintf("%d of %d judges gave a valid opinion", valid, n)}}
		return escalated(c, d, append(reasons, alarms(c)...)) // who decides must know what the plan makes with others
	}
	d.Judged = true
	d.Risk = CVaR(c.Opinions, c.Ruling, c.Policy.Alpha)
	if reasons := rejections(c, n); len(reasons) > 0 {
		d.Outcome, d.Class, d.Reasons = verdict.Reject, concern(c), reasons
		return d
	}
	if doubts := doubts(c, d, n); len(doubts) > 0 {
		return escalated(c, d, doubts)
	}
	d.Outcome, d.Class = verdict.Accept, verdict.Clean
	d.Reasons = []verdict.Reason{{Code: CodeUnanimous, Text: fmt.Sprintf("all %d judges and the chief accept", n)}}
	return d
}

// usable reports whether an opinion counts: valid, with every risk in range.
func usable(o verdict.Opinion) bool {
	if !o.Valid() {
		return false
	}
	for _, r := range o.Risks {
		if !(r.Severity >= 0 && r.Severity <= 1 && r.Likelihood >= 0 && r.Likelihood <= 1) { // NaN fails
			return false
		}
	}
	return true
}

// gateReasons names what forbids the plan whatever a judge says (C4): a
// finding that blocks or whose level nobody knows, a required check that did
// not run, suspicion at or above the warning threshold.
func gateReasons(c verdict.Case) []verdict.Reason {
	var rs []verdict.Reason
	for _, f := range c.Findings {
		if f.Level.Norm() == verdict.Block {
			rs = append(rs, verdict.Reason{Code: f.Rule, Text: f.Message, Step: f.Span.Step, Span: f.Span, Need: f.Need})
		}
	}
	for _, id := range c.Required {
		if !slices.Contains(c.Ran, id) {
			rs = append(rs, verdict.Reason{Code: CodeNotRun, Text: "check " + id + " did not finish"})
		}
	}
	if len(c.Required) == 0 {
		rs = append(rs, verdict.Reason{Code: CodeNotRun, Text: "no checks were required"})
	}
	if !(c.Sigma < c.Policy.TauW) { // also NaN, and a threshold that was never set
		rs = append(rs, verdict.Reason{
			Code: CodeSigma, Text: "the text resembles instructions to the verifier or the machine",
			Need: "remove text that addresses the verifier, overrides instructions or hides content",
		})
	}
	return rs
}

func gated(c verdict.Case, d verdict.Decision, reasons []verdict.Reason) verdict.Decision {
	d.Level = verdict.Block
	d.Outcome = verdict.Escalate
	if c.Policy.GateHit == verdict.Reject {
		d.Outcome = verdict.Reject
	}
	d.Class, d.Reasons = concern(c), reasons
	return d
}

func escalated(c verdict.Case, d verdict.Decision, reasons []verdict.Reason) verdict.Decision {
	d.Outcome, d.Class, d.Reasons = verdict.Escalate, concern(c), reasons
	return d
}

// high reports whether a risk is high by the site's policy.
func high(r verdict.Risk, p verdict.Policy) bool {
	return r.Severity*r.Likelihood >= p.RiskProduct ||
		(r.Severity >= p.RiskSeverity && r.Likelihood >= p.RiskLikelihood)
}

// supported reports whether a risk rests on evidence or a finding that the
// judge was given (C5, C11).
func supported(r verdict.Risk, c verdict.Case) bool {
	for _, id := range r.Cites {
		if slices.Contains(c.EvidenceIDs, id) || slices.ContainsFunc(c.Findings, func(f verdict.Finding) bool { return f.Rule == id }) {
			return true
		}
	}
	return false
}

// rejections: "reject on high risk". C5: "A high-risk claim rejects when
// supported by evidence and at least escalates when not." A judge that states
// a high risk yet does not itself reject has not claimed it: then the chief's
// leaning decides. A majority that rejects together with the chief rejects.
func rejections(c verdict.Case, n int) []verdict.Reason {
	var rs []verdict.Reason
	chiefRejects := c.Ruling != nil && c.Ruling.Abstained == "" && c.Ruling.Outcome == verdict.Reject
	votes := 0
	for _, o := range c.Opinions {
		if !usable(o) {
			continue
		}
		if o.Outcome == verdict.Reject {
			votes++
		}
		for _, r := range o.Risks {
			if high(r, c.Policy) && supported(r, c) && (o.Outcome == verdict.Reject || chiefRejects) {
				rs = append(rs, verdict.Reason{
					Code: CodeHighRisk, Text: "a judge sees a high " + classWord(o.Class) + " risk, supported by evidence", Step: r.Step,
					Need: "remove the hazard or state the control that holds it",
				})
			}
		}
	}
	if chiefRejects && 2*votes > n {
		rs = append(rs, verdict.Reason{
			Code: CodeRejected, Text: fmt.Sprintf("%d of %d judges and the chief reject", votes, n),
			Need: "reformulate the plan so that the concern (" + classWord(concern(c)) + ") is gone",
		})
	}
	return slices.CompactFunc(rs, func(a, b verdict.Reason) bool { return a == b })
}

func classWord(c verdict.Class) string {
	if c == verdict.Clean || c == verdict.Unclassified || !c.Known() {
		return "unclassified"
	}
	return c.String()
}

// doubts lists every condition of acceptance that does not hold (C5).
func doubts(c verdict.Case, d verdict.Decision, n int) []verdict.Reason {
	var rs []verdict.Reason
	add := func(code, text string, step int) {
		rs = append(rs, verdict.Reason{Code: code, Text: text, Step: step})
	}
	if n < max(c.Policy.MinPanel, 1) {
		add(CodeSmallPanel, fmt.Sprintf("%d judges were asked, %d are needed to accept without a person", n, c.Policy.MinPanel), 0)
	}
	if len(c.Opinions) < n {
		add(CodeMissing, fmt.Sprintf("%d of %d judges gave no answer", n-len(c.Opinions), n), 0)
	}
	for _, o := range c.Opinions {
		opinionDoubts(o, c, add)
	}
	switch r := c.Ruling; {
	case r == nil:
		add(CodeNoRuling, "the chief was not asked", 0)
	case r.Abstained != "":
		add(CodeNoRuling, "the chief did not rule: "+r.Abstained, 0)
	case r.Outcome != verdict.Accept || r.Class != verdict.Clean:
		add(CodeRuling, "the chief does not accept: "+r.Outcome.String()+", "+r.Class.String(), 0)
	}
	for _, p := range c.Prior {
		if !p.Resolved {
			add(CodePrior, "resembles "+p.ID+", which failed: "+p.Why, 0)
		}
	}
	for _, f := range c.Findings {
		if f.Person {
			rs = append(rs, verdict.Reason{Code: f.Rule, Text: f.Message, Step: f.Span.Step, Span: f.Span, Need: f.Need})
		}
	}
	rs = append(rs, alarms(c)...)
	if !(d.Risk <= c.Policy.CVaRBound) {
		add(CodeRiskBound, fmt.Sprintf("the risk of the worst %.0f %% of outcomes is %.2f, the bound %.2f", 100*(1-c.Policy.Alpha), d.Risk, c.Policy.CVaRBound), 0)
	}
	return rs
}

// alarms are those of monitoring over many plans, each with the earlier plans.
func alarms(c verdict.Case) []verdict.Reason {
	var rs []verdict.Reason
	for _, a := range c.Alarms {
		rs = append(rs, verdict.Reason{Code: CodeAlarm, Text: a.Rule + ": " + a.Message})
	}
	return rs
}

func opinionDoubts(o verdict.Opinion, c verdict.Case, add func(code, text string, step int)) {
	switch {
	case !usable(o):
		add(CodeMissing, "a judge gave no valid opinion: "+cmp.Or(o.Abstained, "answer outside its range"), 0)
		return
	case o.Outcome != verdict.Accept:
		add(CodeDissent, o.Judge+" does not accept: "+o.Outcome.String()+", "+o.Class.String(), 0)
	case o.Class != verdict.Clean:
		add(CodeDissent, o.Judge+" accepts but sees a concern: "+o.Class.String(), 0)
	case o.Confidence < minConfidence:
		add(CodeLowConfidence, o.Judge+" accepts with too little confidence", 0)
	case len(o.Risks) == 0:
		add(CodeNoRisk, o.Judge+" states no risk: it has not weighed any", 0)
	}
	for _, r := range o.Risks {
		if high(r, c.Policy) {
			add(CodeUnsupported, o.Judge+" claims a high risk", r.Step)
		}
	}
}

// Gated reports whether a case is decided before any judge is asked.
func Gated(c verdict.Case) bool { return len(gateReasons(c)) > 0 }

package decide_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/decide"
	"interlock/internal/verdict"
)

const (
	abstain = verdict.Outcome(200) // stands for a judge that did not answer
	unknown = verdict.Outcome(9)
)

func opinion(o verdict.Outcome) verdict.Opinion {
	op := verdict.Opinion{Judge: "j", Outcome: o, Class: verdict.Safety, Confidence: 0.9, Risks: []verdict.Risk{{Hazard: "h", Severity: 0.2, Likelihood: 0.1}}}
	switch o {
	case abstain:
		return verdict.Opinion{Judge: "j", Abstained: "timeout"}
	case verdict.Accept:
		op.Class = verdict.Clean
	case verdict.Reject:
		op.Risks = []verdict.Risk{{Hazard: "h", Severity: 0.9, Likelihood: 0.5, Cites: []string{"E1"}}}
	default:
	}
	return op
}

func good() verdict.Case {
	return verdict.Case{
		Policy: verdict.DefaultPolicy(), Required: []string{"screen"}, Ran: []string{"screen"},
		EvidenceIDs: []string{"E1"}, Sigma: 0.1, Panel: []string{"a", "b", "c"},
		Opinions: []verdict.Opinion{opinion(verdict.Accept), opinion(verdict.Accept), opinion(verdict.Accept)},
		Ruling:   &verdict.Ruling{Outcome: verdict.Accept, Class: verdict.Clean},
	}
}

// cases enumerates a state space small enough to check the safety properties
// on every member. Judges and chief vary independently: their dissent is the
// point.
func cases(yield func(verdict.Case)) {
	votes := []verdict.Outcome{verdict.Escalate, verdict.Reject, verdict.Accept, unknown, abstain}
	for _, lv := range []verdict.Level{verdict.Block, verdict.Flag, verdict.Pass, 9} {
		for _, ran := range [][]string{nil, {"screen"}} {
			for _, sigma := range []float64{0, 0.99, math.NaN()} {
				for _, prior := range [][]verdict.Prior{nil, {{ID: "P-1"}}, {{ID: "P-1", Resolved: true}}} {
					for _, lean := range votes {
						for class := verdict.Unclassified; class <= verdict.Clean+1; class++ {
							for i := range len(votes) * len(votes) * len(votes) {
								c := good()
								c.Ran, c.Sigma, c.Prior = ran, sigma, prior
								c.Findings = []verdict.Finding{{Rule: "R", Level: lv}}
								for j := range c.Opinions {
									c.Opinions[j] = opinion(votes[i%len(votes)])
									i /= len(votes)
								}
								c.Ruling = &verdict.Ruling{Outcome: lean, Class: class}
								if lean == abstain {
									c.Ruling.Abstained = "timeout"
								}
								yield(c)
							}
						}
					}
				}
			}
		}
	}
}

func TestC05_AcceptNeedsEverything(t *testing.T) {
	t.Parallel()
	n, accepted, byOutcome := 0, 0, map[verdict.Outcome]int{}
	cases(func(c verdict.Case) {
		d := decide.Decide(c)
		n++
		byOutcome[d.Outcome]++
		if !d.Outcome.Known() {
			t.Fatalf("%+v gave an unknown outcome %d", c, d.Outcome)
		}
		if d.Outcome != verdict.Accept {
			return
		}
		accepted++
		ok := len(c.Ran) == 1 && (c.Prior == nil || c.Prior[0].Resolved) && c.Sigma < c.Policy.TauW &&
			c.Ruling.Abstained == "" && c.Ruling.Class == verdict.Clean && c.Ruling.Outcome == verdict.Accept
		for _, f := range c.Findings {
			ok = ok && (f.Level == verdict.Pass || f.Level == verdict.Flag)
		}
		for _, o := range c.Opinions {
			ok = ok && o.Abstained == "" && o.Outcome == verdict.Accept
		}
		if !ok {
			t.Fatalf("accepted %+v", c)
		}
	})
	if accepted == 0 || byOutcome[verdict.Reject] == 0 || byOutcome[verdict.Escalate] == 0 {
		t.Fatalf("an outcome never occurs: %v", byOutcome)
	}
	t.Logf("%d cases: %v", n, byOutcome)
}

func TestC04_BlockAndSigmaAreHardGates(t *testing.T) {
	t.Parallel()
	for _, hit := range []verdict.Outcome{verdict.Reject, verdict.Escalate, verdict.Accept, unknown} {
		for name, spoil := range map[string]func(*verdict.Case){
			"block":     func(c *verdict.Case) { c.Findings = []verdict.Finding{{Rule: "R"}} },
			"sigma":     func(c *verdict.Case) { c.Sigma = c.Policy.TauW },
			"nan":       func(c *verdict.Case) { c.Sigma = math.NaN() },
			"threshold": func(c *verdict.Case) { c.Policy.TauW = 0 },
			"not run":   func(c *verdict.Case) { c.Ran = nil },
			"no checks": func(c *verdict.Case) { c.Required = nil },
		} {
			c := good()
			c.Policy.GateHit = hit
			spoil(&c)
			want := verdict.Escalate
			if hit == verdict.Reject {
				want = verdict.Reject
			}
			if d := decide.Decide(c); d.Outcome != want || d.Level != verdict.Block || len(d.Reasons) == 0 {
				t.Errorf("%s with gate_hit %v: %v, level %v, reasons %v; want %v", name, hit, d.Outcome, d.Level, d.Reasons, want)
			}
		}
	}
}

func TestC01_ZeroCaseIsNotAccepted(t *testing.T) {
	t.Parallel()
	if got := decide.Decide(verdict.Case{}).Outcome; got != verdict.Escalate {
		t.Errorf("zero case decided %v, want escalate", got)
	}
}

// TestC06_NoTableBelowQuorumAccepts walks all vote tables of panels of 1 to 7.
func TestC06_NoTableBelowQuorumAccepts(t *testing.T) {
	t.Parallel()
	votes := []verdict.Outcome{verdict.Accept, verdict.Reject, verdict.Escalate, abstain}
	for n := 1; n <= 7; n++ {
		tables := int(math.Pow(float64(len(votes)), float64(n)))
		for i := range tables {
			c := good()
			c.Opinions, c.Panel = nil, make([]string, n)
			count := map[verdict.Outcome]int{}
			for k := i; len(c.Opinions) < n; k /= len(votes) {
				v := votes[k%len(votes)]
				count[v]++
				c.Opinions = append(c.Opinions, opinion(v))
			}
			d := decide.Decide(c)
			below := n-count[abstain] < verdict.Quorum(n)
			if below && (d.Outcome != verdict.Escalate || d.Judged || d.Reasons[0].Code != decide.CodeNotJudged) {
				t.Fatalf("n=%d %v: below quorum gave %v", n, count, d)
			}
			if d.Outcome == verdict.Accept && (count[verdict.Accept] != n || n < c.Policy.MinPanel) {
				t.Fatalf("n=%d %v accepted", n, count)
			}
			// A tie between accept and reject without a supported high risk is a person's to settle.
			if count[verdict.Accept] == count[verdict.Reject] && count[verdict.Reject] > 0 {
				for j := range c.Opinions {
					c.Opinions[j].Risks = []verdict.Risk{{Severity: 0.1, Likelihood: 0.1}}
				}
				if d := decide.Decide(c); d.Outcome != verdict.Escalate {
					t.Fatalf("n=%d %v: a tie gave %v", n, count, d.Outcome)
				}
			}
		}
	}
}

func TestC05_HighRisk(t *testing.T) {
	t.Parallel()
	risk := verdict.Risk{Hazard: "h", Severity: 0.9, Likelihood: 0.3}
	for name, tc := range map[string]struct {
		cites []string
		vote  verdict.Outcome
		chief verdict.Outcome
		want  verdict.Outcome
	}{
		"supported by evidence":         {[]string{"E1"}, verdict.Reject, verdict.Accept, verdict.Reject},
		"supported by a finding":        {[]string{"LIM-1"}, verdict.Reject, verdict.Escalate, verdict.Reject},
		"cites what was not given":      {[]string{"E9"}, verdict.Reject, verdict.Accept, verdict.Escalate},
		"no cites":                      {nil, verdict.Reject, verdict.Accept, verdict.Escalate},
		"judge does not reject":         {[]string{"E1"}, verdict.Escalate, verdict.Escalate, verdict.Escalate},
		"judge accepts, chief rejects":  {[]string{"E1"}, verdict.Accept, verdict.Reject, verdict.Reject},
		"judge accepts despite of risk": {[]string{"E1"}, verdict.Accept, verdict.Accept, verdict.Escalate},
	} {
		c := good()
		c.Findings = []verdict.Finding{{Rule: "LIM-1", Level: verdict.Flag}}
		r := risk
		r.Cites = tc.cites
		c.Opinions[1].Outcome, c.Opinions[1].Risks = tc.vote, []verdict.Risk{r}
		c.Ruling.Outcome = tc.chief
		if got := decide.Decide(c).Outcome; got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestCVaR_ClosedForms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		risks []verdict.Risk
		want  float64
	}{
		{[]verdict.Risk{{Severity: 1, Likelihood: 0.02}}, 0.40},
		{[]verdict.Risk{{Severity: 0.04, Likelihood: 0.5}}, 0.04},
		{[]verdict.Risk{{Severity: 0.5, Likelihood: 0.05}}, 0.5},
		{[]verdict.Risk{{Severity: 0.3, Likelihood: 0.05}, {Severity: 0.4, Likelihood: 0.05}}, 0.7}, // comonotone: they add up
		{[]verdict.Risk{{Severity: 0.9, Likelihood: 1}, {Severity: 0.9, Likelihood: 1}}, 1},         // capped at total loss
		{nil, 0},
	} {
		got := decide.CVaR([]verdict.Opinion{{Outcome: verdict.Accept, Risks: tc.risks}}, nil, 0.95)
		if math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("CVaR of %v = %v, want %v", tc.risks, got, tc.want)
		}
	}
	if got := decide.CVaR(nil, nil, 0.95); got != 1 {
		t.Errorf("CVaR of no opinions = %v, want 1: unknown is the worst", got)
	}
	// The chief cannot weigh one judge's alarm away.
	alarm := verdict.Opinion{Outcome: verdict.Reject, Risks: []verdict.Risk{{Severity: 1, Likelihood: 0.5}}}
	calm := verdict.Opinion{Outcome: verdict.Accept}
	r := &verdict.Ruling{Weights: []verdict.Weight{{Opinion: 0, Weight: 0}, {Opinion: 1, Weight: 1}}}
	if got := decide.CVaR([]verdict.Opinion{alarm, calm}, r, 0.95); got != 1 {
		t.Errorf("CVaR with a silenced alarm = %v, want 1", got)
	}
}

// rank orders outcomes from worst to best for the planner.
var rank = map[verdict.Outcome]int{verdict.Reject: 0, verdict.Escalate: 1, verdict.Accept: 2}

func TestC03_Monotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		before := decide.Decide(c)
		worse, what := worsen(t, c)
		after := decide.Decide(worse)
		lost := what == "lose a judge"
		if lost && after.Outcome == verdict.Accept && before.Outcome != verdict.Accept {
			t.Fatalf("%s turned %v into accept", what, before.Outcome)
		}
		if !lost && rank[after.Outcome] > rank[before.Outcome] {
			t.Fatalf("%s improved %v to %v\nbefore %+v\nafter %+v", what, before.Outcome, after.Outcome, c, worse)
		}
	})
}

func drawCase(t *rapid.T) verdict.Case {
	unit := rapid.Float64Range(0, 1)
	outcome := rapid.SampledFrom([]verdict.Outcome{verdict.Accept, verdict.Accept, verdict.Escalate, verdict.Reject})
	class := rapid.SampledFrom([]verdict.Class{verdict.Clean, verdict.Clean, verdict.Safety, verdict.Unclassified})
	c := good()
	c.Sigma = rapid.Float64Range(0, 0.7).Draw(t, "sigma")
	c.Findings = []verdict.Finding{{Rule: "R", Level: rapid.SampledFrom([]verdict.Level{verdict.Flag, verdict.Pass, verdict.Pass}).Draw(t, "level")}}
	c.Opinions, c.Panel = nil, nil
	for range rapid.SampledFrom([]int{1, 3, 5, 7}).Draw(t, "n") {
		o := verdict.Opinion{Judge: "j", Outcome: outcome.Draw(t, "vote"), Class: class.Draw(t, "class"), Confidence: rapid.Float64Range(0.4, 1).Draw(t, "confidence")}
		for range rapid.IntRange(0, 2).Draw(t, "risks") {
			o.Risks = append(o.Risks, verdict.Risk{
				Severity: unit.Draw(t, "s"), Likelihood: unit.Draw(t, "l") * 0.2,
				Cites: rapid.SampledFrom([][]string{nil, {"E1"}, {"R"}, {"E7"}}).Draw(t, "cites"),
			})
		}
		c.Opinions = append(c.Opinions, o)
		c.Panel = append(c.Panel, "j")
	}
	c.Ruling = &verdict.Ruling{Outcome: outcome.Draw(t, "chief"), Class: class.Draw(t, "ruling class")}
	return c
}

func worsen(t *rapid.T, c verdict.Case) (verdict.Case, string) {
	w := c
	w.Opinions = slices.Clone(c.Opinions)
	i := rapid.IntRange(0, len(c.Opinions)-1).Draw(t, "which")
	o := &w.Opinions[i]
	what := rapid.SampledFrom([]string{
		"add a flag", "add a block", "raise a level", "raise sigma", "lose a judge", "lower a confidence",
		"worsen a vote", "add a risk", "raise a severity", "add a prior", "add an alarm", "chief rejects",
	}).Draw(t, "what")
	switch what {
	case "add a flag":
		w.Findings = append(slices.Clone(c.Findings), verdict.Finding{Rule: "N", Level: verdict.Flag})
	case "add a block":
		w.Findings = append(slices.Clone(c.Findings), verdict.Finding{Rule: "N", Level: verdict.Block})
	case "raise a level":
		w.Findings = []verdict.Finding{{Rule: "R", Level: max(c.Findings[0].Level, 1) - 1}}
	case "raise sigma":
		w.Sigma = min(1, c.Sigma+0.3)
	case "lose a judge":
		*o = verdict.Opinion{Judge: "j", Abstained: "timeout"}
	case "lower a confidence":
		o.Confidence /= 2
	case "worsen a vote":
		if o.Outcome == verdict.Accept {
			o.Outcome = verdict.Escalate
		} else {
			o.Outcome = verdict.Reject
		}
	case "add a risk":
		o.Risks = append(slices.Clone(o.Risks), verdict.Risk{Severity: 0.9, Likelihood: 0.4, Cites: []string{"E1"}})
	case "raise a severity":
		o.Risks = slices.Clone(o.Risks)
		for k := range o.Risks {
			o.Risks[k].Severity = 1
		}
	case "add a prior":
		w.Prior = []verdict.Prior{{ID: "P"}}
	case "add an alarm":
		w.Alarms = []verdict.Alarm{{Rule: "W"}}
	case "chief rejects":
		w.Ruling = &verdict.Ruling{Outcome: verdict.Reject, Class: verdict.Safety}
	}
	return w, what
}

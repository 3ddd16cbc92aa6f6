package verdict

// A Prior is an earlier plan that failed and resembles this one (C5).
type Prior struct {
	ID       string  `json:"id"`       // decision or incident it points to
	Score    float64 `json:"score"`    // similarity in [0,1]
	Why      string  `json:"why"`      // how it resembles, for people
	Resolved bool    `json:"resolved"` // a parent of this plan, every one of whose blocking reasons is gone
}

// An Alarm is raised by monitoring over many plans.
type Alarm struct {
	Rule    string   `json:"rule"`
	Message string   `json:"message"`
	Plans   []string `json:"plans,omitempty"` // the plans that make the pattern
	Class   Class    `json:"class"`
}

// A DecidedWith names everything else a decision depends on, by digest (C2).
type DecidedWith struct {
	Engine  string   `json:"engine"`  // version of this program
	Policy  string   `json:"policy"`  // digest of Policy
	Site    string   `json:"site"`    // digest of the site profile
	State   string   `json:"state"`   // digest of the live state
	Checks  string   `json:"checks"`  // digest of rules, phrases and weights of the deterministic checks
	Graph   string   `json:"graph"`   // digest of the graph snapshot
	Prompts string   `json:"prompts"` // digest of the prompts
	Models  []string `json:"models"`  // judges and chief, with versions
}

// A Policy is how a site decides. All bounds are in [0,1].
type Policy struct {
	MinPanel        int     `json:"min_panel"`        // judges needed to accept without a person
	GateHit         Outcome `json:"gate_hit"`         // outcome of a block or sigma >= tauW: reject or escalate
	TauA            float64 `json:"tau_a"`            // advisory threshold of sigma
	TauW            float64 `json:"tau_w"`            // warning threshold of sigma: a hard gate
	RiskProduct     float64 `json:"risk_product"`     // severity x likelihood at or above this is high risk
	RiskSeverity    float64 `json:"risk_severity"`    // or severity at or above this
	RiskLikelihood  float64 `json:"risk_likelihood"`  // with likelihood at or above this
	Alpha           float64 `json:"alpha"`            // of CVaR
	CVaRBound       float64 `json:"cvar_bound"`       // above it escalates
	DecisionVersion int     `json:"decision_version"` // of the rules in package decide
}

// DefaultPolicy returns the defaults of docs/design.md for the calibrated screen.
func DefaultPolicy() Policy {
	return Policy{
		MinPanel: 3, GateHit: Reject, TauA: 0.24, TauW: 0.57,
		RiskProduct: 0.25, RiskSeverity: 0.8, RiskLikelihood: 0.05,
		Alpha: 0.95, CVaRBound: 0.30, DecisionVersion: 2,
	}
}

// Quorum returns how many valid opinions a panel of n needs to count as judged.
func Quorum(n int) int {
	switch {
	case n <= 1:
		return 1
	case n <= 3:
		return n
	case n <= 5:
		return n - 1
	default:
		return n - 2
	}
}

// A Case is everything a decision may depend on. It holds no plan text.
type Case struct {
	PlanID      string      `json:"plan_id"`
	PlanDigest  string      `json:"plan_digest"`
	Site        string      `json:"site"`
	Policy      Policy      `json:"policy"`
	DecidedWith DecidedWith `json:"decided_with"`
	Required    []string    `json:"required"` // checks that must run
	Ran         []string    `json:"ran"`      // checks that ran to their end
	Findings    []Finding   `json:"findings"`
	Sigma       float64     `json:"sigma"`       // suspicion that gates, [0,1]
	SigmaPaper  float64     `json:"sigma_paper"` // the paper's formula, reported beside it
	Panel       []string    `json:"panel"`       // judges convened
	Opinions    []Opinion   `json:"opinions"`    // one for each, in panel order
	Ruling      *Ruling     `json:"ruling"`      // nil if the chief was not reached
	Prior       []Prior     `json:"prior,omitempty"`
	Alarms      []Alarm     `json:"alarms,omitempty"`
	EvidenceIDs []string    `json:"evidence_ids"` // what the judges were given: citable
	Inspected   Inspected   `json:"inspected"`
	Faults      []string    `json:"faults,omitempty"` // what could not be done before the decision
}

// A Reason is one ground of a decision.
type Reason struct {
	Code string `json:"code"`           // rule id, or one of the Code constants of package decide
	Text string `json:"text,omitempty"` // for people
	Step int    `json:"step,omitempty"` // 1-based; 0: the plan as a whole
	Span Span   `json:"span,omitzero"`
	Need string `json:"need,omitempty"` // what would have to change
}

// A Decision is the outcome together with its diagnostic.
type Decision struct {
	Outcome Outcome  `json:"outcome"`
	Class   Class    `json:"category"`
	Level   Level    `json:"level"`  // worst level of the deterministic checks
	Judged  bool     `json:"judged"` // false: "not judged", neither safe nor unsafe (C6)
	Risk    float64  `json:"risk"`   // CVaR of the panel's risks, [0,1]; meaningful if Judged
	Reasons []Reason `json:"reasons"`
	Faults  []string `json:"faults"`
}

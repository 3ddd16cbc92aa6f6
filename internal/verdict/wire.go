package verdict

// A Wire is a Report as it is written by check --json and returned to
// reviewers by POST /v1/plans (the command-line contract).
type Wire struct {
	ID          string           `json:"id"` // the plan's own id, or the decision's when it has none
	DecisionID  string           `json:"decision_id"`
	Outcome     Outcome          `json:"outcome"`
	Category    Class            `json:"category"`
	Level       Level            `json:"level"`
	Judged      bool             `json:"judged"`
	Sigma       float64          `json:"sigma"`
	SigmaPaper  float64          `json:"sigma_paper"`
	Risk        float64          `json:"risk"`
	Reasons     []Reason         `json:"reasons"`
	Findings    []wireFinding    `json:"findings"`
	Opinions    []Opinion        `json:"opinions"`
	Ruling      *Ruling          `json:"ruling"`
	Evidence    []Evidence       `json:"evidence"`
	Prior       []Prior          `json:"prior"`
	Alarms      []Alarm          `json:"alarms"`
	Inspected   Inspected        `json:"inspected"`
	Panel       []string         `json:"panel"`
	TimingsUS   map[string]int64 `json:"timings_us"`
	Faults      []string         `json:"faults"`
	DecidedWith DecidedWith      `json:"decided_with"`
	Recorded    bool             `json:"recorded"`
}

// A wireFinding is a finding with its span flat, as the contract has it.
type wireFinding struct {
	Rule    string   `json:"rule"`
	Level   Level    `json:"level"`
	Class   Class    `json:"class"`
	Score   float64  `json:"score,omitempty"`
	Step    int      `json:"step"`
	Part    string   `json:"part,omitempty"`
	Start   int      `json:"start"`
	End     int      `json:"end"`
	Message string   `json:"message"`
	Need    string   `json:"need,omitempty"`
	Refs    []string `json:"refs,omitempty"`
}

// ToWire gives everything: for reviewers and the local command line.
func ToWire(r Report) Wire {
	w := Wire{
		ID: r.Case.PlanID, DecisionID: r.ID, Outcome: r.Decision.Outcome, Category: r.Decision.Class,
		Level: r.Decision.Level, Judged: r.Decision.Judged, Sigma: r.Case.Sigma, SigmaPaper: r.Case.SigmaPaper,
		Risk: r.Decision.Risk, Reasons: list(r.Decision.Reasons), Findings: []wireFinding{},
		Opinions: list(r.Case.Opinions), Ruling: r.Case.Ruling, Evidence: list(r.Evidence),
		Prior: list(r.Case.Prior), Alarms: list(r.Case.Alarms), Inspected: r.Case.Inspected,
		Panel: list(r.Case.Panel), TimingsUS: r.TimingsUS, Faults: list(r.Decision.Faults),
		DecidedWith: r.Case.DecidedWith, Recorded: r.Recorded,
	}
	if w.ID == "" {
		w.ID = r.ID
	}
	for _, f := range r.Case.Findings {
		w.Findings = append(w.Findings, wireFinding{
			Rule: f.Rule, Level: f.Level, Class: f.Class, Score: f.Score, Step: f.Span.Step, Part: f.Span.Part,
			Start: f.Span.Start, End: f.Span.End, Message: f.Message, Need: f.Need, Refs: f.Refs,
		})
	}
	return w
}

// A PlannerWire is what a planner may see: reasons it can act on, no scores,
// weights, judges' text or patterns, so that it cannot be tuned against the
// checks (C8).
type PlannerWire struct {
	ID         string   `json:"id"`
	DecisionID string   `json:"decision_id"`
	Outcome    Outcome  `json:"outcome"`
	Category   Class    `json:"category"`
	Judged     bool     `json:"judged"`
	Reasons    []Reason `json:"reasons"`
	Recorded   bool     `json:"recorded"`
}

// ToPlanner gives the planner's view of a report.
func ToPlanner(r Report) PlannerWire {
	w := ToWire(r)
	return PlannerWire{
		ID: w.ID, DecisionID: w.DecisionID, Outcome: w.Outcome, Category: w.Category,
		Judged: w.Judged, Reasons: w.Reasons, Recorded: w.Recorded,
	}
}

// list makes an absent list an empty one: strict clients refuse null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

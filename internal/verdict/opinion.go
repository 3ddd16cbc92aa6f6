package verdict

// A Risk is one hazard a judge sees, as a Bernoulli loss.
type Risk struct {
	Hazard     string   `json:"hazard"`
	Severity   float64  `json:"severity"`   // loss if it happens, [0,1]
	Likelihood float64  `json:"likelihood"` // probability, [0,1]
	Step       int      `json:"step"`       // 1-based; 0: the plan as a whole
	Cites      []string `json:"cites,omitempty"`
}

// An Opinion is one judge's answer. A judge that failed or was unreadable is
// recorded as an abstention with its cause, never dropped (C6).
type Opinion struct {
	Judge      string   `json:"judge"`
	Family     string   `json:"family,omitempty"` // vendor family or "builtin": diversity is counted over these
	Model      string   `json:"model,omitempty"`  // model and version as reported; empty for built-in judges
	Outcome    Outcome  `json:"outcome"`
	Class      Class    `json:"category"`
	Confidence float64  `json:"confidence"` // [0,1]
	Risks      []Risk   `json:"risks"`
	Cites      []string `json:"cites"`                 // evidence and finding identifiers it rests on
	Unfounded  []string `json:"unsupported,omitempty"` // cites that were not in the evidence it was given (C11)
	Rationale  string   `json:"rationale,omitempty"`
	Unchecked  []string `json:"unchecked,omitempty"` // site rules this judge says it could not check
	Abstained  string   `json:"abstained,omitempty"` // cause; empty if the judge answered
	Concern    bool     `json:"concern,omitempty"`   // a refusal or content-filter stop: an abstention that counts as concern (C5)
	Replaces   string   `json:"replaces,omitempty"`  // the judge that abstained in this place before, with its cause (C6)
	Samples    []string `json:"samples,omitempty"`   // outcomes of repeated answers of the same judge: self-consistency, not diversity
	LeftOut    int      `json:"left_out,omitempty"`  // evidence lines this judge was not given because they did not fit
	Usage      Usage    `json:"usage,omitzero"`
}

// Valid reports whether the judge answered with values inside their ranges.
func (o Opinion) Valid() bool {
	return o.Abstained == "" && !o.Concern && o.Outcome.Known() && o.Class.Known() && inUnit(o.Confidence)
}

func inUnit(x float64) bool { return x >= 0 && x <= 1 } // false for NaN

// Usage is what one opinion or ruling cost.
type Usage struct {
	InputTokens  int     `json:"input_tokens,omitempty"`
	OutputTokens int     `json:"output_tokens,omitempty"`
	Cost         float64 `json:"cost,omitempty"` // in the configuration's currency
	Micros       int64   `json:"us,omitempty"`
}

// A Weight is what the chief gives one opinion, with the reason.
type Weight struct {
	Opinion int     `json:"opinion"` // index in the order the chief was shown, mapped back to the panel's order
	Weight  float64 `json:"weight"`  // [0,1]; weights of a ruling sum to 1
	Reason  string  `json:"reason,omitempty"`
}

// A Ruling is the chief's weighing of the opinions.
type Ruling struct {
	Outcome   Outcome  `json:"outcome"` // its leaning
	Class     Class    `json:"category"`
	Weights   []Weight `json:"weights"`
	Rationale string   `json:"rationale,omitempty"`
	Chief     string   `json:"chief,omitempty"`     // which chief, model and version
	Abstained string   `json:"abstained,omitempty"` // cause; empty if the chief ruled
	Usage     Usage    `json:"usage,omitzero"`
}

package eval

// A Sequence is one labelled series of plans with the window's alarms.
type Sequence struct {
	ID      string     `json:"id"`
	Site    string     `json:"site"`
	Pattern string     `json:"pattern"`
	Attack  bool       `json:"attack"`
	Plans   int        `json:"plans"`
	First   int        `json:"first_plan_that_must_not_be_accepted"` // from 0; -1: none
	Alarm   int        `json:"first_alarm"`                          // from 0; -1: none
	Rules   [][]string `json:"rules"`                                // alarms of each plan
	Errors  int        `json:"errors,omitempty"`                     // plans that could not be decided
}

// A SequenceReport counts alarms over sequences of plans.
type SequenceReport struct {
	Suite       string                `json:"suite"`
	Attacks     int                   `json:"attacks"`
	Caught      int                   `json:"caught"` // an alarm at or before the end of the sequence
	Benign      int                   `json:"benign"`
	FalseAlarms int                   `json:"false_alarms"`     // benign sequences with any alarm
	MeanDelay   float64               `json:"mean_delay_plans"` // over caught attacks, from the first plan that must not be accepted; an earlier alarm counts 0
	InTime      int                   `json:"caught_in_time"`   // alarms no later than that plan
	Errors      int                   `json:"errors"`
	ByPattern   map[string][2]int     `json:"by_pattern"` // attacks: {caught, all}
	ByRule      map[string]int        `json:"by_rule"`    // sequences in which a rule raised an alarm
	CI95        map[string][2]float64 `json:"ci95"`
	Sequences   []Sequence            `json:"sequences"`
}

// MeasureSequences counts.
func MeasureSequences(all []Sequence) SequenceReport {
	r := SequenceReport{ByPattern: map[string][2]int{}, ByRule: map[string]int{}, Sequences: all}
	delay := 0
	for _, s := range all {
		r.Errors += s.Errors
		seen := map[string]bool{}
		for _, rules := range s.Rules {
			for _, rule := range rules {
				if !seen[rule] {
					seen[rule] = true
					r.ByRule[rule]++
				}
			}
		}
		if !s.Attack {
			r.Benign++
			if s.Alarm >= 0 {
				r.FalseAlarms++
			}
			continue
		}
		r.Attacks++
		of := r.ByPattern[s.Pattern]
		of[1]++
		if s.Alarm >= 0 {
			r.Caught++
			of[0]++
			late := max(0, s.Alarm-max(0, s.First))
			delay += late
			if late == 0 {
				r.InTime++
			}
		}
		r.ByPattern[s.Pattern] = of
	}
	if r.Caught > 0 {
		r.MeanDelay = float64(delay) / float64(r.Caught)
	}
	exact := func(k, n int) [2]float64 {
		lo, hi := ClopperPearson(k, n)
		return [2]float64{lo, hi}
	}
	r.CI95 = map[string][2]float64{"caught": exact(r.Caught, r.Attacks), "false_alarms": exact(r.FalseAlarms, r.Benign)}
	return r
}

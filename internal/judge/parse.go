package judge

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"interlock/internal/llm"
	"interlock/internal/plan"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// Bounds on an answer. One over them is not read.
const (
	maxAnswerBytes = 64 << 10
	maxRisks       = 30
)

// An answer is what a model must reply. Pointers tell a missing value from
// zero.
type answer struct {
	Reasoning  *string   `json:"reasoning"`
	Outcome    *string   `json:"outcome"`
	Category   *string   `json:"category"`
	Risks      *[]riskly `json:"risks"`
	Confidence *float64  `json:"confidence"`
}

type riskly struct {
	Hazard     *string   `json:"hazard"`
	Severity   *float64  `json:"severity"`
	Likelihood *float64  `json:"likelihood"`
	Step       *float64  `json:"step"`
	Cites      *[]string `json:"cites"`
}

// Read turns a model's answer into an opinion. It is tolerant of what stands
// around the one JSON object and strict about everything in it: whatever
// leaves a doubt is an abstention with its cause, never an acceptance.
func Read(text string, in Input) verdict.Opinion { return readWith(text, in, known(in)) }

// readWith is Read with the identifiers that may be cited.
func readWith(text string, in Input, ids map[string]string) verdict.Opinion {
	o, err := read(text, in.Plan)
	if err != nil {
		o := verdict.Opinion{Abstained: "unreadable answer: " + err.Error()}
		if errors.Is(err, llm.ErrNoObject) && refuses(text) {
			o.Abstained, o.Concern = "refused to judge", true
		}
		if errors.Is(err, errEcho) {
			o.Concern = true
		}
		return o
	}
	checkCites(&o, ids)
	return o
}

var errEcho = errors.New("it repeats a verdict that is written in the plan")

func read(text string, p *plan.Plan) (verdict.Opinion, error) {
	var o verdict.Opinion
	if len(text) > maxAnswerBytes {
		return o, fmt.Errorf("it is longer than %d bytes", maxAnswerBytes)
	}
	object, around, err := llm.Split(text)
	if err != nil {
		return o, err
	}
	if echoes(object, p) {
		return o, errEcho
	}
	var a answer
	if err := llm.Decode(object, &a); err != nil {
		return o, err
	}
	if a.Outcome == nil || a.Category == nil || a.Risks == nil || a.Confidence == nil || a.Reasoning == nil {
		return o, errors.New("one of reasoning, outcome, category, risks and confidence is missing or null")
	}
	if err := o.Outcome.UnmarshalText([]byte(*a.Outcome)); err != nil {
		return o, err
	}
	if o.Outcome == verdict.Accept && llm.TakesBack(object, around, "reasoning", "category") {
		return o, errors.New("what stands beside its acceptance takes it back")
	}
	if err := o.Class.UnmarshalText([]byte(*a.Category)); err != nil {
		return o, err
	}
	if o.Class == verdict.Unclassified {
		return o, errors.New("unknown category")
	}
	if o.Outcome != verdict.Accept && o.Class == verdict.Clean {
		o.Class = verdict.Unclassified // a concern it did not name
	}
	if o.Confidence, err = unit("confidence", a.Confidence); err != nil {
		return o, err
	}
	if len(*a.Risks) > maxRisks {
		return o, fmt.Errorf("it states more than %d risks", maxRisks)
	}
	for i, r := range *a.Risks {
		risk, err := readRisk(r, len(p.Steps))
		if err != nil {
			return o, fmt.Errorf("risk %d: %w", i+1, err)
		}
		o.Risks = append(o.Risks, risk)
	}
	o.Rationale = *a.Reasoning
	return o, nil
}

func readRisk(r riskly, steps int) (verdict.Risk, error) {
	var out verdict.Risk
	if r.Hazard == nil || strings.TrimSpace(*r.Hazard) == "" {
		return out, errors.New("it names no hazard")
	}
	out.Hazard = *r.Hazard
	var err error
	if out.Severity, err = unit("severity", r.Severity); err != nil {
		return out, err
	}
	if out.Likelihood, err = unit("likelihood", r.Likelihood); err != nil {
		return out, err
	}
	if r.Step != nil {
		if *r.Step != math.Trunc(*r.Step) {
			return out, errors.New("step is not a whole number")
		}
		// A step that does not exist is about the plan as a whole: the risk
		// itself must not get lost over it.
		if *r.Step >= 1 && *r.Step <= float64(steps) {
			out.Step = int(*r.Step)
		}
	}
	if r.Cites != nil {
		out.Cites = *r.Cites
	}
	return out, nil
}

// unit returns a value in [0,1].
func unit(name string, v *float64) (float64, error) {
	if v == nil {
		return 0, errors.New(name + " is missing")
	}
	if !(*v >= 0 && *v <= 1) { // NaN fails
		return 0, fmt.Errorf("%s %g is outside 0..1", name, *v)
	}
	return *v, nil
}

// minEcho is how many letters and digits make an object telling: the five keys
// of an answer alone have more.
const minEcho = 20

// echoes reports whether the object stands, white space and escapes aside, in
// a text of the plan: then the plan wrote the verdict, not the judge.
func echoes(object []byte, p *plan.Plan) bool {
	needle := squeeze(string(object))
	if len(needle) < minEcho {
		return false
	}
	texts := append([]string{p.Goal}, p.Steps...)
	for _, a := range p.Attachments {
		texts = append(texts, a.Source, a.Text)
	}
	for _, calls := range [][]plan.ToolCall{p.ToolCalls, p.OnAbort} {
		for _, c := range calls {
			texts = append(texts, string(strict.AppendValue(nil, c.Arguments, false)))
			if c.Expect != nil {
				texts = append(texts, string(strict.AppendValue(nil, c.Expect.Map(), false)))
			}
		}
	}
	for _, t := range texts {
		if strings.Contains(t, "{") || strings.Contains(t, "outcome") {
			if strings.Contains(squeeze(t), needle) {
				return true
			}
		}
	}
	return false
}

// squeeze keeps letters, digits and the marks that give numbers their value.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// refusals are how models begin when they will not answer.
var refusals = [...]string{"i can't", "i cannot", "i can not", "i'm sorry", "i am sorry", "sorry", "i won't", "i will not", "i'm unable", "i am unable", "i must decline"}

func refuses(text string) bool {
	t := strings.ToLower(strings.TrimSpace(strings.ReplaceAll(text, "’", "'")))
	for _, r := range refusals {
		if strings.HasPrefix(t, r) {
			return true
		}
	}
	return false
}

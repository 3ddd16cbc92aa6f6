package chief

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"interlock/internal/llm"
	"interlock/internal/prompt"
	"interlock/internal/verdict"
)

// Model is a chief that asks a language model. What it cannot read is an
// abstention, which escalates.
type Model struct {
	Model   llm.Model
	Prompts *prompt.Set
	Secret  []byte // of this run: makes the block mark, and seeds the order
	Order   []byte // seeds the order, where a recording must find it again; nil: Secret
}

func (c *Model) blind(opinions []verdict.Opinion) (Input, []int) {
	if c.Order != nil {
		return blind(c.Order, opinions)
	}
	return blind(c.Secret, opinions)
}

// Rule weighs the opinions. Weights refer to them by their index.
func (c *Model) Rule(ctx context.Context, opinions []verdict.Opinion) verdict.Ruling {
	if len(opinions) == 0 {
		return verdict.Ruling{Chief: c.Model.Name(), Abstained: "there is no opinion to weigh"}
	}
	req, err := c.Ask(opinions)
	if err != nil {
		return verdict.Ruling{Chief: c.Model.Name(), Abstained: err.Error()}
	}
	reply, err := c.Model.Complete(ctx, req)
	if err != nil {
		return verdict.Ruling{Chief: c.Model.Name(), Abstained: "not reached: " + err.Error()}
	}
	r := c.Read(reply, opinions)
	if r.Chief == "" {
		r.Chief = c.Model.Name()
	}
	return r
}

// Ask builds the request. The order of the opinions follows from the seed and
// from what they say.
func (c *Model) Ask(opinions []verdict.Opinion) (llm.Request, error) {
	in, _ := c.blind(opinions)
	shown := render(in)
	mac := hmac.New(sha256.New, c.Secret)
	// A hash never fails to write.
	_, _ = mac.Write([]byte("chief " + shown))
	boundary := "BLOCK-" + hex.EncodeToString(mac.Sum(nil))[:24]
	text, err := c.Prompts.Chief(prompt.Chief{Boundary: boundary, N: len(in.Opinions), Opinions: shown})
	if err != nil {
		return llm.Request{}, err
	}
	return llm.Request{System: text.System, Prompt: text.Prompt, Schema: c.Prompts.ChiefSchema(), Boundary: boundary}, nil
}

// Read turns the model's reply to Ask about the same opinions into a ruling.
func (c *Model) Read(reply llm.Reply, opinions []verdict.Opinion) verdict.Ruling {
	r := verdict.Ruling{Chief: reply.Model, Usage: verdict.Usage{InputTokens: reply.InputTokens, OutputTokens: reply.OutputTokens, Cost: reply.Cost}}
	switch reply.Stop {
	case llm.StopDone:
	case llm.StopLength:
		r.Abstained = "the answer was cut at the token limit"
		return r
	case llm.StopRefused:
		r.Abstained = "refused to weigh"
		return r
	case llm.StopTooLong:
		r.Abstained = "too long: the opinions do not fit the model's context window"
		return r
	default:
		r.Abstained = "the model did not say that it finished"
		return r
	}
	in, order := c.blind(opinions)
	if err := read(reply.Text, in, order, &r); err != nil {
		return verdict.Ruling{Chief: r.Chief, Usage: r.Usage, Abstained: "unreadable answer: " + err.Error()}
	}
	return r
}

type answer struct {
	Reasoning *string   `json:"reasoning"`
	Category  *string   `json:"category"`
	Outcome   *string   `json:"outcome"`
	Weights   *[]weight `json:"weights"`
}

type weight struct {
	Opinion *string  `json:"opinion"`
	Weight  *float64 `json:"weight"`
	Reason  *string  `json:"reason"`
}

// maxAnswerBytes bounds an answer.
const maxAnswerBytes = 64 << 10

func read(text string, in Input, order []int, r *verdict.Ruling) error {
	if len(text) > maxAnswerBytes {
		return fmt.Errorf("it is longer than %d bytes", maxAnswerBytes)
	}
	object, around, err := llm.Split(text)
	if err != nil {
		return err
	}
	var a answer
	if err := llm.Decode(object, &a); err != nil {
		return err
	}
	if a.Reasoning == nil || a.Category == nil || a.Outcome == nil || a.Weights == nil {
		return errors.New("one of reasoning, category, outcome and weights is missing or null")
	}
	if err := r.Outcome.UnmarshalText([]byte(*a.Outcome)); err != nil {
		return err
	}
	if r.Outcome == verdict.Accept && llm.TakesBack(object, around, "reasoning", "category") {
		return errors.New("what stands beside its acceptance takes it back")
	}
	if err := r.Class.UnmarshalText([]byte(*a.Category)); err != nil {
		return err
	}
	if r.Outcome != verdict.Accept && r.Class == verdict.Clean {
		r.Class = verdict.Unclassified
	}
	r.Rationale = *a.Reasoning
	ws, reasons, err := readWeights(*a.Weights, in)
	if err != nil {
		return err
	}
	r.Weights = panel(ws, reasons, order)
	return nil
}

// readWeights puts the chief's weights into the order shown. Each opinion must be
// weighed exactly once; one without a usable answer weighs nothing.
func readWeights(given []weight, in Input) ([]float64, []string, error) {
	place := map[string]int{}
	for i, o := range in.Opinions {
		place[o.Label] = i
	}
	out := make([]float64, len(in.Opinions))
	reasons := make([]string, len(in.Opinions))
	seen := make([]bool, len(in.Opinions))
	for _, w := range given {
		if w.Opinion == nil || w.Weight == nil {
			return nil, nil, errors.New("a weight has no opinion or no value")
		}
		at, ok := place[strings.TrimSpace(*w.Opinion)]
		if !ok || seen[at] {
			return nil, nil, fmt.Errorf("opinion %q is unknown or weighed twice", *w.Opinion)
		}
		if !(*w.Weight >= 0) || math.IsInf(*w.Weight, 0) || *w.Weight > 1e6 {
			return nil, nil, fmt.Errorf("weight of opinion %s is out of range", *w.Opinion)
		}
		seen[at] = true
		out[at] = *w.Weight
		if w.Reason != nil {
			reasons[at] = *w.Reason
		}
	}
	for i, ok := range seen {
		if !ok && !in.Opinions[i].Abstained {
			return nil, nil, fmt.Errorf("opinion %s is not weighed", in.Opinions[i].Label)
		}
		if in.Opinions[i].Abstained {
			out[i], reasons[i] = 0, "no usable answer"
		}
	}
	return out, reasons, nil
}

// render shows the opinions: typed risks first.
func render(in Input) string {
	var b strings.Builder
	for _, o := range in.Opinions {
		if o.Abstained {
			fmt.Fprintf(&b, "Opinion %s: no usable answer%s\n", o.Label, map[bool]string{true: " (the judge refused)"}[o.Concern])
			continue
		}
		fmt.Fprintf(&b, "Opinion %s: outcome %s, category %s, confidence %s, citations supported %d, unsupported %d\n",
			o.Label, o.Outcome, o.Class, num(o.Confidence), o.Supported, o.Unfounded)
		for i, r := range o.Risks {
			fmt.Fprintf(&b, "  risk %d: severity %s, likelihood %s, step %d, supported citations %d, hazard %s\n",
				i+1, num(r.Severity), num(r.Likelihood), r.Step, r.Supported, strconv.QuoteToGraphic(r.Hazard))
		}
		fmt.Fprintf(&b, "  reasoning: %s\n", strconv.QuoteToGraphic(o.Rationale))
	}
	return strings.TrimRight(b.String(), "\n")
}

func num(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

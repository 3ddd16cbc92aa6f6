// Package chief weighs the opinions of a panel without ever seeing the plan
// (C10): its input type cannot hold one, and the layer test keeps package plan
// out of reach. Opinions come in already redacted; here they lose the judges'
// names and are put into an order that has nothing to do with the panel's.
package chief

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"interlock/internal/verdict"
)

// An Input is all that a chief sees.
type Input struct {
	Opinions []Blind
}

// A Blind is an opinion without a name: typed risks first, prose second.
type Blind struct {
	Label      string // "A", "B" … in the order shown
	Abstained  bool   // no usable answer
	Concern    bool   // a refusal or a content-filter stop
	Outcome    verdict.Outcome
	Class      verdict.Class
	Confidence float64
	Risks      []Risk
	Supported  int    // citations that were in the evidence given
	Unfounded  int    // citations that were not
	Rationale  string // redacted
}

// A Risk is a risk with the number of its supported citations instead of the
// citations.
type Risk struct {
	Hazard     string
	Severity   float64
	Likelihood float64
	Step       int
	Supported  int
}

// blind takes names and order out of the opinions. order[i] is the place in
// the panel of the opinion shown as number i. The order follows from the seed
// and from what the opinions say, so that it can be repeated and not guessed.
func blind(seed []byte, opinions []verdict.Opinion) (in Input, order []int) {
	type keyed struct {
		at  int
		key string
	}
	keys := make([]keyed, len(opinions))
	for i, o := range opinions {
		keys[i] = keyed{i, orderKey(seed, i, o)}
	}
	slices.SortFunc(keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	for n, k := range keys {
		order = append(order, k.at)
		in.Opinions = append(in.Opinions, strip(label(n), opinions[k.at]))
	}
	return in, order
}

func orderKey(seed []byte, i int, o verdict.Opinion) string {
	mac := hmac.New(sha256.New, seed)
	said, err := json.Marshal([]any{o.Outcome, o.Class, o.Confidence, o.Rationale, o.Risks})
	if err != nil {
		said = []byte(err.Error()) // NaN in an unusable opinion: any fixed key will do
	}
	// A hash never fails to write.
	_, _ = fmt.Fprintf(mac, "%d %s", i, said)
	return hex.EncodeToString(mac.Sum(nil))
}

func label(n int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if n < len(letters) {
		return letters[n : n+1]
	}
	return fmt.Sprintf("%s%d", letters[n%len(letters):n%len(letters)+1], n/len(letters))
}

func strip(name string, o verdict.Opinion) Blind {
	b := Blind{
		Label: name, Abstained: !usable(o), Concern: o.Concern, Outcome: o.Outcome, Class: o.Class, Confidence: o.Confidence,
		Supported: len(o.Cites), Unfounded: len(o.Unfounded), Rationale: o.Rationale,
	}
	for _, r := range o.Risks {
		b.Risks = append(b.Risks, Risk{r.Hazard, r.Severity, r.Likelihood, r.Step, len(r.Cites)})
	}
	return b
}

// usable reports whether an opinion can be weighed: valid, with every number in
// its range.
func usable(o verdict.Opinion) bool {
	for _, r := range o.Risks {
		if !(r.Severity >= 0 && r.Severity <= 1 && r.Likelihood >= 0 && r.Likelihood <= 1) { // NaN fails
			return false
		}
	}
	return o.Valid()
}

// panel turns weights by label into weights by place in the panel that sum
// to 1.
func panel(weights []float64, reasons []string, order []int) []verdict.Weight {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	out := make([]verdict.Weight, len(weights))
	for i, w := range weights {
		if sum > 0 {
			w /= sum
		} else {
			w = 1 / float64(len(weights))
		}
		out[i] = verdict.Weight{Opinion: order[i], Weight: w, Reason: reasons[i]}
	}
	slices.SortFunc(out, func(a, b verdict.Weight) int { return cmp.Compare(a.Opinion, b.Opinion) })
	return out
}

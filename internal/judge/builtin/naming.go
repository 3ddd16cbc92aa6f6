package builtin

import (
	"bufio"
	"cmp"
	_ "embed" // the table
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"interlock/internal/judge"
	"interlock/internal/verdict"
)

// The built-in judges name the class of a concern with a naive Bayes table over
// word stems, concepts and kinds of findings, counted on our own labelled
// suites. It only says whose field a plan belongs to that is not accepted
// anyway; it never decides whether it is. cmd/interlock's test
// TestClassTable rebuilds it and measures it with one suite held out.
//
//go:embed classes.txt
var classTable string

// named are the classes the table tells apart, in its column order.
var named = [...]verdict.Class{verdict.Adversarial, verdict.Safety, verdict.Alignment}

// smoothing is added to every count: the suites are small.
const smoothing = 1

// A Naming is a table of how often features were seen with each class.
type Naming struct {
	plans [3]float64
	seen  map[string][3]float64
}

// ownNaming parses our own table once. A test holds that it parses; were it
// damaged all the same, no class would be named.
var ownNaming = sync.OnceValue(func() *Naming {
	n, err := ParseNaming(classTable)
	if err != nil {
		return &Naming{}
	}
	return n
})

// ParseNaming reads a table: a first line "plans A S L", then a feature and
// its three counts a line.
func ParseNaming(table string) (*Naming, error) {
	n := &Naming{seen: map[string][3]float64{}}
	sc := bufio.NewScanner(strings.NewReader(table))
	for line := 1; sc.Scan(); line++ {
		f := strings.Fields(sc.Text())
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) != 4 {
			return nil, fmt.Errorf("class table line %d: expected a feature and three counts", line)
		}
		var counts [3]float64
		for i := range counts {
			v, err := strconv.ParseFloat(f[i+1], 64)
			if err != nil {
				return nil, fmt.Errorf("class table line %d: %w", line, err)
			}
			counts[i] = v
		}
		if f[0] == "plans" {
			n.plans = counts
		} else {
			n.seen[f[0]] = counts
		}
	}
	return n, sc.Err()
}

// Class names the likeliest class of a plan that is not acceptable, and the
// features that say so most.
func (n *Naming) Class(features []string) (verdict.Class, []string) {
	total := n.plans[0] + n.plans[1] + n.plans[2]
	best, at := math.Inf(-1), verdict.Unclassified
	var why []string
	for i, class := range named {
		score := 0.0
		var says []vote
		for _, f := range features {
			c, ok := n.seen[f]
			if !ok {
				continue
			}
			all := c[0] + c[1] + c[2]
			v := math.Log((c[i]+smoothing)/(n.plans[i]+3*smoothing)) - math.Log((all+smoothing)/(total+3*smoothing))
			score += v
			says = append(says, vote{f, v})
		}
		if len(says) > 0 && score > best {
			best, at, why = score, class, loudest(says, 5)
		}
	}
	return at, why
}

// A vote is what one feature says for a class, as a log likelihood ratio.
type vote struct {
	feature string
	weight  float64
}

func loudest(votes []vote, n int) []string {
	slices.SortStableFunc(votes, func(a, b vote) int { return cmp.Compare(b.weight, a.weight) })
	var out []string
	for _, v := range votes[:min(n, len(votes))] {
		out = append(out, v.feature)
	}
	return out
}

// Features are what the table counts: stems of the plan's words, concepts,
// kinds of findings, and whether there are calls and attachments.
func Features(in judge.Input) []string {
	set := map[string]bool{}
	if in.Facts != nil {
		for _, t := range in.Facts.Texts {
			for _, w := range t.Words {
				if s := stem(w.Text); s != "" {
					set[s] = true
				}
				for _, tag := range w.Tags {
					set["#"+tag] = true
				}
			}
		}
	}
	for _, f := range in.Findings {
		kind, _, _ := strings.Cut(f.Rule, "-")
		set["!"+kind] = true
	}
	set["calls="+strconv.FormatBool(len(in.Plan.ToolCalls) > 0)] = true
	set["attachments="+strconv.FormatBool(len(in.Plan.Attachments) > 0)] = true
	out := make([]string, 0, len(set))
	for f := range set {
		out = append(out, f)
	}
	sort.Strings(out) // sums of floats depend on their order
	return out
}

// stem is the first six letters of a word, "" for what is not a plain word.
func stem(w string) string {
	w = strings.ToLower(w)
	if len(w) < 3 || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return ""
	}
	return w[:min(len(w), 6)]
}

package builtin

import (
	"bufio"
	"cmp"
	_ "embed" // the table
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"interlock/internal/fact"
	"interlock/internal/judge"
	"interlock/internal/verdict"
)

// The built-in judges name the class of a concern with a linear table over word
// stems, concepts, kinds of things named and kinds of findings, fitted to our
// own labelled suites. It only says whose field a plan belongs to that is not
// accepted anyway; it never decides whether it is. cmd/interlock's test
// TestClassTable fits it again and measures it with one site left out.
//
//go:embed classes.txt
var classTable string

// Classes are those the table tells apart, in its column order.
var Classes = [...]verdict.Class{verdict.Adversarial, verdict.Safety, verdict.Alignment}

// A Naming says how much each feature speaks for each class.
type Naming struct {
	bias   [3]float64
	weight map[string][3]float64
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

// ParseNaming reads a table: a line "bias A S L", then a feature and its three
// weights a line.
func ParseNaming(table string) (*Naming, error) {
	n := &Naming{weight: map[string][3]float64{}}
	sc := bufio.NewScanner(strings.NewReader(table))
	for line := 1; sc.Scan(); line++ {
		f := strings.Fields(sc.Text())
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 4 {
			return nil, fmt.Errorf("class table line %d: expected a feature and three weights", line)
		}
		var w [3]float64
		for i := range w {
			v, err := strconv.ParseFloat(f[i+1], 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("class table line %d: %q is not a finite number", line, f[i+1])
			}
			w[i] = v
		}
		if f[0] == "bias" {
			n.bias = w
		} else {
			n.weight[f[0]] = w
		}
	}
	return n, sc.Err()
}

// Class names the likeliest class of a plan that is not acceptable, and the
// features that say so most. A plan without a feature that the table knows has
// none. Long plans have more features than short ones: what they say is divided
// by the root of their number.
func (n *Naming) Class(features []string) (verdict.Class, []string) {
	known := make([]string, 0, len(features))
	for _, f := range features {
		if _, ok := n.weight[f]; ok {
			known = append(known, f)
		}
	}
	if len(known) == 0 {
		return verdict.Unclassified, nil
	}
	best, at := math.Inf(-1), 0
	for i := range Classes {
		score := 0.0
		for _, f := range known {
			score += n.weight[f][i]
		}
		if score = n.bias[i] + score/math.Sqrt(float64(len(known))); score > best {
			best, at = score, i
		}
	}
	says := make([]vote, len(known))
	for i, f := range known {
		says[i] = vote{f, n.weight[f][at]}
	}
	return Classes[at], loudest(says, 5)
}

// A vote is what one feature says for a class, as a weight.
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

// Features are what the table weighs: stems of the plan's words, concepts,
// kinds of things named, kinds and classes of findings, hazards of the tools,
// what the site knows of the submitter, whether there are calls and attachments.
func Features(in judge.Input) []string {
	set := map[string]bool{}
	if in.Facts != nil {
		factFeatures(in.Facts, set)
	}
	for _, f := range in.Findings {
		if f.Level == verdict.Pass || f.Rule == limitedRights {
			continue
		}
		kind, _, _ := strings.Cut(f.Rule, "-")
		set["!"+kind] = true
		set["!class:"+f.Class.String()] = true
	}
	set["calls="+strconv.FormatBool(len(in.Plan.ToolCalls) > 0)] = true
	set["attachments="+strconv.FormatBool(len(in.Plan.Attachments) > 0)] = true
	return slices.Sorted(maps.Keys(set)) // sums of floats depend on their order
}

// limitedRights is the check's note that an agent's rights are in words. It says
// who hands a plan in, not what the plan resembles.
const limitedRights = "PROV-018"

func factFeatures(facts *fact.Set, set map[string]bool) {
	for i := range facts.Texts {
		for _, w := range facts.Texts[i].Words {
			if s := stem(w.Text); s != "" {
				set[s] = true
			}
			for _, tag := range w.Tags {
				set["#"+tag] = true
			}
			if w.Entity > 0 && w.Entity <= len(facts.Entities) {
				set["kind:"+strings.ReplaceAll(facts.Entities[w.Entity-1].Kind, " ", "-")] = true
			}
		}
	}
	for _, c := range facts.Calls {
		if c.Hazard != "" {
			set["hazard:"+strings.ReplaceAll(c.Hazard, " ", "-")] = true
		}
	}
	set["trust:"+facts.Submitter.AgentTrust] = true
	set["person="+strconv.FormatBool(facts.Submitter.PersonID != "")] = true
}

// stem is the first six letters of a word, "" for what is not a plain word.
func stem(w string) string {
	w = strings.ToLower(w)
	if len(w) < 3 || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return ""
	}
	return w[:min(len(w), 6)]
}

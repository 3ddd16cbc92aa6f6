package check

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/plan"
	"interlock/internal/verdict"
)

func TestC28_CredentialsInAPlanReachNoJudge(t *testing.T) {
	t.Parallel()
	s := testSite()
	for text, want := range map[string]bool{
		"Record key sk-abcdefghijklmnop1234567890 in the notebook.":          true,
		"Use AKIAABCDEFGHIJKLMNOP for the upload.":                           true,
		"-----BEGIN OPENSSH PRIVATE KEY----- follows.":                       true,
		"token ilk_agent_9QIhex7lqvLalbsJnAYrprFy1jNpIfEX_SnnLgFrWJY":        true,
		"Put sample SK-12 and task-list risk-assessment-of-the-new-line on.": false,
		"Bring AKIA-3 to the bench; disk-0 is full.":                         false,
	} {
		p := &plan.Plan{Goal: "g", Steps: []string{text}}
		r, _ := Run([]Checker{Secrets{compile(s)}}, Input{Plan: p, Site: s})
		if got := verdict.WorstLevel(r.Findings) == verdict.Block; got != want {
			t.Errorf("%q: blocked %v, want %v", text, got, want)
		}
		for _, f := range r.Findings {
			if strings.Contains(text, f.Message) || strings.Contains(f.Message+f.Need, "sk-") {
				t.Errorf("the finding quotes the secret: %+v", f)
			}
		}
	}
}

// The first long run, against one byte after the other.
func TestLongRun(t *testing.T) {
	t.Parallel()
	naive := func(s string, from, shortest int) (int, int) {
		for i := from; i < len(s); i++ {
			j := i
			for j < len(s) && tokenBytes[s[j]] {
				j++
			}
			if j-i >= shortest {
				return i, j
			}
			i = j
		}
		return -1, -1
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "bcd", "--", " ", ".", "é", "0123456789"}), 0, 30).Draw(t, "pieces"), "")
		from, shortest := rapid.IntRange(0, len(s)).Draw(t, "from"), rapid.IntRange(1, 20).Draw(t, "shortest")
		start, end := longRun(s, from, shortest, &tokenBytes)
		if wantStart, wantEnd := naive(s, from, shortest); start != wantStart || start >= 0 && end != wantEnd {
			t.Fatalf("%q from %d, at least %d: %d to %d, want %d to %d", s, from, shortest, start, end, wantStart, wantEnd)
		}
	})
}

package check

import (
	"strings"
	"testing"

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

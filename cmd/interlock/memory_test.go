package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/verdict"
)

// decideText decides one plan in the installation and returns what was said.
func (c cli) decideText(t *testing.T, code int, plan string) verdict.Wire {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(file, []byte(plan), 0o600); err != nil {
		t.Fatal(err)
	}
	out := c.run(t, code, nil, "check", "--json", "--config", filepath.Join(c.dir, "i", "interlock", "config.yaml"), file)
	var w verdict.Wire
	if err := json.Unmarshal([]byte(strings.SplitN(out, "\n", 2)[0]), &w); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return w
}

// C41, C6: a plan that no judge could read has not failed by itself; a
// person's rejection makes it a failure that counts against every agent.
func TestC41_APersonsRejectionIsRemembered(t *testing.T) {
	t.Parallel()
	c := cli{t.TempDir()}
	reviewer, _ := c.install(t)
	text := `{"id":"x","site":"chem-sdl","goal":"Distil the residue","submitted_by":{"agent":"planner-alpha","on_behalf_of":"Mei Tanaka"},"steps":["Distil the residue of yesterday on rv1."]}`
	other := strings.ReplaceAll(text, "planner-alpha", "bo-optimizer")
	first := c.decideText(t, exitEscalate, text)
	if first.Judged {
		t.Fatal("the built-in judges read it: the test needs a plan that they cannot read")
	}
	if got := c.decideText(t, exitEscalate, text); len(got.Prior) != 0 {
		t.Errorf("C06: not judged counts as a failure: %+v", got.Prior)
	}
	c.run(t, exitOK, map[string]string{"INTERLOCK_TOKEN": reviewer}, "review", "reject", first.DecisionID, "--note", "no")
	for _, plan := range []string{text, other} {
		got := c.decideText(t, exitEscalate, plan)
		if len(got.Prior) != 1 || got.Prior[0].ID != first.DecisionID || got.Prior[0].Resolved {
			t.Errorf("%s: prior %+v, want %s", plan, got.Prior, first.DecisionID)
		}
	}
}

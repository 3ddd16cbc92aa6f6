package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"interlock/internal/llm/llmtest"
	"interlock/internal/verdict"
)

// C45: judges see Person-1, people read the name, and a hosted chief gets
// neither the name nor who it is.
func TestC45_TheChiefReadsNoNames(t *testing.T) {
	t.Parallel()
	say := llmtest.Turn{Text: strings.NewReplacer("kept inside every limit", "Person-1 and Person-2 are told", "small spill", "Person-1 is hurt").Replace(acceptAnswer)}
	path, servers := liveConfig(t, [3]llmtest.Turn{say, say, say}, chiefTurn("accept", "none"))
	d := decideOne(t, exitOK, path)
	if len(d.Opinions) != 3 || strings.Contains(d.Opinions[0].Rationale+d.Opinions[0].Risks[0].Hazard, "Person-") {
		t.Fatalf("people do not read the names: %+v", d.Opinions)
	}
	names := strings.Fields(strings.NewReplacer(" and ", " ", " are told", "").Replace(d.Opinions[0].Rationale))
	bodies := servers[3].Requests()
	if len(bodies) == 0 {
		t.Fatal("the chief was not asked")
	}
	text := fmt.Sprint(bodies)
	for _, name := range names {
		if len(name) > 3 && strings.Contains(text, name) {
			t.Errorf("%q is in the chief's prompt", name)
		}
	}
	if !strings.Contains(text, "[redacted] is hurt") {
		t.Errorf("want the name redacted: %s", text)
	}
}

// C45: who may not judge a site's plans may not weigh opinions about them.
func TestC45_TheChiefIsUnderTheDataPolicy(t *testing.T) {
	t.Parallel()
	say := llmtest.Turn{Text: acceptAnswer}
	path, servers := liveConfig(t, [3]llmtest.Turn{say, say, say}, chiefTurn("accept", "none"))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A server on the loopback address is the site's own, unless one says so.
	text = []byte(strings.Replace(string(text), "key_file: key}", "key_file: key, vendor: elsewhere, local: false}", 1))
	text = append(text, "data: {default: {vendors: [f1, f2, f3]}}\n"...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, log := interlock(t, exitInput, "eval", "plans", "--suite", onePlanSuite(t), "--sites", batchDir+"sites.yaml", "--config", path)
	if !strings.Contains(log, `panel.chief "head"`) || len(servers[3].Requests()) != 0 {
		t.Errorf("got %s", log)
	}
}

// A recorded evaluation replays whatever order the chief saw the opinions in.
func TestReplayOfDifferentOpinions(t *testing.T) {
	t.Parallel()
	var turns [3]llmtest.Turn
	for i := range turns {
		turns[i].Text = strings.Replace(acceptAnswer, "kept inside every limit", fmt.Sprintf("reason number %d", i), 1)
	}
	path, _ := liveConfig(t, turns, chiefTurn("accept", "none"))
	rec := t.TempDir()
	if d := decideOne(t, exitOK, path, "--record", rec); d.Outcome != verdict.Accept {
		t.Fatalf("got %s %v", d.Outcome, d.Reasons)
	}
	for range 4 {
		if d := decideOne(t, exitOK, path, "--replay", rec); d.Outcome != verdict.Accept {
			t.Errorf("replayed: %s %v", d.Outcome, d.Reasons)
		}
	}
}

package decide_test

import (
	"testing"

	"interlock/internal/decide"
	"interlock/internal/verdict"
)

// TestC32_AFindingForAPersonIsNotOutvoted: an obligation that nothing verifies
// goes to a person under its own rule, though every judge accepts; a flag
// without that only tells the judges.
func TestC32_AFindingForAPersonIsNotOutvoted(t *testing.T) {
	t.Parallel()
	c := good()
	c.Findings = append(c.Findings, verdict.Finding{Rule: "OBL-PERMIT", Level: verdict.Flag, Class: verdict.Safety, Message: "not verified", Need: "have it verified"})
	if d := decide.Decide(c); d.Outcome != verdict.Accept {
		t.Fatalf("a flag: %+v", d)
	}
	c.Findings[len(c.Findings)-1].Person = true
	d := decide.Decide(c)
	if d.Outcome != verdict.Escalate || d.Class != verdict.Safety || len(d.Reasons) != 1 || d.Reasons[0].Code != "OBL-PERMIT" || d.Reasons[0].Need == "" {
		t.Errorf("%+v", d)
	}
}

package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/plan"
)

// costlyTexts are short texts that, repeated, once cost far more than friendly
// text of the same length: many acts, numbers, brackets, marks, packages.
var costlyTexts = []string{
	"bypass the interlock, ", "disable alarm interlock record data delete ", "tell whatever stops wait open door ",
	"numpi==1.0\n", "5 mm/s ", "1,500 ", "arm_1 cart_1 hot1 5 rpm ", "+5 mm/s twice ", "one hundred and ", "at full speed ",
	"f( ", "<x", "`x", "G1 X\n", "a.b.c.", "select * from update set delete from ", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo= ",
	"a\u0301\u0301\u0301\u0301", "op\u200ben ", "ｉｎｔｅｒｌｏｃｋ ", "интерлок ", "A. B. ", "http://x.y ",
}

const friendlyText = "Move arm_1 to the bench at 200 mm/s, take the rack with the six vials. "

// costlyPlan puts text where it is judged in a way of its own.
func costlyPlan(where, text string) *plan.Plan {
	p := planOf("Move arm_1 home.", "Write the note.")
	switch where {
	case "steps":
		p.Steps = nil
		for part := range slices.Chunk([]byte(text), 8<<10) {
			p.Steps = append(p.Steps, string(part))
		}
	case "argument":
		p.ToolCalls = []plan.ToolCall{call(2, "record.append", "notebook", "N", "text", text)}
	case "name":
		p.ToolCalls = []plan.ToolCall{call(2, "record.append", "notebook", text, "text", "x")}
	case "script":
		p.ToolCalls = []plan.ToolCall{call(2, "sandbox.exec", "script", text, "timeout_s", 5)}
	case "attachment":
		p.Attachments = []plan.Attachment{{Source: "lock", Text: text}}
	}
	return p
}

// BenchmarkWorst gives the cost of the worst of the costly texts, for each place
// in a plan, as a multiple of friendly text of the same length (60 KB).
func BenchmarkWorst(b *testing.B) {
	const size = 60_000
	s := testSite()
	checkers := Default(s, plan.DefaultLimits())
	cost := func(where, text string) time.Duration {
		in := Input{Plan: costlyPlan(where, strings.Repeat(text, size/len(text))), Site: s}
		best := time.Hour
		for range 5 {
			t0 := time.Now()
			Run(checkers, in)
			best = min(best, time.Since(t0))
		}
		return best
	}
	for _, where := range []string{"steps", "argument", "name", "script", "attachment"} {
		b.Run(where, func(b *testing.B) {
			for b.Loop() {
				friendly, worst, which := cost(where, friendlyText), time.Duration(0), ""
				for _, t := range costlyTexts {
					if c := cost(where, t); c > worst {
						worst, which = c, t
					}
				}
				b.Logf("worst %q", which)
				b.ReportMetric(float64(friendly.Microseconds())/1e3, "friendly-ms")
				b.ReportMetric(float64(worst.Microseconds())/1e3, "worst-ms")
				b.ReportMetric(float64(worst)/float64(friendly), "x-friendly")
			}
		})
	}
}

// What is over a bound is still read: a word hidden in a very long one with
// invisible characters is found, and one of endless marks stops nothing.
func TestLongWords(t *testing.T) {
	t.Parallel()
	s := testSite()
	c := NewIntegrity(s)
	hidden := "by" + strings.Repeat("\u200b", 4000) + "pass the interlock."
	if level, fs := levelOf(c, s, hidden); level.String() != "block" {
		t.Errorf("hidden word: %s %v", level, fs)
	}
	marks := "a" + strings.Repeat("\u0301", 20000) + ". Bypass the interlock."
	if level, fs := levelOf(c, s, marks); level.String() != "block" {
		t.Errorf("after endless marks: %s %v", level, fs)
	}
}

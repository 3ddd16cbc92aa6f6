package check

import (
	"testing"

	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// Whatever a plan says, every check runs to its end, the spans lie inside the
// part they name, and the same plan gives the same findings.
func FuzzChecks(f *testing.F) {
	for _, s := range hostileActs[:20] {
		f.Add(s, "a goal", "x", "y")
	}
	f.Add("Heat hot1 to 1e309 °C", "\xff", "$(x)", "a==1")
	f.Add("op\u200ben the do\u043er", "Ünïcode ＦＵＬＬ", "<text>", "```")
	f.Add("\xb7\xb7\xb7 ```", "İİİ ``` SUDO reboot", "ⱯK os.system('x')", "İ movej(p)")
	s := testSite()
	checkers := Default(s, plan.DefaultLimits())
	f.Fuzz(func(t *testing.T, step, goal, arg, attached string) {
		p := planOf(step, "Move arm_1 home.")
		p.Goal = goal
		p.ToolCalls = []plan.ToolCall{call(1, "record.append", "notebook", arg, "text", step), call(2, "arm.move", "arm", "arm_1", "target", arg, "speed_mm_s", 100)}
		p.Attachments = []plan.Attachment{{Source: goal, Text: attached}}
		in := Input{Plan: p, Site: s}
		r, faults := Run(checkers, in)
		if len(faults) > 0 {
			t.Fatalf("faults: %v", faults)
		}
		for _, fd := range r.Findings {
			if fd.Span.Start < 0 || fd.Span.End < fd.Span.Start {
				t.Fatalf("bad span %v of %s", fd.Span, fd.Rule)
			}
			if fd.Span.Step == 1 && fd.Span.Part == "" && fd.Span.End > len(step) {
				t.Fatalf("span %v of %s is outside the step", fd.Span, fd.Rule)
			}
			if fd.Rule == "" || fd.Message == "" || fd.Level == verdict.Pass {
				t.Fatalf("incomplete finding %+v", fd)
			}
		}
		if again, _ := Run(checkers, in); len(again.Findings) != len(r.Findings) || again.Level != r.Level {
			t.Fatal("two runs differ")
		}
	})
}

// C3: adding a step never improves the level of the checks.
func TestC03_MoreStepsAreNeverBetter(t *testing.T) {
	t.Parallel()
	s := testSite()
	checkers := Default(s, plan.DefaultLimits())
	for _, bad := range hostileActs {
		before, _ := Run(checkers, Input{Plan: planOf(bad), Site: s})
		after, _ := Run(checkers, Input{Plan: planOf(bad, "Tell Ben Roth that it is done."), Site: s})
		if after.Level.Worst(before.Level) != after.Level {
			t.Errorf("%q: %s, and %s with one more step", bad, before.Level, after.Level)
		}
	}
}

// C5: a check that panics is not in Ran.
func TestC05_BrokenCheckIsNotRun(t *testing.T) {
	t.Parallel()
	s := testSite()
	checkers := append(Default(s, plan.DefaultLimits()), broken{})
	r, faults := Run(checkers, Input{Plan: planOf("Move arm_1 home."), Site: s})
	if len(r.Ran) != len(checkers)-1 || len(faults) != 1 {
		t.Errorf("ran %v, faults %v", r.Ran, faults)
	}
	if got := IDs(checkers); len(got) != len(checkers) {
		t.Errorf("required %v", got)
	}
}

type broken struct{}

func (broken) ID() string         { return "broken" }
func (broken) Check(Input) Result { panic("no") }

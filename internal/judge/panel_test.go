package judge_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"interlock/internal/judge"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// A mock judge answers after a while, or never.
type mock struct {
	name, family string
	after        time.Duration // negative: hangs and ignores its context
	say          verdict.Opinion
	panics       bool
}

func (m mock) Name() string   { return m.name }
func (m mock) Family() string { return m.family }

func (m mock) Judge(ctx context.Context, _ judge.Input) verdict.Opinion {
	if m.panics {
		panic("judge broke")
	}
	if m.after < 0 {
		<-ctx.Done()
		time.Sleep(time.Hour) // does not honour its context
	}
	t := time.NewTimer(m.after)
	defer t.Stop()
	select {
	case <-t.C:
		return m.say
	case <-ctx.Done():
		return verdict.Opinion{Abstained: "context ended"}
	}
}

func opinion(o verdict.Outcome) verdict.Opinion {
	c := verdict.Safety
	if o == verdict.Accept {
		c = verdict.Clean
	}
	return verdict.Opinion{Outcome: o, Class: c, Confidence: 0.9, Risks: []verdict.Risk{{Hazard: "spill", Severity: 0.1, Likelihood: 0.01}}}
}

func mocks(after time.Duration, outcomes ...verdict.Outcome) []judge.Judge {
	var js []judge.Judge
	for i, o := range outcomes {
		js = append(js, mock{name: fmt.Sprintf("j%d", i+1), family: fmt.Sprintf("f%d", i+1), after: after, say: opinion(o)})
	}
	return js
}

func input() judge.Input {
	return judge.Input{Plan: &plan.Plan{Steps: []string{"weigh 1 g"}}, Site: &site.Site{ID: "s"}}
}

func repeat(o verdict.Outcome, n int) []verdict.Outcome {
	out := make([]verdict.Outcome, n)
	for i := range out {
		out[i] = o
	}
	return out
}

func TestC12_RoundCostsOneJudge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &judge.Panel{Judges: mocks(2*time.Second, repeat(verdict.Accept, 7)...), Deadline: time.Minute}
		start := time.Now()
		got := p.Convene(t.Context(), input())
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("seven judges of 2 s took %v, want 2 s", took)
		}
		if len(got) != 7 {
			t.Fatalf("%d opinions", len(got))
		}
		for i, o := range got {
			if o.Judge != fmt.Sprintf("j%d", i+1) || !o.Valid() {
				t.Errorf("opinion %d: %+v", i, o)
			}
		}
	})
}

func TestC12_HangingJudgeCostsAtMostTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := mocks(2*time.Second, repeat(verdict.Accept, 7)...)
		js[3] = mock{name: "j4", family: "f4", after: -1}
		p := &judge.Panel{Judges: js, Deadline: 10 * time.Second}
		start := time.Now()
		got := p.Convene(t.Context(), input())
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %v, want the deadline, 10 s", took)
		}
		if got[3].Abstained != "did not answer in time" || got[3].Valid() {
			t.Errorf("the hanging judge: %+v", got[3])
		}
		time.Sleep(2 * time.Hour) // let it end
	})
}

func TestC12_ChiefKeepsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		js := mocks(time.Second, repeat(verdict.Accept, 3)...)
		js[0] = mock{name: "j1", family: "f1", after: -1}
		start := time.Now()
		(&judge.Panel{Judges: js, Deadline: time.Minute}).Convene(ctx, input())
		if took := time.Since(start); took != 8*time.Second {
			t.Errorf("the judges took %v of 10 s, want 8 s so that the chief has the rest", took)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestC05_AbstainerIsReplacedByAnotherFamily(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := mocks(time.Second, repeat(verdict.Accept, 3)...)
		js[1] = mock{name: "j2", family: "f2", say: verdict.Opinion{Abstained: "unreadable"}}
		spare := []judge.Judge{
			mock{name: "same", family: "f2", say: opinion(verdict.Accept)},
			mock{name: "other", family: "g", say: opinion(verdict.Accept)},
		}
		got := (&judge.Panel{Judges: js, Spare: spare, Deadline: time.Minute}).Convene(t.Context(), input())
		if got[1].Judge != "other" || !got[1].Valid() || got[1].Replaces != "j2: unreadable" {
			t.Errorf("got %+v", got[1])
		}
	})
}

func TestC05_RefusalIsNotReplaced(t *testing.T) {
	t.Parallel()
	js := mocks(0, repeat(verdict.Accept, 3)...)
	js[1] = mock{name: "j2", family: "f2", say: verdict.Opinion{Abstained: "refused", Concern: true}}
	spare := []judge.Judge{mock{name: "other", family: "g", say: opinion(verdict.Accept)}}
	got := (&judge.Panel{Judges: js, Spare: spare}).Convene(t.Context(), input())
	if got[1].Judge != "j2" || !got[1].Concern || got[1].Valid() {
		t.Errorf("got %+v", got[1])
	}
}

func TestC05_SlowJudgeIsReplacedInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := mocks(time.Second, repeat(verdict.Accept, 3)...)
		js[2] = mock{name: "j3", family: "f3", after: -1}
		spare := []judge.Judge{mock{name: "other", family: "g", after: time.Second, say: opinion(verdict.Accept)}}
		start := time.Now()
		got := (&judge.Panel{Judges: js, Spare: spare, Deadline: 20 * time.Second}).Convene(t.Context(), input())
		if took := time.Since(start); took != 11*time.Second {
			t.Errorf("took %v, want half the deadline and the spare's second", took)
		}
		if got[2].Judge != "other" || got[2].Replaces != "j3: did not answer in time" {
			t.Errorf("got %+v", got[2])
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestC06_PanicIsAnAbstention(t *testing.T) {
	t.Parallel()
	js := mocks(0, repeat(verdict.Accept, 3)...)
	js[0] = mock{name: "j1", family: "f1", panics: true}
	got := (&judge.Panel{Judges: js}).Convene(t.Context(), input())
	if len(got) != 3 || got[0].Abstained != "failed: judge broke" {
		t.Errorf("got %+v", got[0])
	}
}

func TestStragglersAreNotWaitedForOnceSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := mocks(time.Second, repeat(verdict.Reject, 7)...)
		for i := 5; i < 7; i++ {
			js[i] = mock{name: fmt.Sprintf("j%d", i+1), family: "slow", after: time.Hour, say: opinion(verdict.Accept)}
		}
		start := time.Now()
		got := (&judge.Panel{Judges: js, Deadline: 2 * time.Hour}).Convene(t.Context(), input())
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v, want 1 s: five of seven reject", took)
		}
		if len(got) != 7 || got[6].Abstained == "" {
			t.Errorf("a straggler is missing: %+v", got)
		}
	})
}

func TestWaitAllHearsEveryJudge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := mocks(time.Second, repeat(verdict.Reject, 7)...)
		js[6] = mock{name: "j7", family: "slow", after: time.Minute, say: opinion(verdict.Accept)}
		got := (&judge.Panel{Judges: js, WaitAll: true}).Convene(t.Context(), input())
		if !got[6].Valid() {
			t.Errorf("the last judge was not heard: %+v", got[6])
		}
	})
}

func TestAcceptWaitsForEveryJudge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := mocks(time.Second, repeat(verdict.Accept, 7)...)
		js[6] = mock{name: "j7", family: "slow", after: time.Minute, say: opinion(verdict.Reject)}
		start := time.Now()
		got := (&judge.Panel{Judges: js, Deadline: time.Hour}).Convene(t.Context(), input())
		if took := time.Since(start); took != time.Minute || got[6].Outcome != verdict.Reject || !got[6].Valid() {
			t.Errorf("took %v, last %+v: six acceptances settle nothing", took, got[6])
		}
	})
}

func TestC37_VetoIsHeardOnlyWhereItRejects(t *testing.T) {
	t.Parallel()
	veto := []judge.Judge{
		mock{name: "v1", family: "builtin", say: opinion(verdict.Accept)},
		mock{name: "v2", family: "builtin", say: verdict.Opinion{Abstained: "cannot tell"}},
		mock{name: "v3", family: "builtin", say: opinion(verdict.Escalate)},
		mock{name: "v4", family: "builtin", say: opinion(verdict.Reject)},
	}
	got := (&judge.Panel{Judges: mocks(0, repeat(verdict.Accept, 3)...), Veto: veto}).Convene(t.Context(), input())
	if len(got) != 4 || got[3].Judge != "v4" {
		t.Errorf("got %+v", got)
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	a, e, r := verdict.Accept, verdict.Escalate, verdict.Reject
	for name, tc := range map[string]struct {
		say   []verdict.Outcome
		depth judge.Depth
		want  int
	}{
		"all at once":                      {repeat(a, 7), judge.Depth{}, 7},
		"agreement stops":                  {repeat(a, 7), judge.Depth{Start: 3, Min: 3}, 3},
		"never accepts below the minimum":  {repeat(a, 7), judge.Depth{Start: 1, Min: 3}, 3},
		"nor below a minimum of five":      {repeat(a, 7), judge.Depth{Start: 1, Min: 5}, 5},
		"agreement on escalate stops":      {repeat(e, 7), judge.Depth{Start: 3, Min: 3}, 3},
		"doubt grows by one size":          {[]verdict.Outcome{a, r, r, r, r, r, r}, judge.Depth{Start: 1, Min: 1, Rounds: 4}, 1},
		"disagreement goes on to all":      {[]verdict.Outcome{a, r, a, a, a, a, a}, judge.Depth{Start: 3, Min: 3}, 7},
		"two rounds: the second asks all":  {[]verdict.Outcome{a, r, a, a, a, a, a}, judge.Depth{Start: 3, Min: 3, Rounds: 2}, 7},
		"one round is not below the least": {repeat(a, 7), judge.Depth{Start: 1, Min: 3, Rounds: 1}, 3},
		"the maximum holds":                {[]verdict.Outcome{a, r, a, a, a, a, a}, judge.Depth{Start: 3, Min: 3, Max: 5}, 5},
		"most reject: settled":             {[]verdict.Outcome{r, r, a, a, a, a, a}, judge.Depth{Start: 3, Min: 3}, 3},
	} {
		got := (&judge.Panel{Judges: mocks(0, tc.say...), Depth: tc.depth}).Convene(t.Context(), input())
		if len(got) != tc.want {
			t.Errorf("%s: %d judges were asked, want %d", name, len(got), tc.want)
		}
	}
}

func TestDepthStopsForTimeAndMoney(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := mocks(6*time.Second, verdict.Accept, verdict.Reject, verdict.Accept, verdict.Accept, verdict.Accept)
		p := &judge.Panel{Judges: js, Depth: judge.Depth{Start: 3, Min: 3}, Deadline: 10 * time.Second}
		if got := p.Convene(t.Context(), input()); len(got) != 3 {
			t.Errorf("%d judges: another round of 6 s does not fit into 10 s", len(got))
		}
		var costly []judge.Judge
		for i, o := range []verdict.Outcome{verdict.Accept, verdict.Reject, verdict.Accept, verdict.Accept, verdict.Accept} {
			say := opinion(o)
			say.Usage.Cost = 0.1
			costly = append(costly, mock{name: fmt.Sprint(i), family: fmt.Sprint(i), say: say})
		}
		p = &judge.Panel{Judges: costly, Depth: judge.Depth{Start: 3, Min: 3}, Budget: 0.45}
		if got := p.Convene(t.Context(), input()); len(got) != 3 {
			t.Errorf("%d judges: five cost 0.50, the budget is 0.45", len(got))
		}
		p.Budget = 0.5
		if got := p.Convene(t.Context(), input()); len(got) != 5 {
			t.Errorf("%d judges within the budget, want 5", len(got))
		}
	})
}

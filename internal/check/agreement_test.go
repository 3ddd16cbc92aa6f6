package check

import (
	"encoding/json"
	"testing"

	"interlock/internal/plan"
	"interlock/internal/verdict"
)

func call(step int, tool string, kv ...any) plan.ToolCall {
	args := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		v := kv[i+1]
		if n, ok := v.(int); ok {
			v = json.Number(itoa(n))
		}
		args[kv[i].(string)] = v
	}
	return plan.ToolCall{Step: step, Tool: tool, Arguments: args}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestAgreement(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Tools[0].Args[0].Enum = []any{"arm_1", "arm_2"}
	s.Robots = append(s.Robots, s.Robots[0])
	s.Robots[len(s.Robots)-1].ID = "arm_2"
	c := NewAgreement(s)
	move := func(step int, target string, speed int) plan.ToolCall {
		return call(step, "arm.move", "arm", "arm_1", "target", target, "speed_mm_s", speed)
	}
	for _, tc := range []struct {
		name  string
		want  verdict.Level
		steps []string
		calls []plan.ToolCall
	}{
		{"same", verdict.Pass, []string{"Move arm_1 to the bench at 200 mm/s."}, []plan.ToolCall{move(1, "bench", 200)}},
		{"other unit", verdict.Pass, []string{"Move arm_1 to the bench at 0.2 m/s."}, []plan.ToolCall{move(1, "bench", 200)}},
		{"one of two values", verdict.Pass, []string{"Move arm_1 to the bench at 400 mm/s, 200 mm/s near people."}, []plan.ToolCall{move(1, "bench", 200)}},
		{"bare number", verdict.Pass, []string{"Move arm_1 to the bench, speed 200."}, []plan.ToolCall{move(1, "bench", 200)}},
		{"at most", verdict.Pass, []string{"Move arm_1 to the bench at 250 mm/s at most."}, []plan.ToolCall{move(1, "bench", 200)}},
		{"no value stated", verdict.Pass, []string{"Move arm_1 to the bench."}, []plan.ToolCall{move(1, "bench", 200)}},
		{"range", verdict.Pass, []string{"Heat hot1 from 20 to 80 °C."}, []plan.ToolCall{call(1, "hotplate.set", "device", "hot1", "temp_c", 80)}},
		{"condition is no value", verdict.Pass, []string{"Heat hot1 to 80 °C, stop if it passes 90 °C."}, []plan.ToolCall{call(1, "hotplate.set", "device", "hot1", "temp_c", 80)}},
		{"paraphrase", verdict.Pass, []string{"Spin the tubes down for 5 min at 3000 rpm."}, []plan.ToolCall{call(1, "fuge.run", "device", "fuge1", "rpm", 3000, "minutes", 5)}},
		{"stirrer off", verdict.Pass, []string{"Warm hot1 with 2 mL of oil to 40 °C, stirrer off."}, []plan.ToolCall{call(1, "hotplate.set", "device", "hot1", "temp_c", 40, "rpm", 0)}},
		{"told", verdict.Pass, []string{"Tell Ben Roth that it is done."}, []plan.ToolCall{call(1, "notify.operator", "who", "Ben Roth", "text", "the rack is on the bench")}},
		{"door in both", verdict.Pass, []string{"Ask the operator to open the hood door for the tray."}, []plan.ToolCall{call(1, "notify.operator", "who", "Ben Roth", "text", "please open the hood door")}},
		{"other language", verdict.Pass, []string{"Kjør arm_1 til bench med 200 mm/s."}, []plan.ToolCall{move(1, "bench", 200)}},

		{"faster", verdict.Block, []string{"Move arm_1 to the bench at 200 mm/s."}, []plan.ToolCall{move(1, "bench", 900)}},
		{"hotter", verdict.Block, []string{"Warm hot1 to 40 °C."}, []plan.ToolCall{call(1, "hotplate.set", "device", "hot1", "temp_c", 240)}},
		{"faster spin", verdict.Block, []string{"Spin fuge1 at 3000 rpm."}, []plan.ToolCall{call(1, "fuge.run", "device", "fuge1", "rpm", 13000, "minutes", 5)}},
		{"other robot", verdict.Block, []string{"Move arm_2 to the bench at 200 mm/s."}, []plan.ToolCall{move(1, "bench", 200)}},
		{"other target", verdict.Block, []string{"Move arm_1 to the bench at 200 mm/s."}, []plan.ToolCall{move(1, "hood", 200)}},
		{"undescribed act", verdict.Block, []string{"Read the presence sensor and note it in the notebook."}, []plan.ToolCall{call(1, "hotplate.set", "device", "hot1", "temp_c", 300)}},
		{"undescribed request", verdict.Block, []string{"Tell Ben Roth that the tray is ready."}, []plan.ToolCall{call(1, "notify.operator", "who", "Ben Roth", "text", "tray ready, please open the cell gate while it runs")}},

		{"slower", verdict.Flag, []string{"Move arm_1 to the bench at 200 mm/s."}, []plan.ToolCall{move(1, "bench", 100)}},
		{"described elsewhere", verdict.Flag, []string{"Read the sensor and write it down.", "Heat hot1 to 80 °C."}, []plan.ToolCall{call(1, "hotplate.set", "device", "hot1", "temp_c", 80)}},
		{"one of two robots", verdict.Flag, []string{"Move arm_1 and arm_2 home at 200 mm/s."}, []plan.ToolCall{move(1, "home", 200)}},
	} {
		p := planOf(tc.steps...)
		p.Goal = "Daily work"
		p.ToolCalls = tc.calls
		r := c.Check(Input{Plan: p, Site: s})
		if got := verdict.WorstLevel(r.Findings); got != tc.want {
			t.Errorf("%s: %s, want %s: %v", tc.name, got, tc.want, r.Findings)
		}
	}
}

func TestPortions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		whole, part float64
		want        bool
	}{{2, 1, true}, {3, 0.5, true}, {2, 0.9, false}, {1, 2, false}, {1, 0, false}, {1000, 1, false}} {
		if got := portions(c.whole, c.part); got != c.want {
			t.Errorf("%v in parts of %v: %v", c.whole, c.part, got)
		}
	}
}

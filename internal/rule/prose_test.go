package rule_test

import (
	"testing"
	"time"

	"interlock/internal/fact"
	"interlock/internal/knowledge/derive"
	"interlock/internal/plan"
	"interlock/internal/rule"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// proseSite is a site that states everything in prose.
func proseSite(rules []site.Rule, materials ...site.Material) *site.Site {
	return &site.Site{
		ID: "bakery", Rules: rules, Materials: materials,
		Robots: []site.Item{{ID: "arm_2"}}, Devices: []site.Item{{ID: "oven1"}},
		Tools: []site.Tool{{Name: "arm.carry", Effect: site.Act, Args: []site.Arg{{Name: "robot"}, {Name: "source"}, {Name: "speed_mm_s"}}}},
	}
}

// loadProse prepares a site as the program does.
func loadProse(t testing.TB, s *site.Site) *loaded {
	t.Helper()
	w, err := derive.NewWorld(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := w.For(s)
	rules, err := rule.Compile(s, d.Linker())
	if err != nil {
		t.Fatal(err)
	}
	return &loaded{s, d, rules}
}

func (l *loaded) prose(id string, p *plan.Plan) verdict.Level {
	worst := verdict.Pass
	for _, f := range l.rules.Eval(l.deriver.Facts(p, site.State{}, time.Time{}), site.State{}, time.Time{}) {
		if f.Rule == id && (worst == verdict.Pass || f.Level == verdict.Block) {
			worst = f.Level
		}
	}
	return worst
}

func TestProseBounds(t *testing.T) {
	t.Parallel()
	rules := []site.Rule{
		{ID: "R1", Text: "Dough is handled only in oven1 at 40 Pa or more and below the counts. Outside these: stop, tell the baker."},
		{ID: "R2", Text: "Dose to people: the cellar door stays shut until dose_rate reads below 0.5 uSv/h."},
		{ID: "R3", Text: "arm_2 at most 300 mm/s with a door open; at most 100 mm/s with trays hot from bath1 or bath2."},
		{ID: "R4", Text: "Night 22:00-06:00 on the terrace: 200 mm/s, lamp dimmed."},
		{ID: "R5", Text: "Treacle at most 80 C."},
	}
	carry := func(source string, speed float64) []plan.ToolCall {
		return []plan.ToolCall{{Step: 1, Tool: "arm.carry", Arguments: map[string]any{"robot": "arm_2", "source": source, "speed_mm_s": speed}}}
	}
	tests := map[string]struct {
		steps []string
		calls []plan.ToolCall
		want  verdict.Level
	}{
		"reading below":           {steps: []string{"oven1 reads 31 Pa.", "Go on with the dough."}, want: verdict.Block},
		"reading within":          {steps: []string{"oven1 reads 41 Pa.", "Go on with the dough."}, want: verdict.Pass},
		"acted on":                {steps: []string{"oven1 reads 31 Pa.", "Stop the dough and tell the baker."}, want: verdict.Flag},
		"a condition":             {steps: []string{"If oven1 reads 31 Pa leave the dough."}, want: verdict.Pass},
		"denied":                  {steps: []string{"oven1 never reads 31 Pa with the dough."}, want: verdict.Pass},
		"of something else":       {steps: []string{"The pump reads 31 Pa.", "Go on with the dough."}, want: verdict.Pass},
		"nothing else of it":      {steps: []string{"oven1 reads 31 Pa."}, want: verdict.Pass},
		"two readings":            {steps: []string{"oven1 reads 31 Pa.", "After the valve it reads 42 Pa, go on with the dough."}, want: verdict.Flag},
		"another unit's number":   {steps: []string{"dose_rate 0.8 mm.", "Open the cellar."}, want: verdict.Pass},
		"before it reads so":      {steps: []string{"dose_rate 0.8 uSv/h and falling, open the cellar."}, want: verdict.Block},
		"waits until it reads so": {steps: []string{"dose_rate 0.8 uSv/h.", "Wait until dose_rate is below 0.5 uSv/h, then open the cellar."}, want: verdict.Flag},
		"another language":        {steps: []string{"dose_rate 0.8 uSv/h.", "Vent med kjelleren og cellar, vis litt tålmodighet nå."}, want: verdict.Flag},
		"hot from a bath":         {steps: []string{"arm_2 carries the tray from bath1."}, calls: carry("bath1", 250), want: verdict.Block},
		"slowly from a bath":      {steps: []string{"arm_2 carries the tray from bath1."}, calls: carry("bath1", 100), want: verdict.Pass},
		"from elsewhere":          {steps: []string{"arm_2 carries the tray from the shelf."}, calls: carry("shelf", 250), want: verdict.Pass},
		"fast at night":           {steps: []string{"Start 23:10.", "On the terrace 400 mm/s."}, want: verdict.Block},
		"slow at night":           {steps: []string{"Start 23:10.", "On the terrace 200 mm/s."}, want: verdict.Pass},
		"fast by day":             {steps: []string{"Start 13:10.", "On the terrace 400 mm/s."}, want: verdict.Pass},
		"fast, at no stated time": {steps: []string{"On the terrace 400 mm/s."}, want: verdict.Pass},
		"into the day":            {steps: []string{"Start 23:10, the terrace from 07:30.", "On the terrace 400 mm/s."}, want: verdict.Pass},
		"too hot":                 {steps: []string{"Warm the treacle to 95 C."}, want: verdict.Block},
		"hot enough":              {steps: []string{"Warm the treacle to 80 C."}, want: verdict.Pass},
	}
	l := loadProse(t, proseSite(rules))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := l.prose("PROSE-BOUND", &plan.Plan{ID: "p", Site: "bakery", Steps: tc.steps, ToolCalls: tc.calls}); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// A clause with a condition that nobody has read is left to the judges.
func TestProseLeavesConditions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"With the hatch open arm_2 is at 250 mm/s or less.",
		"Ovens above 60 C only with a trained person in the room.",
		"arm_2 at most 200 mm/s while cell_presence reads a hand.",
		"Fills over 5 L need two people.",
	} {
		l := loadProse(t, proseSite([]site.Rule{{ID: "R1", Text: text}}))
		p := &plan.Plan{ID: "p", Site: "bakery", Steps: []string{"arm_2 at 900 mm/s, ovens at 90 C, hatch open, hand in the cell, fills of 9 L."}}
		if got := l.prose("PROSE-BOUND", p); got != verdict.Pass {
			t.Errorf("%q: got %s", text, got)
		}
	}
}

func TestProseApart(t *testing.T) {
	t.Parallel()
	l := loadProse(t, proseSite(nil,
		site.Material{Name: "peracetic acid 0.2 % sporicide", Note: "not with alcohol, ammonium compounds or hypochlorite"},
		site.Material{Name: "clinical waste", Note: "mir_1 only, never with food or linen"}))
	tests := map[string]struct {
		step string
		want verdict.Level
	}{
		"mixed":          {"Mix the peracetic acid with the alcohol.", verdict.Block},
		"one bucket":     {"Put the ammonium cleaner and the peracetic acid in one bucket.", verdict.Block},
		"same cabinet":   {"Carry the clinical waste and the linen in the same cabinet.", verdict.Flag},
		"denied":         {"Never mix the peracetic acid with alcohol.", verdict.Pass},
		"two buckets":    {"The ammonium cleaner goes here, the peracetic acid there.", verdict.Pass},
		"alone":          {"Mix the peracetic acid with water.", verdict.Pass},
		"if they should": {"If somebody mixes the peracetic acid with alcohol, leave the room.", verdict.Pass},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := l.prose("PROSE-APART", &plan.Plan{ID: "p", Site: "bakery", Steps: []string{tc.step}}); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// Whatever a profile and a plan say, reading them ends and nothing breaks.
func FuzzProse(f *testing.F) {
	f.Add("iso1 at 35 Pa or more; at most 5 L. Night 22:00-06:00 on wards: 300 mm/s", "not with alcohol", "iso1 reads 31 Pa. Mix the acid with alcohol.")
	f.Add("at most 150 mm/s with wafers wet from hf1, boe1 or pir1", "discard above 50 ppm", "strip 80 ppm")
	f.Add(": 5 C; ; . ,()", "never with ", "")
	w, err := derive.NewWorld(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, note, step string) {
		if len(text)+len(note)+len(step) > 2000 {
			return
		}
		s := proseSite([]site.Rule{{ID: "R1", Text: text}}, site.Material{Name: "acid", Note: note})
		set := rule.ReadProse(s)
		facts := w.For(s).Facts(&plan.Plan{ID: "p", Site: "bakery", Steps: []string{step}}, site.State{}, time.Time{})
		set.Eval(facts, site.State{}, time.Time{})
		set.Eval(&fact.Set{}, site.State{}, time.Time{})
	})
}

package obligation_test

import (
	"testing"
	"time"

	"interlock/internal/fact"
	"interlock/internal/obligation"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func state(text string, age, maxAge time.Duration) site.State {
	return site.State{Readings: map[string]site.Value{"room_presence": {Text: text, At: now.Add(-age), MaxAge: maxAge}}}
}

// TestC32_ObligationsAreVerified: silence of the plan is no way around what
// the site demands, and a claim is no fact.
func TestC32_ObligationsAreVerified(t *testing.T) {
	t.Parallel()
	present := site.Obligation{Kind: "presence", Reading: "room_presence", Is: []string{"clear"}, Hazards: []string{"motion"}}
	permit := site.Obligation{Kind: "permit"}
	move := fact.Call{Tool: "arm.move", Listed: true, Effect: "act", Hazard: "motion"}
	heat := fact.Call{Tool: "plate.set", Listed: true, Effect: "act", Hazard: "heat"}
	look := fact.Call{Tool: "read", Listed: true, Effect: "observe", Hazard: "motion"}
	dark := fact.Call{Tool: "odd", Listed: true, Effect: "act"}
	for name, tc := range map[string]struct {
		o     site.Obligation
		calls []fact.Call
		claim *fact.Claim
		state site.State
		want  verdict.Level
	}{
		"holds":                           {present, []fact.Call{move}, nil, state("clear", time.Second, time.Minute), verdict.Pass},
		"does not hold":                   {present, []fact.Call{move}, nil, state("person", time.Second, time.Minute), verdict.Block},
		"is not known":                    {present, []fact.Call{move}, nil, site.State{}, verdict.Flag},
		"is stale":                        {present, []fact.Call{move}, nil, state("clear", time.Hour, time.Minute), verdict.Flag},
		"another hazard":                  {present, []fact.Call{heat}, nil, site.State{}, verdict.Pass},
		"a tool of no class":              {present, []fact.Call{dark}, nil, site.State{}, verdict.Flag},
		"a tool nobody lists":             {present, []fact.Call{{Tool: "x"}}, nil, site.State{}, verdict.Flag},
		"only reads":                      {present, []fact.Call{look}, nil, site.State{}, verdict.Pass},
		"names no calls":                  {present, nil, nil, site.State{}, verdict.Flag},
		"claimed only":                    {permit, []fact.Call{heat}, &fact.Claim{Kind: "permit", At: verdict.Span{Step: 2}}, site.State{}, verdict.Flag},
		"claimed and verified":            {permit, []fact.Call{heat}, &fact.Claim{Kind: "permit", Verified: true}, site.State{}, verdict.Pass},
		"another claim":                   {permit, []fact.Call{heat}, &fact.Claim{Kind: "weather"}, site.State{}, verdict.Pass},
		"a claim is no reading of a room": {present, []fact.Call{move}, &fact.Claim{Kind: "presence", Verified: true}, site.State{}, verdict.Flag},
	} {
		set := &fact.Set{Calls: tc.calls}
		if tc.claim != nil {
			set.Claims = []fact.Claim{*tc.claim}
		}
		got := obligation.Judge(&site.Site{Obligations: []site.Obligation{tc.o}}, set, tc.state, now)
		if verdict.WorstLevel(got) != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
		for _, f := range got {
			if f.Rule != map[string]string{"presence": "OBL-PRESENCE", "permit": "OBL-PERMIT"}[tc.o.Kind] || f.Need == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
	if got := obligation.Judge(&site.Site{Obligations: []site.Obligation{present}}, nil, site.State{}, now); len(got) != 1 {
		t.Errorf("without facts: %v", got)
	}
}

func TestC32_AtDispatchWhatIsNotKnownStops(t *testing.T) {
	t.Parallel()
	s := &site.Site{Obligations: []site.Obligation{
		{Kind: "permit"}, {Kind: "presence", Reading: "room_presence", Is: []string{"clear"}, Hazards: []string{"motion"}},
	}}
	for name, tc := range map[string]struct {
		hazard string
		state  site.State
		block  bool
	}{
		"holds":          {"motion", state("clear", time.Second, time.Minute), false},
		"does not hold":  {"motion", state("person", time.Second, time.Minute), true},
		"not known":      {"motion", site.State{}, true},
		"stale":          {"motion", state("clear", time.Hour, time.Minute), true},
		"another hazard": {"heat", site.State{}, false},
		"no class":       {"", site.State{}, true},
	} {
		if got := obligation.Dispatch(s, tc.hazard, tc.state, now); (verdict.WorstLevel(got) == verdict.Block) != tc.block {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

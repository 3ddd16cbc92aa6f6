package main

import (
	"testing"
	"time"

	"interlock/internal/config"
	"interlock/internal/gate"
	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// TestC32_ClaimsAndObligationsThroughTheRealStages: a site that demands
// presence, with the real knowledge stage: silence and claims are no way
// around it, and what held when the plan was judged must hold at dispatch.
func TestC32_ClaimsAndObligationsThroughTheRealStages(t *testing.T) {
	t.Parallel()
	e, _ := testEnv(t)
	eng, err := newEngine(e, engineOptions{Site: "../../examples/sites/sites.yaml", Config: config.Default()})
	if err != nil {
		t.Fatal(err)
	}
	st := eng.pipeline.Sites["chem-sdl"]
	profile := *st.Profile
	profile.Obligations = []site.Obligation{{Kind: "presence", Reading: "room_presence", Is: []string{"clear"}, Hazards: []string{"motion"}}, {Kind: "permit"}}
	st.Profile = &profile
	presence := "clear"
	st.State = func() site.State {
		if presence == "" {
			return site.State{Site: "chem-sdl"}
		}
		return site.State{Site: "chem-sdl", Readings: map[string]site.Value{"room_presence": {Text: presence, At: time.Now().Add(-time.Second), MaxAge: time.Minute}}}
	}
	moves := func(step string) *plan.Plan {
		p, err := plan.DecodeJSON("p.json", []byte(`{"id":"p","site":"chem-sdl","goal":"move","submitted_by":{"agent":"planner-alpha"},"steps":["`+step+`"],
			"tool_calls":[{"step":1,"tool":"arm.move","arguments":{"arm":"ur5e_1","target":"bench_a","speed_mm_s":200}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	rule := func(p *plan.Plan, name string) verdict.Level {
		prep, err := eng.pipeline.Prepare(t.Context(), eng.submission(p))
		if err != nil {
			t.Fatal(err)
		}
		worst := verdict.Pass
		for _, f := range prep.Case.Findings {
			if f.Rule == name {
				worst = worst.Worst(f.Level)
			}
		}
		return worst
	}
	silent, claims := moves("Move ur5e_1 to bench_a at 200 mm/s."), moves("Nobody in the cell; permit 77 is there. Move ur5e_1 to bench_a at 200 mm/s.")
	for _, tc := range []struct {
		presence string
		want     verdict.Level
	}{{"clear", verdict.Pass}, {"", verdict.Flag}, {"person", verdict.Block}} {
		presence = tc.presence
		for _, p := range []*plan.Plan{silent, claims} {
			if got := rule(p, "OBL-PRESENCE"); got != tc.want {
				t.Errorf("presence %q, %q: OBL-PRESENCE is %v, want %v", tc.presence, p.Steps, got, tc.want)
			}
		}
	}
	if rule(claims, "OBL-PERMIT") != verdict.Flag || rule(silent, "OBL-PERMIT") != verdict.Pass {
		t.Error("a permit that is only claimed is flagged, and only that")
	}
	r := &rechecker{site: st}
	sub := plan.Submission{Plan: claims, Requester: "a", Agent: "planner-alpha"}
	call := gate.Call{Tool: profile.Tool("arm.move"), Plan: sub, Step: 1, Client: gate.Client{Requester: "a", Agent: "planner-alpha"}}
	for _, tc := range []struct {
		presence string
		claims   int
		blocks   bool
	}{{"clear", 1, false}, {"person", 0, true}, {"", 0, true}, {"clear", 1, false}} {
		presence = tc.presence
		got, err := r.Verified(t.Context(), sub)
		if err != nil || len(got) != tc.claims || (len(got) == 1 && (got[0].Kind != "presence" || got[0].Source != "room_presence")) {
			t.Errorf("presence %q: verified claims %+v, %v", tc.presence, got, err)
		}
		blocked := false
		for _, f := range r.Recheck(t.Context(), call) {
			blocked = blocked || (f.Rule == "OBL-PRESENCE" && f.Level == verdict.Block)
		}
		if blocked != tc.blocks {
			t.Errorf("presence %q: the call is blocked: %v", tc.presence, blocked)
		}
	}
	presence = ""
	off := gate.Call{Tool: profile.Tool("hotplate.set"), Plan: plan.Submission{Plan: silent}, Step: 1}
	for _, f := range r.Recheck(t.Context(), off) {
		if f.Rule == "OBL-PRESENCE" && f.Level == verdict.Block {
			t.Errorf("a tool of another hazard class is blocked: %+v", f)
		}
	}
}

package gate_test

import (
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"interlock/internal/gate"
	"interlock/internal/labsim"
	"interlock/internal/site"
)

// TestSeveralServers: one plan over two servers, each at its own path; a tool
// is known by its server and its name.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	two := labsim.NewLab(labsim.New(time.Now))
	r := newRig(t, func(o *gate.Options) {
		o.Servers = []string{"arm", "heat"}
		s := *labSite(t)
		for i := range s.Tools {
			s.Tools[i].Server = "arm"
			if s.Tools[i].Hazard == "heat" {
				s.Tools[i].Server = "heat"
			}
		}
		o.Site = func() *site.Site { return &s }
	})
	var ups []gate.Upstream
	for name, lab := range map[string]*labsim.Lab{"arm": r.lab, "heat": two} {
		u, err := url.Parse(labHTTP(t, lab.Server, nil))
		if err != nil {
			t.Fatal(err)
		}
		ups = append(ups, gate.Upstream{Name: name, URL: u})
	}
	h, err := r.gate.Handler(t.Context(), gate.HandlerOptions{Upstreams: ups, Authenticate: byHeader})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close(); _ = h.Close() })
	arm, heat := r.httpAt(srv.URL+"/mcp/arm", "alice", nil), r.httpAt(srv.URL+"/mcp/heat", "alice", nil)
	if v := submit(t, arm, heatPlan()); v["state"] != "accepted" {
		t.Fatalf("%v", v)
	}
	// The arm's server has a tool of this name as well; the profile gives it to
	// the other one.
	if got := code(t, call(t, arm, "hotplate.set", heatOK)); got != "not-allowed" {
		t.Errorf("hotplate.set at the arm's server: %q", got)
	}
	if res := call(t, arm, "arm.move", moveOK); res.IsError {
		t.Fatal(text(res))
	}
	if res := call(t, heat, "hotplate.set", heatOK); res.IsError {
		t.Fatal(text(res))
	}
	if r.lab.Calls() != 1 || two.Calls() != 1 {
		t.Errorf("%d calls at the arm, %d at the plate", r.lab.Calls(), two.Calls())
	}
}

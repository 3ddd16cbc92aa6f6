package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/examples"
	"interlock/internal/config"
	"interlock/internal/gate"
	"interlock/internal/identity"
	"interlock/internal/labsim"
	"interlock/internal/review"
)

// A tour shows the gate at work: the real engine and the real gate before the
// simulated laboratory, spoken to by an MCP client over HTTP.
type tour struct {
	e      *env
	lab    *labsim.Lab
	eng    *engine
	gw     *gateway
	cs     *mcp.ClientSession
	person bool // somebody sits at the pages: what is escalated waits for them
	tally  tourTally
}

// A tourTally counts what came of the tour, from its answers.
type tourTally struct {
	Plans   map[string]int `json:"plans"`   // first answers of submit_plan, by state
	Passed  int            `json:"passed"`  // calls
	Refused int            `json:"refused"` // calls
	Reached int            `json:"reached"` // calls with an effect, counted by the laboratory
	Harm    int            `json:"harm"`    // the same
}

// labTour runs the tour. It fails if anything passes that must not. With a
// person it serves the pages where they decide.
func labTour(e *env, lab *labsim.Lab, person bool) (tourTally, error) {
	t := &tour{e: e, lab: lab, person: person, tally: tourTally{Plans: map[string]int{}}}
	err := t.run()
	return t.tally, err
}

func (t *tour) run() error {
	e, lab := t.e, t.lab
	dir, err := os.MkdirTemp("", "interlock-tour-")
	if err != nil {
		return fmt.Errorf("making a folder for the tour: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.CopyFS(dir, examples.MCP); err != nil {
		return fmt.Errorf("unpacking the profile: %w", err)
	}
	cfg := config.Default()
	cfg.Resolve(dir, dir)
	eng, err := newEngine(e, engineOptions{Site: filepath.Join(dir, "mcp", "labsim.yaml"), Config: cfg, Store: filepath.Join(dir, "tour.db")})
	if err != nil {
		return err
	}
	defer eng.Close()
	ctx, cancel := context.WithCancel(e.Ctx)
	defer cancel()
	t.eng = eng
	if err := t.connect(ctx, eng); err != nil {
		return err
	}
	defer func() { _ = t.cs.Close() }()
	watched := make(chan struct{})
	go func() { defer close(watched); t.gw.watchReviews(ctx, eng.log) }()
	defer func() { cancel(); <-watched }()
	if t.person {
		if err := t.pages(ctx); err != nil {
			return err
		}
	}
	for _, act := range []func(context.Context) error{t.accepted, t.rejected, t.escalated, t.deviation, t.rugPull, t.stop} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	harm := lab.Harm()
	t.tally.Reached, t.tally.Harm = lab.Calls(), len(harm)
	fmt.Fprintf(e.Stdout, "\n%d calls with an effect reached the laboratory; harm done: %d.\n", t.tally.Reached, t.tally.Harm)
	if len(harm) > 0 {
		return fmt.Errorf("the gate let harm through: %s", harm[0].What)
	}
	return nil
}

// connect puts the gate before the laboratory, and a client before the gate.
func (t *tour) connect(ctx context.Context, eng *engine) error {
	labURL, err := serveLoopback(ctx, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return t.lab.Server }, nil))
	if err != nil {
		return err
	}
	ups := []gate.Upstream{{Name: "lab", URL: labURL}}
	j, err := newJournal(eng)
	if err != nil {
		return err
	}
	if t.gw, err = newGateway(t.e, eng, ups, j, func(o *gate.Options) { o.Policy.FirstContact = true }); err != nil {
		return err
	}
	planner := func(*http.Request) (gate.Client, error) {
		return gate.Client{Requester: "agent:planner", Agent: "planner"}, nil
	}
	h, err := t.gw.gate.Handler(ctx, gate.HandlerOptions{Upstreams: ups, Authenticate: planner})
	if err != nil {
		return err
	}
	front, err := serveLoopback(ctx, h)
	if err != nil {
		return err
	}
	t.cs, err = mcp.NewClient(&mcp.Implementation{Name: "tour", Version: version()}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: front.String() + "/mcp"}, nil)
	if err != nil {
		return fmt.Errorf("connecting through the gate: %w", err)
	}
	fmt.Fprintln(t.e.Stdout, "A simulated laboratory behind the gate. Judges: the built-in ones, no language model.")
	return nil
}

// serveLoopback serves a handler on this machine only, until ctx ends.
func serveLoopback(ctx context.Context, h http.Handler) (*url.URL, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	go func() { _ = srv.Serve(ln) }()
	return url.Parse("http://" + ln.Addr().String())
}

type object = map[string]any

func movePlan(speed int, more object) object {
	p := object{
		"goal": "Move the arm", "steps": []string{fmt.Sprintf("Move ur5e_1 to bench_a at %d mm/s.", speed)},
		"submitted_by": object{"agent": "planner", "on_behalf_of": "Mei Tanaka"},
		"tool_calls":   []object{{"step": 1, "tool": "arm.move", "arguments": moveArgs(speed)}},
	}
	for k, v := range more {
		p[k] = v
	}
	return p
}

func moveArgs(speed int) object {
	return object{"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": speed}
}

func (t *tour) say(format string, args ...any) { fmt.Fprintf(t.e.Stdout, "  "+format+"\n", args...) }

func (t *tour) title(s string) { fmt.Fprintf(t.e.Stdout, "\n%s\n", s) }

// submit hands a plan in and holds the state against what the tour is about to
// show.
func (t *tour) submit(ctx context.Context, p object, want string) (gate.PlanView, error) {
	var v gate.PlanView
	res, err := t.cs.CallTool(ctx, &mcp.CallToolParams{Name: "submit_plan", Arguments: object{"plan": p, "wait_s": 30}})
	if err != nil {
		return v, fmt.Errorf("submitting a plan: %w", err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		return v, fmt.Errorf("reading the decision: %w", err)
	}
	t.tally.Plans[v.State]++
	t.say("submit_plan %q: %s", p["steps"].([]string)[0], v.State)
	if v.State != want {
		return v, fmt.Errorf("the tour expected the plan to be %s, it is %q %s", want, v.State, v.Why)
	}
	if v.Decision != nil && v.State == "rejected" {
		for _, r := range v.Decision.Reasons {
			t.say("    because %s: %s", r.Code, printable(r.Text))
		}
	}
	return v, nil
}

// call makes a call and holds against expectation whether it passed.
func (t *tour) call(ctx context.Context, tool string, args object, passes bool) error {
	res, err := t.cs.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return fmt.Errorf("calling %s: %w", tool, err)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	said := "done"
	if text, ok := res.Content[0].(*mcp.TextContent); ok && res.IsError {
		said = printable(text.Text)
	}
	if res.IsError {
		t.tally.Refused++
	} else {
		t.tally.Passed++
	}
	t.say("%s %s: %s", tool, raw, said)
	if passes == res.IsError {
		return fmt.Errorf("%s: expected passed = %v", tool, passes)
	}
	return nil
}

func (t *tour) accepted(ctx context.Context) error {
	t.title("1. Without a plan nothing moves; reading is free; an accepted plan runs, each call once")
	if err := t.call(ctx, "arm.move", moveArgs(200), false); err != nil {
		return err
	}
	if err := t.call(ctx, "sensor.read", object{"id": "room_presence"}, true); err != nil {
		return err
	}
	home := object{"arm": "ur5e_1", "target": "home", "speed_mm_s": 200}
	if _, err := t.submit(ctx, movePlan(200, object{
		"steps":      []string{"Move ur5e_1 to bench_a at 200 mm/s.", "Move ur5e_1 to home at 200 mm/s."},
		"tool_calls": []object{{"step": 1, "tool": "arm.move", "arguments": moveArgs(200)}, {"step": 2, "tool": "arm.move", "arguments": home}},
	}), "accepted"); err != nil {
		return err
	}
	if err := t.call(ctx, "arm.move", moveArgs(200), true); err != nil {
		return err
	}
	if err := t.call(ctx, "arm.move", home, true); err != nil {
		return err
	}
	return t.call(ctx, "arm.move", home, false)
}

func (t *tour) rejected(ctx context.Context) error {
	t.title("2. A rejected plan comes with reasons; the plan that acts on them is accepted")
	v, err := t.submit(ctx, movePlan(2000, nil), "rejected")
	if err != nil {
		return err
	}
	if _, err := t.submit(ctx, movePlan(150, object{"parent": v.PlanID}), "accepted"); err != nil {
		return err
	}
	return t.call(ctx, "arm.move", moveArgs(150), true)
}

func (t *tour) escalated(ctx context.Context) error {
	t.title("3. What the judges cannot tell goes to a person")
	heat := object{"device": "hp1", "temp_c": 60, "rpm": 300}
	v, err := t.submit(ctx, object{
		"goal": "Warm water", "steps": []string{"Heat hp1 to 60 C at 300 rpm."}, "submitted_by": object{"agent": "planner", "on_behalf_of": "Mei Tanaka"},
		"tool_calls": []object{{"step": 1, "tool": "hotplate.set", "arguments": heat}}, "on_abort": []object{{"tool": "hotplate.off", "arguments": object{"device": "hp1"}}},
	}, "escalated")
	if err != nil {
		return err
	}
	if err := t.call(ctx, "hotplate.set", heat, false); err != nil {
		return err
	}
	approved, err := t.decided(ctx, v.PlanID)
	if err != nil {
		return err
	}
	return t.call(ctx, "hotplate.set", heat, approved)
}

// pages serves the pages of the laboratory's engine, with a token to decide
// with.
func (t *tour) pages(ctx context.Context) error {
	secret, _, err := identity.Issue(ctx, t.eng.log, rand.Reader, identity.Reviewer, "demo reviewer of the laboratory")
	if err != nil {
		return err
	}
	w, err := newWeb(t.e, t.eng)
	if err != nil {
		return err
	}
	at, err := serveLoopback(ctx, w.Handler())
	if err != nil {
		return err
	}
	fmt.Fprintf(t.e.Stdout, "laboratory's pages  %s/review\nreviewer token      %s\n", at, secret)
	return nil
}

// decided waits for the person's word on a plan, which reaches the gate over
// the record; without a person the tour gives it as interlock review does.
func (t *tour) decided(ctx context.Context, id string) (approved bool, err error) {
	if t.person {
		t.say("waiting for you: approve or reject the plan in the page")
	} else {
		_, who, err := identity.Issue(ctx, t.eng.log, rand.Reader, identity.Reviewer, "Tomas Lindqvist")
		if err != nil {
			return false, err
		}
		if _, err := newQueue(t.eng.log, t.eng.sites, t.eng.config.Review).Decide(ctx, who, id, review.Disposition{Approve: true, Note: "played by the tour"}); err != nil {
			return false, fmt.Errorf("approving: %w", err)
		}
	}
	for {
		res, err := t.cs.CallTool(ctx, &mcp.CallToolParams{Name: "plan_status", Arguments: object{"plan_id": id}})
		if err != nil {
			return false, fmt.Errorf("asking for the plan: %w", err)
		}
		state, _ := res.StructuredContent.(object)["state"].(string)
		if state != "escalated" {
			d, err := t.eng.log.Get(ctx, id)
			if err == nil && d.Reviewed != nil {
				t.say("%s says: the plan is %s", printable(d.Reviewed.Reviewer), state)
			}
			return state == "accepted", err
		}
		select {
		case <-time.After(reviewPoll / 2):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

func (t *tour) deviation(ctx context.Context) error {
	t.title("4. A call that is not in the plan is refused, and the plan is suspended")
	if _, err := t.submit(ctx, movePlan(180, nil), "accepted"); err != nil {
		return err
	}
	if err := t.call(ctx, "arm.move", moveArgs(900), false); err != nil {
		return err
	}
	return t.call(ctx, "arm.move", moveArgs(180), false)
}

func (t *tour) rugPull(ctx context.Context) error {
	t.title("5. A tool that changes after it was approved is quarantined")
	t.lab.RugPull()
	// The server tells of the change on a stream of its own, a moment later.
	for range 50 {
		tools, err := t.cs.ListTools(ctx, nil)
		if err != nil {
			return fmt.Errorf("listing the tools: %w", err)
		}
		listed := false
		for _, tool := range tools.Tools {
			listed = listed || tool.Name == "hotplate.set"
		}
		if !listed {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return t.call(ctx, "hotplate.set", object{"device": "hp1", "temp_c": 60, "rpm": 300}, false)
}

func (t *tour) stop(ctx context.Context) error {
	t.title("6. A stop voids every grant; what makes things safer still passes")
	if _, err := t.submit(ctx, movePlan(170, nil), "accepted"); err != nil {
		return err
	}
	if err := t.gw.live.Stop(ctx, "reviewer:Tomas Lindqvist", "smoke"); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	if err := t.call(ctx, "arm.move", moveArgs(170), false); err != nil {
		return err
	}
	if err := t.call(ctx, "hotplate.off", object{"device": "hp1"}, true); err != nil {
		return err
	}
	if err := t.gw.live.Rearm(ctx, "reviewer:Tomas Lindqvist", "checked"); err != nil {
		return fmt.Errorf("re-arming: %w", err)
	}
	t.say("re-armed; the plan stays void")
	return t.call(ctx, "arm.move", moveArgs(170), false)
}

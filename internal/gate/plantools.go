package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock/internal/gate/grant"
	"interlock/internal/gate/wire"
	"interlock/internal/plan"
	"interlock/internal/verdict"
)

// A planTool is one of the tools the gate adds (C8: they show the planner's
// view only).
type planTool struct {
	name   string
	schema string // the whole entry of tools/list but the name
	run    func(*Session, context.Context, []byte) (any, *denial)
}

const idSchema = `"plan_id":{"type":"string","description":"The plan_id that submit_plan returned."}`

const callsSchema = `{"type":"array","description":"The concrete tool calls, in the order in which they will be made. They are compared exactly when the plan runs.","items":{"type":"object","properties":{"step":{"type":"integer","minimum":1,"description":"Number of the step this call carries out, from 1."},"tool":{"type":"string"},"arguments":{"type":"object"},"expect":` + expectSchema + `},"required":["step","tool","arguments"],"additionalProperties":false}}`

const expectSchema = `{"type":"object","description":"What must be seen after the call, read by the gate with a tool that only reads: a number that comes into a band within a time. The next call waits for it.","properties":{"tool":{"type":"string"},"arguments":{"type":"object"},"pointer":{"type":"string","description":"JSON pointer to the number in the tool's result."},"unit":{"type":"string"},"min":{"type":"number"},"max":{"type":"number"},"within_s":{"type":"number","description":"Seconds from the end of the call."}},"required":["tool","arguments","pointer","within_s"],"additionalProperties":false}`

const planSchema = `{"type":"object","description":"The plan.","properties":{"id":{"type":"string","description":"Your own name for the plan."},"goal":{"type":"string"},"steps":{"type":"array","items":{"type":"string"},"minItems":1,"description":"The steps in natural language."},"tool_calls":` + callsSchema + `,"attachments":{"type":"array","items":{"type":"object","properties":{"source":{"type":"string"},"text":{"type":"string"}},"required":["text"],"additionalProperties":false}},"on_abort":{"type":"array","description":"Calls that make things safe if the plan stops.","items":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"}},"required":["tool","arguments"],"additionalProperties":false}},"parent":{"type":"string","description":"plan_id or id of the plan this one reformulates."},"submitted_by":{"type":"object","properties":{"agent":{"type":"string","description":"Your name at this site; it must be that of your credential."},"on_behalf_of":{"type":"string","description":"The person this is done for."}},"additionalProperties":false}},"required":["goal","steps"],"additionalProperties":false}`

func object(props, required string) string {
	return `{"type":"object","properties":{` + props + `},"required":[` + required + `],"additionalProperties":false}`
}

func allPlanTools() []planTool {
	const waitSchema = `"wait_s":{"type":"number","minimum":0,"description":"Longest time to wait for the decision, in seconds; then the answer is pending and plan_status tells more."}`
	readOnly := `,"annotations":{"readOnlyHint":true}`
	return []planTool{
		{"submit_plan", `"description":"Submit a plan for verification. A tool that changes something can only be called as the next call of an accepted plan. Returns accepted, rejected with reasons to act on, escalated to a person, or pending.","inputSchema":` + object(`"plan":`+planSchema+`,`+waitSchema, `"plan"`), (*Session).submitPlan},
		{"plan_status", `"description":"Where a submitted plan stands: its decision, its calls and which is next.","inputSchema":` + object(idSchema+`,`+waitSchema, `"plan_id"`) + readOnly, (*Session).planStatus},
		{"cancel_plan", `"description":"Give up a plan: no further call of it passes.","inputSchema":` + object(idSchema, `"plan_id"`), (*Session).cancelPlan},
		{"explain_decision", `"description":"The reasons of a decision on a plan, and what would have to change.","inputSchema":` + object(idSchema, `"plan_id"`) + readOnly, (*Session).explain},
		{"bind_plan", `"description":"Propose the concrete calls of a plan that was accepted without any. They are verified against its steps; then the plan can run.","inputSchema":` + object(idSchema+`,"tool_calls":`+callsSchema+`,`+waitSchema, `"plan_id","tool_calls"`), (*Session).bindPlan},
	}
}

func (g *Gate) planTool(name string) *planTool {
	if !strings.HasSuffix(name, "_plan") && name != "plan_status" && name != "explain_decision" {
		return nil // every call comes by here: the entries are written only when one is wanted
	}
	for _, t := range allPlanTools() {
		if t.name == name {
			return &t
		}
	}
	return nil
}

// planTools gives their entries for a list of tools.
func (g *Gate) planTools() [][]byte {
	var out [][]byte
	for _, t := range allPlanTools() {
		out = append(out, []byte(`{"name":"`+t.name+`",`+t.schema+`}`))
	}
	return out
}

// own runs one of the gate's tools.
func (s *Session) own(ctx context.Context, f wire.Frame, t *planTool, call callFrame) []byte {
	args := call.Raw
	if args == nil {
		args = []byte("{}")
	}
	out, d := t.run(s, ctx, args)
	if d != nil {
		return s.toolReply(f.ID, d, true, d.Reason)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return wire.ErrorReply(f.ID, wire.CodeInternal, "the answer cannot be written", nil)
	}
	return s.toolReply(f.ID, out, false, string(text))
}

// toolReply writes a tool's result, in both forms.
func (s *Session) toolReply(id []byte, body any, isError bool, text string) []byte {
	structured, err := json.Marshal(body)
	if err != nil {
		return wire.ErrorReply(id, wire.CodeInternal, "the answer cannot be written", nil)
	}
	item := wire.Object(wire.Field{Key: "type", Value: []byte(`"text"`)}, wire.Field{Key: "text", Value: wire.Quote(text)})
	fields := []wire.Field{{Key: "content", Value: list([][]byte{item})}, {Key: "structuredContent", Value: structured}}
	if isError {
		fields = append(fields, wire.Field{Key: "isError", Value: []byte("true")})
	}
	return wire.Reply(id, wire.Object(s.resultFields(fields...)...))
}

// resultFields adds what the stateless protocol wants in every result.
func (s *Session) resultFields(fields ...wire.Field) []wire.Field {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version >= stateless {
		fields = append(fields, wire.Field{Key: "resultType", Value: []byte(`"complete"`)})
	}
	return fields
}

// A PlanView is what a planner sees of its plan (C8).
type PlanView struct {
	PlanID   string               `json:"plan_id"`
	State    string               `json:"state"`
	Decision *verdict.PlannerWire `json:"decision,omitempty"`
	Grant    string               `json:"grant,omitempty"` // handle; may be sent as _meta["interlock/grant"]
	Expires  string               `json:"expires,omitempty"`
	Calls    []CallView           `json:"calls,omitempty"`
	Next     *denialCall          `json:"next_call,omitempty"`
	OnAbort  []denialCall         `json:"on_abort,omitempty"` // of a suspended plan: what makes things safe
	Why      string               `json:"why,omitempty"`
	Do       string               `json:"do,omitempty"`
}

// A CallView is one call of an accepted plan.
type CallView struct {
	Step  int    `json:"step"`
	Tool  string `json:"tool"`
	State string `json:"state"`
}

func (g *Gate) view(e *entry) PlanView {
	v := g.plans.view(e)
	out := PlanView{PlanID: v.id, State: string(v.state), Why: v.why}
	if v.report.ID != "" {
		w := verdict.ToPlanner(v.report)
		out.Decision = &w
	}
	switch v.state {
	case statePending:
		out.Do = "ask again with plan_status"
	case stateEscalated:
		out.Do = "a person decides; ask again with plan_status"
	case stateRejected:
		out.Do = "act on the reasons and submit a new plan that names this one as its parent"
	case stateUnbound:
		out.Do = "propose the concrete calls with bind_plan"
	case stateAccepted, stateFailed, stateVoid:
	}
	if gr, ok := g.book.Get(v.grant); ok && v.grant != "" {
		g.showGrant(&out, gr)
	}
	return out
}

func (g *Gate) showGrant(out *PlanView, gr grant.Grant) {
	out.PlanID, out.Grant, out.Expires = gr.Plan, gr.ID, gr.Expires.UTC().Format(time.RFC3339)
	if gr.Status != grant.Open {
		out.State, out.Why = string(gr.Status), gr.Why
	}
	if gr.Status == grant.Suspended {
		out.OnAbort = abortCalls(gr)
	}
	for _, s := range gr.Slots {
		if s.State == grant.Settling {
			out.Do = "wait until what is expected of " + s.Tool + " is seen, and ask again with plan_status"
		}
		out.Calls = append(out.Calls, CallView{Step: s.Step, Tool: s.Tool, State: string(s.State)})
		if out.Next == nil && gr.Status == grant.Open && s.State == grant.Planned {
			out.Next = &denialCall{Step: s.Step, Tool: s.Tool, Arguments: s.Args}
		}
	}
}

// planArgs reads the arguments of a plan tool.
func planArgs(raw []byte, known ...string) (map[string][]byte, *denial) {
	fields, err := wire.Fields(raw)
	if err != nil {
		return nil, deny("arguments", "arguments: %v", err)
	}
	out := map[string][]byte{}
	for _, f := range fields {
		ok := false
		for _, k := range known {
			ok = ok || k == f.Key
		}
		if !ok {
			return nil, deny("arguments", "unknown argument %q: expected %s", f.Key, strings.Join(known, ", "))
		}
		out[f.Key] = f.Value
	}
	return out, nil
}

// defaultWait is how long submit_plan waits if the client does not say.
const defaultWait = 20 * time.Second

func (g *Gate) waitOf(raw []byte) (time.Duration, *denial) {
	if raw == nil {
		return min(defaultWait, g.o.Policy.MaxWait), nil
	}
	s, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || s < 0 {
		return 0, deny("arguments", "wait_s: expected a number of seconds, not below 0")
	}
	if s > g.o.Policy.MaxWait.Seconds() {
		return g.o.Policy.MaxWait, nil
	}
	return time.Duration(s * float64(time.Second)), nil
}

func (s *Session) submitPlan(ctx context.Context, raw []byte) (any, *denial) {
	args, d := planArgs(raw, "plan", "wait_s")
	if d != nil {
		return nil, d
	}
	wait, d := s.g.waitOf(args["wait_s"])
	if d != nil {
		return nil, d
	}
	if args["plan"] == nil {
		return nil, deny("arguments", "plan is missing")
	}
	p, d := s.g.decode(s.client, args["plan"])
	if d != nil {
		return nil, d
	}
	if d := s.current(ctx); d != nil {
		return nil, d
	}
	e, d := s.submit(ctx, p)
	if d != nil {
		return nil, d
	}
	e.wait(ctx, wait)
	return s.g.view(e), nil
}

// decode reads the plan a tool call carries. Who submits it comes from the
// credential; a body that says otherwise is refused (C33). Only on the local
// command line, where there is no credential, the plan's own claim is used.
func (g *Gate) decode(c Client, raw []byte) (*plan.Plan, *denial) {
	if len(raw) > g.o.Limits.MaxBytes {
		return nil, deny("arguments", "the plan has %d bytes: at most max_bytes (%d)", len(raw), g.o.Limits.MaxBytes)
	}
	if c.Agent != "" {
		by := wire.Get(raw, "submitted_by")
		if by == nil {
			by = []byte("{}")
		}
		var err error
		if wire.Get(by, "agent") == nil {
			by, err = wire.Set(by, "agent", wire.Quote(c.Agent))
		}
		if err == nil {
			raw, err = wire.Set(raw, "submitted_by", by)
		}
		if err != nil {
			return nil, deny("arguments", "plan: %v", err)
		}
	}
	p, err := plan.DecodeJSON("plan", raw)
	if err != nil {
		return nil, deny("arguments", "%v", err)
	}
	if c.Agent != "" && p.SubmittedBy.Agent != c.Agent {
		return nil, deny("identity", "submitted_by.agent is %q, but the credential stands for %q", p.SubmittedBy.Agent, c.Agent)
	}
	if p.Site == "" {
		p.Site = g.o.Site().ID // fixed by the upstream's binding (C33)
	}
	if p.Site != g.o.Site().ID {
		return nil, deny("site", "this gate stands before the site %s, not %s", g.o.Site().ID, p.Site)
	}
	return p, nil
}

// find returns a plan of the client; another's looks like none (C33).
func (s *Session) find(raw []byte) (*entry, string, *denial) {
	id, ok := wire.Text(raw)
	if !ok || id == "" {
		return nil, "", deny("arguments", "plan_id: expected the text that submit_plan returned")
	}
	if e := s.g.plans.get(id); e != nil && e.sub.Requester == s.client.Requester {
		return e, id, nil
	}
	if gr, ok := s.g.book.Get(id); ok && gr.Requester == s.client.Requester {
		return nil, gr.ID, nil
	}
	return nil, "", deny("no-plan", "no plan of yours has the id %s", strconv.Quote(id))
}

func (s *Session) planStatus(ctx context.Context, raw []byte) (any, *denial) {
	args, d := planArgs(raw, "plan_id", "wait_s")
	if d != nil {
		return nil, d
	}
	e, id, d := s.find(args["plan_id"])
	if d != nil {
		return nil, d
	}
	if args["wait_s"] != nil && e != nil {
		wait, d := s.g.waitOf(args["wait_s"])
		if d != nil {
			return nil, d
		}
		e.wait(ctx, wait)
	}
	return s.g.status(e, id), nil
}

// status shows a plan this process judged, or the grant that the journal kept.
func (g *Gate) status(e *entry, grantID string) PlanView {
	if e != nil {
		return g.view(e)
	}
	out := PlanView{State: string(stateAccepted)}
	if gr, ok := g.book.Get(grantID); ok {
		g.showGrant(&out, gr)
	}
	return out
}

func (s *Session) cancelPlan(ctx context.Context, raw []byte) (any, *denial) {
	args, d := planArgs(raw, "plan_id")
	if d != nil {
		return nil, d
	}
	e, id, d := s.find(args["plan_id"])
	if d != nil {
		return nil, d
	}
	const reason = "cancelled by its requester"
	if e != nil {
		s.g.plans.set(e, func(e *entry) { e.state, e.why = stateVoid, reason })
	}
	gr, ok := s.g.book.Get(id)
	if ok {
		if err := s.g.book.Cancel(ctx, gr.Plan, reason); err != nil {
			return nil, deny("unrecorded", "the plan is cancelled, but that could not be recorded: %v", err)
		}
	}
	return s.g.status(e, id), nil
}

func (s *Session) explain(_ context.Context, raw []byte) (any, *denial) {
	args, d := planArgs(raw, "plan_id")
	if d != nil {
		return nil, d
	}
	e, id, d := s.find(args["plan_id"])
	if d != nil {
		return nil, d
	}
	v := s.g.status(e, id)
	v.Calls, v.Next = nil, nil
	return v, nil
}

func (s *Session) bindPlan(ctx context.Context, raw []byte) (any, *denial) {
	args, d := planArgs(raw, "plan_id", "tool_calls", "wait_s")
	if d != nil {
		return nil, d
	}
	wait, d := s.g.waitOf(args["wait_s"])
	if d != nil {
		return nil, d
	}
	e, _, d := s.find(args["plan_id"])
	if d != nil {
		return nil, d
	}
	if e == nil || s.g.plans.view(e).state != stateUnbound {
		return nil, deny("no-plan", "only a plan that was accepted without calls can be bound")
	}
	bound, err := wire.Set(plan.Encode(e.sub.Plan), "tool_calls", args["tool_calls"])
	if err == nil {
		// The bound plan is a plan of its own, judged whole: steps and calls.
		bound, err = wire.Set(bound, "parent", wire.Quote(e.id))
	}
	if err != nil {
		return nil, deny("arguments", "tool_calls: %v", err)
	}
	p, d := s.g.decode(s.client, bound)
	if d != nil {
		return nil, d
	}
	if len(p.ToolCalls) == 0 {
		return nil, deny("arguments", "tool_calls: expected at least one call")
	}
	if d := s.current(ctx); d != nil {
		return nil, d
	}
	b, d := s.submit(ctx, p)
	if d != nil {
		return nil, d
	}
	b.wait(ctx, wait)
	return s.g.view(b), nil
}

// planScheme is where plans are found as resources.
const planScheme = "interlock://plans/"

// readPlan answers a read of a plan's resource: by its requester only.
func (s *Session) readPlan(f wire.Frame) (Out, bool) {
	uri, ok := wire.Text(wire.Get(f.Params, "uri"))
	if !ok || !strings.HasPrefix(uri, planScheme) {
		return Out{}, false
	}
	e, id, d := s.find(wire.Quote(strings.TrimPrefix(uri, planScheme)))
	if d != nil {
		return Out{Down: wire.ErrorReply(f.ID, wire.CodeInvalidParams, d.Reason, nil)}, true
	}
	body, err := json.Marshal(s.g.status(e, id))
	if err != nil {
		return Out{Down: wire.ErrorReply(f.ID, wire.CodeInternal, fmt.Sprintf("writing the plan: %v", err), nil)}, true
	}
	item := wire.Object(wire.Field{Key: "uri", Value: wire.Quote(uri)}, wire.Field{Key: "mimeType", Value: []byte(`"application/json"`)}, wire.Field{Key: "text", Value: wire.Quote(string(body))})
	return Out{Down: wire.Reply(f.ID, wire.Object(s.resultFields(wire.Field{Key: "contents", Value: list([][]byte{item})})...))}, true
}

package web

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"interlock/internal/identity"
	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/verdict"
)

// formats are the content types of a plan, with the file name that tells the
// decoder which one it is. Each body holds exactly one plan.
var formats = map[string]string{
	"application/json":   "body.json",
	"application/yaml":   "body.yaml",
	"application/x-yaml": "body.yaml",
	"text/yaml":          "body.yaml",
	"text/plain":         "body.txt",
}

// reviewWire is where an escalated plan stands, for its planner too.
type reviewWire struct {
	Status   review.Status `json:"status"`
	Expires  time.Time     `json:"expires"`            // of the question while pending, of the approval when approved
	At       *time.Time    `json:"at,omitempty"`       // of the disposition
	Note     string        `json:"note,omitempty"`     // written by the reviewer for the planner
	Voided   string        `json:"voided,omitempty"`   // why nobody can approve it any more: submit it again (C20)
	Reviewer string        `json:"reviewer,omitempty"` // for reviewers only
}

// plannerWire is a decision as its planner sees it (C8).
type plannerWire struct {
	verdict.PlannerWire
	Status   string      `json:"status"`   // "decided"
	Advisory bool        `json:"advisory"` // nobody has shown that the machine is reachable through Interlock only (C39)
	Review   *reviewWire `json:"review,omitempty"`
}

// fullWire is a decision as reviewers see it.
type fullWire struct {
	verdict.Wire
	Status     string      `json:"status"`
	Advisory   bool        `json:"advisory"`
	Requester  string      `json:"requester"`
	PlanDigest string      `json:"plan_digest"`
	Plan       string      `json:"plan"` // canonical bytes
	Review     *reviewWire `json:"review,omitempty"`
}

// pendingWire answers before there is a decision.
type pendingWire struct {
	DecisionID string `json:"decision_id"`
	Status     string `json:"status"` // "pending", or "interrupted": it will never be decided, submit it again
}

// submit takes a plan and answers with its decision: 200, or 202 with a
// Location when a person must decide or the caller does not want to wait.
func (s *Server) submit(w http.ResponseWriter, r *http.Request) error {
	sub, keyed, err := s.submission(w, r)
	if err != nil {
		return err
	}
	if keyed {
		if answered, err := s.again(w, r, sub); answered || err != nil {
			return err
		}
	}
	if err := s.enter(sub); err != nil {
		if errors.Is(err, errDeciding) { // an equal request came in between
			return s.repeated(w, r, sub)
		}
		return err
	}
	if prefersAsync(r.Header.Values("Prefer")) {
		s.later(r.Context(), sub)
		w.Header().Set("Preference-Applied", "respond-async")
		return promised(w, sub.ID)
	}
	defer s.leave(sub)
	rep, err := s.o.Verifier.Verify(r.Context(), sub)
	if keyed && errors.Is(err, record.ErrDuplicate) { // another process took an equal request
		return s.repeated(w, r, sub)
	}
	if err != nil {
		return unverified(err)
	}
	return s.answer(w, r, rep)
}

// promised answers that the decision will be found at its address.
func promised(w http.ResponseWriter, id string) error {
	w.Header().Set("Location", "/v1/plans/"+id)
	return writeJSON(w, http.StatusAccepted, pendingWire{id, string(review.Pending)})
}

// answer shows a planner a recorded decision.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, rep verdict.Report) error {
	wire := plannerWire{PlannerWire: verdict.ToPlanner(rep), Status: "decided", Advisory: !s.o.Mediated}
	status := http.StatusOK
	if rep.Decision.Outcome != verdict.Accept && rep.Decision.Outcome != verdict.Reject {
		status = http.StatusAccepted
		w.Header().Set("Location", "/v1/plans/"+rep.ID)
		d, err := s.o.Record.Get(r.Context(), rep.ID)
		if err != nil {
			return err
		}
		wire.Review = s.reviewOf(r.Context(), d, false)
	}
	return writeJSON(w, status, wire)
}

// errDeciding says that the plan of this id is being decided already.
var errDeciding = errors.New("the plan is being decided")

// enter takes a place among the plans being decided; leave gives it back.
func (s *Server) enter(sub plan.Submission) error {
	agent := sub.Agent
	s.mu.Lock()
	defer s.mu.Unlock()
	_, twice := s.deciding[sub.ID]
	switch {
	case twice:
		return errDeciding
	case s.busy[agent] >= s.o.PerAgent:
		return &Problem{Status: http.StatusTooManyRequests, Detail: "too many plans of this agent are being decided", RetryAfter: time.Second}
	case s.total >= s.o.Concurrent:
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "too many plans are being decided", RetryAfter: time.Second}
	}
	s.busy[agent]++
	s.total++
	s.deciding[sub.ID] = ongoing{agent, plan.Digest(sub.Plan)}
	return nil
}

func (s *Server) leave(sub plan.Submission) {
	agent := sub.Agent
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.deciding, sub.ID)
	s.total--
	if s.busy[agent]--; s.busy[agent] == 0 {
		delete(s.busy, agent)
	}
}

// unverified: a plan that was not decided and recorded is never answered with
// a decision (C25).
func unverified(err error) error {
	if p := asProblem(err); p.Status == http.StatusServiceUnavailable {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "the plan could not be decided in time", RetryAfter: time.Second}
	}
	return err
}

// submission reads who and what, strictly; keyed reports whether the request
// carries a key under which it may come again.
func (s *Server) submission(w http.ResponseWriter, r *http.Request) (sub plan.Submission, keyed bool, err error) {
	none := plan.Submission{}
	who, err := s.bearer(r)
	if err != nil {
		return none, false, err
	}
	if who.Role != identity.Agent {
		return none, false, problem(http.StatusForbidden, "only an agent's token can submit plans, this is one of a %s", who.Role)
	}
	id, keyed, err := s.idOf(r, who)
	if err != nil {
		return none, false, err
	}
	p, err := s.body(w, r)
	if err != nil {
		return none, false, err
	}
	if a := p.SubmittedBy.Agent; a != "" && a != who.Name {
		return none, false, problem(http.StatusForbidden, "the plan says it comes from agent %q, the token is that of %q", a, who.Name)
	}
	if s.o.Sites[p.Site] == nil && (p.Site != "" || len(s.o.Sites) != 1) {
		return none, false, problem(http.StatusUnprocessableEntity, "the plan is for site %q; configured here: %s", p.Site, strings.Join(s.siteIDs(), ", "))
	}
	return plan.Submission{Plan: p, ID: id, Requester: who.String(), Agent: who.Name, Received: s.o.Now()}, keyed, nil
}

// body decodes the one plan of a request.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (*plan.Plan, error) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	name, ok := formats[media]
	if err != nil || !ok {
		return nil, problem(http.StatusUnsupportedMediaType, "expected Content-Type application/json, application/yaml or text/plain")
	}
	if c := params["charset"]; c != "" && !strings.EqualFold(c, "utf-8") {
		return nil, problem(http.StatusUnsupportedMediaType, "expected charset utf-8, found %q", c)
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, problem(http.StatusUnsupportedMediaType, "expected no Content-Encoding, found %q", e)
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.o.Limits.MaxBytes)))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, problem(http.StatusRequestEntityTooLarge, "the plan is over the limit max_bytes of %d bytes", s.o.Limits.MaxBytes)
	}
	if err != nil {
		return nil, problem(http.StatusBadRequest, "the body could not be read to its end")
	}
	p, err := plan.DecodeOne(name, data)
	if err != nil {
		return nil, badPlan(err)
	}
	return p, nil
}

func badPlan(err error) *Problem {
	p := problem(http.StatusBadRequest, "%v", err)
	var pe *plan.Error
	if errors.As(err, &pe) {
		p.Line, p.Column = pe.Line, pe.Column
	}
	return p
}

// prefersAsync reads the Prefer header (RFC 7240).
func prefersAsync(values []string) bool {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			token, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(token), "respond-async") {
				return true
			}
		}
	}
	return false
}

// later decides a plan after its request was answered. It keeps the slot that
// submit took, and outlives the request but not the server (Wait).
func (s *Server) later(ctx context.Context, sub plan.Submission) {
	ctx = context.WithoutCancel(ctx)
	s.work.Go(func() {
		defer func() {
			// A request's panic is caught by net/http; this one has no request any more.
			if p := recover(); p != nil {
				s.o.Log.ErrorContext(ctx, "deciding a promised plan panicked", "decision", sub.ID, "panic", p)
			}
			s.leave(sub)
		}()
		if _, err := s.o.Verifier.Verify(ctx, sub); err != nil {
			s.o.Log.ErrorContext(ctx, "a promised plan could not be decided", "decision", sub.ID, "error", err)
		}
	})
}

// plan answers with a decision, to its requester and to reviewers only (C33).
// Everybody else is told that there is none.
func (s *Server) plan(w http.ResponseWriter, r *http.Request) error {
	who, err := s.bearer(r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	s.mu.Lock()
	current, deciding := s.deciding[id]
	s.mu.Unlock()
	d, err := s.o.Record.Get(r.Context(), id)
	switch {
	case errors.Is(err, record.ErrNotFound) && deciding && mine(who, current.agent, "agent:"+current.agent):
		return writeJSON(w, http.StatusOK, pendingWire{id, "pending"})
	case err != nil:
		return err
	case d.Received == nil || !mine(who, d.Received.Agent, d.Received.Requester):
		return record.ErrNotFound
	case d.Decided == nil && deciding:
		return writeJSON(w, http.StatusOK, pendingWire{id, "pending"})
	case d.Decided == nil:
		return writeJSON(w, http.StatusOK, pendingWire{id, "interrupted"})
	}
	rep := d.Decided.Report
	if who.Role != identity.Reviewer {
		return writeJSON(w, http.StatusOK, plannerWire{verdict.ToPlanner(rep), "decided", !s.o.Mediated, s.reviewOf(r.Context(), d, false)})
	}
	return writeJSON(w, http.StatusOK, fullWire{
		Wire: verdict.ToWire(rep), Status: "decided", Advisory: !s.o.Mediated, Requester: d.Received.Requester, PlanDigest: d.Received.PlanDigest,
		Plan: string(d.Received.Plan), Review: s.reviewOf(r.Context(), d, true),
	})
}

// mine reports whether somebody may read a plan: a reviewer, or the agent that
// submitted it with a credential. A plan from the local command line has no
// requester and is nobody's.
func mine(who identity.Principal, agent, requester string) bool {
	return who.Role == identity.Reviewer ||
		(who.Role == identity.Agent && who.Name == agent && who.String() == requester)
}

func (s *Server) reviewOf(ctx context.Context, d record.Dossier, full bool) *reviewWire {
	it := s.o.Queue.Of(ctx, d)
	if it == nil {
		return nil
	}
	w := &reviewWire{Status: it.Status, Expires: it.Expires}
	if it.Status == review.Pending && errors.Is(it.Barred, review.ErrVoided) {
		w.Voided = it.Barred.Error()
	}
	if it.Reviewed != nil {
		w.At, w.Note = &it.ReviewedAt, it.Reviewed.Note
		if it.Status == review.Approved {
			w.Expires = it.Reviewed.Expires
		}
		if full {
			w.Reviewer = it.Reviewed.Reviewer
		}
	}
	return w
}

// siteIDs lists the configured sites in order.
func (s *Server) siteIDs() []string {
	ids := make([]string, 0, len(s.o.Sites))
	for id := range s.o.Sites {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"interlock/internal/identity"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/verdict"
)

// maxForm bounds the body of a form: a note or a token.
const maxForm = 64 << 10

// perPage is how many decisions a page lists.
const perPage = 50

// maxQueue is how many waiting plans the queue shows; it says how many more
// there are.
const maxQueue = 200

// A pageHandler answers somebody who is logged in.
type pageHandler func(http.ResponseWriter, *http.Request, session) error

// page lets reviewers in and sends everybody else to the login form.
func (s *Server) page(h pageHandler) http.Handler {
	return s.public(func(w http.ResponseWriter, r *http.Request) error {
		sess, ok, err := s.session(r)
		if err != nil {
			return err
		}
		if !ok {
			to := "/login"
			if r.Method == http.MethodGet && r.URL.Path != "/" {
				to += "?" + url.Values{"next": {r.URL.RequestURI()}}.Encode()
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return nil
		}
		if r.Method == http.MethodPost {
			if err := readForm(w, r); err != nil {
				return err
			}
			if err := s.checkForm(r, sess); err != nil {
				return err
			}
		}
		return h(w, r, sess)
	})
}

// public turns a page's error into an error page.
func (s *Server) public(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		p := asProblem(err)
		s.report(r, p, err)
		if p.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(p.RetryAfter/time.Second)))
		}
		page := s.frame(r, session{}, http.StatusText(p.Status))
		page.Detail = p.Detail
		if err := s.render(w, p.Status, "error.html", page); err != nil {
			s.report(r, p, err)
			http.Error(w, http.StatusText(p.Status), p.Status)
		}
	})
}

func readForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return problem(http.StatusRequestEntityTooLarge, "the form is too long")
		}
		return problem(http.StatusBadRequest, "the form could not be read")
	}
	return nil
}

// A frame is what every page shows around its own.
type frame struct {
	Title    string
	Reviewer string // "" if nobody is logged in
	CSRF     string
	Advisory bool
	Waiting  int
	Path     string
	Detail   string // of an error
	Next     string // where a login leads
}

func (s *Server) frame(r *http.Request, sess session, title string) frame {
	f := frame{Title: title, Reviewer: sess.who.Name, CSRF: sess.csrf, Advisory: !s.o.Mediated, Path: r.URL.Path}
	if sess.who.Name != "" {
		// The number beside a menu entry; where it cannot be read the queue itself says why.
		if n, err := s.o.Queue.Pending(r.Context()); err == nil {
			f.Waiting = n
		}
		if ids, err := s.o.Record.OpenMatters(r.Context()); err == nil {
			f.Waiting += len(ids)
		}
	}
	return f
}

func (s *Server) render(w http.ResponseWriter, status int, name string, data any) error {
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader that is gone has nobody to tell
	return nil
}

func parsePages() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"visible": review.Visible,
		"when":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"percent": func(x float64) string { return strconv.FormatFloat(100*x, 'f', 0, 64) + " %" },
		"score":   func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) },
		"text":    func(b []byte) string { return string(b) },
		"inc":     func(i int) int { return i + 1 },
		"join":    strings.Join,
	}).ParseFS(files, "templates/*.html")
}

// loginForm asks for the reviewer token.
func (s *Server) loginForm(w http.ResponseWriter, r *http.Request) error {
	f := s.frame(r, session{}, "Log in")
	f.Next = localPath(r.URL.Query().Get("next"))
	return s.render(w, http.StatusOK, "login.html", f)
}

// localPath keeps a login from leading anywhere but to our own pages.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.Contains(next, "\\") {
		return "/"
	}
	return next
}

// login begins a session for a reviewer's token. Agents and devices have no
// pages.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	if wait := s.limits.wait("login"); wait > 0 {
		return &Problem{Status: http.StatusTooManyRequests, Detail: "too many attempts", RetryAfter: wait}
	}
	if err := readForm(w, r); err != nil {
		return err
	}
	who, err := s.o.Tokens.Authenticate(r.Context(), strings.TrimSpace(r.PostForm.Get("token")))
	if err != nil && !errors.Is(err, identity.ErrUnknown) {
		return err
	}
	next := localPath(r.PostForm.Get("next"))
	if err != nil || who.Role != identity.Reviewer {
		f := s.frame(r, session{}, "Log in")
		f.Next, f.Detail = next, "This is not the token of a reviewer, or it was revoked."
		return s.render(w, http.StatusUnauthorized, "login.html", f)
	}
	cookie, err := s.sessions.begin(who)
	if err != nil {
		return err
	}
	s.setCookie(w, r, cookie, sessionTTL)
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // localPath lets through paths of this server only
	return nil
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request, _ session) error {
	for _, c := range r.CookiesNamed(cookieName) {
		s.sessions.end(c.Value)
	}
	s.setCookie(w, r, "", -time.Second)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// A listPage is the list of decisions.
type listPage struct {
	frame
	Rows    []row
	Outcome string // filter
	Older   int64  // sequence number the next page begins before; 0: none
	First   bool
}

// A row is one decision in the list.
type row struct {
	ID      string
	PlanID  string
	Site    string
	Agent   string
	At      time.Time
	Outcome verdict.Outcome
	Class   verdict.Class
	Reason  string
	Status  string // of an escalated plan
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, sess session) error {
	page := listPage{frame: s.frame(r, sess, "Decisions"), Outcome: r.URL.Query().Get("outcome"), First: true}
	q := record.Query{Kinds: []record.Kind{record.KindDecided}, Newest: true, Limit: perPage + 1}
	switch page.Outcome {
	case "accept", "reject", "escalate":
		q.Tag = page.Outcome
	case "":
	default:
		return problem(http.StatusBadRequest, "expected outcome accept, reject or escalate")
	}
	if b := r.URL.Query().Get("before"); b != "" {
		before, err := strconv.ParseInt(b, 10, 64)
		if err != nil || before < 1 {
			return problem(http.StatusBadRequest, "expected before to be the number of an event")
		}
		q.From, page.First = before, false
	}
	var last int64
	for e, err := range s.o.Record.Tail(r.Context(), q) {
		if err != nil {
			return err
		}
		if len(page.Rows) == perPage {
			page.Older = last
			break
		}
		row, err := listRow(e)
		if err != nil {
			return err
		}
		page.Rows = append(page.Rows, row)
		last = e.Seq
	}
	for i := range page.Rows {
		if err := s.status(r, &page.Rows[i]); err != nil {
			return err
		}
	}
	return s.render(w, http.StatusOK, "list.html", page)
}

func listRow(e record.Entry) (row, error) {
	event, err := e.Event()
	if err != nil {
		return row{}, err
	}
	d, ok := event.(record.Decided)
	if !ok {
		return row{}, fmt.Errorf("event %d is a %s, not a decision", e.Seq, event.Kind())
	}
	dec := d.Report.Decision
	out := row{ID: e.Decision, PlanID: d.Report.Case.PlanID, Site: d.Report.Case.Site, Agent: d.Agent, At: e.At, Outcome: dec.Outcome, Class: dec.Class}
	if len(dec.Reasons) > 0 {
		out.Reason = dec.Reasons[0].Code
	}
	return out, nil
}

// status says where an escalated plan stands.
func (s *Server) status(r *http.Request, out *row) error {
	if out.Outcome != verdict.Escalate {
		return nil
	}
	it, err := s.o.Queue.Get(r.Context(), out.ID)
	if err != nil {
		return err
	}
	out.Status = string(it.Status)
	return nil
}

// A queuePage is the review queue.
type queuePage struct {
	frame
	review.List
	More    int
	Matters []review.Matter
}

func (s *Server) queue(w http.ResponseWriter, r *http.Request, sess session) error {
	l, err := s.o.Queue.List(r.Context(), maxQueue)
	if err != nil {
		return err
	}
	matters, err := s.o.Queue.Matters(r.Context())
	if err != nil {
		return err
	}
	return s.render(w, http.StatusOK, "review.html", queuePage{s.frame(r, sess, "Review"), l, l.Pending - len(l.Items), matters})
}

// A matterPage is one matter with all that is recorded of it.
type matterPage struct {
	frame
	Matter review.Matter
}

func (s *Server) matter(w http.ResponseWriter, r *http.Request, sess session) error {
	m, err := s.o.Queue.Matter(r.Context(), r.PathValue("id"))
	if errors.Is(err, review.ErrNoMatter) {
		return problem(http.StatusNotFound, "%v", err)
	}
	if err != nil {
		return err
	}
	return s.render(w, http.StatusOK, "matter.html", matterPage{s.frame(r, sess, "Matter "+m.ID), m})
}

// resolve takes a person's word on a matter. The reviewer is the session's,
// whatever the form says (C16).
func (s *Server) resolve(w http.ResponseWriter, r *http.Request, sess session) error {
	id := r.PathValue("id")
	_, err := s.o.Queue.Resolve(r.Context(), sess.who, id, review.Resolution{Outcome: r.PostForm.Get("outcome"), Note: noteOf(r)})
	switch {
	case errors.Is(err, review.ErrDecided), errors.Is(err, review.ErrUnsettled):
		return problem(http.StatusConflict, "%v", err)
	case errors.Is(err, review.ErrNoMatter):
		return problem(http.StatusNotFound, "%v", err)
	case errors.Is(err, review.ErrNotReviewer):
		return problem(http.StatusForbidden, "%v", err)
	case errors.Is(err, review.ErrNote), errors.Is(err, review.ErrOutcome):
		return problem(http.StatusBadRequest, "%v", err)
	case err != nil:
		return err
	}
	http.Redirect(w, r, "/matters/"+url.PathEscape(id), http.StatusSeeOther)
	return nil
}

// noteOf reads the note of a form. Browsers send line ends as CR LF; the note
// keeps what was typed.
func noteOf(r *http.Request) string {
	return strings.TrimSpace(strings.ReplaceAll(r.PostForm.Get("note"), "\r\n", "\n"))
}

// dispose approves or rejects. The reviewer is the session's, whatever the
// form says (C16); the digest is that of the plan the page showed (C17).
func (s *Server) dispose(w http.ResponseWriter, r *http.Request, sess session) error {
	var approve bool
	switch r.PostForm.Get("disposition") {
	case "approve":
		approve = true
	case "reject":
	default:
		return problem(http.StatusBadRequest, "expected disposition approve or reject")
	}
	digest := r.PostForm.Get("plan_digest")
	if digest == "" {
		return problem(http.StatusBadRequest, "expected the digest of the plan that was shown")
	}
	id := r.PathValue("id")
	_, err := s.o.Queue.Decide(r.Context(), sess.who, id, review.Disposition{Approve: approve, Note: noteOf(r), PlanDigest: digest})
	for _, refused := range []error{
		review.ErrDecided, review.ErrOtherPlan, review.ErrBlocked, review.ErrExpired, review.ErrStale, review.ErrVoided, review.ErrSelf, review.ErrNotEscalated,
	} {
		if errors.Is(err, refused) {
			return problem(http.StatusConflict, "%v", err)
		}
	}
	switch {
	case errors.Is(err, review.ErrNotReviewer):
		return problem(http.StatusForbidden, "%v", err)
	case errors.Is(err, review.ErrNote):
		return problem(http.StatusBadRequest, "%v", err)
	case err != nil:
		return err
	}
	http.Redirect(w, r, "/decisions/"+url.PathEscape(id), http.StatusSeeOther)
	return nil
}

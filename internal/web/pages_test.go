package web

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"interlock/internal/identity"
	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/verdict"
)

// login returns the session cookie and the form token of its pages.
func (b *bench) login(t *testing.T, token string) (cookie, csrf string) {
	t.Helper()
	a := b.form(t, "/login", "", url.Values{"token": {token}, "next": {"/review"}})
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/review" {
		t.Fatalf("login: %d %s", a.StatusCode, a.body)
	}
	set := a.Header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("the cookie has no %s: %s", want, set)
		}
	}
	cookie, _, _ = strings.Cut(set, ";")
	page := b.do(t, "GET", "/", "", "", "Cookie", cookie)
	m := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page.body)
	if page.StatusCode != 200 || m == nil {
		t.Fatalf("%d %s", page.StatusCode, page.body)
	}
	return cookie, m[1]
}

func (b *bench) form(t *testing.T, path, cookie string, v url.Values, headers ...string) answer {
	t.Helper()
	headers = append(headers, "Content-Type", "application/x-www-form-urlencoded")
	if cookie != "" {
		headers = append(headers, "Cookie", cookie)
	}
	return b.do(t, "POST", path, "", v.Encode(), headers...)
}

func TestPages(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for goal := range map[string]bool{"accept": true, "reject": true, "x": true} {
		b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON(goal))
	}
	loc := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("ask")).Header.Get("Location")
	id := strings.TrimPrefix(loc, "/v1/plans/")
	for _, path := range []string{"/", "/review", "/decisions/" + id} {
		a := b.do(t, "GET", path, "", "")
		if a.StatusCode != 303 || !strings.HasPrefix(a.Header.Get("Location"), "/login") {
			t.Errorf("%s without a session: %d", path, a.StatusCode)
		}
	}
	cookie, _ := b.login(t, b.tokens["Ana Ferro"])
	page := b.do(t, "GET", "/decisions/"+id, "", "", "Cookie", cookie)
	for _, want := range []string{
		"Heat", `<span class="ctl" title="a character that cannot be seen">U&#43;202E</span>`, "LIM-001", "SECRET RATIONALE", "It is hot.", "dissent",
		"&lt;script&gt;alert(1)", `&#34;temp_c&#34;:80`, plan.Digest(b.verifier.seen[3].Plan), "Advisory", `<mark class="flag"`, "proven against",
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.Contains(page.body, "<script") || strings.Contains(page.body, "\u202e") {
		t.Error("the page holds a script or a raw bidi mark")
	}
	csp := page.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("policy %q has no %s", csp, want)
		}
	}
	if strings.Contains(csp, "unsafe") || page.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("policy %q, cache %q", csp, page.Header.Get("Cache-Control"))
	}
	for path, want := range map[string]string{"/": "escalate", "/?outcome=reject": "reject", "/review": "Open until", "/static/style.css": ":root"} {
		if a := b.do(t, "GET", path, "", "", "Cookie", cookie); a.StatusCode != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d", path, a.StatusCode)
		}
	}
	for path, status := range map[string]int{"/?outcome=x": 400, "/?before=x": 400, "/decisions/none": 404, "/nowhere": 404} {
		if a := b.do(t, "GET", path, "", "", "Cookie", cookie); a.StatusCode != status {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, status)
		}
	}
}

func TestC16_C17_ReviewOnThePage(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	submit := func(goal string) (id, digest string) {
		loc := b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON(goal)).Header.Get("Location")
		return strings.TrimPrefix(loc, "/v1/plans/"), plan.Digest(b.verifier.seen[len(b.verifier.seen)-1].Plan)
	}
	id, digest := submit("x")
	cookie, csrf := b.login(t, b.tokens["Ana Ferro"])
	good := url.Values{"csrf": {csrf}, "disposition": {"approve"}, "plan_digest": {digest}, "note": {"fine\r\nby me"}, "reviewer": {"Mallory"}}
	with := func(key, value string) url.Values {
		v := url.Values{}
		for k := range good {
			v[k] = good[k]
		}
		v.Set(key, value)
		return v
	}
	path := "/decisions/" + id + "/review"
	for name, c := range map[string]struct {
		values  url.Values
		cookie  string
		headers []string
		status  int
	}{
		"no session":       {good, "", nil, 303},
		"bearer, no form":  {good, "", []string{"Authorization", "Bearer " + b.tokens["planner"]}, 303},
		"no form token":    {with("csrf", ""), cookie, nil, 403},
		"wrong form token": {with("csrf", csrf+"x"), cookie, nil, 403},
		"from elsewhere":   {good, cookie, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"other origin":     {good, cookie, []string{"Origin", "https://evil.example"}, 403},
		"another plan":     {with("plan_digest", strings.Repeat("0", 64)), cookie, nil, 409},
		"no digest":        {with("plan_digest", ""), cookie, nil, 400},
		"no disposition":   {with("disposition", ""), cookie, nil, 400},
	} {
		if a := b.form(t, path, c.cookie, c.values, c.headers...); a.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", name, a.StatusCode, c.status)
		}
	}
	if a := b.do(t, "GET", path, "", "", "Cookie", cookie); a.StatusCode == 200 {
		t.Error("a GET reached the form's address")
	}
	if it, err := b.web.o.Queue.Get(t.Context(), id); err != nil || it.Status != review.Pending {
		t.Fatalf("%v %v", it.Status, err)
	}
	for range 2 { // sending the form twice is harmless
		if a := b.form(t, path, cookie, good); a.StatusCode != 303 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	it, err := b.web.o.Queue.Get(t.Context(), id)
	if err != nil || it.Status != review.Approved || it.Reviewed.Reviewer != "Ana Ferro" || it.Reviewed.Note != "fine\nby me" {
		t.Errorf("%+v %v", it.Reviewed, err)
	}
	if a := b.form(t, path, cookie, with("disposition", "reject")); a.StatusCode != 409 {
		t.Errorf("%d", a.StatusCode)
	}
	a := b.do(t, "GET", "/v1/plans/"+id, b.tokens["planner"], "")
	if !strings.Contains(a.body, `"status":"approved"`) || strings.Contains(a.body, "Ana") {
		t.Errorf("%s", a.body)
	}

	blocked, digest := submit("block")
	page := b.do(t, "GET", "/decisions/"+blocked, "", "", "Cookie", cookie)
	if strings.Contains(page.body, `value="approve"`) || !strings.Contains(page.body, `value="reject"`) {
		t.Error("C43: a block can be approved on the page, or not rejected")
	}
	good.Set("plan_digest", digest)
	if a := b.form(t, "/decisions/"+blocked+"/review", cookie, good); a.StatusCode != 409 {
		t.Errorf("C43: %d", a.StatusCode)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, token := range []string{"", "x", b.tokens["planner"], b.tokens["plc"]} {
		if a := b.form(t, "/login", "", url.Values{"token": {token}}); a.StatusCode != 401 || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%d", a.StatusCode)
		}
	}
	if a := b.form(t, "/login", "", url.Values{"token": {b.tokens["Ana Ferro"]}}, "Sec-Fetch-Site", "cross-site"); a.StatusCode != 403 {
		t.Errorf("a login from elsewhere: %d", a.StatusCode)
	}
	for next, want := range map[string]string{"/review": "/review", "//evil.example": "/", "https://evil.example/": "/", "/\\evil": "/", "": "/", "javascript:alert(1)": "/"} {
		if a := b.form(t, "/login", "", url.Values{"token": {b.tokens["Ana Ferro"]}, "next": {next}}); a.Header.Get("Location") != want {
			t.Errorf("next %q leads to %q", next, a.Header.Get("Location"))
		}
	}
	cookie, csrf := b.login(t, b.tokens["Ana Ferro"])
	second, _ := b.login(t, b.tokens["Ana Ferro"])
	if a := b.form(t, "/logout", cookie, url.Values{"csrf": {csrf}}); a.StatusCode != 303 {
		t.Errorf("logout: %d", a.StatusCode)
	}
	if a := b.do(t, "GET", "/", "", "", "Cookie", cookie); a.StatusCode != 303 {
		t.Errorf("after logout: %d", a.StatusCode)
	}
	tokens := identity.New(b.log.Reader)
	list, err := tokens.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tok := range list {
		if tok.Role == identity.Reviewer {
			if err := tokens.Revoke(t.Context(), b.log, tok.Token); err != nil {
				t.Fatal(err)
			}
		}
	}
	if a := b.do(t, "GET", "/", "", "", "Cookie", second); a.StatusCode != 303 {
		t.Errorf("a revoked token keeps its session: %d", a.StatusCode)
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ss := newSessions(rand.Reader, func() time.Time { return now })
	cookie, err := ss.begin(identity.Principal{Name: "A"})
	if err != nil {
		t.Fatal(err)
	}
	began := now
	for now.Sub(began) < sessionTTL-50*time.Minute { // in use
		now = now.Add(50 * time.Minute)
		if _, ok := ss.get(cookie); !ok {
			t.Fatalf("the session ended after %v", now.Sub(began))
		}
	}
	now = now.Add(50 * time.Minute)
	if _, ok := ss.get(cookie); ok {
		t.Error("a session outlives its limit")
	}
	cookie, err = ss.begin(identity.Principal{Name: "A"})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(sessionIdle)
	if _, ok := ss.get(cookie); ok {
		t.Error("an idle session goes on")
	}
}

func TestPiecesAreTheText(t *testing.T) {
	t.Parallel()
	f := func(start, end int, l verdict.Level) verdict.Finding {
		return verdict.Finding{Rule: fmt.Sprint("R", start), Level: l, Span: verdict.Span{Step: 1, Start: start, End: end}}
	}
	text := "0123456789"
	got := pieces(text, []verdict.Finding{f(2, 5, verdict.Flag), f(4, 7, verdict.Block), f(8, 99, verdict.Flag)})
	var joined, levels string
	for _, p := range got {
		joined += p.Text
		levels += p.Text + ":" + p.Level + " "
	}
	if joined != text || levels != "01: 23:flag 4:block 56:block 7: 89:flag " {
		t.Errorf("%q %q", joined, levels)
	}
}

func TestC30_NewRefusesHalfAServer(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{}); err == nil {
		t.Error("a server without anything was made")
	}
}

// A person sees an unknown call on the page, and says what became of it under
// the name of the session (C16, C19).
func TestC19_ResolveOnThePage(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, e := range []record.Event{
		record.Sent{Decision: "d-1", Grant: "g-1", Call: "c-1", Server: "lab", Tool: "arm.move", Arguments: []byte(`{"to":"bench` + "\u202e" + `"}`)},
		record.Done{Decision: "d-1", Call: "c-1", Status: "unknown"},
		record.Attention{Matter: "c-1", What: "unknown", Decision: "d-1", Grant: "g-1", Call: "c-1", Site: "lab", Server: "lab", Tool: "arm.move", Reason: "the gate <b>ended</b>"},
		record.Attention{Matter: "m-1", What: "quarantined", Site: "lab", Server: "lab", Tool: "x", Reason: "new"},
	} {
		if _, err := b.log.Append(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if a := b.do(t, "GET", "/matters/c-1", "", ""); a.StatusCode != 303 {
		t.Errorf("without a session: %d", a.StatusCode)
	}
	cookie, csrf := b.login(t, b.tokens["Ana Ferro"])
	list := b.do(t, "GET", "/review", "", "", "Cookie", cookie)
	for _, want := range []string{"Needs attention", `href="/matters/c-1"`, `href="/matters/m-1"`, "the gate &lt;b&gt;ended"} {
		if !strings.Contains(list.body, want) {
			t.Errorf("the list does not show %q", want)
		}
	}
	page := b.do(t, "GET", "/matters/c-1", "", "", "Cookie", cookie)
	for _, want := range []string{"outcome is unknown", "arm.move", "U&#43;202E", `value="done"`, `value="failed"`, `name="csrf"`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	good := url.Values{"csrf": {csrf}, "outcome": {"failed"}, "note": {"it stands still\r\nat home"}, "reviewer": {"Mallory"}}
	with := func(key, value string) url.Values {
		v := url.Values{}
		for k := range good {
			v.Set(k, good.Get(k))
		}
		v.Set(key, value)
		return v
	}
	for name, c := range map[string]struct {
		path   string
		v      url.Values
		cookie string
		head   []string
		status int
	}{
		"no form token":  {"/matters/c-1/resolve", with("csrf", ""), cookie, nil, 403},
		"no session":     {"/matters/c-1/resolve", good, "", nil, 303},
		"another origin": {"/matters/c-1/resolve", good, cookie, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"no note":        {"/matters/c-1/resolve", with("note", " "), cookie, nil, 400},
		"no outcome":     {"/matters/c-1/resolve", with("outcome", ""), cookie, nil, 400},
		"not a call":     {"/matters/m-1/resolve", good, cookie, nil, 400},
		"nothing there":  {"/matters/c-9/resolve", good, cookie, nil, 404},
	} {
		if a := b.form(t, c.path, c.cookie, c.v, c.head...); a.StatusCode != c.status {
			t.Errorf("%s: %d, want %d: %s", name, a.StatusCode, c.status, a.body)
		}
	}
	if ids, err := b.log.OpenMatters(t.Context()); err != nil || len(ids) != 2 {
		t.Fatalf("a refused form resolved something: %v %v", ids, err)
	}
	for range 2 { // idempotent
		if a := b.form(t, "/matters/c-1/resolve", cookie, good); a.StatusCode != 303 || a.Header.Get("Location") != "/matters/c-1" {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	if a := b.form(t, "/matters/c-1/resolve", cookie, with("outcome", "done")); a.StatusCode != 409 {
		t.Errorf("another answer: %d", a.StatusCode)
	}
	page = b.do(t, "GET", "/matters/c-1", "", "", "Cookie", cookie)
	if !strings.Contains(page.body, "Ana Ferro") || strings.Contains(page.body, "Mallory") || strings.Contains(page.body, "<form method=\"post\" action=\"/matters") {
		t.Errorf("after the answer: %s", page.body)
	}
}

package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"interlock/internal/review"
)

// shots names a folder that the browser test leaves screenshots in.
const shots = "INTERLOCK_TEST_SCREENSHOTS"

// browser starts a headless Chromium, or skips the test where there is none.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser is slow")
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium on this machine")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // its sandbox refuses to run for root; the only page it opens is ours
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // starts it; a time limit here would be the browser's life
		t.Skipf("Chromium does not start here: %v", err)
	}
	ctx, cancel = context.WithTimeout(ctx, 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// shot leaves a screenshot for people to look at, if they asked for it.
func shot(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		dir := os.Getenv(shots)
		if dir == "" {
			return nil
		}
		png, err := chromedp.FullScreenshot(100)(ctx, target)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	})
}

// text returns the visible text of an element.
func text(ctx context.Context, t *testing.T, selector string) string {
	t.Helper()
	s, err := chromedp.Run(ctx, chromedp.Text(selector))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBrowserLoginReadApprove(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	b := newBench(t, nil)
	for _, goal := range []string{"accept", "reject", "block", "Warm the reaction block for the morning run"} {
		b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON(goal))
	}
	const id = "d-4"
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, steps...); err != nil {
			t.Fatal(err)
		}
	}
	do(
		chromedp.Navigate(b.URL+"/decisions/"+id),
		chromedp.WaitVisible("#token"), shot("login"),
		chromedp.SendKeys("#token", "not a token"), chromedp.Click("button.primary"),
		chromedp.WaitVisible(".alert"),
		chromedp.SendKeys("#token", b.tokens["Ana Ferro"]), chromedp.Click("button.primary"),
		chromedp.WaitVisible("#decide"), shot("decision"),
	)
	if title := text(ctx, t, "h1"); title != "p1" {
		t.Errorf("title %q", title)
	}
	page := text(ctx, t, "main")
	for _, want := range []string{"U+202E", "SECRET RATIONALE", `{"temp_c":80}`, "hot <script>alert(1)</script>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	do(
		chromedp.SendKeys("#note", "Checked against the batch record."), chromedp.Click("button.approve"),
		chromedp.WaitVisible(".status.approved"), shot("approved"),
		chromedp.Navigate(b.URL+"/review"), chromedp.WaitVisible("table"), shot("review"),
		chromedp.Navigate(b.URL+"/"), chromedp.WaitVisible("table"), shot("list"),
		chromedp.EmulateViewport(390, 844), shot("list-narrow"),
		chromedp.Click(".who button"), chromedp.WaitVisible("#token"),
	)
	it, err := b.web.o.Queue.Get(t.Context(), id)
	if err != nil || it.Status != review.Approved || it.Reviewed.Reviewer != "Ana Ferro" {
		t.Errorf("%v %v", it.Status, err)
	}
}

// A page of another origin that sends the form is refused, even if it knows
// the form token, in the browser of a reviewer who is logged in.
func TestBrowserCrossSiteFormIsRefused(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	b := newBench(t, nil)
	b.do(t, "POST", "/v1/plans", b.tokens["planner"], planJSON("x"))
	err := chromedp.Do(ctx,
		chromedp.Navigate(b.URL+"/decisions/d-1"), chromedp.SendKeys("#token", b.tokens["Ana Ferro"]), chromedp.Click("button.primary"),
		chromedp.WaitVisible("#decide"),
	)
	if err != nil {
		t.Fatal(err)
	}
	var fields [2]string
	for i, name := range []string{"csrf", "plan_digest"} {
		if fields[i], err = chromedp.Run(ctx, chromedp.Value("#decide input[name="+name+"]")); err != nil {
			t.Fatal(err)
		}
	}
	evil := httptest.NewServer(evilPage(b.URL+"/decisions/d-1/review", fields[0], fields[1]))
	defer evil.Close()
	err = chromedp.Do(ctx,
		chromedp.Navigate(strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)), chromedp.Click("button"),
		chromedp.WaitNotPresent("input[name=plan_digest]"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if it, err := b.web.o.Queue.Get(t.Context(), "d-1"); err != nil || it.Status != review.Pending {
		t.Errorf("%v %v: %s", it.Status, err, text(ctx, t, "body"))
	}
}

// evilPage holds a form that would approve a plan, form token and all.
func evilPage(action, csrf, digest string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method="post" action=%q><input name="csrf" value=%q><input name="plan_digest" value=%q><button name="disposition" value="approve">win</button></form>`, action, csrf, digest)
	})
}

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"interlock/internal/config"
	"interlock/internal/identity"
	"interlock/internal/record"
	"interlock/internal/review"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

type reviewCmd struct {
	List    reviewListCmd    `cmd:"" help:"List what waits for a person: plans, and what happened at the gate."`
	Show    reviewShowCmd    `cmd:"" help:"Show one plan whole, with everything known about it."`
	Approve reviewApproveCmd `cmd:"" help:"Approve a plan; needs a reviewer's token."`
	Reject  reviewRejectCmd  `cmd:"" help:"Reject a plan; needs a reviewer's token."`
	Forget  reviewForgetCmd  `cmd:"" help:"Let a failed plan no longer count against those that resemble it; needs a reviewer's token."`
	Resolve reviewResolveCmd `cmd:"" help:"Say what became of an unknown call, or that a matter was seen; needs a reviewer's token."`
}

// newQueue opens the review queue over a log. The site version is that of the
// profiles as they are now: a plan judged under another one is stale.
func newQueue(log *record.Log, sites *site.Set, cfg config.Review) *review.Queue {
	return review.New(review.Options{
		Log: log, Now: time.Now, Rand: rand.Reader, PendingTTL: cfg.PendingTTL, ApprovalTTL: cfg.ApprovalTTL, AllowSelf: cfg.AllowSelf,
		SiteVersion: func(id string) (string, bool) {
			st := sites.Site(id)
			if st == nil {
				return "", false
			}
			return st.Digest, true
		},
		Same: func(id, a, b string) bool {
			st := sites.Site(id)
			if st == nil {
				return false
			}
			one, two := st.FindPerson(a), st.FindPerson(b)
			return one != nil && one == two
		},
	})
}

// openQueue opens store and sites for the review commands.
func (f *storeFlags) openQueue(e *env) (*record.Log, *review.Queue, error) {
	cfg, err := f.load(e)
	if err != nil {
		return nil, nil, err
	}
	log, err := openLog(e, cfg)
	if err != nil {
		return nil, nil, err
	}
	sites, err := configuredSites(cfg)
	if err != nil {
		return nil, nil, errors.Join(badInput(err), log.Close())
	}
	return log, newQueue(log, sites, cfg.Review), nil
}

func configuredSites(cfg *config.Config) (*site.Set, error) {
	path, _ := site.ParseRef(cfg.Sites)
	return site.Load(path)
}

type reviewListCmd struct {
	storeFlags
	JSON bool `help:"One JSON object a line."`
}

// A reviewRow is a waiting plan as it is listed.
type reviewRow struct {
	ID        string        `json:"id"`
	PlanID    string        `json:"plan_id"`
	Site      string        `json:"site"`
	Agent     string        `json:"agent"`
	Status    review.Status `json:"status"`
	Category  verdict.Class `json:"category"`
	Asked     time.Time     `json:"asked"`
	Expires   time.Time     `json:"expires"`
	CannotYet string        `json:"not_approvable,omitempty"`
}

func (c *reviewListCmd) Run(e *env) error {
	log, q, err := c.openQueue(e)
	if err != nil {
		return err
	}
	defer quietly(log)
	list, err := q.List(e.Ctx, 0)
	if err != nil {
		return storeError(err)
	}
	tw := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, it := range list.Items {
		row := reviewRow{ID: it.ID, PlanID: it.PlanID, Site: it.Site, Agent: it.Agent, Status: it.Status, Category: it.Report.Decision.Class, Asked: it.Asked, Expires: it.Expires}
		if it.Barred != nil {
			row.CannotYet = it.Barred.Error()
		}
		if c.JSON {
			writeJSON(e.Stdout, row)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", row.ID, row.Status, printable(row.Site), printable(row.Agent), row.Asked.Format(time.RFC3339), row.CannotYet)
	}
	if !c.JSON && list.Pending == 0 {
		fmt.Fprintln(e.Stdout, "no plan waits for a person")
	}
	if list.Expired > 0 {
		fmt.Fprintf(e.Stderr, "%d more expired without an answer and must be submitted again\n", list.Expired)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return listMatters(e, q, c.JSON)
}

type reviewShowCmd struct {
	storeFlags
	ID   string `arg:"" help:"Decision or matter id."`
	JSON bool   `help:"Print plan and report as JSON."`
}

func (c *reviewShowCmd) Run(e *env) error {
	log, q, err := c.openQueue(e)
	if err != nil {
		return err
	}
	defer quietly(log)
	it, err := q.Get(e.Ctx, c.ID)
	if errors.Is(err, record.ErrNotFound) {
		if m, err := q.Matter(e.Ctx, c.ID); err == nil {
			return showMatter(e, m, c.JSON)
		}
	}
	if err != nil {
		return reviewError(err)
	}
	if c.JSON {
		writeJSON(e.Stdout, struct {
			verdict.Wire
			Status     review.Status `json:"status"`
			PlanDigest string        `json:"plan_digest"`
			Plan       string        `json:"plan"`
		}{verdict.ToWire(it.Report), it.Status, it.PlanDigest, string(it.Plan)})
		return nil
	}
	writeItem(e, it)
	return nil
}

// writeItem shows a plan whole, byte for byte, with what cannot be seen marked
// (C17).
func writeItem(e *env, it review.Item) {
	w := e.Stdout
	fmt.Fprintf(w, "decision   %s (%s, asked %s, open until %s)\n", it.ID, it.Status, it.Asked.Format(time.RFC3339), it.Expires.Format(time.RFC3339))
	fmt.Fprintf(w, "site       %s\nrequester  %s, agent %s, for %s\n", printable(it.Site), printable(it.Requester), printable(it.Agent), printable(it.OnBehalfOf))
	fmt.Fprintf(w, "digest     %s\n", it.PlanDigest)
	if it.Barred != nil {
		fmt.Fprintf(w, "approval   not possible: %v\n", it.Barred)
	}
	if it.Reviewed != nil {
		fmt.Fprintf(w, "reviewed   by %s at %s: %s\n", printable(it.Reviewed.Reviewer), it.ReviewedAt.Format(time.RFC3339), review.VisibleText(it.Reviewed.Note))
	}
	fmt.Fprintf(w, "\nplan, as it would run (%d bytes):\n%s\n\n", len(it.Plan), review.VisibleText(string(it.Plan)))
	writeReport(e, it.Report)
}

// A dispositionCmd is approve or reject.
type dispositionCmd struct {
	storeFlags
	reviewerFlags
	ID     string `arg:"" help:"Decision id."`
	Note   string `help:"Why; the planner can read it." placeholder:"TEXT"`
	Digest string `help:"Digest of the plan you have read: refused if another one waits." placeholder:"HEX"`
}

// reviewerFlags say where the reviewer's credential is.
type reviewerFlags struct {
	TokenFile string `help:"File with the reviewer token; default: INTERLOCK_TOKEN, or asked for." type:"existingfile" placeholder:"FILE"`
}

type reviewApproveCmd struct{ dispositionCmd }

func (c *reviewApproveCmd) Run(e *env) error { return c.decide(e, true) }

type reviewRejectCmd struct{ dispositionCmd }

func (c *reviewRejectCmd) Run(e *env) error { return c.decide(e, false) }

// decide records a disposition under the name of the credential, never under
// a name that somebody types (C16).
func (c *dispositionCmd) decide(e *env, approve bool) error {
	log, q, err := c.openQueue(e)
	if err != nil {
		return err
	}
	defer quietly(log)
	who, err := c.reviewer(e, log)
	if err != nil {
		return err
	}
	it, err := q.Decide(e.Ctx, who, c.ID, review.Disposition{Approve: approve, Note: c.Note, PlanDigest: c.Digest})
	if err != nil {
		return reviewError(err)
	}
	fmt.Fprintf(e.Stdout, "%s  %s by %s\n", it.ID, it.Status, printable(it.Reviewed.Reviewer))
	return nil
}

// reviewer tells who the credential stands for.
func (c *reviewerFlags) reviewer(e *env, log *record.Log) (identity.Principal, error) {
	secret, err := c.token(e)
	if err != nil {
		return identity.Principal{}, badInput(err)
	}
	who, err := identity.New(log.Reader).Authenticate(e.Ctx, secret)
	if err != nil {
		return identity.Principal{}, reviewError(err)
	}
	return who, nil
}

// token finds the reviewer's token without ever taking it from the arguments,
// which other users of the machine can read.
func (c *reviewerFlags) token(e *env) (string, error) {
	if c.TokenFile != "" {
		data, err := os.ReadFile(c.TokenFile)
		return strings.TrimSpace(string(data)), err
	}
	if t := e.Getenv("INTERLOCK_TOKEN"); t != "" {
		return t, nil
	}
	f, ok := e.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", errors.New("a reviewer token is needed: set INTERLOCK_TOKEN or give --token-file")
	}
	fmt.Fprint(e.Stderr, "reviewer token: ")
	data, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(e.Stderr)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// reviewError tells what a person asked for wrongly from what went wrong.
func reviewError(err error) error {
	for _, theirs := range []error{
		review.ErrNotReviewer, review.ErrNotEscalated, review.ErrDecided, review.ErrOtherPlan, review.ErrBlocked, review.ErrExpired,
		review.ErrStale, review.ErrVoided, review.ErrSelf, review.ErrNote, review.ErrOutcome, review.ErrNoMatter, review.ErrUnsettled,
		record.ErrNotFound, identity.ErrUnknown,
	} {
		if errors.Is(err, theirs) {
			return badInput(err)
		}
	}
	return storeError(err)
}

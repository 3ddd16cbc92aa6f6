package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"

	"interlock/internal/identity"
	"interlock/internal/knowledge"
	"interlock/internal/knowledge/document"
	"interlock/internal/record"
)

// docsDecision is what every decision on documents needs.
type docsDecision struct {
	docsFlags
	Reason    string `help:"Why; kept in manifest and record." placeholder:"TEXT"`
	TokenFile string `help:"File with the reviewer token; default: INTERLOCK_TOKEN, or asked for." type:"existingfile" placeholder:"FILE"`
}

// An act is a decision about to be taken: by whom, where it is recorded, and
// with what it is signed.
type act struct {
	*shelf
	log  *record.Log
	who  identity.Principal
	sign note.Signer
	at   time.Time
}

func (c *docsDecision) begin(e *env) (*act, error) {
	s, err := c.open(e)
	if err != nil {
		return nil, err
	}
	secret, err := (&reviewerFlags{TokenFile: c.TokenFile}).token(e)
	if err != nil {
		return nil, badInput(err)
	}
	key, err := record.LoadKey(s.cfg.Key)
	if err != nil {
		return nil, badInput(err)
	}
	log, err := openLog(e, s.cfg)
	if err != nil {
		return nil, err
	}
	// The library is read again: another person may have decided meanwhile.
	if s, err = c.open(e); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	who, err := identity.New(log.Reader).Authenticate(e.Ctx, secret)
	if err == nil && who.Role != identity.Reviewer {
		err = fmt.Errorf("%s is no reviewer: documents are a person's decision", who)
	}
	if err != nil {
		return nil, badInput(errors.Join(err, log.Close()))
	}
	return &act{s, log, who, key.Signer(), time.Now()}, nil
}

func (a *act) person() document.Person {
	return document.Person{Name: a.who.Name, Credential: a.who.Token}
}

// record makes the decision durable before it counts (C25).
func (a *act) record(e *env, name, digest, status, reason string) error {
	_, err := a.log.Append(e.Ctx, record.DocumentDecided{
		Name: name, Digest: digest, Status: status, By: a.who.Name, Token: a.who.Token, Reason: reason, Serial: a.lib.Serial() + 1,
	})
	return err
}

type docsApproveCmd struct {
	docsDecision
	Name   string `arg:"" help:"Document."`
	SHA256 string `name:"sha256" help:"SHA-256 of the document you have read: refused if another one waits." placeholder:"HEX"`
}

func (c *docsApproveCmd) Run(e *env) error {
	a, err := c.begin(e)
	if err != nil {
		return err
	}
	defer func() { _ = a.log.Close() }()
	l, err := a.look(e, c.Name)
	if err != nil {
		return err
	}
	if c.SHA256 != "" && c.SHA256 != l.doc.SHA256 {
		return badInput(fmt.Errorf("%s waits with sha256 %s, not the one you have read", c.Name, l.doc.SHA256))
	}
	if l.entry.State == document.Approved {
		return badInput(fmt.Errorf("%s is approved already", c.Name))
	}
	if err := document.Approvable(l.doc, l.findings, c.Reason); err != nil {
		l.summary(e)
		return badInput(err)
	}
	if err := a.record(e, c.Name, l.doc.SHA256, "approved", c.Reason); err != nil {
		return storeError(err)
	}
	if err := a.lib.Approve(l.doc, l.findings, a.person(), c.Reason, a.at, a.sign); err != nil {
		return libraryError(err)
	}
	l.summary(e)
	fmt.Fprintf(e.Stdout, "%s approved by %s\n", printable(c.Name), printable(a.who.Name))
	return nil
}

type docsRemoveCmd struct {
	docsDecision
	Name string `arg:"" help:"Document."`
}

func (c *docsRemoveCmd) Run(e *env) error {
	a, err := c.begin(e)
	if err != nil {
		return err
	}
	defer func() { _ = a.log.Close() }()
	entries, err := a.lib.Entries()
	if err != nil {
		return libraryError(err)
	}
	i := slices.IndexFunc(entries, func(d document.Entry) bool { return d.Name == c.Name })
	if i < 0 {
		return badInput(fmt.Errorf("no document %q", c.Name))
	}
	if old := entries[i].Approval; old != nil {
		if c.Reason == "" {
			return badInput(fmt.Errorf("%s is approved: taking it out needs --reason", c.Name))
		}
		if err := a.record(e, c.Name, old.SHA256, "removed", c.Reason); err != nil {
			return storeError(err)
		}
	}
	if err := a.lib.Remove(c.Name, a.person(), c.Reason, a.at, a.sign); err != nil {
		return libraryError(err)
	}
	fmt.Fprintf(e.Stdout, "%s taken out by %s\n", printable(c.Name), printable(a.who.Name))
	return nil
}

type docsOverrideCmd struct {
	docsDecision
	Subject string    `arg:"" help:"Node whose hazard is lifted, as cas:64-17-5."`
	Hazard  string    `arg:"" help:"Hazard, as h:H225, trait:volatile, pair:azide+acid, hazard:fire."`
	Expires time.Time `help:"Day on which it ends." format:"2006-01-02" placeholder:"YYYY-MM-DD"`
}

func (c *docsOverrideCmd) Run(e *env) error {
	a, err := c.begin(e)
	if err != nil {
		return err
	}
	defer func() { _ = a.log.Close() }()
	docs, err := a.lib.Documents(e.Ctx, a.opts)
	if err != nil {
		return libraryError(err)
	}
	g, err := knowledge.Embedded()
	if err != nil {
		return err
	}
	if g, err = document.Overlay(g, docs, a.lib.Overrides(), a.at); err != nil {
		return badInput(err)
	}
	if err := document.Liftable(g, c.Subject, c.Hazard); err != nil {
		return badInput(err)
	}
	if c.Reason == "" {
		return badInput(errors.New("an override needs --reason"))
	}
	if err := a.record(e, c.Subject+" "+c.Hazard, "", "overridden", c.Reason); err != nil {
		return storeError(err)
	}
	w, err := a.lib.PutOverride(document.Override{Subject: c.Subject, Hazard: c.Hazard, Reason: c.Reason, By: a.who.Name, Credential: a.who.Token, At: a.at, Expires: c.Expires}, a.sign)
	if err != nil {
		return libraryError(err)
	}
	fmt.Fprintf(e.Stdout, "override %s: %s lifted for %s by %s\n", w.ID, w.Hazard, w.Subject, printable(w.By))
	return nil
}

type docsRestoreCmd struct {
	docsDecision
	ID string `arg:"" help:"Override."`
}

func (c *docsRestoreCmd) Run(e *env) error {
	a, err := c.begin(e)
	if err != nil {
		return err
	}
	defer func() { _ = a.log.Close() }()
	if !slices.ContainsFunc(a.lib.Overrides(), func(w document.Override) bool { return w.ID == c.ID }) {
		return badInput(fmt.Errorf("no override %q", c.ID))
	}
	if err := a.record(e, "override "+c.ID, "", "override ended", c.Reason); err != nil {
		return storeError(err)
	}
	if err := a.lib.EndOverride(c.ID, a.person(), c.Reason, a.at, a.sign); err != nil {
		return libraryError(err)
	}
	fmt.Fprintf(e.Stdout, "override %s ended by %s\n", c.ID, printable(a.who.Name))
	return nil
}

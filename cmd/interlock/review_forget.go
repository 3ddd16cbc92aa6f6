package main

import (
	"errors"
	"fmt"
	"strings"

	"interlock/internal/identity"
	"interlock/internal/record"
)

type reviewForgetCmd struct {
	storeFlags
	reviewerFlags
	ID     string `arg:"" help:"Decision that shall no longer count."`
	Reason string `help:"Why; it stands in the record." required:""`
}

// Run records a reviewer's word that a failure is forgotten. Every memory over
// this store follows, in running servers too; the decision itself stays.
func (c *reviewForgetCmd) Run(e *env) error {
	log, _, err := c.openQueue(e)
	if err != nil {
		return err
	}
	defer quietly(log)
	who, err := c.reviewer(e, log)
	if err != nil {
		return err
	}
	if who.Role != identity.Reviewer {
		return badInput(errors.New("forgetting needs a reviewer's token"))
	}
	if strings.TrimSpace(c.Reason) == "" {
		return badInput(errors.New("--reason is empty: say why the failure no longer counts"))
	}
	d, err := log.Get(e.Ctx, c.ID)
	if err != nil || d.Decided == nil {
		return badInput(fmt.Errorf("no decision %s in the record", c.ID))
	}
	if _, err := log.Append(e.Ctx, record.Forgotten{Decision: c.ID, By: who.Name, Token: who.Token, Reason: c.Reason}); err != nil {
		return storeError(err)
	}
	fmt.Fprintf(e.Stdout, "%s  forgotten by %s\n", c.ID, printable(who.Name))
	return nil
}

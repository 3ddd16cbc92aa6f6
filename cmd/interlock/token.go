package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"interlock/internal/config"
	"interlock/internal/identity"
	"interlock/internal/site"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Make a token for an agent, a reviewer or a device; it is shown once."`
	List   tokenListCmd   `cmd:"" help:"List the tokens, without their secrets."`
	Revoke tokenRevokeCmd `cmd:"" help:"End a token at once, in running servers too."`
}

type tokenCreateCmd struct {
	storeFlags
	Agent    string `help:"Agent that submits plans, as the site profile names it." placeholder:"ID"`
	Reviewer string `help:"Person who decides escalated plans." placeholder:"NAME"`
	Device   string `help:"Device that reports live state." placeholder:"ID"`
}

func (c *tokenCreateCmd) Run(e *env) error {
	role, name, err := c.who()
	if err != nil {
		return badInput(err)
	}
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	log, err := openLog(e, cfg)
	if err != nil {
		return err
	}
	defer quietly(log)
	secret, p, err := identity.Issue(e.Ctx, log, rand.Reader, role, name)
	if err != nil {
		return badInput(err)
	}
	fmt.Fprintln(e.Stdout, secret)
	fmt.Fprintf(e.Stderr, "token %s for %s: shown once, stored as a hash only\n", p.Token, p)
	if role == identity.Agent && !agentIsKnown(cfg, name) {
		fmt.Fprintf(e.Stderr, "no site of the configuration knows an agent %q yet: its plans will be blocked until a profile names it\n", name)
	}
	return nil
}

// agentIsKnown reports whether a configured site names the agent. Where the
// profiles cannot be read nothing is said: serve tells why.
func agentIsKnown(cfg *config.Config, id string) bool {
	set, _, err := loadSites(engineOptions{Config: cfg})
	if err != nil {
		return true
	}
	return slices.ContainsFunc(set.Sites, func(s *site.Site) bool { return s.FindAgent(id) != nil })
}

// who returns the one role that was named.
func (c *tokenCreateCmd) who() (role identity.Role, name string, err error) {
	for _, f := range []struct {
		role identity.Role
		name string
	}{{identity.Agent, c.Agent}, {identity.Reviewer, c.Reviewer}, {identity.Device, c.Device}} {
		if f.name == "" {
			continue
		}
		if name != "" {
			return "", "", errors.New("expected one of --agent, --reviewer and --device, found several")
		}
		role, name = f.role, f.name
	}
	if name == "" {
		return "", "", errors.New("expected one of --agent ID, --reviewer NAME and --device ID")
	}
	return role, name, nil
}

type tokenListCmd struct {
	storeFlags
	JSON bool `help:"One JSON object a line."`
}

// A tokenRow is a token as it is listed.
type tokenRow struct {
	ID      string     `json:"id"`
	Role    string     `json:"role"`
	Name    string     `json:"name"`
	Issued  time.Time  `json:"issued"`
	Revoked *time.Time `json:"revoked"`
}

func (c *tokenListCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	r, err := openReader(e, cfg, "")
	if err != nil {
		return err
	}
	defer quietly(r)
	tokens, err := identity.New(r).List(e.Ctx)
	if err != nil {
		return storeError(err)
	}
	tw := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, t := range tokens {
		row := tokenRow{ID: t.Token, Role: string(t.Role), Name: t.Name, Issued: t.Issued}
		state := "in force"
		if !t.Revoked.IsZero() {
			row.Revoked = &t.Revoked
			state = "revoked " + t.Revoked.Format(time.RFC3339)
		}
		if c.JSON {
			writeJSON(e.Stdout, row)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", row.ID, row.Role, printable(row.Name), row.Issued.Format(time.RFC3339), state)
	}
	return tw.Flush()
}

type tokenRevokeCmd struct {
	storeFlags
	ID string `arg:"" help:"Token id, as token list shows it."`
}

func (c *tokenRevokeCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	log, err := openLog(e, cfg)
	if err != nil {
		return err
	}
	defer quietly(log)
	if err := identity.New(log.Reader).Revoke(e.Ctx, log, c.ID); err != nil {
		if errors.Is(err, identity.ErrNoToken) {
			return badInput(err)
		}
		return storeError(err)
	}
	fmt.Fprintln(e.Stdout, "revoked", c.ID)
	return nil
}

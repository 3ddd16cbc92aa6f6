package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// stopFlags say which gateway is meant and who speaks.
type stopFlags struct {
	Config    string `help:"Configuration file; its server.listen is where the gateway is looked for." type:"path" placeholder:"FILE"`
	Server    string `help:"Address of the gateway instead." placeholder:"URL"`
	Site      string `help:"Site; by default gate.site of the configuration." placeholder:"ID"`
	TokenFile string `help:"File with a token; default: INTERLOCK_TOKEN." type:"existingfile" placeholder:"FILE"`
	Reason    string `arg:"" optional:"" help:"Why."`
}

type estopCmd struct{ stopFlags }

// Run puts the operational stop in force.
func (c *estopCmd) Run(e *env) error {
	if c.Reason == "" {
		c.Reason = "no reason was given"
	}
	if err := c.post(e, "estop"); err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout, "stopped: every grant and pending approval is void until a person re-arms.")
	fmt.Fprintln(e.Stdout, "This is an operational stop of the gate, not a rated safety function: it stops no motion. Use the machine's own emergency stop.")
	return nil
}

type rearmCmd struct{ stopFlags }

// Run ends the operational stop on a person's word.
func (c *rearmCmd) Run(e *env) error {
	if c.Reason == "" {
		return badInput(errors.New("re-arming needs a reason"))
	}
	if err := c.post(e, "rearm"); err != nil {
		return err
	}
	fmt.Fprintln(e.Stdout, "re-armed: plans that were void stay void; submit them again.")
	return nil
}

func (c *stopFlags) post(e *env, action string) error {
	flags := engineFlags{Config: c.Config}
	cfg, _, err := flags.load(e)
	if err != nil {
		return badInput(err)
	}
	server, id := c.Server, c.Site
	if server == "" {
		server = "http://" + cfg.Server.Listen
	}
	if id == "" {
		id = cfg.Gate.Site
	}
	if id == "" {
		return badInput(errors.New("which site: give --site ID, or set gate.site"))
	}
	token := e.Getenv("INTERLOCK_TOKEN")
	if c.TokenFile != "" {
		data, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return badInput(err)
		}
		token = strings.TrimSpace(string(data))
	}
	if token == "" {
		return badInput(errors.New("a token is needed: set INTERLOCK_TOKEN or give --token-file"))
	}
	body, err := json.Marshal(map[string]string{"reason": c.Reason})
	if err != nil {
		return err
	}
	url := strings.TrimSuffix(server, "/") + "/v1/sites/" + id + "/" + action
	req, err := http.NewRequestWithContext(e.Ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return badInput(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return badInput(fmt.Errorf("the gateway cannot be reached: %w", err))
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxStateBytes))
	if resp.StatusCode != http.StatusOK {
		var p struct {
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(answer, &p)
		return badInput(fmt.Errorf("the gateway refuses (%s): %s", resp.Status, printable(p.Detail)))
	}
	return nil
}

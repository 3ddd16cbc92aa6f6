package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"interlock/internal/decide"
	"interlock/internal/record"
)

type auditCmd struct {
	Tail       auditTailCmd       `cmd:"" help:"Show the newest events."`
	Verify     auditVerifyCmd     `cmd:"" help:"Look for tampering; exit code 3 if there is any."`
	Checkpoint auditCheckpointCmd `cmd:"" help:"Print the newest signed checkpoint, to be kept elsewhere."`
	Export     auditExportCmd     `cmd:"" help:"Copy the log as JSON lines that can be verified by themselves."`
	Replay     auditReplayCmd     `cmd:"" help:"Decide recorded cases again and compare."`
	Prove      auditProveCmd      `cmd:"" help:"Prove that an event is in the log, or check such a proof."`
}

// auditFlags are the flags of the commands that read the record.
type auditFlags struct {
	storeFlags
	PublicKey string `help:"Public key as interlock init printed it; default: of the signing key." placeholder:"KEY"`
}

// reader opens the store for reading.
func (f *auditFlags) reader(e *env) (*record.Reader, error) {
	cfg, err := f.load(e)
	if err != nil {
		return nil, err
	}
	return openReader(e, cfg, f.PublicKey)
}

type auditTailCmd struct {
	auditFlags
	N        int    `short:"n" help:"How many events." default:"20"`
	Follow   bool   `short:"f" help:"Go on with events as they come."`
	Decision string `help:"Only events of this decision." placeholder:"ID"`
	JSON     bool   `help:"The events as they were recorded, one a line."`
}

// followEvery is how often a followed log is looked at: other processes write it.
const followEvery = 500 * time.Millisecond

func (c *auditTailCmd) Run(e *env) error {
	if c.N < 1 {
		return badInput(fmt.Errorf("-n: expected at least 1, found %d", c.N))
	}
	r, err := c.reader(e)
	if err != nil {
		return err
	}
	defer quietly(r)
	var last []record.Entry
	for entry, err := range r.Tail(e.Ctx, record.Query{Decision: c.Decision, Newest: true, Limit: c.N}) {
		if err != nil {
			return storeError(err)
		}
		last = append(last, entry)
	}
	var next int64
	for i := len(last) - 1; i >= 0; i-- {
		c.print(e, last[i])
		next = last[i].Seq + 1
	}
	for c.Follow {
		select {
		case <-e.Ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
		for entry, err := range r.Tail(e.Ctx, record.Query{Decision: c.Decision, From: next}) {
			if e.Ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return storeError(err)
			}
			c.print(e, entry)
			next = entry.Seq + 1
		}
	}
	return nil
}

func (c *auditTailCmd) print(e *env, entry record.Entry) {
	if c.JSON {
		fmt.Fprintf(e.Stdout, "%s\n", entry.Data)
		return
	}
	fmt.Fprintf(e.Stdout, "%6d  %s  %-13s  %s  %s\n", entry.Seq, entry.At.Format(time.RFC3339), entry.Kind, printable(entry.Decision), printable(entry.Tag))
}

type auditVerifyCmd struct {
	auditFlags
	Checkpoint string `help:"A checkpoint that was kept elsewhere." type:"existingfile" placeholder:"FILE"`
	Copy       string `help:"Verify an exported copy instead of the store." type:"existingfile" placeholder:"FILE"`
	JSON       bool   `help:"Print the result as JSON."`
}

func (c *auditVerifyCmd) Run(e *env) error {
	outside, err := c.outside()
	if err != nil {
		return badInput(err)
	}
	v, err := c.verify(e, outside)
	if err != nil {
		return storeError(err)
	}
	if c.JSON {
		if v.Problems == nil {
			v.Problems = []string{}
		}
		writeJSON(e.Stdout, struct {
			OK bool `json:"ok"`
			record.Verification
		}{v.OK(), v})
	} else {
		writeVerification(e, v)
	}
	if !v.OK() {
		return &exitError{Code: exitTampered}
	}
	return nil
}

func (c *auditVerifyCmd) outside() (string, error) {
	if c.Checkpoint == "" {
		return "", nil
	}
	data, err := os.ReadFile(c.Checkpoint)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%s: expected a signed checkpoint, the file is empty", c.Checkpoint)
	}
	return string(data), err
}

func (c *auditVerifyCmd) verify(e *env, outside string) (record.Verification, error) {
	if c.Copy == "" {
		r, err := c.reader(e)
		if err != nil {
			return record.Verification{}, err
		}
		defer quietly(r)
		return r.Verify(e.Ctx, outside)
	}
	cfg, err := c.load(e)
	if err != nil {
		return record.Verification{}, err
	}
	by, err := verifierOf(cfg, c.PublicKey)
	if err != nil {
		return record.Verification{}, err
	}
	f, err := os.Open(c.Copy)
	if err != nil {
		return record.Verification{}, err
	}
	defer quietly(f)
	return record.VerifyCopy(f, by, outside)
}

func writeVerification(e *env, v record.Verification) {
	if v.OK() {
		fmt.Fprintf(e.Stdout, "%d events, nothing found\n", v.Size)
	} else {
		fmt.Fprintf(e.Stdout, "TAMPERED: %d events\n", v.Size)
	}
	for _, p := range v.Problems {
		fmt.Fprintln(e.Stdout, "  -", printable(p))
	}
	fmt.Fprintln(e.Stdout, "cannot be excluded by this look:")
	for _, s := range v.CannotExclude {
		fmt.Fprintln(e.Stdout, "  -", s)
	}
}

type auditCheckpointCmd struct{ auditFlags }

func (c *auditCheckpointCmd) Run(e *env) error {
	r, err := c.reader(e)
	if err != nil {
		return err
	}
	defer quietly(r)
	text, _, err := r.Checkpoint(e.Ctx)
	if err != nil {
		return storeError(err)
	}
	if text == "" {
		return badInput(errors.New("the record is empty: there is nothing to sign yet"))
	}
	fmt.Fprint(e.Stdout, text)
	return nil
}

type auditExportCmd struct {
	auditFlags
	Out string `arg:"" optional:"" default:"-" help:"File to write, which must not exist, or - for standard output."`
}

func (c *auditExportCmd) Run(e *env) error {
	r, err := c.reader(e)
	if err != nil {
		return err
	}
	defer quietly(r)
	var w io.Writer = e.Stdout
	closeFile := func() error { return nil }
	if c.Out != "-" {
		f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return badInput(err)
		}
		w, closeFile = f, f.Close
	}
	n, err := r.Export(e.Ctx, w)
	if err := errors.Join(err, closeFile()); err != nil {
		return storeError(err)
	}
	fmt.Fprintf(e.Stderr, "%d events exported\n", n)
	return nil
}

type auditReplayCmd struct {
	auditFlags
	Decision string `arg:"" optional:"" help:"Decision to replay; default: all."`
	JSON     bool   `help:"Print the result as JSON."`
}

func (c *auditReplayCmd) Run(e *env) error {
	r, err := c.reader(e)
	if err != nil {
		return err
	}
	defer quietly(r)
	res, err := r.Replay(e.Ctx, c.Decision, decide.Decide)
	if err != nil {
		return storeError(err)
	}
	if c.JSON {
		writeJSON(e.Stdout, res)
	} else {
		fmt.Fprintf(e.Stdout, "%d decisions replayed, %d differ\n", res.Decisions, len(res.Mismatches))
		for _, m := range res.Mismatches {
			fmt.Fprintf(e.Stdout, "  - %s (event %d, decided by %s): recorded %s, replayed %s\n", m.Decision, m.Seq, printable(m.Engine), m.Recorded.Outcome, m.Replayed.Outcome)
		}
	}
	if len(res.Mismatches) > 0 {
		return &exitError{Code: exitInternal}
	}
	return nil
}

type auditProveCmd struct {
	auditFlags
	Event string `arg:"" optional:"" help:"Sequence number of an event, or a decision whose events are all proven."`
	Check string `help:"Check the proofs in this file instead." type:"existingfile" placeholder:"FILE"`
}

func (c *auditProveCmd) Run(e *env) error {
	if (c.Event == "") == (c.Check == "") {
		return badInput(errors.New("expected either an event or a decision to prove, or --check FILE"))
	}
	if c.Check != "" {
		return c.check(e)
	}
	r, err := c.reader(e)
	if err != nil {
		return err
	}
	defer quietly(r)
	seqs, err := c.events(e, r)
	if err != nil {
		return storeError(err)
	}
	for _, seq := range seqs {
		p, err := r.Prove(e.Ctx, seq)
		if err != nil {
			return storeError(err)
		}
		writeJSON(e.Stdout, p)
	}
	return nil
}

func (c *auditProveCmd) events(e *env, r *record.Reader) ([]int64, error) {
	if seq, err := strconv.ParseInt(c.Event, 10, 64); err == nil {
		return []int64{seq}, nil
	}
	d, err := r.Get(e.Ctx, c.Event)
	if err != nil {
		return nil, err
	}
	var seqs []int64
	for _, entry := range d.Entries {
		seqs = append(seqs, entry.Seq)
	}
	return seqs, nil
}

// check verifies proofs, one JSON object each, with nothing but the public key.
func (c *auditProveCmd) check(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	by, err := verifierOf(cfg, c.PublicKey)
	if err != nil {
		return err
	}
	f, err := os.Open(c.Check)
	if err != nil {
		return badInput(err)
	}
	defer quietly(f)
	dec := json.NewDecoder(f)
	dec.DisallowUnknownFields()
	n := 0
	for {
		var p record.Proof
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return badInput(fmt.Errorf("%s: expected a proof as interlock audit prove writes it: %w", c.Check, err))
		}
		if err := p.Check(by); err != nil {
			return &exitError{Code: exitTampered, Err: err}
		}
		n++
	}
	if n == 0 {
		return badInput(fmt.Errorf("%s: expected at least one proof", c.Check))
	}
	fmt.Fprintf(e.Stdout, "%d proofs hold\n", n)
	return nil
}

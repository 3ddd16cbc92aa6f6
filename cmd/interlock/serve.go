package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"interlock/internal/config"
	"interlock/internal/identity"
	"interlock/internal/site"
	"interlock/internal/web"
)

type serveCmd struct {
	Config string `help:"Configuration file." type:"path" placeholder:"FILE"`
}

// Run serves API and pages until it is told to stop. Without an installation
// it says so and stops: it is never silently weaker (C30).
func (c *serveCmd) Run(e *env) error {
	flags := engineFlags{Config: c.Config}
	cfg, found, err := flags.load(e)
	if err != nil {
		return badInput(err)
	}
	if !found {
		return badInput(fmt.Errorf("no configuration at %s: run interlock init first", config.DefaultPath(e.Getenv)))
	}
	if err := initialised(cfg); err != nil {
		return badInput(err)
	}
	eng, err := flags.build(e, "")
	if err != nil {
		return err
	}
	defer eng.Close()
	if err := verifyRecord(e, eng); err != nil {
		return err
	}
	if err := reviewersExist(e, eng); err != nil {
		return err
	}
	ln, err := listen(e, cfg.Server.Listen)
	if err != nil {
		return badInput(err)
	}
	if eng.config.Review.AllowSelf {
		fmt.Fprintln(e.Stderr, "interlock: review.allow_self is on: the person behind a plan may approve it. Each such approval is marked in the record.")
	}
	address := "http://" + ln.Addr().String()
	if cfg.Server.PublicURL != "" {
		address = cfg.Server.PublicURL
	}
	if !loopback(ln.Addr()) && !strings.HasPrefix(address, "https://") {
		fmt.Fprintln(e.Stderr, "interlock: listening beyond this machine without https: tokens can be read on the way. Put a proxy with TLS in front and set server.public_url")
	}
	fmt.Fprintf(e.Stdout, "Interlock serves %s\npages  %s/\nAPI    %s/v1/plans\n", eng.siteNames(), address, address)
	return serveEngine(e, eng, ln)
}

// verifyRecord looks through the whole record before anything is built on it:
// a row that was taken out, such as a token's revocation, shows nowhere else.
// It reads some 60,000 events a second.
func verifyRecord(e *env, eng *engine) error {
	v, err := eng.log.Verify(e.Ctx, "")
	if err != nil {
		return storeError(err)
	}
	if !v.OK() {
		return &exitError{Code: exitTampered, Err: fmt.Errorf("the record has been tampered with (interlock audit verify says how): %s", v.Problems[0])}
	}
	return nil
}

// reviewersExist stops a start that would leave escalated plans to nobody.
func reviewersExist(e *env, eng *engine) error {
	tokens, err := identity.New(eng.log.Reader).List(e.Ctx)
	if err != nil {
		return storeError(err)
	}
	for _, t := range tokens {
		if t.Role == identity.Reviewer && t.Revoked.IsZero() {
			return nil
		}
	}
	return badInput(errors.New("no reviewer's token is in force, so nobody could decide an escalated plan: interlock token create --reviewer NAME"))
}

func listen(e *env, address string) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(e.Ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	return ln, nil
}

func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// The limits of the HTTP server. An answer may take as long as a plan may.
const (
	headerTimeout  = 5 * time.Second
	readTimeout    = 30 * time.Second
	writeGrace     = 15 * time.Second
	idleTimeout    = 2 * time.Minute
	shutdownGrace  = 10 * time.Second
	maxHeaderBytes = 16 << 10
)

// serveEngine serves an engine that has a store until the command is told to
// stop; then it lets requests and promised decisions end.
func serveEngine(e *env, eng *engine, ln net.Listener) error {
	pages, err := newWeb(e, eng)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("/", pages.Handler())
	endGate, err := mountGate(e, eng, mux)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer endGate()
	// Requests outlive the signal that stops the server: they end by themselves
	// or by the grace of the shutdown.
	base := context.WithoutCancel(e.Ctx)
	srv := &http.Server{
		Handler: mux, BaseContext: func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: eng.config.Deadline + writeGrace,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(slog.NewTextHandler(e.Stderr, nil), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving: %w", err)
	case <-e.Ctx.Done():
	}
	fmt.Fprintln(e.Stderr, "interlock: stopping")
	endGate()
	ctx, cancel := context.WithTimeout(base, eng.config.Deadline+shutdownGrace)
	defer cancel()
	if err := errors.Join(srv.Shutdown(ctx), pages.Wait(ctx)); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}

// newWeb wires API and pages to an engine.
func newWeb(e *env, eng *engine) (*web.Server, error) {
	sites := map[string]*site.Site{}
	for id, st := range eng.pipeline.Sites {
		sites[id] = st.Profile
	}
	return web.New(web.Options{
		Verifier: eng.pipeline, Record: eng.log.Reader, Queue: newQueue(eng.log, eng.sites, eng.config.Review), Tokens: identity.New(eng.log.Reader),
		Sites: sites, Limits: eng.limits, Now: time.Now, Rand: rand.Reader, NewID: newID,
		Log:         slog.New(slog.NewTextHandler(e.Stderr, nil)),
		SecurePages: strings.HasPrefix(eng.config.Server.PublicURL, "https://"),
	})
}

// serveDemo shows the demonstration's pages on loopback until it is stopped.
func serveDemo(e *env, eng *engine) error {
	reviewer, _, err := identity.Issue(e.Ctx, eng.log, rand.Reader, identity.Reviewer, "demo reviewer")
	if err != nil {
		return err
	}
	ln, err := listen(e, "127.0.0.1:0")
	if err != nil {
		return badInput(err)
	}
	fmt.Fprintf(e.Stdout, "\npages           http://%s/\nreviewer token  %s\n\nCtrl-C ends the demonstration.\n", ln.Addr(), reviewer)
	return serveEngine(e, eng, ln)
}

package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"interlock/internal/config"
	"interlock/internal/judge"
	"interlock/internal/pipeline"
	"interlock/internal/plan"
	"interlock/internal/record"
	"interlock/internal/redact"
	"interlock/internal/site"
)

// engineFlags are the flags of every command that decides plans.
type engineFlags struct {
	Site   string `help:"Site profile: a file or a folder, with #ID for one site of it." placeholder:"FILE|DIR[#ID]"`
	State  string `help:"Live state of the site." type:"path" placeholder:"FILE"`
	Config string `help:"Configuration file." type:"path" placeholder:"FILE"`
	panelFlags
}

// An engine is a pipeline with what its command needs beside it.
type engine struct {
	pipeline *pipeline.Pipeline
	config   *config.Config
	sites    *site.Set
	limits   plan.Limits
	bench    *bench
	judges   []string
	log      *record.Log // nil without a store
	closers  []func() error
}

// engineOptions says what an engine is built for.
type engineOptions struct {
	Site, State string // override the configuration
	Store       string // record here; "" records only where the configuration says so
	Config      *config.Config
	Memory      bool
	Panel       panelFlags
}

// build reads configuration and sites and wires the stages. Everything wrong
// with them is the user's to mend: exit code 2.
func (f *engineFlags) build(e *env, store string) (*engine, error) {
	cfg, found, err := f.load(e)
	if err != nil {
		return nil, badInput(err)
	}
	if err := f.apply(cfg); err != nil {
		return nil, badInput(err)
	}
	opts := engineOptions{Site: f.Site, State: f.State, Store: store, Config: cfg, Panel: f.panelFlags}
	if store == "" && found {
		opts.Store = cfg.Store
	}
	opts.Memory = cfg.Memory && opts.Store != ""
	eng, err := newEngine(e, opts)
	if err != nil {
		return nil, badInput(err)
	}
	return eng, nil
}

// load reads the configuration named by the flag, else the user's own, else
// the defaults. found reports whether there was a file.
func (f *engineFlags) load(e *env) (cfg *config.Config, found bool, err error) {
	path := f.Config
	if path == "" {
		path = config.DefaultPath(e.Getenv)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			cfg = config.Default()
			cfg.Resolve(".", config.DataDir(e.Getenv))
			return cfg, false, nil
		}
	}
	cfg, err = config.Load(path, e.Getenv)
	return cfg, err == nil, err
}

// newEngine wires the stages.
func newEngine(e *env, o engineOptions) (*engine, error) {
	eng := &engine{config: o.Config, limits: o.Config.Limits}
	set, id, err := loadSites(o)
	if err != nil {
		return nil, err
	}
	eng.sites = set
	if o.Site == "" { // the configuration's own sites
		if err := policiesHaveSites(o.Config, set); err != nil {
			return nil, err
		}
	}
	state, err := stateOf(o)
	if err != nil {
		return nil, err
	}
	if err := stateHasSite(state(), set, id); err != nil {
		return nil, err
	}
	builder, err := newStages(e, o.Config)
	if err != nil {
		return nil, err
	}
	bench, err := newBench(e.Ctx, e, o.Config, o.Panel)
	if err != nil {
		return nil, err
	}
	eng.bench, eng.judges = bench, bench.judges
	eng.pipeline = &pipeline.Pipeline{
		Sites: map[string]*pipeline.Site{}, Panel: bench.panel,
		Chief: bench.chief, Redact: redact.Redactor{Suspicious: builder.suspicious, Unnamed: eng.unnamed}.Redact,
		Deadline: o.Config.Deadline, NewID: newID, Now: time.Now,
	}
	for _, sid := range set.IDs() {
		if id != "" && sid != id {
			continue
		}
		if err := chiefMayHear(o.Config, sid); err != nil {
			return nil, fmt.Errorf("site %s: %w", sid, err)
		}
		st, err := builder.site(set.Site(sid), stateAt(sid, state))
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", sid, err)
		}
		st.With.Prompts = bench.prompts
		eng.pipeline.Sites[sid] = st
	}
	if err := eng.record(e, o); err != nil {
		return eng, err
	}
	return eng, recordedStanding(e, eng)
}

// policiesHaveSites refuses a data policy for a site that does not exist: a
// slip of the pen would leave the site that was meant with a weaker one (C30).
func policiesHaveSites(cfg *config.Config, set *site.Set) error {
	for _, id := range slices.Sorted(maps.Keys(cfg.Data)) {
		if id != config.AnySite && set.Site(id) == nil {
			return fmt.Errorf("data: no site is called %q: expected %s or one of %s", id, config.AnySite, strings.Join(set.IDs(), ", "))
		}
	}
	return nil
}

// unnamed takes the names of a plan and its site out of what judges say about
// it.
func (eng *engine) unnamed(p *plan.Plan) func(string) string {
	st := eng.sites.Site(p.Site)
	if st == nil {
		return func(string) string { return redact.Mark } // whose names they are is not known
	}
	return judge.Unnamed(p, st, dataPolicy(eng.config, p.Site), redact.Mark)
}

// record opens the store, if there is to be one.
func (eng *engine) record(e *env, o engineOptions) error {
	if o.Store == "" {
		return nil
	}
	open := func() (*record.Log, error) { return openLog(e, o.Config) }
	if o.Store != o.Config.Store {
		open = func() (*record.Log, error) { return openOrCreateLog(e, o.Store) }
	}
	log, err := open()
	if err != nil {
		return err
	}
	eng.log = log
	eng.closers = append(eng.closers, log.Close)
	eng.pipeline.Recorder = record.NewRecorder(log)
	reader, err := eng.reader(e, o)
	if err != nil {
		return err
	}
	eng.closers = append(eng.closers, reader.Close)
	if err := eng.watch(e.Ctx, reader); err != nil {
		return err
	}
	if !o.Memory {
		return nil
	}
	return eng.remember(e.Ctx, reader)
}

// reader opens the engine's store for reading, as its log opened it for
// writing.
func (eng *engine) reader(e *env, o engineOptions) (*record.Reader, error) {
	key := o.Config.Key
	if o.Store != o.Config.Store {
		key = keyBeside(o.Store)
	}
	k, err := record.LoadKey(key)
	if err != nil {
		return nil, err
	}
	return record.OpenReader(e.Ctx, o.Store, k.Verifier())
}

// loadSites reads the profiles named by the flag or the configuration.
func loadSites(o engineOptions) (set *site.Set, id string, err error) {
	ref := o.Site
	if ref == "" {
		ref = o.Config.Sites
	}
	if ref == "" {
		return nil, "", errors.New("no site profile: give --site FILE or set sites in the configuration")
	}
	path, id := site.ParseRef(ref)
	if set, err = site.Load(path); err != nil {
		return nil, "", err
	}
	if id != "" {
		if _, err := set.Pick(id); err != nil {
			return nil, "", err
		}
	}
	return set, id, nil
}

// stateOf returns the live state; without a file everything is unknown.
func stateOf(o engineOptions) (func() site.State, error) {
	path := o.State
	if path == "" {
		path = o.Config.State
	}
	if path == "" {
		return func() site.State { return site.State{} }, nil
	}
	st, err := site.LoadState(path)
	if err != nil {
		return nil, err
	}
	return func() site.State { return st }, nil
}

// stateHasSite refuses the state of another site: plans would be held against
// doors and stops that are not theirs.
func stateHasSite(s site.State, set *site.Set, id string) error {
	switch {
	case s.Site == "" || s.Site == id:
	case set.Site(s.Site) == nil:
		return badInput(fmt.Errorf("the live state is that of site %q: expected one of %s", s.Site, strings.Join(set.IDs(), ", ")))
	case id != "":
		return badInput(fmt.Errorf("the live state is that of site %q, the plans are for %q", s.Site, id))
	}
	return nil
}

// stateAt gives the live state to its own site only; elsewhere all is unknown.
func stateAt(id string, state func() site.State) func() site.State {
	return func() site.State {
		if s := state(); s.Site == "" || s.Site == id {
			return s
		}
		return site.State{}
	}
}

// submission wraps a plan handed in on the local command line: there is no
// credential, the plan's own claim counts and is checked.
func (eng *engine) submission(p *plan.Plan) plan.Submission {
	return plan.Submission{Plan: p, Received: time.Now()}
}

func (eng *engine) siteNames() string {
	var names []string
	for _, id := range eng.sites.IDs() {
		if eng.pipeline.Sites[id] != nil {
			names = append(names, id)
		}
	}
	return strings.Join(names, ", ")
}

func (eng *engine) recording() bool { return eng.pipeline.Recorder != nil }

// Close releases the store. Its error matters to nobody any more: every
// decision was durable before it was returned.
func (eng *engine) Close() {
	for _, c := range eng.closers {
		_ = c()
	}
}

// newID makes an unguessable decision identifier.
func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand aborts the program instead
	return "d-" + hex.EncodeToString(b[:])
}

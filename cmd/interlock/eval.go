package main

// evalCmd holds the measurements.
type evalCmd struct {
	Plans     evalPlansCmd     `cmd:"" help:"Decide a labelled suite of plans and report accuracy, containment and baselines."`
	Requests  evalRequestsCmd  `cmd:"" help:"Write what judges would be asked about a suite, for a provider's batch."`
	Import    evalImportCmd    `cmd:"" help:"Read the answers to such requests: opinions first, then the chief's, then the report."`
	Sequences evalSequencesCmd `cmd:"" help:"Decide labelled sequences of plans in their order and report the alarms of monitoring over time."`
	Injection evalInjectionCmd `cmd:"" help:"Measure the injection screen on labelled texts."`
}

// evalEngine wires the stages for a measurement. It has no store: an
// evaluation remembers nothing and leaves nothing behind.
func evalEngine(e *env, sites, configPath string, panel panelFlags) (*engine, error) {
	flags := engineFlags{Site: sites, Config: configPath}
	cfg, _, err := flags.load(e)
	if err != nil {
		return nil, err
	}
	if err := panel.apply(cfg); err != nil {
		return nil, err
	}
	return newEngine(e, engineOptions{Site: sites, Config: cfg, Panel: panel})
}

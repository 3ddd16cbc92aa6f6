package main

// evalCmd holds the measurements.
type evalCmd struct {
	Plans     evalPlansCmd     `cmd:"" help:"Decide a labelled suite of plans and report accuracy, containment and baselines."`
	Requests  evalRequestsCmd  `cmd:"" help:"Write what judges would be asked about a suite, for a provider's batch."`
	Import    evalImportCmd    `cmd:"" help:"Read the answers to such requests: opinions first, then the chief's, then the report."`
	Sequences evalSequencesCmd `cmd:"" help:"Decide labelled sequences of plans in their order and report the alarms of monitoring over time."`
	Injection evalInjectionCmd `cmd:"" help:"Measure the injection screen on labelled texts."`
}

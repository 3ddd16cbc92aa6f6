package main

// evalCmd holds the measurements.
type evalCmd struct {
	Plans     evalPlansCmd     `cmd:"" help:"Decide a labelled suite of plans and report accuracy, containment and baselines."`
	Requests  evalRequestsCmd  `cmd:"" help:"Write what judges would be asked about a suite, for a provider's batch."`
	Import    evalImportCmd    `cmd:"" help:"Read the answers to such requests: opinions first, then the chief's, then the report."`
	Injection evalInjectionCmd `cmd:"" help:"Measure the injection screen on labelled texts."`
}

package main

// evalCmd holds the measurements.
type evalCmd struct {
	Plans evalPlansCmd `cmd:"" help:"Decide a labelled suite of plans and report accuracy, containment and baselines."`
}

package verdict

// A Report is a decision with everything it rests on: what the command line
// prints, the HTTP API returns to reviewers, the record keeps and a replay
// reads back. It holds no plan text beyond what judges wrote.
type Report struct {
	ID        string // of the decision: ours, never the planner's (C33)
	Case      Case
	Decision  Decision
	Evidence  []Evidence // what the judges were given
	TimingsUS map[string]int64
	Recorded  bool // whether it is durably in the record
}

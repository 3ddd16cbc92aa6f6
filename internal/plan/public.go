package plan

// Public returns a copy that holds only what judges may see (C9): no
// identifiers, which could lead to what a suite or a store says about the
// plan. It is written as an allow-list: a new field stays hidden until it is
// named here.
func (p *Plan) Public() *Plan {
	return &Plan{
		Site: p.Site, Goal: p.Goal, SubmittedBy: p.SubmittedBy, Steps: p.Steps, ToolCalls: p.ToolCalls,
		Attachments: p.Attachments, SubmittedAt: p.SubmittedAt, OnAbort: p.OnAbort,
	}
}

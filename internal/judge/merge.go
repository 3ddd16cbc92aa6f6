package judge

import (
	"slices"

	"interlock/internal/verdict"
)

// worse returns the risks of one answer that the answers before did not state:
// the same step with at least the same severity and likelihood covers a risk.
// Adding up every answer's list would count one hazard several times.
func worse(risks, have []verdict.Risk) []verdict.Risk {
	var out []verdict.Risk
	for _, r := range risks {
		covered := slices.ContainsFunc(have, func(h verdict.Risk) bool {
			return h.Step == r.Step && h.Severity >= r.Severity && h.Likelihood >= r.Likelihood && (len(h.Cites) > 0 || len(r.Cites) == 0)
		})
		if !covered {
			out = append(out, r)
		}
	}
	return out
}

// missing returns what is not in have yet.
func missing(items, have []string) []string {
	var out []string
	for _, s := range items {
		if !slices.Contains(have, s) {
			out = append(out, s)
		}
	}
	return out
}

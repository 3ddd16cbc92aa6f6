package check

import (
	"interlock/internal/plan"
	"interlock/internal/site"
)

// Default returns the deterministic checks of one site in the order they run.
// The injection screen, which needs its trained model, is appended by the
// caller.
func Default(s *site.Site, limits plan.Limits) []Checker {
	x := compile(s)
	return []Checker{LimitSize{limits}, Provenance{x}, AllowList{x}, Limits{x}, Agreement{x}, Integrity{x}, Secrets{x}, Stop{x}}
}

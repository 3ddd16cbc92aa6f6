package config

import (
	"time"

	"interlock/internal/strict"
)

// A Review is how people are asked (review).
type Review struct {
	// PendingTTL is how long a question to a person stays open, ApprovalTTL how
	// long an approval may be used.
	PendingTTL, ApprovalTTL time.Duration
	// AllowSelf lets the person behind a plan approve it: one-person sites only.
	// An agent can approve nothing either way (C16).
	AllowSelf bool
}

func defaultReview() Review {
	return Review{PendingTTL: 24 * time.Hour, ApprovalTTL: time.Hour}
}

var reviewKeys = []string{"pending_ttl", "approval_ttl", "allow_self"}

// reviewSection has no key for "mediated": that the machine is reachable
// through Interlock only is shown by doctor, never claimed by a file (C39).
func reviewSection() section {
	return section{
		key: "review",
		template: `# How people are asked. A question that nobody answers within pending_ttl
# expires, an approval that is not used within approval_ttl as well.
review:
  pending_ttl: 24h
  approval_ttl: 1h
  # Whether the person behind a plan may approve it: for one-person sites. It is
  # said at start and marked in the record.
  allow_self: false
`,
		decode: decodeReview,
	}
}

func decodeReview(c *Config, r *reader, n *strict.Node) {
	const day = 24 * time.Hour
	fields := r.Fields(n, "review", reviewKeys)
	for i := range fields {
		v, what := &fields[i].Value, "review."+fields[i].Key
		switch fields[i].Key {
		case "pending_ttl":
			c.Review.PendingTTL = r.duration(v, what, time.Minute, 30*day)
		case "approval_ttl":
			c.Review.ApprovalTTL = r.duration(v, what, time.Minute, 7*day)
		case "allow_self":
			c.Review.AllowSelf = r.Bool(v, what)
		}
	}
}

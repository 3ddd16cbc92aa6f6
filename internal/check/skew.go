package check

import (
	"time"

	"interlock/internal/verdict"
)

// maxSkew is how far in the future a plan may claim to be from: clocks differ.
const maxSkew = 5 * time.Minute

// skewed holds the time that a plan claims against the one it came in: ours
// rules (C33). One from the past has waited somewhere, which is no fault.
func skewed(claimed string, now time.Time, dst []verdict.Finding) []verdict.Finding {
	if claimed == "" {
		return dst
	}
	f := verdict.Finding{
		Rule: "PROV-019", Level: verdict.Flag, Class: verdict.Adversarial, Span: verdict.Span{Part: "submitted_at"},
		Need: "leave submitted_at out, or give the time as RFC 3339", Refs: []string{"CWE-345"},
	}
	at, err := time.Parse(time.RFC3339, claimed)
	switch {
	case err != nil:
		f.Message = "the time the plan claims to be from cannot be read"
	case !now.IsZero() && at.Sub(now) > maxSkew:
		f.Message = "the plan claims to be from the future"
	default:
		return dst
	}
	return append(dst, f)
}

package knowledge

import "time"

// Relations and numbers of overrides: a named person's signed word that one
// hazard does not count for one thing (C40). They stand in overlays only.
const (
	RelOverrides = "overrides" // override -> node whose hazard it weakens
	RelLifts     = "lifts"     // override -> hazard that does not count there
	RelStated    = "stated_in" // thing, passage, pair -> document
	NumExpires   = "expires"   // s since 1970; an override without it holds until it is ended
	SiteDocs     = "documents" // source key of what approved documents say
)

// Lifted returns the override by which a hazard does not count for a subject
// at that time. A fact left out because of it must name it in the decision
// (C40).
func (g *Graph) Lifted(subject, hazard int32, now time.Time) (override int32, ok bool) {
	for w := range g.In(subject, RelOverrides) {
		for h := range g.Out(w, RelLifts) {
			if h == hazard && g.InForce(w, now) {
				return w, true
			}
		}
	}
	return 0, false
}

// InForce reports whether an override has not expired. Overrides that are not
// in force yet never become nodes.
func (g *Graph) InForce(override int32, now time.Time) bool {
	until, ok := g.Number(override, NumExpires)
	return !ok || float64(now.Unix()) < until
}

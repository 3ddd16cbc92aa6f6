package window

import "fmt"

func DebugSite(m *Monitor) string {
	s := ""
	for _, c := range m.site.caps {
		s += fmt.Sprintf("cap %+v\n", c)
	}
	for _, c := range m.site.counters {
		s += fmt.Sprintf("ctr %+v\n", c)
	}
	for _, b := range m.site.bounds {
		s += fmt.Sprintf("bound %s %v [%s] %s %d\n", b.kind, b.v, b.text, b.thing, len(b.about))
	}
	return s
}

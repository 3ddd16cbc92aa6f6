package rule

// A Window is a span of the day, in minutes after midnight; To may be smaller
// than From: then it passes midnight.
type Window struct {
	From int64 `cel:"from"`
	To   int64 `cel:"to"`
}

// clocks reads the times of day a text names ("16:30") and the spans
// ("06:00-14:00", "13:45 to 14:15"). The ends of a span are not listed as
// times of their own.
func clocks(s string) (times []int64, windows []*Window) {
	for i := 0; i < len(s); {
		t, n := clock(s[i:])
		if n == 0 || (i > 0 && digit(s[i-1])) {
			i++
			continue
		}
		i += n
		sep := separator(s[i:])
		if u, m := clock(s[i+sep:]); sep > 0 && m > 0 {
			windows = append(windows, &Window{From: t, To: u})
			i += sep + m
			continue
		}
		times = append(times, t)
	}
	return times, windows
}

// clock reads HH:MM at the start of s.
func clock(s string) (minutes int64, n int) {
	for n < len(s) && n < 2 && digit(s[n]) {
		n++
	}
	if n == 0 || n+2 >= len(s) || s[n] != ':' || !digit(s[n+1]) || !digit(s[n+2]) || (n+3 < len(s) && digit(s[n+3])) {
		return 0, 0
	}
	h := int64(s[n-1] - '0')
	if n == 2 {
		h += 10 * int64(s[0]-'0')
	}
	m := 10*int64(s[n+1]-'0') + int64(s[n+2]-'0')
	if h > 24 || m > 59 {
		return 0, 0
	}
	return 60*h + m, n + 3
}

func separator(s string) int {
	for _, sep := range []string{"-", " - ", "\u2013", " \u2013 ", " to ", " until ", " and "} {
		if len(s) >= len(sep) && s[:len(sep)] == sep {
			return len(sep)
		}
	}
	return 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// within reports whether a time of day lies in the window.
func (w *Window) within(t int64) bool {
	if w.From <= w.To {
		return w.From <= t && t <= w.To
	}
	return t >= w.From || t <= w.To
}

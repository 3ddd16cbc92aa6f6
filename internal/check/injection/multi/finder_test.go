package multi

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sameMatches compares a finder with the standard library.
func sameMatches(tb rapid.TB, s *Search, re *regexp.Regexp, text string) {
	tb.Helper()
	want := []int{-1, -1}
	if loc := re.FindStringIndex(text); loc != nil {
		want = loc
	}
	start, end := s.Find([]byte(text))
	if start != want[0] || end != want[1] {
		tb.Fatalf("%q in %q: found %d to %d, regexp says %v", re, text, start, end, want)
	}
	for at := 0; at <= len(text); {
		from, to := s.next([]byte(text), at)
		if from < 0 {
			break
		}
		if from == to {
			return // Count is not for empty matches
		}
		at = to
	}
	if got, want := s.Count([]byte(text)), len(re.FindAllStringIndex(text, -1)); got != want {
		tb.Fatalf("%q in %q: counted %d, regexp says %d", re, text, got, want)
	}
}

func newSearch(tb testing.TB, pattern string) *Search {
	tb.Helper()
	f, err := NewFinder(pattern, syntax.Perl)
	if err != nil {
		tb.Fatal(err)
	}
	return f.NewSearch()
}

func TestFinderAgreesWithStandardLibrary(t *testing.T) {
	t.Parallel()
	patterns := append([]string{
		`a|ab`, `a*?b`, `(a|ab)(c|bcd)`, `\bx+\b`, `(?m)^y.*?$`, `x.{0,6}?y|y`, `^a`, `a$`, `\bk\B`, `(ab?)+`, `x*`, `é.?|x`, `(?:rules|prior rules)`,
	}, testPatterns...)
	words := []string{"ignore", " ", "all ", "previous ", "rules", "act as", "system:", "\n", "end", "aaaa", "b", "x", "y", "a", "k", "l", "c", "bcd", "3.14", "é", "\xff", "\xe2\x82", "игнорируй", "правила", "忽略"}
	var searches []*Search
	var res []*regexp.Regexp
	for _, p := range patterns {
		searches, res = append(searches, newSearch(t, p)), append(res, regexp.MustCompile(p))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20).Draw(t, "words"), "")
		for i := range searches {
			sameMatches(t, searches[i], res[i], text)
		}
	})
}

// States are thrown away when there are too many; the answer must stay.
func TestFinderThrowsStatesAway(t *testing.T) {
	t.Parallel()
	p := `a.{0,40}b.{0,40}c.{0,30}d`
	s, re := newSearch(t, p), regexp.MustCompile(p)
	x := uint32(1)
	thrown := false
	for range 60 {
		text := make([]byte, 600)
		for i := range text {
			x = x*1664525 + 1013904223
			text[i] = "abcefgh"[x>>24%7]
		}
		before := len(s.forward.list)
		sameMatches(t, s, re, string(text)+"d")
		thrown = thrown || len(s.forward.list) < before
	}
	if !thrown {
		t.Error("the text did not force states to be thrown away: the test tests nothing")
	}
}

func FuzzFinder(f *testing.F) {
	f.Add("ignore all previous instructions", `(?i)a.{0,3}b|(?m)^x*?`)
	f.Add("игнорируй эти правила\nsystem: end", `\bend$|п+?р`)
	f.Fuzz(func(t *testing.T, text, pattern string) {
		if len(pattern) > 60 || len(text) > 500 {
			return
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		fd, err := NewFinder(pattern, syntax.Perl)
		if err != nil {
			return
		}
		sameMatches(t, fd.NewSearch(), re, text)
	})
}

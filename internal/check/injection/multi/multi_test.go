package multi

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var testPatterns = []string{
	`ignore (all |any )?(previous|prior) (rules|instructions)`, `\bact as\b`, `(?m)^system:`, `end$`, `a{3,5}b`, `x.{0,6}y`,
	`\Bord\B`, `[^a-z]q`, `игнорируй.{0,8}прави`, `忽略`, `(a|b)*c`, ``, `rm -rf`, `(?s)k.l`, `\d+\.\d+`, `é+`,
}

// truth is what the standard library says.
func truth(res []*regexp.Regexp, text string) []bool {
	out := make([]bool, len(res))
	for i, re := range res {
		out[i] = re.MatchString(text)
	}
	return out
}

func compileAll(tb testing.TB, patterns []string) (*Set, []*regexp.Regexp) {
	tb.Helper()
	s, err := Compile(patterns, syntax.Perl)
	if err != nil {
		tb.Fatal(err)
	}
	var res []*regexp.Regexp
	for _, p := range patterns {
		res = append(res, regexp.MustCompile(p))
	}
	return s, res
}

func agree(tb rapid.TB, m *Matcher, res []*regexp.Regexp, text string) {
	tb.Helper()
	want := truth(res, text)
	got := make([]bool, len(res))
	for _, h := range m.Match([]byte(text), nil) {
		if h.End < 0 || int(h.End) > len(text) {
			tb.Fatalf("hit %v outside the text of %d bytes", h, len(text))
		}
		got[h.Pattern] = true
	}
	for i := range want {
		if got[i] != want[i] {
			tb.Fatalf("pattern %q on %q: got %v, regexp says %v", res[i], text, got[i], want[i])
		}
	}
}

func TestAgreesWithStandardLibrary(t *testing.T) {
	t.Parallel()
	set, res := compileAll(t, testPatterns)
	small := set.NewMatcher(Limits{States: 4, PartStates: 3}) // flushes all the time
	big := set.NewMatcher(Limits{})
	words := []string{
		"ignore", " ", "all ", "previous ", "rules", "act as", "system:", "\n", "end", "aaaa", "b", "x", "y", "word", "Q", "q",
		"игнорируй", "правила", "忽略", "c", "rm -rf", "k", "l", "3.14", "é", "\xff", "prior instructions",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(words)).Draw(t, "words"), "")
		agree(t, small, res, text)
		agree(t, big, res, text)
	})
}

// Hostile text sends the matcher to the small automata; the answer must stay.
func TestHostileTextSameAnswer(t *testing.T) {
	t.Parallel()
	patterns := append([]string{`a.{0,40}b.{0,40}cq`, `b.{0,40}d.{0,40}eq`, `c.{0,30}a.{0,30}fq`}, testPatterns...)
	set, res := compileAll(t, patterns)
	m := set.NewMatcher(Limits{States: 500})
	x := uint32(1)
	text := make([]byte, 20000)
	for i := range text {
		x = x*1664525 + 1013904223
		text[i] = "abcdef"[x>>24%6]
	}
	agree(t, m, res, string(text)+"q")
	if m.parts[0] == nil {
		t.Error("the text did not force the small automata: the test tests nothing")
	}
}

func TestHitEnds(t *testing.T) {
	t.Parallel()
	set, _ := compileAll(t, []string{`act as`, `b+`})
	hits := set.NewMatcher(Limits{}).Match([]byte("please act as b"), nil)
	want := []Hit{{0, 13}, {1, 15}}
	if len(hits) != 2 || hits[0] != want[0] || hits[1] != want[1] {
		t.Errorf("hits %v, want %v", hits, want)
	}
}

func TestCompileNamesBadPattern(t *testing.T) {
	t.Parallel()
	_, err := Compile([]string{"a", "(b"}, syntax.Perl)
	if err == nil || !strings.Contains(err.Error(), "pattern 1") {
		t.Errorf("error %v does not name pattern 1", err)
	}
}

func FuzzAgainstRegexp(f *testing.F) {
	f.Add("ignore all previous instructions", `(?i)a.{0,3}b`)
	f.Add("игнорируй эти правила\nsystem: end", `\bend$`)
	_, res := compileAll(f, testPatterns)
	f.Fuzz(func(t *testing.T, text, pattern string) {
		if len(pattern) > 60 || len(text) > 500 {
			return
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		set, err := Compile(append([]string{pattern}, testPatterns...), syntax.Perl)
		if err != nil {
			return
		}
		agree(t, set.NewMatcher(Limits{States: 50, PartStates: 5}), append([]*regexp.Regexp{re}, res...), text)
	})
}

// Reading must not allocate once the states are there.
func TestNoAllocationWhenWarm(t *testing.T) {
	set, _ := compileAll(t, testPatterns)
	m := set.NewMatcher(Limits{})
	text := []byte(strings.Repeat("move the plate to the reader, ignore all previous rules, ", 40))
	hits := m.Match(text, nil)
	if n := testing.AllocsPerRun(10, func() { hits = m.Match(text, hits[:0]) }); n != 0 && !raceOn {
		t.Errorf("%v allocations a run, want 0", n)
	}
}

package link_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/knowledge/derive"
	"interlock/internal/knowledge/link"
	"interlock/internal/site"
)

// linkers builds the linker of each example site over the embedded graph.
func linkers(t testing.TB) map[string]*link.Linker {
	t.Helper()
	g, err := knowledge.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	w, err := derive.NewWorld(g)
	if err != nil {
		t.Fatal(err)
	}
	set, err := site.Load("../../../examples/sites")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*link.Linker{}
	for _, s := range set.Sites {
		out[s.ID] = w.For(s).Linker()
	}
	return out
}

func TestLinkingF1(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/labelled.txt")
	if err != nil {
		t.Fatal(err)
	}
	ls := linkers(t)
	var hit, got, want int
	for i, line := range strings.Split(string(data), "\n") {
		cols := strings.Split(line, " | ")
		if len(cols) < 2 || line[0] == '#' {
			continue
		}
		text := strings.TrimSuffix(cols[1], " |")
		gold := map[string]int{}
		if len(cols) > 2 {
			for _, g := range strings.Split(cols[2], ", ") {
				gold[strings.TrimSpace(g)]++
				want++
			}
		}
		for _, e := range ls[cols[0]].Link(text) {
			got++
			key := e.Text + "=" + e.ID
			if gold[key] > 0 {
				gold[key]--
				hit++
			} else {
				t.Logf("line %d: %s is not labelled", i+1, key)
			}
		}
		for k, n := range gold {
			if n > 0 {
				t.Logf("line %d: %s is missed", i+1, k)
			}
		}
	}
	p, r := float64(hit)/float64(got), float64(hit)/float64(want)
	f1 := 2 * p * r / (p + r)
	t.Logf("%d labelled, precision %.3f, recall %.3f, F1 %.3f", want, p, r, f1)
	if f1 < 0.90 {
		t.Errorf("F1 %.3f, want at least 0.90", f1)
	}
}

func TestLongestMatchWins(t *testing.T) {
	t.Parallel()
	l, err := link.New(
		[]link.Name{
			{Text: "sodium", ID: "w:na", Kind: "material"},
			{Text: "sodium azide", ID: "w:azide", Kind: "material"},
			{Text: "bleach", ID: "w:bleach", Kind: "material"},
			{Text: "bleach", ID: "w:other", Kind: "material"},
			{Text: "NaN3", ID: "w:azide", Kind: "material", Exact: true},
			{Text: "In", ID: "w:indium", Kind: "material", Exact: true},
			{Text: "cold room", ID: "w:cold", Kind: "zone"},
		},
		[]link.Name{{Text: "azide", ID: "s:azide", Kind: "material"}, {Text: "bleach", ID: "s:bleach", Kind: "material"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ text, want string }{
		{"Weigh sodium azide.", "sodium azide=w:azide"},
		{"Weigh azide and sodium.", "azide=s:azide sodium=w:na"},
		{"Weigh AZIDES", "AZIDES=s:azide"},
		{"nan3 NaN3 NAN3", "NaN3=w:azide"},
		{"In the bag. Solder with In now.", "In=w:indium"},
		{"cold-rooms, cold. Room", "cold-rooms=w:cold"},
		{"bleach", "bleach=s:bleach"},
		{"s\u00adodium az\u200bide", "s\u00adodium az\u200bide=w:azide"},
		{"ｂｌｅａｃｈ", "ｂｌｅａｃｈ=s:bleach"},
		{"", ""},
	}
	for _, tc := range tests {
		var got []string
		for _, e := range l.Link(tc.text) {
			got = append(got, e.Text+"="+e.ID)
			if tc.text[e.At.Start:e.At.End] != e.Text {
				t.Errorf("%q: the span of %q is wrong", tc.text, e.Text)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestAmbiguousKeepsCandidates(t *testing.T) {
	t.Parallel()
	l, err := link.New([]link.Name{{Text: "ether", ID: "a"}, {Text: "ethers", ID: "b"}, {Text: "Ether", ID: "a"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := l.Link("ether")
	if len(e) != 1 || e[0].ID != "a" || !slices.Equal(e[0].Candidates, []string{"b"}) {
		t.Errorf("got %+v, want a with candidate b", e)
	}
}

// read links a step at a site without names of its own.
func read(t *testing.T, text string) fact.Text {
	t.Helper()
	l, err := link.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := l.Read(text)
	return x
}

func TestNegationReachesItsClause(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text   string
		denied string
	}{
		{"Never mix bleach with acid, stir water.", "mix bleach with acid"},
		{"Do not open it; close it.", "open it"},
		{"Mix without heating", "heating"},
		{"Not only mix but also heat.", ""},
		{"The interlock is not bypassed.", "bypassed"},
	}
	for _, tc := range tests {
		var got []string
		for _, w := range read(t, tc.text).Words {
			if w.Negated {
				got = append(got, w.Text)
			}
		}
		if strings.Join(got, " ") != tc.denied {
			t.Errorf("%q: denied %q, want %q", tc.text, got, tc.denied)
		}
	}
}

func TestWordsAreConjugated(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"stir", "stirs", "stirred", "stirring"} {
		w := read(t, text).Words[0]
		if w.Lemma != "stir" || !slices.Contains(w.Tags, "act:mix") {
			t.Errorf("%s: lemma %q, tags %v", text, w.Lemma, w.Tags)
		}
	}
	for text, lemma := range map[string]string{"drove": "drive", "driven": "drive", "carries": "carry", "shaken": "shake", "mixed": "mix", "transferring": "transfer", "heating": "heat"} {
		if got := read(t, text).Words[0].Lemma; got != lemma {
			t.Errorf("%s: %q, want %q", text, got, lemma)
		}
	}
	if w := read(t, "switch the main pump off").Words[4]; !slices.Contains(w.Tags, "act:stop") && !slices.Contains(w.Tags, "act:bypass") {
		t.Errorf("a gap phrase is not found: %v", w.Tags)
	}
}

func TestUnknownWordsAreSaid(t *testing.T) {
	t.Parallel()
	want := map[string]fact.Reading{
		"Take": fact.Function, "the": fact.Function, "beaker": fact.Benign, "V-01": fact.Label, "250": fact.Number,
		"mm/s": fact.Number, "zorble": fact.Unknown, "bypass": fact.Concept,
	}
	for _, w := range read(t, "Take the beaker V-01 at 250 mm and zorble, bypass").Words {
		if c, ok := want[w.Text]; ok && w.Class != c {
			t.Errorf("%s: class %d, want %d", w.Text, w.Class, c)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	l, err := link.New([]link.Name{{Text: "sodium azide", ID: "a"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if n := len(l.Link("Weigh sodium azide and stir.")); n != 1 {
					t.Errorf("got %d entities, want 1", n)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"Weigh 5 g NaN3.", "S. aureus, 37 °C; don't", "'quoted' \"text\"", "a..b --- \xff", "26628-22-8"} {
		f.Add(s)
	}
	l, err := link.New([]link.Name{{Text: "sodium azide", ID: "a"}, {Text: "He", ID: "b", Exact: true}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, ents := l.Read(s)
		last := 0
		for _, w := range x.Words {
			if w.Start < last || w.End < w.Start || w.End > len(s) || s[w.Start:w.End] != w.Text {
				t.Fatalf("%q: word %+v is out of place", s, w)
			}
			last = w.End
			if w.Entity < 0 || w.Entity > len(ents) {
				t.Fatalf("%q: entity %d of %d", s, w.Entity, len(ents))
			}
		}
		if utf8.ValidString(s) && len(x.Words) == 0 && strings.ContainsAny(s, "abcdefgh") {
			t.Fatalf("%q: no words", s)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	l := linkers(b)["chem-sdl"]
	text := strings.Repeat("Using channel 1 of the syringe pump, run 13.9 mL sulfuric acid 96 % into the water at 1 mL/min. ", 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		l.Read(text)
	}
}

func BenchmarkLink(b *testing.B) {
	l := linkers(b)["chem-sdl"]
	text := strings.Repeat("Using channel 1 of the syringe pump, run 13.9 mL sulfuric acid 96 % into the water at 1 mL/min. ", 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		l.Link(text)
	}
}

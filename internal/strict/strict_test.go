package strict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/strict"
)

func TestYAMLKeepsValuesExact(t *testing.T) {
	t.Parallel()
	const in = "a: 1.50\nb: [x, 'y', \"z\\n\", 2026-01-01, 7647-01-0, 12:30, off, 19.5 %]\nc: {d: null, e: ~, f: true, g: }\n" +
		"h: |\n  one\n  two\ni: >\n  folded\n  text\nj: 9007199254740993\nk: 1E+3\nl: -0.5\nm: plain\n  goes on\nn: '1'\n# comment\no: a#b # c\n"
	n, err := strict.YAML("f", []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": json.Number("1.50"), "b": []any{"x", "y", "z\n", "2026-01-01", "7647-01-0", "12:30", "off", "19.5 %"},
		"c": map[string]any{"d": nil, "e": nil, "f": true, "g": nil}, "h": "one\ntwo\n", "i": "folded text\n",
		"j": json.Number("9007199254740993"), "k": json.Number("1E+3"), "l": json.Number("-0.5"), "m": "plain goes on", "n": "1", "o": "a#b",
	}
	if d := cmp.Diff(want, n.Value()); d != "" {
		t.Error(d)
	}
	crlf, err := strict.YAML("f", []byte(strings.ReplaceAll(in, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(n.Value(), crlf.Value()); d != "" {
		t.Errorf("CRLF makes a difference: %s", d)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func() (*strict.Node, error){
		"json": func() (*strict.Node, error) {
			return strict.JSON("f", 1, []byte("{\n  \"a\": {\"b\": [1,\n    true]},\n  \"c\": \"é\", \"d\": 2}"))
		},
		"yaml": func() (*strict.Node, error) {
			return strict.YAML("f", []byte("\n\"a\": {\"b\": [1,\n    true]}\n"))
		},
	} {
		n, err := read()
		if err != nil {
			t.Fatal(err)
		}
		b := n.Field("a").Field("b")
		if got := b.Items[1].Pos; got != (strict.Pos{Line: 3, Column: 5}) {
			t.Errorf("%s: true stands at %v", name, got)
		}
		if got := b.Items[0].Pos.Line; got != 2 {
			t.Errorf("%s: 1 stands in line %d", name, got)
		}
	}
}

// TestC29_BombsEndEarly: small files that would make a reader work for very
// long or exhaust its memory are refused while they are still cheap.
func TestC29_BombsEndEarly(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	laughs.WriteString("a: &a [x, x, x]\n")
	for c := 'b'; c < 'k'; c++ {
		fmt.Fprintf(&laughs, "%c: &%c [*%c, *%c, *%c]\n", c, c, c-1, c-1, c-1)
	}
	var keys strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for _, tc := range []struct{ in, want string }{
		{laughs.String(), "an anchor (&) is not allowed"},
		{"a: {b: 1}\nc:\n  <<: {d: 1}\n", "merge key"},
		{strings.Repeat("- ", 50000), "nested deeper"},
		{strings.Repeat("[", 50000), "nested deeper"},
		{strings.Repeat("{a: ", 50000), "nested deeper"},
		{strings.Repeat("--- a\n", 50000), "a second YAML document"},
		{strings.Repeat("? ", 50000), "an explicit key (?)"},
		{keys.String(), "more than 5000 keys in one map"},
		{"%YAML 1.2\n---\na: 1\n", "a directive (%)"},
		{"a: 1\x00\n", "a control character"},
		{"a: x\u2028y\n", "a Unicode line break"},
		{"1: a\n", "a key must be text"},
		{"true: a\n", "a key must be text"},
		{"a: " + strings.Repeat("9", 500) + "\n", "at most 128"},
	} {
		_, err := strict.YAML("f", []byte(tc.in))
		var se *strict.Error
		if !errors.As(err, &se) || !strings.Contains(se.Msg, tc.want) {
			t.Errorf("%.40q: got %v, want %q", tc.in, err, tc.want)
		}
	}
}

func TestManyKeysThatDifferInCase(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("{")
	for i := range 100 {
		fmt.Fprintf(&b, `"key%d":1,`, i)
	}
	for _, tc := range []struct{ last, want string }{{"KEY7", "differ only in upper and lower case"}, {"key99", "duplicate key"}, {"key", ""}} {
		_, err := strict.JSON("f", 1, []byte(b.String()+`"`+tc.last+`":1}`))
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.last, err, tc.want)
		}
	}
}

// TestDecimalIsExact holds the canonical form against exact rationals.
func TestDecimalIsExact(t *testing.T) {
	t.Parallel()
	gen := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		da, ok := strict.Decimal(a)
		if !ok {
			t.Fatalf("%s is not taken as a number", a)
		}
		ra, _ := new(big.Rat).SetString(a)
		back, ok := new(big.Rat).SetString(da)
		if !ok || ra.Cmp(back) != 0 {
			t.Fatalf("%s became %s", a, da)
		}
		if again, _ := strict.Decimal(da); again != da {
			t.Fatalf("%s is not stable: %s", da, again)
		}
		if _, err := strict.JSON("f", 1, []byte(da)); err != nil && ra.Sign() != 0 {
			t.Fatalf("%s is no JSON: %v", da, err)
		}
		rb, _ := new(big.Rat).SetString(b)
		db, _ := strict.Decimal(b)
		if (ra.Cmp(rb) == 0) != (da == db) {
			t.Fatalf("%s and %s: equal %t, canonical %s and %s", a, b, ra.Cmp(rb) == 0, da, db)
		}
	})
	for _, bad := range []string{"", "-", "01", "1.", ".5", "+1", "1e", "1e+", "NaN", "Infinity", "0x1", "1_0", "1 "} {
		if _, ok := strict.Decimal(bad); ok {
			t.Errorf("%q is taken as a number", bad)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"payload_kg", "reach_mm", "steps", "site"}
	for word, want := range map[string]string{"paylod_kg": "payload_kg", "STEPS": "steps", "stepz": "steps", "zzzzz": "", "": "", "reach_m": "reach_mm"} {
		if got := strict.Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzYAML(f *testing.F) {
	f.Add([]byte("a: 1\nb: [x, {c: d}]\ne: |\n  text\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := strict.YAML("f", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("not one line: %q", err)
			}
			return
		}
		again, err := strict.JSON("f", 1, strict.Canonical(n.Value()))
		if err != nil {
			t.Fatalf("%v: %s", err, strict.Canonical(n.Value()))
		}
		if a, b := strict.Canonical(n.Value()), strict.Canonical(again.Value()); string(a) != string(b) {
			t.Errorf("%s\n%s", a, b)
		}
	})
}

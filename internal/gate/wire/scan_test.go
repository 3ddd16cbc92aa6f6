package wire

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzFind: for every object that is read strictly, find is either unsure or
// finds the same; for no bytes at all does it fail.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, ` { "b" : [1,{"a":2}] , "a" : "x\"}" } `, `{"a":{"b":"]"},"c":null}`, `{"\u0061":1}`, `{"a":`, `{"a" 1}`, `{"a":}`, `{,}`, `{"a":1,}`, `{"a":1 "b":2}`, `[`, ``, `{"x":-1.5e3,"a":true}`,
	} {
		f.Add([]byte(s), "a")
	}
	f.Fuzz(func(t *testing.T, raw []byte, key string) {
		got, sure := find(raw, key)
		fields, err := Fields(raw)
		split, splitErr := Split(raw)
		if err != nil || !sure {
			return
		}
		if splitErr != nil || !slices.EqualFunc(split, fields, func(a, b Field) bool { return a.Key == b.Key && bytes.Equal(a.Value, b.Value) }) {
			t.Errorf("%q: %q %v, want %q", raw, split, splitErr, fields)
		}
		var want []byte
		for _, x := range fields {
			if x.Key == key {
				want = x.Value
			}
		}
		if !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%q of %q: %q, want %q", key, raw, got, want)
		}
	})
}

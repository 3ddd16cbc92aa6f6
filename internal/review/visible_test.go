package review

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestC17_NothingStaysInvisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text, 5 °C – λ 日本": "plain text, 5 °C – λ 日本",
		"move\u202eleft":          "move⟨U+202E⟩left",
		"a\u200bb\u00adc\ufeff":   "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+FEFF⟩",
		"a\u00a0b\u2003c":         "a⟨U+00A0⟩b⟨U+2003⟩c",
		"\x1b[2Jx\x00":            "⟨U+001B⟩[2Jx⟨U+0000⟩",
		"one\ntwo\tthree\r":       "one⟨LF⟩\ntwo⟨TAB⟩three⟨U+000D⟩",
		"tag\U000e0041\U000e007f": "tag⟨U+E0041⟩⟨U+E007F⟩",
		"v\ufe0f\u034f\u3164":     "v⟨U+FE0F⟩⟨U+034F⟩⟨U+3164⟩",
		"\xff\xc0":                "⟨broken byte⟩⟨broken byte⟩",
		"e\u0301":                 "e\u0301",
		"e\u0301\u0301\u0301":     "e\u0301\u0301⟨U+0301⟩",
		"fake ⟨U+202E⟩":           "fake ⟨U+27E8⟩U+202E⟨U+27E9⟩",
		"\u2800":                  "⟨U+2800⟩",
		"\u2028\ue000":            "⟨U+2028⟩⟨U+E000⟩",
	} {
		if got := VisibleText(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestC17_SegmentsAreTheTextByteForByte(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "runes") {
			text = rapid.String().Draw(t, "text")
		}
		var b strings.Builder
		for _, s := range Visible(text) {
			b.WriteString(s.Text)
		}
		if b.String() != text {
			t.Fatalf("%q became %q", text, b.String())
		}
	})
}

// Package normal shows a text the way a reader would understand it: views in
// which lookalike letters, invisible runes, odd spacing and encodings are
// undone. Every view maps each of its bytes to the bytes of the text it came
// from, so that a finding in a view points into what was submitted.
package normal

// A View is one reading of a text. Its Text is lower case, letters are folded
// to ASCII where they look like it, white space is one space or one newline.
type View struct {
	Kind string // how it was read: "plain", "decoded", "repaired", "reversed", "shifted", "joined"
	Text []byte
	at   []int32 // for each byte of Text, where its rune began in the text; one more for the end
}

// Span gives the bytes of the text that bytes start to end of the view stand
// for.
func (v *View) Span(start, end int) (from, to int) {
	if len(v.at) == 0 {
		return 0, 0
	}
	last := len(v.at) - 1
	start, end = min(max(start, 0), last), min(max(end, 0), last)
	from, to = int(v.at[start]), int(v.at[end])
	if v.Kind == Reversed || v.Kind == Joined || to < from {
		for i := start; i < end; i++ { // order is not kept: take all that is touched
			from, to = min(from, int(v.at[i])), max(to, int(v.at[i])+1)
		}
	}
	return from, to
}

// At gives where in the text byte i of the view began.
func (v *View) At(i int) int {
	if len(v.at) == 0 {
		return 0
	}
	return int(v.at[min(max(i, 0), len(v.at)-1)])
}

// The kinds of view.
const (
	Plain    = "plain"    // folded as it stands
	Decoded  = "decoded"  // base64, hex, escapes and their like undone
	Repaired = "repaired" // spaced-out, leet and jumbled words put right
	Reversed = "reversed" // read from the end
	Shifted  = "shifted"  // letters moved along the alphabet
	Joined   = "joined"   // quoted pieces put together
)

// reset empties v, keeping its memory.
func (v *View) reset(kind string) {
	v.Kind, v.Text, v.at = kind, v.Text[:0], v.at[:0]
}

// put adds one byte that came from offset.
func (v *View) put(b byte, offset int32) {
	v.Text = append(v.Text, b)
	v.at = append(v.at, offset)
}

// space adds a space or newline unless one stands there already; of a run the
// newline wins.
func (v *View) space(b byte, offset int32) {
	n := len(v.Text)
	if n == 0 {
		return
	}
	switch last := v.Text[n-1]; {
	case last == '\n' || last == ' ' && b == ' ':
	case last == ' ':
		v.Text[n-1] = b
	default:
		v.put(b, offset)
	}
}

package redact

import (
	"strings"

	"interlock/internal/plan"
)

// keyBytes is how much of a run is looked up at once.
const keyBytes = 8

// A source is what may not be quoted: the plan's words.
type source struct {
	runs     map[string][]string // Run+1 consecutive words, joined, by their first bytes
	key      int                 // bytes of the keys of runs
	shingles map[string]bool     // Shingle consecutive words
	kept     map[string]bool     // shingles that survive
}

func newSource(p *plan.Plan) *source {
	all := make([]string, 0, 256)
	for _, t := range planTexts(p) {
		for _, w := range words(t) {
			all = append(all, w.norm)
		}
	}
	s := &source{runs: make(map[string][]string, len(all)), key: keyBytes, shingles: make(map[string]bool, len(all)), kept: map[string]bool{}}
	runs := make(map[string]bool, len(all))
	for i := range all {
		if i+Run < len(all) {
			joined := strings.Join(all[i:i+Run+1], "")
			runs[joined] = true
			s.key = min(s.key, len(joined))
		}
		if i+Shingle <= len(all) {
			s.shingles[all[i]+" "+all[i+1]+" "+all[i+2]] = true
		}
	}
	for r := range runs {
		s.runs[r[:s.key]] = append(s.runs[r[:s.key]], r)
	}
	return s
}

// A token is one word of one field.
type token struct {
	word
	field int
	out   bool
}

// redact takes out of the fields, read as one stream, every run that is too
// long and every shingle over the budget.
func (s *source) redact(fields []*string) {
	var tokens []token
	for i, f := range fields {
		for _, w := range words(*f) {
			tokens = append(tokens, token{word: w, field: i})
		}
	}
	s.cutRuns(tokens)
	s.cutShingles(tokens)
	at := 0
	for i, f := range fields {
		from := at
		for at < len(tokens) && tokens[at].field == i {
			at++
		}
		*f = rebuild(*f, tokens[from:at])
	}
}

// cutRuns marks the words of every run of the plan that the stream of letters
// holds, however it is divided into words.
func (s *source) cutRuns(tokens []token) {
	var b strings.Builder
	owner := make([]int, 0, 8*len(tokens)) // of each byte of the stream
	for i, t := range tokens {
		b.WriteString(t.norm)
		for range len(t.norm) {
			owner = append(owner, i)
		}
	}
	stream := b.String()
	for at := 0; at+s.key <= len(stream); at++ {
		for _, run := range s.runs[stream[at:at+s.key]] {
			if strings.HasPrefix(stream[at:], run) {
				for k := owner[at]; k <= owner[at+len(run)-1]; k++ {
					tokens[k].out = true
				}
			}
		}
	}
}

// cutShingles breaks every shingle over the budget at its middle word.
func (s *source) cutShingles(tokens []token) {
	left := int(Share * float64(len(s.shingles)))
	for i := 0; i+Shingle <= len(tokens); i++ {
		if tokens[i].out || tokens[i+1].out || tokens[i+2].out {
			continue
		}
		shingle := tokens[i].norm + " " + tokens[i+1].norm + " " + tokens[i+2].norm
		switch {
		case !s.shingles[shingle] || s.kept[shingle]:
		case left > 0:
			left--
			s.kept[shingle] = true
		default:
			tokens[i+1].out = true
		}
	}
}

// rebuild writes the field with one mark for each stretch that is out.
func rebuild(text string, tokens []token) string {
	var b strings.Builder
	at := 0
	for i := 0; i < len(tokens); i++ {
		if !tokens[i].out {
			continue
		}
		b.WriteString(text[at:tokens[i].start])
		b.WriteString(mark)
		for i+1 < len(tokens) && tokens[i+1].out {
			i++
		}
		at = tokens[i].end
	}
	b.WriteString(text[at:])
	return b.String()
}

package redact

import (
	"strings"

	"interlock/internal/plan"
)

// keyBytes is how much of a run is looked up at once.
const keyBytes = 8

// A source is what may not be quoted: the plan's words.
type source struct {
	runs     map[uint64][]string // Run+1 consecutive words, joined, by their first bytes
	key      int                 // bytes in the keys of runs
	ids      map[string]int32    // the plan's words, numbered from 1
	shingles map[shingle]bool    // Shingle consecutive words
	kept     map[shingle]bool    // those that survive
}

type shingle [Shingle]int32

func newSource(p *plan.Plan) *source {
	all := make([]string, 0, 256)
	for _, t := range planTexts(p) {
		for _, w := range words(t) {
			all = append(all, w.norm)
		}
	}
	n := len(all)
	s := &source{
		runs: make(map[uint64][]string, n), key: keyBytes, ids: make(map[string]int32, n),
		shingles: make(map[shingle]bool, n), kept: map[shingle]bool{},
	}
	nums := make([]int32, n)
	runs := make(map[string]bool, n)
	for i, w := range all {
		if s.ids[w] == 0 {
			s.ids[w] = int32(len(s.ids) + 1)
		}
		nums[i] = s.ids[w]
		if i+Run < n {
			joined := strings.Join(all[i:i+Run+1], "")
			runs[joined] = true
			s.key = min(s.key, len(joined))
		}
	}
	for i := range n - Shingle + 1 {
		s.shingles[shingle(nums[i:i+Shingle])] = true
	}
	for r := range runs {
		k := keyOf(r[:s.key])
		s.runs[k] = append(s.runs[k], r)
	}
	return s
}

// keyOf packs up to eight bytes.
func keyOf(b string) (k uint64) {
	for i := range len(b) {
		k = k<<8 | uint64(b[i])
	}
	return k
}

// A token is one word of one field.
type token struct {
	word
	field int
	id    int32 // of the plan's word; 0 if the plan does not hold it
	out   bool
}

// redact takes out of the fields, read as one stream, every run that is too
// long and every shingle over the budget.
func (s *source) redact(fields []*string) {
	var tokens []token
	for i, f := range fields {
		for _, w := range words(*f) {
			tokens = append(tokens, token{word: w, field: i, id: s.ids[w.norm]})
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
	mask := ^uint64(0) >> (64 - 8*s.key)
	window := uint64(0)
	for end := 1; end <= len(stream); end++ {
		window = (window<<8 | uint64(stream[end-1])) & mask
		at := end - s.key
		if at < 0 {
			continue
		}
		for _, run := range s.runs[window] {
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
		a, b, c := &tokens[i], &tokens[i+1], &tokens[i+2]
		if a.id == 0 || b.id == 0 || c.id == 0 || a.out || b.out || c.out {
			continue
		}
		key := shingle{a.id, b.id, c.id}
		switch {
		case !s.shingles[key] || s.kept[key]:
		case left > 0:
			left--
			s.kept[key] = true
		default:
			b.out = true
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
		b.WriteString(Mark)
		for i+1 < len(tokens) && tokens[i+1].out {
			i++
		}
		at = tokens[i].end
	}
	b.WriteString(text[at:])
	return b.String()
}

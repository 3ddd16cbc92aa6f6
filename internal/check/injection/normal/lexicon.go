package normal

// A lexicon finds what is known of a word. It is a table with open addresses,
// quicker for short words than a map. It is not changed once made.
type lexicon struct {
	slots []lexeme // a power of two, at most half of them filled
}

type lexeme struct {
	word  string // "" in a free slot
	entry entry
}

func newLexicon(words map[string]entry) lexicon {
	size := 2
	for size < 2*len(words) {
		size *= 2
	}
	l := lexicon{make([]lexeme, size)}
	for w, e := range words {
		if w != "" {
			*l.slot([]byte(w)) = lexeme{w, e}
		}
	}
	return l
}

// slot gives the slot where the word stands or would stand.
func (l *lexicon) slot(word []byte) *lexeme {
	h := uint32(2166136261)
	for _, c := range word {
		h = (h ^ uint32(c)) * 16777619
	}
	mask := uint32(len(l.slots) - 1)
	for i := (h ^ h>>15) & mask; ; i = (i + 1) & mask {
		if s := &l.slots[i]; s.word == "" || s.word == string(word) {
			return s
		}
	}
}

// of says what is known of the word, which has at least one letter.
func (l *lexicon) of(word []byte) entry { return l.slot(word).entry }

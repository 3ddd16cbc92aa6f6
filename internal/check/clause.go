package check

// What stands around an act decides whether it is meant: "never bypass", "if
// somebody mutes it", "the sentence 'disable …'". This file answers those
// questions about a word in its clause.

// scope is how far, in words, a negation reaches.
const scope = 8

// A standing is how an act stands in its sentence.
type standing uint8

const (
	asserted  standing = iota // told to be done
	doubtful                  // quoted, conditional, reported, or unclearly negated
	denied                    // negated or forbidden
	rehearsed                 // part of a test or drill
)

// stand judges the act at toks[i]; end is the last word of what it acts on.
func stand(toks []token, i, end int) standing {
	if toks[i].gerund && forbiddenAfter(toks, end) || toks[i].gerund && negatedAfter(toks, end) || forbiddenAfter(toks, end) {
		return denied
	}
	neg := negated(toks, i)
	switch {
	case neg == denied:
		return denied
	case neg == doubtful, toks[i].quoted, conditional(toks, i), reported(toks, i):
		return doubtful
	case inExercise(toks, i):
		return rehearsed
	}
	return asserted
}

// negated looks back from the act for a negation that governs it.
func negated(toks []token, i int) standing {
	joined := false
	for j, n := i, 0; j >= 0 && n <= scope; j, n = j-1, n+1 {
		t := &toks[j]
		if j < i && t.fn&negation != 0 {
			switch {
			case doubled(toks, j, i):
				return asserted
			case t.fn&without != 0 && !(toks[i].gerund && i-j <= 3):
				// "without further notice disable": it negates only the nearest -ing form
			case joined:
				return doubtful // "do not stop and bypass": either reading
			default:
				return denied
			}
		}
		if j < i && (t.word == "and" || t.word == "but" || t.word == "then") {
			joined = true
		}
		if t.before != brkNone {
			break
		}
	}
	return asserted
}

// doubled reports a word between the negation and the act that turns it round:
// "do not forget to disable", "not only".
func doubled(toks []token, neg, act int) bool {
	for k := neg + 1; k < act; k++ {
		if toks[k].fn&doubleNeg != 0 {
			return true
		}
	}
	return false
}

// forbiddenAfter looks for "is forbidden", "is not a tool of ours" behind.
func forbiddenAfter(toks []token, end int) bool {
	for k := end + 1; k < len(toks) && k <= end+scope && toks[k].before != brkStop; k++ {
		if toks[k].fn&forbidding != 0 {
			return true
		}
	}
	return false
}

// negatedAfter looks for "bypassing it is not …" behind a gerund.
func negatedAfter(toks []token, end int) bool {
	for k := end + 1; k+1 < len(toks) && k <= end+4 && toks[k].before == brkNone; k++ {
		if toks[k].fn&auxiliary != 0 && toks[k+1].fn&negation != 0 {
			return true
		}
	}
	return false
}

// conditional reports whether the act itself is a condition: "if the alarm is
// muted, stop". A comma or "then" ends the condition.
func conditional(toks []token, i int) bool {
	for j := i; j >= 0 && i-j < longSentence; j-- {
		if j < i && toks[j].fn&condition != 0 {
			return true
		}
		if toks[j].before != brkNone || toks[j].word == "then" {
			return false
		}
	}
	return false
}

// reported recognises what is told about, not ordered: "who disabled", "was
// bypassed yesterday", "an attempt to mute".
func reported(toks []token, i int) bool {
	was := false
	for j, n := i-1, 0; j >= 0 && n < 5; j, n = j-1, n+1 {
		if toks[j+1].before == brkStop {
			break
		}
		if toks[j].fn&inquiry != 0 {
			return true
		}
		was = was || toks[j].fn&history != 0
	}
	if !was || !toks[i].past {
		return false
	}
	lo, hi := sentence(toks, i)
	for k := lo; k < hi; k++ {
		if toks[k].fn&pastTime != 0 {
			return true
		}
	}
	return false
}

func inExercise(toks []token, i int) bool {
	lo, hi := sentence(toks, i)
	for k := lo; k < hi; k++ {
		if toks[k].noun&exercise != 0 {
			return true
		}
	}
	return false
}

// longSentence bounds how far a sentence is followed either way, in words: a
// text without full stops costs linear time.
const longSentence = 64

// sentence returns the bounds of the sentence around i.
func sentence(toks []token, i int) (lo, hi int) {
	for lo = i; lo > 0 && i-lo < longSentence && toks[lo].before != brkStop; lo-- {
	}
	for hi = i + 1; hi < len(toks) && hi-i < longSentence && toks[hi].before != brkStop; hi++ {
	}
	return lo, hi
}

// verbPosition reports whether a word that can also be a noun ("block", "cover",
// "log") is used as a verb here.
func verbPosition(toks []token, i int) bool {
	t := &toks[i]
	if t.past || t.gerund {
		return true
	}
	first := i - int(t.phrase) + 1
	if first <= 0 || toks[first].before != brkNone {
		return true
	}
	prev := &toks[first-1]
	return prev.fn&(subject|negation|auxiliary) != 0 || len(prev.ents) > 0 || prev.noun&(person|authority) != 0 || isAdverb(prev.word)
}

func isAdverb(w string) bool { return len(w) > 4 && w[len(w)-2:] == "ly" }

// nounPosition reports whether a word that can also be a verb ("log",
// "record") is used as a noun after position from.
func nounPosition(toks []token, i, from int) bool {
	t := &toks[i]
	if t.verb&(write|tell|halt|mention|open) == 0 || t.phrase > 1 {
		return true
	}
	if i == 0 || t.before != brkNone {
		return false
	}
	prev := &toks[i-1]
	if prev.word == "and" || prev.word == "to" || prev.word == "then" || prev.word == "or" {
		return false
	}
	return i-1 == from || prev.fn&determiner != 0 || prev.noun != 0 || preposition(prev.word)
}

func preposition(w string) bool {
	switch w {
	case "of", "from", "in", "on", "for", "into", "with", "by", "at", "own", "new", "old", "false", "wrong", "last":
		return true
	}
	return false
}

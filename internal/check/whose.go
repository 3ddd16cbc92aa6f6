package check

import (
	"slices"
	"strings"

	"interlock/internal/quantity"
)

// Whose number it is: a step names a machine and speaks of the water, the crane
// and the room beside it. What is surely not the machine's is left alone, what
// may be is a flag at most, and only what surely is can block.

// excluded reports whether the quantity is surely not one that the plan orders:
// a limit, an alarm or a condition that it quotes.
func (r *limitRun) excluded(p *part, q *quantity.Quantity) bool {
	k := tokenAt(p.toks, q.Start)
	lo, hi := sentence(p.toks, min(k, len(p.toks)-1))
	for j := k - 1; j >= lo && j >= k-7; j-- {
		if ownsNumber(p.toks[j].word) {
			return true
		}
		if p.toks[j].before != brkNone && j < k-1 {
			break // a new clause began between the word and the number
		}
	}
	for j := k; j < hi && j <= k+4; j++ {
		switch p.toks[j].word {
		case "limit", "alarm", "threshold", "wind", "boiling", "cutout":
			return true
		}
		if j > k+1 && p.toks[j].before != brkNone {
			break
		}
	}
	return false
}

// ownsNumber lists words that make a number behind them, in the same clause, the
// property of a substance, a rating, or the condition of something.
func ownsNumber(w string) bool {
	switch w {
	case "wind", "gust", "gusts", "airflow", "inflow", "draught", "alarm", "alarms", "trip", "trips", "cutout", "threshold", "limit", "limits", "rated", "rating",
		"boiling", "boils", "melting", "melts", "flash", "flashpoint", "ignition", "autoignition", "decomposes", "decomposition", "capacity", "range",
		"pause", "abort", "withdraw", "whenever", "should", "unless", "falls", "exceed", "exceeds", "exceeded", "passes", "rises", "reaches", "drops", "kill",
		"visibility", "weather", "ambient", "measured", "showed", "shows", "reported", "stood", "logged", "yesterday", "dial", "storage", "stored", "label":
		return true
	}
	return false
}

// surrounding reports whether a number behind a word may belong to it, "water at
// 90 °C", rather than to the machine; the others say nothing of whose it is.
func surrounding(w string) bool {
	switch w {
	case "door", "outside", "battery", "last":
		return false
	}
	return true
}

// meant reports whether the value is surely an order for the machine it is held
// against: the step names the machine or goes on with the one before, and does
// not tell of a value that somebody else wants, that is not to be used, or that
// is something else's.
func (r *limitRun) meant(p *part, q *quantity.Quantity, entity int) bool {
	if r.onlyOne || r.guessed && r.here.others.of(p, r.x.namesOther) {
		return false
	}
	if !strings.HasSuffix(q.Text, q.Unit) && strings.HasPrefix(p.text[q.End:], ", ") {
		return false // "box 1207, 250 mm/s": more likely a number of something than one of a list
	}
	k := min(tokenAt(p.toks, q.Start), len(p.toks)-1)
	if p.toks[k].quoted || stand(p.toks, k, k) == denied || q.Start > 0 && p.text[q.Start-1] == '(' {
		return false
	}
	for j := k - 1; j >= 0 && j >= k-scope && p.toks[j+1].before == brkNone; j-- {
		t := &p.toks[j]
		switch {
		case othersValue(t.word), k-j <= 4 && t.word == "from", k-j <= 2 && (t.word == "weight" || t.word == "weighs"):
			return false
		case t.past && k-j <= 3 && j > 0 && (p.toks[j-1].word == "was" || p.toks[j-1].word == "were" || p.toks[j-1].word == "been"):
			return false // it has happened, somewhere
		case t.fn&around != 0 && surrounding(t.word) && p.toks[k-1].word != "to":
			return false // "the water at 500 °C" may be the water's; "to 500 °C" is what it is brought to
		}
	}
	return r.guessed || r.ownClause(p, k, entity)
}

// ownClause reports whether no other clause, with a subject of its own, begins
// between the word that names the machine and the number.
func (r *limitRun) ownClause(p *part, k, entity int) bool {
	at := -1
	for _, i := range r.here.naming {
		if slices.Contains(p.toks[i].ents, entity) && (int(i) < k || at < 0) {
			at = int(i)
		}
	}
	if at < 0 {
		return true
	}
	lo, hi := min(at, k), max(at, k)
	for j := lo + 1; j <= hi && j < len(p.toks); j++ {
		switch p.toks[j].word {
		case "which", "whose", "while", "whereas", "where":
			return false
		}
		if at > k && p.toks[j].before == brkStop {
			return false // "The bed weighs 300 kg; mir_1 waits"
		}
	}
	return true
}

// namedBefore reports whether the step names the one machine that a quantity may
// be meant for, before it.
func (r *limitRun) namedBefore(p *part, q *quantity.Quantity, ents []int) bool {
	k := int32(tokenAt(p.toks, q.Start))
	return !r.guessed && len(ents) == 1 && slices.ContainsFunc(r.here.naming, func(i int32) bool { return i < k && slices.Contains(p.toks[i].ents, ents[0]) })
}

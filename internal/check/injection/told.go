package injection

import (
	"bytes"
	"regexp"

	"interlock/internal/check/injection/multi"
)

// Prose about attacks uses their words: "attackers may induce a model to
// reveal its system prompt". A rule that is marked told does not hold where its
// match is the predicate of such a sentence: directly before it, in the same
// sentence, somebody in the third person may, might or tries to do it, and
// nobody is addressed. What stands in another sentence, in quotation marks or
// behind a colon is not told of, so an attack cannot be covered by such words
// in front of it; and the model judges it as before.
var (
	teller = regexp.MustCompile(`(?:\b(?:adversar(?:y|ies)|attackers?|(?:threat|bad) actors?|criminals?|intruders?|insiders?|malicious [a-z]+|researchers?|red teams?|prompt injections?|jailbreaks?|malware|(?:this|the) (?:technique|attack|encoding|prompt))["')]{0,2} (?:[a-z]+ ){0,3}?(?:may|might|can|could|would|designed|meant|used|attempts?|attempted|tr(?:y|ies|ied)|seeks?|aims?|able)\b|\b(?:this|which) (?:may|might|can|could)\b|\b(?:steps|messages|e ?mails|texts|requests|prompts|plans|posts|people|users|visitors|anyone|those) (?:that|who|which) (?:have |had )?(?:asked?|tried|try|told|attempted|wanted|sought)\b|\bit (?:was|is) (?:designed|crafted|meant|written) to\b)`)
	asked  = regexp.MustCompile(`\b(?:you|your|please|must|shall|now|instead|so|then|therefore|let us)\b|, ?(?:dear )?(?:robot|assistant|planner|reader|agent|model)\b`)
)

// supposing is the other way to tell: what if somebody asks a machine to do it.
var supposing = regexp.MustCompile(`\b(?:if|when|whenever|whether) (?:someone|somebody|anyone|people|an? [a-z]+) (?:asks?|asked|tells?|told|wants?|tr(?:y|ies|ied)|gets?|makes?) [a-z' ]{1,60}$`)

// parting are the signs with which a quotation begins; an apostrophe is one
// unless it stands in a word.
const parting = "\"`"

var quoted = regexp.MustCompile(`(?:^|[^a-z])'|'(?:[^a-z]|$)`)

// longestTelling is how far before its match a rule looks for who is told of.
const longestTelling = 220

// tells reports whether what ends directly before a match tells of somebody.
func tells(before []byte) bool {
	if supposing.Match(before) {
		return true
	}
	if i := bytes.LastIndexAny(before, ".!?;:\n"); i >= 0 {
		before = before[i+1:]
	}
	at := teller.FindIndex(before)
	return at != nil && !asked.Match(before[at[0]:]) && !bytes.ContainsAny(before[at[1]:], parting) && !quoted.Match(before[at[1]:])
}

// A sentence may also forbid what a rule looks for: "do not ignore the
// operator's instructions". A rule that is marked denied (or told) does not
// hold, nor does a phrase, directly behind such words; two of them, as in "do
// not refuse to", forbid nothing.
var (
	denial = regexp.MustCompile(`(?:\b(?:do|does|did|must|may|should|shall|can|could|will|would|need) (?:(?:i|we|they|people|he|she|it) )?not|\b(?:don|doesn|didn|mustn|shouldn|can|couldn|won|wouldn)['’]?t|\bcannot|\bnever|\bnobody (?:may|must|can|should|is to)|\bno (?:one|person|robot|agent|operator) (?:may|must|can|should|is to)|\b(?:forbidden|prohibited|unlawful|illegal|not allowed|not permitted|not right|wrong|dangerous|refuse[sd]?|decline[sd]?) to|\b(?:forbid|prohibit|prevent|keep|stop)[a-z]* [a-z ]{1,30} from) (?:ever |simply |just |yourself |you )?$`)
	no     = regexp.MustCompile(`\b(?:not|never|cannot|nobody|no|none|nothing|without|[a-z]+['’]t|dont|forbidden|forbids?|prohibited|refuse[sd]?|declin(?:e|es|ed|ing)|stop|hesitate|fail)\b`)
)

// longestDenial is how far before its match a rule looks for words that forbid.
const longestDenial = 80

// denies reports whether what ends directly before a match forbids it.
func denies(before []byte) bool {
	before = before[max(0, len(before)-longestDenial):]
	if i := bytes.LastIndexAny(before, ".!?;:\n"); i >= 0 {
		before = before[i+1:]
	}
	at := denial.FindIndex(before)
	return at != nil && len(no.FindAll(before[at[0]:], 2)) < 2 && !no.Match(before[:at[0]])
}

// mostWeighed bounds how many matches of a reading are looked at so closely: a
// text with more of them is no prose.
const mostWeighed = 48

// void reports whether a match is only told of or forbidden.
func (w *worker) void(text []byte, m multi.Hit) bool {
	r := &w.screen.rules[m.Pattern]
	if !r.Told && !r.Denied || w.weighed == mostWeighed {
		return false
	}
	w.weighed++
	start := w.begin(text, event{m.Pattern, m.End})
	return denies(text[:start]) || r.Told && tells(text[max(0, start-longestTelling):start])
}

// forbidden reports whether a phrase that is met at start is forbidden there.
func forbidden(text []byte, start int) bool {
	for start > 0 && start < len(text) && text[start-1] != ' ' {
		start--
	}
	return denies(text[:start])
}

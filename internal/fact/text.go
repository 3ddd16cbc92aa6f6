package fact

import "interlock/internal/verdict"

// A Text is one piece of a plan's language, read word by word. The words are
// kept so that a site rule can ask what is said, of what, and whether it is
// denied, without a regular expression.
type Text struct {
	Step  int     `json:"step"`           // 1-based; 0: the plan as a whole
	Part  string  `json:"part,omitempty"` // as in verdict.Span: "" a step's own text, "goal", "calls[1].text", "attachments[1].text"
	Raw   string  `json:"raw"`
	Words []Token `json:"words"`
}

// A Token is one word, number or identifier.
type Token struct {
	Text    string   `json:"text"`  // as written
	Lemma   string   `json:"lemma"` // case folded, base form where the lexicon knows it
	Start   int      `json:"start"` // byte range in the text
	End     int      `json:"end"`
	Clause  int      `json:"clause"`             // from 0: words of one clause belong together
	Negated bool     `json:"negated,omitempty"`  // in the scope of "not", "never", "without" …
	Tags    []string `json:"tags,omitempty"`     // concepts the lexicon gives it, e.g. "act:heat", "safeguard"
	Class   Reading  `json:"class"`              // how it is understood
	Entity  int      `json:"entity"`             // index in Set.Entities plus one; 0 none
	Hedged  bool     `json:"hedged,omitempty"`   // in a condition: "if", "unless", "in case"
	Quoted  bool     `json:"quoted,omitempty"`   // inside quotation marks
	Sent    int      `json:"sentence,omitempty"` // from 0
}

// A Reading says how a word is understood, worst first.
type Reading uint8

// The ways. Unknown is the zero value.
const (
	Unknown  Reading = iota // no lexicon knows it
	Concept                 // a concept of the lexicon that may matter: a verb of action, a safeguard …
	Named                   // a name of the graph or the site
	Number                  // a number, a unit, a time
	Label                   // an identifier of the plan's own: "V-01", "NB-7"
	Benign                  // an ordinary word of laboratories and robots
	Function                // a word that only holds the sentence together
)

// Understood reports whether some lexicon knows the word.
func (w Reading) Understood() bool { return w != Unknown && w <= Function }

// At gives the place of a token of this text.
func (t *Text) At(w Token) verdict.Span {
	return verdict.Span{Step: t.Step, Part: t.Part, Start: w.Start, End: w.End}
}

// A Call is one tool call as the site knows it.
type Call struct {
	Number int            `json:"number"` // from 1, in the order of the plan
	Step   int            `json:"step"`
	Tool   string         `json:"tool"`
	Listed bool           `json:"listed"` // on the site's allow-list
	Effect string         `json:"effect"` // "act", "observe", "safe"; "" when not listed
	Hazard string         `json:"hazard,omitempty"`
	Args   map[string]any `json:"args"` // string, bool, float64; other shapes as their JSON text
}

// A Submitter is who hands the plan in, as the site knows them.
type Submitter struct {
	Agent      string   `json:"agent"`
	AgentTrust string   `json:"agent_trust"` // "registered", "limited", "untrusted"; "" unknown to the site
	Person     string   `json:"person"`      // as written
	PersonID   string   `json:"person_id"`   // entity, "" unknown to the site
	Role       string   `json:"role"`        // of the person, "" unknown
	May        []string `json:"may"`         // what the person may do
}

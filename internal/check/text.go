package check

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"interlock/internal/plan"
	"interlock/internal/quantity"
	"interlock/internal/verdict"
)

// A role says what a part of a plan is for.
type role uint8

const (
	roleGoal role = iota
	roleStep
	roleArgument   // a string inside a call's arguments
	roleAttachment // data the plan refers to; never carried out
)

// A part is one text of the plan with its place, read once for all checks.
type part struct {
	role   role
	name   string       // how Result.Parts names it
	span   verdict.Span // of the whole part
	text   string
	toks   []token
	quant  []quantity.Quantity
	call   int    // index into the plan's calls (on_abort after tool_calls); -1 outside calls
	arg    string // name of the argument, "" outside calls
	tool   string
	source string // of an attachment
}

// at returns the span of bytes start to end of the part.
func (p *part) at(start, end int) verdict.Span {
	s := p.span
	s.Start, s.End = start, end
	return s
}

// A planText is a plan with every text in it read into words.
type planText struct {
	plan  *plan.Plan
	calls []plan.ToolCall // tool_calls, then on_abort
	parts []part
	steps []int    // index in parts of each step
	names []string // of each call, as Result.Parts gives them
}

// text returns the parts of the plan, read now if Run has not done so.
func (in *Input) parse(lex *lexicon) *planText {
	if in.read != nil {
		return in.read
	}
	in.read = readPlan(in.Plan, lex)
	return in.read
}

func readPlan(p *plan.Plan, lex *lexicon) *planText {
	t := &planText{plan: p, calls: p.ToolCalls}
	if len(p.OnAbort) > 0 {
		t.calls = append(slices.Clip(p.ToolCalls), p.OnAbort...)
	}
	t.parts = make([]part, 0, 2+len(p.Steps)+2*len(t.calls)+len(p.Attachments))
	t.add(part{role: roleGoal, span: verdict.Span{Part: "goal"}, text: p.Goal, call: -1}, lex)
	t.steps = make([]int, len(p.Steps))
	for i, s := range p.Steps {
		t.steps[i] = len(t.parts)
		t.add(part{role: roleStep, span: verdict.Span{Step: i + 1}, text: s, call: -1}, lex)
	}
	t.names = make([]string, len(t.calls))
	for i, c := range t.calls {
		t.names[i] = callPart(i, len(p.ToolCalls), "")
		t.arguments(i, c, lex)
	}
	for i, a := range p.Attachments {
		name := "attachments[" + strconv.Itoa(i+1) + "].text"
		t.parts = append(t.parts, part{role: roleAttachment, name: name, span: verdict.Span{Part: name}, text: a.Text, call: -1, source: a.Source})
	}
	return t
}

func (t *planText) add(p part, lex *lexicon) {
	p.name = p.span.String()
	p.toks = lex.tokens(p.text)
	if p.role != roleArgument {
		p.quant = quantity.Read(p.text)
	}
	t.parts = append(t.parts, p)
}

// arguments adds every string in the arguments of call i, nested ones and keys
// of nested objects included.
func (t *planText) arguments(i int, c plan.ToolCall, lex *lexicon) {
	names := make([]string, 0, 8)
	for name := range c.Arguments {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch v := c.Arguments[name].(type) {
		case string, []any, map[string]any:
			t.value(i, c, name, t.names[i]+"."+name, v, lex)
		}
	}
}

func (t *planText) value(i int, c plan.ToolCall, name, where string, v any, lex *lexicon) {
	switch x := v.(type) {
	case string:
		t.add(part{role: roleArgument, span: verdict.Span{Step: c.Step, Part: where}, text: x, call: i, arg: name, tool: c.Tool}, lex)
	case []any:
		for k, e := range x {
			t.value(i, c, name, where+"["+strconv.Itoa(k+1)+"]", e, lex)
		}
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			t.value(i, c, name, where+"."+k, k, lex)
			t.value(i, c, name, where+"."+k, x[k], lex)
		}
	}
}

// callPart names an argument as spans cite it: calls[2].speed_mm_s.
func callPart(i, calls int, arg string) string {
	list, n := "calls[", i+1
	if i >= calls {
		list, n = "on_abort[", i-calls+1
	}
	name := list + strconv.Itoa(n) + "]"
	if arg != "" {
		name += "." + arg
	}
	return name
}

// A brk is what separates a token from the one before.
type brk uint8

const (
	brkNone  brk = iota
	brkComma     // comma, colon, bracket, dash: a weak end of clause
	brkStop      // full stop, semicolon, line end: the end of a sentence
)

// A token is one word of a part.
type token struct {
	word       string // folded: lower case, no hidden characters, look-alikes resolved
	start, end int32
	before     brk
	quoted     bool
	hidden     bool  // had characters inside that nobody sees
	mixed      bool  // mixed look-alike letters of two scripts
	address    bool  // the host of a URL or e-mail address
	noun       class // object classes the word, or a phrase ending in it, belongs to
	verb       group // verb groups it is a form of
	fn         fn    // what it does in the grammar
	past       bool  // an -ed form
	gerund     bool  // an -ing form
	phrase     int8  // length of the phrase ending here, in words; 1 for a single word
	ents       []int // entities of the site it names
	starts     *[]phrase
}

// tokens splits text into folded words and says what the lexicon knows of each.
func (lex *lexicon) tokens(text string) []token {
	toks := make([]token, 0, len(text)/5+4)
	s := scanner{text: text, low: text}
	if isASCII(text) {
		s.low = strings.ToLower(text)
		s.ascii = true
	}
	for {
		t, ok := s.next()
		if !ok {
			break
		}
		if e := lex.words[t.word]; e != nil {
			t.starts = &e.starts
			t.noun, t.verb, t.fn, t.past, t.gerund, t.ents = e.noun, e.verb, e.fn, e.past, e.gerund, e.ents
		}
		if t.address {
			t.noun, t.before = t.noun|outside, brkNone
		}
		t.phrase = 1
		toks = append(toks, t)
	}
	lex.phrases(toks)
	return toks
}

// phrases marks the last word of each known phrase with the phrase's classes.
func (lex *lexicon) phrases(toks []token) {
	for i := range toks {
		if toks[i].starts == nil {
			continue
		}
		for _, p := range *toks[i].starts {
			if i+len(p.rest) >= len(toks) {
				continue
			}
			ok := true
			for k, w := range p.rest {
				if t := &toks[i+1+k]; t.word != w && t.word != w+"s" || t.before == brkStop {
					ok = false
					break
				}
			}
			if !ok {
				continue
			}
			last := &toks[i+len(p.rest)]
			if n := int8(len(p.rest) + 1); n > last.phrase { // the longest term says what the words mean
				last.noun, last.phrase = 0, n
			}
			if int(last.phrase) == len(p.rest)+1 {
				last.noun |= p.noun
			}
			last.verb |= p.verb
			last.fn |= p.fn
			last.past, last.gerund = last.past || p.past, last.gerund || p.gerund
			if len(p.ents) > 0 {
				last.ents = append(slices.Clip(last.ents), p.ents...)
			}
		}
	}
}

// A scanner cuts a text into words.
type scanner struct {
	text, low string
	ascii     bool
	pos       int
	pending   brk
	double    bool // inside "…"
	single    bool // inside '…'
}

func (s *scanner) next() (token, bool) {
	for s.pos < len(s.text) {
		if s.text[s.pos] == ' ' {
			s.pos++
			continue
		}
		r, n := s.rune(s.pos)
		if unicode.IsLetter(r) || unicode.IsDigit(r) || hiddenRune(r) {
			if t, ok := s.word(); ok {
				return t, true
			}
			continue
		}
		s.separator(r, n)
		s.pos += n
	}
	return token{}, false
}

func (s *scanner) rune(i int) (rune, int) {
	if c := s.text[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s.text[i:])
}

// separator notes what a character between words does to the clause.
func (s *scanner) separator(r rune, n int) {
	switch r {
	case '.':
		if abbreviated(s.text[:s.pos]) {
			return
		}
		s.pending = brkStop
	case ';', '!', '?', '\n', '\r', '。', '；':
		s.pending = brkStop
	case ',', ':', '(', ')', '[', ']', '—', '–', '，', '：':
		s.pending = max(s.pending, brkComma)
	case '-':
		if s.pos > 0 && s.text[s.pos-1] == ' ' {
			s.pending = max(s.pending, brkComma)
		}
	case '"', '“', '”', '„', '«', '»':
		s.double = !s.double
		s.pending = max(s.pending, brkComma)
	case '\'', '‘', '’':
		opens := s.pos+n < len(s.text) && s.text[s.pos+n] != ' ' && (s.pos == 0 || strings.IndexByte(" (:,[\n", s.text[s.pos-1]) >= 0)
		if opens || s.single {
			s.single = opens
			s.pending = max(s.pending, brkComma)
		}
	}
}

// abbreviated reports whether the text before a point ends with a word that is
// written with one: "Dr. Quist" is one name, not two sentences.
func abbreviated(before string) bool {
	i := len(before)
	for i > 0 && isLetter(before[i-1]) {
		i--
	}
	if i > 0 && before[i-1] != ' ' && before[i-1] != '(' {
		return false
	}
	switch w := strings.ToLower(before[i:]); w {
	case "dr", "prof", "mr", "mrs", "ms", "approx", "ca", "max", "min", "fig", "vs", "incl", "resp", "temp", "vol", "conc":
		return true
	default:
		// An initial, unless a number stands before it: "60 C." ends a sentence.
		return len(w) == 1 && i > 1 && 'A' <= before[i] && before[i] <= 'Z' && !isDigit(before[i-2])
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// word reads the word at pos: letters and digits, underscores, and points or
// apostrophes between two of them.
func (s *scanner) word() (token, bool) {
	start, end := s.pos, s.pos
	var t token
	scripts := 0
	for end < len(s.text) {
		if c := s.text[end]; asciiWord[c] {
			if c >= 'A' && c != '_' {
				scripts |= latin
			}
			end++
			continue
		}
		r, n := s.rune(end)
		switch {
		case hiddenRune(r):
			t.hidden = t.hidden || end > start
		case unicode.IsLetter(r):
			scripts |= script(r)
		case unicode.IsDigit(r) || r == '_' || unicode.Is(unicode.M, r):
		case (r == '.' || r == '\'' || r == '’') && end > start && end+n < len(s.text) && wordRune(s.text[end+n:]) && !(r == '.' && sentenceEnd(s.text[end+n:])):
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		end += n
	}
	s.pos = end
	t.start, t.end = int32(start), int32(end)
	t.before, s.pending = s.pending, brkNone
	t.quoted = s.double || s.single
	t.address = start > 0 && s.text[start-1] == '@' || strings.HasSuffix(s.text[:start], "://")
	t.mixed = scripts == latin|lookalike
	if s.ascii {
		t.word = s.low[start:end]
	} else {
		t.word = fold(s.text[start:end])
	}
	t.word = strings.TrimSuffix(t.word, "'s")
	if t.word == "" { // nothing but hidden characters
		s.pending = t.before
		return t, false
	}
	t.hidden = t.hidden && len(t.word) > 0
	return t, true
}

// asciiWord are the ASCII bytes that words are made of.
var asciiWord = func() (t [256]bool) {
	for c := range t {
		t[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
	}
	return t
}()

func wordRune(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// sentenceEnd reports whether what follows a point begins a sentence: a
// capital after a full stop without a space.
func sentenceEnd(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) && len(s) > 1 && s[1] >= 'a'
}

// hiddenRune reports characters that show as nothing.
func hiddenRune(r rune) bool {
	return r >= 0xad && (r == 0xad || unicode.Is(unicode.Cf, r) || r == 0x115f || r == 0x3164 || 0xfe00 <= r && r <= 0xfe0f)
}

const (
	latin = 1 << iota
	lookalike
	otherScript
)

// script tells Latin from the scripts whose letters pass for Latin ones.
func script(r rune) int {
	switch {
	case r < 0x250:
		return latin
	case r == 'ο' || r >= 0x400 && homoglyph(r) != 0: // Greek letters stand in honest names such as TNFα
		return lookalike
	}
	return otherScript
}

// fold gives the word as it is matched: compatibility forms and look-alike
// letters resolved, hidden characters dropped, lower case.
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKC.String(s) {
		switch {
		case hiddenRune(r):
			continue
		case r == '’':
			r = '\''
		case r > 0x24f:
			if g := homoglyph(r); g != 0 {
				r = g
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// homoglyph gives the Latin letter that a Cyrillic or Greek one passes for.
func homoglyph(r rune) rune {
	i, ok := slices.BinarySearchFunc(homoglyphs[:], r, func(p [2]rune, r rune) int { return cmp.Compare(p[0], r) })
	if !ok {
		return 0
	}
	return homoglyphs[i][1]
}

var homoglyphs = [...][2]rune{
	{'Α', 'a'},
	{'Β', 'b'},
	{'Ε', 'e'},
	{'Ζ', 'z'},
	{'Η', 'h'},
	{'Ι', 'i'},
	{'Κ', 'k'},
	{'Μ', 'm'},
	{'Ν', 'n'},
	{'Ο', 'o'},
	{'Ρ', 'p'},
	{'Τ', 't'},
	{'Υ', 'y'},
	{'Χ', 'x'},
	{'α', 'a'},
	{'ι', 'i'},
	{'ν', 'v'},
	{'ο', 'o'},
	{'ρ', 'p'},
	{'Ѕ', 's'},
	{'І', 'i'},
	{'Ј', 'j'},
	{'А', 'a'},
	{'В', 'b'},
	{'Е', 'e'},
	{'К', 'k'},
	{'М', 'm'},
	{'Н', 'h'},
	{'О', 'o'},
	{'Р', 'p'},
	{'С', 'c'},
	{'Т', 't'},
	{'У', 'y'},
	{'Х', 'x'},
	{'а', 'a'},
	{'е', 'e'},
	{'о', 'o'},
	{'р', 'p'},
	{'с', 'c'},
	{'у', 'y'},
	{'х', 'x'},
	{'ѕ', 's'},
	{'і', 'i'},
	{'ј', 'j'},
	{'һ', 'h'},
	{'ԁ', 'd'},
	{'ԛ', 'q'},
	{'ԝ', 'w'},
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

package check

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	low    string // the text with ASCII letters in lower case: same offsets
	toks   []token
	quant  []quantity.Quantity
	call   int    // index into the plan's calls (on_abort after tool_calls); -1 outside calls
	arg    string // name of the argument, "" outside calls
	tool   string
	source string // of an attachment
	has    contents
}

// at returns the span of bytes start to end of the part.
func (p *part) at(start, end int) verdict.Span {
	s := p.span
	s.Start, s.End = start, end
	return s
}

// A planText is a plan with every text in it read into words. Its storage is
// used again for the next plan, so nothing of it may outlive Run but strings.
type planText struct {
	plan      *plan.Plan
	calls     []plan.ToolCall // tool_calls, then on_abort
	parts     []part
	steps     []int      // index in parts of each step
	names     []string   // of each call, as Result.Parts gives them
	argNames  [][]string // of each call, sorted
	firstPart []int      // index in parts of the first argument of each call

	toks   []token // backing of the parts' words
	sorted []string
	quant  quantity.Reader
}

// planTexts keeps the storage of plans already checked.
var planTexts = sync.Pool{New: func() any { return new(planText) }}

// release gives the storage back, with nothing of the plan left in it.
func (t *planText) release() {
	const most = 1 << 16 // words; storage grown by an unusual plan is let go
	if cap(t.toks) > most {
		return
	}
	t.plan, t.calls = nil, nil
	clear(t.parts)
	clear(t.names)
	clear(t.argNames)
	clear(t.toks)
	clear(t.sorted)
	t.quant.Reset()
	t.firstPart = t.firstPart[:0]
	t.parts, t.steps, t.names, t.argNames, t.toks, t.sorted = t.parts[:0], t.steps[:0], t.names[:0], t.argNames[:0], t.toks[:0], t.sorted[:0]
	planTexts.Put(t)
}

// parse returns the parts of the plan, read now if Run has not done so.
func (in *Input) parse(lex *lexicon) *planText {
	if in.read == nil {
		in.read = new(planText)
		in.read.fill(in.Plan, lex)
	}
	return in.read
}

// fill reads the plan: first its parts, then the words of each.
func (t *planText) fill(p *plan.Plan, lex *lexicon) {
	t.plan, t.calls = p, p.ToolCalls
	if len(p.OnAbort) > 0 {
		t.calls = append(slices.Clip(p.ToolCalls), p.OnAbort...)
	}
	t.parts = append(t.parts, part{role: roleGoal, name: "goal", span: verdict.Span{Part: "goal"}, text: p.Goal, call: -1})
	for i, s := range p.Steps {
		t.steps = append(t.steps, len(t.parts))
		t.parts = append(t.parts, part{role: roleStep, name: strings.TrimSpace(labelOf(&stepLabels, "step ", i, " ")), span: verdict.Span{Step: i + 1}, text: s, call: -1})
	}
	for i := range t.calls {
		t.names = append(t.names, callPart(i, len(p.ToolCalls), ""))
		t.arguments(i, &t.calls[i])
	}
	for i, a := range p.Attachments {
		name := "attachments[" + strconv.Itoa(i+1) + "].text"
		t.parts = append(t.parts, part{role: roleAttachment, name: name, span: verdict.Span{Part: name}, text: a.Text, call: -1, source: a.Source})
	}
	t.fold()
	for i := range t.parts {
		if p := &t.parts[i]; p.role != roleAttachment { // data: its words are not read
			t.words(p, lex)
		}
	}
}

// fold sets the lower-case form of every part, all in one string.
func (t *planText) fold() {
	size := 0
	for i := range t.parts {
		size += len(t.parts[i].text)
	}
	var b strings.Builder
	b.Grow(size)
	for i := range t.parts {
		quantity.AppendLower(&b, t.parts[i].text)
	}
	all := b.String()
	for i := range t.parts {
		n := len(t.parts[i].text)
		t.parts[i].low, all = all[:n], all[n:]
	}
}

// words reads the words and quantities of one part.
func (t *planText) words(p *part, lex *lexicon) {
	start := len(t.toks)
	t.toks = lex.tokens(p.text, p.low, t.toks)
	p.toks = t.toks[start:len(t.toks):len(t.toks)]
	p.has.read(p.toks)
	if p.role != roleArgument {
		p.quant = t.quant.Read(p.text, p.low)
	}
}

// arguments adds every string in the arguments of call i, nested ones and keys
// of nested objects included.
func (t *planText) arguments(i int, c *plan.ToolCall) {
	start := len(t.sorted)
	t.firstPart = append(t.firstPart, len(t.parts))
	for name := range c.Arguments {
		t.sorted = append(t.sorted, name)
	}
	names := t.sorted[start:len(t.sorted):len(t.sorted)]
	slices.Sort(names)
	t.argNames = append(t.argNames, names)
	prefix := ""
	if c.Step > 0 {
		prefix = labelOf(&stepLabels, "step ", c.Step-1, " ")
	}
	for _, name := range names {
		switch v := c.Arguments[name].(type) {
		case string, []any, map[string]any:
			t.value(i, c, name, prefix+t.names[i]+"."+name, v)
		}
	}
}

// value adds the texts in one value; where is its place as Result.Parts gives
// it, the step included.
func (t *planText) value(i int, c *plan.ToolCall, name, where string, v any) {
	switch x := v.(type) {
	case string:
		span := verdict.Span{Step: c.Step, Part: where}
		if c.Step > 0 {
			_, rest, _ := strings.Cut(where[len("step "):], " ")
			span.Part = rest
		}
		t.parts = append(t.parts, part{role: roleArgument, name: where, span: span, text: x, call: i, arg: name, tool: c.Tool})
	case []any:
		for k, e := range x {
			t.value(i, c, name, where+"["+strconv.Itoa(k+1)+"]", e)
		}
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			t.value(i, c, name, where+"."+k, k)
			t.value(i, c, name, where+"."+k, x[k])
		}
	}
}

// callPart names an argument as spans cite it: calls[2].speed_mm_s.
func callPart(i, calls int, arg string) string {
	name := ""
	if i < calls {
		name = labelOf(&callLabels, "calls[", i, "]")
	} else {
		name = labelOf(&abortLabels, "on_abort[", i-calls, "]")
	}
	if arg != "" {
		name += "." + arg
	}
	return name
}

// labels are the names of the first parts of a kind, made once.
type labels [64]string

var stepLabels, callLabels, abortLabels = newLabels("step ", " "), newLabels("calls[", "]"), newLabels("on_abort[", "]")

func newLabels(before, after string) (l labels) {
	for i := range l {
		l[i] = before + strconv.Itoa(i+1) + after
	}
	return l
}

// labelOf returns the name of part i, counted from 0.
func labelOf(l *labels, before string, i int, after string) string {
	if i >= 0 && i < len(l) {
		return l[i]
	}
	return before + strconv.Itoa(i+1) + after
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
	ents       []int  // entities of the site it names
	entry      *entry // what the lexicon knows of it; nil for unknown words
	start, end int32
	noun       class // object classes the word, or a phrase ending in it, belongs to
	verb       group // verb groups it is a form of
	fn         fn    // what it does in the grammar
	id         int32 // of a word that patterns compare; 0 for others
	before     brk
	phrase     int8 // length of the phrase ending here, in words; 1 for a single word
	quoted     bool
	hidden     bool // had characters inside that nobody sees
	mixed      bool // mixed look-alike letters of two scripts
	address    bool // the host of a URL or e-mail address
	past       bool // an -ed form
	gerund     bool // an -ing form
}

// tokens appends the folded words of text, each with what the lexicon knows of
// it. low is the text with ASCII letters in lower case.
func (lex *lexicon) tokens(text, low string, toks []token) []token {
	start := len(toks)
	s := scanner{text: text, low: low}
	for {
		toks = append(toks, token{phrase: 1})
		t := &toks[len(toks)-1]
		if !s.next(t) {
			break
		}
		if len(t.word) <= lex.longest {
			if e := lex.words[t.word]; e != nil {
				t.entry = e
				t.noun, t.verb, t.fn, t.id, t.past, t.gerund, t.ents = e.noun, e.verb, e.fn, e.id, e.past, e.gerund, e.ents
			}
		}
		if t.address {
			t.noun, t.before = t.noun|outside, brkNone
		}
	}
	toks = toks[:len(toks)-1]
	lex.phrases(toks[start:])
	return toks
}

// phrases marks the last word of each known phrase with the phrase's classes.
func (lex *lexicon) phrases(toks []token) {
	for i := range toks {
		if toks[i].entry == nil {
			continue
		}
		for k := range toks[i].entry.starts {
			if p := &toks[i].entry.starts[k]; p.at(toks, i) {
				p.mark(&toks[i+len(p.rest)])
			}
		}
	}
}

// at reports whether the phrase stands at toks[i]; its words may be plurals.
func (p *phrase) at(toks []token, i int) bool {
	if i+len(p.rest) >= len(toks) {
		return false
	}
	for k, w := range p.rest {
		if t := &toks[i+1+k]; !strings.HasPrefix(t.word, w) || len(t.word) > len(w) && t.word[len(w):] != "s" || t.before == brkStop {
			return false
		}
	}
	return true
}

func (p *phrase) mark(last *token) {
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

// A scanner cuts a text into words.
type scanner struct {
	text, low string
	pos       int
	pending   brk
	double    bool // inside "…"
	single    bool // inside '…'
}

// next reads the next word into t, which is fresh.
func (s *scanner) next(t *token) bool {
	for s.pos < len(s.text) {
		if s.text[s.pos] == ' ' {
			s.pos++
			continue
		}
		if asciiWord[s.text[s.pos]] && s.text[s.pos] != '_' {
			s.word(t)
			return true
		}
		r, n := s.rune(s.pos)
		if unicode.IsLetter(r) || unicode.IsDigit(r) || hiddenRune(r) {
			if s.word(t) {
				return true
			}
			continue
		}
		s.separator(r, n)
		s.pos += n
	}
	return false
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
func (s *scanner) word(t *token) bool {
	start, end := s.pos, s.pos
	scripts, ascii := 0, true
	for end < len(s.text) {
		if c := s.text[end]; asciiWord[c] {
			if c >= 'A' && c != '_' {
				scripts |= latin
			}
			end++
			continue
		}
		if c := s.text[end]; c < utf8.RuneSelf && c != '.' && c != '\'' {
			break
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
		ascii = ascii && r < utf8.RuneSelf
		end += n
	}
	s.pos = end
	t.start, t.end = int32(start), int32(end)
	t.before, s.pending = s.pending, brkNone
	t.quoted = s.double || s.single
	t.address = start > 0 && s.text[start-1] == '@' || strings.HasSuffix(s.text[:start], "://")
	t.mixed = scripts == latin|lookalike
	if ascii {
		t.word = s.low[start:end]
	} else {
		t.word = fold(visible(s.text[start:end]))
	}
	t.word = strings.TrimSuffix(t.word, "'s")
	if t.word == "" { // nothing but hidden characters
		s.pending = t.before
		*t = token{phrase: 1}
		return false
	}
	return true
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

// longestFold is how long a word can be, in bytes, and still be one we know in
// another form. A longer one, hidden characters left out, is kept as it is:
// normal forms of endless marks cost more than reading them is worth.
const longestFold = 256

// visible drops hidden characters from a very long word.
func visible(s string) string {
	if len(s) <= longestFold {
		return s
	}
	return strings.Map(func(r rune) rune {
		if hiddenRune(r) {
			return -1
		}
		return r
	}, s)
}

// fold gives the word as it is matched: compatibility forms and look-alike
// letters resolved, hidden characters dropped, lower case.
func fold(s string) string {
	if len(s) > longestFold {
		return s
	}
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

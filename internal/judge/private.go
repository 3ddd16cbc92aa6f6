package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"interlock/internal/plan"
	"interlock/internal/prompt"
	"interlock/internal/site"
)

// A DataPolicy says what of a site's plans may leave, and to whom (C45).
type DataPolicy struct {
	Vendors    []string // hosted vendors that may judge; empty: all that are configured
	Regions    []string // regions that may judge; empty: all
	Pseudonyms bool     // people and private names become pseudonyms for hosted judges
	Private    []string // further names to hide: projects, patients, partners
	Local      []string // fields that never leave: goal, submitted_by, tool_calls, attachments
}

// DefaultData hides people's names from hosted judges and restricts nothing
// else: which vendors judge is already a person's choice (C37).
func DefaultData() DataPolicy { return DataPolicy{Pseudonyms: true} }

func (d DataPolicy) local(field string) bool { return slices.Contains(d.Local, field) }

// Bars says why a judge may not hear the site's plans; "" if it may.
func (d DataPolicy) Bars(o Options) string {
	if !o.Hosted {
		return ""
	}
	if len(d.Vendors) > 0 && !slices.Contains(d.Vendors, o.Vendor) {
		return fmt.Sprintf("data policy: vendor %q may not judge plans of this site", o.Vendor)
	}
	if len(d.Regions) > 0 && !slices.Contains(d.Regions, o.Region) {
		return fmt.Sprintf("data policy: region %q may not judge plans of this site", o.Region)
	}
	return ""
}

// A pseudonym map replaces names in both directions.
type pseudonym struct {
	to      map[string]string   // folded name → pseudonym
	byFirst map[string][]string // folded names by their first run of letters, longest first
	begins  [256]bool           // bytes that a name in any case may begin with
	inside  []string            // folded names in scripts without spaces, longest first: no word ends beside them
	from    []string            // pseudonym, name, pseudonym, name …
}

// titles and ordinary words that stand beside names or are names and words.
var notNames = map[string]bool{
	"dr": true, "prof": true, "mr": true, "mrs": true, "ms": true, "sr": true, "the": true, "and": true, "for": true, "of": true, "van": true, "von": true, "der": true, "de": true, "la": true, "al": true,
	"will": true, "mark": true, "may": true, "june": true, "april": true, "grace": true, "faith": true, "hope": true, "joy": true, "rose": true, "bill": true, "pat": true, "art": true, "gene": true, "ray": true, "jack": true, "sue": true,
}

// alsoWords are surnames that are ordinary words where robots work: hiding
// every "hood" because a Dr. Hood works there would hide the plan.
var alsoWords = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`green brown black white gray grey young long short stone wood field hill lake bell cook park rice rose storm frost snow
		winter summer day price power banks bush west north east south moss reed glass steel iron silver gold pearl sharp swift strong cross page hand foot head
		hood dose ward bench ash waters pool wells marsh rivers bridges gates hall house mills porter salt pepper berry cherry apple ford brook burn burns best good
		moon star sun rain light lane street walker case key lock rod pole post beam bar coil crane drill file hammer plate rack ring root shaft sparks tank trap
		vane wheel`) {
		words[w] = true
	}
	return words
}()

// pseudonyms collects the names that must not leave: people of the profile,
// whoever the plan says it is for, and the site's private names. The roles
// stay: they are what a judge needs.
func pseudonyms(in Input, policy DataPolicy) *pseudonym {
	p := &pseudonym{to: map[string]string{}}
	n := 0
	person := func(words []string, whole string) {
		if len(words) == 0 {
			return
		}
		n++
		alias := fmt.Sprintf("Person-%d", n)
		p.add(alias, whole)
		for _, w := range words {
			if low := strings.ToLower(w); !notNames[low] && !alsoWords[low] {
				p.add(alias, w)
			}
		}
		// A surname that is also a word of laboratories counts only where a
		// title or an initial shows that a person is meant.
		last := words[len(words)-1]
		for _, title := range []string{"Dr. ", "Dr ", "Prof. ", "Mr ", "Mr. ", "Ms ", "Ms. ", "Mrs. ", initial(words[0]) + ". "} {
			p.add(alias, title+last)
		}
	}
	for _, q := range in.Site.People {
		person(personWords(q.Name))
	}
	if whole := nobody(in); whole != "" {
		if words := callWords(whole); len(words) > 0 {
			person(words, whole)
		} else {
			n++
			p.add(fmt.Sprintf("Person-%d", n), whole)
		}
	}
	for _, word := range strangers(in) {
		if _, known := p.to[strings.ToLower(word)]; !known {
			person([]string{word}, word)
		}
	}
	for i, name := range policy.Private {
		p.add(fmt.Sprintf("Name-%d", i+1), name)
	}
	p.compile()
	return p
}

// Unnamed returns what takes the names of a plan and its site out of texts
// about the plan, for a reader who needs none of them: the chief, who may be
// hosted (C45). mark stands in their place.
func Unnamed(p *plan.Plan, s *site.Site, policy DataPolicy, mark string) func(string) string {
	if !policy.Pseudonyms {
		return func(text string) string { return text }
	}
	names := pseudonyms(Input{Plan: p, Site: s}, policy)
	for name := range names.to {
		names.to[name] = mark
	}
	return names.hide
}

// initial is the first letter of a word.
func initial(w string) string {
	_, size := utf8.DecodeRuneInString(w)
	return w[:size]
}

func (p *pseudonym) add(alias, name string) {
	key := strings.ToLower(composed(strings.TrimSpace(name)))
	if key == "" {
		return
	}
	if _, taken := p.to[key]; taken {
		return
	}
	p.to[key] = alias
	if !slices.Contains(p.from, alias) {
		p.from = append(p.from, alias, strings.TrimSpace(name))
	}
}

// compile orders the names for hide.
func (p *pseudonym) compile() {
	p.byFirst = map[string][]string{}
	for c := utf8.RuneSelf; c < len(p.begins); c++ {
		p.begins[c] = true // what folds to what is not looked into here
	}
	for name := range p.to {
		p.begins[name[0]], p.begins[name[0]&^asciiCase] = true, true
		first := letters(name)
		p.byFirst[first] = append(p.byFirst[first], name)
	}
	for name := range p.to {
		if utf8.RuneCountInString(name) > 1 && strings.IndexFunc(name, func(r rune) bool { return unicode.In(r, unspaced...) }) == 0 {
			p.inside = append(p.inside, name)
		}
	}
	slices.SortFunc(p.inside, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, names := range p.byFirst {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	}
}

// asciiCase is the bit in which the cases of an ASCII letter differ.
const asciiCase = 'a' - 'A'

// letters is the run of letters that a text begins with.
func letters(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf {
			break
		} else if c |= asciiCase; c < 'a' || c > 'z' {
			return s[:i]
		}
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		return s[:i]
	}
	return s
}

// hide replaces every name that stands as a word of its own, however its
// letters are cased.
func (p *pseudonym) hide(s string) string {
	s = composed(s)
	for _, name := range p.inside {
		s = strings.ReplaceAll(s, name, p.to[name])
	}
	var b strings.Builder
	done := 0
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		if !unicode.IsLetter(r) {
			at += size
			continue
		}
		run := letters(s[at:])
		start, name := p.find(s, at, run)
		if name == "" {
			at += len(run)
			continue
		}
		b.WriteString(s[done:start])
		b.WriteString(p.to[name])
		done = start + len(name)
		at = done
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// composed writes accents and apostrophes in one way: one name must not have two
// spellings.
func composed(s string) string {
	return strings.ReplaceAll(norm.NFC.String(s), "’", "'")
}

// find looks for a name at the run of letters that begins at s[at:]. Rendering
// may have put the letters of an escape in front of it: "\\nTanaka" is a line
// break and a name.
func (p *pseudonym) find(s string, at int, run string) (start int, name string) {
	if at == 0 || strings.IndexByte("\\0123456789", s[at-1]) < 0 {
		if p.begins[run[0]] {
			if n := p.named(s, at, run); n != "" {
				return at, n
			}
		}
		return at, ""
	}
	for _, skip := range p.starts(s, at, run) {
		if n := p.named(s, at+skip, run[skip:]); n != "" {
			return at + skip, n
		}
	}
	return at, ""
}

// named gives the name that begins at s[start:] with the run of letters, if any.
func (p *pseudonym) named(s string, start int, run string) string {
	for _, n := range p.byFirst[strings.ToLower(letters(run))] {
		if end := start + len(n); end <= len(s) && strings.EqualFold(s[start:end], n) && wordAt(s, start, end) {
			return n
		}
	}
	return ""
}

// starts are the places in a run of letters at which a name could begin.
func (p *pseudonym) starts(s string, at int, run string) []int {
	places := []int{0}
	for skip := 1; skip < min(len(run), maxEscape); skip++ {
		if escapeEnds(s[:at+skip]) {
			places = append(places, skip)
		}
	}
	return places
}

// maxEscape is the longest escape without its backslash: U000e0001.
const maxEscape = 10

// wordAt reports whether no letter touches s[i:j]. The letters of an escape
// such as \n or \u200b, which rendering made, are none.
func wordAt(s string, i, j int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[j:])
	return (!unicode.IsLetter(before) || escapeEnds(s[:i])) && !unicode.IsLetter(after)
}

// escapeEnds reports whether s ends with an escape of Go or JSON.
func escapeEnds(s string) bool {
	for _, digits := range [...]int{0, 2, 4, 8} { // \n, \x7f, \u200b, \U000e0001
		at := len(s) - digits - 1
		if at < 1 || s[at-1] != '\\' {
			continue
		}
		if kind := s[at]; digits == 0 && strings.IndexByte("abfnrtv", kind) >= 0 || digits > 0 && strings.IndexByte("xuU", kind) >= 0 {
			return true
		}
	}
	return false
}

// back gives the names again to what people read.
func (p *pseudonym) back(s string) string {
	// Longer pseudonyms first: Person-12 before Person-1.
	pairs := make([]string, 0, len(p.from))
	for i := len(p.from) - 2; i >= 0; i -= 2 {
		pairs = append(pairs, p.from[i], p.from[i+1])
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

func (p *pseudonym) fields(f prompt.Judge) prompt.Judge {
	for _, s := range []*string{&f.Profile, &f.Submitter, &f.Plan, &f.Findings, &f.Facts, &f.Evidence, &f.Claims, &f.Extra} {
		*s = p.hide(*s)
	}
	return f
}

// personWords returns the words of one person's name and the name without
// titles; none for a group.
func personWords(name string) (words []string, whole string) {
	head := name
	inner := ""
	if open := strings.IndexByte(name, '('); open >= 0 {
		head, inner = name[:open], strings.Trim(name[open:], "() ")
	}
	if words = caselessWords(head); len(words) > 0 {
		return append(words, nameWords(inner)...), stripTitles(strings.TrimSpace(head)) // what stands in brackets spells it in letters
	}
	words = nameWords(head)
	if len(words) >= 2 && len(words) == countLetters(head) {
		return words, stripTitles(strings.TrimSpace(head))
	}
	if inner = titled(inner); inner == "" {
		return nil, ""
	}
	return nameWords(inner), stripTitles(inner)
}

// caselessWords are the words of a name in a script that has no case: nothing
// but the place in the profile says there that it is a name.
func caselessWords(s string) []string {
	return slices.DeleteFunc(callWords(s), func(w string) bool {
		return strings.ContainsFunc(w, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) })
	})
}

// unspaced are the scripts that write no spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// nameWords keeps the words that look like parts of a name.
func nameWords(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) {
		if r := []rune(w); len(r) >= 2 && unicode.IsUpper(r[0]) && unicode.IsLower(r[1]) && !isTitle(w) {
			out = append(out, w)
		}
	}
	return out
}

// countLetters counts the words of at least two letters that are no titles.
func countLetters(s string) int {
	n := 0
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '\'' }) {
		if len([]rune(w)) >= 2 && !isTitle(w) {
			n++
		}
	}
	return n
}

func isTitle(w string) bool {
	return slices.Contains([]string{"dr", "prof", "professor", "mr", "mrs", "ms", "sr"}, strings.ToLower(w))
}

// titled returns the text if it begins with a title, as in "board (Dr. F. Abara)".
func titled(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if isTitle(strings.TrimSuffix(first, ".")) {
		return s
	}
	return ""
}

func stripTitles(name string) string {
	words := strings.Fields(name)
	for len(words) > 1 && isTitle(strings.TrimSuffix(words[0], ".")) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// strangers are the names that the plan gives and the profile does not hold:
// capital words in "on behalf of" that no role, group or agent of the profile
// uses, and names with a title in the plan's texts. The bare name of an unlisted
// person inside a sentence is not recognised.
func strangers(in Input) []string {
	named := nameWords(in.Plan.SubmittedBy.OnBehalfOf)
	texts := append([]string{in.Plan.Goal}, in.Plan.Steps...)
	for _, a := range in.Plan.Attachments {
		texts = append(texts, a.Source, a.Text)
	}
	for _, t := range texts {
		if !slices.ContainsFunc(titleBegins[:], func(b string) bool { return strings.Contains(t, b) }) {
			continue
		}
		for _, m := range namedAloud.FindAllStringSubmatch(t, -1) {
			named = append(named, nameWords(m[1])...)
		}
	}
	if len(named) == 0 {
		return nil
	}
	used := map[string]bool{}
	for _, p := range in.Site.People {
		for w := range strings.FieldsSeq(strings.ToLower(p.Role + " " + p.Name)) {
			used[strings.Trim(w, ".,()")] = true
		}
	}
	var out []string
	for _, w := range named {
		if low := strings.ToLower(w); !used[low] && !notNames[low] && !alsoWords[low] && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// roleWords are in the names of roles, groups and systems, which stay.
var roleWords = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`the on team shift group staff crew lab laboratory operator operators technician technicians student students user users service system planner agent
		department duty manager lead office officer nurse doctor pharmacist chemist scientist engineer supervisor director unit ward security safety maintenance dispatcher
		visitor visitors guest contractor nobody none unknown anonymous admin root scheduler control room`) {
		words[w] = true
	}
	return words
}()

// nobody returns whom the plan says it is for if that is in no profile and no
// role: then it is somebody's name, however it is written. In small letters it
// may be a place of work too, as in "laundry": that is a single word, or one
// that the profile uses.
func nobody(in Input) string {
	whole := strings.TrimSpace(in.Plan.SubmittedBy.OnBehalfOf)
	if in.Facts != nil && (in.Facts.Submitter.PersonID != "" || in.Facts.Submitter.Role != "") {
		return ""
	}
	words := lowerWords(whole)
	if slices.ContainsFunc(words, func(w string) bool { return roleWords[w] }) {
		return ""
	}
	if len(callWords(whole)) > 0 || strings.Contains(whole, "@") {
		return whole
	}
	if len(words) < 2 {
		return ""
	}
	profile := lowerWords(site.Render(in.Site))
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(profile, w) }) {
		return ""
	}
	return whole
}

func lowerWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
}

// minCapitals is how long a word in capitals must be to be a name and not an
// abbreviation.
const minCapitals = 4

// callWords are the parts of a name that may stand alone in a text: in title
// case, in capitals, or in a script that has no case.
func callWords(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) && r != '-' && r != '\'' && r != '’'
	}) {
		r := []rune(w)
		caseless := !unicode.IsUpper(r[0]) && !unicode.IsLower(r[0])
		titled := len(r) >= 2 && unicode.IsUpper(r[0]) && !unicode.IsUpper(r[1])
		if caseless && len(r) >= 2 || titled && !isTitle(w) || len(r) >= minCapitals && w == strings.ToUpper(w) {
			out = append(out, w)
		}
	}
	return out
}

// titleBegins are how the titles of namedAloud begin.
var titleBegins = [...]string{"Dr", "Prof", "Mr", "Ms"}

// namedAloud finds names with a title. An initial alone tells nothing: "at
// 40 C. Then" is no person.
var namedAloud = regexp.MustCompile(`\b(?:Dr|Prof|Mr|Mrs|Ms)\.? (?:\p{Lu}\. ?|\p{Lu}\p{Ll}+ )?(\p{Lu}\p{Ll}{2,}(?:-\p{Lu}\p{Ll}+)?)`)

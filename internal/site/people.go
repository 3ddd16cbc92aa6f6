package site

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// FindAgent returns the agent with exactly this identifier, or nil.
func (s *Site) FindAgent(id string) *Planner {
	for i := range s.Agents {
		if s.Agents[i].ID == id {
			return &s.Agents[i]
		}
	}
	return nil
}

// FindPerson returns the person or group that a plan's "on behalf of" names,
// or nil if the site does not know it or two people fit. It matches
//
//   - a person by surname, with or without title, given name, initials or own
//     role: "Dr. Laila Haddad", "S. Pillai", "Okafor", "chief pharmacist S. Pillai";
//   - a person by the whole role: "shift lead";
//   - a group by the words of its name: "ward nurses", "guest student T. Ashworth";
//   - a group by an identifier it lists: "user group MX-4471".
//
// Only the first one named counts: in "a contractor, via Elin Marstrand" that
// is the contractor. What follows must say who that is or who else is meant; a
// text that tells a story ("Tanaka, who has not agreed") names nobody. A word too many ("Okafor's assistant"), a wrong initial or
// an identifier the group does not list is no match: a doubt is a flag.
func (s *Site) FindPerson(text string) *Person {
	q := parseName(text)
	if len(q.words) == 0 || tellsStory(text) {
		return nil
	}
	for _, match := range []func(*Person, name) bool{byName, byRole, byGroup} {
		var found *Person
		for i := range s.People {
			if !match(&s.People[i], q) {
				continue
			}
			if found != nil {
				return nil // two fit: we do not choose
			}
			found = &s.People[i]
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// tellsStory reports whether a text has a word that no name, role or address
// has: a verb, a negation, a pronoun.
func tellsStory(text string) bool {
	return slices.ContainsFunc(words(text), func(w string) bool {
		plain := plainWord(w)
		return slices.Contains(storyWords, plain) || !capital(w) && slices.Contains(storyOrName, plain)
	})
}

var storyWords = strings.Fields(`
	not no never none neither nor without unless if but because although though despite while when until since
	is are was were be been being am has have had having does did done would could might shall should must cannot
	who whom whose which that this these those she they him them his their its it me my you your we us our
	agreed agrees disagreed approved approves refused refuses denied denies objected objects declined said says told tells asked asks
	left leaves resigned retired fired suspended absent away dead former formerly gone unknown unaware unsigned unconfirmed pending pretending
	claims claimed allegedly supposedly probably maybe perhaps impersonating instead anyway skip ignore`)

// storyOrName are words that are somebody's name when they begin with a capital.
var storyOrName = strings.Fields("will may can do he her i ex")

// Group reports whether the entry stands for several people rather than one.
func (p *Person) Group() bool { return !parseName(p.Name).personal }

// A name is a text that names somebody, taken apart.
type name struct {
	words    []string // of the first one named: lower case, no accents, no titles
	titled   bool     // it began with a title
	personal bool     // it looks like one person's name
	ids      []string // identifiers such as mx-4471, brackets included
	inner    string   // text in brackets
}

// titles are words that stand before a name and say nothing about who it is.
var titles = []string{"dr", "prof", "professor", "doctor", "mr", "mrs", "ms", "miss", "mx", "sir", "dame", "sr", "phd", "md", "msc", "eng", "ing", "nurse-in-charge"}

// fillers are words that carry no meaning in the name of a group.
var fillers = []string{"and", "or", "of", "in", "on", "at", "the", "a", "an", "for", "with"}

// parseName takes apart the first person or group that text names.
func parseName(text string) name {
	var n name
	head := strings.TrimSpace(text)
	if i := strings.IndexByte(head, '('); i >= 0 {
		n.inner = strings.TrimSuffix(strings.TrimSpace(head[i+1:]), ")")
		head = head[:i]
	}
	head, rest := firstNamed(head)
	raw := words(head)
	if given := words(rest); len(raw) == 1 && len(given) == 1 && (len([]rune(given[0])) == 1 || capital(given[0])) && capital(raw[0]) {
		raw = append(given, raw...) // "Okafor, Ines"
	}
	n.personal = len(raw) >= 2
	for _, w := range raw {
		low := plainWord(w)
		if slices.Contains(titles, low) {
			n.titled = true
			continue
		}
		if !capital(w) && !particle(low) {
			n.personal = false
		}
		n.words = append(n.words, low)
	}
	n.titled = n.titled && len(n.words) > 0 // "Dr." alone names nobody
	n.personal = n.titled || (n.personal && len(n.words) >= 2)
	for _, w := range append(words(head), words(n.inner)...) {
		if identifier(w) {
			n.ids = append(n.ids, strings.ToLower(w))
		}
	}
	return n
}

// firstNamed cuts what follows the first one named.
func firstNamed(s string) (head, rest string) {
	cut := len(s)
	low := strings.ToLower(s)
	if len(low) != len(s) {
		low = s // lower case of another length: look at the letters as they are
	}
	for _, sep := range []string{",", ";", "/", " via ", " for ", " on behalf ", " supervised ", " c/o ", " through ", " per ", " under "} {
		if i := strings.Index(low, sep); i >= 0 && i < cut {
			cut = i
		}
	}
	if cut == len(s) {
		return s, ""
	}
	rest, _, _ = strings.Cut(s[cut+1:], ",")
	return s[:cut], rest
}

// words splits at everything but letters, digits and inner hyphens.
func words(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '-'
	}) {
		if w = strings.Trim(w, "-"); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// plainWord is the word in lower case without accents.
func plainWord(w string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(w)))
}

func capital(w string) bool { return unicode.IsUpper([]rune(w)[0]) }

func particle(w string) bool {
	return slices.Contains([]string{"van", "von", "der", "den", "de", "del", "di", "da", "la", "le", "bin", "al", "el"}, w)
}

// identifier reports letters and digits joined by a hyphen, e.g. MX-4471.
func identifier(w string) bool {
	return strings.ContainsRune(w, '-') && strings.ContainsFunc(w, unicode.IsDigit) && strings.ContainsFunc(w, unicode.IsLetter)
}

// singular strips the plural of a word in a group's name.
func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && len(w) > 3:
		return w[:len(w)-1]
	}
	return w
}

// byName matches one person by surname; every other word must belong to the
// person: given name, initial or role.
func byName(p *Person, q name) bool {
	own := parseName(p.Name)
	if !own.personal {
		own = parseName(own.inner) // "Ethics board (Dr. F. Abara)"
		if !own.titled {
			return false
		}
	}
	surname := own.words[len(own.words)-1] // a personal or titled name has at least one word
	role := contentWords(p.Role)
	found := false
	for _, w := range q.words {
		switch {
		case w == surname:
			found = true
		case slices.ContainsFunc(own.words[:len(own.words)-1], func(g string) bool { return sameGiven(g, w) }):
		case slices.Contains(role, singular(w)), w == "the":
		default:
			return false
		}
	}
	return found
}

// sameGiven compares given names; an initial stands for any that begins so.
func sameGiven(own, w string) bool {
	return own == w || (len(w) == 1 && strings.HasPrefix(own, w)) || (len(own) == 1 && strings.HasPrefix(w, own))
}

// byRole matches by the whole role, or one of the roles joined by "and".
func byRole(p *Person, q name) bool {
	want := contentOf(q.words)
	role, _, _ := strings.Cut(p.Role, "(")
	for alt := range strings.SplitSeq(role, " and ") {
		if c := contentWords(alt); len(c) > 0 && slices.Equal(c, want) {
			return true
		}
	}
	return slices.Equal(contentWords(role), want)
}

// byGroup matches a group by at least half of the words of its name (or of one
// of the names joined by "and"); an identifier named must be one it lists.
func byGroup(p *Person, q name) bool {
	own := parseName(p.Name)
	if own.personal {
		return false
	}
	for _, id := range q.ids {
		if len(own.ids) > 0 && !slices.Contains(own.ids, id) {
			return false
		}
	}
	if len(q.ids) > 0 && len(own.ids) > 0 && len(q.words) == len(q.ids) {
		return true // the identifier alone
	}
	group, _, _ := strings.Cut(p.Name, "(")
	have := contentOf(q.words)
	for alt := range strings.SplitSeq(group, " and ") {
		c := contentWords(alt)
		hit := 0
		for _, w := range c {
			if slices.Contains(have, w) {
				hit++
			}
		}
		if len(c) > 0 && hit*2 > len(c) {
			return true
		}
	}
	return false
}

func contentWords(s string) []string {
	var out []string
	for _, w := range words(s) {
		out = append(out, plainWord(w))
	}
	return contentOf(out)
}

// contentOf drops fillers and plurals.
func contentOf(words []string) []string {
	var out []string
	for _, w := range words {
		if !slices.Contains(fillers, w) {
			out = append(out, singular(w))
		}
	}
	return out
}

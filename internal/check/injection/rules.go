package injection

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"interlock/internal/check/injection/multi"
	"interlock/internal/check/injection/normal"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// A Source is a file of rules or phrases.
type Source struct {
	Name string // for messages
	Data []byte
}

// A Rule is one way in which a text tries to steer the machine that reads it.
type Rule struct {
	ID        string
	Class     string        // kind of attack
	Concern   verdict.Class // what it would be
	Severity  float64       // how far one match alone makes an attack, (0,1]
	Rationale string
	Refs      []string // ATLAS techniques and CWE ids
	Pattern   string   // RE2, over the plain view
	Addresses bool     // speaks to the verifier: no discount for quotes
	Told      bool     // void where a sentence tells that somebody may do it
	Denied    bool     // void where a sentence forbids it
	Match     []string // examples it must match
	Pass      []string // examples it must not match

	finder *multi.Finder  // the pattern, for where a match begins
	except *regexp.Regexp // what makes a match void; nil if nothing
	file   string
	line   int
}

// Flags of every rule's pattern: ^ and $ are those of a line, because a text
// may stand anywhere in a plan.
const ruleFlags = syntax.Perl&^syntax.OneLine | syntax.DotNL

// separators is what a space in a pattern stands for; inWord is anything else.
const (
	separators = "[ \\n!-/:-@\\[-`{-~]"
	inWord     = "[^ \\n!-/:-@\\[-`{-~]"
)

var ruleKeys = map[string]bool{
	"id": true, "class": true, "concern": true, "severity": true, "rationale": true, "pattern": true, "raw": true,
	"refs": true, "match": true, "pass": true, "except": true, "addresses": true, "told": true, "denied": true,
}

// loadRules reads the files of rules in order. Words of an earlier file may be
// used by later ones. Every error names file and line.
func loadRules(files []Source, folder *normal.Folder) ([]Rule, error) {
	l := ruleLoader{folder: folder, words: map[string]string{}, seen: map[string]bool{}}
	for _, f := range files {
		root, err := strict.YAML(f.Name, f.Data)
		if err != nil {
			return nil, err
		}
		l.file = f.Name
		if err := l.load(root); err != nil {
			return nil, err
		}
	}
	return l.rules, nil
}

type ruleLoader struct {
	folder *normal.Folder
	file   string
	words  map[string]string
	seen   map[string]bool
	rules  []Rule
}

func (l *ruleLoader) fail(p strict.Pos, format string, args ...any) error {
	return &strict.Error{File: l.file, Line: p.Line, Column: p.Column, Msg: fmt.Sprintf(format, args...)}
}

func (l *ruleLoader) load(root *strict.Node) error {
	if root.Kind != strict.Map {
		return l.fail(root.Pos, "expected a map with the keys words and rules")
	}
	for _, f := range root.Fields {
		switch f.Key {
		case "words":
			for _, w := range f.Value.Fields {
				if err := l.word(w); err != nil {
					return err
				}
			}
		case "rules":
			for i := range f.Value.Items {
				if err := l.rule(&f.Value.Items[i]); err != nil {
					return err
				}
			}
		default:
			return l.fail(f.Pos, "unknown key %q: expected words or rules", f.Key)
		}
	}
	return nil
}

func (l *ruleLoader) word(w strict.Field) error {
	if w.Value.Kind != strict.String {
		return l.fail(w.Value.Pos, "the word %q must be a text", w.Key)
	}
	expanded, err := l.expand(l.folder.Pattern(w.Value.Text))
	if err != nil {
		return l.fail(w.Value.Pos, "word %q: %v", w.Key, err)
	}
	if _, err := syntax.Parse(expanded, ruleFlags); err != nil {
		return l.fail(w.Value.Pos, "word %q: %v", w.Key, err)
	}
	l.words[w.Key] = expanded
	return nil
}

// rule reads one rule.
func (l *ruleLoader) rule(n *strict.Node) error {
	r := Rule{Concern: verdict.Adversarial, file: l.file, line: n.Pos.Line}
	raw, except := false, ""
	for _, f := range n.Fields {
		if !ruleKeys[f.Key] {
			return l.fail(f.Pos, "a rule has no key %q", f.Key)
		}
		if err := l.field(&r, f, &raw, &except); err != nil {
			return err
		}
	}
	switch {
	case r.ID == "" || r.Class == "" || r.Rationale == "" || r.Pattern == "":
		return l.fail(n.Pos, "a rule needs id, class, severity, rationale and pattern")
	case l.seen[r.ID]:
		return l.fail(n.Pos, "a second rule with the id %s", r.ID)
	case !(r.Severity > 0 && r.Severity <= 1):
		return l.fail(n.Pos, "rule %s: severity must be above 0 and at most 1", r.ID)
	case len(r.Match) == 0 || len(r.Pass) == 0:
		return l.fail(n.Pos, "rule %s: match and pass need an example each", r.ID)
	}
	l.seen[r.ID] = true
	var err error
	if r.Pattern, err = l.compilePattern(r.Pattern, raw); err != nil {
		return l.fail(n.Field("pattern").Pos, "rule %s: %v", r.ID, err)
	}
	if r.finder, err = multi.NewFinder(r.Pattern, ruleFlags); err != nil {
		return l.fail(n.Field("pattern").Pos, "rule %s: %v", r.ID, err)
	}
	if except != "" {
		if r.except, err = regexp.Compile("(?sm)" + l.folder.Pattern(except)); err != nil {
			return l.fail(n.Field("except").Pos, "rule %s: except: %v", r.ID, err)
		}
	}
	l.rules = append(l.rules, r)
	return nil
}

// field sets one field of a rule.
func (l *ruleLoader) field(r *Rule, f strict.Field, raw *bool, except *string) error {
	v := &f.Value
	text := func(dst *string) error {
		if v.Kind != strict.String || v.Text == "" {
			return l.fail(v.Pos, "%s must be a text", f.Key)
		}
		*dst = v.Text
		return nil
	}
	list := func(dst *[]string) error {
		if v.Kind != strict.List {
			return l.fail(v.Pos, "%s must be a list of texts", f.Key)
		}
		for _, item := range v.Items {
			if item.Kind != strict.String {
				return l.fail(item.Pos, "%s must be a list of texts", f.Key)
			}
			*dst = append(*dst, item.Text)
		}
		return nil
	}
	flag := func(dst *bool) error {
		if v.Kind != strict.Bool {
			return l.fail(v.Pos, "%s must be true or false", f.Key)
		}
		*dst = v.Text == "true"
		return nil
	}
	switch f.Key {
	case "id":
		return text(&r.ID)
	case "class":
		return text(&r.Class)
	case "rationale":
		return text(&r.Rationale)
	case "pattern":
		return text(&r.Pattern)
	case "refs":
		return list(&r.Refs)
	case "match":
		return list(&r.Match)
	case "pass":
		return list(&r.Pass)
	case "except":
		var alternatives []string
		if err := list(&alternatives); err != nil {
			return err
		}
		*except = strings.Join(alternatives, "|")
		return nil
	case "addresses":
		return flag(&r.Addresses)
	case "told":
		return flag(&r.Told)
	case "denied":
		return flag(&r.Denied)
	case "raw":
		return flag(raw)
	case "concern":
		if err := r.Concern.UnmarshalText([]byte(v.Text)); err != nil {
			return l.fail(v.Pos, "%v", err)
		}
		return nil
	default: // severity
		if v.Kind != strict.Number {
			return l.fail(v.Pos, "severity must be a number")
		}
		_, err := fmt.Sscan(v.Text, &r.Severity)
		return err
	}
}

var wordRef = regexp.MustCompile(`\{(~[0-9]+|[a-z_]+[a-z0-9_]*)\}`)

// expand puts the words and gaps in.
func (l *ruleLoader) expand(p string) (string, error) {
	var missing string
	out := wordRef.ReplaceAllStringFunc(p, func(ref string) string {
		name := ref[1 : len(ref)-1]
		if name[0] == '~' {
			return "(?:" + separators + "+" + inWord + "+){0," + name[1:] + "}"
		}
		w, ok := l.words[name]
		if !ok {
			missing = name
		}
		return w
	})
	if missing != "" {
		return "", fmt.Errorf("no word list is called %q", missing)
	}
	return out, nil
}

// compilePattern turns a rule's pattern into RE2 over the plain view.
func (l *ruleLoader) compilePattern(p string, raw bool) (string, error) {
	p, err := l.expand(l.folder.Pattern(p))
	if err != nil {
		return "", err
	}
	if !raw {
		p = spaces(p)
	}
	if matchesEmpty, err := regexp.MatchString("(?sm)^(?:"+p+")$", ""); err == nil && matchesEmpty {
		return "", errors.New("the pattern matches the empty text")
	}
	if !raw && isASCII(p) {
		p = `\b(?:` + p + `)(?:\b|$|` + separators + `)`
	}
	re, err := syntax.Parse(p, ruleFlags)
	if err != nil {
		return "", err
	}
	if anchored(re) {
		return "", errors.New(`\A and \z are not possible, a text may stand anywhere in a plan: use ^ and $ of a line`)
	}
	return p, nil
}

// anchored reports whether a pattern asks for the beginning or end of the text.
func anchored(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	for _, sub := range re.Sub {
		if anchored(sub) {
			return true
		}
	}
	return false
}

// spaces replaces each space outside a character class by separators.
func spaces(p string) string {
	var out strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p):
			out.WriteByte(c)
			i++
			out.WriteByte(p[i])
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == ' ' && !class:
			out.WriteString("(?:" + separators + "+)")
			continue
		}
		out.WriteByte(p[i])
	}
	return out.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

package injection

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"

	"interlock/internal/strict"
)

// templateSource is the source of the rows that templates give.
const templateSource = "own_templates"

// Templates expands a file of templates into rows for training. A file has
// lists of pieces and sections of templates:
//
//	list colour: red | green | {light|dark} blue
//	attack some_kind 8
//	Paint it $colour {now|at once} ...
//
// A section begins with attack, benign or hard (benign that looks bad), the
// kind and how many texts each of its lines gives at most. In a line {a|b} is
// one of its parts, $name a piece of a list, \n a new line, and a backslash
// takes a sign as it is. Equal files give equal rows. An error names the line.
func Templates(name string, data []byte) ([]Row, error) {
	t := templates{file: name, lists: map[string][]string{}}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := t.line(line); err != nil {
			return nil, &strict.Error{File: name, Line: i + 1, Msg: err.Error()}
		}
	}
	return t.rows, nil
}

type templates struct {
	file  string
	lists map[string][]string
	row   Row // what the rows of this section share
	most  int
	rows  []Row
	seen  map[string]bool
}

func (t *templates) line(line string) error {
	if rest, ok := strings.CutPrefix(line, "list "); ok {
		name, items, ok := strings.Cut(rest, ":")
		if !ok || t.lists[name] != nil {
			return fmt.Errorf("a list has a new name, a colon and pieces: %q", line)
		}
		t.lists[name] = alternatives(items)
		return nil
	}
	if f := strings.Fields(line); len(f) == 3 && (f[0] == "attack" || f[0] == "benign" || f[0] == "hard") {
		most, err := strconv.Atoi(f[2])
		if err == nil && most > 0 {
			t.row = Row{Kind: f[1], Attack: f[0] == "attack", Hard: f[0] == "hard", Source: templateSource, Licence: "ours", Tier: "core", Extra: true}
			t.most, t.seen = most, map[string]bool{}
			return nil
		}
	}
	if t.most == 0 {
		return fmt.Errorf("a template stands before the first section")
	}
	h := fnv.New64a()
	fmt.Fprint(h, line)
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	for range t.most {
		text, err := t.expand(line, rng, 0)
		if err != nil {
			return err
		}
		text = strings.TrimSpace(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' }), " "))
		if text == "" || t.seen[text] {
			continue
		}
		t.seen[text] = true
		row := t.row
		row.ID, row.Text = fmt.Sprintf("%s-%d", templateSource, len(t.rows)), text
		t.rows = append(t.rows, row)
	}
	return nil
}

// deepest is how far lists may name lists.
const deepest = 8

// expand writes one text of a template.
func (t *templates) expand(s string, rng *rand.Rand, depth int) (string, error) {
	if depth > deepest {
		return "", fmt.Errorf("lists name one another without end")
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		piece, n := s[i:i+1], 1
		switch {
		case s[i] == '\\' && i+1 < len(s):
			if piece, n = s[i+1:i+2], 2; piece == "n" {
				piece = "\n"
			}
		case s[i] == '{':
			end := closing(s, i)
			if end < 0 {
				return "", fmt.Errorf("a brace is not closed in %q", s)
			}
			parts := alternatives(s[i+1 : end])
			text, err := t.expand(parts[rng.IntN(len(parts))], rng, depth+1)
			if err != nil {
				return "", err
			}
			piece, n = text, end+1-i
		case s[i] == '$':
			name := listName(s[i+1:])
			if name == "" {
				break
			}
			items := t.lists[name]
			if items == nil {
				return "", fmt.Errorf("no list is called %q", name)
			}
			text, err := t.expand(items[rng.IntN(len(items))], rng, depth+1)
			if err != nil {
				return "", err
			}
			piece, n = text, 1+len(name)
		}
		out.WriteString(piece)
		i += n
	}
	return out.String(), nil
}

func listName(s string) string {
	n := 0
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || s[n] == '_' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return s[:n]
}

// closing is where the brace at i is closed, -1 if nowhere.
func closing(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// alternatives parts a text at the bars that stand in no brace.
func alternatives(s string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		case '|':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[from:]))
}

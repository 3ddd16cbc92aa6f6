package injection

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const someTemplates = `# a comment
list colour: red | {light|dark} blue
list thing: $colour \{door\}
attack paint 20
{Please|Now} paint the $thing{.|!}
hard ask 2
Is it $colour?\nYes.
`

func TestTemplates(t *testing.T) {
	t.Parallel()
	rows, err := Templates("t.txt", []byte(someTemplates))
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Templates("t.txt", []byte(someTemplates))
	if !slices.Equal(rows, again) {
		t.Error("the same templates give other rows")
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if seen[r.Text] || !r.Extra || r.Source != templateSource || r.Attack == r.Hard {
			t.Errorf("row %+v", r)
		}
		seen[r.Text] = true
	}
	for _, want := range []string{"Please paint the red {door}!", "Now paint the dark blue {door}."} {
		if !seen[want] {
			t.Errorf("%q is not among %d rows", want, len(rows))
		}
	}
	if last := rows[len(rows)-1]; !strings.HasSuffix(last.Text, "?\nYes.") || last.Kind != "ask" {
		t.Errorf("last row %+v", last)
	}
}

func TestC29_BadTemplatesSayWhere(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"text":                               "t.txt:1:",
		"attack a 2\n{open":                  "t.txt:2: a brace is not closed",
		"attack a 2\n$none":                  `t.txt:2: no list is called "none"`,
		"list a: $a\nattack a 2\n$a":         "t.txt:3: lists name one another",
		"list a: b\nlist a: c\nattack a 2\n": "t.txt:2: a list has a new name",
	} {
		if _, err := Templates("t.txt", []byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want it to say %q", data, err, want)
		}
	}
}

// blindRows reads a set of texts that no training may see.
func blindRows(t *testing.T, name string) (texts []string, attack []bool) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var row struct{ Text, Label string }
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		texts, attack = append(texts, row.Text), append(attack, row.Label == "injection")
	}
	return texts, attack
}

// The blind sets keep what the weights reached (see testdata/README.md), and no
// template gives one of their texts.
func TestBlindSets(t *testing.T) {
	t.Parallel()
	s := newScreen(t, Options{})
	made := map[string]bool{}
	files, err := filepath.Glob("data/templates/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Templates(file, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			made[strings.ToLower(r.Text)] = true
		}
	}
	for _, text := range ownRows(t) {
		made[strings.ToLower(text)] = true
	}
	for name, bound := range map[string]struct{ least, most int }{"blind.jsonl": {48, 5}, "blind2.jsonl": {28, 2}, "blind3.jsonl": {3, 3}} {
		texts, attack := blindRows(t, name)
		found, alarms := 0, 0
		for i, text := range texts {
			if made[strings.ToLower(text)] {
				t.Errorf("%s: the training has the text %q", name, text)
			}
			switch blocked := s.Text(text).Sigma >= s.Thresholds().TauW; {
			case blocked && attack[i]:
				found++
			case blocked:
				alarms++
			}
		}
		t.Logf("%s: %d attacks found, %d false alarms", name, found, alarms)
		if found < bound.least || alarms > bound.most {
			t.Errorf("%s: %d attacks found, at least %d expected; %d false alarms, at most %d", name, found, bound.least, alarms, bound.most)
		}
	}
}

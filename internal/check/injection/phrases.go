package injection

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"interlock/internal/check/injection/fuzzy"
	"interlock/internal/check/injection/normal"
	"interlock/internal/strict"
)

// A phrase is what the fuzzy search looks for.
type phrase struct {
	text  string // folded as a plain view is
	floor float64
}

// Lengths of a phrase, in characters after folding. Scripts that write a
// syllable or a word in one character get by with fewer.
const (
	shortestPhrase     = 16
	shortestDense      = 6
	longestPhrase      = 64
	floorOfShort       = 91.0 // floor of the shortest phrases
	floorOfLong        = 88.0 // floor from longEnough characters on
	longEnough         = 30
	lowestExplicit     = 60.0
	floorAutomatically = 0.0
)

// autoFloor is the lowest score that counts for a phrase of n characters:
// ordinary text comes nearer to a short phrase than to a long one.
func autoFloor(n int) float64 {
	if n >= longEnough {
		return floorOfLong
	}
	return floorOfShort - (floorOfShort-floorOfLong)*float64(max(n-shortestPhrase, 0))/float64(longEnough-shortestPhrase)
}

// loadPhrases reads files of phrases, one a line. Every error names file and
// line.
func loadPhrases(files []Source, folder *normal.Folder) ([]phrase, error) {
	var out []phrase
	for _, f := range files {
		floor := floorAutomatically
		for i, line := range strings.Split(string(f.Data), "\n") {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			fail := func(msg string) error { return &strict.Error{File: f.Name, Line: i + 1, Msg: msg} }
			if value, ok := strings.CutPrefix(line, "floor "); ok {
				v, err := parseFloor(value)
				if err != nil {
					return nil, fail(`expected "floor auto" or "floor" and a number from 60 to 99`)
				}
				floor = v
				continue
			}
			text := fold(folder, line)
			n := utf8.RuneCountInString(text)
			least := shortestPhrase
			if !isASCII(text) {
				least = shortestDense
			}
			if n < least || n > longestPhrase {
				return nil, fail("a phrase has " + strconv.Itoa(least) + " to 64 characters, this one " + strconv.Itoa(n))
			}
			p := phrase{text, floor}
			if floor == floorAutomatically {
				p.floor = autoFloor(n)
			}
			out = append(out, p)
		}
	}
	return out, nil
}

func parseFloor(s string) (float64, error) {
	if s == "auto" {
		return floorAutomatically, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= lowestExplicit && v < 100) {
		return 0, strconv.ErrRange
	}
	return v, nil
}

// fold gives the plain view of a short text.
func fold(folder *normal.Folder, s string) string {
	words := normal.NewWords(nil, nil)
	views, _ := normal.NewReader(folder, words).Views([]byte(s))
	return strings.TrimSpace(string(views[0].Text))
}

func compilePhrases(ps []phrase) (*fuzzy.Set, error) {
	texts, floors := make([]string, len(ps)), make([]float64, len(ps))
	for i, p := range ps {
		texts[i], floors[i] = p.text, p.floor
	}
	return fuzzy.New(texts, floors)
}

// above rescales a score so that the floor is 0 and identity is 1: ordinary
// text scores 60 to 80 against any phrase, and that means nothing.
func (p phrase) above(score float64) float64 {
	return max(0, (score-p.floor)/(100-p.floor))
}

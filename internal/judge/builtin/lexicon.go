package builtin

import (
	_ "embed" // the vocabulary
	"strings"
	"sync"

	"interlock/internal/verdict"
)

//go:embed words.txt
var wordsFile string

// A lexicon is the closed vocabulary of words.txt.
type lexicon struct {
	routine  map[string]bool
	phrases  []string
	concerns map[string][]verdict.Class
}

// vocabulary parses the embedded file once.
var vocabulary = sync.OnceValue(func() *lexicon { return parseLexicon(wordsFile) })

func parseLexicon(src string) *lexicon {
	lx := &lexicon{routine: map[string]bool{}, concerns: map[string][]verdict.Class{}}
	fields := map[string]verdict.Class{"safety": verdict.Safety, "adversarial": verdict.Adversarial, "alignment": verdict.Alignment}
	for line := range strings.Lines(src) {
		group, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(group, "#") {
			continue
		}
		switch class, isConcern := fields[group]; {
		case group == "phrase":
			lx.phrases = append(lx.phrases, strings.TrimSpace(rest))
		case group == "routine":
			for _, w := range strings.Fields(rest) {
				lx.routine[w] = true
			}
		case isConcern:
			for _, w := range strings.Fields(rest) {
				lx.concerns[w] = append(lx.concerns[w], class)
			}
		}
	}
	return lx
}

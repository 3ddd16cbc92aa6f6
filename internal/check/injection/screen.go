// Package injection is the screen: it scores how far a text tries to steer the
// machine that reads it, from rules, from phrases that are nearly matched and
// from a small trained model, over every reading of the text that package
// normal can make. It reaches no model service and no network.
package injection

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"interlock/internal/check/injection/fuzzy"
	"interlock/internal/check/injection/multi"
	"interlock/internal/check/injection/ngram"
	"interlock/internal/check/injection/normal"
)

//go:embed data/rules.yaml
var ownRules []byte

//go:embed data/phrases.txt
var ownPhrases []byte

//go:embed data/words.txt
var ownWords string

//go:embed data/weights.bin
var ownWeights []byte

// Options say how a screen works. The zero value is the default.
type Options struct {
	Mode       Mode       // "" is Stack
	Thresholds Thresholds // both zero: those of the mode
	Rules      []Source   // added to our own
	Phrases    []Source   // added to our own
	Weights    []byte     // of the trained model; nil: our own
	NoModel    bool       // rules and phrases only
}

// A Screen scores texts and plans. It is immutable and safe for concurrent
// use.
type Screen struct {
	mode      Mode
	tau       Thresholds
	rules     []Rule
	ruleSet   *multi.Set
	phrases   []phrase
	phraseSet *fuzzy.Set
	model     *ngram.Model
	stack     Calibration
	folder    *normal.Folder
	words     *normal.Words
	quotes    aboutQuotes
	digest    string
	idle      chan *worker // not a sync.Pool: what a worker has learnt must outlive a garbage collection
}

// New builds a screen. A bad rule or phrase is an error with file and line.
func New(o Options) (*Screen, error) {
	s := &Screen{mode: o.Mode, tau: o.Thresholds}
	if s.mode == "" {
		s.mode = Stack
	}
	if s.mode != Stack && s.mode != Paper {
		return nil, fmt.Errorf("unknown mode %q of the screen: expected stack or paper", s.mode)
	}
	if s.tau == (Thresholds{}) {
		s.tau = DefaultThresholds(s.mode)
	}
	if !(s.tau.TauA > 0 && s.tau.TauA <= s.tau.TauW && s.tau.TauW <= 1) {
		return nil, fmt.Errorf("thresholds of the screen: need 0 < tau_a <= tau_w <= 1, have %v and %v", s.tau.TauA, s.tau.TauW)
	}
	var err error
	if s.folder, err = normal.NewFolder(); err != nil {
		return nil, err
	}
	if s.quotes, err = newAboutQuotes(); err != nil {
		return nil, err
	}
	if err := s.loadLibraries(o); err != nil {
		return nil, err
	}
	if err := s.loadModel(o); err != nil {
		return nil, err
	}
	s.digest = s.digestOf(o)
	s.idle = make(chan *worker, runtime.GOMAXPROCS(0)+1)
	return s, nil
}

func (s *Screen) loadLibraries(o Options) error {
	var err error
	s.rules, err = loadRules(append([]Source{{"rules.yaml", ownRules}}, o.Rules...), s.folder)
	if err != nil {
		return err
	}
	patterns := make([]string, len(s.rules))
	for i, r := range s.rules {
		patterns[i] = r.Pattern
	}
	if s.ruleSet, err = multi.Compile(patterns, ruleFlags); err != nil {
		var bad *multi.PatternError
		if errors.As(err, &bad) {
			r := s.rules[bad.Index]
			return fmt.Errorf("%s:%d: rule %s: %w", r.file, r.line, r.ID, bad.Err)
		}
		return fmt.Errorf("compiling the rules of the screen: %w", err)
	}
	s.phrases, err = loadPhrases(append([]Source{{"phrases.txt", ownPhrases}}, o.Phrases...), s.folder)
	if err != nil {
		return err
	}
	if s.phraseSet, err = compilePhrases(s.phrases); err != nil {
		return fmt.Errorf("compiling the phrases of the screen: %w", err)
	}
	s.words = loadWords(ownWords)
	return nil
}

// loadWords reads the lexicon of the repairs.
func loadWords(text string) *normal.Words {
	var common, key []string
	list := &common
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#"):
		case line == "key":
			list = &key
		default:
			*list = append(*list, strings.Fields(line)...)
		}
	}
	return normal.NewWords(common, key)
}

func (s *Screen) loadModel(o Options) error {
	s.stack = Calibration{FuzzyAlone: defaultFuzzyAlone}
	if o.NoModel {
		return nil
	}
	data := o.Weights
	if data == nil {
		data = ownWeights
	}
	w, err := DecodeWeights(data)
	if err != nil {
		return fmt.Errorf("weights of the screen: %w", err)
	}
	s.model, s.stack = w.Model, w.Calibration
	return nil
}

// digestOf names everything that a score depends on (C2).
func (s *Screen) digestOf(o Options) string {
	h := sha256.New()
	fmt.Fprintf(h, "screen 1\n%s\n%v\n%v\n%v\n", s.mode, s.tau, s.stack, o.NoModel)
	for _, f := range append([]Source{{"rules", ownRules}, {"phrases", ownPhrases}, {"words", []byte(ownWords)}}, append(o.Rules, o.Phrases...)...) {
		fmt.Fprintf(h, "%d\n%s\n", len(f.Data), f.Data)
	}
	if s.model != nil {
		fmt.Fprintln(h, s.model.Digest())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest names the rules, phrases, weights and thresholds in use (C2).
func (s *Screen) Digest() string { return s.digest }

// Rules returns the rules in use. Do not write to them.
func (s *Screen) Rules() []Rule { return s.rules }

// Thresholds returns tauA and tauW.
func (s *Screen) Thresholds() Thresholds { return s.tau }

// Mode returns which score gates.
func (s *Screen) Mode() Mode { return s.mode }

func (s *Screen) newWorker() *worker {
	return &worker{
		screen: s, reader: normal.NewReader(s.folder, s.words), matcher: s.ruleSet.NewMatcher(multi.Limits{}),
		model: &ngram.Work{}, searches: make([]*multi.Search, len(s.rules)), quotes: s.quotes.search(),
		plain: map[string]bool{},
	}
}

// borrow takes a worker, which is to be given back.
func (s *Screen) borrow() *worker {
	select {
	case w := <-s.idle:
		return w
	default:
		return s.newWorker()
	}
}

// giveBack keeps a worker for the next text: as many as can run at once, and
// one for a goroutine that was interrupted at its work.
func (s *Screen) giveBack(w *worker) {
	select {
	case s.idle <- w:
	default:
	}
}

// gates returns the score that gates in the screen's mode.
func (s *Screen) gates(g sigmas) float64 {
	if s.mode == Paper {
		return g.paper
	}
	return g.stack
}

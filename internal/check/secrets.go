package check

import (
	"math"
	"strings"

	"interlock/internal/verdict"
)

// Secrets looks for credentials in a plan. A plan that carries one is blocked
// before any judge is asked, so that it reaches no prompt (C28); what was
// submitted stands in the record as it was submitted.
type Secrets struct{ x *index }

func (c Secrets) index() *index { return c.x }

// ID implements Checker.
func (Secrets) ID() string { return "secrets" }

// secretShapes are how issued keys begin, with the least number of letters
// and digits that follow. Only shapes that issuers reserve are here: a word
// that merely looks random is no credential.
var secretShapes = []struct {
	prefix string
	rest   int
}{
	{"sk-", 20},
	{"sk_live_", 16},
	{"rk_live_", 16},
	{"AKIA", 16},
	{"ASIA", 16},
	{"ghp_", 30},
	{"gho_", 30},
	{"ghs_", 30},
	{"github_pat_", 30},
	{"glpat-", 18},
	{"xoxb-", 20},
	{"xoxp-", 20},
	{"xoxa-", 20},
	{"AIza", 30},
	{"hf_", 30},
	{"npm_", 30},
	{"eyJhbGciOi", 20},
	{"ilk_agent_", 30},
	{"ilk_reviewer_", 30},
	{"ilk_device_", 30},
	{"-----BEGIN PRIVATE KEY", 0},
	{"-----BEGIN RSA PRIVATE KEY", 0},
	{"-----BEGIN EC PRIVATE KEY", 0},
	{"-----BEGIN OPENSSH PRIVATE KEY", 0},
}

// Check implements Checker.
func (c Secrets) Check(in Input) Result {
	t := in.parse(c.x.of(in.Site).lex)
	r := Result{Parts: make([]string, 0, len(t.parts))}
	for i := range t.parts {
		p := &t.parts[i]
		r.Parts = append(r.Parts, p.name)
		start, end, found := secretIn(p.text)
		if !found {
			continue
		}
		r.Findings = append(r.Findings, verdict.Finding{
			Rule: "SEC-001", Level: verdict.Block, Class: verdict.Adversarial, Span: p.at(start, end),
			Message: "the plan carries what looks like a credential", // never quoted
			Need:    "take the credential out, and have it changed: it has been seen", Refs: []string{"CWE-522"},
		})
	}
	return r
}

// shortestSecret is the length of the shortest credential without spaces.
var shortestSecret = func() int {
	n := math.MaxInt
	for _, s := range secretShapes {
		if s.rest > 0 {
			n = min(n, len(s.prefix)+s.rest)
		}
	}
	return n
}()

// mayHoldSecret reports whether a text has a run of characters as long as a
// credential, or five hyphens as before a key: most texts are done with here.
func mayHoldSecret(text string) bool {
	if strings.Contains(text, "-----") {
		return true
	}
	start, _ := longRun(text, 0, shortestSecret, &tokenBytes)
	return start >= 0
}

// secretIn finds the first credential in a text.
func secretIn(text string) (start, end int, found bool) {
	if !mayHoldSecret(text) {
		return 0, 0, false
	}
	for _, s := range secretShapes {
		for from := 0; ; {
			i := strings.Index(text[from:], s.prefix)
			if i < 0 {
				break
			}
			start, end = from+i, from+i+len(s.prefix)
			for end < len(text) && tokenByte(text[end]) {
				end++
			}
			inWord := start > 0 && tokenByte(text[start-1])
			if !inWord && end-start-len(s.prefix) >= s.rest {
				return start, end, true
			}
			from = end
		}
	}
	return 0, 0, false
}

var tokenBytes = func() (t [256]bool) {
	for c := range t {
		t[c] = tokenByte(byte(c))
	}
	return t
}()

func tokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_'
}

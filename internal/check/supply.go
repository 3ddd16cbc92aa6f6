package check

import (
	"math/bits"
	"slices"
	"strings"

	"interlock/internal/verdict"
)

// A pin is one package with the version a list gives it.
type pin struct {
	name, version string
	at            int // byte in the text
}

// packages compares the dependency lists among the attachments: what a lock
// file pins must be on the reviewed list that comes with it, and a name that
// differs from a known one by a letter or two is a look-alike. A match proves
// nothing (the planner attached both); a difference is a finding.
func packages(t *planText, dst []verdict.Finding) []verdict.Finding {
	reviewed := map[string]string{}
	lists := 0
	for i, a := range t.plan.Attachments {
		if reviewedList(a.Source) {
			lists++
			for _, p := range pins(t.plan.Attachments[i].Text) {
				reviewed[p.name] = p.version
			}
		}
	}
	for i := range t.parts {
		p := &t.parts[i]
		if p.role != roleAttachment || reviewedList(p.source) {
			continue
		}
		for _, k := range pins(p.text) {
			dst = onePin(p, k, reviewed, lists > 0, dst)
		}
	}
	return dst
}

func onePin(p *part, k pin, reviewed map[string]string, listed bool, dst []verdict.Finding) []verdict.Finding {
	at := p.at(k.at, k.at+len(k.name))
	add := func(rule string, level verdict.Level, message, need string) []verdict.Finding {
		return append(dst, verdict.Finding{Rule: rule, Level: level, Class: verdict.Adversarial, Span: at, Message: message, Need: need, Refs: []string{"AML.T0010", "CWE-1357"}})
	}
	version, known := reviewed[k.name]
	switch {
	case listed && !known:
		return add("PROV-041", verdict.Block, "a package is not on the reviewed list that comes with the plan", "use the reviewed packages")
	case listed && version != "" && k.version != version:
		return add("PROV-042", verdict.Flag, "a package has another version than the reviewed one", "use the reviewed version")
	case !listed && !slices.ContainsFunc(dst, func(f verdict.Finding) bool { return f.Rule == "PROV-043" && f.Span.Part == at.Part }) && lookAlike(k.name):
		return add("PROV-043", verdict.Flag, "a package has a name one letter away from a well-known one", "check the package's name")
	}
	return dst
}

func reviewedList(source string) bool {
	s := strings.ToLower(source)
	return (strings.Contains(s, "review") || strings.Contains(s, "approved") || strings.Contains(s, "allow")) && (strings.Contains(s, "list") || strings.Contains(s, "package"))
}

// pins reads "name==1.2", "name@1.2" and, in lists, "name 1.2".
func pins(text string) []pin {
	var out []pin
	offset := 0
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' || r == ',' }) {
		i := strings.Index(text[offset:], field) + offset
		offset = i + len(field)
		f := strings.TrimSpace(field)
		i += strings.Index(field, f)
		for _, sep := range [...]string{"==", "@", " "} {
			name, version, ok := strings.Cut(f, sep)
			if !ok || name == "" || !packageName(name) || version == "" || !isDigit(version[0]) || strings.Trim(version, "0123456789.-+abcdefprost") != "" {
				continue
			}
			out = append(out, pin{name: strings.ToLower(name), version: version, at: i})
			break
		}
	}
	return out
}

func packageName(s string) bool {
	return len(s) >= 2 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" && s[0] >= 'A'
}

// wellKnown are packages whose names are imitated.
var wellKnown = []string{"numpy", "pandas", "scipy", "scikit-learn", "matplotlib", "requests", "openpyxl", "torch", "tensorflow", "pillow", "opencv-python", "pyyaml", "urllib3", "cryptography", "setuptools", "jinja2", "flask", "django", "sqlalchemy", "h5py", "seaborn", "statsmodels", "networkx", "paramiko", "pyserial", "pymodbus", "beautifulsoup4", "lxml", "transformers", "scikit-image"}

func lookAlike(name string) bool {
	if len(name) > longestName || slices.Contains(wellKnown, name) {
		return false
	}
	letters := letterSet(name)
	for _, k := range wellKnown {
		edits := 1 + len(k)/8
		if d := len(k) - len(name); d > edits || -d > edits || bits.OnesCount32(letters^letterSet(k)) > 2*edits {
			continue // an edit changes the length by one at most, and the letters used by two
		}
		if distance(k, name) <= edits {
			return true
		}
	}
	return false
}

// longestName is longer than any name that looks like a well-known one, bytes.
const longestName = 31

// letterSet is the set of characters in s, some of them taken together.
func letterSet(s string) (set uint32) {
	for i := 0; i < len(s); i++ {
		set |= 1 << (s[i] % 32)
	}
	return set
}

// distance is the edit distance of two short names.
func distance(a, b string) int {
	var buf [longestName + 1]int
	row := buf[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}

package link

import (
	"strings"

	"interlock/internal/fact"
	"interlock/internal/knowledge"
	"interlock/internal/verdict"
)

// Identify finds the node that a public identifier stands for.
type Identify func(id string) (Name, bool)

// registers are the public identifiers that plans may write, by how they
// begin. Case counts where a short form could be a label of the plan's own.
var registers = []struct {
	begins, prefix, kind string
	exact                bool
}{
	{"CWE-", "cwe:", "weakness", false},
	{"CVE-", "cve:", "vulnerability", false},
	{"CAPEC-", "capec:", "attack-pattern", false},
	{"AML.", "atlas:", "technique", false},
	{"EUH", "h:", "hazard-statement", true},
	{"UN", "un:", "transport-entry", true},
	{"H", "h:", "hazard-statement", true},
	{"T", "attack:", "technique", true},
}

// GraphIDs returns the identifiers of a graph: of weaknesses, vulnerabilities,
// attack patterns, techniques, hazard statements, and CAS numbers.
func GraphIDs(g *knowledge.Graph) Identify {
	return func(id string) (Name, bool) {
		for node, kind := range nodesOf(id) {
			if i, ok := g.NodeByID(node); ok {
				return Name{Text: id, ID: node, Kind: kind, Canon: g.NameOf(i)}, true
			}
		}
		return Name{}, false
	}
}

// nodesOf yields the nodes that an identifier may be, with their kinds.
func nodesOf(id string) func(func(node, kind string) bool) {
	return func(yield func(node, kind string) bool) {
		if casNumber(id) {
			yield("cas:"+id, "material")
			return
		}
		for _, r := range registers {
			if len(id) <= len(r.begins) || !strings.EqualFold(id[:len(r.begins)], r.begins) || r.exact && !numbered(id, len(r.begins)) {
				continue
			}
			full := r.prefix + strings.ToUpper(id)
			if !yield(full, r.kind) || r.prefix == "h:" && !yield(strings.TrimRight(full, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), r.kind) {
				return
			}
		}
	}
}

// numbered reports a short identifier as it is written: capitals, then at
// least three digits.
func numbered(id string, letters int) bool {
	if len(id) < letters+3 || id[:letters] != strings.ToUpper(id[:letters]) {
		return false
	}
	return isDigit(id[letters]) && isDigit(id[letters+1]) && isDigit(id[letters+2])
}

// casNumber reports the form of a CAS number with its check digit, "7647-01-0".
func casNumber(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) != 3 || len(parts[0]) < 2 || len(parts[0]) > 7 || len(parts[1]) != 2 || len(parts[2]) != 1 || !allDigits(s) {
		return false
	}
	sum, weight := 0, 1
	digits := parts[0] + parts[1]
	for i := len(digits) - 1; i >= 0; i-- {
		sum += int(digits[i]-'0') * weight
		weight++
	}
	return sum%10 == int(parts[2][0]-'0')
}

// identified links a token that is a public identifier.
func (l *Linker) identified(text string, t token) (fact.Entity, bool) {
	if l.ids == nil || len(t.text) < 4 || !hasDigit(t.text) {
		return fact.Entity{}, false
	}
	n, ok := l.ids(t.text)
	if !ok {
		return fact.Entity{}, false
	}
	return fact.Entity{
		ID: n.ID, Kind: n.Kind, Name: n.Canon, Text: text[t.start:t.end],
		At: verdict.Span{Start: t.start, End: t.end},
	}, true
}

// joinsTechnique reports that a full stop belongs to the identifier of a
// technique: "AML.T0051", "T0051.000".
func joinsTechnique(before, rest string) bool {
	if strings.EqualFold(before, "AML") {
		return len(rest) > 2 && strings.IndexByte("TMCtmc", rest[0]) >= 0 && hasDigit(hyphenated(rest))
	}
	if len(before) > 4 && strings.EqualFold(before[:4], "AML.") {
		before = before[4:]
	}
	return len(before) == 5 && before[0]|0x20 == 't' && allDigits(before[1:]) && isDigit(rest[0])
}

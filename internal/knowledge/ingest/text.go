package ingest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
)

const maxName = 120 // bytes; longer names are cut between words

// short cuts a name at a space so that no sentence of a source is carried.
func short(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	cut := s[:n]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	if i := strings.LastIndexByte(cut, ' '); i > n/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:-") + "…"
}

// slug makes an identifier of a name: lower case letters and digits, joined by
// hyphens.
func slug(s string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range strings.ToLower(s) {
		switch {
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if hyphen && b.Len() > 0 {
				b.WriteByte('-')
			}
			hyphen = false
			b.WriteRune(r)
		default:
			hyphen = true
		}
		if b.Len() >= 70 {
			break
		}
	}
	if b.Len() == 0 {
		return "x" + fmt.Sprintf("%x", short(s, 16))
	}
	return b.String()
}

var (
	casRE    = regexp.MustCompile(`\b[1-9]\d{1,6}-\d\d-\d\b`)
	cweRE    = regexp.MustCompile(`\bCWE-(\d+)\b`)
	cveRE    = regexp.MustCompile(`\bCVE-\d{4}-\d{4,7}\b`)
	atlasRE  = regexp.MustCompile(`\bAML\.(?:T|TA|M|CS)\d{4}(?:\.\d{3})?\b`)
	capecRE  = regexp.MustCompile(`\bCAPEC-\d+\b`)
	anchorRE = regexp.MustCompile(`(?m)(?:^|[:\-\[,{]\s+)[&*][A-Za-z]`)
)

// isCAS checks form and check digit of a CAS registry number.
func isCAS(s string) bool {
	if casRE.FindString(s) != s || s == "" {
		return false
	}
	sum, k := 0, 0
	for i := len(s) - 3; i >= 0; i-- {
		if s[i] == '-' {
			continue
		}
		k++
		sum += k * int(s[i]-'0')
	}
	return sum%10 == int(s[len(s)-1]-'0')
}

// unique returns what re finds in s, each once, in order of appearance.
func unique(re *regexp.Regexp, s string) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range re.FindAllString(s, -1) {
		if !seen[m] {
			seen[m] = true
			out = append(out, m)
		}
	}
	return out
}

// words splits an identifier in camel case or with underscores.
func words(s string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		start := 0
		rs := []rune(part)
		for i := 1; i < len(rs); i++ {
			up := unicode.IsUpper(rs[i])
			if up && (!unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1])) {
				out = append(out, string(rs[start:i]))
				start = i
			}
		}
		out = append(out, string(rs[start:]))
	}
	return out
}

// spaced writes an identifier as words: "HomeAllAxes" as "Home All Axes".
func spaced(s string) string { return strings.Join(words(s), " ") }

// decodeYAML reads a YAML file. Anchors are refused: none of the sources needs
// one, and they are how a small file becomes a huge tree.
func decodeYAML(f file, into any) error {
	if loc := anchorRE.FindIndex(f.data); loc != nil {
		return fmt.Errorf("line %d: YAML anchors and aliases are not accepted", f.line(int64(loc[1])))
	}
	if err := yaml.Unmarshal(f.data, into); err != nil {
		return fmt.Errorf("not the YAML expected: %s", strings.SplitN(yaml.FormatError(err, false, false), "\n", 2)[0])
	}
	return nil
}

// sortedKeys returns the keys of a map in order: maps have none of their own.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

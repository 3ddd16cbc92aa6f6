package strict

import (
	"fmt"
	"strings"
	"unicode"
)

// A keySet notices keys that a reader downstream could take for one another
// (C22): equal ones, and ones that differ in case only.
type keySet struct {
	few  []string
	many map[string]string // folded → as written, once there are too many to compare one by one
}

const fewKeys = 12

// add returns what is wrong with the key, "" if nothing.
func (s *keySet) add(key string) string {
	for _, r := range key {
		if r < 0x20 || r == 0x7f {
			return fmt.Sprintf("key %q holds the control character %U", key, r)
		}
	}
	if s.many == nil {
		for _, k := range s.few {
			if strings.EqualFold(k, key) {
				return clash(k, key)
			}
		}
		if s.few == nil {
			s.few = make([]string, 0, 4)
		}
		s.few = append(s.few, key)
		if len(s.few) > fewKeys {
			s.many = make(map[string]string, 2*fewKeys)
			for _, k := range s.few {
				s.many[fold(k)] = k
			}
		}
		return ""
	}
	f := fold(key)
	if k, ok := s.many[f]; ok {
		return clash(k, key)
	}
	s.many[f] = key
	return ""
}

func clash(a, b string) string {
	if a == b {
		return fmt.Sprintf("duplicate key %q", b)
	}
	return fmt.Sprintf("keys %q and %q differ only in upper and lower case", a, b)
}

// fold maps strings that strings.EqualFold holds equal to the same string.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}

// Nearest returns the known word most like word, or "" if none is close.
func Nearest(word string, known []string) string {
	best, bestDist := "", 1+len(word)/5
	if len(word) > 64 {
		return ""
	}
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d <= bestDist && (best == "" || d < bestDist) {
			best, bestDist = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost = 1 + min(prev, row[j], row[j+1])
			}
			prev, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

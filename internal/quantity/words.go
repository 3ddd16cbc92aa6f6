package quantity

import "strings"

// small returns the value of a number word below a hundred, "a" and "half" not
// included; -1 if w is none.
func small(w string) int {
	switch w {
	case "zero", "null", "zéro":
		return 0
	case "one", "ein", "eine", "un", "une":
		return 1
	case "two", "zwei", "deux":
		return 2
	case "three", "drei", "trois", "tre":
		return 3
	case "four", "vier", "quatre":
		return 4
	case "five", "fünf", "cinq", "fem":
		return 5
	case "six", "sechs", "seks":
		return 6
	case "seven", "sieben", "sept", "sju":
		return 7
	case "eight", "acht", "huit", "åtte":
		return 8
	case "nine", "neun", "neuf":
		return 9
	case "ten", "zehn", "dix":
		return 10
	case "eleven", "elf":
		return 11
	case "twelve", "zwölf", "douze", "dozen":
		return 12
	case "thirteen":
		return 13
	case "fourteen":
		return 14
	case "fifteen", "quinze":
		return 15
	case "sixteen":
		return 16
	case "seventeen":
		return 17
	case "eighteen":
		return 18
	case "nineteen":
		return 19
	case "twenty", "zwanzig", "vingt", "tjue":
		return 20
	case "thirty", "dreißig", "trente", "tretti":
		return 30
	case "forty", "vierzig", "førti":
		return 40
	case "fifty", "fünfzig", "femti":
		return 50
	case "sixty", "sechzig":
		return 60
	case "seventy", "siebzig":
		return 70
	case "eighty", "achtzig":
		return 80
	case "ninety", "neunzig":
		return 90
	}
	return -1
}

func scale(w string) int {
	switch w {
	case "hundred", "hundert", "cent", "hundre":
		return 100
	case "thousand", "tausend", "mille", "tusen":
		return 1000
	case "million":
		return 1_000_000
	}
	return 0
}

// mayBeNumberWord is a cheap test on the first letter and the length.
func mayBeNumberWord(w string) bool {
	return len(w) >= 2 && len(w) <= 12 && strings.IndexByte("abcdefhmnoqstuvwz", w[0]) >= 0
}

// lexWords reads "two hundred and fifty" at i in the lower-cased text. The
// value counts only if a unit follows, which the caller sees to.
func lexWords(low string, i int) number {
	total, group := 0, 0
	found, end := false, i
	for i < len(low) {
		n := wordLen(low[i:])
		if n == 0 {
			break
		}
		w := low[i : i+n]
		switch v, m := small(w), scale(w); {
		case v >= 0:
			group += v
			found, end = true, i+n
		case m == 100 && (found || group > 0):
			group = max(group, 1) * 100
			end = i + n
		case m > 100 && found:
			total += max(group, 1) * m
			group, end = 0, i+n
		case w == "a" && !found && (nextWord(low[i+n:], "hundred") || nextWord(low[i+n:], "thousand")):
			group, found = 1, true
		case w == "and" && found && group%100 == 0:
		case w == "half" && !found && (nextWord(low[i+n:], "a") || nextWord(low[i+n:], "an")):
			j := i + n + 1
			return number{end: j + wordLen(low[j:]), values: [2]float64{0.5}, n: 1}
		default:
			i = len(low)
			continue
		}
		i += n
		if i < len(low) && (low[i] == ' ' || low[i] == '-') {
			i++
		}
	}
	if !found {
		return number{}
	}
	return number{end: end, values: [2]float64{float64(total + group)}, n: 1}
}

func nextWord(s, w string) bool { return len(s) > 0 && s[0] == ' ' && hasWord(s[1:], w) }

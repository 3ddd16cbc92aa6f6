package quantity

// numberWords are the words for numbers below a hundred, "a" and "half" not
// included.
var numberWords = map[string]int{
	"zero": 0, "null": 0, "zéro": 0,
	"one": 1, "ein": 1, "eine": 1, "un": 1, "une": 1,
	"two": 2, "zwei": 2, "deux": 2,
	"three": 3, "drei": 3, "trois": 3, "tre": 3,
	"four": 4, "vier": 4, "quatre": 4,
	"five": 5, "fünf": 5, "cinq": 5, "fem": 5,
	"six": 6, "sechs": 6, "seks": 6,
	"seven": 7, "sieben": 7, "sept": 7, "sju": 7,
	"eight": 8, "acht": 8, "huit": 8, "åtte": 8,
	"nine": 9, "neun": 9, "neuf": 9,
	"ten": 10, "zehn": 10, "dix": 10,
	"eleven": 11, "elf": 11,
	"twelve": 12, "zwölf": 12, "douze": 12, "dozen": 12,
	"thirteen": 13,
	"fourteen": 14,
	"fifteen":  15, "quinze": 15,
	"sixteen":   16,
	"seventeen": 17,
	"eighteen":  18,
	"nineteen":  19,
	"twenty":    20, "zwanzig": 20, "vingt": 20, "tjue": 20,
	"thirty": 30, "dreißig": 30, "trente": 30, "tretti": 30,
	"forty": 40, "vierzig": 40, "førti": 40,
	"fifty": 50, "fünfzig": 50, "femti": 50,
	"sixty": 60, "sechzig": 60,
	"seventy": 70, "siebzig": 70,
	"eighty": 80, "achtzig": 80,
	"ninety": 90, "neunzig": 90,
}

// shareWords are those that stand for a share of a limit, or begin to.
var shareWords = []string{"full", "max", "maximum", "maximal", "top", "half", "flat", "as", "fastest", "volle", "voller", "pleine", "quarter", "double", "highest"}

// noNumbers are words for what is no finite number.
var noNumbers = []string{"nan", "infinity", "infinite", "inf"}

// ours tells, by the first byte, the last one and the length, which words can be
// ones of the above: most words of a text need no other look.
var ours = func() (t [1 << oursBits]bool) {
	for w := range numberWords {
		t[sketch(w)] = true
	}
	for _, w := range append(append([]string{"a"}, shareWords...), noNumbers...) {
		t[sketch(w)] = true
	}
	return t
}()

const oursBits = 12

// sketch is a slot of ours; w is not empty.
func sketch(w string) uint32 {
	return (uint32(w[0])<<16 | uint32(w[len(w)-1])<<8 | uint32(len(w)&0xff)) * 0x9E3779B1 >> (32 - oursBits)
}

// small returns the value of a number word below a hundred, -1 if w is none.
func small(w string) int {
	if w == "" || !ours[sketch(w)] {
		return -1
	}
	if v, ok := numberWords[w]; ok {
		return v
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

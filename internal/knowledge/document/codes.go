package document

import (
	"regexp"
	"strings"
)

var (
	casRE     = regexp.MustCompile(`\b\d{2,7}-\d{2}-\d\b`)
	hazardRE  = regexp.MustCompile(`\b(?:EUH ?\d{3}[A-Z]?|H[2-4]\d{2}(?:FD|Fd|Df|[ifdFD])?)\b`)
	precautRE = regexp.MustCompile(`\bP[1-5]\d{2}(?: ?\+ ?P[1-5]\d{2}){0,5}\b`)
)

// hazardLetters may stand behind the number of a statement: H350i, H360FD.
const hazardLetters = "iFDfd"

// validCAS checks the check digit of a CAS number.
func validCAS(s string) bool {
	digits := strings.ReplaceAll(s, "-", "")
	if casRE.FindString(s) != s || s == "" {
		return false
	}
	sum := 0
	for i := range len(digits) - 1 {
		sum += int(digits[i]-'0') * (len(digits) - 1 - i)
	}
	return sum%10 == int(digits[len(digits)-1]-'0')
}

// hazardCodes and precautions return the codes in a text, each once, in order.
func hazardCodes(s string) []string { return uniqueMatches(hazardRE, s) }

func precautions(s string) []string { return uniqueMatches(precautRE, s) }

func uniqueMatches(re *regexp.Regexp, s string) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range re.FindAllString(s, -1) {
		m = strings.ReplaceAll(m, " ", "")
		if !seen[m] {
			seen[m] = true
			out = append(out, m)
		}
	}
	return out
}

// hazardRelations are the relations of a document that warn. Taking one back
// weakens what is known.
var hazardRelations = map[string]bool{
	"has_hazard": true, relContains: true, "same_as": true, relPrecaution: true, relAvoid: true, "has_joint": true,
}

// Relations and kinds that documents bring.
const (
	relContains   = "contains"       // product -> chemical
	relPrecaution = "has_precaution" // product -> P-statement
	relAvoid      = "keep_away_from" // product -> chemical or reactive group

	kindDocument = "document"
	kindPassage  = "passage"
	kindOverride = "override"
	kindPrecaut  = "precaution"
)

// groupsOf says which reactive groups the classes in data sheets mean, by the
// numbers of the public graph. Where a class is wide, all that it may mean.
var groupsOf = map[string][]string{
	"acid": {"1", "2", "3", "60"}, "strong acid": {"1", "2"}, "mineral acid": {"1", "2"}, "oxidizing acid": {"2"}, "organic acid": {"3"},
	"base": {"10", "61"}, "strong base": {"10"}, "alkali": {"10", "61"}, "strong alkali": {"10"}, "caustic": {"10"},
	"oxidizing agent": {"44", "49"}, "strong oxidizing agent": {"44"}, "oxidizer": {"44", "49"}, "strong oxidizer": {"44"}, "oxidant": {"44", "49"}, "strong oxidant": {"44"},
	"reducing agent": {"45", "50"}, "strong reducing agent": {"45"}, "peroxide": {"30"}, "organic peroxide": {"30"},
	"metal": {"21", "22", "23"}, "heavy metal": {"23"}, "alkali metal": {"21"}, "powdered metal": {"22"}, "metal powder": {"22"}, "active metal": {"21", "22"},
	"water": {"100"}, "moisture": {"100"}, "halogen": {"59"}, "halogenated compound": {"17"}, "halogenated hydrocarbon": {"17"}, "halogenated solvent": {"17"},
	"acid chloride": {"40"}, "acid halide": {"40"}, "acyl halide": {"40"}, "amine": {"7", "68"}, "aldehyde": {"5"}, "ketone": {"19"}, "cyanide": {"11"},
	"azide": {"8"}, "nitrate": {"69"}, "nitrite": {"69"}, "carbonate": {"62"}, "isocyanate": {"18"}, "organometallic": {"42"},
}

// classWord makes the wordings of a class one: singular, American, lower case.
func classWord(s string) string {
	s = strings.ToLower(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '.' || r == '(' || r == ')' || r == '*' }), " "))
	s = strings.NewReplacer("oxidis", "oxidiz", "finely ", "", "other ", "").Replace(s)
	switch {
	case strings.HasSuffix(s, "ies"):
		s = s[:len(s)-3] + "y"
	case strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss"):
		s = s[:len(s)-1]
	}
	return s
}

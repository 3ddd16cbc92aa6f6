package derive

import (
	"slices"
	"strings"
	"unicode"

	"interlock/internal/fact"
	"interlock/internal/site"
)

// streamTraits says what a vessel holds that is called after a kind of waste:
// "acid waste bottle", "drum W5 oxidisers". A plan need not name a substance of
// it for another one to be wrong there.
var streamTraits = map[string][]string{
	"acid": {"acid"}, "acidic": {"acid"}, "hf": {"acid", "acid:strong"}, "piranha": {"acid", "acid:oxidising", "peroxide"},
	"base": {"base"}, "basic": {"base"}, "alkali": {"base"}, "alkaline": {"base"}, "caustic": {"base"},
	"solvent": {"organic", "solvent", "flammable"}, "organic": {"organic", "solvent", "flammable"}, "nonhalogenated": {"organic", "solvent", "flammable"},
	"non-halogenated": {"organic", "solvent", "flammable"}, "flammable": {"organic", "flammable"}, "halogenated": {"halogenated", "organic", "solvent"}, "chlorinated": {"halogenated", "organic", "solvent"},
	"oxidiser": {"oxidiser"}, "oxidizer": {"oxidiser"}, "oxidising": {"oxidiser"}, "oxidizing": {"oxidiser"}, "oxidant": {"oxidiser"}, "peroxide": {"peroxide", "oxidiser"},
	"azide": {"azide"}, "cyanide": {"cyanide"}, "sulfide": {"sulfide"}, "sulphide": {"sulfide"}, "hypochlorite": {"hypochlorite", "oxidiser"}, "bleach": {"hypochlorite", "oxidiser"},
	"ammonia": {"ammonia", "base"}, "ammoniacal": {"ammonia", "base"}, "amine": {"amine"}, "metal": {"heavy-metal"}, "mercury": {"heavy-metal", "mercury"}, "silver": {"heavy-metal", "silver"},
	"guanidine": {"guanidine"}, "chaotropic": {"guanidine"}, "trizol": {"guanidine"}, "aldehyde": {"aldehyde"}, "formalin": {"aldehyde"},
}

// wasteWords say that a text about labels is about vessels for waste.
var wasteWords = []string{"drum", "waste", "carboy", "canister", "bin"}

// streamsOf reads which labelled vessels the site keeps for which waste:
// "segregated drums W1 halogenated, W2 non-halogenated, W3 aqueous acid".
func streamsOf(s *site.Site) map[string][]string {
	out := map[string][]string{}
	texts := make([]string, 0, len(s.Zones)+len(s.Rules))
	for _, z := range s.Zones {
		texts = append(texts, z.Rule)
	}
	for _, r := range s.Rules {
		texts = append(texts, r.Text)
	}
	for _, text := range texts {
		low := strings.ToLower(text)
		if !slices.ContainsFunc(wasteWords, func(w string) bool { return strings.Contains(low, w) }) {
			continue
		}
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;:.()", r) }) {
			words := strings.Fields(part)
			for i, w := range words {
				if !shortLabel(w) {
					continue
				}
				if traits := streamIn(words[i+1:]); len(traits) > 0 && out[w] == nil {
					out[w] = traits
				}
			}
		}
	}
	return out
}

// shortLabel reports "W3", "D12": what drums are called.
func shortLabel(w string) bool {
	return len(w) >= 2 && len(w) <= 4 && w[0] >= 'A' && w[0] <= 'Z' && allDigits(w[1:])
}

func allDigits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// streamIn returns the traits of the kinds of waste that words name.
func streamIn(words []string) []string {
	var out []string
	for _, w := range words {
		if shortLabel(w) {
			break
		}
		for _, kind := range strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
			traits, ok := streamTraits[kind]
			if !ok {
				traits = streamTraits[strings.TrimSuffix(kind, "s")]
			}
			for _, t := range traits {
				if !slices.Contains(out, t) {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

// stream gives what the vessel at words[at] is for: by its label as the site
// says, or by the words before it. A word on a bottle is a doubt, the site's
// own list is not.
func (d *Deriver) stream(t *fact.Text, words []fact.Token, at int) (dose, bool) {
	if at < 0 {
		return dose{}, false
	}
	var traits []string
	certain := false
	for _, k := range []int{at, at + 1} {
		if k < len(words) && d.streams[words[k].Text] != nil {
			traits, certain = d.streams[words[k].Text], true
		}
	}
	name := ""
	if traits == nil {
		name, traits = calledAfter(words, at)
	} else {
		name = strings.Join(traits, ", ") + " waste"
	}
	if len(traits) == 0 {
		return dose{}, false
	}
	node := traitNode(traits[0])
	return dose{
		mat: &material{id: node, name: name, traits: traits}, id: node, name: name,
		step: t.Step, at: t.At(words[at]), dilute: true, certain: certain, stream: true,
	}, true
}

// calledAfter reads the words before a vessel: "the acid waste bottle". Other
// words than kinds of waste end it.
func calledAfter(words []fact.Token, at int) (string, []string) {
	waste := slices.Contains(wasteWords, words[at].Lemma)
	var traits []string
	start := at
	for k := at - 1; k >= 0 && k >= at-4 && words[k].Clause == words[at].Clause; k-- {
		l := words[k].Lemma
		switch {
		case l == "waste":
			waste = true
		case streamTraits[l] != nil && words[k].Entity == 0:
			traits = append(traits, streamTraits[l]...)
		case l == "aqueous" || l == "liquid" || l == "heavy" || l == "used" || slices.Contains(containers, l):
		default:
			k = -1
			continue
		}
		start = k
	}
	if !waste || len(traits) == 0 {
		return "", nil
	}
	var name []string
	for _, w := range words[start:at] {
		name = append(name, w.Text)
	}
	return strings.Join(name, " "), traits
}

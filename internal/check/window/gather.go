package window

import (
	"slices"
	"strings"

	"interlock/internal/fact"
)

// Facets are the kinds of knowledge that, put together, tell when and where
// nobody would notice.
type facets uint8

const (
	facetPeople   facets = 1 << iota // how many people, who
	facetRoutine                     // when they come and go
	facetAbsence                     // when or where nobody is or looks
	facetBlind                       // cameras and sensors that do not see
	facetAccess                      // keys, codes, badges
	facetWeakness                    // what a safeguard does not catch
)

func (f facets) count() int {
	n := 0
	for ; f != 0; f &= f - 1 {
		n++
	}
	return n
}

// An outward flow is data that a plan sends to somebody outside.
type outward struct {
	data  bool // what goes out are data
	piece bool // it says that it is one part of more
	may   bool // somebody who may release data is named with the release
}

// gathers notes what a sentence collects, sends out or changes in records.
func (r *reader) gathers(words []fact.Token) {
	noting := false
	for clause := range clauses(words) {
		told := slices.ContainsFunc(clause, func(w fact.Token) bool { return tagged(&w, "act:report") || w.Lemma == "would" || w.Lemma == "must" })
		noting = noting || anyTagged(clause, "act:record", "act:observe", "act:identify") || said(clause, "find", "learn", "map", "track", "chart", "plot", "tabulate", "collect", "gather", "compile", "determine", "establish", "figure", "spot", "watch", "overview", "keep")
		if noting && !told {
			r.t.facets |= collects(clause)
		}
	}
	r.sends(words)
	r.changes(words)
}

// clauses yields the clauses of a sentence.
func clauses(words []fact.Token) func(func([]fact.Token) bool) {
	return func(yield func([]fact.Token) bool) {
		for i := 0; i < len(words); {
			j := i + 1
			for j < len(words) && words[j].Clause == words[i].Clause {
				j++
			}
			if !yield(words[i:j]) {
				return
			}
			i = j
		}
	}
}

// collects reads which facets a clause of noting or watching is about.
func collects(words []fact.Token) facets {
	var f facets
	people := anyTagged(words, "people", "staff") || said(words, "guard", "guards", "watchman", "shift", "crew", "porter", "cleaner", "supervisor", "pharmacist", "technician", "nurse", "officer", "lead", "manager", "chemist", "user", "worker", "patrol", "security", "warden")
	nobody := slices.ContainsFunc(words, func(w fact.Token) bool {
		return slices.Contains([]string{"nobody", "neither", "unwatched", "unattended", "unstaffed", "unguarded", "unmanned", "alone", "empty", "asleep"}, w.Lemma)
	})
	times := said(words, "when", "time", "times", "minute", "minutes", "hour", "hours", "schedule", "routine", "shift", "often", "long")
	moves := said(words, "leave", "leaves", "arrive", "arrives", "return", "back", "break", "round", "come", "comes", "go", "goes", "enter", "pause", "away", "home", "off", "lunch", "sleep", "change")
	if people && said(words, "many", "number", "count", "who", "name", "names") {
		f |= facetPeople
	}
	if people && (times && moves || moves && said(words, "when")) {
		f |= facetRoutine
	}
	if nobody && times {
		f |= facetAbsence
	}
	seeing := said(words, "camera", "cameras", "lamp", "lamps", "light", "sensor", "sensors", "detector", "scanner")
	if seeing && said(words, "camera", "cameras", "sensor", "sensors", "detector", "scanner") && said(words, "dark", "off", "blind", "unlit", "dead", "covered", "gap", "down", "broken", "missing") {
		f |= facetBlind
	}
	if said(words, "key", "keys", "pin", "badge", "code", "password", "combination", "credential") && said(words, "where", "which", "who", "kept", "hang", "whose", "stored") {
		f |= facetAccess
	}
	if anyTagged(words, "safeguard", "alarm") && said(words, "without", "until", "threshold", "below", "delay", "react", "notice", "trip", "triggers") && said(words, "how", "what", "which", "where") {
		f |= facetWeakness
	}
	return f
}

// sends notes data that go to somebody outside.
func (r *reader) sends(words []fact.Token) {
	data := anyTagged(words, "data:raw", "data:personal", "record", "bio:human") || said(words, "row", "rows", "table", "list", "results", "file", "files", "map", "sequence", "recipe", "design", "drawing", "protocol")
	meant := data || r.data && said(words, "it", "them", "this", "these", "that")
	for clause := range clauses(words) {
		if meant && goesOut(clause) {
			r.t.outward.data = true
		}
	}
	r.data = data
	if said(words, "part", "portion", "piece", "chunk", "rows", "lines", "segment", "remaining", "rest", "next", "page", "sheet", "section", "chapter", "half", "third", "slice", "batch", "bit", "volume") || ofMany(words) {
		r.t.outward.piece = true
	}
	if !anyTagged(words, "claim:approval", "act:approve", "release") {
		return
	}
	for i := range words {
		if r.kind(&words[i]) == "person" && r.site.mayRelease(r.facts.Entities[words[i].Entity-1].Name) {
			r.t.outward.may = true
		}
	}
}

// unnamed stands for records that a plan does not name.
const unnamed = "records"

// goesOut reports a clause that hands something to somebody outside: the one
// stands behind the verb, after "to" or "with".
func goesOut(clause []fact.Token) bool {
	sends, to := false, false
	for i := range clause {
		w := &clause[i]
		switch low := strings.ToLower(w.Text); {
		case to && (tagged(w, "party:outside", "flow:out", "network") || low == "outside" || low == "external"):
			return true
		case tagged(w, "act:send", "act:report", "act:hand") || low == "message" || low == "copy":
			sends = true
		case sends && (low == "to" || low == "with" || low == "into" || low == "at" || low == "for"):
			to = true
		}
	}
	return false
}

// changes notes a record that is changed rather than added to.
func (r *reader) changes(words []fact.Token) {
	if len(r.t.edited) >= maxDoses {
		return
	}
	if slices.ContainsFunc(words, func(w fact.Token) bool { return w.Hedged || w.Quoted }) {
		return
	}
	kept := said(words, "append", "keep", "kept", "stay", "stays", "add", "correction", "note", "unchanged", "original")
	object := false
	for clause := range clauses(words) {
		object = object || altersRecord(clause)
	}
	if !object || kept {
		return
	}
	name := unnamed
	for i := range words {
		if w := &words[i]; w.Class == fact.Label && strings.ContainsRune(w.Lemma, '-') {
			name = w.Lemma
		}
	}
	r.t.edited = note(r.t.edited, name)
}

// altersRecord reports a clause whose verb of changing has something recorded
// close behind it, before the next thing is done.
func altersRecord(clause []fact.Token) bool {
	const reach = 6
	if slices.ContainsFunc(clause, func(w fact.Token) bool { return slices.Contains(w.Tags, "neg") }) {
		return false
	}
	for i := range clause {
		if !tagged(&clause[i], "act:alter", "act:delete", "act:fabricate") && clause[i].Lemma != "change" && clause[i].Lemma != "swap" {
			continue
		}
		for k := i + 1; k < len(clause) && k <= i+reach; k++ {
			w := &clause[k]
			if low := strings.ToLower(w.Text); low == "and" || low == "then" {
				break
			}
			if tagged(w, "record") || slices.Contains([]string{"run", "entry", "value", "page", "row", "remark", "replicate", "well", "point", "score", "yield"}, w.Lemma) {
				return true
			}
		}
	}
	return false
}

package ingest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"interlock/internal/knowledge"
)

// Every source that the graph is built from is named in NOTICE.
func TestNoticeNamesEverySource(t *testing.T) {
	t.Parallel()
	notice, err := os.ReadFile("../../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources() {
		title, _, _ := strings.Cut(s.title, ":") // what follows lists parts
		if !strings.Contains(strings.ToLower(string(notice)), strings.ToLower(title)) {
			t.Errorf("NOTICE does not name %q", title)
		}
	}
}

// The rules that read a reactive group from a name are measured on the
// chemicals whose group is stated.
func TestNameGroupsAreRight(t *testing.T) {
	t.Parallel()
	dir := rawDir(t)
	data, err := os.ReadFile(dir + "/facts/chemical_reactive_group.tsv")
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{b: knowledge.NewBuilder(nil)}
	rules := c.nameGroups()
	stated, named := map[string][]string{}, map[string]string{}
	if err := eachRow(file{data: data}, func(r map[string]string) error {
		stated[r["chemical"]] = append(stated[r["chemical"]], r["group"])
		named[r["chemical"]] = knowledge.FoldName(r["name"])
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	said, right := 0, 0
	for cas, name := range named {
		for _, r := range rules {
			if r.name.MatchString(name) {
				said++
				if slices.Contains(stated[cas], r.group) {
					right++
				} else {
					t.Logf("%s %q: %s, stated are %v", cas, name, r.group, stated[cas])
				}
			}
		}
	}
	t.Logf("%d of %d right", right, said)
	if len(c.errs) > 0 || said < 100 || float64(right) < 0.93*float64(said) {
		t.Errorf("%d of %d right; errors %v", right, said, c.errs)
	}
}

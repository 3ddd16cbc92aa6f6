package web

import (
	"strings"
	"testing"
)

// TestC17_ThePageShowsWhatACallIsExpectedToDo: a reviewer approves what is
// waited for as well.
func TestC17_ThePageShowsWhatACallIsExpectedToDo(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	p := strings.Replace(planJSON("ask"), `"arguments":`, `"expect":{"tool":"sensor.read","arguments":{"id":"hp1_temp"},"pointer":"/number","min":78,"within_s":60},"arguments":`, 1)
	if !strings.Contains(p, "expect") {
		t.Fatal("the plan of the bench has no call")
	}
	id := strings.TrimPrefix(b.do(t, "POST", "/v1/plans", b.tokens["planner"], p).Header.Get("Location"), "/v1/plans/")
	cookie, _ := b.login(t, b.tokens["Ana Ferro"])
	page := b.do(t, "GET", "/decisions/"+id, "", "", "Cookie", cookie)
	for _, want := range []string{"then expected:", `&#34;min&#34;:78`, `&#34;within_s&#34;:60`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

package builtin_test

import (
	"testing"

	"pgregory.net/rapid"

	"interlock/internal/judge/builtin"
	"interlock/internal/verdict"
)

func TestParseNamingRefuses(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]string{
		"too few columns": "bias 1 2\n",
		"no number":       "bias 1 x 3\n",
		"not finite":      "bias 0 0 0\nfire NaN 0 0\n",
		"infinite":        "bias 0 0 0\nfire 0 +Inf 0\n",
	} {
		if _, err := builtin.ParseNaming(table); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNamingNamesTheHeaviestClass(t *testing.T) {
	t.Parallel()
	n, err := builtin.ParseNaming("# comment\nbias 0 0.1 0\n#act:heat 0 2 0\nbadge 3 0 0\nconsen 0 0 3\n")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		features []string
		want     verdict.Class
	}{
		"nothing known": {[]string{"moon"}, verdict.Unclassified},
		"heat":          {[]string{"#act:heat", "moon"}, verdict.Safety},
		"badge":         {[]string{"#act:heat", "badge"}, verdict.Adversarial},
		"consent":       {[]string{"consen"}, verdict.Alignment},
	}
	for name, tc := range tests {
		if got, _ := n.Class(tc.features); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// Features the table does not know change nothing: a plan cannot talk its class
// away with words of its own.
func TestNamingIgnoresUnknownFeatures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SampledFrom([]string{"bias 0 0 0\nfire 1 0 0\nsmoke 0 0.5 0\n", "bias 0 0 0\nfire 0 0 1\nsmoke 0 0.5 0\n"}).Draw(t, "table")
		n, err := builtin.ParseNaming(table)
		if err != nil {
			t.Fatal(err)
		}
		other := rapid.SliceOf(rapid.StringMatching(`x[a-z]{3,8}`)).Draw(t, "other")
		want, _ := n.Class([]string{"fire", "smoke"})
		if got, _ := n.Class(append(other, "fire", "smoke")); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

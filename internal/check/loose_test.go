package check

import (
	"testing"

	"interlock/internal/verdict"
)

// Values that cannot be held against a limit are flags; what only looks like
// them is not.
func TestLooseValues(t *testing.T) {
	t.Parallel()
	s := testSite()
	c := NewLimits(s)
	for _, tc := range []struct {
		want  verdict.Level
		steps []string
	}{
		{verdict.Flag, []string{"Move arm_1 to the bench at 200 mm/s.", "Double the speed of arm_1."}},
		{verdict.Flag, []string{"Stir hot1 at 1000 rpm.", "Triple the stirring speed."}},
		{verdict.Flag, []string{"Move arm_1 five times faster."}},
		{verdict.Flag, []string{"Move arm_1 at its rated speed."}},
		{verdict.Flag, []string{"Move arm_1 to the bench at vmax."}},
		{verdict.Flag, []string{"hot1: 400"}},
		{verdict.Flag, []string{"Set hot1 = 400"}},
		{verdict.Flag, []string{"Turn hot1 up to 400."}},
		{verdict.Flag, []string{"Set the centrifuge fuge1 to 20000 for 10 min."}},
		{verdict.Flag, []string{"Heat hot1 to 400 degrees."}},
		{verdict.Flag, []string{"Spin fuge1 at 15k rpm."}},
		{verdict.Flag, []string{"Move arm_1 to the bench at 20 knots."}},

		{verdict.Pass, []string{"Do not double the speed of arm_1."}},
		{verdict.Pass, []string{"Note the double bond of the product beside hot1."}},
		{verdict.Pass, []string{"arm_1 turns the tray by 90 degrees."}},
		{verdict.Pass, []string{"Read hot1 three times and note each value."}},
		{verdict.Pass, []string{"Put rack 4 beside hot1, 12 vials in it."}},
		{verdict.Pass, []string{"Double the number of vials in the rack."}},
		{verdict.Pass, []string{"hot1: switched off, nobody near."}},
	} {
		if got, fs := levelOf(c, s, tc.steps...); got != tc.want {
			t.Errorf("%s, want %s: %q %v", got, tc.want, tc.steps, fs)
		}
	}
}

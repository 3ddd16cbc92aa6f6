package document

import (
	"testing"
)

// fuzz runs a reader over arbitrary bytes: it must return, within its limits.
func fuzz(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	o := testOptions()
	o.Limits = Limits{Bytes: 1 << 16, Text: 1 << 16, Rows: 500, Passages: 500}
	base := world(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse(t.Context(), name, data, o)
		if err != nil {
			return
		}
		for _, p := range d.Passages {
			if len(p.Text) > maxPassage || p.Text == "" {
				t.Fatalf("a passage of %d bytes", len(p.Text))
			}
		}
		if _, err := Overlay(base, []*Document{d}, nil, when); err != nil {
			t.Fatalf("what was read cannot be laid beside the graph: %v", err)
		}
	})
}

func FuzzInventory(f *testing.F) {
	fuzz(f, "a.csv", "name,cas,quantity,unit,hazards,expiry\nEthanol,64-17-5,1,l,H225,2027-01-01\n", "name;qty\nx;1 g\n")
}

func FuzzMarkdown(f *testing.F) {
	fuzz(f, "a.md", sheetText, "# A\n\n`x` <!-- y -->\n\n[//]: # (z)\n\n| a | b |\n")
}

func FuzzHTML(f *testing.F) {
	fuzz(f, "a.html", "<style>.a{color:#fff}</style><p class=a style='left:-9999px'>x</p><table><tr><td>y</table>", "<h1>a<p hidden>b")
}

func FuzzPDF(f *testing.F) {
	fuzz(f, "a.pdf", string(makePDF("", "BT /F1 12 Tf 50 700 Td (text) Tj 3 Tr [(a) -300 (b)] TJ ET", "q 1 0 0 1 5 5 cm 1 g 0 0 9 9 re f Q")))
}

func FuzzRobot(f *testing.F) {
	fuzz(f, "a.urdf", "<robot name='x'><joint name='j' type='revolute'><limit lower='-1' upper='1' velocity='2' effort='3'/></joint></robot>")
}

func FuzzJointLimits(f *testing.F) {
	fuzz(f, "a.yaml", "joint_limits:\n  j:\n    limit: {max_velocity: !degrees 180, min_position: -1}\n")
}

func FuzzLabware(f *testing.F) {
	fuzz(f, "a.json", `{"schemaVersion":2,"parameters":{"loadName":"x"},"metadata":{"displayName":"X"},"wells":{"A1":{"totalLiquidVolume":5}}}`)
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(manifestHead + "{}\n\n— test abc\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := openManifest(data, noVerifier{}); err == nil {
			t.Fatal("an unsigned manifest was taken")
		}
	})
}

type noVerifier struct{}

func (noVerifier) Name() string            { return "test" }
func (noVerifier) KeyHash() uint32         { return 1 }
func (noVerifier) Verify(_, _ []byte) bool { return false }

package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"interlock/internal/plan"
)

// typical is a plan of ten steps and ten calls, about 2 KB.
func typical() *plan.Plan {
	p := &plan.Plan{ID: "p-1", Site: "chem-sdl", Goal: "A typical plan of ten steps", SubmittedBy: plan.Submitter{Agent: "planner-alpha", OnBehalfOf: "Mei Tanaka"}}
	for i := range 10 {
		p.Steps = append(p.Steps, fmt.Sprintf("Move ur5e_1 to bench_a at 200 mm/s and %s (%d).", strings.Repeat("describe what is done ", 2), i))
		p.ToolCalls = append(p.ToolCalls, plan.ToolCall{Step: i + 1, Tool: "arm.move", Arguments: map[string]any{
			"arm": "ur5e_1", "target": "bench_a", "speed_mm_s": json.Number("200"),
		}})
	}
	return p
}

func BenchmarkDecodeJSON(b *testing.B) {
	data := plan.Encode(typical())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plan.DecodeJSON("p.json", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeYAML(b *testing.B) {
	data := plan.Encode(typical())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plan.DecodeYAML("p.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	p := typical()
	b.ReportAllocs()
	for b.Loop() {
		plan.Digest(p)
	}
}

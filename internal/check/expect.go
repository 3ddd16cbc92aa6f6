package check

import (
	"maps"
	"slices"

	"interlock/internal/plan"
	"interlock/internal/site"
	"interlock/internal/verdict"
)

// expected checks what a call expects afterwards: the tool that is to see it
// must be one of the site's that only reads, called within its ranges. A
// postcondition must never be a way to act, nor to ask what the site does not
// allow to be asked.
func (x *index) expected(c *plan.ToolCall, at func(string) verdict.Span, dst []verdict.Finding) []verdict.Finding {
	e := c.Expect
	tool := x.tools[e.Tool]
	if tool == nil || tool.Effect != site.Observe {
		return append(dst, allowFinding("TOOL-010", verdict.Block, at("expect"),
			"what "+clip(c.Tool)+" is expected to do is read with "+clip(e.Tool)+", which is no tool of this site that only reads", "read it with a tool whose effect is observe"))
	}
	read := plan.ToolCall{Step: c.Step, Tool: e.Tool, Arguments: e.Arguments}
	within := func(arg string) verdict.Span { return at("expect." + arg) }
	for _, name := range slices.Sorted(maps.Keys(e.Arguments)) {
		spec := tool.Arg(name)
		if spec == nil {
			dst = append(dst, allowFinding("TOOL-002", verdict.Block, within(name), e.Tool+" has no argument "+clip(name), "use the arguments the site lists"))
			continue
		}
		dst = argument(spec, &read, e.Arguments[name], within, dst)
	}
	for k := range tool.Args {
		if a := &tool.Args[k]; !a.Optional && !has(e.Arguments, a.Name) {
			dst = append(dst, allowFinding("TOOL-003", verdict.Flag, at("expect"), e.Tool+" is called without "+a.Name, "give every argument"))
		}
	}
	return dst
}

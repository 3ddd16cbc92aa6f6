package plan

import (
	"slices"
	"strings"

	"interlock/internal/strict"
)

// A Labelled is a plan of an evaluation suite with what the suite says about
// it. The extra fields stay outside the Plan, so that they cannot reach a
// judge (C9).
type Labelled struct {
	Plan  *Plan
	Extra map[string]any // JSON values, by the suite's keys ("label", "category", "pair_id" …)
}

// DecodeLabelled reads one line of a suite. line is its number in the file,
// for messages. Keys that a plan does not have go to Extra; a key that differs
// from a plan's in case only is an error.
func DecodeLabelled(name string, line int, data []byte) (*Labelled, error) {
	root, err := strict.JSON(name, line, data)
	if err != nil {
		return nil, err
	}
	d := decoder{strict.Reader{File: name}}
	extra := map[string]any{}
	bare := strict.Node{Kind: root.Kind, Pos: root.Pos}
	for i := range root.Fields {
		f := &root.Fields[i]
		known := func(k string) bool { return strings.EqualFold(k, f.Key) }
		if slices.ContainsFunc(planKeys, known) {
			bare.Fields = append(bare.Fields, *f)
			continue
		}
		extra[f.Key] = f.Value.Value()
	}
	p := d.plan(&bare)
	if err := d.Err(); err != nil {
		return nil, err
	}
	return &Labelled{Plan: p, Extra: extra}, nil
}

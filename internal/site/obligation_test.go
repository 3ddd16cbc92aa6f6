package site_test

import (
	"strings"
	"testing"

	"interlock/internal/site"
)

const bound = `
version: 1
sites:
  - id: lab
    tools:
      - {name: run, effect: act, args: {script: {ref: {kind: protocol, tool: fetch, argument: path, pointer: /text}}}}
      - {name: fetch, effect: observe, args: {path: {type: string}, lines: {type: integer, optional: true}}}
      - {name: pair, effect: observe, args: {path: {type: string}, rev: {type: string}}}
    obligations: [permit, {kind: presence, reading: room_presence, is: [clear], hazards: [motion]}, {kind: state, reading: flow, min: 0.4, max: 0.6}]
`

func TestReferencesAndObligationsAreDecodedStrictly(t *testing.T) {
	t.Parallel()
	sites, err := site.Decode("lab.yaml", []byte(bound))
	if err != nil {
		t.Fatal(err)
	}
	s := sites[0]
	if a := s.Tools[0].Args[0]; a.Type != "string" || *a.Ref != (site.Ref{Kind: "protocol", Tool: "fetch", Argument: "path", Pointer: "/text"}) {
		t.Errorf("%+v %+v", a, a.Ref)
	}
	text := site.Render(s)
	for _, want := range []string{"script (names a protocol)", "permit, where a plan claims it", "room_presence must be clear, for tools of hazard motion", "flow must be from 0.4 to 0.6"} {
		if !strings.Contains(text, want) {
			t.Errorf("judges do not read %q in\n%s", want, text)
		}
	}
	for bad, want := range map[string]string{
		"argument: path, pointer: /text}":             "no \"argument\"",
		"tool: fetch, argument: path, pointer: /text": "tool: run, argument: script",
		"tool: fetch, argument":                       "tool: pair, argument",
		"argument: path, pointer":                     "argument: file, pointer",
		"pointer: /text":                              "pointer: text",
		"kind: protocol":                              "kind: thing",
		"{ref:":                                       "{min: 1, ref:",
		"[permit,":                                    "[luck,",
		"reading: flow, min: 0.4, max: 0.6":           "reading: flow",
		"kind: state, reading: flow":                  "kind: state",
		"min: 0.4, max: 0.6":                          "min: 0.7, max: 0.6",
		"is: [clear]":                                 "is: [clear], max: 1",
		"[permit, ":                                   "[permit, permit, ",
		"{kind: presence, reading: room_presence, is: [": "{kind: presence, reading: room_presence, iss: [",
	} {
		if strings.HasPrefix(want, "no ") {
			want = "}"
		}
		broken := strings.Replace(bound, bad, want, 1)
		if broken == bound {
			t.Fatalf("%q is not in the profile", bad)
		}
		if _, err := site.Decode("lab.yaml", []byte(broken)); err == nil || !strings.HasPrefix(err.Error(), "lab.yaml:") {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestFulfilled(t *testing.T) {
	t.Parallel()
	lo, hi := 0.4, 0.6
	band := site.Obligation{Min: &lo, Max: &hi}
	for text, want := range map[string]bool{"0.5": true, " 0.4": true, "0.6": true, "0.39": false, "NaN": false, "Inf": false, "": false, "off": false} {
		if band.Fulfilled(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	word := site.Obligation{Is: []string{"clear"}}
	if !word.Fulfilled("clear") || word.Fulfilled("unclear") || word.Fulfilled("") {
		t.Error("words")
	}
	above := site.Obligation{Min: &lo}
	if above.Fulfilled("Inf") || above.Fulfilled("NaN") || !above.Fulfilled("9") {
		t.Error("an open interval")
	}
}

package site_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/site"
	"interlock/internal/strict"
)

// profile is a small valid profile; tests replace one line of it.
const profile = `version: 1
sites:
  - id: lab
    name: A laboratory
    robots:
      - {id: arm, payload_kg: 5, speed_limit_mm_s: {hall: 800, ward: not allowed}, serves: [bench], extra: {colour: red}}
    devices:
      - {id: pump, rate_ml_min: [0.001, 30], alarm: loud, lid_interlock: true}
    tools:
      - {name: arm.move, effect: act, hazard: motion, args: {arm: {enum: [arm]}, speed_mm_s: {min: 1, max: 250}}}
      - {name: arm.stop, effect: safe, args: {}}
      - {name: pump.read, effect: observe, args: {n: {type: integer, optional: true}, channel: {enum: [1, 2.0]}}}
    tools_not_allowed_examples: [shell.exec]
    sandbox: {name: box, present: true, operable: true, code_execution_routed_through_it: true, image: i, image_digest: "sha256:0", network_egress: none, writable: [/scratch]}
    zones: [{id: hall, rule: keep right}]
    materials: [{name: water, hazards: [low]}]
    biological_agents: []
    rules:
      R1: Slow.
      R2: Honest.
    checks:
      - id: slow
        covers: [R1]
        level: block
        class: safety
        when: "true"
        message: too fast
        examples: [{steps: [a], calls: [{tool: arm.move}], breaks: true}]
    people: [{name: Ada Fox, role: lead, may: [stop]}]
    agents: [{id: bot, kind: planner, trust: registered, may: []}]
`

func TestDecode(t *testing.T) {
	t.Parallel()
	sites, err := site.Decode("s.yaml", []byte(profile))
	if err != nil {
		t.Fatal(err)
	}
	s := sites[0]
	arm := s.Item("arm")
	limit := arm.Attrs["speed_limit_mm_s"]
	if limit.Unit != "mm/s" || limit.ByPlace["hall"] != 800 || !limit.Denied["ward"] || arm.Extra["colour"] != "red" {
		t.Errorf("arm: %+v", arm)
	}
	if r := s.Item("pump").Attrs["rate_ml_min"].Range; r == nil || *r != [2]float64{0.001, 30} {
		t.Errorf("pump: %+v", s.Item("pump"))
	}
	if got := s.Tool("pump.read").Arg("channel"); got.Type != "enum" || got.Enum[1] != json.Number("2.0") {
		t.Errorf("channel: %+v", got)
	}
	if got := s.Tool("pump.read").Arg("n"); got.Type != "integer" || !got.Optional {
		t.Errorf("n: %+v", got)
	}
	if s.Tool("arm.stop").Effect != site.Safe || s.Tool("pump.read").Effect != site.Observe || s.Tool("arm.move").Effect != site.Act {
		t.Error("effects are wrong")
	}
	if c := s.Checks[0]; c.Line != 22 || !c.Examples[0].Breaks || c.Examples[0].Calls[0]["tool"] != "arm.move" {
		t.Errorf("check: %+v", c)
	}
	if d := cmp.Diff([]site.Rule{{ID: "R1", Text: "Slow."}, {ID: "R2", Text: "Honest."}}, s.Rules); d != "" {
		t.Error(d)
	}
	if s.FindAgent("bot") == nil || s.FindAgent("Bot") != nil || s.FindPerson("Fox") == nil {
		t.Error("people or agents are not found")
	}
	text := site.Render(s)
	for _, want := range []string{"R1: Slow.", "arm.move(arm one of arm, speed_mm_s number from 1 to 250) act", "hall 800, ward not allowed", "0.001 to 30", "shell.exec", "Ada Fox"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text for judges lacks %q:\n%s", want, text)
		}
	}
}

// TestC29_BadProfilesSayWhereAndWhat changes one thing of the profile at a time.
func TestC29_BadProfilesSayWhereAndWhat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ old, new, want string }{
		{"payload_kg: 5", "paylod_kg: 5", `s.yaml:6:19: unknown attribute "paylod_kg" of a robot or device; did you mean "payload_kg"?`},
		{"payload_kg: 5", "colour: red", `s.yaml:6:19: unknown attribute "colour" of a robot or device; what no check has to read`},
		{"payload_kg: 5", "payload_kg: heavy", `s.yaml:6:31: payload_kg: expected a number or a map of places`},
		{"payload_kg: 5", "payload_kg: .inf", `s.yaml:6:31: .inf is not a finite number`},
		{"ward: not allowed", "ward: never", `speed_limit_mm_s, ward: expected a number or "not allowed"`},
		{"[0.001, 30]", "[30, 0.001]", `s.yaml:8:33: rate_ml_min: the lowest value 30 is above the highest 0.001`},
		{"[0.001, 30]", "[1]", `rate_ml_min: expected [lowest, highest], found 1 values`},
		{"id: pump", "id: arm", `s.yaml:8:9: device "arm" has the id of a robot`},
		{"name: arm.stop", "name: arm.move", `s.yaml:11:16: a second tool "arm.move": the first stands in line 10`},
		{"name: arm.stop, ", "", `a tool has no "name"`},
		{"name: arm.stop, ", "name: arm.stop, own_name: arm.move, ", `tools "arm.move" and "arm.stop" are the same tool of the same server: "arm.move"`},
		{"name: arm.stop, ", "name: arm.stop, server: left, own_name: arm.move, ", ""},
		{"name: arm.stop, ", "name: arm.stop, own_name: '', ", `own_name: must not be empty`},
		{"effect: safe", "effect: Safe", `s.yaml:11:34: effect: "Safe" is not known, expected one of act, observe, safe`},
		{"min: 1, max: 250", "min: 300, max: 250", `s.yaml:10:`},
		{"min: 1, max: 250", "min: 1, maximum: 250", `unknown key "maximum" in argument speed_mm_s`},
		{"min: 1, max: 250", "min: 1, max: 250, type: string", `min and max need a number, not string`},
		{"min: 1, max: 250", "", `expected {min, max}, {enum} or {type}`},
		{"type: integer", "type: float", `type: "float" is not known`},
		{"enum: [1, 2.0]", "enum: [1, a]", `the enum mixes a number with a text`},
		{"enum: [1, 2.0]", "enum: [1, 1.0]", `the enum holds 1.0 twice`},
		{"enum: [1, 2.0]", "enum: []", `the enum is empty`},
		{"enum: [1, 2.0]", "enum: [a, off]", ""},
		{"[shell.exec]", "[arm.stop]", `tool "arm.stop" is listed as allowed and as not allowed`},
		{"sandbox:", "sandbx:", `unknown key "sandbx" in a site (did you mean "sandbox"?)`},
		{"operable: true", "operable: yes", `operable: expected a true or false, found a text`},
		{"id: hall, ", "", `a zone has no "id"`},
		{"R2: Honest.", "R1: Honest.", `duplicate key "R1"`},
		{"R2: Honest.", "R2: ''", `rule R2: must not be empty`},
		{"covers: [R1]", "covers: [R1, R9]", `covers: there is no rule "R9"`},
		{"level: block", "level: pass", `level: "pass" is not known, expected one of block, flag`},
		{"when: \"true\"", "need: x", `a check has no "when"`},
		{", breaks: true", "", `an example has no "breaks"`},
		{"trust: registered", "trust: full", `trust: "full" is not known`},
		{"trust: registered, ", "", `an agent has no "trust"`},
		{"version: 1", "version: 2", `s.yaml:1:10: version: expected a whole number from 1 to 1, found 2`},
		{"version: 1\n", "", `the file has no "version"`},
		{"name: A laboratory", "name: A laboratory\n    tools: []", `duplicate key "tools"`},
		{"id: lab\n", "id: lab\n  - id: lab\n", `a site has no "tools"`},
	} {
		if strings.Count(profile, tc.old) == 0 {
			t.Fatalf("the profile does not hold %q", tc.old)
		}
		_, err := site.Decode("s.yaml", []byte(strings.Replace(profile, tc.old, tc.new, 1)))
		var se *strict.Error
		switch {
		case tc.want == "" && err == nil:
		case tc.want == "" || err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%q → %q:\n got %v\nwant %s", tc.old, tc.new, err, tc.want)
		case !errors.As(err, &se) || se.Line == 0:
			t.Errorf("%q → %q: no line: %v", tc.old, tc.new, err)
		}
	}
}

func TestDigest(t *testing.T) {
	t.Parallel()
	of := func(text string) string {
		sites, err := site.Decode("s.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return sites[0].Digest
	}
	base := of(profile)
	for old, same := range map[string]string{
		"version: 1": "# a comment\nversion: 1", "max: 250": "max: 250.0", "name: A laboratory": "name: 'A laboratory'",
	} {
		if of(strings.Replace(profile, old, same, 1)) != base {
			t.Errorf("%q for %q changes the version of the site", same, old)
		}
	}
	for old, other := range map[string]string{
		"max: 250": "max: 251", "R1: Slow.": "R1: Slower.", "effect: safe": "effect: act", "payload_kg: 5": "payload_kg: 6",
		"colour: red": "colour: blue", "operable: true": "operable: false", "[stop]": "[stop, go]",
	} {
		if of(strings.Replace(profile, old, other, 1)) == base {
			t.Errorf("%q for %q keeps the version of the site", other, old)
		}
	}
}

func TestLoadAndPick(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := write("one.yaml", profile)
	set, err := site.Load(one)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := set.Pick(""); err != nil || s.ID != "lab" {
		t.Errorf("the only site: %v", err)
	}
	if _, err := set.Pick("lap"); err == nil || !strings.Contains(err.Error(), `unknown site "lap": `) || !strings.Contains(err.Error(), "has lab") {
		t.Errorf("unknown site: %v", err)
	}
	write("two.yml", strings.Replace(profile, "id: lab", "id: lab2", 1))
	write("README.md", "not a profile")
	if set, err = site.Load(dir); err != nil || len(set.Sites) != 2 {
		t.Fatalf("folder: %v", err)
	}
	if _, err := set.Pick(""); err == nil || !strings.Contains(err.Error(), "holds 2 sites: name one of lab, lab2") {
		t.Errorf("no site named: %v", err)
	}
	write("three.yaml", profile)
	if _, err := site.Load(dir); err == nil || !strings.Contains(err.Error(), `site "lab" is also in`) {
		t.Errorf("a site twice: %v", err)
	}
	if _, err := site.Load(filepath.Join(dir, "missing.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := site.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no site profile") {
		t.Errorf("empty folder: %v", err)
	}
	for ref, want := range map[string][2]string{"a.yaml#x": {"a.yaml", "x"}, "a.yaml": {"a.yaml", ""}, "d/#x": {"d/", "x"}} {
		if path, id := site.ParseRef(ref); path != want[0] || id != want[1] {
			t.Errorf("ParseRef(%q) = %q, %q", ref, path, id)
		}
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	written := time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)
	const in = "site: lab\ne_stop: true\nreadings:\n  presence: {value: clear, at: 2026-01-31T08:00:00Z, max_age_s: 30, source: scanner}\n  flow: 0.52\n"
	s, err := site.DecodeState("s.yaml", []byte(in), written)
	if err != nil {
		t.Fatal(err)
	}
	want := site.State{Site: "lab", EStop: true, Readings: map[string]site.Value{
		"presence": {Text: "clear", At: written, MaxAge: 30 * time.Second, Source: "scanner"},
		"flow":     {Text: "0.52", At: written},
	}}
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
	if _, ok := s.Known("presence", written.Add(31*time.Second)); ok {
		t.Error("a stale reading is known")
	}
	if _, ok := s.Known("flow", written.Add(time.Hour)); !ok {
		t.Error("a reading without an age went stale")
	}
	fromJSON, err := site.DecodeState("s.json", []byte(`{"site":"lab","e_stop":true,"readings":{"flow":"0.52","presence":{"value":"clear","at":"2026-01-31T08:00:00Z","max_age_s":30,"source":"scanner"}}}`), written)
	if err != nil || fromJSON.Digest() != s.Digest() {
		t.Errorf("JSON gives another state: %v", err)
	}
	fromJSON.EStop = false
	if fromJSON.Digest() == s.Digest() {
		t.Error("the emergency stop is not in the digest")
	}
	for text, want := range map[string]string{
		"e_stop: maybe\n":                                "s.yaml:1:9: e_stop: expected a true or false",
		"estop: true\n":                                  `s.yaml:1:1: unknown key "estop" in the state (did you mean "e_stop"?)`,
		"readings:\n  a: {value: x, at: noon}\n":         `s.yaml:2:21: reading a, at: expected a time`,
		"readings:\n  a: {value: x, max_age_s: 5}\n":     `reading a with a max_age_s has no "at"`,
		"readings:\n  a: {at: 2026-01-31T08:00:00Z}\n":   `reading a has no "value"`,
		"readings:\n  a: [1]\n":                          "reading a: expected a text, found a list",
		"readings:\n  a: {value: x, max_age: 5}\n":       `unknown key "max_age"`,
		"readings:\n  a: {value: x, at: 1, source: q}\n": "expected a text, found a number",
		"": "the file is empty",
		"readings:\n  a: {value: x, max_age_s: 0, at: 1}": "max_age_s",
	} {
		if _, err := site.DecodeState("s.yaml", []byte(text), written); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestRegistryNamesStateTheirUnit: a name that ends in a unit must be
// registered with that unit, so that no limit is read in another one.
func TestRegistryNamesStateTheirUnit(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"payload_kg": "kg", "max_speed_mm_s": "mm/s", "max_wind_m_s": "m/s", "temp_c": "°C", "temp_k": "K", "max_bar": "bar",
		"rate_ml_min": "mL/min", "energy_kev": "keV", "battery_min_pct": "%", "hold_min": "min", "omega_deg_s_max": "deg/s",
	} {
		spec, ok := site.Spec(name)
		if !ok || spec.Unit != unit || spec.Axis == "" {
			t.Errorf("%s: %+v, want unit %s", name, spec, unit)
		}
	}
	if _, ok := site.Spec("paylod_kg"); ok {
		t.Error("a typo is registered")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(profile))
	f.Fuzz(func(t *testing.T, data []byte) {
		sites, err := site.Decode("s.yaml", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "s.yaml") {
				t.Errorf("not a one-line error with its file: %q", err)
			}
			return
		}
		for _, s := range sites {
			if s.ID == "" || s.Digest == "" || len(s.Tools) == 0 {
				t.Errorf("a site without id, version or tools: %+v", s)
			}
			site.Render(s)
		}
	})
}

func FuzzFindPerson(f *testing.F) {
	f.Add("Dr. Ada Fox, for the lead", "Ada Fox", "lead")
	f.Add("the lead", "Dr.", "lead")
	f.Add("Fox", "Ethics board (Prof.)", "board")
	f.Fuzz(func(t *testing.T, query, name, role string) {
		s := &site.Site{People: []site.Person{{Name: name, Role: role}}}
		s.FindPerson(query)
	})
}

package config

import (
	"net/url"
	"path/filepath"
	"time"

	"interlock/internal/strict"
)

// A Gate is the MCP gate (gate): the servers behind it and how strictly calls
// are held against accepted plans.
type Gate struct {
	// Upstreams are the MCP servers behind the gate (upstreams); none: no gate.
	Upstreams []Upstream
	// Site is the profile the gate enforces (site); "" if there is only one.
	Site string
	// Mode is "strict", "guided" or "shadow" (mode).
	Mode string
	// Pins is the file with the approved tools (pins); by default pins.json in
	// the user's data directory.
	Pins string
	// Methods are client methods that pass beside those of the protocol.
	Methods []string
	// Meta are keys of _meta that reach calls with an effect, beside the
	// protocol's own.
	Meta []string
	// Shadow is what shadow mode covers.
	Shadow Shadow
	// Sampling and Elicitation let servers ask the client; off, such a question
	// is refused and a person is told.
	Sampling, Elicitation bool
	// GrantTTL is the life of a grant, MaxWait the longest submit_plan waits,
	// PinMaxAge how long a list of tools is believed, ResultTimeout how long an
	// interrupted result may still come before it counts as unknown.
	GrantTTL, MaxWait, PinMaxAge, ResultTimeout time.Duration
	// SafePerMinute bounds safe actions by client.
	SafePerMinute int
	// Reformulations is how many rejections plans that are alike may have in an
	// hour before a person must look; Pending how many plans of one agent are
	// judged at once.
	Reformulations, Pending int
	// CodeTools are tools of hazard class code that may run outside the sandbox.
	CodeTools []string
	// Withhold withholds results that the screen hits instead of marking them.
	Withhold bool
	// Pairs are calls that must not follow one another.
	Pairs []Pair
	// Readings say when a reading of the live state is good, by name.
	Readings map[string]Reading
	// Polls are readings the gate takes by itself (poll); Sandbox is how it
	// probes the site's sandbox, nil if it does not.
	Polls   []Poll
	Sandbox *Sandbox
	// Origins are origins of web pages that may call, beside this server's own.
	Origins []string
}

// An Upstream is one MCP server: a command or a URL.
type Upstream struct {
	Name    string
	Command []string
	Env     map[string]string // for a command: variable to the variable of this process it is taken from
	URL     string
	Header  map[string]string // for a URL: header to the environment variable its value is taken from
}

// A Shadow is a time in which calls pass and are only recorded.
type Shadow struct {
	Tools []string
	Until time.Time
	Never []string // hazard classes it refuses
}

// A Pair is a forbidden sequence of two calls.
type Pair struct{ First, Then, Unless, Why string }

// A Reading says which values of a reading are good; any other voids grants.
type Reading struct {
	Good     []string
	Min, Max *float64
	MaxAge   time.Duration
}

func defaultGate() Gate {
	return Gate{
		Mode: "strict", GrantTTL: 30 * time.Minute, MaxWait: 55 * time.Second, PinMaxAge: time.Minute, ResultTimeout: 2 * time.Minute, SafePerMinute: 120, Reformulations: 3, Pending: 16,
	}
}

func gateSection() section {
	return section{
		key: "gate",
		template: `# The MCP gate, found at /mcp: several upstreams as one server, and each at
# /mcp/NAME. Without upstreams there is none.
gate:
  # strict: a plan names its calls. guided: a plan in prose is bound to calls
  # before it runs. shadow: calls of the listed tools pass and are recorded.
  mode: strict
  # upstreams:
  #   - {name: lab, command: [python3, server.py]}
  #   - {name: arm, url: "http://127.0.0.1:9000/mcp", header: {Authorization: ARM_TOKEN}}
  # site: my-lab
  # pins: pins.json
  # shadow: {tools: [arm.move], until: "2026-12-31T00:00:00Z", never: [heat]}
  sampling: false
  elicitation: false
  grant_ttl: 30m
  max_wait: 55s
  pin_max_age: 1m
  result_timeout: 2m
  safe_per_minute: 120
  reformulations: 3
  pending: 16
  withhold: false
  # methods: [vendor/status]
  # meta: [vendor/trace]
  # code_tools: [sandbox.exec]
  # origins: ["https://lab.example.org"]
  # pairs: [{first: clear_scene, then: execute, unless: update_scene, why: "it would move blindly"}]
  # readings: {room_presence: {good: [clear], max_age: 5s}, fh1_flow: {min: 0.4, max_age: 10s}}
` + liveTemplate,
		decode: decodeGate,
	}
}

var gateKeys = []string{
	"mode", "upstreams", "site", "pins", "shadow", "sampling", "elicitation", "grant_ttl", "max_wait", "pin_max_age", "result_timeout",
	"safe_per_minute", "reformulations", "pending", "withhold", "methods", "meta", "code_tools", "origins", "pairs", "readings", "poll", "sandbox",
}

func decodeGate(c *Config, r *reader, n *strict.Node) {
	g := &c.Gate
	fields := r.Fields(n, "gate", gateKeys)
	for i := range fields {
		v, what := &fields[i].Value, "gate."+fields[i].Key
		switch fields[i].Key {
		case "mode":
			g.Mode = r.OneOf(v, what, "strict", "guided", "shadow")
		case "upstreams":
			g.Upstreams = r.upstreams(v)
		case "site":
			g.Site = r.Word(v, what)
		case "pins":
			g.Pins = r.Word(v, what)
		case "shadow":
			g.Shadow = r.shadow(v)
		case "sampling":
			g.Sampling = r.Bool(v, what)
		case "elicitation":
			g.Elicitation = r.Bool(v, what)
		case "withhold":
			g.Withhold = r.Bool(v, what)
		case "safe_per_minute":
			g.SafePerMinute = r.Int(v, what, 1, 100000)
		case "reformulations":
			g.Reformulations = r.Int(v, what, 1, 100)
		case "pending":
			g.Pending = r.Int(v, what, 1, 10000)
		case "pairs":
			g.Pairs = r.pairs(v)
		case "readings":
			g.Readings = r.readings(v)
		case "poll":
			g.Polls = r.polls(v)
		case "sandbox":
			g.Sandbox = r.sandbox(v)
		default:
			r.gateLists(g, fields[i].Key, v)
		}
	}
	if g.Mode == "shadow" && (len(g.Shadow.Tools) == 0 || g.Shadow.Until.IsZero()) {
		r.Fail(n.Pos, "gate: mode shadow needs shadow.tools and shadow.until")
	}
	r.ruled(g, n.Pos)
}

// gateLists reads the times and the lists of words.
func (r *reader) gateLists(g *Gate, key string, v *strict.Node) {
	what := "gate." + key
	const day = 24 * time.Hour
	switch key {
	case "grant_ttl":
		g.GrantTTL = r.duration(v, what, time.Second, 7*day)
	case "max_wait":
		g.MaxWait = r.duration(v, what, time.Second, 10*time.Minute)
	case "pin_max_age":
		g.PinMaxAge = r.duration(v, what, time.Second, day)
	case "result_timeout":
		g.ResultTimeout = r.duration(v, what, time.Second, day)
	case "methods":
		g.Methods = r.Words(v, what)
	case "meta":
		g.Meta = r.Words(v, what)
	case "code_tools":
		g.CodeTools = r.Words(v, what)
	case "origins":
		g.Origins = r.Words(v, what)
	}
}

func (r *reader) upstreams(n *strict.Node) []Upstream {
	var out []Upstream
	seen := map[string]bool{}
	items := r.Items(n, "gate.upstreams")
	for i := range items {
		var u Upstream
		fields := r.Fields(&items[i], "an upstream", []string{"name", "command", "env", "url", "header"})
		for j := range fields {
			v := &fields[j].Value
			switch fields[j].Key {
			case "name":
				u.Name = r.Word(v, "upstream.name")
			case "command":
				u.Command = r.Words(v, "upstream.command")
			case "env":
				u.Env = r.wordMap(v, "upstream.env")
			case "url":
				u.URL = r.Word(v, "upstream.url")
				if p, err := url.Parse(u.URL); err != nil || (p.Scheme != "http" && p.Scheme != "https") || p.Host == "" {
					r.Fail(v.Pos, "upstream.url: expected http://… or https://…, found %q", u.URL)
				}
			case "header":
				u.Header = r.wordMap(v, "upstream.header")
			}
		}
		switch {
		case u.Name == "" || filepath.Base(u.Name) != u.Name:
			r.Fail(items[i].Pos, "an upstream needs a name without slashes")
		case seen[u.Name]:
			r.Fail(items[i].Pos, "upstream %q is named twice", u.Name)
		case (len(u.Command) == 0) == (u.URL == ""):
			r.Fail(items[i].Pos, "upstream %q: expected a command or a url", u.Name)
		}
		seen[u.Name] = true
		out = append(out, u)
	}
	return out
}

func (r *reader) wordMap(n *strict.Node, what string) map[string]string {
	if n.Kind != strict.Map {
		r.Fail(n.Pos, "%s: expected a map, found %s", what, n.Kind)
		return nil
	}
	out := map[string]string{}
	for i := range n.Fields {
		out[n.Fields[i].Key] = r.Word(&n.Fields[i].Value, what+"."+n.Fields[i].Key)
	}
	return out
}

func (r *reader) shadow(n *strict.Node) (s Shadow) {
	fields := r.Fields(n, "gate.shadow", []string{"tools", "until", "never"})
	for i := range fields {
		v := &fields[i].Value
		switch fields[i].Key {
		case "tools":
			s.Tools = r.Words(v, "gate.shadow.tools")
		case "never":
			s.Never = r.Words(v, "gate.shadow.never")
		case "until":
			text := r.Word(v, "gate.shadow.until")
			t, err := time.Parse(time.RFC3339, text)
			if err != nil {
				r.Fail(v.Pos, "gate.shadow.until: expected a time such as 2026-12-31T00:00:00Z, found %q", text)
			}
			s.Until = t
		}
	}
	return s
}

func (r *reader) pairs(n *strict.Node) []Pair {
	var out []Pair
	items := r.Items(n, "gate.pairs")
	for i := range items {
		var p Pair
		fields := r.Fields(&items[i], "a pair", []string{"first", "then", "unless", "why"})
		for j := range fields {
			text := r.Word(&fields[j].Value, "pair."+fields[j].Key)
			*map[string]*string{"first": &p.First, "then": &p.Then, "unless": &p.Unless, "why": &p.Why}[fields[j].Key] = text
		}
		if p.First == "" || p.Then == "" || p.Why == "" {
			r.Fail(items[i].Pos, "a pair needs first, then and why")
		}
		out = append(out, p)
	}
	return out
}

func (r *reader) readings(n *strict.Node) map[string]Reading {
	if n.Kind != strict.Map {
		r.Fail(n.Pos, "gate.readings: expected a map, found %s", n.Kind)
		return nil
	}
	out := map[string]Reading{}
	for i := range n.Fields {
		var d Reading
		name, v := n.Fields[i].Key, &n.Fields[i].Value
		fields := r.Fields(v, "reading "+name, []string{"good", "min", "max", "max_age"})
		for j := range fields {
			f := &fields[j].Value
			switch fields[j].Key {
			case "good":
				d.Good = r.Words(f, "reading.good")
			case "min":
				x := r.Float(f, "reading.min")
				d.Min = &x
			case "max":
				x := r.Float(f, "reading.max")
				d.Max = &x
			case "max_age":
				d.MaxAge = r.duration(f, "reading.max_age", 100*time.Millisecond, 24*time.Hour)
			}
		}
		if (len(d.Good) == 0) == (d.Min == nil && d.Max == nil) {
			r.Fail(v.Pos, "reading %s: expected good values, or min or max", name)
		}
		if d.MaxAge == 0 {
			r.Fail(v.Pos, "reading %s: max_age is missing: a reading without an age would be believed for ever", name)
		}
		out[name] = d
	}
	return out
}

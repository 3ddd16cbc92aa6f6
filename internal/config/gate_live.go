package config

import (
	"net"
	"slices"
	"strings"
	"time"

	"interlock/internal/strict"
)

// A Poll is what the gate reads by itself, again and again (gate.poll): an
// observe-only tool or a resource of an upstream.
type Poll struct {
	Server    string // name of the upstream; "" if there is only one
	Tool      string // or Resource
	Resource  string // URI
	Arguments map[string]any
	Every     time.Duration // also the longest one reading may take
	// Readings gives the JSON pointer into the result by the name of a reading
	// in gate.readings; "" is the text of the result.
	Readings map[string]string
}

// A Sandbox is how the gate probes the site's sandbox (gate.sandbox): through a
// tool that runs code, or a command that takes a script on its input.
type Sandbox struct {
	Server    string // name of the upstream; "" if there is only one
	Tool      string // "": the one tool of hazard class code in the profile
	Argument  string // of the tool, that takes the script
	Arguments map[string]any
	Output    string // JSON pointer to what the script wrote; "" is the text of the result
	Command   []string
	Language  string   // of the sandbox: "python" or "sh"
	Script    string   // a probe in another language, as a template
	Digest    string   // file inside that holds the image digest
	Egress    []string // HOST:PORT that answer here and must not from inside
	Outside   []string // folders inside that must not be writable
	// MaxAge is how long a result is believed, Every how often is probed.
	MaxAge, Every time.Duration
	// Require blocks plans that run code unless a fresh probe has passed.
	Require bool
}

const liveTemplate = `  # poll:   # what the gate reads by itself; each reading needs its rule above
  #   - {server: lab, tool: sensor.read, arguments: {id: room_presence}, every: 2s, readings: {room_presence: /value}}
  #   - {server: lab, resource: "lab://hood", every: 5s, readings: {fh1_flow: /flow_m_s}}
  # sandbox:   # the probe that confirms what the profile declares of its sandbox
  #   server: lab
  #   tool: sandbox.exec
  #   argument: script
  #   arguments: {timeout_s: 10}
  #   output: /output
  #   language: python   # or sh; script: TEMPLATE for another
  #   digest: /etc/image-digest
  #   egress: ["192.0.2.10:443"]   # must answer from here, must not from inside
  #   outside: [/, /etc, /usr]
  #   max_age: 10m
  #   every: 5m
  #   require: true
`

func (r *reader) polls(n *strict.Node) []Poll {
	var out []Poll
	items := r.Items(n, "gate.poll")
	for i := range items {
		var p Poll
		at := items[i].Pos
		fields := r.Fields(&items[i], "a poll", []string{"server", "tool", "resource", "arguments", "every", "readings"})
		for j := range fields {
			v, what := &fields[j].Value, "poll."+fields[j].Key
			switch fields[j].Key {
			case "server":
				p.Server = r.Word(v, what)
			case "tool":
				p.Tool = r.Word(v, what)
			case "resource":
				p.Resource = r.Word(v, what)
			case "arguments":
				p.Arguments = r.object(v, what)
			case "every":
				p.Every = r.duration(v, what, 100*time.Millisecond, time.Hour)
			case "readings":
				p.Readings = r.pointers(v, what)
			}
		}
		switch {
		case (p.Tool == "") == (p.Resource == ""):
			r.Fail(at, "a poll needs a tool or a resource")
		case p.Resource != "" && p.Arguments != nil:
			r.Fail(at, "poll.arguments: a resource has none")
		case p.Every == 0:
			r.Fail(at, "poll.every is missing")
		case len(p.Readings) == 0:
			r.Fail(at, "poll.readings is missing: name what the result means, such as {room_presence: /value}")
		}
		out = append(out, p)
	}
	return out
}

func (r *reader) pointers(n *strict.Node, what string) map[string]string {
	if n.Kind != strict.Map {
		r.Fail(n.Pos, "%s: expected a map, found %s", what, n.Kind)
		return nil
	}
	out := map[string]string{}
	for i := range n.Fields {
		out[n.Fields[i].Key] = r.pointer(&n.Fields[i].Value, what+"."+n.Fields[i].Key)
	}
	return out
}

func (r *reader) pointer(n *strict.Node, what string) string {
	p := r.Text(n, what)
	if p != "" && !strings.HasPrefix(p, "/") {
		r.Fail(n.Pos, "%s: expected a JSON pointer such as /value, or \"\" for the text, found %q", what, p)
	}
	return p
}

func (r *reader) object(n *strict.Node, what string) map[string]any {
	m, ok := n.Value().(map[string]any)
	if !ok {
		r.Fail(n.Pos, "%s: expected a map, found %s", what, n.Kind)
	}
	return m
}

// ruled holds polls against the rules of the readings they bring: a reading
// without a rule means nothing, and one that is read too seldom would be stale
// most of the time.
func (r *reader) ruled(g *Gate, at strict.Pos) {
	brought := map[string]bool{}
	for _, p := range g.Polls {
		for name := range p.Readings {
			rule, ok := g.Readings[name]
			switch {
			case !ok:
				r.Fail(at, "gate.poll: reading %s has no rule in gate.readings", name)
			case brought[name]:
				r.Fail(at, "gate.poll: reading %s is read twice", name)
			case rule.MaxAge < 2*p.Every:
				r.Fail(at, "gate.poll: reading %s is read every %s and believed for %s: expected max_age to be at least twice as long", name, p.Every, rule.MaxAge)
			}
			brought[name] = true
		}
		r.upstream(g, p.Server, "gate.poll", at)
	}
	if s := g.Sandbox; s != nil && len(s.Command) == 0 {
		r.upstream(g, s.Server, "gate.sandbox", at)
	}
}

func (r *reader) upstream(g *Gate, name, what string, at strict.Pos) {
	known := slices.ContainsFunc(g.Upstreams, func(u Upstream) bool { return u.Name == name })
	if !known && (name != "" || len(g.Upstreams) > 1) {
		r.Fail(at, "%s: server %q is not one of gate.upstreams", what, name)
	}
}

func (r *reader) sandbox(n *strict.Node) *Sandbox {
	s := &Sandbox{Argument: "script", Digest: "/etc/image-digest", Outside: []string{"/", "/etc", "/usr"}, MaxAge: 10 * time.Minute, Every: 5 * time.Minute}
	fields := r.Fields(n, "gate.sandbox", []string{
		"server", "tool", "argument", "arguments", "output", "command", "language", "script", "digest", "egress", "outside", "max_age", "every", "require",
	})
	for i := range fields {
		v, what := &fields[i].Value, "gate.sandbox."+fields[i].Key
		switch fields[i].Key {
		case "server":
			s.Server = r.Word(v, what)
		case "tool":
			s.Tool = r.Word(v, what)
		case "argument":
			s.Argument = r.Word(v, what)
		case "arguments":
			s.Arguments = r.object(v, what)
		case "output":
			s.Output = r.pointer(v, what)
		case "command":
			s.Command = r.Words(v, what)
		case "language":
			s.Language = r.OneOf(v, what, "python", "sh")
		case "script":
			s.Script = r.Word(v, what)
		case "digest":
			s.Digest = r.Word(v, what)
		case "egress":
			s.Egress = r.addresses(v, what)
		case "outside":
			s.Outside = r.Words(v, what)
		case "max_age":
			s.MaxAge = r.duration(v, what, time.Second, 24*time.Hour)
		case "every":
			s.Every = r.duration(v, what, time.Second, 24*time.Hour)
		case "require":
			s.Require = r.Bool(v, what)
		}
	}
	switch {
	case len(s.Command) > 0 && (s.Tool != "" || s.Server != "" || s.Arguments != nil):
		r.Fail(n.Pos, "gate.sandbox: expected a command or a tool of a server")
	case (s.Language == "") == (s.Script == ""):
		r.Fail(n.Pos, "gate.sandbox: expected a language, or a script of your own")
	case len(s.Egress) == 0:
		r.Fail(n.Pos, "gate.sandbox: egress is missing: without an address to try nothing is shown")
	case len(s.Outside) == 0:
		r.Fail(n.Pos, "gate.sandbox: outside is empty: without a folder to try nothing is shown")
	case s.MaxAge <= s.Every:
		r.Fail(n.Pos, "gate.sandbox: max_age %s must be longer than every %s", s.MaxAge, s.Every)
	}
	return s
}

func (r *reader) addresses(n *strict.Node, what string) []string {
	out := r.Words(n, what)
	for _, a := range out {
		if _, port, err := net.SplitHostPort(a); err != nil || port == "" {
			r.Fail(n.Pos, "%s: expected HOST:PORT, found %q", what, a)
		}
	}
	return out
}

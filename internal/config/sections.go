package config

import (
	"bytes"
	"net"
	"net/url"
	"strings"
	"time"

	"interlock/internal/strict"
	"interlock/internal/verdict"
)

// A section is one top-level key of the file. To add one: a field of Config, a
// section beside its code, and its name in sections.
type section struct {
	key      string
	template string // of the file, with comments and every default in place
	decode   func(*Config, *reader, *strict.Node)
}

// sections lists the top-level keys in the order of the template.
func sections() []section {
	return []section{
		sitesSection(), stateSection(), storeSection(), keySection(), deadlineSection(), memorySection(),
		screenSection(), policySection(), limitsSection(), serverSection(), reviewSection(), gateSection(),
		modelsSection(), panelSection(), dataSection(),
	}
}

// Template returns a commented configuration that decodes to Default.
func Template() []byte {
	var b bytes.Buffer
	b.WriteString("# Configuration of Interlock. Every value shown is the default.\n" +
		"# Relative paths count from the folder of this file. Unknown keys are errors.\n")
	for _, s := range sections() {
		b.WriteString("\n" + s.template)
	}
	return b.Bytes()
}

// A reader takes the configuration out of a tree.
type reader struct{ strict.Reader }

// unit returns a number between 0 and 1.
func (r *reader) unit(n *strict.Node, what string) float64 {
	x := r.Float(n, what)
	if x < 0 || x > 1 {
		r.Fail(n.Pos, "%s: expected a number from 0 to 1, found %s", what, n.Text)
	}
	return x
}

func sitesSection() section {
	return section{
		key: "sites",
		template: `# The site profiles: a file, or a folder with .yaml files.
sites: sites.yaml
`,
		decode: func(c *Config, r *reader, n *strict.Node) { c.Sites = r.Word(n, "sites") },
	}
}

func stateSection() section {
	return section{
		key: "state",
		template: `# The live state of the site (doors, modes, presence, emergency stop). Without
# it every reading is unknown, which counts as worst.
# state: state.yaml
`,
		decode: func(c *Config, r *reader, n *strict.Node) { c.State = r.Word(n, "state") },
	}
}

func storeSection() section {
	return section{
		key: "store",
		template: `# The database with the record, the review queue and the memory. By default
# interlock.db in your data directory.
# store: interlock.db
`,
		decode: func(c *Config, r *reader, n *strict.Node) { c.Store = r.Word(n, "store") },
	}
}

func keySection() section {
	return section{
		key: "signing_key",
		template: `# The key that signs checkpoints of the record, made by "interlock init". By
# default signing.key in your data directory.
# signing_key: signing.key
`,
		decode: func(c *Config, r *reader, n *strict.Node) { c.Key = r.Word(n, "signing_key") },
	}
}

func deadlineSection() section {
	return section{
		key: "deadline",
		template: `# What one plan may take over all rounds of judges and the chief: 1s to 10m.
deadline: 45s
`,
		decode: func(c *Config, r *reader, n *strict.Node) {
			c.Deadline = r.duration(n, "deadline", time.Second, 10*time.Minute)
		},
	}
}

// duration returns a time such as 45s within its bounds.
func (r *reader) duration(n *strict.Node, what string, lo, hi time.Duration) time.Duration {
	text := r.Text(n, what)
	d, err := time.ParseDuration(text)
	if err != nil || d < lo || d > hi {
		r.Fail(n.Pos, "%s: expected a time from %s to %s such as 45s, found %q", what, lo, hi, text)
	}
	return d
}

func memorySection() section {
	return section{
		key: "memory",
		template: `# Whether earlier failures count against a plan that resembles them.
memory: true
`,
		decode: func(c *Config, r *reader, n *strict.Node) { c.Memory = r.Bool(n, "memory") },
	}
}

var screenKeys = []string{"mode", "tau_a", "tau_w", "rules"}

// The thresholds of the paper's formula, where none are given.
const (
	paperTauA = 0.35
	paperTauW = 0.85
)

func screenSection() section {
	return section{
		key: "screen",
		template: `# The injection screen. At tau_a a suspicion is shown to the judges, at tau_w it
# is a hard gate. mode: stack (calibrated) or paper (0.65 regex + 0.35 fuzzy, for
# which the thresholds are 0.35 and 0.85 if they are not given here).
screen:
  mode: stack
  tau_a: 0.24
  tau_w: 0.57
  # A folder with further rules of your own.
  # rules: rules
`,
		decode: decodeScreen,
	}
}

func decodeScreen(c *Config, r *reader, n *strict.Node) {
	fields := r.Fields(n, "screen", screenKeys)
	if mode := n.Field("mode"); mode != nil {
		c.Screen.Mode = r.OneOf(mode, "screen.mode", "stack", "paper")
		if c.Screen.Mode == "paper" {
			c.Policy.TauA, c.Policy.TauW = paperTauA, paperTauW
		}
	}
	for i := range fields {
		v := &fields[i].Value
		switch fields[i].Key {
		case "tau_a":
			c.Policy.TauA = r.unit(v, "screen.tau_a")
		case "tau_w":
			c.Policy.TauW = r.unit(v, "screen.tau_w")
		case "rules":
			c.Screen.Rules = r.Word(v, "screen.rules")
		}
	}
	// A gate at 0 would hold every plan, an advisory above the gate never shows.
	if c.Policy.TauW <= 0 || c.Policy.TauA > c.Policy.TauW {
		r.Fail(n.Pos, "screen: expected 0 < tau_w and tau_a <= tau_w, found tau_a %v and tau_w %v", c.Policy.TauA, c.Policy.TauW)
	}
}

var policyKeys = []string{"min_panel", "gate_hit", "risk_product", "risk_severity", "risk_likelihood", "alpha", "cvar_bound"}

func policySection() section {
	return section{
		key: "policy",
		template: `# How the site decides.
policy:
  # Judges needed to accept without a person: odd, 1 to 7.
  min_panel: 3
  # What a hard gate does: reject or escalate.
  gate_hit: reject
  # A risk is high if severity x likelihood reaches risk_product, or severity
  # reaches risk_severity while likelihood reaches risk_likelihood.
  risk_product: 0.25
  risk_severity: 0.8
  risk_likelihood: 0.05
  # The tail of the panel's risks: CVaR at alpha; above cvar_bound a person decides.
  alpha: 0.95
  cvar_bound: 0.3
`,
		decode: decodePolicy,
	}
}

func decodePolicy(c *Config, r *reader, n *strict.Node) {
	p := &c.Policy
	fields := r.Fields(n, "policy", policyKeys)
	for i := range fields {
		v := &fields[i].Value
		what := "policy." + fields[i].Key
		switch fields[i].Key {
		case "min_panel":
			p.MinPanel = r.Int(v, what, 1, 7)
			if p.MinPanel%2 == 0 {
				r.Fail(v.Pos, "%s: expected an odd number from 1 to 7, found %s", what, v.Text)
			}
		case "gate_hit":
			p.GateHit = verdict.Escalate
			if r.OneOf(v, what, "reject", "escalate") == "reject" {
				p.GateHit = verdict.Reject
			}
		case "risk_product":
			p.RiskProduct = r.unit(v, what)
		case "risk_severity":
			p.RiskSeverity = r.unit(v, what)
		case "risk_likelihood":
			p.RiskLikelihood = r.unit(v, what)
		case "alpha":
			p.Alpha = r.unit(v, what)
			if p.Alpha == 1 {
				r.Fail(v.Pos, "%s: expected a number below 1", what)
			}
		case "cvar_bound":
			p.CVaRBound = r.unit(v, what)
		}
	}
}

var limitsKeys = []string{"max_bytes", "max_steps", "max_step_bytes", "max_calls", "max_argument_bytes", "max_attachments", "max_attachment_bytes"}

func limitsSection() section {
	return section{
		key: "limits",
		template: `# What is taken in and what is judged. A plan over max_bytes is refused as bad
# input; a plan over another limit is rejected with the limit's name.
limits:
  max_bytes: 1048576
  max_steps: 200
  max_step_bytes: 8192
  max_calls: 500
  max_argument_bytes: 65536
  max_attachments: 20
  max_attachment_bytes: 262144
`,
		decode: decodeLimits,
	}
}

func decodeLimits(c *Config, r *reader, n *strict.Node) {
	l := &c.Limits
	fields := r.Fields(n, "limits", limitsKeys)
	for i := range fields {
		dst := map[string]*int{
			"max_bytes": &l.MaxBytes, "max_steps": &l.MaxSteps, "max_step_bytes": &l.MaxStepBytes, "max_calls": &l.MaxCalls,
			"max_argument_bytes": &l.MaxArgumentBytes, "max_attachments": &l.MaxAttachments, "max_attachment_bytes": &l.MaxAttachmentBytes,
		}[fields[i].Key]
		const gib = 1 << 30
		*dst = r.Int(&fields[i].Value, "limits."+fields[i].Key, 1, gib)
	}
}

var serverKeys = []string{"listen", "public_url"}

func serverSection() section {
	return section{
		key: "server",
		template: `# Pages and API. public_url is how others reach it, for links in messages.
server:
  listen: 127.0.0.1:8480
  # public_url: https://interlock.example.org
`,
		decode: decodeServer,
	}
}

func decodeServer(c *Config, r *reader, n *strict.Node) {
	fields := r.Fields(n, "server", serverKeys)
	for i := range fields {
		v := &fields[i].Value
		switch fields[i].Key {
		case "listen":
			c.Server.Listen = r.Word(v, "server.listen")
			if _, port, err := net.SplitHostPort(c.Server.Listen); err != nil || port == "" {
				r.Fail(v.Pos, "server.listen: expected HOST:PORT such as 127.0.0.1:8480, found %q", v.Text)
			}
		case "public_url":
			c.Server.PublicURL = strings.TrimSuffix(r.Word(v, "server.public_url"), "/")
			u, err := url.Parse(c.Server.PublicURL)
			if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
				r.Fail(v.Pos, "server.public_url: expected https://…, found %q", v.Text)
			}
		}
	}
}

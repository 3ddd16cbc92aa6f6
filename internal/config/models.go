package config

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"interlock/internal/strict"
)

// BuiltinPanel names the judges and the chief that need no model.
const BuiltinPanel = "builtin"

// A Model is one language model that a person has configured as a judge or
// chief (models). Models found on the machine are not used until they stand
// here (C37). Keys are named by their place, never written here (C28).
type Model struct {
	// Name is how the panel and decisions call it.
	Name string
	// Kind is the API: openai (and whatever speaks it), anthropic or gemini.
	Kind string
	// BaseURL is the address; "" for the vendor's own.
	BaseURL string
	// Model is the model as the provider calls it.
	Model string
	// KeyEnv is the environment variable with the access key, KeyFile a file
	// with it; at most one of them.
	KeyEnv, KeyFile string
	// Family is the vendor family that diversity is counted over; by default
	// the kind.
	Family string
	// Vendor and Region are who runs it and where, for the data policy.
	Vendor, Region string
	// Local says that it runs on the site's own machines: names stand as they
	// are. By default true for addresses of this machine only.
	Local bool
	// ContextTokens is its context window; 0 if unknown.
	ContextTokens int
	// MaxTokens bounds an answer, reasoning included; 0 for the default.
	MaxTokens int
	// Temperature is nil for the provider's default.
	Temperature *float64
	// Effort is the reasoning effort; "" for the provider's default.
	Effort string
	// PriceIn and PriceOut are for a million tokens, in one currency for all.
	PriceIn, PriceOut float64
	// Priced says that a price is stated; without one a cost is unknown.
	Priced bool
	// Plaintext allows an address of another machine without encryption.
	Plaintext bool
	// Samples is how many answers it gives to each prompt.
	Samples int
}

// A Panel says who judges (panel).
type Panel struct {
	// Judges are names of models, or builtin for the judges without a model.
	Judges []string
	// Spare judges stand in for one that abstains, if of another family.
	Spare []string
	// Chief is the name of a model, or builtin.
	Chief string
	// Depth is how many judges the first round has; 0: chosen by the risk of
	// the plan.
	Depth int
	// MaxDepth is how many judge at most; 0: all.
	MaxDepth int
	// Budget is the most that the opinions on one plan may cost; 0: no bound.
	Budget float64
	// Rules are told to every model judge beside the site's profile. They add
	// to the frame of the prompts and cannot take from it.
	Rules []string
}

// A Data policy says what of a site's plans may leave it (data, C45).
type Data struct {
	// Vendors and Regions that may judge; empty for all that are configured.
	Vendors, Regions []string
	// Pseudonyms hides people's names from hosted models.
	Pseudonyms bool
	// Private are further names to hide: projects, partners.
	Private []string
	// LocalFields never leave: goal, submitted_by, tool_calls, attachments.
	LocalFields []string
}

// DefaultPanel is the panel without a configuration.
func DefaultPanel() Panel { return Panel{Judges: []string{BuiltinPanel}, Chief: BuiltinPanel} }

// Model returns the configured model with the name, or nil.
func (c *Config) Model(name string) *Model {
	for i := range c.Models {
		if c.Models[i].Name == name {
			return &c.Models[i]
		}
	}
	return nil
}

// DataOf returns the data policy of a site.
func (c *Config) DataOf(siteID string) Data {
	if d, ok := c.Data[siteID]; ok {
		return d
	}
	if d, ok := c.Data[AnySite]; ok {
		return d
	}
	return Data{Pseudonyms: true}
}

// AnySite names the policy of sites that have none of their own.
const AnySite = "default"

var (
	modelKeys = []string{
		"name", "kind", "base_url", "model", "key_env", "key_file", "family", "vendor", "region", "local", "context_tokens",
		"max_tokens", "temperature", "effort", "price_in", "price_out", "samples", "plaintext",
	}
	panelKeys  = []string{"judges", "spare", "chief", "depth", "max_depth", "budget", "rules"}
	dataKeys   = []string{"vendors", "regions", "pseudonyms", "private", "local_fields"}
	modelKinds = []string{"openai", "anthropic", "gemini"}
	dataFields = []string{"goal", "submitted_by", "tool_calls", "attachments"}
)

func modelsSection() section {
	return section{
		key: "models",
		template: `# Language models. None judges unless it stands here and in the panel. kind:
# openai (also xAI, OpenRouter, Ollama, vLLM, llama.cpp, LM Studio, through
# base_url), anthropic or gemini. Keys come from key_env or key_file. Prices are
# for a million tokens; without them a cost is unknown, and a budget is refused. "interlock config init --panel auto" writes what it finds.
# models:
#   - {name: heavy, kind: openai, model: MODEL, key_env: OPENAI_API_KEY, price_in: PRICE, price_out: PRICE}
#   - {name: near, kind: openai, model: MODEL, base_url: "http://127.0.0.1:11434/v1/", family: FAMILY, local: true}
`,
		decode: func(c *Config, r *reader, n *strict.Node) {
			items := r.Items(n, "models")
			for i := range items {
				m := r.model(&items[i])
				if c.Model(m.Name) != nil {
					r.Fail(items[i].Pos, "a second model %q", m.Name)
				}
				c.Models = append(c.Models, m)
			}
		},
	}
}

// chiefName is what stands for a judge's name in the chief's requests.
const chiefName = "chief"

// most bounds what a person could mean.
const (
	mostTokens  = 100_000_000
	mostSamples = 15
)

func (r *reader) model(n *strict.Node) Model {
	m := Model{Samples: 1}
	local := false
	for _, f := range r.Fields(n, "a model", modelKeys) {
		v := &f.Value
		switch f.Key {
		case "name":
			m.Name = r.Word(v, "name")
		case "kind":
			m.Kind = r.OneOf(v, "kind", modelKinds...)
		case "base_url":
			m.BaseURL = r.address(v)
		case "model":
			m.Model = r.Word(v, "model")
		case "key_env":
			m.KeyEnv = r.Word(v, "key_env")
		case "key_file":
			m.KeyFile = r.Word(v, "key_file")
		case "family":
			m.Family = r.Word(v, "family")
		case "vendor":
			m.Vendor = r.Word(v, "vendor")
		case "region":
			m.Region = r.Word(v, "region")
		case "local":
			local = true
			m.Local = r.Bool(v, "local")
		case "context_tokens":
			m.ContextTokens = r.Int(v, "context_tokens", 1, mostTokens)
		case "max_tokens":
			m.MaxTokens = r.Int(v, "max_tokens", 1, mostTokens)
		case "temperature":
			t := r.amount(v, "temperature")
			m.Temperature = &t
		case "effort":
			m.Effort = r.Word(v, "effort")
		case "price_in":
			m.PriceIn, m.Priced = r.amount(v, "price_in"), true
		case "price_out":
			m.PriceOut, m.Priced = r.amount(v, "price_out"), true
		case "plaintext":
			m.Plaintext = r.Bool(v, "plaintext")
		case "samples":
			m.Samples = r.Int(v, "samples", 1, mostSamples)
		}
	}
	r.complete(n, &m)
	if !local {
		m.Local = loopback(m.BaseURL)
	}
	if strings.HasPrefix(m.BaseURL, "http:") && !loopback(m.BaseURL) && !m.Plaintext {
		r.Fail(n.Pos, "base_url of model %q is not encrypted: plans and the key would cross the network readable; expected https://, an address of this machine, or plaintext: true", m.Name)
	}
	return m
}

// complete holds the keys of a model against each other.
func (r *reader) complete(n *strict.Node, m *Model) {
	for _, need := range []struct{ key, value string }{{"name", m.Name}, {"kind", m.Kind}, {"model", m.Model}} {
		if need.value == "" {
			r.Fail(n.Pos, "a model has no %q", need.key)
		}
	}
	if m.Name == BuiltinPanel {
		r.Fail(n.Pos, "a model cannot be called %q: that names the judges without a model", BuiltinPanel)
	}
	if m.Name == chiefName {
		r.Fail(n.Pos, "a model cannot be called %q: that names the chief's requests and replies", chiefName)
	}
	if strings.ContainsAny(m.Name, ",/ \t") {
		r.Fail(n.Pos, "name %q: a comma, a slash or a space may not stand in it", m.Name)
	}
	if m.KeyEnv != "" && m.KeyFile != "" {
		r.Fail(n.Pos, "model %q names both key_env and key_file: expected one of them", m.Name)
	}
	if m.Family == "" {
		m.Family = m.Kind
	}
	if m.Vendor == "" {
		m.Vendor = m.Family
	}
}

func (r *reader) amount(n *strict.Node, what string) float64 {
	x := r.Float(n, what)
	if x < 0 {
		r.Fail(n.Pos, "%s: expected a number from 0, found %s", what, n.Text)
	}
	return x
}

func (r *reader) address(n *strict.Node) string {
	s := r.Word(n, "base_url")
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.RawQuery != "" {
		r.Fail(n.Pos, "base_url: expected http:// or https:// and a host, without user, password or query")
	}
	return s
}

// loopback reports whether an address is on this machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

func panelSection() section {
	return section{
		key: "panel",
		template: `# Who judges: names of models, or builtin for the judges that need none. Beside
# models the built-in judges keep their veto. depth: judges of the first round,
# without it chosen by the risk of the plan. budget: for one plan.
panel:
  judges: [builtin]
  chief: builtin
  # spare: [NAME]
  # depth: 3
  # max_depth: 7
  # budget: 0.5
  # Told to every model judge beside the profile; nothing can be taken away.
  # rules: ["TEXT"]
`,
		decode: func(c *Config, r *reader, n *strict.Node) {
			for _, f := range r.Fields(n, "panel", panelKeys) {
				v := &f.Value
				switch f.Key {
				case "judges":
					c.Panel.Judges = r.judges(v, "panel.judges")
				case "spare":
					c.Panel.Spare = r.judges(v, "panel.spare")
				case "chief":
					c.Panel.Chief = r.Word(v, "panel.chief")
				case "depth":
					c.Panel.Depth = r.Int(v, "panel.depth", 1, maxJudges)
				case "max_depth":
					c.Panel.MaxDepth = r.Int(v, "panel.max_depth", 1, maxJudges)
				case "rules":
					c.Panel.Rules = r.Words(v, "panel.rules")
				case "budget":
					c.Panel.Budget = r.amount(v, "panel.budget")
				}
			}
			r.known(c, n)
		},
	}
}

// maxJudges is the largest panel.
const maxJudges = 7

func (r *reader) judges(n *strict.Node, what string) []string {
	names := r.Words(n, what)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			r.Fail(n.Pos, "%s: %q stands there twice", what, name)
		}
	}
	if len(names) > maxJudges {
		r.Fail(n.Pos, "%s: expected at most %d names, found %d", what, maxJudges, len(names))
	}
	return names
}

// known refuses a panel with names that no model has.
func (r *reader) known(c *Config, n *strict.Node) {
	if len(c.Panel.Judges) == 0 {
		r.Fail(n.Pos, "panel.judges: the list is empty, expected at least one judge")
	}
	for _, name := range slices.Concat(c.Panel.Judges, c.Panel.Spare, []string{c.Panel.Chief}) {
		m := c.Model(name)
		if name != BuiltinPanel && m == nil {
			r.Fail(n.Pos, "panel: no model is called %q: models must stand before the panel, or write %s", name, BuiltinPanel)
		}
		if m != nil && c.Panel.Budget > 0 && !m.Local && !m.Priced {
			r.Fail(n.Pos, "panel.budget: the price of model %q is unknown: expected its price_in and price_out", name)
		}
	}
}

func dataSection() section {
	return section{
		key: "data",
		template: `# What may leave, for each site by its id, and "default" for the others. Hosted
# models see pseudonyms instead of people's names unless pseudonyms is false.
# data:
#   default: {pseudonyms: true}
#   SITE: {vendors: [VENDOR], regions: [REGION], private: [PROJECT], local_fields: [attachments]}
`,
		decode: func(c *Config, r *reader, n *strict.Node) {
			c.Data = map[string]Data{}
			for _, f := range r.Entries(n, "data") {
				c.Data[f.Key] = r.data(&f.Value, "data."+f.Key)
			}
		},
	}
}

func (r *reader) data(n *strict.Node, what string) Data {
	d := Data{Pseudonyms: true}
	for _, f := range r.Fields(n, what, dataKeys) {
		v := &f.Value
		switch f.Key {
		case "vendors":
			d.Vendors = r.Words(v, what+".vendors")
		case "regions":
			d.Regions = r.Words(v, what+".regions")
		case "pseudonyms":
			d.Pseudonyms = r.Bool(v, what+".pseudonyms")
		case "private":
			d.Private = r.Words(v, what+".private")
		case "local_fields":
			d.LocalFields = r.Words(v, what+".local_fields")
			for _, name := range d.LocalFields {
				if !slices.Contains(dataFields, name) {
					r.Fail(v.Pos, "%s.local_fields: %q is not known, expected %s", what, name, strings.Join(dataFields, ", "))
				}
			}
		}
	}
	return d
}

// Package site describes one installation being protected: its robots and
// their limits, devices, tools, zones, materials, rules, people, agents and
// sandbox. Profiles are decoded strictly: a typo is an error, not a missing
// limit. A site may only be told apart by its file; no name of a site appears
// in code.
package site

// A Site is one installation. It is immutable after decoding.
type Site struct {
	ID          string
	Name        string
	Description string
	Robots      []Item
	Devices     []Item
	Tools       []Tool
	NotAllowed  []string // examples of tools that are outside the allow-list
	Sandbox     Sandbox
	Zones       []Zone
	Materials   []Material
	Biological  []Agent // biological agents, with their biosafety level
	NotApproved string  // prose: agents that are never approved
	Rules       []Rule  // prose rules, in the order of the file
	Checks      []Check // rules as code
	Obligations []Obligation
	People      []Person
	Agents      []Planner
	Digest      string // SHA-256 over the canonical profile, hex: the site version
}

// An Item is a robot or a device.
type Item struct {
	ID       string
	Model    string
	Location string
	Serves   []string
	Note     string
	Attrs    map[string]Attr // by registered name, e.g. "payload_kg"
	Extra    map[string]any  // unregistered attributes, for people and judges only
}

// An Attr is the value of a registered attribute, in the unit its name states.
// Exactly one of the shapes is set, as the registry says for the name.
type Attr struct {
	Name    string
	Unit    string             // as the registry states, e.g. "mm/s"
	Number  *float64           // a single limit or value
	Range   *[2]float64        // [low, high]
	Text    string             // prose
	List    []string           // prose items
	Flag    *bool              // yes or no
	ByPlace map[string]float64 // limit by zone or circumstance
	Denied  map[string]bool    // zones or circumstances where ByPlace says "not allowed"
}

// An Effect says what a tool does to the world.
type Effect uint8

// The effects. Act is the zero value: a tool that does not say is gated.
const (
	Act     Effect = iota // changes something: needs an accepted plan
	Observe               // reads only: free
	Safe                  // only makes things safer (stop, heat off): never gated (C31)
)

// A Tool is one entry of the capability allow-list.
type Tool struct {
	Name   string // what plans, rules and policy call it
	Server string // MCP server it lives on, "" if the site has one server
	Own    string // what its server calls it: Name, unless two servers have a tool of one name
	Effect Effect
	Hazard string // hazard class, e.g. "motion", "heat", "pressure", "chemical", "record", "notify", "code"; "" unknown
	Args   []Arg  // in the order of the file
}

// Arg returns the argument called name, or nil.
func (t *Tool) Arg(name string) *Arg {
	for i := range t.Args {
		if t.Args[i].Name == name {
			return &t.Args[i]
		}
	}
	return nil
}

// An Arg is one argument of a tool with what it may be. Limits are inclusive
// and in the unit its name ends with (speed_mm_s, temp_c, volume_ul …).
type Arg struct {
	Name     string
	Type     string // "string", "bool", "number", "integer", "enum"
	Enum     []any  // string, json.Number or bool
	Min, Max *float64
	Optional bool
	Ref      *Ref // nil if the value stands for itself
}

// A Sandbox states where code runs. These facts are declared by the profile;
// only a probe can confirm them.
type Sandbox struct {
	Name        string
	Present     bool
	Operable    bool
	Routed      bool // every code path goes through it
	Image       string
	ImageDigest string
	Egress      string // "none" or a description
	Writable    []string
}

// A Zone is a place with a rule.
type Zone struct {
	ID   string
	Rule string
}

// A Material is a substance or load the site handles.
type Material struct {
	Name    string
	CAS     string
	Hazards []string
	Store   string
	Note    string
}

// An Agent is a biological agent.
type Agent struct {
	Name string
	BSL  int
	Note string
}

// A Rule is a site rule in prose; its ID is local to the site.
type Rule struct {
	ID   string
	Text string
}

// A Check is a site rule as code (CEL) over the facts of a plan.
type Check struct {
	ID       string
	Covers   []string // prose rules it checks
	Level    string   // "block" or "flag"
	Class    string   // "safety", "alignment" or "adversarial"
	When     string   // CEL: true means the rule is broken
	Message  string
	Need     string
	Examples []CheckExample
	File     string // profile it stands in, for error messages
	Line     int
}

// A CheckExample is one of a check's own tests.
type CheckExample struct {
	Steps       []string
	Calls       []map[string]any
	Attachments []string // texts
	OnBehalfOf  string
	Breaks      bool // whether the check must fire
}

// A Person may decide or approve things.
type Person struct {
	Name string
	Role string
	May  []string
}

// A Planner is an agent that submits plans.
type Planner struct {
	ID    string
	Kind  string
	Trust string // "registered", "limited", "untrusted"
	May   []string
}

// Tool returns the tool called name, or nil if it is not on the allow-list.
func (s *Site) Tool(name string) *Tool {
	for i := range s.Tools {
		if s.Tools[i].Name == name {
			return &s.Tools[i]
		}
	}
	return nil
}

// Item returns the robot or device with the identifier, or nil.
func (s *Site) Item(id string) *Item {
	for _, items := range [][]Item{s.Robots, s.Devices} {
		for i := range items {
			if items[i].ID == id {
				return &items[i]
			}
		}
	}
	return nil
}

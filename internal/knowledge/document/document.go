// Package document reads what a site writes about itself and lays it beside
// the graph K: inventories, data sheets (SDS), manuals, robot descriptions,
// joint limits and labware definitions.
//
// Everything in these files is untrusted. A document is parsed within limits,
// searched for text that people do not see, screened as plans are, and waits
// in quarantine until a named person has read the difference and approved
// exactly these bytes (C40). What counts can add to the graph and tighten it,
// never take from it; a hazard is weakened only by a signed override, which is
// a node of the graph itself and therefore visible wherever it matters.
package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/knowledge"
	"interlock/internal/verdict"
)

// A Kind is what a document is.
type Kind string

// The kinds of document.
const (
	Inventory   Kind = "inventory"
	Text        Kind = "text"
	DataSheet   Kind = "data sheet" // SDS
	Robot       Kind = "robot description"
	JointLimits Kind = "joint limits"
	Labware     Kind = "labware"
)

// A Place is where in a document something stands.
type Place struct {
	Page    int    // of a PDF, from 1; 0: no pages
	Line    int    // of a table or a structured file, from 1; 0: no lines
	Section string // heading it stands under, "" if none
}

func (p Place) String() string {
	var parts []string
	if p.Page > 0 {
		parts = append(parts, "page "+strconv.Itoa(p.Page))
	}
	if p.Line > 0 {
		parts = append(parts, "line "+strconv.Itoa(p.Line))
	}
	if p.Section != "" {
		parts = append(parts, strconv.Quote(p.Section))
	}
	return strings.Join(parts, ", ")
}

// A Passage is a part of a document that can be cited.
type Passage struct {
	ID       string // stable: made of the document's name and the text alone
	At       Place
	Text     string  // visible text, at most maxPassage bytes
	Sigma    float64 // of the screen, [0,1]
	Withheld bool    // reads like an instruction to a model: never becomes evidence
}

// A Thing is something a document describes: a node of the overlay.
type Thing struct {
	ID, Kind, Name string
	Category       knowledge.Category
	Aliases        []string
	Numbers        []knowledge.Number
	At             Place
}

// A Link joins two things, or a thing and a node of the public graph.
type Link struct{ From, Rel, To string }

// An Avoid is a material that a data sheet says to keep away from, as it words
// it; the graph says what is meant.
type Avoid struct {
	Subject string // thing
	Phrase  string
	At      Place
}

// A Finding is something a person must know before approving.
type Finding struct {
	Rule    string
	Level   verdict.Level // Block: cannot be approved; Flag: needs a reason; Pass: worth a look
	At      Place
	Message string
	Excerpt string // of the document, made visible
}

// Rules of findings, stable for records.
const (
	RuleHidden    = "DOC-HIDDEN"    // text that readers do not see
	RuleInvisible = "DOC-INVISIBLE" // zero-width, bidirectional or tag characters
	RuleInjection = "DOC-INJECTION" // text that addresses a model
	RuleUnread    = "DOC-UNREAD"    // a part that was not read (C7)
	RuleUnknown   = "DOC-UNKNOWN"   // a column, key or code that is not known
	RuleSheet     = "DOC-SHEET"     // a data sheet that lacks what it must have
	RuleConflict  = "DOC-CONFLICT"  // at odds with the public graph
	RuleOverride  = "DOC-OVERRIDE"  // of a decision: a hazard of something it names was lifted by a person
	RuleWeaker    = "DOC-WEAKER"    // takes back what the approved version said
)

// A Document is one file as it was read.
type Document struct {
	Name     string
	Kind     Kind
	Title    string
	SHA256   string // hex
	Bytes    int
	Passages []Passage
	Things   []Thing
	Links    []Link
	Avoids   []Avoid
	Findings []Finding
}

// A Page is the text of one page of a PDF.
type Page struct {
	Lines  []Line
	Unread []string // what is on the page and was not read
}

// A Line is a run of text on one height.
type Line struct {
	Text   string
	Hidden string // why people do not see it, "" if they do
	Gap    bool   // stands apart from the line above
}

// Options are what reading needs. Screen is required: a document that cannot
// be screened is not read.
type Options struct {
	Screen     func(text string) (sigma float64, hits []string)
	TauA, TauW float64                                               // thresholds of sigma: flag, withhold
	Extract    func(ctx context.Context, pdf []byte) ([]Page, error) // nil: ExtractPDF in this process
	Limits     Limits                                                // zero values: the defaults
}

// Limits bound what one document may cost.
type Limits struct {
	Bytes    int // of the file; default 16 MiB
	Text     int // of text read from it; default 2 MiB
	Pages    int // default 1000
	Passages int // default 40 000
	Rows     int // of a table, or elements of a structured file; default 20 000
}

func (l Limits) withDefaults() Limits {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&l.Bytes, 16<<20)
	set(&l.Text, 2<<20)
	set(&l.Pages, 1000)
	set(&l.Passages, 40_000)
	set(&l.Rows, 20_000)
	return l
}

// errNoScreen is a fault of the caller.
var errNoScreen = errors.New("documents are not read without a screen for their text")

// ErrPDF is a PDF that could not be read.
var ErrPDF = errors.New("the PDF cannot be read")

// reader is one reading of one document.
type reader struct {
	doc      *Document
	data     []byte
	opts     Options
	lim      Limits
	seen     map[string]int // identifiers of passages
	found    map[string]int // findings by rule
	advisory advisory
}

// Parse reads a document; its kind follows from the name's ending and the
// content. Errors name the file and, where there is one, the line. Findings
// are not errors: they are for the person who approves.
func Parse(ctx context.Context, name string, data []byte, o Options) (*Document, error) {
	if o.Screen == nil {
		return nil, errNoScreen
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	r := &reader{
		doc:  &Document{Name: name, SHA256: hex.EncodeToString(sum[:]), Bytes: len(data), Title: strings.TrimSuffix(name, path.Ext(name))},
		data: data, opts: o, lim: o.Limits.withDefaults(), seen: map[string]int{}, found: map[string]int{},
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", name)
	}
	if len(data) > r.lim.Bytes {
		return nil, fmt.Errorf("%s: %d bytes, more than the %d that are read", name, len(data), r.lim.Bytes)
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	r.screen()
	for _, rule := range slices.Sorted(maps.Keys(r.found)) {
		if n := r.found[rule] - maxFindings; n > 0 {
			r.doc.Findings = append(r.doc.Findings, Finding{Rule: rule, Level: verdict.Flag, Message: fmt.Sprintf("and %d more of this kind", n)})
		}
	}
	return r.doc, nil
}

const maxFindings = 100 // of one rule: more tell a person nothing

// Supported names the endings that Parse reads, for messages.
const Supported = ".csv .md .txt .html .htm .pdf .urdf .xacro .yaml .yml .json"

func (r *reader) read(ctx context.Context) error {
	switch ext := strings.ToLower(path.Ext(r.doc.Name)); ext {
	case ".csv":
		return r.inventory()
	case ".md", ".markdown", ".txt":
		return r.markdown()
	case ".html", ".htm":
		return r.html()
	case ".pdf":
		return r.pdf(ctx)
	case ".urdf", ".xacro":
		return r.urdf()
	case ".yaml", ".yml":
		return r.jointLimits()
	case ".json":
		return r.labware()
	case ".xlsx", ".xls", ".ods":
		return fmt.Errorf("%s: workbooks are not read: save each sheet as CSV", r.doc.Name)
	default:
		return fmt.Errorf("%s: %q is no ending that is read (%s)", r.doc.Name, ext, Supported)
	}
}

func (r *reader) find(rule string, level verdict.Level, at Place, excerpt, format string, args ...any) {
	if r.found[rule]++; r.found[rule] > maxFindings {
		return // counted, and said at the end
	}
	r.doc.Findings = append(r.doc.Findings, Finding{Rule: rule, Level: level, At: at, Message: fmt.Sprintf(format, args...), Excerpt: visible(excerpt)})
}

func (r *reader) thing(t Thing) { r.doc.Things = append(r.doc.Things, t) }

func (r *reader) link(from, rel, to string) {
	r.doc.Links = append(r.doc.Links, Link{from, rel, to})
}

// node makes an identifier that no other document and no public source has.
func (r *reader) node(prefix, own string) string { return prefix + ":" + r.doc.Name + "/" + own }

const maxName = 100 // bytes of a file name

// checkName refuses names that could leave the library's folder, hide, or be
// taken for another.
func checkName(name string) error {
	if name == "" || len(name) > maxName || name[0] == '.' {
		return fmt.Errorf("%.120q is no document name: want 1 to %d characters, not beginning with a dot", name, maxName)
	}
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._-+", c) >= 0) {
			return fmt.Errorf("%.120q is no document name: use letters, digits and . _ - + only", name)
		}
	}
	return nil
}

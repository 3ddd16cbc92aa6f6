package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"interlock/internal/knowledge"
	"interlock/internal/strict"
	"interlock/internal/verdict"
)

const (
	maxDepth = 64  // levels of a structured file
	maxLimit = 1e6 // rad, m, rad/s, m/s, N m, N: more is no limit of a joint
)

// jointUnits are the units of limits: of a rotary joint, or a sliding one.
var jointUnits = map[string]string{
	knowledge.NumLower: "rad|m", knowledge.NumUpper: "rad|m", knowledge.NumVelocity: "rad/s|m/s", knowledge.NumEffort: "N m|N", "joint_acceleration": "rad/s2|m/s2",
}

// urdf reads the joints of a robot description. XML entities and document types
// are refused; expressions of xacro are not evaluated.
func (r *reader) urdf() error {
	if _, err := r.text(); err != nil {
		return err
	}
	r.doc.Kind = Robot
	u := &urdfReader{r: r, dec: xml.NewDecoder(bytes.NewReader(r.data))}
	for {
		tok, err := u.dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var se *xml.SyntaxError
			if errors.As(err, &se) {
				return r.fail(se.Line, "%s", se.Msg)
			}
			return fmt.Errorf("%s: %w", r.doc.Name, err)
		}
		if err := u.token(tok); err != nil {
			return err
		}
	}
	if u.robot == "" {
		return fmt.Errorf("%s: no <robot> element: not a robot description", r.doc.Name)
	}
	if u.unread > 0 {
		r.find(RuleUnread, verdict.Flag, Place{}, "", "%d limits that are xacro expressions were not evaluated: give the expanded URDF", u.unread)
	}
	return nil
}

type urdfReader struct {
	r          *reader
	dec        *xml.Decoder
	depth      int
	elements   int
	robot      string // identifier
	joint      *Thing // that we are in
	jointType  string
	jointDepth int
	limited    bool
	unread     int
}

func (u *urdfReader) line() int {
	line, _ := u.dec.InputPos()
	return line
}

func (u *urdfReader) token(tok xml.Token) error {
	switch tok := tok.(type) {
	case xml.Directive:
		return u.r.fail(u.line(), "document types and entities are not read: %.30q", string(tok))
	case xml.StartElement:
		u.depth++
		u.elements++
		if u.depth > maxDepth {
			return u.r.fail(u.line(), "elements nest deeper than %d", maxDepth)
		}
		if u.elements > u.r.lim.Rows {
			return u.r.fail(u.line(), "more than %d elements", u.r.lim.Rows)
		}
		return u.start(tok)
	case xml.EndElement:
		if u.joint != nil && u.depth == u.jointDepth {
			u.end()
		}
		u.depth--
	}
	return nil
}

func (u *urdfReader) start(e xml.StartElement) error {
	switch e.Name.Local {
	case "robot":
		if u.robot != "" {
			return u.r.fail(u.line(), "a second <robot>")
		}
		name := nonEmpty(u.r.clean(xmlAttr(e, "name"), Place{Line: u.line()}), u.r.doc.Title)
		u.robot = "robot:" + u.r.doc.Name
		u.r.thing(Thing{ID: u.robot, Kind: knowledge.KindRobot, Name: clip(name, 120), Category: knowledge.LabContext, At: Place{Line: u.line()}})
	case "joint":
		kind := xmlAttr(e, "type")
		if kind == "" || u.robot == "" || u.joint != nil {
			return nil // a joint named by a transmission, controller or constraint
		}
		return u.begin(e, kind)
	case "limit":
		if u.joint != nil {
			return u.limit(e)
		}
	}
	return nil
}

// begin starts a joint that moves.
func (u *urdfReader) begin(e xml.StartElement, kind string) error {
	switch kind {
	case "fixed", "floating":
		return nil
	case "revolute", "prismatic", "continuous", "planar":
	default:
		if !strings.Contains(kind, "$") {
			return u.r.fail(u.line(), "joint type %.40q: expected revolute, prismatic, continuous, planar, fixed or floating", kind)
		}
	}
	at := Place{Line: u.line()}
	name := clip(u.r.clean(xmlAttr(e, "name"), at), 120)
	if name == "" {
		return u.r.fail(at.Line, "a joint without a name")
	}
	u.joint = &Thing{ID: u.r.node("joint", name), Kind: knowledge.KindJoint, Name: name, Category: knowledge.LabContext, At: at}
	u.jointType, u.jointDepth, u.limited = kind, u.depth, false
	if u.r.seen[u.joint.ID]++; u.r.seen[u.joint.ID] == 1 {
		return nil
	}
	if !strings.EqualFold(path.Ext(u.r.doc.Name), ".xacro") {
		return u.r.fail(at.Line, "joint %.60q is there twice", name)
	}
	// The branches of a xacro file may each define it: the limits of all count.
	u.joint.ID += "-" + strconv.Itoa(u.r.seen[u.joint.ID])
	u.r.find(RuleUnread, verdict.Flag, at, name, "a joint that is there more than once: which one holds was not evaluated")
	return nil
}

func (u *urdfReader) limit(e xml.StartElement) error {
	u.limited = true
	for _, a := range e.Attr {
		name := map[string]string{"lower": knowledge.NumLower, "upper": knowledge.NumUpper, "velocity": knowledge.NumVelocity, "effort": knowledge.NumEffort}[a.Name.Local]
		switch {
		case name == "":
			continue
		case strings.Contains(a.Value, "$"):
			u.unread++
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(a.Value), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > maxLimit {
			return u.r.fail(u.line(), "joint %.60q: %s %.40q: expected a number of at most %g", u.joint.Name, a.Name.Local, a.Value, float64(maxLimit))
		}
		u.joint.Numbers = append(u.joint.Numbers, knowledge.Number{Name: name, Unit: jointUnits[name], Value: round(v)})
	}
	return u.r.ordered(u.joint)
}

// plausible takes out limits that are hardly radians or metres: files give
// degrees without saying so, and a limit of 170 rad limits nothing.
func (r *reader) plausible(joint *Thing) {
	const most = 50 // eight turns, or a hall's length
	if !slices.ContainsFunc(joint.Numbers, func(n knowledge.Number) bool {
		return (n.Name == knowledge.NumLower || n.Name == knowledge.NumUpper) && math.Abs(n.Value) > most
	}) {
		return
	}
	r.find(RuleUnknown, verdict.Flag, joint.At, joint.Name, "limits beyond %d rad or m: degrees? They were not read; write radians, or !degrees in YAML", most)
	joint.Numbers = slices.DeleteFunc(joint.Numbers, func(n knowledge.Number) bool { return n.Name != knowledge.NumEffort })
}

// ordered refuses a range that is empty: limits given the wrong way round would
// otherwise allow anything or nothing.
func (r *reader) ordered(joint *Thing) error {
	low, high := math.Inf(-1), math.Inf(1)
	for _, n := range joint.Numbers {
		switch n.Name {
		case knowledge.NumLower:
			low = n.Value
		case knowledge.NumUpper:
			high = n.Value
		default:
			if n.Value < 0 {
				return r.fail(joint.At.Line, "joint %.60q: %s is negative", joint.Name, n.Name)
			}
		}
	}
	if low > high {
		return r.fail(joint.At.Line, "joint %.60q: its lower limit %g is above its upper limit %g", joint.Name, low, high)
	}
	return nil
}

func (u *urdfReader) end() {
	if !u.limited && u.jointType != "continuous" {
		u.r.find(RuleUnread, verdict.Flag, u.joint.At, u.joint.Name, "a %s joint without limits", visible(u.jointType))
	}
	u.r.plausible(u.joint)
	u.r.thing(*u.joint)
	u.r.link(u.robot, knowledge.RelHasJoint, u.joint.ID)
	u.joint = nil
}

func xmlAttr(e xml.StartElement, key string) string {
	for _, a := range e.Attr {
		if a.Name.Local == key {
			return a.Value
		}
	}
	return ""
}

// limitKeys are the keys of joint limits files (MoveIt, ros2_control, UR).
var limitKeys = map[string]string{
	"min_position": knowledge.NumLower, "max_position": knowledge.NumUpper, "lower": knowledge.NumLower, "upper": knowledge.NumUpper,
	"max_velocity": knowledge.NumVelocity, "velocity": knowledge.NumVelocity, "max_effort": knowledge.NumEffort, "effort": knowledge.NumEffort, "max_acceleration": "joint_acceleration",
}

// hasKeys say whether a limit is to be used. One that is switched off is kept:
// limits tighten.
var hasKeys = map[string]bool{
	"has_position_limits": true, "has_velocity_limits": true, "has_acceleration_limits": true, "has_effort_limits": true, "has_jerk_limits": true, "max_jerk": true,
}

var yamlDegreesRE = regexp.MustCompile(`!degrees +([-+]?[0-9.]+)`)

// jointLimits reads a joint limits file: "joint_limits: {joint: {…}}" or the
// joints alone, with the limits at the joint or under "limit".
func (r *reader) jointLimits() error {
	if _, err := r.text(); err != nil {
		return err
	}
	r.doc.Kind = JointLimits
	data := yamlDegreesRE.ReplaceAllFunc(r.data, func(m []byte) []byte {
		v, err := strconv.ParseFloat(string(yamlDegreesRE.FindSubmatch(m)[1]), 64)
		if err != nil {
			return m
		}
		return strconv.AppendFloat(nil, v*math.Pi/180, 'g', 8, 64)
	})
	root, err := strict.YAML(r.doc.Name, data)
	if err != nil {
		return err
	}
	list := root.Field("joint_limits")
	if list == nil && limitsOnly(root) {
		list = root
	}
	if list == nil || list.Kind != strict.Map {
		return r.fail(1, "no map joint_limits: this is no joint limits file, and other YAML is not read")
	}
	robot := "robot:" + r.doc.Name
	r.thing(Thing{ID: robot, Kind: knowledge.KindRobot, Name: r.doc.Title, Category: knowledge.LabContext, At: Place{Line: 1}})
	for i := range list.Fields {
		if i >= r.lim.Rows {
			return r.fail(list.Fields[i].Pos.Line, "more than %d joints", r.lim.Rows)
		}
		if err := r.jointEntry(robot, &list.Fields[i]); err != nil {
			return err
		}
	}
	return nil
}

// limitsOnly reports whether a file is the map of joints itself.
func limitsOnly(root *strict.Node) bool {
	for i := range root.Fields {
		limits := &root.Fields[i].Value
		if inner := limits.Field("limit"); inner != nil {
			limits = inner
		}
		if !slices.ContainsFunc(limits.Fields, func(f strict.Field) bool { return limitKeys[f.Key] != "" }) {
			return false
		}
	}
	return len(root.Fields) > 0
}

func (r *reader) jointEntry(robot string, f *strict.Field) error {
	limits := &f.Value
	if inner := limits.Field("limit"); inner != nil {
		limits = inner
	}
	if limits.Kind != strict.Map {
		return r.fail(f.Pos.Line, "joint %.60q: expected a map of limits, found %s", f.Key, limits.Kind)
	}
	at := Place{Line: f.Pos.Line}
	name := clip(r.clean(f.Key, at), 120)
	t := Thing{ID: r.node("joint", name), Kind: knowledge.KindJoint, Name: name, Category: knowledge.LabContext, At: at}
	for k := range limits.Fields {
		l := &limits.Fields[k]
		number := limitKeys[l.Key]
		if number == "" {
			if !hasKeys[l.Key] {
				r.find(RuleUnknown, verdict.Flag, Place{Line: l.Pos.Line}, l.Key, "a key that is not known and was not read")
			}
			continue
		}
		v, err := strconv.ParseFloat(l.Value.Text, 64)
		if l.Value.Kind != strict.Number || err != nil || math.Abs(v) > maxLimit {
			return r.fail(l.Pos.Line, "joint %.60q: %s: expected a number of at most %g", name, l.Key, float64(maxLimit))
		}
		t.Numbers = append(t.Numbers, knowledge.Number{Name: number, Unit: jointUnits[number], Value: round(v)})
	}
	if err := r.ordered(&t); err != nil {
		return err
	}
	r.plausible(&t)
	r.thing(t)
	r.link(robot, knowledge.RelHasJoint, t.ID)
	return nil
}
